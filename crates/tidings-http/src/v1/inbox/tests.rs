//! Inboxes as applications read them; named after rows of the acceptance table where there is one.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::rig::Rig;
use crate::{Access, Settings};

fn with_ada() -> Rig {
    let rig = Rig::new();
    let made = rig.call(Method::PUT, "/v1/recipients/ada", &json!({}));
    assert_eq!(made.status, StatusCode::NO_CONTENT);
    rig
}

fn publish(rig: &Rig, event: &str, object: &str) {
    let body = json!({
        "id": event, "type": "note", "actor": format!("by/{event}"), "object": {"id": object, "title": object},
        "to": {"recipients": ["ada"]},
    });
    let answer = rig.call(Method::POST, "/v1/events", &body);
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.json());
}

fn page(rig: &Rig, query: &str) -> Value {
    let path = format!("/v1/recipients/ada/inbox{query}");
    let answer = rig.call(Method::GET, &path, &Value::Null);
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    answer.json()
}

fn mark(rig: &Rig, how: &str, what: &Value) {
    let answer = rig.call(Method::POST, &format!("/v1/recipients/ada/inbox/{how}"), what);
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
}

const NOW: &str = "2024-01-01T12:00:00Z";

/// An instant after all that these tests publish.
const LATER: &str = "2024-01-01T12:01:00Z";

/// A millisecond later: what is told ends its instant, and what comes next belongs to the following one.
const NEXT: &str = "2024-01-01T12:00:00.001Z";

#[test]
fn h32_and_p6_the_badge_counts_groups_and_its_rev_rises() {
    let rig = with_ada();
    let mut badges = Vec::new();
    let mut look = || {
        let page = page(&rig, "?limit=1");
        badges.push((page["rev"].as_u64().unwrap(), page["unseen"].as_u64().unwrap()));
    };
    look();
    for (event, object) in [("e1", "o1"), ("e2", "o1")] {
        publish(&rig, event, object);
        look();
    }
    mark(&rig, "seen", &json!({"up_to": LATER}));
    look();
    publish(&rig, "e3", "o1");
    publish(&rig, "e4", "o1");
    look();
    publish(&rig, "e5", "o2");
    publish(&rig, "e6", "o3");
    look();
    let unseen: Vec<u64> = badges.iter().map(|(_, unseen)| *unseen).collect();
    assert_eq!(unseen, [0, 1, 1, 0, 1, 3]);
    assert!(badges.is_sorted_by(|a, b| a.0 < b.0), "{badges:?}");
}

#[test]
fn t27_and_t28_what_was_seen_stays_unread_until_it_is_opened() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    publish(&rig, "e2", "o2");
    mark(&rig, "seen", &json!({"up_to": LATER}));
    let seen = page(&rig, "");
    assert_eq!((&seen["unseen"], &seen["unread"]), (&json!(0), &json!(2)));
    mark(&rig, "read", &json!({"object": "o1"}));
    let read = page(&rig, "");
    assert_eq!((&read["unseen"], &read["unread"]), (&json!(0), &json!(1)));
    let states: Vec<_> = read["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| (&g["items"][0]["event"], &g["read"]))
        .collect();
    let expected = [(&json!("e2"), &json!(false)), (&json!("e1"), &json!(true))];
    assert_eq!(states, expected);
    publish(&rig, "e3", "o1");
    let after = page(&rig, "");
    assert_eq!(after["groups"].as_array().unwrap().len(), 3, "H33: apart from what was read");
    mark(&rig, "read", &json!({"event": "e3"}));
    assert_eq!(page(&rig, "")["unread"], 1);
}

#[test]
fn pages_lead_through_everything_whatever_arrives_meanwhile() {
    let rig = with_ada();
    for at in 0..5 {
        publish(&rig, &format!("e{at}"), &format!("o{at}"));
    }
    let (mut events, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let page = page(&rig, &query);
        for group in page["groups"].as_array().unwrap() {
            events.push(group["items"][0]["event"].as_str().unwrap().to_owned());
        }
        let Some(next) = page["next"].as_str() else {
            break;
        };
        publish(&rig, &format!("late{}", events.len()), "o0");
        query = format!("?limit=2&cursor={next}");
    }
    assert_eq!(events, ["e4", "e3", "e2", "e1", "e0"]);
}

#[test]
fn a_page_tells_what_the_contract_names() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    publish(&rig, "e2", "o1");
    let page = page(&rig, "");
    let item = |event: &str, t: &str| {
        json!({
            "event": event, "type": "note", "category": "news", "actor": {"id": format!("by/{event}")},
            "object": {"id": "o1", "title": "o1"}, "body": null, "t": t, "reasons": ["named"], "seen": false, "read": false,
            "text": "Note · o1", "lang": "en", "archived": false, "snoozed_until": null,
        })
    };
    let group = json!({
        "key": page["groups"][0]["key"], "order": page["groups"][0]["order"], "type": "note", "count": 2,
        "actors": ["by/e2", "by/e1"], "text": "Note · o1", "lang": "en", "archived": false, "snoozed_until": null,
        "newest_at": NEXT, "seen": false, "read": false, "items": [item("e2", NEXT), item("e1", NOW)],
    });
    assert_eq!(page["groups"], json!([group]));
    assert_eq!(page["next"], Value::Null);
}

#[test]
fn items_tell_who_did_what_where_and_what_came_along_as_it_is_now() {
    let rig = with_ada();
    let put = |path: &str, body: Value| {
        let done = rig.call(Method::PUT, path, &body);
        assert_eq!(done.status, StatusCode::NO_CONTENT, "{}", done.json());
    };
    put("/v1/recipients/ben", json!({"name": "Ben"}));
    let event = |id: &str, actor: Value| {
        let body = json!({
            "id": id, "type": "note", "actor": actor,
            "object": {"id": "notes/7", "title": "Crash", "url": "/notes/7"},
            "target": {"id": "repo/acme", "title": "Acme", "image": "https://example.org/acme.png"},
            "data": {"excerpt": "It still does.", "n": [1, 2.5]}, "to": {"recipients": ["ada"]},
        });
        let answer = rig.call(Method::POST, "/v1/events", &body);
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.json());
    };
    event("e1", json!("ben"));
    event("e2", json!({"id": "cy", "title": "Cy", "url": "mailto:cy@example.org"}));
    put("/v1/objects/repo%2Facme", json!({"title": "Acme Inc."}));
    let item = |event: &str, actor: Value, t: &str| {
        let text = format!("{} · Note · Crash", actor["title"].as_str().unwrap());
        json!({
            "event": event, "type": "note", "category": "news", "actor": actor,
            "object": {"id": "notes/7", "title": "Crash", "url": "/notes/7"},
            "target": {"id": "repo/acme", "title": "Acme Inc.", "image": "https://example.org/acme.png"},
            "data": {"excerpt": "It still does.", "n": [1, 2.5]},
            "body": null,
            "t": t, "reasons": ["named"], "seen": false, "read": false,
            "text": text, "lang": "en", "archived": false, "snoozed_until": null,
        })
    };
    let cy = json!({"id": "cy", "title": "Cy", "url": "mailto:cy@example.org"});
    let ben = |name: &str| json!({"id": "ben", "title": name});
    let items = page(&rig, "")["groups"][0]["items"].take();
    assert_eq!(items, json!([item("e2", cy, NEXT), item("e1", ben("Ben"), NOW)]));
    // The title of an object stands above the name of a recipient; without both there is the id alone.
    let actor = || page(&rig, "")["groups"][0]["items"][1]["actor"].take();
    put("/v1/recipients/ben", json!({}));
    assert_eq!(actor(), json!({"id": "ben"}));
    put("/v1/objects/ben", json!({"title": "Benjamin"}));
    assert_eq!(actor(), ben("Benjamin"));
    put("/v1/recipients/ben", json!({"name": "Ben"}));
    assert_eq!(actor(), ben("Benjamin"));
    let told = rig.call(Method::GET, "/v1/events/e1", &Value::Null).json();
    assert_eq!(told["event"]["actor"], json!({"id": "ben"}));
    assert_eq!(told["event"]["target"]["title"], "Acme");
}

#[test]
fn a_publish_lifts_the_retraction_of_its_object_and_not_of_actor_or_target() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    rig.call(Method::DELETE, "/v1/objects/o1", &Value::Null);
    let about = |event: &str, object: &str, role: &str| {
        let body = json!({
            "id": event, "type": "note", "object": {"id": object}, "to": {"recipients": ["ada"]},
            role: {"id": "o1", "title": "Again"},
        });
        let answer = rig.call(Method::POST, "/v1/events", &body);
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.json());
        page(&rig, "")["unseen"].as_u64().unwrap()
    };
    assert_eq!(about("e2", "o2", "target"), 1);
    assert_eq!(about("e3", "o2", "actor"), 1);
    publish(&rig, "e4", "o1");
    assert_eq!(page(&rig, "")["unseen"], 2);
}

#[test]
fn texts_and_addresses_out_of_bounds_are_refused_with_their_place() {
    let rig = with_ada();
    let refused = |method: Method, path: &str, body: &Value, field: &str| {
        let answer = rig.call(method, path, body);
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        let problem = answer.json();
        assert_eq!(problem["code"], "invalid_body");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(&format!("`{field}`")), "{field}: {detail}");
        assert!(!problem["hint"].as_str().unwrap().is_empty());
    };
    let faults = [
        ("title", "x".repeat(1025)),
        ("url", format!("/{}", "x".repeat(2048))),
        ("url", "javascript:alert(1)".to_owned()),
        ("image", "//example.org/a.png".to_owned()),
    ];
    for (field, text) in &faults {
        for role in ["actor", "object", "target"] {
            let mut event = json!({
                "type": "note", "object": {"id": "o"}, "to": {"recipients": ["ada"]},
            });
            event[role] = json!({"id": "o", *field: text});
            refused(Method::POST, "/v1/events", &event, &format!("{role}.{field}"));
        }
        refused(Method::PUT, "/v1/objects/o", &json!({*field: text}), field);
    }
    let name = json!({"name": "x".repeat(1025)});
    refused(Method::PATCH, "/v1/recipients/ada", &name, "name");
    assert_eq!(page(&rig, "")["groups"], json!([]));
}

#[test]
fn a6_a_flushed_inbox_keeps_its_history_and_withdrawn_objects_leave_it() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    publish(&rig, "e2", "o2");
    let flushed = rig.call(Method::POST, "/v1/recipients/ada/flush", &json!({}));
    assert!(flushed.status.is_success(), "{}", flushed.json());
    assert_eq!(page(&rig, "")["unseen"], 2);
    rig.call(Method::DELETE, "/v1/objects/o1", &Value::Null);
    let rig = rig.restart();
    let without = page(&rig, "");
    assert_eq!(without["unseen"], 1);
    assert_eq!(without["groups"][0]["items"][0]["event"], "e2");
    rig.call(Method::PUT, "/v1/objects/o1", &json!({"title": "back"}));
    let again = page(&rig, "");
    assert_eq!(again["unseen"], 2);
    assert!(again["rev"].as_u64() > without["rev"].as_u64());
}

/// An entry to mark may have left the inbox a moment ago, so it is no mistake that it is not there.
#[test]
fn f19_a_mark_of_what_is_not_there_marks_nothing() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    let before = page(&rig, "");
    for what in [json!({"event": "none"}), json!({"object": "none"})] {
        mark(&rig, "seen", &what);
        mark(&rig, "read", &what);
    }
    assert_eq!(page(&rig, ""), before);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let rig = with_ada();
    for (query, status) in [
        ("ada/inbox?limit=0", StatusCode::BAD_REQUEST),
        ("ada/inbox?limit=101", StatusCode::BAD_REQUEST),
        ("ada/inbox?cursor=x", StatusCode::BAD_REQUEST),
        ("ada/inbox?page=2", StatusCode::BAD_REQUEST),
        ("bob/inbox", StatusCode::NOT_FOUND),
    ] {
        let answer = rig.call(Method::GET, &format!("/v1/recipients/{query}"), &Value::Null);
        assert_eq!(answer.status, status, "{query}: {}", answer.json());
    }
}

/// Makes a change and returns the counts after it.
fn counts_after(rig: &Rig, how: &str, what: &Value) -> Value {
    let answer = rig.call(Method::POST, &format!("/v1/recipients/ada/inbox/{how}"), what);
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    answer.json()
}

fn events(rig: &Rig, query: &str) -> Vec<String> {
    let page = page(rig, query);
    let groups = page["groups"].as_array().unwrap().clone();
    let items = groups.iter().flat_map(|group| group["items"].as_array().unwrap().clone());
    items.map(|item| item["event"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn i40_items_are_archived_and_come_back_as_they_were() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    publish(&rig, "e2", "o2");
    counts_after(&rig, "seen", &json!({"event": "e1"}));
    let counts = counts_after(&rig, "archive", &json!({"all": true}));
    assert_eq!((&counts["unseen"], &counts["unread"]), (&json!(0), &json!(0)));
    assert_eq!(events(&rig, ""), [""; 0]);
    assert_eq!(events(&rig, "?state=archived"), ["e2", "e1"]);
    assert_eq!(events(&rig, "?state=all&grouped=false"), ["e2", "e1"]);
    let again = counts_after(&rig, "archive", &json!({"all": true}));
    assert_eq!(again, counts, "what changes nothing raises nothing");
    let counts = counts_after(&rig, "unarchive", &json!({"all": true}));
    assert_eq!((&counts["unseen"], &counts["unread"]), (&json!(1), &json!(2)));
    assert_eq!(counts["categories"]["news"], json!({"unseen": 1, "unread": 2}));
    assert_eq!(events(&rig, "?state=unseen"), ["e2"]);
    let read = rig.call(Method::GET, "/v1/recipients/ada/inbox/counts", &Value::Null).json();
    assert_eq!(read, counts);
}

#[test]
fn i40_a_snoozed_item_returns_unseen_at_its_instant() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    publish(&rig, "e2", "o2");
    counts_after(&rig, "read", &json!({"event": "e1"}));
    counts_after(&rig, "snooze", &json!({"event": "e1", "for": "1h"}));
    assert_eq!(events(&rig, ""), ["e2"]);
    let snoozed = page(&rig, "?state=snoozed")["groups"][0].take();
    assert!(snoozed["snoozed_until"].as_str().unwrap().starts_with("2024-01-01T13:00:00"));
    let rev = page(&rig, "")["rev"].as_u64().unwrap();
    rig.at("2024-01-01T13:00:01Z");
    assert_eq!(events(&rig, ""), ["e1", "e2"]);
    let back = page(&rig, "");
    assert!(back["rev"].as_u64().unwrap() > rev);
    assert_eq!(back["groups"][0]["read"], json!(false));
    assert_eq!(back["groups"][0]["newest_at"], snoozed["snoozed_until"]);
    assert_eq!(back["groups"][0]["items"][0]["t"], json!(NOW));
}

#[test]
fn i40_a_key_marks_the_group_that_it_names_and_nothing_else() {
    let rig = with_ada();
    publish(&rig, "e1", "o1");
    let key = page(&rig, "")["groups"][0]["key"].clone();
    publish(&rig, "e2", "o2");
    counts_after(&rig, "read", &json!({ "group": key }));
    assert_eq!(events(&rig, "?state=unread"), ["e2"]);
    let before = page(&rig, "")["rev"].clone();
    let counts = counts_after(&rig, "delete", &json!({ "group": key }));
    assert_eq!(counts["rev"], before, "no group has this key any more");
    counts_after(&rig, "unread", &json!({"event": "e1"}));
    counts_after(&rig, "delete", &json!({ "group": key }));
    assert_eq!(events(&rig, "?state=all"), ["e2"]);
}

#[test]
fn i40_wrong_pages_and_marks_are_refused() {
    let rig = with_ada();
    for query in ["?state=old", "?category=none", "?type=none", "?grouped=maybe", "?sort=t"] {
        let path = format!("/v1/recipients/ada/inbox{query}");
        let answer = rig.call(Method::GET, &path, &Value::Null);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
    }
    assert_eq!(events(&rig, "?category=news&category=news&type=note"), [""; 0]);
    for (how, what) in [
        ("read", json!({})),
        ("read", json!({"all": false})),
        ("read", json!({"all": true, "event": "e1"})),
        ("read", json!({"event": "e1", "category": "news"})),
        ("read", json!({"all": true, "category": "news", "type": "note"})),
        ("archive", json!({"all": true, "for": "1h"})),
        ("snooze", json!({"all": true})),
        ("snooze", json!({"all": true, "for": "30s"})),
        ("snooze", json!({"all": true, "for": "366d"})),
        ("snooze", json!({"all": true, "until": "2023-12-31T00:00:00Z"})),
    ] {
        let answer = rig.call(Method::POST, &format!("/v1/recipients/ada/inbox/{how}"), &what);
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{how} {what}");
    }
}

#[test]
fn t42_a_row_has_the_name_of_its_tenant_where_it_has_one() {
    const CONFIG: &str = "[tenants]\non = true\n[categories.news]\n[types.note]\ncategory = \"news\"\nchannels = { inbox = { policy = \"now\" } }\n";
    let rig = Rig::with(CONFIG, Access::Open, Settings::default());
    rig.call(Method::PUT, "/v1/recipients/ada", &json!({}));
    rig.call(Method::PUT, "/v1/tenants/acme", &json!({ "name": "Acme Works" }));
    rig.call(Method::PUT, "/v1/tenants/bolt", &json!({}));
    for (event, tenant) in [("e1", Some("acme")), ("e2", Some("bolt")), ("e3", None)] {
        let body = json!({
            "id": event, "type": "note", "object": { "id": event }, "to": { "recipients": ["ada"] },
            "tenant": tenant,
        });
        let answer = rig.call(Method::POST, "/v1/events", &body);
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.json());
    }
    let page = page(&rig, "");
    let named = page["groups"].as_array().unwrap().iter();
    let named: Vec<_> =
        named.map(|row| (row["tenant"].as_str(), row["tenant_name"].as_str())).collect();
    assert_eq!(named, [(None, None), (Some("bolt"), None), (Some("acme"), Some("Acme Works"))]);
}
