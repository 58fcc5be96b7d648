//! What all calls share: the node to ask, the rules in force, the bounds.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tidings_core::engine::{Refused, Reply};
use tidings_core::{Command, Instant, Rules};
use tidings_node::{Clock, Handle, Node, RuntimeError};
use tokio::sync::oneshot;

use super::error::{Code, Problem};
use super::request::{Change, Once};
use crate::keys::Keys;

/// The bounds of the server. Whatever a client does, it costs no more than this.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The largest body that is read as a whole, in bytes.
    pub body_bytes_max: usize,
    /// How long a body may take to arrive.
    pub body_patience: Duration,
    /// How long an answer of the node is waited for.
    pub answer_patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            body_bytes_max: 8 << 20,
            body_patience: Duration::from_secs(30),
            answer_patience: Duration::from_secs(30),
        }
    }
}

/// Who may call.
#[derive(Debug)]
pub enum Access {
    /// Anybody: `--dev`.
    Open,
    /// Who has a key.
    Keys(Keys),
}

/// What the calls of one server share.
pub struct Service {
    pub(super) handle: Handle,
    pub(super) access: Access,
    pub(super) settings: Settings,
    pub(super) clock: Arc<dyn Clock>,
    rules: RwLock<Arc<Rules>>,
}

impl Service {
    /// A service over a node that runs under these rules.
    #[must_use]
    pub fn new(
        handle: Handle,
        rules: Rules,
        access: Access,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Self {
        Self {
            handle,
            access,
            settings,
            clock,
            rules: RwLock::new(Arc::new(rules)),
        }
    }

    /// The rules that bodies are read by.
    #[must_use]
    pub fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The instant now, by the node's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Puts rules in force, first in the node. Blocks until they are durable.
    ///
    /// # Errors
    /// [`RuntimeError`]; the old rules stay in force.
    pub fn set_rules(&self, rules: Rules) -> Result<(), RuntimeError> {
        self.handle.set_rules(rules.clone())?;
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
        Ok(())
    }

    /// Has commands done, in order; the answers come when they are durable.
    ///
    /// # Errors
    /// A [`Problem`] that concerns all of them; those of single commands are in the list.
    pub async fn submit(
        &self,
        commands: Vec<Command>,
    ) -> Result<Vec<Result<Reply, Refused>>, Problem> {
        let (answer, answered) = oneshot::channel();
        self.handle
            .submit_then(commands, move |replies| drop(answer.send(replies)))?;
        self.answered(answered).await
    }

    /// Looks at the node between two steps. Looks are short: publishers wait for them.
    ///
    /// # Errors
    /// A [`Problem`] where the node can't be asked.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Node) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, answered) = oneshot::channel();
        self.handle
            .look_then(look, move |seen| drop(answer.send(seen)))?;
        self.answered(answered).await
    }

    /// Has commands done for a request that may carry an `Idempotency-Key`. `answer` makes the
    /// response from the replies; it is kept with the work, so that the same request gets it again.
    /// A request that `answer` gives a [`Problem`] is not kept: it may be sent again.
    ///
    /// # Errors
    /// The [`Problem`] of `answer`, or one of the node.
    pub async fn change(
        &self,
        change: &Change,
        commands: Vec<Command>,
        answer: impl FnOnce(Vec<Result<Reply, Refused>>) -> Result<Answer, Problem> + Send + 'static,
    ) -> Result<Answer, Problem> {
        let _once: Option<&Once> = change.once.as_ref();
        answer(self.submit(commands).await?)
    }

    async fn answered<T>(
        &self,
        answered: oneshot::Receiver<Result<T, RuntimeError>>,
    ) -> Result<T, Problem> {
        match tokio::time::timeout(self.settings.answer_patience, answered).await {
            Ok(Ok(answer)) => Ok(answer?),
            Ok(Err(_)) => Err(RuntimeError::Stopped.into()),
            Err(_) => Err(Problem::new(
                Code::TimedOut,
                format!(
                    "no answer within {} s",
                    self.settings.answer_patience.as_secs()
                ),
            )),
        }
    }
}

/// A response that can be kept and given again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status of a success.
    pub status: StatusCode,
    /// JSON; empty for a status without a body.
    pub body: Bytes,
}

impl Answer {
    /// An answer with a body.
    ///
    /// # Errors
    /// [`Code::Internal`] where the value is none of JSON's: a defect.
    pub fn json(status: StatusCode, body: &impl Serialize) -> Result<Self, Problem> {
        match serde_json::to_vec(body) {
            Ok(body) => Ok(Self {
                status,
                body: body.into(),
            }),
            Err(fault) => Err(Problem::new(Code::Internal, fault.to_string())),
        }
    }

    /// Done, and nothing more to say: 204.
    #[must_use]
    pub fn done() -> Self {
        Self {
            status: StatusCode::NO_CONTENT,
            body: Bytes::new(),
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.body).into_response();
        if self.status == StatusCode::NO_CONTENT {
            response.headers_mut().remove(header::CONTENT_TYPE);
        } else {
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
        }
        response
    }
}

/// The only answer of a call that gave the node one command.
///
/// # Errors
/// The command's [`Refused`] as a [`Problem`].
pub fn only(replies: Vec<Result<Reply, Refused>>) -> Result<Reply, Problem> {
    match replies.into_iter().next() {
        Some(reply) => Ok(reply?),
        None => Err(Problem::new(Code::Internal, "the node gave no answer")),
    }
}
