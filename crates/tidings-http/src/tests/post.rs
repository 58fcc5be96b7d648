//! A server whose mails are read by the tests.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use tidings_mail::Design;
use tidings_node::channel::{Channel, MailRenderer, Outcome, Receipt, Rendered, RenderingChannel};

use crate::rig::{Rig, tokens};

/// A channel that hands over the mails it is given.
struct Postman(Mutex<Sender<Vec<u8>>>);

impl Channel for Postman {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        assert!(go());
        let bytes = message.bytes.clone();
        self.0.lock().unwrap().send(bytes).unwrap();
        Outcome::Sent(Receipt::default())
    }
}

/// A server at noon of the first day of 2024, with `ana`, and the mails that leave it.
pub(crate) struct Post {
    pub(crate) rig: Rig,
    mails: Receiver<Vec<u8>>,
}

impl Post {
    pub(crate) fn new(config: &str) -> Self {
        let (sender, mails) = channel();
        let from = tidings_mail::Sender::parse("Art <art@example.org>").unwrap();
        let postman = Arc::new(Postman(Mutex::new(sender)));
        let rules = tidings_config::parse(config, "tidings.toml").unwrap();
        let design = Design::new(from, &rules).unwrap().linked(tokens());
        let outlet = RenderingChannel::new(Arc::new(MailRenderer::new(design)), postman);
        let rig = Rig::with_channels(config, [("email".to_owned(), outlet)].into());
        let post = Self { rig, mails };
        let ana = json!({"email": "ana@example.org", "name": "Ana"});
        post.change(Method::PUT, "/v1/recipients/ana", &ana);
        post
    }

    pub(crate) fn change(&self, method: Method, path: &str, body: &Value) -> Value {
        let answer = self.rig.call(method, path, body);
        assert!(answer.status.is_success(), "{}", answer.json());
        answer.json()
    }

    pub(crate) fn publish(&self, kind: &str, actor: &str, object: &str, to: &Value) {
        let event = json!({
            "type": kind, "actor": {"id": actor.to_lowercase(), "title": actor},
            "object": {"id": object.to_lowercase(), "title": object}, "to": to,
        });
        self.change(Method::POST, "/v1/events", &event);
    }

    pub(crate) fn publish_to_ana(&self, kind: &str, actor: &str, object: &str) {
        self.publish(kind, actor, object, &json!({"recipients": ["ana"]}));
    }

    /// The next mail as it is sent.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.mails.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    /// The next mail: its subject, and its text.
    pub(crate) fn mail(&self) -> (String, String) {
        let bytes = self.bytes();
        let parsed = mail_parser::MessageParser::default().parse(&bytes).unwrap();
        let text = parsed.body_text(0).unwrap().replace("\r\n", "\n");
        (parsed.subject().unwrap().to_owned(), text)
    }
}
