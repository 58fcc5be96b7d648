//! tidings within a program: the engine with its store and its loop, and no server.
//!
//! A program opens a data directory, makes the calls of the API in its own process, and takes the messages of the
//! channels for which the configuration names no provider. What it has taken it answers, as a provider would; what it
//! drops, or did not answer before the program died, comes again under the same id.
//!
//! ```no_run
//! use serde_json::json;
//! use tidings::embed::Tidings;
//!
//! let rules = tidings::config::read("tidings.toml")?;
//! let tidings = Tidings::open(rules, "data")?;
//! tidings.publish(&json!({"type": "comment", "object": {"id": "notes/7"}, "to": {"everyone": true}}))?;
//! for message in tidings.messages() {
//!     println!("{}: {}", message.recipient, message.title);
//!     message.sent();
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use serde::Serialize;
use serde_json::Value;
use tidings_core::Rules;
use tidings_core::model::{Author, AuthorKind, ChannelKind, sending_channels};
use tidings_http::{Access, Service};
use tidings_mail::{Design, TokenKey};
use tidings_node::channel::{
    Channel, Channels, Outcome, Receipt, Rendered, RenderingChannel, ShortRenderer,
};
use tidings_node::{Clock, Delivery, Retries, Runtime, Settings, SystemClock};
use tokio::runtime::{Builder, Runtime as Tokio};
use tower::ServiceExt as _;

use crate::app::resolver::ObjectStateClient;
use crate::app::{self, ReopenableStore};
use crate::client::CallAnswer;

pub use crate::client::CallFault;

/// A store that is open in this process, and its running engine.
pub struct Tidings {
    runtime: Runtime,
    messages: Receiver<Message>,
    router: Router,
    tokio: Tokio,
}

impl Tidings {
    /// Opens the store in a directory, or makes one there, and runs it on the machine's clock.
    ///
    /// # Errors
    /// [`CallFault::Store`] where another process has it open, among others; [`CallFault::Start`].
    pub fn open(rules: Rules, data: impl AsRef<Path>) -> Result<Self, CallFault> {
        Self::open_on(rules, data, Arc::new(SystemClock))
    }

    /// [`Tidings::open`] on a clock of one's own. One that is set needs [`Tidings::wake`].
    ///
    /// # Errors
    /// As of [`Tidings::open`].
    pub fn open_on(
        rules: Rules,
        data: impl AsRef<Path>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, CallFault> {
        let expected = app::expect_or_make().map_err(CallFault::Store)?;
        let options = tidings_store::Options::default();
        let store = ReopenableStore::directory(data.as_ref(), expected, options)
            .map_err(CallFault::Store)?;
        let tokens = store.token_key().map_err(|fault| CallFault::Node(fault.to_string()))?;
        let (hand, messages) = unbounded();
        let mut channels = app::channels(&rules, &tokens, &clock, &Arc::default())?;
        hand_over(&mut channels, &rules, &tokens, &hand)?;
        let host = ObjectStateClient::new(app::host_service(&rules)?, Arc::clone(&clock));
        let delivery = Delivery::new(channels, Retries::default()).resolving(Arc::new(host));
        let runtime =
            store.run(rules.clone(), Arc::clone(&clock), delivery, Settings::default())?;
        let bounds = tidings_http::Settings::default();
        let access = Access::Own(Author::new(AuthorKind::Command, "embedded"));
        let service = Service::new(runtime.handle(), rules, access, clock, bounds);
        let router = tidings_http::router(Arc::new(service.with_site(tokens)));
        let tokio = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .map_err(|fault| CallFault::Node(fault.to_string()))?;
        Ok(Self { runtime, messages, router, tokio })
    }

    /// Publishes an event, or an array of events: the body and the answer of `POST /v1/events`. It is durable then.
    ///
    /// # Errors
    /// As of [`Tidings::call`].
    pub fn publish(&self, event: &impl Serialize) -> Result<Value, CallFault> {
        self.call("POST", "/v1/events", event)
    }

    /// Makes any call of the API. `()` is no body. Blocks, so that async code calls it from a thread for that.
    ///
    /// # Errors
    /// [`CallFault::Refused`] with the problem, [`CallFault::Odd`] for what is no call.
    pub fn call(
        &self,
        method: &str,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Value, CallFault> {
        let odd = |fault: &dyn std::fmt::Display| CallFault::Odd(fault.to_string());
        let method = Method::from_bytes(method.as_bytes()).map_err(|fault| odd(&fault))?;
        let body = match serde_json::to_vec(body).map_err(|fault| odd(&fault))? {
            null if null == b"null" => Vec::new(),
            body => body,
        };
        let request = Request::builder().method(method).uri(path);
        let request = request.header("content-type", "application/json").body(Body::from(body));
        let request = request.map_err(|fault| odd(&fault))?;
        let router = self.router.clone();
        let answer = self.tokio.block_on(async move {
            let response = match router.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            let (head, body) = response.into_parts();
            let bytes = axum::body::to_bytes(body, usize::MAX).await;
            bytes.map(|bytes| CallAnswer { status: head.status, bytes: bytes.to_vec() })
        });
        answer.map_err(|fault| odd(&fault))?.success()?.json()
    }

    /// The messages of channels without a provider, as they come due. Its iterator waits for the next one; each is to be
    /// answered, and some eight of a channel wait for answers at once.
    #[must_use]
    pub fn messages(&self) -> &Receiver<Message> {
        &self.messages
    }

    /// Looks at the clock, after it was set: what has come due by then is durable when this returns.
    ///
    /// # Errors
    /// [`CallFault::Node`] once it has ended.
    pub fn wake(&self) -> Result<(), CallFault> {
        let handle = self.runtime.handle();
        let woken = handle.wake().and_then(|()| handle.submit(Vec::new()));
        woken.map(drop).map_err(|fault| CallFault::Node(fault.to_string()))
    }

    /// Ends, and releases the directory. Messages that wait to be taken or answered come again after the next opening.
    ///
    /// # Errors
    /// [`CallFault::Node`]; what was answered is durable all the same.
    pub fn close(self) -> Result<(), CallFault> {
        let Self { runtime, messages, router, tokio } = self;
        drop((messages, router));
        let stopped = runtime.stop();
        tokio.shutdown_background();
        stopped.map_err(|fault| CallFault::Node(fault.to_string()))
    }
}

/// A message to be sent by the program.
#[derive(Debug)]
pub struct Message {
    /// Its id, which is the same each time it comes: pass it on as the key by which a provider knows it again.
    pub id: String,
    /// The recipient.
    pub recipient: String,
    /// The channel.
    pub channel: String,
    /// The recipient's addresses of the channel, at least one.
    pub to: Vec<String>,
    /// The title, or subject: of most messages the whole sentence.
    pub title: String,
    /// The text below it; empty if the title has everything.
    pub text: String,
    /// The address to which it leads, if it has one.
    pub url: Option<String>,
    /// The number of its notifications.
    pub count: u64,
    answer: Sender<Outcome>,
}

impl Message {
    /// Answers that it was sent.
    pub fn sent(self) {
        self.say(Outcome::Sent(Receipt::default()));
    }

    /// Answers that it was surely not sent, so that it is delivered again later; dropping it has the same effect.
    pub fn retry(self, why: &str) {
        self.say(Outcome::Retry { why: why.to_owned(), after_ms: None });
    }

    /// Answers that it can never be sent.
    pub fn failed(self, why: &str) {
        self.say(Outcome::Failed { why: why.to_owned(), suppress: None });
    }

    fn say(&self, outcome: Outcome) {
        // Where nobody listens any more it comes again.
        let _ = self.answer.send(outcome);
    }
}

/// Adds the channels that types have and that no provider serves: their messages are the program's.
fn hand_over(
    channels: &mut Channels,
    rules: &Rules,
    tokens: &TokenKey,
    hand: &Sender<Message>,
) -> Result<(), CallFault> {
    let has =
        |kind: &ChannelKind| rules.types.values().any(|of| of.channels.contains_key(kind.name));
    for kind in sending_channels().filter(|kind| has(kind)) {
        if channels.contains_key(kind.name) {
            continue;
        }
        let design = Design::short(kind.name, rules);
        let design = design.map_err(|fault| CallFault::Node(format!("{}: {fault}", kind.name)))?;
        let renderer = ShortRenderer::new(design.linked(tokens.clone()), kind, None);
        let hand = HandOver(hand.clone());
        let outlet = RenderingChannel::new(Arc::new(renderer), Arc::new(hand));
        channels.insert(kind.name.to_owned(), outlet);
    }
    Ok(())
}

/// The channel that hands messages to the program and waits for its answer.
struct HandOver(Sender<Message>);

impl Channel for HandOver {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        let content: Value = serde_json::from_slice(&message.bytes).unwrap_or_default();
        let text = |key: &str| content[key].as_str().map(str::to_owned);
        let (answer, answered) = bounded(1);
        let handed = Message {
            id: message.head.id.clone(),
            recipient: message.head.recipient.as_ref().map(ToString::to_string).unwrap_or_default(),
            channel: message.head.channel.clone(),
            to: message.to.clone(),
            title: text("title").unwrap_or_default(),
            text: text("text").unwrap_or_default(),
            url: text("url"),
            count: content["count"].as_u64().unwrap_or(1),
            answer,
        };
        if !go() {
            return Outcome::Withheld;
        }
        let again = |why: &str| Outcome::Retry { why: why.to_owned(), after_ms: None };
        if self.0.send(handed).is_err() {
            return again("the program takes no messages any more");
        }
        answered.recv().unwrap_or_else(|_| again("the program dropped the message"))
    }

    fn answers_for_all(&self) -> bool {
        false
    }
}
