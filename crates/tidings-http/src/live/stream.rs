//! One stream: the state that its reader knows, the next frame, and the body of the answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use axum::body::{Bytes, HttpBody};
use hyper::body::Frame;
use tidings_core::Id;
use tidings_core::model::{BucketNo, TenantNo, View};
use tidings_node::CallerId;

use super::frame::{self, StreamEnd};
use super::rows::LiveRows;

/// The check of a stream's right to go on: the reason to end it, if there is one. It is asked each second, so it only
/// compares.
pub(crate) type StreamCheck = Box<dyn Fn() -> Option<StreamEnd> + Send + Sync>;

/// The view of the reader of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StreamView {
    pub(super) view: View,
    /// The same by number: a recreated tenant is another one.
    pub(super) numbered: View<TenantNo>,
}

/// An open stream.
pub(super) struct OpenStream {
    /// Its place among the open ones.
    pub(super) slot: usize,
    pub(super) recipient: Id,
    pub(super) bucket: BucketNo,
    pub(super) of: StreamView,
    /// The check of its token; `None` = an API key has opened it.
    pub(super) check: Option<StreamCheck>,
    outgoing: Mutex<OutgoingFrames>,
}

/// The state of the telling. At most one frame waits for a connection: what comes meanwhile is joined in the next.
pub(super) struct OutgoingFrames {
    /// True until the first event is built.
    pub(super) is_opening: bool,
    /// True if there is more to send than `next`.
    pub(super) is_behind: bool,
    comment: bool,
    pub(super) next: Option<Bytes>,
    end: Option<StreamEnd>,
    waker: Option<Waker>,
    /// The rows that the reader has with `next`, and their revision.
    pub(super) rows: Arc<LiveRows>,
    pub(super) rev: u64,
}

impl OpenStream {
    pub(super) fn new(
        slot: usize,
        (recipient, bucket): (Id, BucketNo),
        of: StreamView,
        check: Option<StreamCheck>,
        rows: Arc<LiveRows>,
    ) -> Self {
        let outgoing = OutgoingFrames {
            is_opening: true,
            is_behind: false,
            comment: false,
            next: None,
            end: None,
            waker: None,
            rows,
            rev: 0,
        };
        Self { slot, recipient, bucket, of, check, outgoing: Mutex::new(outgoing) }
    }

    pub(super) fn outgoing(&self) -> MutexGuard<'_, OutgoingFrames> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the reader a frame, with the state that it then has. Only where none waits.
    pub(super) fn send(&self, frame: Bytes, state: (Arc<LiveRows>, u64), is_behind: bool) {
        OutgoingFrames::put(self.outgoing(), frame, state, is_behind);
    }

    /// Gives the reader the first frame. Changes in the meantime follow.
    pub(super) fn begin(&self, frame: Bytes, state: (Arc<LiveRows>, u64)) {
        let mut outgoing = self.outgoing();
        // Under the lock that puts the frame in: a pass in between would send a difference to rows that the reader does
        // not have yet, and the first frame would replace it.
        outgoing.is_opening = false;
        OutgoingFrames::put(outgoing, frame, state, false);
    }

    /// Says that the stream is alive.
    pub(super) fn comment(&self) {
        let mut outgoing = self.outgoing();
        outgoing.comment = true;
        OutgoingFrames::wake(outgoing);
    }

    /// Ends the stream; of several reasons the first counts.
    pub(super) fn end(&self, end: StreamEnd) {
        let mut outgoing = self.outgoing();
        outgoing.end.get_or_insert(end);
        OutgoingFrames::wake(outgoing);
    }
}

impl OutgoingFrames {
    fn put(
        mut outgoing: MutexGuard<'_, Self>,
        frame: Bytes,
        (rows, rev): (Arc<LiveRows>, u64),
        is_behind: bool,
    ) {
        outgoing.next = Some(frame);
        outgoing.is_behind |= is_behind;
        (outgoing.rows, outgoing.rev) = (rows, rev);
        Self::wake(outgoing);
    }

    /// Wakes the connection without the lock.
    fn wake(mut outgoing: MutexGuard<'_, Self>) {
        let waker = outgoing.waker.take();
        drop(outgoing);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The streams of a server, as the body of one of them uses them.
pub(super) trait Streams: Send + Sync {
    /// Queues the inbox of a recipient for another comparison.
    fn look_again(&self, recipient: &Id);

    /// Takes a stream out.
    fn close(&self, stream: &Arc<OpenStream>);

    /// Counts the end of a stream or long poll of a caller.
    fn rise(&self, caller: &CallerId);
}

/// A stream or long poll of a caller, which is counted until it is dropped.
pub(super) struct StreamSeat {
    pub(super) live: Arc<dyn Streams>,
    pub(super) caller: CallerId,
}

impl Drop for StreamSeat {
    fn drop(&mut self) {
        self.live.rise(&self.caller);
    }
}

/// The body of a stream's answer. The stream is closed when it is dropped.
pub(super) struct LiveBody {
    pub(super) _seat: StreamSeat,
    pub(super) live: Arc<dyn Streams>,
    pub(super) stream: Arc<OpenStream>,
    pub(super) is_over: bool,
}

impl HttpBody for LiveBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let ready = |bytes| Poll::Ready(Some(Ok(Frame::data(bytes))));
        let mut outgoing = self.stream.outgoing();
        if let Some(next) = outgoing.next.take() {
            let is_behind = std::mem::take(&mut outgoing.is_behind);
            drop(outgoing);
            if is_behind {
                self.live.look_again(&self.stream.recipient);
            }
            return ready(next);
        }
        if let Some(end) = outgoing.end {
            drop(outgoing);
            self.is_over = true;
            return ready(frame::end(end));
        }
        if std::mem::take(&mut outgoing.comment) {
            return ready(frame::COMMENT);
        }
        match &mut outgoing.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for LiveBody {
    fn drop(&mut self) {
        self.live.close(&self.stream);
    }
}
