//! Live streams of inboxes: server-sent events to those who have a page open (contract, section 9).
//!
//! A commit wakes the hub, which finds the recipients with open streams that it may concern, reads their rows again and
//! sends each stream the differences. So a frame is right whatever its cause was, and many commits are one frame.
//! Nothing is queued: a slow reader gets all changes of the meantime in one frame.

mod frame;
mod hub;
mod pass;
mod rows;
pub(crate) mod shown;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use tidings_core::engine::InboxRow;
use tidings_core::model::{BucketNo, RecipientNo, TenantNo, View};
use tidings_core::rules::UsersRules;
use tidings_core::{Id, Rules};
use tidings_mail::Design;
use tidings_node::{CallerId, Handle};
use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

use super::error::{Code, NOBODY, Problem, no_holder};
use crate::live::hub::StreamHub;
use crate::live::rows::LiveRows;
use crate::live::shown::Counts;
use crate::live::stream::{LiveBody, OpenStream, StreamSeat, StreamView, Streams};
use crate::shares::{caller, over_share};
use crate::site_state::{Site, design};

pub(crate) use frame::{RETRY_MS_MAX, StreamEnd, end};
pub(crate) use pass::{InboxRead, read};
pub(crate) use stream::StreamCheck;

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
pub(crate) struct Live {
    handle: Handle,
    hub: Mutex<StreamHub>,
    /// Wakes the passes.
    wake: Arc<Notify>,
    begun: OnceLock<()>,
    /// The rows of an empty inbox.
    nothing: Arc<LiveRows>,
    /// The key of cursors, and the look of sentences.
    site: OnceLock<Arc<Site>>,
}

impl Streams for Live {
    fn look_again(&self, recipient: &Id) {
        self.hub().look_at(recipient);
        self.wake.notify_one();
    }

    fn close(&self, stream: &Arc<OpenStream>) {
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

    fn hub(&self) -> MutexGuard<'_, StreamHub> {
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
pub(crate) struct InboxWaiter {
    _seat: StreamSeat,
    live: Arc<Live>,
    recipient: Id,
    bucket: BucketNo,
    no: u64,
    changed: Arc<Notify>,
}

impl InboxWaiter {
    /// Waits until the inbox may have changed since the last call or the beginning. False: it has not by then.
    ///
    /// # Errors
    /// [`Code::Stopping`].
    pub(crate) async fn changed(&self, until: Instant) -> Result<bool, Problem> {
        let changed = timeout_at(until, self.changed.notified()).await.is_ok();
        if self.live.hub().is_over {
            return Err(Problem::new(Code::Stopping, Code::Stopping.row().title));
        }
        Ok(changed)
    }
}

impl Drop for InboxWaiter {
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
    fn room(&self, streams_max: usize) -> Result<MutexGuard<'_, StreamHub>, Problem> {
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
    fn seat(self: &Arc<Self>, streams_max: usize) -> Result<StreamSeat, Problem> {
        let (mut hub, caller) = (self.room(streams_max)?, caller());
        if !hub.sit(&caller, streams_max) {
            return Err(over_share("streams and long polls"));
        }
        drop(hub);
        Ok(StreamSeat { live: Arc::clone(self) as Arc<dyn Streams>, caller })
    }
}

/// A stream that is registered: no change from now on is missed. It begins with the inbox as it is.
pub(crate) struct OpenedStream {
    body: LiveBody,
    last: Option<String>,
}

impl OpenedStream {
    /// The response with the stream, whose first frame has the counts that were read after it was opened.
    pub(crate) fn begin(self, live: &Live, (number, read): InboxRead) -> Response {
        let Self { body, last } = self;
        let stream = &body.stream;
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
        (head, Body::new(body)).into_response()
    }
}

impl Live {
    /// Opens a stream of a recipient's view, which `check` ends; `last` is the `id` of the last frame that they have.
    ///
    /// # Errors
    /// [`Code::StreamsFull`], or a [`Problem`] of the node.
    pub(crate) fn open(
        self: &Arc<Self>,
        recipient: &Id,
        (view, last): (View, Option<String>),
        check: Option<StreamCheck>,
        streams_max: usize,
    ) -> Result<OpenedStream, Problem> {
        self.begin();
        let seat = self.seat(streams_max)?;
        let (stream, replaced) = {
            let durable = self.handle.durable()?;
            let numbered = durable.engine().reader(durable.view()).numbered(&view)?;
            let of = StreamView { view, numbered };
            let mut hub = self.room(streams_max)?;
            let opened = hub.open(durable.engine(), recipient, of, (check, &self.nothing));
            opened.ok_or_else(|| no_holder(NOBODY))?
        };
        if let Some(replaced) = replaced {
            replaced.end(StreamEnd::Replaced);
        }
        let live = Arc::clone(self) as Arc<dyn Streams>;
        Ok(OpenedStream { body: LiveBody { _seat: seat, live, stream, is_over: false }, last })
    }

    /// Watches a recipient's inbox from now on.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn wait_for_change(
        self: &Arc<Self>,
        recipient: &Id,
        streams_max: usize,
    ) -> Result<InboxWaiter, Problem> {
        self.begin();
        let durable = self.handle.durable()?;
        let bucket = durable.engine().bucket_of(recipient);
        let seat = self.seat(streams_max)?;
        let waiter = {
            let mut hub = self.room(streams_max)?;
            if !hub.may_wait(recipient) {
                return Err(over_share("long polls and streams of a recipient"));
            }
            hub.wait(durable.engine(), recipient)
        };
        let (no, changed) = waiter.ok_or_else(|| no_holder(NOBODY))?;
        let (live, recipient) = (Arc::clone(self), recipient.clone());
        Ok(InboxWaiter { _seat: seat, live, recipient, bucket, no, changed })
    }
}
