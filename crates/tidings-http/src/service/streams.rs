//! Live streams and long polls of inboxes, over the node.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use tidings_api::token::Token;
use tidings_core::Id;
use tidings_core::model::View;
use tidings_node::DurableSnapshot;
use tokio::time::Instant;

use super::Service;
use crate::error::{Code, Problem};
use crate::live::{self, StreamCheck, StreamEnd, streams_max};

/// The request of a reader who opens a stream.
#[derive(Default)]
pub(crate) struct Opening {
    /// The `id` of the last frame that they have.
    pub(crate) last: Option<String>,
    /// The token; `None` = an API key opens it.
    pub(crate) token: Option<Arc<Token>>,
    /// The entries that they see.
    pub(crate) view: View,
}

impl Service {
    /// Live streams end at once, and are opened again later or elsewhere.
    pub fn end_streams(&self) {
        self.live.stop();
    }

    /// Opens a stream of a recipient's inbox. Each piece of its body is a whole frame.
    ///
    /// # Errors
    /// [`Code::StreamsFull`], [`Code::RecipientNotFound`], or a [`Problem`] of the node.
    pub(crate) async fn open_stream(
        self: &Arc<Self>,
        recipient: Id,
        opening: Opening,
    ) -> Result<Response, Problem> {
        self.shards.at_home(&recipient)?;
        let Opening { last, token, view } = opening;
        let may_be_unknown = token.is_some();
        let check = token.map(|token| self.check_of(token));
        let of = (view.clone(), last);
        let opened = self.live.open(&recipient, of, check, streams_max(&self.rules()))?;
        let read =
            move |node: &DurableSnapshot| live::read(node, &recipient, &view, may_be_unknown);
        let read = self.look(read).await?.map_err(Problem::from)?;
        Ok(opened.begin(&self.live, read))
    }

    /// The check of a token. The service may be gone before the stream.
    fn check_of(self: &Arc<Self>, token: Arc<Token>) -> StreamCheck {
        let service = Arc::downgrade(self);
        Box::new(move || match service.upgrade()?.end_of(&token)? {
            Code::TokenExpired => Some(StreamEnd::TokenExpired),
            Code::TokenRevoked => Some(StreamEnd::TokenRevoked),
            _ => Some(StreamEnd::TokenKey),
        })
    }

    /// The result of `read`, as soon as its revision is above another one; `None` if it is not in time.
    ///
    /// # Errors
    /// [`Code::StreamsFull`], or a [`Problem`] of the node.
    pub(crate) async fn newer<T>(
        &self,
        recipient: &Id,
        (since, wait): (u64, Duration),
        rev: impl Fn(&T) -> u64,
        read: impl Fn(&DurableSnapshot) -> Result<T, Problem> + Clone + Send + 'static,
    ) -> Result<Option<T>, Problem>
    where
        T: Send + 'static,
    {
        let is_newer = |read: &T| rev(read) > since;
        if wait.is_zero() {
            return Ok(Some(self.look(read).await??).filter(is_newer));
        }
        let until = Instant::now() + wait;
        // It is watched before it is read, so that nothing comes in between.
        let waiter = self.live.wait_for_change(recipient, streams_max(&self.rules()))?;
        loop {
            // A page that is not newer is not kept while it waits.
            if let Some(now) = Some(self.look(read.clone()).await??).filter(is_newer) {
                return Ok(Some(now));
            }
            if !waiter.changed(until).await? {
                return Ok(None);
            }
        }
    }
}
