//! Two tenants and none, every datum of which carries a marker of whose it is.

use axum::http::Method;
use serde_json::{Value, json};
use tidings_core::{Id, Instant};
use tidings_node::{KeyChange, Role};

use crate::http::rig::{Answered, Rig, signing_key};
use crate::http::{Access, Settings};
use crate::keys::NewKey;
use crate::token::sign;

/// The markers: of the tenant that asks, of the other, of what is of no tenant, of what only the host knows of a
/// member, and of what is nowhere.
pub(super) const OWN: &str = "mka";
pub(super) const OTHER: &str = "mkb";
pub(super) const NONE: &str = "mk0";
pub(super) const PRIVATE: &str = "mkp";
pub(super) const NOWHERE: [&str; 2] = ["mkz", "mky"];

const CONFIG: &str = r#"
[tenants]
on = true
[users]
topics = ["open/"]
[compat]
knock = true
novu = true
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
[[hooks]]
url = "https://app.example.org/tidings"
secret = "${HOOK_SECRET}"
of = ["address.suppressed"]
"#;

/// A server that asks for keys, and those who ask.
pub(super) struct World {
    pub(super) rig: Rig,
    host: String,
    /// The keys of the tenant that asks and of the other.
    pub(super) keys: [String; 2],
}

/// The values of a request: the marker of a tenant, and a message.
#[derive(Clone, Debug)]
pub(super) struct Of {
    pub(super) marker: &'static str,
    pub(super) message: String,
    pub(super) cursors: [String; 2],
}

impl Of {
    pub(super) fn fill(&self, text: &str) -> String {
        let [inbox, messages] = &self.cursors;
        let text = text.replace("{m}", self.marker).replace("{message}", &self.message);
        text.replace("{of inbox}", inbox).replace("{of messages}", messages)
    }

    /// An answer with what it repeats of the request taken out.
    pub(super) fn masked(&self, text: &str) -> String {
        let [inbox, messages] = &self.cursors;
        let text = text.replace(&self.message, "{message}").replace(self.marker, "{m}");
        text.replace(inbox.as_str(), "{of inbox}").replace(messages.as_str(), "{of messages}")
    }
}

impl World {
    pub(super) fn new() -> Self {
        let rig = Rig::with(CONFIG, Access::Keys { token: None }, Settings::default());
        let key = NewKey::make(String::new(), Role::Admin, None, Instant(0)).unwrap();
        let host = key.secret.text().to_owned();
        rig.change_keys(KeyChange::Make(key.stored));
        rig.make_signing_key("k1");
        let mut world = Self { rig, host, keys: Default::default() };
        for of in [OWN, OTHER] {
            world.make_tenant(of);
        }
        world.put("/v1/recipients/one-mk0", &profile(NONE));
        world.put("/v1/recipients/stranger-mk0", &profile(NONE));
        world.put("/v1/recipients/both", &profile(PRIVATE));
        world.host(Method::PATCH, "/v1/recipients/both", &json!({ "name": "Both" }));
        for of in [OWN, OTHER] {
            world.put(&format!("/v1/tenants/t-{of}/members/both"), &Value::Null);
        }
        for of in [OWN, OTHER, NONE] {
            world.fill_inbox(of);
        }
        world.keys = [OWN, OTHER].map(|of| {
            let body = json!({ "tenant": format!("t-{of}"), "role": "admin", "name": of });
            let made = world.host(Method::POST, "/v1/admin/keys", &body);
            made["key"].as_str().unwrap().to_owned()
        });
        for (key, of) in world.keys.iter().zip([OWN, OTHER]) {
            world.made_by(key, of);
        }
        world
    }

    /// Makes an object with the key of a tenant, and tells the members of it.
    fn made_by(&self, key: &str, of: &str) {
        let told = json!({
            "id": format!("made-{of}"), "type": "note", "object": thing("made", of),
            "actor": thing("author", of),
            "to": { "recipients": ["both", format!("one-{of}")] },
        });
        let answer = self.by(key, Method::POST, "/v1/events", &told);
        assert!(answer.status.is_success(), "{}", text(&answer));
    }

    fn make_tenant(&self, of: &str) {
        let tenant = json!({
            "name": format!("Tenant {of}"), "from_name": format!("From {of}"),
            "reply_to": format!("re-{of}@example.org"), "data": { "plan": of },
            "brand": { "name": format!("Brand {of}"), "footer": format!("Footer {of}") },
        });
        self.put(&format!("/v1/tenants/t-{of}"), &tenant);
        // A member, and one who is none.
        for who in ["one", "left"] {
            self.put(&format!("/v1/recipients/{who}-{of}"), &profile(of));
        }
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
        // The host may name whoever it wants.
        let strangers = json!(["both", "stranger-mk0", format!("left-{of}"), "one-mkb"]);
        let told = [
            ("e1", "note", json!({ "recipients": mine })),
            ("e2", "note", json!({ "topics": [format!("open/{of}")] })),
            ("e3", "weekly", json!({ "recipients": mine })),
            ("e4", "keyed", json!({ "recipients": mine })),
            ("e5", "note", json!({ "recipients": mine })),
            ("e6", "note", json!({ "recipients": if of == OTHER { mine } else { strangers } })),
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
        // Messages that have failed, for want of a provider.
        for who in ["both", "stranger-mk0", "one-mkb"] {
            self.host(
                Method::POST,
                &format!("/v1/recipients/{who}/flush"),
                &json!({ "lane": "cooldown" }),
            );
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

    /// A token of the member of both, for a view.
    pub(super) fn token(&self, tenant: Option<&str>) -> String {
        self.token_of("both", tenant)
    }

    /// A token of a recipient.
    pub(super) fn token_of(&self, who: &str, tenant: Option<&str>) -> String {
        let (who, tenant) = (Id::new(who).unwrap(), tenant.map(|of| Id::new(of).unwrap()));
        let now_s = 1_704_110_400;
        sign(&signing_key("k1"), &who, now_s, now_s + 60, None, tenant.as_ref()).unwrap()
    }

    /// The values of a request about a tenant, or about none.
    pub(super) fn of(&self, marker: &'static str) -> Of {
        let all = self.host(Method::GET, "/v1/messages?recipient=both&limit=100", &Value::Null);
        let tenant = json!(format!("t-{marker}"));
        let mut rows = all["messages"].as_array().unwrap().iter();
        let row = rows.find(|row| match marker {
            NONE => row.get("tenant").is_none(),
            _ => row["tenant"] == tenant,
        });
        let row = row.unwrap_or_else(|| panic!("no message of {marker} in {all}"));
        let query = if marker == NONE { String::new() } else { format!("&tenant=t-{marker}") };
        let cursors = ["/v1/recipients/both/inbox", "/v1/messages"].map(|path| {
            let page = self.host(Method::GET, &format!("{path}?limit=1{query}"), &Value::Null);
            page["next"].as_str().unwrap_or_else(|| panic!("{path}: {page}")).to_owned()
        });
        Of { marker, message: row["id"].as_str().unwrap().to_owned(), cursors }
    }

    /// All that the other tenant sees with its key.
    pub(super) fn others(&self) -> Vec<String> {
        let paths = [
            "/v1/tenants/t-mkb",
            "/v1/tenants/t-mkb/members",
            "/v1/recipients/both/inbox?limit=100",
            "/v1/recipients/both/inbox?state=archived",
            "/v1/recipients/one-mkb/inbox",
            "/v1/recipients/both/pending",
            "/v1/recipients/one-mkb/pending",
            "/v1/recipients/both/preferences",
            "/v1/recipients/both/subscriptions",
            "/v1/recipients/one-mkb/subscriptions",
            "/v1/messages",
            "/v1/events/e1-mkb",
            "/v1/objects/made%2Fmkb",
            "/v1/events/e4-mkb",
            "/v1/events/e5-mkb",
            "/v1/export",
        ];
        let seen = paths.map(|path| {
            let answer = self.by(&self.keys[1], Method::GET, path, &Value::Null);
            assert!(answer.status.is_success(), "{path}: {}", text(&answer));
            format!("{path} {}", text(&answer))
        });
        seen.to_vec()
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
