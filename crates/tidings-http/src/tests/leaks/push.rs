//! Push messages: none of a tenant reaches a browser that joined with a token of another.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use axum::http::Method;
use serde_json::{Value, json};
use tidings_api::token::sign;
use tidings_core::Id;
use tidings_mail::Design;
use tidings_node::channel::{
    Channel, Channels, Outcome, Receipt, Rendered, RenderingChannel, ShortRenderer,
};

use super::world::{NONE, OTHER, OWN};
use crate::rig::{Rig, signing_key};

const CONFIG: &str = r#"
[tenants]
on = true
[users]
[categories.news]
[types.note]
category = "news"
channels = { inbox = { policy = "now" }, webpush = { policy = "now" } }
"#;

/// A push service that hands over whom each message is for, and its text.
struct Service(Mutex<Sender<(Vec<String>, String)>>);

impl Channel for Service {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let text = String::from_utf8(message.bytes.clone()).unwrap();
        self.0.lock().unwrap().send((message.to.clone(), text)).unwrap();
        Outcome::Sent(Receipt::default())
    }
}

/// A server with a member of two tenants, and the push messages that leave it.
struct Pushed {
    rig: Rig,
    messages: Receiver<(Vec<String>, String)>,
    /// The clock, which tokens are signed by.
    now_s: i64,
}

fn service() -> (Channels, Receiver<(Vec<String>, String)>) {
    let (sender, messages) = channel();
    let rules = tidings_config::parse(CONFIG, "tidings.toml").unwrap();
    let kind = tidings_core::model::channel_kind("webpush").unwrap();
    let renderer = ShortRenderer::new(Design::short("webpush", &rules).unwrap(), kind, None);
    let outlet = RenderingChannel::new(Arc::new(renderer), Arc::new(Service(Mutex::new(sender))));
    ([("webpush".to_owned(), outlet)].into(), messages)
}

/// The subscription of a browser.
fn browser(name: &str) -> Value {
    json!({
        "endpoint": format!("https://push.example.net/{name}"),
        "keys": { "p256dh": "B".repeat(87), "auth": "a".repeat(22) },
    })
}

impl Pushed {
    fn new() -> Self {
        let (channels, messages) = service();
        let rig = Rig::with_channels(CONFIG, channels);
        rig.make_signing_key("k1");
        let pushed = Self { rig, messages, now_s: 1_704_110_400 };
        for of in [OWN, OTHER] {
            pushed.host(Method::PUT, &format!("/v1/tenants/t-{of}"), &json!({}));
        }
        pushed.host(Method::PUT, "/v1/recipients/both", &json!({}));
        pushed
    }

    fn host(&self, method: Method, path: &str, body: &Value) -> Value {
        let answer = self.rig.call(method, path, body);
        assert!(answer.status.is_success(), "{path}: {answer:?}");
        answer.json()
    }

    /// A browser joins or leaves with a token, of a tenant or without one.
    fn push(&self, method: Method, of: Option<&str>, name: &str) {
        let (both, tenant) = (Id::new("both").unwrap(), of.map(|of| Id::new(&tenant(of)).unwrap()));
        let now_s = self.now_s;
        let token = sign(&signing_key("k1"), &both, now_s, now_s + 60, None, tenant.as_ref());
        let bearer = format!("Bearer {}", token.unwrap());
        let headers = [("authorization", &*bearer), ("content-type", "application/json")];
        let answer = self.rig.send(method, "/v1/me/push", &headers, browser(name).to_string());
        assert_eq!(answer.status.as_u16(), 204, "{answer:?}");
    }

    /// Publishes an event of a marker; the browsers to which its message goes, by name.
    fn told(&self, id: &str, of: &str) -> Vec<String> {
        let mut event = json!({
            "id": id, "type": "note", "to": { "recipients": ["both"] },
            "object": { "id": id, "title": format!("Title {of}") },
        });
        if of != NONE {
            event["tenant"] = json!(tenant(of));
        }
        self.host(Method::POST, "/v1/events", &event);
        let path = format!("/v1/events/{id}");
        let ended = || {
            let channel =
                self.host(Method::GET, &path, &Value::Null)["channels"]["webpush"].clone();
            (channel["pending"] == 0).then_some(channel)
        };
        let ended = std::iter::repeat_with(ended).find_map(|ended| {
            std::thread::yield_now();
            ended
        });
        let Ok((to, text)) = self.messages.try_recv() else {
            assert_eq!(ended.unwrap()["reasons"], json!({ "no_address": 1 }));
            return Vec::new();
        };
        assert!(text.contains(of), "{text}");
        let others = [OWN, OTHER, NONE].into_iter().filter(|other| *other != of);
        assert!(others.into_iter().all(|other| !text.contains(other)), "{text}");
        assert!(self.messages.try_recv().is_err(), "one message");
        let name = |to: &String| {
            let subscription: Value = serde_json::from_str(to).unwrap();
            let endpoint = subscription["endpoint"].as_str().unwrap().to_owned();
            endpoint.rsplit('/').next().unwrap().to_owned()
        };
        let mut names: Vec<String> = to.iter().map(name).collect();
        names.sort();
        names
    }

    fn restart(self) -> Self {
        let (channels, messages) = service();
        let rig = self.rig.restart_with_channels(CONFIG, channels);
        Self { rig, messages, now_s: self.now_s }
    }
}

fn tenant(of: &str) -> String {
    format!("t-{of}")
}

#[test]
fn t42_a_push_of_a_tenant_never_reaches_an_address_of_another() {
    let mut pushed = Pushed::new();
    pushed.push(Method::PUT, Some(OWN), "own");
    assert_eq!(pushed.told("e0", OTHER), [""; 0], "there is no address for it");
    pushed.push(Method::PUT, Some(OTHER), "other");
    pushed.push(Method::PUT, None, "all");
    for of in [OWN, OTHER] {
        pushed.push(Method::PUT, Some(of), "switches");
    }
    let mut number = 0;
    let mut check = |pushed: &Pushed, expected: [&[&str]; 3]| {
        for (of, expected) in [OWN, OTHER, NONE].into_iter().zip(expected) {
            number += 1;
            assert_eq!(pushed.told(&format!("e{number}"), of), expected, "{number} {of}");
        }
    };
    let first: [&[&str]; 3] = [
        &["all", "own", "switches"],
        &["all", "other", "switches"],
        &["all", "other", "own", "switches"],
    ];
    check(&pushed, first);
    // A token of a view removes nothing of another, nor what is of all.
    for name in ["other", "all"] {
        pushed.push(Method::DELETE, Some(OWN), name);
    }
    check(&pushed, first);
    pushed = pushed.restart();
    check(&pushed, first);
    pushed.push(Method::DELETE, Some(OWN), "switches");
    check(&pushed, [&["all", "own"], &["all", "other", "switches"], first[2]]);
    // However many browsers join with a token of one, those of another stay.
    for extra in 0..30 {
        pushed.push(Method::PUT, Some(OTHER), &format!("x{extra}"));
    }
    assert_eq!(pushed.told("own-again", OWN), ["all", "own"]);
    pushed.host(Method::DELETE, "/v1/tenants/t-mkb", &Value::Null);
    assert_eq!(pushed.told("none-again", NONE), ["all", "own"]);
    // Made anew, it is another tenant, which takes tokens issued after the deletion.
    pushed.rig.at("2024-01-01T12:00:01Z");
    pushed.now_s += 1;
    pushed.host(Method::PUT, "/v1/tenants/t-mkb", &json!({}));
    pushed.push(Method::PUT, Some(OTHER), "new");
    check(&pushed, [&["all", "own"], &["all", "new"], &["all", "new", "own"]]);
    // Who sees all removes a browser for whatever it joined.
    for name in ["own", "new", "all"] {
        pushed.push(Method::DELETE, None, name);
    }
    check(&pushed, [&[], &[], &[]]);
}
