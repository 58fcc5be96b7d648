//! Messages as operators see and change them. Tests named after rows of the acceptance table are of what they say.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_node::channel::{
    Channel, MailRenderer, Outcome, Provider, Receipt, Rendered, RenderingChannel, Scope,
};

use super::{get, post, problem, publish, put};
use crate::rig::{CONFIG, Rig};

/// A channel that answers as it is told, and knows what it was given.
#[derive(Default)]
pub(super) struct Wire {
    answers: Mutex<VecDeque<Outcome>>,
    given: Mutex<Vec<(String, String)>>,
    names: Mutex<Vec<String>>,
}

impl Wire {
    pub(super) fn says(&self, answers: impl IntoIterator<Item = Outcome>) {
        self.answers.lock().unwrap().extend(answers);
    }

    /// The recipients of what it was given, in order.
    pub(super) fn recipients(&self) -> Vec<String> {
        let given = self.given.lock().unwrap();
        given.iter().map(|(recipient, _)| recipient.clone()).collect()
    }

    /// The Message-IDs of what it was given, in order.
    fn names(&self) -> Vec<String> {
        self.names.lock().unwrap().clone()
    }

    /// The ids of what it was given, in order.
    fn batches(&self) -> Vec<String> {
        let given = self.given.lock().unwrap();
        given.iter().map(|(_, batch)| batch.clone()).collect()
    }
}

impl Channel for Wire {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let recipient = message.head.recipient.as_ref().unwrap().as_str().to_owned();
        let given = (recipient, message.head.id.clone());
        self.given.lock().unwrap().push(given);
        self.names.lock().unwrap().push(message.message_id.clone());
        let said = self.answers.lock().unwrap().pop_front();
        said.unwrap_or_else(|| {
            let reference = Some("250 queued as 4F2".to_owned());
            Outcome::Sent(Receipt { reference, ..Receipt::default() })
        })
    }
}

pub(super) fn refused() -> Outcome {
    Outcome::Failed { why: "RCPT: 550 5.7.1".to_owned(), suppress: None }
}

pub(super) fn deferred() -> Outcome {
    Outcome::Retry { why: "RCPT: 451 4.3.0".to_owned(), after_ms: None }
}

fn in_doubt() -> Outcome {
    Outcome::Unknown { why: "end of DATA: timed out".to_owned() }
}

/// A server with a wire, and some people.
pub(super) fn wired() -> (Rig, Arc<Wire>) {
    wired_by(CONFIG)
}

pub(super) fn wired_by(config: &str) -> (Rig, Arc<Wire>) {
    let wire = Arc::new(Wire::default());
    let from = tidings_mail::Sender::parse("Art <art@example.org>").unwrap();
    let outlet = RenderingChannel::new(Arc::new(MailRenderer::plain(from)), Arc::clone(&wire) as _);
    // One thread: what is sent is sent in order.
    let outlet = outlet.on_threads(1);
    let rig = Rig::with_channels(config, [("email".to_owned(), outlet)].into());
    for name in ["ada", "bob", "cy"] {
        let body = json!({"email": format!("{name}@example.org")});
        put(&rig, &format!("/v1/recipients/{name}"), &body);
    }
    put(&rig, "/v1/recipients/nowhere", &json!({}));
    (rig, wire)
}

/// Sends a note to somebody now.
pub(super) fn note(rig: &Rig, id: &str, to: &str) {
    publish(rig, id, "note", &[to]);
    post(rig, &format!("/v1/recipients/{to}/flush"), &json!({}));
}

/// The messages of a query.
pub(super) fn listed(rig: &Rig, query: &str) -> Vec<Value> {
    let page = get(rig, &format!("/v1/messages?{query}"));
    assert_eq!(page["next"], Value::Null);
    page["messages"].as_array().unwrap().clone()
}

/// The messages of a query once there are so many: channels answer in their own time.
pub(super) fn awaited(rig: &Rig, query: &str, count: usize) -> Vec<Value> {
    for _ in 0..100_000 {
        let messages = listed(rig, query);
        if messages.len() == count {
            return messages;
        }
        std::thread::yield_now();
    }
    panic!("{query}: {:?}", listed(rig, ""));
}

pub(super) fn id_of(message: &Value) -> String {
    message["id"].as_str().unwrap().to_owned()
}

/// Has a message of a query changed, and returns the answer.
fn operate(rig: &Rig, id: &str, act: &str) -> Value {
    post(rig, &format!("/v1/messages/{id}/{act}"), &Value::Null)
}

fn refusal(rig: &Rig, id: &str, act: &str) -> String {
    let path = format!("/v1/messages/{id}/{act}");
    problem(&rig.call(Method::POST, &path, &Value::Null), StatusCode::CONFLICT)
}

fn fate(rig: &Rig, event: &str) -> Value {
    get(rig, &format!("/v1/events/{event}"))["channels"]["email"].clone()
}

#[test]
fn t15_failed_messages_are_retried_in_order_each_at_most_once() {
    let (rig, wire) = wired();
    wire.says([refused(), refused(), refused()]);
    for (minute, (event, to)) in [("e1", "cy"), ("e2", "ada"), ("e3", "bob")].iter().enumerate() {
        rig.at(&format!("2024-01-01T12:0{minute}:00Z"));
        note(&rig, event, to);
        awaited(&rig, "state=failed", minute + 1);
    }
    let mut failed = listed(&rig, "state=failed");
    assert!(failed.iter().all(|message| message["reason"] == "refused"));
    assert_eq!(fate(&rig, "e1")["outcomes"], json!({"failed": 1}));
    failed.sort_by_key(|message| message["due"].as_str().unwrap().to_owned());
    for message in &failed {
        assert_eq!(operate(&rig, &id_of(message), "retry")["status"], "accepted");
    }
    awaited(&rig, "state=sent", 3);
    assert_eq!(wire.recipients(), ["cy", "ada", "bob", "cy", "ada", "bob"]);
    // Each under the id that it had.
    assert_eq!(wire.batches()[..3], wire.batches()[3..]);
    for message in &failed {
        assert_eq!(refusal(&rig, &id_of(message), "retry"), "message_state");
    }
    assert_eq!(wire.recipients().len(), 6);
    assert_eq!(fate(&rig, "e1")["outcomes"], json!({"delivered": 1}));
    assert_eq!(fate(&rig, "e1")["reasons"], json!({}));
}

#[test]
fn a_time_line_tells_what_entered_when_it_went_and_what_the_provider_said() {
    let (rig, wire) = wired();
    wire.says([deferred()]);
    publish(&rig, "e1", "note", &["ada"]);
    rig.at("2024-01-01T12:01:00Z");
    publish(&rig, "e2", "note", &["ada"]);
    rig.at("2024-01-01T12:05:00Z");
    let waits = awaited(&rig, "state=retrying", 1).remove(0);
    assert_eq!(waits["failed_attempts"], 1);
    assert!(waits["next_try"].as_str().unwrap() > "2024-01-01T12:05:00Z");
    rig.at("2024-01-01T12:05:10Z");
    let id = id_of(&waits);
    // Not yet due, and sent at once.
    assert_eq!(operate(&rig, &id, "retry")["status"], "accepted");
    awaited(&rig, "state=sent", 1);
    assert_eq!(wire.recipients(), ["ada", "ada"]);
    let shown = get(&rig, &format!("/v1/messages/{id}"));
    assert_eq!(shown["state"], "sent");
    assert_eq!(shown["batch"], wire.batches()[0]);
    assert_eq!(shown["items"][0]["event"], "e1");
    assert_eq!(shown["items"][1]["event"], "e2");
    let attempts = shown["attempts"].as_array().unwrap();
    let said: Vec<_> = attempts.iter().map(|one| (&one["answer"], &one["reply"])).collect();
    assert_eq!(
        said,
        [
            (&json!("retry"), &json!("RCPT: 451 4.3.0")),
            (&json!("sent"), &json!("250 queued as 4F2")),
        ]
    );
    let timeline = shown["timeline"].as_array().unwrap();
    let steps: Vec<_> = timeline
        .iter()
        .map(|step| {
            let [at, rule] = ["at", "rule"].map(|field| step[field].as_str().unwrap());
            (at, rule)
        })
        .collect();
    assert_eq!(
        steps,
        [
            ("2024-01-01T12:00:00Z", "lane"),
            ("2024-01-01T12:01:00Z", "lane"),
            ("2024-01-01T12:05:00Z", "deadline"),
            ("2024-01-01T12:05:00Z", "message"),
            ("2024-01-01T12:05:00Z", "delivery"),
            ("2024-01-01T12:05:10Z", "delivery"),
            ("2024-01-01T12:05:10Z", "delivery"),
        ]
    );
}

#[test]
fn p7_each_failover_is_visible() {
    let (first, second) = (Arc::new(Wire::default()), Arc::new(Wire::default()));
    first.says([Outcome::Away {
        scope: Scope::Provider,
        why: "connect: refused".to_owned(),
        after_ms: None,
    }]);
    let provider = |address: &str, wire: &Arc<Wire>| Provider {
        address: address.into(),
        channel: Arc::clone(wire) as _,
    };
    let providers =
        vec![provider("smtp://a.example:587", &first), provider("smtp://b.example:587", &second)];
    let from = tidings_mail::Sender::parse("Art <art@example.org>").unwrap();
    let outlet = RenderingChannel::of_providers(Arc::new(MailRenderer::plain(from)), providers);
    let rig = Rig::with_channels(CONFIG, [("email".to_owned(), outlet)].into());
    put(&rig, "/v1/recipients/ada", &json!({"email": "ada@example.org"}));
    note(&rig, "e1", "ada");
    let id = id_of(&awaited(&rig, "state=sent", 1)[0]);
    let shown = get(&rig, &format!("/v1/messages/{id}"));
    let tries = shown["attempts"].as_array().unwrap();
    let asked: Vec<_> =
        tries.iter().map(|one| [&one["provider"], &one["answer"], &one["reply"]]).collect();
    assert_eq!(
        json!(asked),
        json!([
            ["smtp://a.example:587", "retry", "connect: refused"],
            ["smtp://b.example:587", "sent", "250 queued as 4F2"],
        ])
    );
    assert_eq!(second.names().len(), 1);
}

#[test]
fn a_message_that_is_not_handed_over_is_cancelled_and_stays_readable() {
    let (rig, wire) = wired();
    wire.says([deferred(), in_doubt()]);
    note(&rig, "e1", "ada");
    let id = id_of(&awaited(&rig, "state=retrying", 1)[0]);
    let cancelled = operate(&rig, &id, "cancel");
    assert_eq!(cancelled, json!({"status": "cancelled", "cancelled": 1}));
    let shown = get(&rig, &format!("/v1/messages/{id}"));
    assert_eq!((&shown["state"], &shown["reason"]), (&json!("cancelled"), &json!("message")));
    assert_eq!(shown["left_out"], json!([{"event": "e1", "reason": "message"}]));
    assert_eq!(shown["attempts"][0]["reply"], "RCPT: 451 4.3.0");
    assert_eq!(fate(&rig, "e1")["reasons"], json!({"message": 1}));
    assert_eq!(operate(&rig, &id, "cancel")["status"], "nothing_left");
    assert_eq!(refusal(&rig, &id, "retry"), "message_state");

    // Nobody knows whether it was handed over.
    note(&rig, "e2", "bob");
    let id = id_of(&awaited(&rig, "state=retrying", 1)[0]);
    assert_eq!(operate(&rig, &id, "cancel")["status"], "too_late");
    assert_eq!(wire.recipients(), ["ada", "bob"]);
}

#[test]
fn what_was_sent_is_resent_and_stays_delivered() {
    let (rig, wire) = wired();
    note(&rig, "e1", "ada");
    let id = id_of(&awaited(&rig, "state=sent", 1)[0]);
    assert_eq!(operate(&rig, &id, "cancel")["status"], "too_late");
    assert_eq!(refusal(&rig, &id, "retry"), "message_state");
    wire.says([refused()]);
    assert_eq!(operate(&rig, &id, "resend")["status"], "accepted");
    // The copy was refused, and the message is what it was.
    awaited(&rig, "state=sent", 1);
    assert_eq!(fate(&rig, "e1")["outcomes"], json!({"delivered": 1}));
    assert_eq!(operate(&rig, &id, "resend")["status"], "accepted");
    awaited(&rig, "state=sent", 1);
    let batches = wire.batches();
    assert_eq!(batches.len(), 3);
    assert!(batches.iter().all(|batch| *batch == batches[0]));
    let attempts = get(&rig, &format!("/v1/messages/{id}"))["attempts"].clone();
    let answers = attempts.as_array().unwrap().iter().map(|one| &one["answer"]);
    assert_eq!(answers.collect::<Vec<_>>(), ["sent", "failed", "sent"]);
}

#[test]
fn t20_an_unknown_outcome_is_shown_and_resent_by_hand() {
    let (rig, wire) = wired();
    wire.says([in_doubt(), in_doubt()]);
    note(&rig, "e1", "ada");
    awaited(&rig, "state=retrying", 1);
    rig.at("2024-01-01T13:00:00Z");
    let id = id_of(&awaited(&rig, "state=unknown", 1)[0]);
    assert_eq!(refusal(&rig, &id, "retry"), "message_state");
    assert_eq!(operate(&rig, &id, "resend")["status"], "accepted");
    awaited(&rig, "state=sent", 1);
    assert_eq!(wire.recipients().len(), 3);
    assert_eq!(fate(&rig, "e1")["outcomes"], json!({"delivered": 1}));
}

#[test]
fn t20_what_a_type_gives_up_is_not_sent_again_unless_somebody_asks() {
    let config = format!(
        "{CONFIG}\n[types.code]\ncategory = \"news\"\nunknown_outcome = \"give_up\"\n\
         channels = {{ email = {{ policy = \"cooldown\", quiet = \"4m\" }} }}\n"
    );
    let (rig, wire) = wired_by(&config);
    assert_eq!(get(&rig, "/v1/types")["types"]["code"]["unknown_outcome"], "give_up");
    // One type of the message is enough.
    publish(&rig, "e1", "code", &["ada"]);
    publish(&rig, "e2", "note", &["ada"]);
    wire.says([in_doubt()]);
    post(&rig, "/v1/recipients/ada/flush", &json!({}));
    let id = id_of(&awaited(&rig, "state=unknown", 1)[0]);
    assert_eq!(wire.recipients(), ["ada"]);
    for event in ["e1", "e2"] {
        assert_eq!(fate(&rig, event)["outcomes"], json!({"unknown": 1}));
    }
    // What somebody asks for is tried as any other message.
    wire.says([deferred()]);
    assert_eq!(operate(&rig, &id, "resend")["status"], "accepted");
    awaited(&rig, "state=retrying", 1);
    rig.at("2024-01-01T13:00:00Z");
    awaited(&rig, "state=sent", 1);
    // And given up again where nobody knows.
    wire.says([in_doubt()]);
    assert_eq!(operate(&rig, &id, "resend")["status"], "accepted");
    awaited(&rig, "state=sent", 1);
    assert_eq!(wire.recipients().len(), 4);
    // Another type is sent once more.
    wire.says([in_doubt()]);
    note(&rig, "e3", "bob");
    awaited(&rig, "state=retrying", 1);
}

#[test]
fn h26_one_bad_address_keeps_nobody_else_from_theirs() {
    let (rig, wire) = wired();
    wire.says([refused()]);
    let to = ["ada", "bob", "cy"];
    publish(&rig, "e1", "note", &to);
    rig.at("2024-01-01T12:04:00Z");
    let sent = awaited(&rig, "state=sent", 2);
    let failed = awaited(&rig, "state=failed", 1).remove(0);
    assert_eq!(wire.recipients().len(), 3);
    assert!(sent.iter().all(|message| message["recipient"] != failed["recipient"]));
    assert_eq!(fate(&rig, "e1")["outcomes"], json!({"delivered": 2, "failed": 1}));
}

#[test]
fn h30_a_message_id_has_the_senders_host_and_stays_over_attempts() {
    let (rig, wire) = wired();
    wire.says([deferred()]);
    note(&rig, "e1", "ada");
    let id = id_of(&awaited(&rig, "state=retrying", 1)[0]);
    operate(&rig, &id, "retry");
    awaited(&rig, "state=sent", 1);
    operate(&rig, &id, "resend");
    awaited(&rig, "state=sent", 1);
    note(&rig, "e2", "ada");
    awaited(&rig, "state=sent", 2);
    let names = wire.names();
    assert_eq!(names.len(), 4);
    assert!(names[..3].iter().all(|name| *name == names[0]), "{names:?}");
    assert_ne!(names[3], names[0]);
    assert!(names.iter().all(|name| name.contains("@example.org")), "{names:?}");
}

#[test]
fn a_retry_leaves_out_what_its_recipient_has_refused_since() {
    let (rig, wire) = wired();
    wire.says([refused(), refused()]);
    publish(&rig, "e1", "note", &["ada"]);
    let other = json!({"id": "e2", "type": "note", "object": {"id": "other"}, "to": {"recipients": ["ada"]}});
    post(&rig, "/v1/events", &other);
    post(&rig, "/v1/recipients/ada/flush", &json!({}));
    let id = id_of(&awaited(&rig, "state=failed", 1)[0]);
    let mute = json!([{"object": "other", "channel": "email", "mode": "never"}]);
    let path = "/v1/recipients/ada/preferences";
    assert!(rig.call(Method::PATCH, path, &mute).status.is_success());
    assert_eq!(operate(&rig, &id, "retry")["status"], "accepted");
    // Refused again: what was left out stays out.
    awaited(&rig, "state=failed", 1);
    assert_eq!(fate(&rig, "e2")["reasons"], json!({"preference": 1}));
    assert_eq!(fate(&rig, "e1")["reasons"], json!({"refused": 1}));
    let never = json!([{"type": "note", "channel": "email", "mode": "never"}]);
    assert!(rig.call(Method::PATCH, path, &never).status.is_success());
    assert_eq!(refusal(&rig, &id, "retry"), "message_state");
    assert_eq!(wire.recipients().len(), 2);
}

#[test]
fn messages_are_listed_page_by_page_and_by_every_filter() {
    let (rig, wire) = wired();
    wire.says([refused()]);
    note(&rig, "e1", "ada");
    awaited(&rig, "state=failed", 1);
    note(&rig, "e2", "bob");
    note(&rig, "e3", "nowhere");
    awaited(&rig, "state=sent", 1);
    awaited(&rig, "state=suppressed", 1);
    rig.at("2024-01-02T12:00:00Z");
    note(&rig, "e4", "ada");
    publish(&rig, "e5", "weekly", &["cy"]);
    post(&rig, "/v1/recipients/cy/flush", &json!({}));
    awaited(&rig, "state=sent", 3);
    let all: Vec<String> = listed(&rig, "").iter().map(id_of).collect();
    assert_eq!(all.len(), 5);
    assert!(all[..2].iter().all(|id| id.starts_with("2024-01-02.")));
    let mut paged = Vec::new();
    let mut next = String::new();
    loop {
        let page = get(&rig, &format!("/v1/messages?limit=1{next}"));
        let messages = page["messages"].as_array().unwrap();
        paged.extend(messages.iter().map(id_of));
        match page["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(paged, all);
    let count = |query: &str| listed(&rig, query).len();
    assert_eq!(count("recipient=ada"), 2);
    assert_eq!(count("recipient=ada&day=2024-01-01"), 1);
    assert_eq!(count("day=2024-01-02"), 2);
    assert_eq!(count("type=weekly"), 1);
    assert_eq!(count("type=weekly&type=note"), 5);
    assert_eq!(count("event=e4"), 1);
    assert_eq!(count("event=e3&state=suppressed&reason=no_address"), 1);
    assert_eq!(count("event=never_heard_of"), 0);
    assert_eq!(count("recipient=never_heard_of"), 0);
    assert_eq!(count("state=sent&state=suppressed"), 4);
    assert_eq!(count("reason=refused"), 1);
    assert_eq!(count("reason=refused&state=suppressed"), 0);
    assert_eq!(count("from=2024-01-02T12:00:00Z"), 2);
    assert_eq!(count("from=2024-01-01T00:00:00Z&to=2024-01-02T12:00:00Z"), 3);
    assert_eq!(count("channel=email"), 5);
    assert_eq!(count("state=planned"), 0);
    let suppressed = listed(&rig, "state=suppressed").remove(0);
    assert_eq!(suppressed["reason"], "no_address");
    let shown = get(&rig, &format!("/v1/messages/{}", id_of(&suppressed)));
    assert_eq!(shown["left_out"], json!([{"event": "e3", "reason": "no_address"}]));
    assert_eq!(shown["batch"], Value::Null);
    let wrong = [
        "state=gone",
        "state=sent&state=gone",
        "channel=inbox",
        "channel=emial",
        "day=monday",
        "day=2024-01-01&from=2024-01-01T00:00:00Z",
        "limit=0",
        "type=never_heard_of",
        "reason=",
        "reason=none",
        "event=e1&event=e2",
        "since=2024-01-01",
    ];
    for wrong in wrong {
        let path = format!("/v1/messages?{wrong}");
        let answer = rig.call(Method::GET, &path, &Value::Null);
        assert_eq!(problem(&answer, StatusCode::BAD_REQUEST), "invalid_query", "{wrong}");
    }
    let cursor = get(&rig, "/v1/messages?limit=1")["next"].as_str().unwrap().to_owned();
    for path in ["cursor=x".to_owned(), format!("state=sent&cursor={cursor}")] {
        let answer = rig.call(Method::GET, &format!("/v1/messages?{path}"), &Value::Null);
        assert_eq!(problem(&answer, StatusCode::BAD_REQUEST), "bad_cursor");
    }
}

#[test]
fn a_page_does_not_end_before_the_first_message_that_a_filter_takes() {
    let (rig, wire) = wired();
    wire.says([refused()]);
    note(&rig, "e1", "ada");
    awaited(&rig, "state=failed", 1);
    rig.at("2024-01-02T12:00:00Z");
    // More than one page looks at, and none of them failed: they have no address.
    let crowd: Vec<Value> = (0..1_200).map(|n| json!({"id": format!("p{n}")})).collect();
    post(&rig, "/v1/recipients", &Value::Array(crowd));
    let crowd: Vec<String> = (0..1_200).map(|n| format!("p{n}")).collect();
    let crowd: Vec<&str> = crowd.iter().map(String::as_str).collect();
    publish(&rig, "e2", "note", &crowd);
    rig.at("2024-01-02T12:04:00Z");
    let are_looked_at = || {
        std::thread::yield_now();
        fate(&rig, "e2")["reasons"]["no_address"] == 1_200
    };
    assert!((0..100_000).any(|_| are_looked_at()));
    let failed = listed(&rig, "state=failed");
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["recipient"], "ada");
}

#[test]
fn unknown_messages_are_not_found() {
    let (rig, _) = wired();
    for id in ["x", "2024-01-01.0.0.1", "2024-01-01.65535.0.1", "2024-01-01.1.01.1"] {
        let path = format!("/v1/messages/{id}");
        let answer = rig.call(Method::GET, &path, &Value::Null);
        assert_eq!(problem(&answer, StatusCode::NOT_FOUND), "message_not_found");
        for act in ["retry", "cancel", "resend"] {
            let answer = rig.call(Method::POST, &format!("{path}/{act}"), &Value::Null);
            assert_eq!(problem(&answer, StatusCode::NOT_FOUND), "message_not_found");
        }
    }
}
