//! Every call of the document, with every error that it documents.
//!
//! Each error has a server on which it comes about. What a call documents and does not answer there
//! fails the test; what it answers and does not document fails where it answers.

mod before;
mod callers;
mod requests;
mod roles;
mod tenants;
mod trials;

use std::collections::BTreeSet;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};
use tidings_core::{Day, Instant};
use tidings_node::channel::Channels;
use tidings_node::{SignedIn, VirtualClock};
use tidings_store::{Commit, Error, MemoryStore, Snapshot, Store, VALUE_BYTES_MAX};

use super::code;
use super::examples::resolved;
use crate::rig::{Answered, CONFIG, Rig, user_token};
use crate::{Access, Settings, document, openapi};

/// Codes that only a defect brings about, or that are answered before the API is reached: by the gate, and by nodes
/// that do not hold the store (both have tests of their own). A million messages are too many for a test.
const NOT_HERE: [&str; 5] = ["internal", "starting", "no_holder", "holder_lost", "too_many"];

/// Time that a call may take: more than any machine needs, so that one that hangs is named.
const PATIENCE: Duration = Duration::from_secs(300);

/// The id of an API key and of a signing key.
const KEY: &str = "k1";

/// A type whose `data` has a schema.
const PAID: &str = r#"
[types.paid]
category = "news"
schema = { properties = { amount = { type = "number" } } }
channels = { inbox = { policy = "now" } }
"#;

/// A call as it is documented, with names and a body that a server with [`seed`] takes.
#[derive(Clone, Debug)]
struct Call {
    name: String,
    method: Method,
    path: String,
    media: &'static str,
    body: String,
    codes: BTreeSet<String>,
}

/// The messages that [`seed`] leaves, which are the same on each server.
struct Messages {
    failed: String,
    suppressed: String,
}

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    let (rig, _) = open();
    let of = |state| message_in(&rig, state).expect("the seed has one");
    Messages { failed: of("failed"), suppressed: of("suppressed") }
});

/// The job of the seed: the clock stands still, so its id is always the same.
static JOB: LazyLock<String> = LazyLock::new(|| {
    let jobs = open().0.call(Method::GET, "/v1/admin/jobs", &Value::Null).json();
    jobs["jobs"][0]["id"].as_str().expect("the seed has one").to_owned()
});

/// The id of a message in a state, if there is one.
fn message_in(rig: &Rig, state: &str) -> Option<String> {
    let path = format!("/v1/messages?state={state}");
    let page = rig.call(Method::GET, &path, &Value::Null).json();
    page["messages"][0]["id"].as_str().map(str::to_owned)
}

fn calls() -> Vec<Call> {
    let document: Value = serde_json::from_str(&openapi::text(&document())).unwrap();
    let mut calls = Vec::new();
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Ok(method) = Method::from_bytes(method.to_uppercase().as_bytes()) else {
                continue;
            };
            let Some(responses) = operation["responses"].as_object() else {
                continue;
            };
            let texts = responses
                .values()
                .filter_map(|response| resolved(&document, response)["description"].as_str());
            // Each is written as `code`: title.
            let codes = texts.flat_map(|text| {
                let mut parts: Vec<String> = text
                    .split("`: ")
                    .filter_map(|part| part.rsplit('`').next())
                    .map(str::to_owned)
                    .collect();
                parts.pop();
                parts
            });
            let codes = codes.filter(|code| !NOT_HERE.contains(&code.as_str())).collect();
            let (media, body) = body(&method, template);
            calls.push(Call {
                name: format!("{method} {template}"),
                path: path(template),
                method,
                media,
                body,
                codes,
            });
        }
    }
    calls
}

fn path(template: &str) -> String {
    let id = match template.split('/').nth(2) {
        Some("recipients") => "ann",
        Some("events") => "e1",
        Some("admin") if template.contains("/jobs/") => &JOB,
        Some("admin") => KEY,
        Some("messages") => &MESSAGES.failed,
        Some("tenants") => "acme",
        _ => "works%2F1",
    };
    let path = template
        .replace("{id}", id)
        .replace("{recipient}", "ann")
        .replace("{topic}", "artists%2F1")
        .replace("{address}", "ann@example.org")
        .replace("{channel}", "email")
        .replace("{type}", "note")
        .replace("/feeds/{name}", "/feeds/app")
        .replace("{name}", "app.example.org");
    path.replace("{code}", "unknown_type")
}

fn body(method: &Method, template: &str) -> (&'static str, String) {
    let json = |body: Value| ("application/json", body.to_string());
    match (method.as_str(), template) {
        ("POST", "/v1/admin/keys" | "/v1/admin/signing-keys") => json(json!({ "name": "site" })),
        ("POST", "/v1/hooks/{name}/replay") => json(json!({ "since": "1h" })),
        ("POST", "/v1/admin/tokens") => json(json!({ "recipient": "ann" })),
        ("POST", "/v1/admin/forget") => json(json!({ "before": "2023-01-01" })),
        ("POST", "/v1/cancel" | "/v1/withdraw") => json(json!({ "cancellation_key": "k" })),
        ("POST", "/v1/events") => json(json!({
            "type": "note",
            "object": { "id": "works/2" },
            "to": { "recipients": ["ann"] },
        })),
        ("POST", "/v1/admin/compare") => {
            let edits = json!([{ "key": "types.note.urgent", "value": true }]);
            json(json!({ "edits": edits, "days": 1 }))
        }
        ("POST", "/v1/admin/check") => {
            json(json!({ "edits": [{ "key": "types.note.urgent", "value": true }] }))
        }
        ("POST", "/v1/search") => json(json!({ "q": "ann" })),
        ("POST", "/v1/messages/retry" | "/v1/messages/cancel" | "/v1/messages/resend") => {
            json(json!({ "filter": { "channel": "email" }, "expect": 9 }))
        }
        ("POST", "/v1/explain") => json(json!({ "event": "e1", "recipient": "ann" })),
        ("POST", "/v1/objects" | "/v1/recipients" | "/v1/tenants") => {
            json(json!([{ "id": "new" }]))
        }
        ("POST", "/v1/tenants/{id}/members") => json(json!([{ "recipient": "ann" }])),
        ("POST", "/v1/subscriptions") => json(json!([{ "recipient": "ann", "topic": "t" }])),
        ("POST", snooze) if snooze.ends_with("/inbox/snooze") => {
            json(json!({ "event": "e1", "for": "1h" }))
        }
        ("POST", mark) if mark.contains("/inbox/") => json(json!({ "event": "e1" })),
        ("PUT", "/v1/suppressions/{channel}/{address}") => json(json!({})),
        ("PUT" | "PATCH", choices) if choices.ends_with("/preferences") => json(json!([])),
        ("PUT" | "DELETE", push) if push.ends_with("/push") => json(json!({
            "endpoint": "https://push.example.net/send/1",
            "keys": { "p256dh": "B".repeat(87), "auth": "a".repeat(22) },
        })),
        ("PUT" | "PATCH", "/v1/objects/{id}" | "/v1/recipients/{id}" | "/v1/tenants/{id}")
        | (
            "POST",
            "/v1/recipients/{id}/flush" | "/v1/recipients/{id}/tokens/revoke" | "/v1/me/flush",
        ) => json(json!({})),
        _ => ("", String::new()),
    }
}

impl Call {
    /// Returns true if it is a call of end users.
    fn is_mine(&self) -> bool {
        self.path.starts_with("/v1/me/")
    }

    fn request(&self) -> axum::http::request::Builder {
        self.request_with(&user_token(KEY, "ann", None))
    }

    /// The request, with this token if it is one of end users.
    fn request_with(&self, token: &str) -> axum::http::request::Builder {
        let mut request = Request::builder().method(&self.method).uri(&self.path);
        if self.is_mine() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        match self.media {
            "" => request,
            media => request.header("content-type", media),
        }
    }

    fn with_body(&self, body: &str) -> Self {
        Self { body: body.to_owned(), media: "application/json", ..self.clone() }
    }

    fn at(&self, path: String) -> Self {
        Self { path, ..self.clone() }
    }

    fn ask(&self, rig: &Rig, request: Request<Body>) -> Answered {
        let answer = rig.ask(request);
        let answer = rig.tokio.block_on(async { tokio::time::timeout(PATIENCE, answer).await });
        answer.unwrap_or_else(|_| panic!("{} is not answered", self.name))
    }

    fn send(&self, rig: &Rig) -> Answered {
        self.ask(rig, self.request().body(self.body.clone().into()).unwrap())
    }

    fn send_by(&self, rig: &Rig, token: &str) -> Answered {
        self.ask(rig, self.request_with(token).body(self.body.clone().into()).unwrap())
    }

    fn send_with(&self, rig: &Rig, header: (&str, &str)) -> Answered {
        let request = self.request().header(header.0, header.1);
        self.ask(rig, request.body(self.body.clone().into()).unwrap())
    }

    fn send_body(&self, rig: &Rig, body: Body) -> Answered {
        self.ask(rig, self.request().body(body).unwrap())
    }
}

/// The behaviour of a store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Fine,
    /// It has no room.
    Full,
    /// A commit fails, and nobody knows whether it has happened.
    Fails,
    /// It can't be opened.
    Gone,
}

#[derive(Clone)]
struct Moody {
    store: Arc<MemoryStore>,
    mood: Arc<Mutex<Mood>>,
    value_bytes_max: usize,
}

impl Moody {
    fn mood(&self) -> Mood {
        *self.mood.lock().unwrap()
    }

    fn put(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }
}

impl Store for Moody {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
        self.store.snapshot()
    }

    fn commit(&self, commit: Commit) -> Result<(), Error> {
        match self.mood() {
            Mood::Fine => self.store.commit(commit),
            Mood::Full => Err(Error::Full("a test".to_owned())),
            Mood::Fails | Mood::Gone => Err(Error::Unavailable("a test".to_owned())),
        }
    }

    fn value_bytes_max(&self) -> usize {
        self.value_bytes_max
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        self.store.days()
    }

    fn forget(&self, day: Day) -> Result<(), Error> {
        self.store.forget(day)
    }

    fn ensure_room(&self) -> Result<(), Error> {
        match self.mood() {
            Mood::Full => Err(Error::Full("a test".to_owned())),
            _ => Ok(()),
        }
    }
}

/// A server whose recipient has one event, and its store.
fn server(access: Access, settings: Settings) -> (Rig, Moody) {
    server_with(access, settings, VALUE_BYTES_MAX)
}

/// [`server`], over a store that takes values up to so many bytes.
fn server_with(access: Access, settings: Settings, value_bytes_max: usize) -> (Rig, Moody) {
    let mood = Arc::new(Mutex::new(Mood::Fine));
    let store = Moody { store: Arc::default(), mood, value_bytes_max };
    let opened = store.clone();
    let open = move || match opened.mood() {
        Mood::Gone => Err(Error::Unusable("a test".to_owned())),
        _ => Ok(Arc::new(opened.clone()) as Arc<dyn Store>),
    };
    let clock = Arc::new(VirtualClock::default());
    clock.set(Instant::parse("2024-01-01T12:00:00Z").unwrap());
    let more = "[tenants]\non = true\n[users]\ntopics = [\"artists/\", \"a/\"]\n[feeds.app]\nurl = \"${APP_DATABASE}\"\n";
    let config = format!("{CONFIG}{PAID}{more}");
    let rig = Rig::over(Arc::new(open), clock, &config, access, settings);
    rig.make_signing_key(KEY);
    (rig, store)
}

fn seed(rig: &Rig) {
    for (id, tenant) in [("acme", json!({})), ("closed", json!({ "disabled": true }))] {
        let done = rig.call(Method::PUT, &format!("/v1/tenants/{id}"), &tenant);
        assert!(done.status.is_success(), "{done:?}");
    }
    let done = rig.call(Method::PUT, "/v1/recipients/ann", &json!({ "email": "ann@example.org" }));
    assert!(done.status.is_success(), "{done:?}");
    let event = json!({
        "id": "e1",
        "type": "note",
        "object": { "id": "works/1" },
        "to": { "recipients": ["ann"] },
    });
    let done = rig.call(Method::POST, "/v1/events", &event);
    assert!(done.status.is_success(), "{done:?}");
    // A message that fails, since there is no provider, and one without an address.
    let done = rig.call(Method::PUT, "/v1/recipients/bob", &json!({}));
    assert!(done.status.is_success(), "{done:?}");
    let to = json!({ "recipients": ["bob"] });
    let other = json!({ "id": "e2", "type": "note", "object": { "id": "works/1" }, "to": to });
    let done = rig.call(Method::POST, "/v1/events", &other);
    assert!(done.status.is_success(), "{done:?}");
    for who in ["ann", "bob"] {
        let path = format!("/v1/recipients/{who}/flush");
        let done = rig.call(Method::POST, &path, &json!({}));
        assert!(done.status.is_success(), "{done:?}");
    }
    for state in ["failed", "suppressed"] {
        while message_in(rig, state).is_none() {
            std::thread::yield_now();
        }
    }
    let suppressed = "/v1/suppressions/email/ann@example.org";
    let done = rig.call(Method::PUT, suppressed, &json!({}));
    assert!(done.status.is_success(), "{done:?}");
    let nobody = json!({ "filter": { "recipient": "nobody" }, "expect": 0 });
    let done = rig.call(Method::POST, "/v1/messages/retry", &nobody);
    assert!(done.status.is_success(), "{done:?}");
    rig.make_key(KEY);
    rig.begin_session(KEY, SignedIn::Person("mara".to_owned()));
}

fn open() -> (Rig, Moody) {
    let (rig, store) = server(Access::Open, Settings::default());
    seed(&rig);
    (rig, store)
}

/// Keeps the node from going on until what it gives back is dropped.
fn hold(rig: &Rig) -> Sender<()> {
    let ((release, held), (tell, inside)) = (channel::<()>(), channel());
    let rest = move |_| {
        tell.send(()).unwrap();
        let _released = held.recv();
    };
    rig.service.handle.submit_then(Vec::new(), rest).unwrap();
    inside.recv().unwrap();
    release
}

/// The answers of calls where an error comes about that has to do with the server and not with what they
/// say; `None` = the error is another.
fn answers(code: &str, calls: &[&Call]) -> Option<Vec<Answered>> {
    let all = |send: &dyn Fn(&Call) -> Answered| calls.iter().map(|call| send(call)).collect();
    let of_others = before::answers(code, calls)
        .or_else(|| callers::answers(code, calls))
        .or_else(|| tenants::answers(code, calls))
        .or_else(|| trials::answers(code, calls))
        .or_else(|| requests::answers(code, calls));
    if of_others.is_some() {
        return of_others;
    }
    let answers = match code {
        "too_busy" => {
            let (rig, _) = open();
            let held = hold(&rig);
            while rig.service.handle.wake().is_ok() {}
            rig.service.reads.fill();
            let answers = all(&|call| call.send(&rig));
            drop(held);
            answers
        }
        "timed_out" => {
            let settings =
                Settings { answer_patience: Duration::from_millis(1), ..Settings::default() };
            let (rig, _) = server(Access::Open, settings);
            tenants::make_tenant(&rig);
            let held = hold(&rig);
            rig.service.reads.halt();
            let answers = all(&|call| call.send(&rig));
            drop(held);
            answers
        }
        "streams_full" => {
            let (rig, _) = open();
            rig.service.live.fill();
            let waiting = |call: &Call| match call.path.ends_with("/inbox") {
                true => call.at(format!("{}?since=9&wait=1s", call.path)),
                false => call.clone(),
            };
            all(&|call| waiting(call).send(&rig))
        }
        "message_state" => all(&of_another_state),
        "stopping" => {
            let (mut rig, _) = open();
            rig.service.stop();
            rig.stop();
            all(&|call| call.send(&rig))
        }
        "unavailable" => {
            let (rig, store) = open();
            store.put(Mood::Gone);
            rig.call(Method::PUT, "/v1/objects/x", &json!({ "title": "x" }));
            all(&|call| call.send(&rig))
        }
        "too_large" => {
            let (rig, _) = server_with(Access::Open, Settings::default(), 1000);
            seed(&rig);
            all(&|call| {
                let long = "x".repeat(1000);
                let body = match &*call.path {
                    path if path.ends_with("/preferences") => {
                        let object = &long[..200];
                        json!([{ "object": object, "channel": "*", "mode": "never" }])
                    }
                    path if path.ends_with("/push") => json!({
                        "endpoint": format!("https://push.example.net/send/{long}"),
                        "keys": { "p256dh": "B".repeat(87), "auth": "a".repeat(22) },
                    }),
                    _ => json!({ "data": { "text": long } }),
                };
                call.with_body(&body.to_string()).send(&rig)
            })
        }
        // What is kept under the key is written, whatever else there is to write.
        "store_full" | "outcome_unknown" => all(&|call| {
            let (rig, store) = open();
            store.put(if code == "store_full" { Mood::Full } else { Mood::Fails });
            call.send_with(&rig, ("idempotency-key", "k"))
        }),
        "idempotency_key_reused" => {
            let (rig, _) = open();
            let first = ("idempotency-key", "k");
            rig.send(Method::PUT, "/v1/objects/x", &[first], "{}");
            // Each end user has keys of their own.
            let bearer = format!("Bearer {}", user_token(KEY, "ann", None));
            let headers = [first, ("authorization", &*bearer)];
            rig.send(Method::PUT, "/v1/me/subscriptions/a/1", &headers, "");
            all(&|call| call.send_with(&rig, first))
        }
        // The configuration changed after the body was read.
        "unknown_preference" => {
            let (rig, _) = open();
            let config = format!("{}[tenants]\non = true\n", CONFIG.replace("daily", "nightly"));
            let rules = tidings_config::parse(&config, "tidings.toml").unwrap();
            let handle = &rig.service.handle;
            handle.configure(rules, Channels::new()).unwrap();
            let body = r#"[{ "type": "note", "channel": "email", "mode": "daily" }]"#;
            all(&|call| match call.path.starts_with("/v1/tenants") {
                true => call.with_body(&format!(r#"{{ "preferences": {body} }}"#)).send(&rig),
                false => call.with_body(body).send(&rig),
            })
        }
        _ => return None,
    };
    Some(answers)
}

/// The answer to a call about a message in a state of which it is refused.
fn of_another_state(call: &Call) -> Answered {
    let (rig, _) = open();
    if call.path.ends_with("/preview") {
        // The recipient of the message is gone.
        rig.call(Method::DELETE, "/v1/recipients/ann", &Value::Null);
        return call.send(&rig);
    }
    call.at(call.path.replace(&MESSAGES.failed, &MESSAGES.suppressed)).send(&rig)
}

/// The call, so changed that a server that is well answers this error.
fn wrong(code: &str, call: &Call) -> Call {
    let path = |from: &str, to: &str| call.at(call.path.replace(from, to));
    if call.path.starts_with("/v1/tenants/")
        && let Some(wrong) = tenants::wrong(code, call)
    {
        return wrong;
    }
    if let Some(wrong) = trials::wrong(code, call) {
        return wrong;
    }
    if call.path == "/v1/explain"
        && let Some(wrong) = requests::wrong_explain(code, call)
    {
        return wrong;
    }
    match code {
        "invalid_json" => call.with_body("{"),
        "invalid_body" if call.path.contains("artists%2F1") => {
            path("artists%2F1", "artists%2F%2F1")
        }
        "invalid_body" => call.with_body(r#""x""#),
        "limit_exceeded" if call.path == "/v1/events" => {
            let mut event: Value = serde_json::from_str(&call.body).unwrap();
            event["data"] = json!({ "text": "x".repeat(256 << 10) });
            call.with_body(&event.to_string())
        }
        "limit_exceeded" if call.path.ends_with("/preferences") => {
            let mute =
                |n: usize| json!({ "topic": n.to_string(), "channel": "*", "mode": "never" });
            call.with_body(&json!((0..501).map(mute).collect::<Vec<_>>()).to_string())
        }
        "limit_exceeded" if call.media == "application/json" => {
            let long = json!({ "data": { "text": "x".repeat(1 << 15) } });
            call.with_body(&long.to_string())
        }
        "limit_exceeded" => path("artists%2F1", &("a/".repeat(16) + "a")),
        "unsupported_media_type" => {
            Call { media: "text/xml", body: "<a/>".to_owned(), ..call.clone() }
        }
        "invalid_query" => {
            call.at(format!("{}?limit=x&hours=x&answers=x&cursor=x&tenant=", call.path))
        }
        "bad_cursor" => call.at(format!("{}?cursor=x", call.path)),
        "invalid_path" => {
            let at_id = match call.path.split('/').nth(1) {
                Some("errors") => 2,
                _ if call.path.starts_with("/v1/admin/") || call.is_mine() => 4,
                _ => 3,
            };
            let parts = call
                .path
                .split('/')
                .enumerate()
                .map(|(at, part)| if at == at_id { "%ff" } else { part });
            call.at(parts.collect::<Vec<_>>().join("/"))
        }
        "not_found" => path("unknown_type", "none"),
        "recipient_not_found" => path("ann", "nobody"),
        "message_not_found" => path(&MESSAGES.failed, "none"),
        "event_not_found" => path("e1", "none"),
        "job_not_found" => path(&JOB, "none"),
        "key_not_found" | "session_not_found" | "signing_key_not_found" => path(KEY, "none"),
        "feed_not_found" => path("app", "none"),
        "topic_not_open" => path("artists", "staff"),
        "type_not_found" => path("note", "none"),
        "hook_not_found" => path("app.example.org", "none"),
        "suppression_not_found" => path("ann@", "nobody@"),
        "channel_not_found" => path("email", "none"),
        "unknown_type" if call.path == "/v1/events" => {
            call.with_body(&call.body.replace("note", "none"))
        }
        "invalid_data" => {
            let data = json!({ "amount": "x" });
            let event = json!({ "type": "paid", "object": { "id": "o" }, "to": {}, "data": data });
            let body = match call.path.as_str() {
                "/v1/explain" => json!({ "event": event, "recipient": "ann" }),
                _ => event,
            };
            call.with_body(&body.to_string())
        }
        "unknown_channel" if call.path == "/v1/events" => {
            let mut event: Value = serde_json::from_str(&call.body).unwrap();
            event["channels"] = json!(["none"]);
            call.with_body(&event.to_string())
        }
        "unknown_channel" if call.path.ends_with("/flush") => {
            call.with_body(r#"{ "channel": "none" }"#)
        }
        "unknown_channel" if call.name.ends_with("/v1/recipients/{id}") => {
            let hours = json!({ "from": "22:00", "to": "07:00", "channels": ["none"] });
            call.with_body(&json!({ "quiet_hours": hours }).to_string())
        }
        "unknown_channel" => {
            call.with_body(r#"[{ "type": "note", "channel": "none", "mode": "never" }]"#)
        }
        "unknown_type" => {
            call.with_body(r#"[{ "type": "none", "channel": "email", "mode": "never" }]"#)
        }
        _ => panic!("{} documents `{code}`, and nobody knows how to bring it about", call.name),
    }
}

#[test]
fn each_call_answers_where_all_is_well() {
    for call in calls() {
        let answered = call.send(&open().0);
        assert!(answered.status.is_success(), "{}: {answered:?}", call.name);
    }
}

#[test]
fn each_call_answers_every_error_that_it_documents() {
    let calls = calls();
    let codes: BTreeSet<&String> = calls.iter().flat_map(|call| &call.codes).collect();
    let mut missed = Vec::new();
    for documented in codes {
        let who: Vec<&Call> = calls.iter().filter(|call| call.codes.contains(documented)).collect();
        let answers = answers(documented, &who).unwrap_or_else(|| {
            let (rig, _) = open();
            let answer = |call: &&Call| {
                if call.is_mine() && documented == "recipient_not_found" {
                    return call.send_by(&rig, &user_token(KEY, "nobody", None));
                }
                wrong(documented, call).send(&rig)
            };
            who.iter().map(answer).collect()
        });
        for (call, answered) in who.iter().zip(answers) {
            let found = if answered.status.is_success() {
                String::from_utf8_lossy(&answered.bytes).into_owned()
            } else {
                code(&answered)
            };
            if found != *documented {
                missed.push(format!("{}: {found:?} instead of {documented:?}", call.name));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
