//! Two tenants and none, every datum of which carries a marker of whose it is.

use axum::http::Method;
use serde_json::{Value, json};
use tidings_api::keys::NewKey;
use tidings_api::token::sign;
use tidings_core::{Id, Instant};
use tidings_node::{KeyChange, Role};

use crate::rig::{Answered, Rig, signing_key};
use crate::{Access, Settings};

/// The markers: of the tenant that asks, of the other, of what is of no tenant, and of what is nowhere.
pub(super) const OWN: &str = "mka";
pub(super) const OTHER: &str = "mkb";
pub(super) const NONE: &str = "mk0";
pub(super) const NOWHERE: &str = "mkz";

const CONFIG: &str = r#"
[tenants]
on = true
[users]
topics = ["open/"]
[categories.news]
[digests.daily]
every = "day"
[types.note]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "cooldown", quiet = "4m" } }
[types.weekly]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "daily" } }
[types.keyed]
category = "news"
channels.inbox = { policy = "now" }
channels.email = { policy = "first_event", hold = "5m", batch_key = "event.data.key" }
"#;

/// A server that asks for keys, and those who ask.
pub(super) struct World {
    pub(super) rig: Rig,
    host: String,
}

/// The values of a request: the marker of a tenant, and a cursor of its view.
#[derive(Clone, Debug)]
pub(super) struct Of {
    pub(super) marker: &'static str,
    pub(super) cursor: String,
}

impl Of {
    pub(super) fn fill(&self, text: &str) -> String {
        text.replace("{m}", self.marker).replace("{of inbox}", &self.cursor)
    }

    /// An answer with what it repeats of the request taken out.
    pub(super) fn masked(&self, text: &str) -> String {
        text.replace(self.marker, "{m}").replace(&self.cursor, "{of inbox}")
    }
}

impl World {
    pub(super) fn new() -> Self {
        let rig = Rig::with(CONFIG, Access::Keys { token: None }, Settings::default());
        let key = NewKey::make(String::new(), Role::Admin, Instant(0)).unwrap();
        let host = key.secret.text().to_owned();
        rig.change_keys(KeyChange::Make(key.stored));
        rig.make_signing_key("k1");
        let world = Self { rig, host };
        for of in [OWN, OTHER] {
            world.make_tenant(of);
        }
        world.put("/v1/recipients/one-mk0", &profile(NONE));
        world.put("/v1/recipients/both", &json!({ "name": "Both" }));
        for of in [OWN, OTHER] {
            world.put(&format!("/v1/tenants/t-{of}/members/both"), &Value::Null);
        }
        for of in [OWN, OTHER, NONE] {
            world.fill_inbox(of);
        }
        world
    }

    fn make_tenant(&self, of: &str) {
        let tenant = json!({
            "name": format!("Tenant {of}"), "from_name": format!("From {of}"),
            "reply_to": format!("re-{of}@example.org"), "data": { "plan": of },
            "brand": { "name": format!("Brand {of}"), "footer": format!("Footer {of}") },
        });
        self.put(&format!("/v1/tenants/t-{of}"), &tenant);
        self.put(&format!("/v1/recipients/one-{of}"), &profile(of));
        self.put(&format!("/v1/tenants/t-{of}/members/one-{of}"), &Value::Null);
    }

    /// Makes preferences, subscriptions and events of a tenant or of none: told, waiting, scheduled and cancelled.
    fn fill_inbox(&self, of: &str) {
        let tenant = (of != NONE).then(|| format!("t-{of}"));
        let tenant = json!(tenant);
        let never = json!([
            { "topic": format!("muted/{of}"), "channel": "email", "mode": "never", "tenant": tenant },
            { "object": format!("muted/{of}"), "channel": "inbox", "mode": "never", "tenant": tenant },
        ]);
        for who in ["both".to_owned(), format!("one-{of}")] {
            self.host(Method::PATCH, &format!("/v1/recipients/{who}/preferences"), &never);
            let follow =
                json!([{ "recipient": who, "topic": format!("open/{of}"), "tenant": tenant }]);
            self.host(Method::POST, "/v1/subscriptions", &follow);
        }
        let mine = json!(["both", format!("one-{of}")]);
        let told = [
            ("e1", "note", json!({ "recipients": mine })),
            ("e2", "note", json!({ "topics": [format!("open/{of}")] })),
            ("e3", "weekly", json!({ "recipients": mine })),
            ("e4", "keyed", json!({ "recipients": mine })),
            ("e5", "note", json!({ "recipients": mine })),
        ];
        for (id, kind, to) in told {
            let mut event = json!({
                "id": format!("{id}-{of}"), "type": kind, "to": to, "tenant": tenant,
                "actor": thing("who", of), "object": thing("obj", of), "target": thing("at", of),
                "data": { "key": format!("batch-{of}"), "said": of }, "body": format!("Body {of}"),
                "cancellation_key": format!("ck-{of}"),
            });
            if id == "e5" {
                event["deliver_at"] = json!("2024-01-03T12:00:00Z");
            }
            self.host(Method::POST, "/v1/events", &event);
        }
    }

    fn by(&self, bearer: &str, method: Method, path: &str, body: &Value) -> Answered {
        self.with(bearer, (method, path, body), &[])
    }

    /// Calls as the holder of a key or a token, with headers.
    pub(super) fn with(
        &self,
        bearer: &str,
        (method, path, body): (Method, &str, &Value),
        headers: &[(&str, &str)],
    ) -> Answered {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let bearer = format!("Bearer {bearer}");
        let mut all = vec![("authorization", &*bearer), ("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.rig.send(method, path, &all, body)
    }

    #[track_caller]
    pub(super) fn host(&self, method: Method, path: &str, body: &Value) -> Value {
        let answer = self.by(&self.host, method, path, body);
        assert!(answer.status.is_success(), "{path}: {}", text(&answer));
        serde_json::from_slice(&answer.bytes).unwrap_or_default()
    }

    #[track_caller]
    fn put(&self, path: &str, body: &Value) {
        self.host(Method::PUT, path, body);
    }

    /// A token of the member of both, for the view of a tenant.
    pub(super) fn token(&self, tenant: &str) -> String {
        let (who, tenant) = (Id::new("both").unwrap(), Id::new(tenant).unwrap());
        let now_s = 1_704_110_400;
        sign(&signing_key("k1"), &who, now_s, now_s + 60, None, Some(&tenant)).unwrap()
    }

    /// The values of a request about a tenant.
    pub(super) fn of(&self, marker: &'static str) -> Of {
        let path = format!("/v1/recipients/both/inbox?limit=1&tenant=t-{marker}");
        let page = self.host(Method::GET, &path, &Value::Null);
        let next = page["next"].as_str().unwrap_or_else(|| panic!("{path}: {page}"));
        Of { marker, cursor: next.to_owned() }
    }

    /// All that is of the other tenant, as the host sees it.
    pub(super) fn others(&self) -> Vec<String> {
        let paths = [
            "/v1/tenants/t-mkb",
            "/v1/tenants/t-mkb/members",
            "/v1/recipients/both",
            "/v1/recipients/both/inbox?limit=100",
            "/v1/recipients/both/inbox?state=archived",
            "/v1/recipients/one-mkb/inbox",
            "/v1/recipients/both/pending",
            "/v1/recipients/one-mkb/pending",
            "/v1/recipients/both/preferences",
            "/v1/recipients/both/subscriptions",
            "/v1/messages?tenant=t-mkb",
            "/v1/events/e1-mkb",
            "/v1/events/e4-mkb",
            "/v1/events/e5-mkb",
        ];
        let seen = paths.map(|path| {
            let mut theirs = Vec::new();
            let is_shared = path.starts_with("/v1/recipients/both");
            let answer = self.host(Method::GET, path, &Value::Null);
            if is_shared {
                of_other(&answer, &mut theirs);
            } else {
                theirs.push(answer.to_string());
            }
            format!("{path} {theirs:?}")
        });
        seen.to_vec()
    }
}

/// The parts of an answer that are of the other tenant.
fn of_other(answer: &Value, found: &mut Vec<String>) {
    match answer {
        Value::Array(items) => items.iter().for_each(|item| of_other(item, found)),
        Value::Object(fields) => {
            let topics = fields.get("tenants").and_then(|of| of.get("t-mkb"));
            if fields.get("tenant").is_some_and(|tenant| tenant == "t-mkb") {
                found.push(answer.to_string());
            } else if let Some(topics) = topics {
                found.push(topics.to_string());
            } else {
                fields.values().for_each(|field| of_other(field, found));
            }
        }
        _ => {}
    }
}

fn profile(of: &str) -> Value {
    json!({
        "name": format!("Name {of}"), "email": format!("mail-{of}@example.org"),
        "data": { "of": of },
    })
}

fn thing(kind: &str, of: &str) -> Value {
    json!({
        "id": format!("{kind}/{of}"), "title": format!("Title {of}"),
        "url": format!("https://example.org/{of}"), "data": { "of": of },
    })
}

/// Status, headers and body of an answer as a text.
pub(super) fn text(answer: &Answered) -> String {
    let body = String::from_utf8_lossy(&answer.bytes);
    let mut headers = answer.headers.clone();
    headers.remove("content-length");
    format!("{} {headers:?} {body}", answer.status)
}
