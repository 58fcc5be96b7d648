//! Live streams of inboxes: server-sent events to those who have a page open (contract, section 9).
//!
//! A commit wakes the hub, which finds the recipients with open streams that it may concern, reads their rows again and
//! sends each stream the differences. So a frame is right whatever its cause was, and many commits are one frame.
//! Nothing is queued: a slow reader gets all changes of the meantime in one frame.

mod frame;
mod hub;
mod pass;
mod rows;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use tidings_core::engine::InboxRow;
use tidings_core::number::RecipientNo;
use tidings_core::rules::UsersRules;
use tidings_core::tenant::{TenantNo, View};
use tidings_core::{BucketNo, Id, Rules};
use tidings_mail::Design;
use tidings_node::{CallerId, DurableSnapshot, Handle};
use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

use super::Service;
use super::cluster::{NOBODY, no_holder};
use super::error::{Code, Problem};
use crate::http::live::hub::Hub;
use crate::http::live::rows::LiveRows;
use crate::http::live::stream::{LiveBody, Seat, Seen, Stream, StreamCheck, Streams};
use crate::http::shares::{caller, over_share};
use crate::http::site::state::{Site, design};
use crate::http::v1::inbox::shown::Counts;
use crate::token::Token;

pub(in crate::http) use frame::{End, RETRY_MS_MAX, end};

/// The interval at which streams are looked at for their time.
const TICK: Duration = Duration::from_secs(1);

/// The most streams that a server may have open under a configuration.
#[must_use]
pub fn streams_max(rules: &Rules) -> usize {
    let streams = rules.users.as_ref().map(|users| users.streams);
    let streams = streams.unwrap_or_else(|| UsersRules::default().streams);
    usize::try_from(streams).unwrap_or(usize::MAX)
}

/// The streams of a server.
pub(in crate::http) struct Live {
    handle: Handle,
    hub: Mutex<Hub>,
    /// Wakes the passes.
    wake: Arc<Notify>,
    begun: OnceLock<()>,
    /// The rows of an empty inbox.
    nothing: Arc<LiveRows>,
    /// The key of cursors, and the look of sentences.
    site: OnceLock<Arc<Site>>,
}

/// The request of a reader who opens a stream.
#[derive(Default)]
pub(in crate::http) struct Opening {
    /// The `id` of the last frame that they have.
    pub(in crate::http) last: Option<String>,
    /// The token; `None` = an API key opens it.
    pub(in crate::http) token: Option<Arc<Token>>,
    /// The entries that they see.
    pub(in crate::http) view: View,
}

impl Streams for Live {
    fn look_again(&self, recipient: &Id) {
        self.hub().look_at(recipient);
        self.wake.notify_one();
    }

    fn close(&self, stream: &Arc<Stream>) {
        self.hub().close(stream);
    }

    fn rise(&self, caller: &CallerId) {
        self.hub().rise(caller);
    }
}

impl Live {
    /// The streams of a node.
    pub(super) fn new(handle: Handle) -> Arc<Self> {
        Arc::new(Self {
            handle,
            hub: Mutex::default(),
            wake: Arc::default(),
            begun: OnceLock::new(),
            nothing: Arc::default(),
            site: OnceLock::new(),
        })
    }

    /// Sets the key of cursors (which identifies those of another store), and the look of sentences.
    pub(super) fn show_as(&self, site: &Arc<Site>) {
        self.site.get_or_init(|| Arc::clone(site));
    }

    fn hub(&self) -> MutexGuard<'_, Hub> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of open streams, and of those who wait for a change.
    pub(super) fn open_streams(&self) -> usize {
        self.hub().open
    }

    /// Begins to follow the node with the first stream: a server without streams pays nothing.
    fn begin(self: &Arc<Self>) {
        self.begun.get_or_init(|| {
            let wake = Arc::clone(&self.wake);
            self.handle.on_durable(move || wake.notify_one());
            tokio::spawn(pass::each(Arc::downgrade(self), Arc::clone(&self.wake)));
            tokio::spawn(ticks(Arc::downgrade(self)));
        });
    }

    /// Leaves no room for a stream.
    #[cfg(test)]
    pub(super) fn fill(&self) {
        self.hub().open = usize::MAX;
    }

    /// Ends all streams at once, and opens none any more.
    pub(super) fn stop(&self) {
        let ends = self.hub().stop();
        for (stream, end) in ends {
            stream.end(end);
        }
    }

    /// A second has passed.
    fn tick(&self) {
        let (alive, checked) = self.hub().tick();
        alive.iter().for_each(|stream| stream.comment());
        for stream in checked {
            if let Some(end) = stream.check.as_ref().and_then(|check| check()) {
                stream.end(end);
            }
        }
    }

    /// The rows, which many inboxes have none of.
    fn rows(&self, rows: Vec<InboxRow>) -> Arc<LiveRows> {
        if rows.is_empty() { Arc::clone(&self.nothing) } else { Arc::new(LiveRows::of(rows)) }
    }

    /// The look of sentences.
    fn design(&self) -> Arc<Design> {
        match self.site.get() {
            Some(site) => site.design(),
            None => Arc::new(design(&Rules::default())),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

async fn ticks(live: Weak<Live>) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        ticks.tick().await;
        let Some(live) = live.upgrade() else { return };
        live.tick();
    }
}

/// Somebody who waits for a change of an inbox.
struct Waiter {
    _seat: Seat,
    live: Arc<Live>,
    recipient: Id,
    bucket: BucketNo,
    no: u64,
    changed: Arc<Notify>,
}

impl Waiter {
    /// Waits until the inbox may have changed since the last call or the beginning. False: it has not by then.
    ///
    /// # Errors
    /// [`Code::Stopping`].
    async fn changed(&self, until: Instant) -> Result<bool, Problem> {
        let changed = timeout_at(until, self.changed.notified()).await.is_ok();
        if self.live.hub().is_over {
            return Err(Problem::new(Code::Stopping, Code::Stopping.row().title));
        }
        Ok(changed)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.live.hub().wait_no_more(&self.recipient, self.no, self.bucket);
    }
}

impl Live {
    /// The cursor of a recipient's view at a revision. An id that was erased and made again is another recipient, or
    /// tenant.
    fn cursor(
        &self,
        (id, number): (&Id, Option<RecipientNo>),
        view: View<TenantNo>,
        rev: u64,
    ) -> String {
        let number = number.map_or(u32::MAX, |RecipientNo(number)| number);
        let of = match view {
            View::All => format!("{number} {id}"),
            View::Of(tenant) => format!("{number}/{tenant} {id}"),
            View::Only(tenant) => format!("{number}-{tenant} {id}"),
        };
        let code = self.site.get().map(|site| site.tokens().code("live", &of, 16));
        let code = code.unwrap_or_default();
        format!("{code}-{rev:x}")
    }

    /// Room for one more, for as long as the lock is held.
    fn room(&self, streams_max: usize) -> Result<MutexGuard<'_, Hub>, Problem> {
        let hub = self.hub();
        if hub.is_over {
            return Err(Problem::new(Code::Stopping, Code::Stopping.row().title));
        }
        if hub.open >= streams_max {
            let detail = format!("{streams_max} streams are open at this server");
            return Err(Problem::new(Code::StreamsFull, detail));
        }
        Ok(hub)
    }

    /// A place of the caller among the streams.
    fn seat(self: &Arc<Self>, streams_max: usize) -> Result<Seat, Problem> {
        let (mut hub, caller) = (self.room(streams_max)?, caller());
        if !hub.sit(&caller, streams_max) {
            return Err(over_share("streams and long polls"));
        }
        drop(hub);
        Ok(Seat { live: Arc::clone(self) as Arc<dyn Streams>, caller })
    }
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
    pub(in crate::http) async fn open_stream(
        self: &Arc<Self>,
        recipient: Id,
        opening: Opening,
    ) -> Result<Response, Problem> {
        self.at_home(&recipient)?;
        let Opening { last, token, view } = opening;
        let (live, may_be_unknown) = (&self.live, token.is_some());
        let check = token.map(|token| self.check_of(token));
        live.begin();
        let seat = live.seat(self.streams_max())?;
        let (stream, replaced) = {
            let durable = self.handle.durable()?;
            let numbered = durable.engine().reader(durable.view()).numbered(&view)?;
            let of = Seen { view, numbered };
            let mut hub = live.room(self.streams_max())?;
            let opened = hub.open(durable.engine(), &recipient, of, (check, &live.nothing));
            opened.ok_or_else(|| no_holder(NOBODY))?
        };
        if let Some(replaced) = replaced {
            replaced.end(End::Replaced);
        }
        let body = LiveBody {
            _seat: seat,
            live: Arc::clone(live) as Arc<dyn Streams>,
            stream: Arc::clone(&stream),
            is_over: false,
        };
        // The stream is registered before the inbox is read: a change in between is found by the next pass.
        let view = stream.of.view.clone();
        let (number, read) = self
            .look(move |node| pass::read(node, &recipient, &view, may_be_unknown))
            .await?
            .map_err(Problem::from)?;
        let at = live.cursor((&stream.recipient, number), stream.of.numbered, read.counts.rev);
        let reset = last.is_some_and(|last| last != at);
        let state = (live.rows(read.rows), read.counts.rev);
        stream.begin(frame::hello(&Counts::from(read.counts), reset), state);
        let head = [
            (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
            // A middleware of the host compresses what it may transform, and gathers it for that.
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform")),
            // What nginx would gather comes as it is.
            (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
        ];
        Ok((head, Body::new(body)).into_response())
    }

    /// The check of a token. The service may be gone before the stream.
    fn check_of(self: &Arc<Self>, token: Arc<Token>) -> StreamCheck {
        let service = Arc::downgrade(self);
        Box::new(move || match service.upgrade()?.end_of(&token)? {
            Code::TokenExpired => Some(End::TokenExpired),
            Code::TokenRevoked => Some(End::TokenRevoked),
            _ => Some(End::TokenKey),
        })
    }

    /// The most streams that may be open.
    fn streams_max(&self) -> usize {
        streams_max(&self.rules())
    }

    /// The result of `read`, as soon as its revision is above another one; `None` if it is not in time.
    ///
    /// # Errors
    /// [`Code::StreamsFull`], or a [`Problem`] of the node.
    pub(in crate::http) async fn newer<T>(
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
        let waiter = self.wait_for_change(recipient)?;
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

    /// Watches a recipient's inbox from now on.
    fn wait_for_change(&self, recipient: &Id) -> Result<Waiter, Problem> {
        let live = &self.live;
        live.begin();
        let durable = self.handle.durable()?;
        let bucket = durable.engine().bucket_of(recipient);
        let seat = live.seat(self.streams_max())?;
        let waiter = {
            let mut hub = live.room(self.streams_max())?;
            if !hub.may_wait(recipient) {
                return Err(over_share("long polls and streams of a recipient"));
            }
            hub.wait(durable.engine(), recipient)
        };
        let (no, changed) = waiter.ok_or_else(|| no_holder(NOBODY))?;
        let (live, recipient) = (Arc::clone(live), recipient.clone());
        Ok(Waiter { _seat: seat, live, recipient, bucket, no, changed })
    }
}
