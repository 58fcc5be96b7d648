//! A pass: reads the inboxes that a commit may concern again, and sends each stream the differences.
//!
//! Passes run one after the other on one thread, a bounded slice at a time, each on the state that is newest then.

use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::body::Bytes;
use tidings_core::Id;
use tidings_core::engine::{InboxRows, Refused, StepError};
use tidings_core::model::{RecipientNo, View};
use tidings_mail::Design;
use tidings_node::DurableSnapshot;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use super::Live;
use super::frame::{self, StreamEnd};
use super::rows::LiveRows;
use super::stream::{OpenStream, StreamView};
use crate::live::shown::{Counts, Group};

/// The most inboxes of a slice.
const SLICE: usize = 128;

/// The most rows of a frame. Where more have changed, as where everything was read, further frames follow.
const ROWS_MAX: usize = 100;

/// Bytes of a frame beyond which it has fewer rows: it is in memory until its reader takes it. One of a single row may
/// be larger.
const FRAME_BYTES_MAX: usize = 128 << 10;

/// Runs passes on request, as long as there are streams.
pub(super) async fn each(live: Weak<Live>, wake: Arc<Notify>) {
    let mut rest = None;
    loop {
        match rest {
            None => wake.notified().await,
            // What a commit concerns meanwhile does not wait.
            Some(rest) => drop(timeout(rest, wake.notified()).await),
        }
        let Some(live) = live.upgrade() else { return };
        rest = spawn_blocking(move || live.pass()).await.unwrap_or_else(|fault| {
            tracing::error!(error = %fault, "live streams were not told");
            None
        });
    }
}

/// The rows of an inbox, and the number of its recipient.
pub(crate) type InboxRead = (Option<RecipientNo>, InboxRows);

/// Reads an inbox in a view. A recipient who is not there has none, if that is wanted.
pub(crate) fn read(
    node: &DurableSnapshot,
    id: &Id,
    of: &View,
    may_be_unknown: bool,
) -> Result<InboxRead, StepError> {
    match node.engine().reader(node.view()).inbox_rows(id, of) {
        Err(StepError::Refused(Refused::UnknownRecipient(_))) if may_be_unknown => {
            Ok((None, InboxRows::default()))
        }
        rows => Ok((node.engine().number_of(id), rows?)),
    }
}

impl Live {
    /// Compares the queued inboxes, up to a maximum number. Returns the time after which there are more.
    pub(super) fn pass(&self) -> Option<Duration> {
        // Without a store nothing changes.
        let node = self.handle.durable().ok()?;
        let mut begin = Instant::now();
        // The lock is not held while inboxes are read: streams open and close meanwhile.
        let next = {
            let mut hub = self.hub();
            hub.find(node.engine());
            hub.next(SLICE, begin.into_std())
        };
        let design = self.design();
        let mut is_read = true;
        for id in &next {
            if let Err(fault) = self.send_changes((&node, &design), id) {
                tracing::error!(error = %fault, "an inbox can't be read");
                // Its streams get the change with a later commit: at once the store would fail again, without end.
                self.hub().look_at(id);
                is_read = false;
            }
            let end = Instant::now();
            self.hub().note_pass(id, end - begin, end.into_std());
            begin = end;
        }
        self.hub().rest(begin.into_std()).filter(|_| is_read)
    }

    /// Tells the streams of a recipient what has changed, those of one view in a turn.
    fn send_changes(
        &self,
        (node, design): (&DurableSnapshot, &Design),
        id: &Id,
    ) -> Result<(), StepError> {
        let engine = node.engine();
        let (streams, is_another) = {
            let (number, no) = (engine.number_of(id), engine.bucket_of(id));
            self.hub().streams_of(id, number, no)
        };
        let mut left = streams;
        while let Some(of) = left.first().map(|stream| stream.of.clone()) {
            let (alike, others): (Vec<_>, _) = left.into_iter().partition(|stream| stream.of == of);
            left = others;
            let numbered = engine.reader(node.view()).numbered(&of.view);
            if is_another || numbered.as_ref() != Ok(&of.numbered) {
                // The id was erased and may be another person's now, and so may a tenant's: nobody else's inbox may reach
                // these readers. Erasing revokes tokens: a reader that would be refused is told not to come back.
                let end = |stream: &OpenStream| stream.check.as_ref().and_then(|check| check());
                let restart = StreamEnd::Restart { retry_ms: 0 };
                alike.iter().for_each(|stream| stream.end(end(stream).unwrap_or(restart)));
            } else {
                self.send_alike((node, design), id, (&of, &alike))?;
            }
        }
        Ok(())
    }

    /// Tells the streams of a view what has changed in it.
    fn send_alike(
        &self,
        (node, design): (&DurableSnapshot, &Design),
        id: &Id,
        (of, streams): (&StreamView, &[Arc<OpenStream>]),
    ) -> Result<(), StepError> {
        let (number, read) = read(node, id, &of.view, true)?;
        let rev = read.counts.rev;
        let (rows, counts) = (self.rows(read.rows), Counts::from(read.counts));
        let change = InboxChange {
            live: self,
            node,
            design,
            recipient: (id, number),
            of,
            rows: &rows,
            rev,
            counts: &counts,
        };
        // Streams of one view mostly know the same rows, so the frame is made once.
        let mut made: Option<(Arc<LiveRows>, LiveFrame)> = None;
        for stream in streams {
            let Some((known, known_rev)) = stream.known() else { continue };
            // Engines may name a recipient without need: an unchanged inbox sends no frame.
            if known_rev == rev && known == rows {
                continue;
            }
            let is_made = made.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, &known));
            if !is_made {
                made = Some((Arc::clone(&known), change.since(&known)?));
            }
            if let Some((_, frame)) = &made {
                let state = (Arc::clone(&frame.rows), rev);
                stream.send(frame.text.clone(), state, !frame.is_whole);
            }
        }
        Ok(())
    }
}

/// A frame, and what a reader who has it knows.
struct LiveFrame {
    text: Bytes,
    rows: Arc<LiveRows>,
    is_whole: bool,
    /// Number of its groups.
    groups: usize,
}

/// An inbox as it is now.
struct InboxChange<'a> {
    live: &'a Live,
    node: &'a DurableSnapshot,
    design: &'a Design,
    recipient: (&'a Id, Option<RecipientNo>),
    of: &'a StreamView,
    rows: &'a Arc<LiveRows>,
    rev: u64,
    counts: &'a Counts,
}

impl InboxChange<'_> {
    /// The frame for a reader who knows an older state.
    fn since(&self, known: &LiveRows) -> Result<LiveFrame, StepError> {
        let mut frame = self.since_within(known, ROWS_MAX)?;
        while frame.text.len() > FRAME_BYTES_MAX && frame.groups > 1 {
            frame = self.since_within(known, frame.groups / 2)?;
        }
        Ok(frame)
    }

    /// The frame with a maximum number of rows.
    fn since_within(&self, known: &LiveRows, rows_max: usize) -> Result<LiveFrame, StepError> {
        let mut difference = self.rows.since(known);
        let untold = difference.changed.split_off(difference.changed.len().min(rows_max));
        let is_whole = untold.is_empty();
        let rows = match is_whole {
            true => Arc::clone(self.rows),
            false => Arc::new(self.rows.without(known, &untold)),
        };
        let reader = self.node.engine().reader(self.node.view());
        let groups: Vec<Group> = match difference.changed.is_empty() {
            true => Vec::new(),
            false => {
                let groups =
                    reader.inbox_groups(self.recipient.0, &self.of.view, &difference.changed)?;
                groups.into_iter().map(|group| Group::of(group, self.design)).collect()
            }
        };
        let count = groups.len();
        let gone = difference.gone.into_iter().map(|row| reader.row_key(row)).collect();
        // A cursor stands for all of a state: one in the middle of a change would let a reader who comes
        // back miss the rest.
        let at = is_whole.then(|| self.live.cursor(self.recipient, self.of.numbered, self.rev));
        let text = frame::inbox(self.counts, (groups, gone), at.as_deref());
        Ok(LiveFrame { text, rows, is_whole, groups: count })
    }
}

impl OpenStream {
    /// The state that the reader knows, if a frame may be sent now. Otherwise the rest is sent once the reader has
    /// taken the frame that waits.
    fn known(&self) -> Option<(Arc<LiveRows>, u64)> {
        let mut outgoing = self.outgoing();
        if outgoing.is_opening || outgoing.next.is_some() {
            outgoing.is_behind = true;
            return None;
        }
        Some((Arc::clone(&outgoing.rows), outgoing.rev))
    }
}
