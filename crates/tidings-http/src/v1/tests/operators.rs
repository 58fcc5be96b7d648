//! The jobs of support, on-call engineers, developers and product people, each as one walk over the calls: every step
//! uses what the one before has answered.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_api::keys::NewKey;
use tidings_core::Instant;
use tidings_node::{KeyChange, Role};

use super::messages::{awaited, deferred, id_of, note, refused, wired};
use super::{done, event, get, post, problem, publish, put};
use crate::rig::{CONFIG, Rig};
use crate::{Access, Settings};

/// A type whose mail goes at once.
const PING: &str = r#"
[types.ping]
category = "news"
channels = { email = { policy = "now" } }
"#;

fn texts(rows: &Value, field: &str) -> Vec<String> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[field].as_str().unwrap().to_owned()).collect()
}

/// The ids that a search for a text finds.
fn found(rig: &Rig, q: &str) -> Vec<String> {
    texts(&post(rig, "/v1/search", &json!({ "q": q }))["hits"], "id")
}

/// "Ana says that she got nothing", and all that is known is her address.
#[test]
fn j1_an_address_leads_to_what_somebody_got_and_missed_and_why() {
    let (rig, wire) = wired();
    wire.says([refused()]);
    note(&rig, "lost", "ada");
    awaited(&rig, "recipient=ada&state=failed", 1);
    note(&rig, "told", "ada");
    awaited(&rig, "recipient=ada&state=sent", 1);
    let never = json!([{"type": "note", "channel": "email", "mode": "never"}]);
    put(&rig, "/v1/recipients/ada/preferences", &never);
    rig.at("2024-01-01T12:00:01Z");
    publish(&rig, "unwanted", "note", &["ada", "bob"]);
    publish(&rig, "not-hers", "note", &["bob"]);

    assert_eq!(found(&rig, " ADA@Example.ORG"), ["ada"]);
    let events = get(&rig, "/v1/events?recipient=ada")["events"].take();
    assert_eq!(texts(&events, "id"), ["unwanted", "told", "lost"]);
    let mail = |index: usize| events[index]["channels"]["email"].clone();
    let state = |index: usize| (mail(index)["state"].clone(), mail(index)["reason"].clone());
    assert_eq!(state(0), (json!("left_out"), json!("preference")));
    assert_eq!(state(1), (json!("delivered"), Value::Null));
    assert_eq!(state(2), (json!("failed"), json!("refused")));
    // What the provider said stands in the message that the list names.
    let message = mail(2)["message"].as_str().unwrap().to_owned();
    let message = get(&rig, &format!("/v1/messages/{message}"));
    assert!(message["attempts"].to_string().contains("550 5.7.1"), "{message}");
    // And the rule that left her out.
    let why = post(&rig, "/v1/explain", &json!({"event": "unwanted", "recipient": "ada"}));
    assert!(why.to_string().contains("type `note`: never"), "{why}");
}

/// "What did you write to me?", asked by somebody who has seen it, in the words that they saw.
#[test]
fn j2_what_somebody_saw_is_shown_in_the_words_that_they_saw() {
    let caught = "[channels.email]\nprovider = \"caught://\"\nfrom = \"Art <art@example.org>\"\n";
    let (types, _) = CONFIG.split_once("[[hooks]]").unwrap();
    let rig = Rig::catching(&format!("{types}{caught}"));
    put(&rig, "/v1/recipients/ada", &json!({"email": "ada@example.org"}));
    let mut lilies = event("e1", "note", &["ada"]);
    lilies["actor"] = json!({"id": "ben", "title": "Ben"});
    lilies["object"] = json!({"id": "works/1", "title": "Water Lilies"});
    post(&rig, "/v1/events", &lilies);
    post(&rig, "/v1/recipients/ada/flush", &json!({}));
    let sent = id_of(&awaited(&rig, "recipient=ada&state=sent", 1)[0]);
    post(&rig, "/v1/recipients/ada/inbox/read", &json!({"event": "e1"}));

    let who = found(&rig, "ada@example.org");
    let listed = get(&rig, &format!("/v1/messages?recipient={}", who[0]))["messages"].take();
    assert_eq!(texts(&listed, "id"), [&*sent]);
    let items = get(&rig, &format!("/v1/messages/{sent}"))["items"].take();
    assert_eq!(texts(&items, "event"), ["e1"]);
    let shown = get(&rig, &format!("/v1/messages/{sent}/preview"));
    assert_eq!(shown["same"], json!(true), "{shown}");
    assert!(shown["text"].as_str().unwrap().contains("Water Lilies"), "{shown}");
    let mail = rig.service.caught.newest_first()[0].message.bytes.clone();
    let mail = String::from_utf8(mail).unwrap();
    // Headers encode what is not ASCII.
    let words = shown["subject"].as_str().unwrap().rsplit("· ").next().unwrap();
    let mut headers = mail.lines().take_while(|line| !line.is_empty());
    let is_it = |line: &str| line.starts_with("Subject: ") && line.ends_with(words);
    assert!(headers.any(is_it), "{words} in {mail}");
    // In the inbox she has read it, in these words.
    let row = get(&rig, "/v1/recipients/ada/inbox?state=all")["groups"][0].take();
    assert_eq!((&row["seen"], &row["read"]), (&json!(true), &json!(true)));
    assert!(row["text"].as_str().unwrap().contains("Water Lilies"), "{row}");
    // Once the work has another title, what is built again is not what she saw, and says so.
    put(&rig, "/v1/objects/works%2F1", &json!({"title": "Leaves"}));
    let shown = get(&rig, &format!("/v1/messages/{sent}/preview"));
    assert_eq!(shown["same"], json!(false), "{shown}");
    assert!(shown["text"].as_str().unwrap().contains("Leaves"), "{shown}");
}

#[test]
fn j3_an_address_is_changed_a_suppression_lifted_and_a_message_sent_again() {
    let (rig, wire) = wired();
    put(&rig, "/v1/suppressions/email/ada%40example.org", &json!({"reason": "manual"}));
    note(&rig, "e1", "ada");
    let held = awaited(&rig, "recipient=ada&state=suppressed", 1);
    assert_eq!(held[0]["reason"], json!("suppressed"));
    let all = get(&rig, "/v1/suppressions?recipient=ada")["suppressions"].take();
    assert_eq!(texts(&all, "address"), ["ada@example.org"]);
    let none = get(&rig, "/v1/suppressions?recipient=bob")["suppressions"].take();
    assert_eq!(none, json!([]));
    done(&rig.call(Method::DELETE, "/v1/suppressions/email/ada%40example.org", &Value::Null));

    wire.says([refused()]);
    note(&rig, "e2", "ada");
    let failed = id_of(&awaited(&rig, "recipient=ada&state=failed", 1)[0]);
    done(&rig.call(Method::PATCH, "/v1/recipients/ada", &json!({"email": "ada@new.example"})));
    let dry = post(&rig, &format!("/v1/messages/{failed}/retry?dry=true"), &Value::Null);
    assert_eq!(dry["concerns"], json!({"people": 1, "entries": 1, "messages": 1}));
    post(&rig, &format!("/v1/messages/{failed}/retry?expect=1"), &Value::Null);
    assert_eq!(id_of(&awaited(&rig, "recipient=ada&state=sent", 1)[0]), failed);
    // "Stop this": of what waits for another try nothing more is sent.
    wire.says([deferred()]);
    note(&rig, "e3", "ada");
    let waiting = id_of(&awaited(&rig, "recipient=ada&state=retrying", 1)[0]);
    post(&rig, &format!("/v1/messages/{waiting}/cancel"), &Value::Null);
    awaited(&rig, "recipient=ada&state=cancelled", 1);
    assert_eq!(found(&rig, "ada@new.example"), ["ada"]);
}

#[test]
fn j4_what_comes_next_is_shown_before_it_comes() {
    let (rig, _) = wired();
    publish(&rig, "w1", "weekly", &["ada"]);
    let mut later = event("w2", "weekly", &["ada"]);
    later["deliver_at"] = json!("2024-01-03T00:00:00Z");
    post(&rig, "/v1/events", &later);
    let pending = get(&rig, "/v1/recipients/ada/pending");
    assert!(pending.to_string().contains("2024-01-02"), "{pending}");
    let next = get(&rig, "/v1/recipients/ada/preview?channel=email");
    let message = &next["message"];
    assert_eq!(message["channel"], json!("email"), "{next}");
    assert!(message["at"].as_str().unwrap().starts_with("2024-01-02"), "{next}");
    assert_eq!(message["entries"], json!(1), "{next}");
    assert!(!next["scheduled"].is_null(), "{next}");
}

#[test]
fn j5_who_waits_too_long_and_since_when_is_told_at_once() {
    let (rig, wire) = wired();
    wire.says([deferred()]);
    note(&rig, "e1", "ada");
    awaited(&rig, "state=retrying", 1);
    let status = get(&rig, "/v1/admin/status");
    assert!(status.to_string().contains("email"), "{status}");
    let due = get(&rig, "/v1/admin/due");
    assert!(due.is_object(), "{due}");
    let waiting = awaited(&rig, "state=retrying&channel=email", 1);
    assert_eq!(waiting[0]["recipient"], json!("ada"));
    let by_hour = get(&rig, "/v1/admin/figures?by=hour,channel&measure=entries&from=2024-01-01");
    assert!(by_hour["rows"].to_string().contains("2024-01-01T12:00:00Z"), "{by_hour}");
    let metrics = rig.call(Method::GET, "/metrics", &Value::Null);
    let metrics = String::from_utf8(metrics.bytes).unwrap();
    assert!(metrics.contains("tidings_oldest_due_age_seconds"));
}

#[test]
fn j6_all_that_failed_while_a_provider_was_down_are_found_and_go_again() {
    let (rig, wire) = wired();
    wire.says([refused(), refused(), refused()]);
    for (id, to) in [("e1", "ada"), ("e2", "bob"), ("e3", "cy")] {
        note(&rig, id, to);
    }
    let filter = "state=failed&channel=email&from=2024-01-01T12:00:00Z&to=2024-01-01T12:40:00Z";
    let failed = awaited(&rig, filter, 3);
    // A filter by something that is not there is refused, and not left out.
    let odd = rig.call(Method::GET, &format!("/v1/messages?{filter}&sate=failed"), &Value::Null);
    assert_eq!(problem(&odd, StatusCode::BAD_REQUEST), "invalid_query");
    assert!(odd.json()["hint"].as_str().unwrap().contains("state"));
    for message in &failed {
        post(&rig, &format!("/v1/messages/{}/retry", id_of(message)), &Value::Null);
    }
    awaited(&rig, "state=sent", 3);
    awaited(&rig, filter, 0);
    assert_eq!(wire.recipients().len(), 6);
}

#[test]
fn j7_a_flood_is_paused_counted_and_cancelled() {
    let (rig, wire) = wired();
    post_empty(&rig, "/v1/types/note/pause");
    publish(&rig, "flood", "note", &["ada", "bob", "cy"]);
    assert_eq!(get(&rig, "/v1/types")["types"]["note"]["paused"], json!(true));
    let path = "/v1/events/flood/cancel";
    let dry = post(&rig, &format!("{path}?dry=true"), &Value::Null);
    assert_eq!(dry["concerns"]["people"], json!(3), "{dry}");
    let grew = rig.call(Method::POST, &format!("{path}?expect=2"), &Value::Null);
    assert_eq!(problem(&grew, StatusCode::CONFLICT), "grew");
    let cancelled = post(&rig, &format!("{path}?expect=3"), &Value::Null);
    assert_eq!(cancelled["status"], dry["status"]);
    post_empty(&rig, "/v1/types/note/resume");
    rig.at("2024-01-01T13:00:00Z");
    let all = get(&rig, "/v1/events/flood/recipients?channel=email&outcome=cancelled");
    assert_eq!(texts(&all["recipients"], "recipient"), ["ada", "bob", "cy"]);
    assert!(wire.recipients().is_empty());
}

fn post_empty(rig: &Rig, path: &str) {
    done(&rig.call(Method::POST, path, &Value::Null));
}

#[test]
fn j8_an_event_says_whom_it_reached_and_why_so_few() {
    let (rig, wire) = wired();
    let never = json!([{"type": "note", "channel": "email", "mode": "never"}]);
    put(&rig, "/v1/recipients/bob/preferences", &never);
    let to = ["ada", "bob", "cy", "nowhere"];
    let supposed = post(&rig, "/v1/explain", &json!({"event": event("e1", "note", &to)}));
    assert_eq!(supposed["channels"]["email"]["left_out"], json!({"preference": 1}));
    publish(&rig, "e1", "note", &to);
    let mut published = post(&rig, "/v1/explain", &json!({"event": "e1"}));
    assert_eq!(published["supposed"].take(), json!(false));
    let mut expected = supposed;
    expected["supposed"].take();
    assert_eq!(published, expected, "what was told before is what publishing shows");

    wire.says([refused()]);
    for who in ["ada", "cy", "nowhere"] {
        post(&rig, &format!("/v1/recipients/{who}/flush"), &json!({}));
    }
    awaited(&rig, "event=e1&state=failed", 1);
    awaited(&rig, "event=e1&state=sent", 1);
    awaited(&rig, "event=e1&state=suppressed", 1);
    let whom = |query: &str| {
        let page = get(&rig, &format!("/v1/events/e1/recipients?channel=email&{query}"));
        texts(&page["recipients"], "recipient")
    };
    assert_eq!(whom("outcome=delivered"), ["cy"]);
    assert_eq!(whom("outcome=failed&reason=refused"), ["ada"]);
    assert_eq!(whom("outcome=left_out"), ["bob"]);
    assert_eq!(whom("reason=no_address"), ["nowhere"]);
    let all = get(&rig, "/v1/events/e1/recipients")["recipients"].take();
    assert_eq!(texts(&all, "recipient"), ["ada", "bob", "cy", "nowhere"]);
}

/// Rows that are parked need a database: the tests of outboxes have them. Attempts of hooks have no call.
#[test]
fn j9_feeds_and_hooks_say_where_they_stand() {
    let config = format!("{CONFIG}[feeds.app]\nurl = \"${{APP_DATABASE}}\"\n");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    let feeds = get(&rig, "/v1/feeds");
    assert_eq!(feeds[0]["name"], json!("app"));
    // Nobody reads its database: the list says whose rows it lacks.
    let parked = get(&rig, "/v1/feeds/app/parked");
    assert_eq!((&parked["parked"], &parked["next"]), (&json!([]), &Value::Null), "{parked}");
    assert!(parked["missing"].to_string().contains("app"), "{parked}");
    let none = rig.call(Method::GET, "/v1/feeds/other/parked", &Value::Null);
    assert_eq!(problem(&none, StatusCode::NOT_FOUND), "feed_not_found");
    let hooks = get(&rig, "/v1/hooks");
    assert!(hooks.to_string().contains("name"), "{hooks}");
}

#[test]
fn j10_a_week_is_counted_by_type_and_given_as_a_table() {
    let (rig, _) = wired();
    note(&rig, "e1", "ada");
    publish(&rig, "e2", "weekly", &["ada", "bob"]);
    awaited(&rig, "state=sent", 1);
    let token = "/v1/admin/figures?by=type,channel&measure=entries,messages&from=2024-01-01";
    let rows = get(&rig, token)["rows"].take();
    let of = |kind: &str, channel: &str| {
        let all = rows.as_array().unwrap().iter();
        all.clone().find(|row| row["type"] == kind && row["channel"] == channel).unwrap().clone()
    };
    assert_eq!(of("note", "email")["entries"], json!(1));
    assert_eq!(of("note", "email")["messages"]["sent"], json!(1));
    assert_eq!(of("weekly", "inbox")["entries"], json!(2));
    let table = rig.send(Method::GET, token, &[("accept", "text/csv")], "");
    let table = String::from_utf8(table.bytes).unwrap();
    assert!(table.starts_with("type,channel,entries,messages.sent,"), "{table}");
    assert!(table.contains("\r\nnote,email,1,1,"), "{table}");
}

/// A link to a view opens the same view for a colleague, and its cursor is of that view alone.
#[test]
fn j16_a_view_is_its_address() {
    let (rig, _) = wired();
    for number in 0..5 {
        publish(&rig, &format!("e{number}"), "note", &["ada", "bob"]);
    }
    let view = "/v1/events?recipient=bob&type=note&limit=2";
    let first = get(&rig, view);
    let cursor = first["next"].as_str().unwrap().to_owned();
    let second = format!("{view}&cursor={cursor}");
    assert_eq!(get(&rig, &second), get(&rig, &second));
    assert_eq!(get(&rig, view), first);
    for other in [
        format!("/v1/events?recipient=ada&type=note&limit=2&cursor={cursor}"),
        format!("/v1/events?recipient=bob&limit=2&cursor={cursor}"),
        format!("/v1/messages?cursor={cursor}"),
        format!("{view}&cursor=x"),
    ] {
        let answer = rig.call(Method::GET, &other, &Value::Null);
        assert_eq!(problem(&answer, StatusCode::BAD_REQUEST), "bad_cursor", "{other}");
    }
}

/// A key of a role; calls have it as their `authorization`.
fn key_of(rig: &Rig, role: Role) -> String {
    let key = NewKey::make(role.name().to_owned(), role, Instant(0)).unwrap();
    let bearer = format!("Bearer {}", key.secret.text());
    rig.change_keys(KeyChange::Make(key.stored));
    bearer
}

/// Situation 14 of the product's surface: a person with very many messages, an event to 12,000, a filter that is no
/// filter, and a key that may only look.
#[test]
fn situation_14_much_is_looked_at_in_pages_and_counted_before_it_is_cancelled() {
    const PEOPLE: usize = 12_000;
    const MESSAGES: usize = 130;
    let config = format!("{CONFIG}{PING}");
    let rig = Rig::with_keys(&config, BTreeMap::new());
    let [admin, reader] = [Role::Admin, Role::Read].map(|role| key_of(&rig, role));
    let send = |key: &str, method: Method, path: &str, body: &Value| {
        let headers = [("content-type", "application/json"), ("authorization", key)];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        rig.send(method, path, &headers, body)
    };
    let people: Vec<String> = (0..PEOPLE).map(|number| format!("p{number}")).collect();
    for some in people.chunks(6_000) {
        let profile = |id: &String| json!({"id": id, "email": format!("{id}@example.org")});
        let profiles: Vec<Value> = some.iter().map(profile).collect();
        let made = send(&admin, Method::POST, "/v1/recipients", &json!(profiles));
        assert_eq!(made.status, StatusCode::OK);
    }
    let mut flood = event("flood", "note", &[]);
    flood["to"] = json!({"everyone": true});
    let made = send(&admin, Method::POST, "/v1/events", &flood);
    assert!(made.status.is_success(), "{}", made.json());
    let noon = Instant::parse("2024-01-01T12:00:00Z").unwrap();
    for number in 0..MESSAGES {
        rig.at(&noon.plus_ms(1_000 * (1 + i64::try_from(number).unwrap())).to_string());
        let ping = event(&format!("ping-{number}"), "ping", &["p7"]);
        assert!(send(&admin, Method::POST, "/v1/events", &ping).status.is_success());
    }

    let hits = send(&reader, Method::POST, "/v1/search", &json!({"q": "P7@Example.org"})).json();
    assert_eq!(texts(&hits["hits"], "id"), ["p7"]);
    // Fifty rows a page, and the same view at the same address, in whatever order its pages are opened.
    let view = "/v1/messages?recipient=p7&type=ping";
    let (mut ids, mut pages, mut cursor) = (BTreeSet::new(), Vec::new(), String::new());
    loop {
        let at = format!("{view}{cursor}");
        let page = send(&reader, Method::GET, &at, &Value::Null).json();
        let shown = texts(&page["messages"], "id");
        ids.extend(shown.iter().cloned());
        let next = page["next"].as_str().map(str::to_owned);
        pages.push((at, shown));
        let Some(next) = next else { break };
        cursor = format!("&cursor={next}");
    }
    let rows = pages.iter().map(|(_, shown)| shown.len());
    assert_eq!((rows.collect::<Vec<_>>(), ids.len()), (vec![50, 50, 30], MESSAGES));
    for (at, shown) in pages.iter().rev() {
        let again = send(&reader, Method::GET, at, &Value::Null).json();
        assert_eq!(texts(&again["messages"], "id"), *shown, "{at}");
    }
    let odd = send(&reader, Method::GET, &format!("{view}&stat=failed"), &Value::Null);
    assert_eq!(problem(&odd, StatusCode::BAD_REQUEST), "invalid_query");
    assert!(odd.json()["hint"].as_str().unwrap().contains("state"), "{}", odd.json());
    // Whoever may only look is told so, before and after the count.
    let cancel = "/v1/events/flood/cancel";
    for query in ["?dry=true", "?expect=12000", ""] {
        let refused = send(&reader, Method::POST, &format!("{cancel}{query}"), &Value::Null);
        assert_eq!(problem(&refused, StatusCode::FORBIDDEN), "role", "{query}");
    }
    let dry = send(&admin, Method::POST, &format!("{cancel}?dry=true"), &Value::Null).json();
    assert_eq!(dry["concerns"]["people"], json!(PEOPLE), "{dry}");
    let grew = send(&admin, Method::POST, &format!("{cancel}?expect=11999"), &Value::Null);
    assert_eq!(problem(&grew, StatusCode::CONFLICT), "grew");
    let done = send(&admin, Method::POST, &format!("{cancel}?expect=12000"), &Value::Null);
    assert_eq!(done.status, StatusCode::OK, "{}", done.json());
    let outcome = send(&reader, Method::GET, "/v1/events/flood", &Value::Null).json();
    assert_eq!(outcome["channels"]["email"]["outcomes"]["cancelled"], json!(PEOPLE), "{outcome}");
}
