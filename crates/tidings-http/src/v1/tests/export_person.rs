//! The export of a person's data: each fact that is planted is found, and nobody else's is.

use std::collections::BTreeSet;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::messages::{awaited, note, refused, wired_by};
use super::{done, event, get, post, problem, publish, put};
use crate::rig::{CONFIG, Rig, user_token};

const MORE: &str = "[users]\n[tenants]\non = true\n";

/// More rows than an export reads at once.
const MANY: usize = 450;

fn export(rig: &Rig, id: &str) -> Value {
    get(rig, &format!("/v1/recipients/{id}/export"))
}

fn texts(rows: &Value, field: &str) -> Vec<String> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[field].as_str().unwrap().to_owned()).collect()
}

/// The lines of the log with a query, newest first.
fn lines(rig: &Rig, query: &str) -> Vec<Value> {
    get(rig, &format!("/v1/admin/log?limit=500{query}"))["log"].as_array().unwrap().clone()
}

#[test]
fn each_fact_about_a_person_is_in_their_export() {
    let (rig, wire) = wired_by(&format!("{CONFIG}{MORE}"));
    rig.make_signing_key("s1");
    put(&rig, "/v1/tenants/acme", &json!({"name": "Acme"}));
    let profile = json!({"name": "Ada Lovelace", "email": "ada@example.org", "tz": "Europe/Paris", "locale": "fr", "lat": 48.9, "lon": 2.4, "data": {"plan": "gold"}, "quiet_hours": {"from": "22:00", "to": "07:00"}, "tenants": ["acme"]});
    put(&rig, "/v1/recipients/ada", &profile);
    put(&rig, "/v1/recipients/ada/subscriptions/artist/42", &Value::Null);
    put(&rig, "/v1/recipients/ada/subscriptions/team/7?tenant=acme", &Value::Null);
    let muted = json!([
        {"object": "of/muted", "channel": "*", "mode": "never"},
        {"type": "weekly", "channel": "email", "mode": "never", "tenant": "acme"},
    ]);
    put(&rig, "/v1/recipients/ada/preferences", &muted);
    wire.says([refused()]);
    note(&rig, "failed", "ada");
    awaited(&rig, "recipient=ada&state=failed", 1);
    note(&rig, "sent", "ada");
    awaited(&rig, "recipient=ada&state=sent", 1);
    for (id, mark, more) in [
        ("archived", "archive", json!({})),
        ("snoozed", "snooze", json!({"until": "2024-01-03T08:00:00Z"})),
        ("deleted", "delete", json!({})),
        ("seen", "seen", json!({})),
        ("read", "read", json!({})),
    ] {
        publish(&rig, id, "weekly", &["ada"]);
        let mut body = more;
        body["event"] = json!(id);
        post(&rig, &format!("/v1/recipients/ada/inbox/{mark}"), &body);
    }
    let mut of_tenant = event("of-acme", "note", &["ada"]);
    of_tenant["tenant"] = json!("acme");
    post(&rig, "/v1/events", &of_tenant);
    put(&rig, "/v1/suppressions/email/ada%40example.org", &json!({"reason": "complaint"}));
    let token = format!("Bearer {}", user_token("s1", "ada", None));
    let headers = [("content-type", "application/json"), ("authorization", &*token)];
    let never = json!([{"type": "note", "channel": "email", "mode": "never"}]).to_string();
    let chosen = rig.send(Method::PATCH, "/v1/me/preferences", &headers, never);
    assert!(chosen.status.is_success(), "{chosen:?}");

    let all = export(&rig, "ada");
    assert_eq!(all["recipient"], get(&rig, "/v1/recipients/ada"));
    assert_eq!(all["preferences"], get(&rig, "/v1/recipients/ada/preferences"));
    assert_eq!(all["preferences"].as_array().unwrap().len(), 3);
    let topics = json!([{"topic": "artist/42"}, {"topic": "team/7", "tenant": "acme"}]);
    assert_eq!(all["subscriptions"], topics);
    assert_eq!(all["memberships"], json!([{"tenant": "acme"}]));
    let item = |id: &str| {
        let all = all["inbox"].as_array().unwrap().iter();
        all.clone().find(|item| item["event"] == id).cloned()
    };
    assert_eq!(item("archived").unwrap()["archived"], true);
    assert_eq!(item("snoozed").unwrap()["snoozed_until"], "2024-01-03T08:00:00Z");
    let marks = |id: &str| (item(id).unwrap()["seen"].clone(), item(id).unwrap()["read"].clone());
    assert_eq!(marks("seen"), (json!(true), json!(false)));
    assert_eq!(marks("read"), (json!(true), json!(true)));
    assert_eq!(marks("failed"), (json!(false), json!(false)));
    assert_eq!(item("of-acme").unwrap()["tenant"], "acme");
    assert_eq!((item("deleted"), all["inbox"].as_array().unwrap().len()), (None, 7));
    // Messages are those of the list, each as it is shown alone.
    let listed = get(&rig, "/v1/messages?recipient=ada&limit=500")["messages"].take();
    assert_eq!(texts(&all["messages"], "id"), texts(&listed, "id"));
    for message in all["messages"].as_array().unwrap() {
        let id = message["id"].as_str().unwrap();
        assert_eq!(*message, get(&rig, &format!("/v1/messages/{id}")));
    }
    let events = all["messages"].as_array().unwrap().iter().flat_map(|message| {
        let items = message["items"].as_array().unwrap().iter();
        items.map(|item| item["event"].as_str().unwrap().to_owned())
    });
    let events: BTreeSet<String> = events.collect();
    assert!(["failed", "sent"].iter().all(|id| events.contains(*id)), "{events:?}");
    assert_eq!(texts(&all["suppressions"], "address"), ["ada@example.org"]);
    assert_eq!(all["suppressions"][0]["reason"], "complaint");
    let ids = texts(&all["log"], "id");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "each line once: {ids:?}");
    let actions: BTreeSet<String> = texts(&all["log"], "action").into_iter().collect();
    let expected = [
        "data.exported",
        "flush",
        "patch_my_preferences",
        "put_preferences",
        "put_recipient",
        "suppress",
    ];
    assert!(actions.iter().eq(expected), "{actions:?}");
    let by_hand: BTreeSet<String> = ["&subject=recipient:ada", "&by=user:ada", "&action=suppress"]
        .iter()
        .flat_map(|query| texts(&json!(lines(&rig, query)), "id"))
        .collect();
    assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), by_hand);
}

#[test]
fn an_export_has_no_page_and_nothing_of_others() {
    let (rig, _) = wired_by(&format!("{CONFIG}{MORE}"));
    put(&rig, "/v1/tenants/acme", &json!({}));
    for (name, topic) in [("ada", "artist/42"), ("bob", "bobs/topic")] {
        let body = json!({"name": format!("Name of {name}"), "email": format!("{name}@example.org"), "tenants": ["acme"]});
        put(&rig, &format!("/v1/recipients/{name}"), &body);
        put(&rig, &format!("/v1/recipients/{name}/subscriptions/{topic}"), &Value::Null);
        let object =
            json!([{"object": format!("muted-by-{name}"), "channel": "*", "mode": "never"}]);
        put(&rig, &format!("/v1/recipients/{name}/preferences"), &object);
        let suppressed = format!("/v1/suppressions/email/{name}%40example.org");
        put(&rig, &suppressed, &json!({"reason": "manual"}));
        for number in 0..if name == "ada" { MANY } else { 3 } {
            note(&rig, &format!("to-{name}-{number}"), name);
        }
    }
    awaited_all(&rig, MANY + 3);
    let all = export(&rig, "ada");
    let expected: BTreeSet<String> = (0..MANY).map(|number| format!("to-ada-{number}")).collect();
    let inbox = texts(&all["inbox"], "event");
    assert_eq!((inbox.len(), inbox.into_iter().collect()), (MANY, expected.clone()));
    let messages = all["messages"].as_array().unwrap();
    assert_eq!(messages.len(), MANY);
    let left_out = messages.iter().map(|message| message["left_out"][0]["event"].as_str().unwrap());
    assert_eq!(left_out.map(str::to_owned).collect::<BTreeSet<_>>(), expected);
    // A flush of each note, and five lines more.
    assert_eq!(all["log"].as_array().unwrap().len(), MANY + 5);
    assert!(!all.to_string().contains("bob"), "{:?}", all["log"]);
}

/// Waits for all messages of a server: channels answer in their own time.
fn awaited_all(rig: &Rig, count: usize) {
    for _ in 0..100_000 {
        let figures = get(rig, "/v1/admin/figures?measure=messages&channel=email&from=2024-01-01");
        if figures["rows"][0]["messages"]["suppressed"] == count {
            return;
        }
        std::thread::yield_now();
    }
    panic!("{}", get(rig, "/v1/admin/figures"));
}

#[test]
fn an_export_of_somebody_who_is_not_there_is_404_and_leaves_no_line() {
    let rig = Rig::new();
    put(&rig, "/v1/recipients/a%2Fda", &json!({"name": "Ada"}));
    let path = "/v1/recipients/a%2Fda/export";
    assert_eq!(get(&rig, path)["recipient"]["id"], "a/da");
    let exported = lines(&rig, "&action=data.exported");
    let [line] = &exported[..] else { panic!("{exported:?}") };
    assert_eq!(line["subject"], json!({"kind": "recipient", "id": "a/da"}));
    let erased = post_delete(&rig, "/v1/recipients/a%2Fda");
    for path in [path, "/v1/recipients/nobody/export"] {
        let answer = rig.call(Method::GET, path, &Value::Null);
        assert_eq!(problem(&answer, StatusCode::NOT_FOUND), "recipient_not_found");
    }
    // The line of the export before names the person no more.
    let exported = lines(&rig, "&action=data.exported");
    let [line] = &exported[..] else { panic!("{exported:?}") };
    assert_eq!(line["subject"]["id"], erased["receipt"]["subject"]);
    // Whoever comes with the same id is somebody else.
    done(&rig.call(Method::PUT, "/v1/recipients/a%2Fda", &json!({})));
    let all = get(&rig, path);
    assert_eq!(all["recipient"]["name"], Value::Null);
    assert_eq!(texts(&all["log"], "action"), ["data.exported", "put_recipient"]);
}

fn post_delete(rig: &Rig, path: &str) -> Value {
    let answer = rig.call(Method::DELETE, path, &Value::Null);
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    answer.json()
}
