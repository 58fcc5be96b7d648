//! Calls as they are made up, and requests that are awaited.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::generated::error::Error;
use crate::live::{self, LiveEvent};
use crate::retry::Retry;
use crate::stream::{self, ItemStream};
use crate::transport::{Query, Whole, whole};

/// A call that is being made up, from [`Client::call`]: what it sends, then what it answers.
#[derive(Clone, Debug)]
#[must_use]
pub struct Call {
    pub(crate) client: Client,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Query,
    pub(crate) content_type: &'static str,
    /// The body, or the reason why there is none.
    pub(crate) body: Result<Option<Bytes>, String>,
    /// True if it changes something, so that it is done once however often it is tried.
    pub(crate) once: bool,
    pub(crate) key: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retries: Option<u32>,
    /// The time for which the server was asked to wait.
    pub(crate) waits: Duration,
    pub(crate) last_event: Option<String>,
}

impl Call {
    pub(crate) fn new(client: &Client, method: Method, path: String) -> Self {
        Self {
            client: client.clone(),
            method,
            path,
            query: Query::default(),
            content_type: "application/json",
            body: Ok(None),
            once: false,
            key: None,
            request_id: None,
            timeout: None,
            retries: None,
            waits: Duration::ZERO,
            last_event: None,
        }
    }

    /// Sends a body as JSON.
    pub fn json<T: Serialize + ?Sized>(mut self, body: &T) -> Self {
        let text = serde_json::to_vec(body);
        self.body = text
            .map(|text| Some(text.into()))
            .map_err(|fault| format!("the body can't be sent: {fault}"));
        self
    }

    /// Says that it changes something: it has an `Idempotency-Key`, the same for all tries.
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    pub(crate) fn query(mut self, query: Query) -> Self {
        self.query = query;
        self
    }

    /// Waits so much longer for the answer, in the server's words.
    pub(crate) fn waits(mut self, wait: Option<&str>) -> Self {
        // The server allows no more than a minute.
        self.waits = if wait.is_some() { Duration::from_secs(60) } else { Duration::ZERO };
        self
    }

    /// Answers JSON.
    pub fn answer<T: DeserializeOwned>(self) -> Request<T> {
        Request { call: self, read: Whole::json }
    }

    /// Answers JSON, or nothing (status 204 or 304).
    pub fn maybe<T: DeserializeOwned>(self) -> Request<Option<T>> {
        Request { call: self, read: Whole::maybe }
    }

    /// Answers nothing but that it is done.
    pub fn nothing(self) -> Request<()> {
        Request { call: self, read: Whole::nothing }
    }

    /// Answers a text.
    pub fn text(self) -> Request<String> {
        Request { call: self, read: Whole::text }
    }

    /// Answers lines of JSON, of any number.
    pub fn lines<T: DeserializeOwned + Send + 'static>(self) -> ItemStream<T> {
        stream::lines(self)
    }

    /// Answers bytes, of any number.
    pub fn bytes(self) -> ItemStream<Bytes> {
        stream::bytes(self)
    }

    pub(crate) fn live(self) -> ItemStream<LiveEvent> {
        live::follow(self)
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(self.client.inner.timeout) + self.waits
    }

    pub(crate) fn retry(&self) -> Retry {
        let inner = &self.client.inner;
        Retry::new(self.retries.unwrap_or(inner.retries), inner.first_wait)
    }
}

/// A request, sent when it is awaited. Its settings replace those of the client.
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is awaited"]
pub struct Request<T> {
    call: Call,
    read: fn(Whole) -> Result<T, Error>,
}

impl<T> Request<T> {
    /// Sets the `Idempotency-Key`, 1 to 255 visible ASCII characters, under which the server does it once in 24 hours.
    /// Without one each request has its own, the same for all its tries. It has no effect on what changes nothing.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.key = Some(key.into());
        self
    }

    /// Sets the id under which the server's log names it; by default it is a random one.
    pub fn request_id(mut self, id: impl Into<String>) -> Self {
        self.call.request_id = Some(id.into());
        self
    }

    /// Sets the time limit of a try, its answer included.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call.timeout = Some(timeout);
        self
    }

    /// Sets how often it is tried again.
    pub fn retries(mut self, retries: u32) -> Self {
        self.call.retries = Some(retries);
        self
    }

    /// Sends it, as awaiting it does.
    ///
    /// # Errors
    /// [`Error`]: a problem that the server answered, or the reason why there is no answer.
    pub async fn send(self) -> Result<T, Error> {
        (self.read)(whole(&self.call).await?)
    }
}

impl<T: 'static> IntoFuture for Request<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
