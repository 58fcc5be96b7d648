//! Audiences with `except`, in each form in which events come.

use super::*;

const PEOPLE: [&str; 4] = ["ann", "bob", "cy", "dot"];

/// The people of a set of bits.
fn some(bits: usize) -> Vec<&'static str> {
    let all = PEOPLE.iter().enumerate();
    all.filter(|(at, _)| bits >> at & 1 == 1).map(|(_, who)| *who).collect()
}

/// An event to some people, or everyone, except others.
fn apart(id: &str, to: Option<usize>, except: usize) -> Value {
    let mut body = json!({"id": id, "type": "note", "object": {"id": id}});
    body["to"] = match to {
        Some(to) => json!({"recipients": some(to)}),
        None => json!({"everyone": true}),
    };
    // Unknown people are no matter.
    body["to"]["except"] = json!([some(except), vec!["nobody"]].concat());
    body
}

#[test]
fn those_in_except_are_left_out_in_an_array_in_lines_and_as_a_cloud_event() {
    let rig = Rig::new();
    PEOPLE.iter().for_each(|who| person(&rig, who));
    let audiences = [Some(0b0111), Some(0b1010), None];
    let all: Vec<(Option<usize>, usize)> =
        audiences.iter().flat_map(|to| (0..16).map(|except| (*to, except))).collect();
    let bodies = |form: &str| -> Vec<Value> {
        let body = |(at, (to, except)): (usize, &(Option<usize>, usize))| {
            apart(&format!("{form}-{at}"), *to, *except)
        };
        all.iter().enumerate().map(body).collect()
    };
    let array = publish(&rig, &json!(bodies("array"))).json();
    let text: String = bodies("line").iter().map(|body| format!("{body}\n")).collect();
    let stream = lines(&rig.send(Method::POST, "/v1/events", &[NDJSON], text));
    let cloud = |mut data: Value| {
        let data_fields = data.as_object_mut().unwrap();
        let (id, kind) = (data_fields.remove("id"), data_fields.remove("type"));
        json!({"specversion": "1.0", "source": "/s", "id": id, "type": kind, "data": data})
    };
    let clouds: Vec<Value> = bodies("cloud").into_iter().map(cloud).collect();
    let batch = [("content-type", "application/cloudevents-batch+json")];
    let clouds = rig.send(Method::POST, "/v1/events", &batch, json!(clouds).to_string()).json();
    for answers in [array.as_array().unwrap(), &stream, clouds.as_array().unwrap()] {
        assert_eq!(answers.len(), all.len());
        for ((to, except), answer) in all.iter().zip(answers) {
            let left = to.unwrap_or(0b1111) & !except;
            assert_eq!(answer["notifications"], left.count_ones(), "{to:?} {except} {answer}");
            let warned = if left == 0 { vec!["only_exceptions"] } else { vec![] };
            assert_eq!(codes(answer), warned, "{to:?} {except} {answer}");
        }
    }
    for (at, who) in PEOPLE.iter().enumerate() {
        let heard =
            |(to, except): &&(Option<usize>, usize)| to.unwrap_or(0b1111) & !except & 1 << at != 0;
        let group = inbox(&rig, who);
        let items = group.iter().filter(|item| item.event.as_str().starts_with("line-")).count();
        assert_eq!(items, all.iter().filter(heard).count(), "{who}");
    }
}

#[test]
fn ten_thousand_of_twelve_thousand_are_left_out() {
    let rig = Rig::new();
    let people: String = (0..12_000).map(|at| format!("{{\"id\":\"r{at}\"}}\n")).collect();
    let made = rig.send(Method::POST, "/v1/recipients", &[NDJSON], people);
    assert_eq!(lines(&made).len(), 12_000);
    let names: Vec<String> = (0..10_000).map(|at| format!("r{at}")).collect();
    let to = json!({"everyone": true, "except": names});
    let event = json!({"id": "x", "type": "note", "object": {"id": "works/1"}, "to": to});
    assert_eq!(publish(&rig, &event).json()["notifications"], 2_000);
}
