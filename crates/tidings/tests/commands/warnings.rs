//! Warnings are printed with the line that they are about, and where there are many they are summed up.

use serde_json::{Value, json};

use super::{World, both, ran};

/// An event a line; the second names a ghost, the last has the id of the first.
fn events() -> [Value; 5] {
    let event =
        |id: &str, to: Value| json!({"id": id, "type": "note", "object": {"id": "o"}, "to": to});
    [
        event("e1", json!({"recipients": ["ann"]})),
        event("e2", json!({"recipients": ["ghost", "ann"]})),
        event("e3", json!({"topics": ["repo/zzz"]})),
        event("e4", json!({"topics": ["artist/1"]})),
        event("e1", json!({"recipients": ["b/ob"]})),
    ]
}

#[test]
fn publish_names_the_line_of_a_warning() {
    both(|world| {
        let world = world.with_people();
        let lines = events().map(|event| format!("{event}\n\n")).concat();
        let file = world.file("events.ndjson", &lines);
        let ran = world.run(&["publish", &file]).done();
        for (line, event, said) in [
            (3, "e2", "unknown recipient `ghost` (unknown_recipient)"),
            (5, "e3", "no recipient follows `repo/zzz` (no_followers)"),
            (9, "e1", "(differs)"),
        ] {
            let place = format!("warning: line {line}: event `{event}`: ");
            let found = ran.err.lines().find(|line| line.starts_with(&place));
            assert!(found.is_some_and(|found| found.contains(said)), "{}", ran.err);
        }
        assert_eq!(ran.err.matches("warning: ").count(), 3, "{}", ran.err);
        assert_eq!(ran.err.matches(" = help: ").count(), 3, "{}", ran.err);
    });
}

#[test]
fn warnings_of_one_kind_are_summed_up() {
    let world = World::new().with_people();
    let event = |number: u32| json!({"id": format!("e{number}"), "type": "note", "object": {"id": "o"}, "to": {"recipients": ["ghost", "ann"]}});
    let lines: String = (1..=2_500).map(|number| format!("{}\n", event(number))).collect();
    let file = world.file("events.ndjson", &lines);
    let ran = world.run(&["publish", &file]).done();
    assert!(ran.err.contains("line 10: "), "{}", ran.err);
    assert!(!ran.err.contains("line 11: "), "{}", ran.err);
    let rest = "warning: 2490 more warnings of this kind (unknown_recipient)\n";
    assert!(ran.err.ends_with(rest), "{}", ran.err);
}

#[test]
fn simulate_prints_warnings_with_their_lines_and_counts_what_it_counts() {
    let world = World::new();
    let at = |at: &str, op: &str, body: Value| {
        let mut line = json!({"at": at, "op": op});
        for (key, value) in body.as_object().unwrap() {
            line[key] = value.clone();
        }
        format!("{line}\n")
    };
    let noon = "2024-01-01T12:00:00Z";
    let mut lines = at(noon, "recipient", json!({"id": "ann"}));
    lines += &at(noon, "subscribe", json!({"recipient": "ann", "topic": "artist/1"}));
    for event in events() {
        lines += &at(noon, "publish", event);
    }
    let own = json!({"id": "e5", "type": "note", "object": {"id": "o"}, "actor": "ann", "to": {"everyone": true}});
    lines += &at("2024-01-01T13:00:00Z", "publish", own);
    let late = json!({"id": "e6", "type": "note", "object": {"id": "o"}, "to": {"everyone": true}, "expires_at": noon});
    lines += &at("2024-01-01T14:00:00Z", "publish", late);
    let timeline = world.file("timeline.ndjson", &lines);
    let config = world.path("tidings.toml").display().to_string();
    let simulate = ["simulate", "--config", &config, "--timeline", &timeline, "--json"];
    let ran = ran(&simulate).done();
    let warned: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("warning: ")).collect();
    let expected = [
        "line 4: event `e2`: unknown recipient `ghost` (unknown_recipient)",
        "line 5: event `e3`: no recipient follows `repo/zzz` (no_followers)",
        "line 7: event `e1`: ",
        "line 8: event `e5`: the only recipient is the actor, who is left out (only_the_actor)",
        "line 9: event `e6`: `expires_at` is 2024-01-01T12:00:00Z, which has passed: nothing is sent",
    ];
    assert_eq!(warned.len(), expected.len(), "{}", ran.err);
    for (warned, expected) in warned.iter().zip(expected) {
        assert!(warned.contains(expected), "{warned}: {expected}");
    }
    // Counted are who is not known and an audience that is empty: e2, e3 and e5.
    let summary = ran.lines().pop().unwrap();
    assert_eq!(summary["summary"]["warnings"], 3, "{summary}");
    assert_eq!(summary["summary"]["republished"], 1, "{summary}");
}
