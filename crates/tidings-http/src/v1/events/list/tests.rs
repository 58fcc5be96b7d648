//! Lists of events and of an event's recipients, asked as operators ask.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_core::Instant;

use crate::rig::{CONFIG, Rig};
use crate::{Access, Settings};

const ONCE: &str = r#"
[types.once]
category = "news"
admission = "once_pending"
channels = { email = { policy = "digest", digest = "daily" } }
"#;

fn done(rig: &Rig, method: Method, path: &str, body: &Value) -> Value {
    let answer = rig.call(method, path, body);
    assert!(answer.status.is_success(), "{path}: {answer:?}");
    answer.json()
}

fn get(rig: &Rig, path: &str) -> Value {
    done(rig, Method::GET, path, &Value::Null)
}

/// Recipients `ada`, `bob` and `eve`, who takes no mails about news, and `mum`, who takes nothing of it.
fn world() -> Rig {
    let config = format!("{CONFIG}{ONCE}[tenants]\non = true\n");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    done(&rig, Method::PUT, "/v1/tenants/acme", &json!({}));
    for name in ["ada", "bob", "eve", "mum"] {
        let body = json!({"email": format!("{name}@example.org")});
        done(&rig, Method::PUT, &format!("/v1/recipients/{name}"), &body);
    }
    let never = |channel: &str| json!({"category": "news", "channel": channel, "mode": "never"});
    done(&rig, Method::PUT, "/v1/recipients/eve/preferences", &json!([never("email")]));
    let nothing = json!([never("email"), never("inbox")]);
    done(&rig, Method::PUT, "/v1/recipients/mum/preferences", &nothing);
    rig
}

fn publish(rig: &Rig, event: &Value) {
    let answer = done(rig, Method::POST, "/v1/events", event);
    assert_eq!(answer["status"], "accepted", "{answer}");
}

fn event(id: &str, object: &str, to: &[&str]) -> Value {
    json!({"id": id, "type": "note", "object": {"id": object}, "to": {"recipients": to}})
}

fn set_clock(rig: &Rig, at: &str) {
    rig.clock.set(Instant::parse(at).unwrap());
}

/// The ids of a list's rows, page by page.
fn walk(rig: &Rig, list: &str, rows: &str, id: &str) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(rig, &format!("{list}{cursor}"));
        let shown = page[rows].as_array().unwrap();
        all.extend(shown.iter().map(|row| row[id].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

#[test]
fn events_are_listed_newest_first_with_every_filter() {
    let rig = world();
    publish(&rig, &event("b", "works/1", &["ada"]));
    publish(&rig, &event("a", "works/2", &["bob"]));
    set_clock(&rig, "2024-01-01T12:00:01Z");
    let mut full = event("c", "works/1", &["ada", "bob"]);
    full["actor"] = json!({"id": "ben"});
    full["target"] = json!({"id": "shows/7"});
    full["tenant"] = json!("acme");
    publish(&rig, &full);
    set_clock(&rig, "2024-01-02T09:00:00Z");
    let mut later = event("d", "works/1", &["ada"]);
    later["deliver_at"] = json!("2024-01-05T09:00:00Z");
    publish(&rig, &later);
    let mut weekly = event("e", "works/3", &["mum"]);
    weekly["type"] = json!("weekly");
    publish(&rig, &weekly);
    for limit in [1, 2, 50] {
        let listed =
            |query: &str| walk(&rig, &format!("/v1/events?limit={limit}{query}"), "events", "id");
        // Those of one instant are sorted by id.
        assert_eq!(listed(""), ["d", "e", "c", "a", "b"]);
        assert_eq!(listed("&type=note"), ["d", "c", "a", "b"]);
        assert_eq!(listed("&object=works/1"), ["d", "c", "b"]);
        assert_eq!(listed("&object=works/1&actor=ben"), ["c"]);
        assert_eq!(listed("&target=shows/7"), ["c"]);
        assert_eq!(listed("&tenant=acme"), ["c"]);
        assert_eq!(listed("&actor=nobody"), [""; 0]);
        assert_eq!(listed("&from=2024-01-01T12:00:01Z"), ["d", "e", "c"]);
        assert_eq!(listed("&to=2024-01-01T12:00:01Z"), ["a", "b"]);
        assert_eq!(listed("&from=2024-01-01T12:00:01Z&to=2024-01-02T09:00:00Z"), ["c"]);
        assert_eq!(listed("&recipient=ada"), ["d", "c", "b"]);
        assert_eq!(listed("&recipient=bob&object=works/2"), ["a"]);
        // Was in the audience, and takes none of it.
        assert_eq!(listed("&recipient=mum"), ["e"]);
        assert_eq!(listed("&recipient=nobody"), [""; 0]);
    }
    let page = get(&rig, "/v1/events?tenant=acme");
    let expected = json!({"events": [{
        "id": "c", "type": "note", "actor": "ben", "object": "works/1", "target": "shows/7", "tenant": "acme",
        "arrived_at": "2024-01-01T12:00:01Z",
    }], "next": null});
    assert_eq!(page, expected);
    let page = get(&rig, "/v1/events?recipient=ada&limit=1");
    let scheduled = json!({"email": {"state": "scheduled"}, "inbox": {"state": "scheduled"}});
    assert_eq!(page["events"][0]["channels"], scheduled);
    assert_eq!(page["events"][0]["actor"], Value::Null);
}

#[test]
fn rare_events_are_found_by_the_index_over_restarts_and_days() {
    let rig = world();
    let many = |day: u32, count: usize| {
        set_clock(&rig, &format!("2024-01-0{day}T12:00:00Z"));
        for part in 0..count.div_ceil(1_000) {
            let numbers = (part * 1_000)..((part + 1) * 1_000).min(count);
            let events: Vec<Value> = numbers
                .map(|n| event(&format!("{day}-{n:05}"), &format!("works/{}", n % 2_500), &[]))
                .collect();
            done(&rig, Method::POST, "/v1/events", &json!(events));
        }
    };
    many(1, 5_000);
    many(2, 300);
    let listed = |rig: &Rig| walk(rig, "/v1/events?object=works/17&limit=2", "events", "id");
    let mut expected = vec!["2-00017", "1-00017", "1-02517"];
    assert_eq!(listed(&rig), expected);
    let config = format!("{CONFIG}{ONCE}[tenants]\non = true\n");
    let rig = rig.restart_with(&config);
    set_clock(&rig, "2024-01-02T12:00:01Z");
    publish(&rig, &event("3", "works/17", &[]));
    expected.insert(0, "3");
    assert_eq!(listed(&rig), expected);
    // All of an instant are listed once, in the order of their ids.
    let all = walk(&rig, "/v1/events?to=2024-01-02T00:00:00Z&limit=500", "events", "id");
    let ids: Vec<String> = (0..5_000).map(|n| format!("1-{n:05}")).collect();
    assert_eq!(all, ids);
}

#[test]
fn the_recipients_of_an_event_are_all_whom_its_audience_reached() {
    let rig = world();
    publish(&rig, &event("e1", "works/1", &["ada", "bob", "eve", "mum"]));
    let recipients = |query: &str| get(&rig, &format!("/v1/events/e1/recipients?limit=3{query}"));
    let listed = |query: &str| {
        walk(&rig, &format!("/v1/events/e1/recipients?limit=3{query}"), "recipients", "recipient")
    };
    let (told, pending) = (json!({"state": "delivered"}), json!({"state": "pending"}));
    let left_out = json!({"state": "left_out", "reason": "preference"});
    let page = recipients("");
    assert_eq!(
        page["recipients"],
        json!([
            {"recipient": "ada", "channels": {"email": pending, "inbox": told}},
            {"recipient": "bob", "channels": {"email": pending, "inbox": told}},
            {"recipient": "eve", "channels": {"email": left_out, "inbox": told}},
        ])
    );
    assert_eq!(listed(""), ["ada", "bob", "eve", "mum"]);
    assert_eq!(listed("&outcome=pending"), ["ada", "bob"]);
    assert_eq!(listed("&outcome=left_out"), ["eve", "mum"]);
    assert_eq!(listed("&outcome=left_out&channel=inbox"), ["mum"]);
    assert_eq!(listed("&outcome=delivered"), ["ada", "bob", "eve"]);
    assert_eq!(listed("&outcome=delivered&channel=email"), [""; 0]);
    assert_eq!(listed("&reason=preference&outcome=delivered"), [""; 0]);
    // Without a provider the message of one fails; another is cancelled.
    done(&rig, Method::POST, "/v1/recipients/ada/flush", &json!({}));
    while listed("&outcome=failed") != ["ada"] {
        std::thread::yield_now();
    }
    let failed = recipients("&outcome=failed")["recipients"][0]["channels"]["email"].clone();
    let messages = get(&rig, "/v1/messages?recipient=ada");
    assert_eq!(failed["message"], messages["messages"][0]["id"]);
    assert_eq!(failed["reason"], messages["messages"][0]["reason"]);
    let reason = failed["reason"].as_str().unwrap();
    assert_eq!(listed(&format!("&reason={reason}&channel=email")), ["ada"]);
    done(&rig, Method::POST, "/v1/events/e1/cancel", &json!({}));
    assert_eq!(listed("&outcome=cancelled"), ["bob"]);
    done(&rig, Method::DELETE, "/v1/recipients/bob", &Value::Null);
    assert_eq!(listed(""), ["ada", "eve", "mum"]);
}

#[test]
fn whom_an_admission_leaves_out_is_listed_with_the_reason() {
    let rig = world();
    for (id, to) in [("o1", vec!["ada"]), ("o2", vec!["ada", "bob", "mum"])] {
        let mut once = event(id, "works/1", &to);
        once["type"] = json!("once");
        publish(&rig, &once);
    }
    let page = get(&rig, "/v1/events/o2/recipients");
    let state = |state: &str, reason: &str| json!({"email": {"state": state, "reason": reason}});
    assert_eq!(
        page["recipients"],
        json!([
            {"recipient": "ada", "channels": state("left_out", "once_pending")},
            {"recipient": "bob", "channels": {"email": {"state": "pending"}}},
            {"recipient": "mum", "channels": state("left_out", "preference")},
        ])
    );
    let of_ada = get(&rig, "/v1/events?recipient=ada");
    assert_eq!(of_ada["events"][0]["channels"], json!({"email": {"state": "pending"}}));
    assert_eq!(of_ada["events"][1]["channels"], state("left_out", "once_pending"));
}

#[test]
fn lists_about_events_refuse_unknown_words_events_and_tenants() {
    let rig = world();
    publish(&rig, &event("e1", "works/1", &["ada"]));
    for (path, status, code, hint) in [
        ("events?type=nots", 400, "invalid_query", "did you mean `note`?"),
        ("events?from=monday", 400, "invalid_query", ""),
        ("events?kind=note", 400, "invalid_query", ""),
        ("events?object=", 400, "invalid_query", "give `object` a value"),
        ("events?cursor=x", 400, "bad_cursor", ""),
        ("events?tenant=acm", 422, "unknown_tenant", "did you mean `acme`?"),
        ("events/none/recipients", 404, "event_not_found", ""),
        ("events/e1/recipients?outcome=faild", 400, "invalid_query", "did you mean `failed`?"),
        ("events/e1/recipients?reason=bounced", 400, "invalid_query", ""),
        ("events/e1/recipients?channel=sms", 400, "invalid_query", "known: `inbox`, `email`"),
    ] {
        let answer = rig.call(Method::GET, &format!("/v1/{path}"), &Value::Null);
        let problem = answer.json();
        assert_eq!((answer.status.as_u16(), &problem["code"]), (status, &json!(code)), "{path}");
        assert!(problem["hint"].as_str().unwrap().contains(hint), "{path}: {problem}");
    }
    let ok = rig.call(Method::GET, "/v1/events?type=weekly", &Value::Null);
    assert_eq!((ok.status, &ok.json()["events"]), (StatusCode::OK, &json!([])));
}

#[test]
fn events_of_days_that_are_deleted_are_listed_no_more() {
    let rig = world();
    publish(&rig, &event("old", "works/1", &["ada"]));
    set_clock(&rig, "2024-01-20T12:00:00Z");
    publish(&rig, &event("new", "works/1", &["ada"]));
    done(&rig, Method::POST, "/v1/admin/forget", &json!({"before": "2024-01-10"}));
    for query in ["", "&object=works/1", "&recipient=ada"] {
        let listed = walk(&rig, &format!("/v1/events?limit=1{query}"), "events", "id");
        assert_eq!(listed, ["new"], "{query}");
    }
    let gone = rig.call(Method::GET, "/v1/events/old/recipients", &Value::Null);
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}
