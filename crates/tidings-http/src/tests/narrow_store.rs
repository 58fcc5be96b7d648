//! No call makes the store fail, whatever its body has: over a store that takes short values only, each call of the
//! document gets bodies made of its own schema, and names what is there already, so that what is stored of it grows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_node::VirtualClock;
use tidings_store::{FaultStore, NoFaults, Store};

use super::code;
use super::examples::resolved;
use crate::rig::{CONFIG, Rig, user_token_of};
use crate::{Access, Settings, document, openapi};

/// The longest value that the store takes: a few commands fill it.
const VALUE_BYTES_MAX: usize = 3000;

/// Number of calls of each operation.
const CALLS: u32 = 25;

/// The key that signs the tokens of end users.
const KEY: &str = "k1";

/// A store of short values, and how often it was opened.
struct Narrow {
    store: Arc<FaultStore>,
    opened: Arc<AtomicUsize>,
}

impl Narrow {
    fn new() -> Self {
        let store = FaultStore::new(NoFaults).with_values_up_to(VALUE_BYTES_MAX);
        Self { store: Arc::new(store), opened: Arc::default() }
    }

    fn server(&self) -> Rig {
        let clock = Arc::new(VirtualClock::default());
        clock.set(Instant::parse("2024-01-01T12:00:00Z").unwrap());
        let (store, opened) = (Arc::clone(&self.store), Arc::clone(&self.opened));
        let open = move || {
            opened.fetch_add(1, Ordering::SeqCst);
            Ok(Arc::clone(&store) as Arc<dyn Store>)
        };
        let more = "[tenants]\non = true\nunknown = \"make\"\n[users]\ntopics = [\"a/\"]\n";
        let hook = CONFIG.replace("\"address.suppressed\"", "\"preference.changed\"");
        let config = format!("{hook}{more}");
        let rig = Rig::over(Arc::new(open), clock, &config, Access::Open, Settings::default());
        rig.make_signing_key(KEY);
        rig
    }

    /// The server has never lost its store.
    #[track_caller]
    fn was_opened_once(&self) {
        assert_eq!(self.opened.load(Ordering::SeqCst), 1, "the store was opened again");
    }
}

/// Random numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn one<'v>(&mut self, of: &[&'v str]) -> &'v str {
        of[self.below(of.len())]
    }

    /// A text for a field: mostly a name that is known, else any of up to three times what a row holds.
    fn text(&mut self, field: &str) -> String {
        match field {
            "endpoint" => {
                let rest = "x".repeat(self.below(1900));
                format!("https://push.example.net/{rest}")
            }
            "p256dh" => "B".repeat(87),
            "auth" => "a".repeat(22),
            "mode" => self.one(&["never", "immediate", "default", "daily"]).to_owned(),
            "channel" => self.one(&["email", "inbox", "*"]).to_owned(),
            "type" => self.one(&["note", "weekly"]).to_owned(),
            "category" => self.one(&["news", "*"]).to_owned(),
            "tz" => "Europe/Paris".to_owned(),
            "locale" => "de".to_owned(),
            "email" => "ann@example.org".to_owned(),
            "deliver_at" | "expires_at" => "2024-01-02T12:00:00Z".to_owned(),
            "up_to" => "2024-01-01T12:00:00Z".to_owned(),
            "tenant" => self.one(&["acme", "bolt"]).to_owned(),
            "recipient" | "recipients" => self.one(&["ann", "bob"]).to_owned(),
            "topic" | "topics" | "object" | "id" | "event" | "actor" | "target"
            | "cancellation_key" => {
                let name = self.below(40);
                format!("a/{name}{}", "x".repeat(self.below(240)))
            }
            _ => {
                let length = match self.below(4) {
                    0 => self.below(3 * VALUE_BYTES_MAX),
                    _ => self.below(60),
                };
                "é".repeat(length / 2)
            }
        }
    }

    /// A value that a schema describes.
    fn value(&mut self, document: &Value, schema: &Value, field: &str, depth: usize) -> Value {
        let schema = resolved(document, schema);
        if depth > 6 {
            return Value::Null;
        }
        if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
            let chosen = &choices[self.below(choices.len())];
            return self.value(document, chosen, field, depth + 1);
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[0].as_str().unwrap_or("string"),
            kind => kind.as_str().unwrap_or("object"),
        };
        match kind {
            "array" => {
                let length = self.below(12);
                let items = &schema["items"];
                (0..length).map(|_| self.value(document, items, field, depth + 1)).collect()
            }
            "string" => json!(self.text(field)),
            "integer" | "number" => json!(self.below(100)),
            "boolean" => json!(self.below(2) == 0),
            "null" => Value::Null,
            _ => self.object(document, schema, depth),
        }
    }

    fn object(&mut self, document: &Value, schema: &Value, depth: usize) -> Value {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut fields = serde_json::Map::new();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            if required.contains(&json!(name)) || self.below(4) == 0 {
                fields.insert(name.clone(), self.value(document, schema, name, depth + 1));
            }
        }
        if fields.is_empty() && schema["properties"].is_null() {
            for number in 0..self.below(8) {
                fields.insert(format!("k{number}"), json!(self.text("value")));
            }
        }
        Value::Object(fields)
    }
}

/// A call that changes something, with the schema of its body.
struct Operation<'d> {
    method: Method,
    path: String,
    body: Option<&'d Value>,
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let mut operations = Vec::new();
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            // Backups and streams change nothing, and forgetting ends what the others grow.
            let is_left_out = method == Method::GET || template == "/v1/admin/forget";
            if !is_left_out {
                let content = operation["requestBody"]["content"].as_object();
                let body = content.and_then(|content| content.get("application/json"));
                let body = body.map(|body| &body["schema"]);
                operations.push(Operation { method, path: template.clone(), body });
            }
        }
    }
    operations
}

fn path(dice: &mut Dice, template: &str) -> String {
    let id = match template.split('/').nth(2) {
        Some("recipients") => dice.one(&["ann", "bob"]).to_owned(),
        Some("tenants") => dice.one(&["acme", "bolt"]).to_owned(),
        _ => dice.text("id").replace('/', "%2F"),
    };
    let topic = dice.text("topic").replace('/', "%2F");
    let path = template
        .replace("{id}", &id)
        .replace("{recipient}", "ann")
        .replace("{topic}", &topic)
        .replace("{address}", "ann@example.org")
        .replace("{channel}", "email")
        .replace("{type}", "note")
        .replace("{name}", "app.example.org");
    let is_of_view = path.ends_with("/push");
    if is_of_view { format!("{path}?tenant={}", dice.one(&["acme", "bolt"])) } else { path }
}

#[test]
fn c1_no_body_of_any_call_makes_the_store_fail() {
    let narrow = Narrow::new();
    let rig = narrow.server();
    let document: Value = serde_json::from_str(&openapi::text(&document())).unwrap();
    let operations = operations(&document);
    let mut dice = Dice(0x7469_6469_6e67_7321);
    let mut answers: BTreeMap<String, u32> = BTreeMap::new();
    for turn in 0..CALLS {
        let issued_s = rig.service.now().0 / 1_000;
        let bearer = format!("Bearer {}", user_token_of(KEY, "ann", issued_s, None));
        let headers = [("authorization", &*bearer), ("content-type", "application/json")];
        for id in ["ann", "bob"] {
            let put = rig.call(Method::PATCH, &format!("/v1/recipients/{id}"), &json!({}));
            assert!(put.status == StatusCode::NO_CONTENT || code(&put) == "too_large", "{put:?}");
        }
        for tenant in ["acme", "bolt"] {
            rig.call(Method::PATCH, &format!("/v1/tenants/{tenant}"), &json!({"disabled": false}));
            rig.call(Method::PUT, &format!("/v1/tenants/{tenant}"), &json!({}));
        }
        for operation in &operations {
            let path = path(&mut dice, &operation.path);
            let body = operation.body.map(|body| dice.value(&document, body, "", 0));
            let text = body.as_ref().map(Value::to_string).unwrap_or_default();
            let answer = rig.send(operation.method.clone(), &path, &headers, text.clone());
            let what = || format!("{} {path} {text}: {answer:?}", operation.method);
            assert!(!answer.status.is_server_error(), "{}", what());
            narrow.was_opened_once();
            let said = String::from_utf8_lossy(&answer.bytes);
            let is_too_large = said.contains("\"too_large\"");
            let of = if is_too_large { "too_large" } else { answer.status.as_str() };
            *answers.entry(of.to_owned()).or_default() += 1;
        }
        // What is scheduled or gathered goes out, and chores are done.
        let (day, hour) = (2 + turn / 20, turn % 20);
        rig.at(&format!("2024-01-{day:02}T{hour:02}:30:00Z"));
        narrow.was_opened_once();
    }
    // What was tried is neither all accepted nor all refused for its form.
    assert!(answers["204"] > 100 && answers["too_large"] > 10, "{answers:?}");
    rig.call(Method::PATCH, "/v1/recipients/ann", &json!({}));
    // Another process reads what was written.
    drop(rig);
    let again = narrow.server();
    let found = again.call(Method::GET, "/v1/recipients/ann/inbox", &Value::Null);
    assert_eq!(found.status, StatusCode::OK);
}

#[test]
fn c1_a_command_that_is_too_large_is_refused_alone_and_changes_nothing() {
    let narrow = Narrow::new();
    let rig = narrow.server();
    rig.call(Method::PUT, "/v1/recipients/ann", &json!({"name": "Ann"}));
    for tenant in ["acme", "bolt"] {
        let made = rig.call(Method::PUT, &format!("/v1/tenants/{tenant}"), &json!({"name": "A"}));
        assert_eq!(made.status, StatusCode::NO_CONTENT);
    }
    let before = rig.call(Method::GET, "/v1/tenants/acme", &Value::Null).json();
    let line = json!({"category": "news", "channel": "email", "mode": "never"});
    // Equal lines are one.
    let equal = json!({"preferences": vec![line; 12_355]});
    let joined = rig.call(Method::PATCH, "/v1/tenants/bolt", &equal);
    assert_eq!(joined.status, StatusCode::NO_CONTENT);
    let kept = rig.call(Method::GET, "/v1/tenants/bolt", &Value::Null).json();
    assert_eq!(kept["preferences"].as_array().unwrap().len(), 1);
    // A batch with one that is too large: the others are done.
    let large = json!({"text": "x".repeat(VALUE_BYTES_MAX)});
    let batch = json!([{"id": "new"}, {"id": "acme", "data": large}, {"id": "other"}]);
    let batch = rig.call(Method::POST, "/v1/tenants", &batch);
    let answers = batch.json();
    assert_eq!(answers[1]["problem"]["code"], "too_large", "{batch:?}");
    assert_eq!([&answers[0]["status"], &answers[2]["status"]], ["done"; 2]);
    assert_eq!(rig.call(Method::GET, "/v1/tenants/acme", &Value::Null).json(), before);
    for tenant in ["new", "other"] {
        let found = rig.call(Method::GET, &format!("/v1/tenants/{tenant}"), &Value::Null);
        assert_eq!(found.status, StatusCode::OK);
    }
    // Mutes fill a profile; what was there stays, and less is possible at any time.
    let mute = |number: u32, mode: &str| {
        let object = format!("o{number}-{}", "x".repeat(200));
        let list = json!([{"object": object, "channel": "email", "mode": mode}]);
        rig.call(Method::PATCH, "/v1/recipients/ann/preferences", &list)
    };
    let refused = (0..100).find_map(|number| {
        let answer = mute(number, "never");
        (answer.status != StatusCode::NO_CONTENT).then_some((number, answer))
    });
    let (number, answer) = refused.unwrap();
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(code(&answer), "too_large");
    assert!(number > 3 && !answer.json()["hint"].as_str().unwrap().is_empty());
    assert_eq!(mute(0, "default").status, StatusCode::NO_CONTENT);
    assert_eq!(mute(number, "never").status, StatusCode::NO_CONTENT);
    narrow.was_opened_once();
}

#[test]
fn c2_a_profile_has_40_browsers_of_all_tenants_and_the_oldest_leaves() {
    let rig = {
        let config = format!("{CONFIG}[tenants]\non = true\nunknown = \"make\"\n");
        Rig::with(&config, Access::Open, Settings::default())
    };
    rig.call(Method::PUT, "/v1/recipients/ann", &json!({}));
    for number in 0..50 {
        let tenant = format!("t{number}");
        rig.call(Method::PUT, &format!("/v1/tenants/{tenant}"), &json!({}));
        let browser = json!({
            "endpoint": format!("https://push.example.net/{number}"),
            "keys": {"p256dh": "B".repeat(87), "auth": "a".repeat(22)},
        });
        let path = format!("/v1/recipients/ann/push?tenant={tenant}");
        assert_eq!(rig.call(Method::PUT, &path, &browser).status, StatusCode::NO_CONTENT);
    }
    let profile = rig.call(Method::GET, "/v1/recipients/ann", &Value::Null).json();
    let browsers = profile["addresses"]["webpush"].as_array().unwrap();
    let of = |at: usize| browsers[at]["endpoint"].as_str().unwrap().rsplit('/').next().unwrap();
    assert_eq!((browsers.len(), of(0), of(39)), (40, "10", "49"));
}
