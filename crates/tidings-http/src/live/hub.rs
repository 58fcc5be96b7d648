//! The open streams of a server, by recipient, and whose inboxes are to be looked at.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidings_core::Id;
use tidings_core::engine::{Engine, InboxesAt};
use tidings_core::model::{BucketNo, RecipientNo};
use tidings_core::sets::Set;
use tidings_node::{CallerId, TimeShares};
use tokio::sync::Notify;

use super::frame::{RETRY_MS_MAX, StreamEnd};
use super::rows::LiveRows;
use super::stream::{OpenStream, StreamCheck, StreamView};

/// Maximum number of streams of a recipient in a view; one more ends the oldest.
const OF_VIEW_MAX: usize = 8;

/// Maximum number of streams and long polls of a recipient in all views; one more stream ends the oldest.
const OF_RECIPIENT_MAX: usize = 32;

/// Maximum number of long polls of a recipient.
const POLLS_MAX: usize = 8;

/// Maximum number of streams and long polls of one recipient's tokens, with those that have been replaced and whose
/// readers have not accepted their end yet.
const SEATS_MAX: usize = 64;

/// Commits that concern this many recipients or more go to the low-priority queue.
const MANY: u64 = 256;

/// The interval of comments, in ticks.
const COMMENT_TICKS: usize = 15;

/// The open streams, and those who wait for a change.
#[derive(Default)]
pub(super) struct StreamHub {
    recipients: HashMap<Id, WatchedRecipient>,
    buckets: HashMap<BucketNo, WatchedBucket>,
    /// The streams by their place; a free place is used again.
    streams: Vec<Option<Arc<OpenStream>>>,
    free: Vec<usize>,
    /// The number of streams, and of those who wait.
    pub(super) open: usize,
    /// Recipients whose inboxes are to be compared: those of changes with few recipients, and the others.
    few: VecDeque<Id>,
    many: VecDeque<Id>,
    /// Recipients whose inboxes are looked at once they have had less than their share of the passes.
    resting: VecDeque<Id>,
    passes: PassShares,
    /// The streams and long polls that each caller has opened.
    callers: HashMap<CallerId, usize>,
    ticks: usize,
    waiters: u64,
    /// No stream is opened any more.
    pub(super) is_over: bool,
}

/// A recipient may have the passes for one part of this many: each of their marks has an inbox read for each view.
const PASSES_ONE_IN: u32 = 32;

/// The shares of recipients in the passes.
struct PassShares(TimeShares);

impl Default for PassShares {
    fn default() -> Self {
        Self(TimeShares::one_in(PASSES_ONE_IN))
    }
}

/// A recipient with streams.
#[derive(Default)]
struct WatchedRecipient {
    /// `None` = there is no such recipient (yet).
    number: Option<RecipientNo>,
    /// Oldest first.
    streams: Vec<Arc<OpenStream>>,
    waiters: Vec<(u64, Arc<Notify>)>,
    due: DuePass,
    /// True if the inbox may have changed since the views were listed.
    is_anew: bool,
    /// The views that need a frame, one in each turn of the recipient.
    views: VecDeque<StreamView>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum DuePass {
    #[default]
    No,
    WithMany,
    WithFew,
}

/// The recipients with streams of a bucket, as of a state of its inboxes.
struct WatchedBucket {
    since: InboxesAt,
    by_number: HashMap<u32, Id>,
    numbers: Set,
    unknown: HashSet<Id>,
}

impl WatchedBucket {
    fn add(&mut self, id: &Id, number: Option<RecipientNo>) {
        match number {
            Some(RecipientNo(number)) => {
                self.by_number.insert(number, id.clone());
                self.numbers.insert(number);
            }
            None => {
                self.unknown.insert(id.clone());
            }
        }
    }

    fn remove(&mut self, id: &Id, number: Option<RecipientNo>) {
        match number {
            Some(RecipientNo(number)) => {
                self.by_number.remove(&number);
                self.numbers.remove(number);
            }
            None => {
                self.unknown.remove(id);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.by_number.is_empty() && self.unknown.is_empty()
    }
}

impl StreamHub {
    /// Watches a recipient from the state of an engine on. `None` = the engine has not their bucket.
    fn watch(&mut self, engine: &Engine, id: &Id) -> Option<&mut WatchedRecipient> {
        let no = engine.bucket_of(id);
        let since = InboxesAt::of(engine, no)?;
        if !self.recipients.contains_key(id) {
            let number = engine.number_of(id);
            let bucket = self.buckets.entry(no).or_insert_with(|| WatchedBucket {
                since,
                by_number: HashMap::new(),
                numbers: Set::default(),
                unknown: HashSet::new(),
            });
            bucket.add(id, number);
            self.recipients
                .insert(id.clone(), WatchedRecipient { number, ..WatchedRecipient::default() });
        }
        self.recipients.get_mut(id)
    }

    /// Drops a recipient without watchers.
    fn drop_idle(&mut self, id: &Id, no: BucketNo) {
        let Some(watched) = self.recipients.get(id) else { return };
        if !watched.streams.is_empty() || !watched.waiters.is_empty() {
            return;
        }
        let number = watched.number;
        self.recipients.remove(id);
        if let Some(bucket) = self.buckets.get_mut(&no) {
            bucket.remove(id, number);
            if bucket.is_empty() {
                self.buckets.remove(&no);
            }
        }
    }

    /// Adds a new stream. Returns it with the one that it replaces; `None` = the engine does not have the recipient's
    /// bucket.
    pub(super) fn open(
        &mut self,
        engine: &Engine,
        id: &Id,
        of: StreamView,
        (check, nothing): (Option<StreamCheck>, &Arc<LiveRows>),
    ) -> Option<(Arc<OpenStream>, Option<Arc<OpenStream>>)> {
        self.watch(engine, id)?;
        let at = self.free.pop().unwrap_or(self.streams.len());
        let stream = Arc::new(OpenStream::new(
            at,
            (id.clone(), engine.bucket_of(id)),
            of,
            check,
            Arc::clone(nothing),
        ));
        match self.streams.get_mut(at) {
            Some(place) => *place = Some(Arc::clone(&stream)),
            None => self.streams.push(Some(Arc::clone(&stream))),
        }
        self.open += 1;
        let watched = self.recipients.get_mut(id)?;
        let is_alike = |other: &Arc<OpenStream>| other.of == stream.of;
        let alike = watched.streams.iter().filter(|other| is_alike(other)).count();
        let is_full = watched.streams.len() + watched.waiters.len() >= OF_RECIPIENT_MAX;
        let replaced = match (alike >= OF_VIEW_MAX, is_full) {
            (true, _) => watched.streams.iter().position(is_alike),
            (false, true) => Some(0).filter(|_| !watched.streams.is_empty()),
            (false, false) => None,
        };
        let replaced = replaced.map(|at| watched.streams.remove(at));
        watched.streams.push(Arc::clone(&stream));
        Some((stream, replaced))
    }

    /// Removes a stream.
    pub(super) fn close(&mut self, stream: &Arc<OpenStream>) {
        if self.streams.get_mut(stream.slot).and_then(Option::take).is_some() {
            self.free.push(stream.slot);
            self.open -= 1;
        }
        if let Some(watched) = self.recipients.get_mut(&stream.recipient) {
            watched.streams.retain(|other| !Arc::ptr_eq(other, stream));
        }
        self.drop_idle(&stream.recipient, stream.bucket);
    }

    /// Returns true if a recipient may have another long poll.
    pub(super) fn may_wait(&self, id: &Id) -> bool {
        self.recipients.get(id).is_none_or(|watched| {
            let polls = watched.waiters.len();
            polls < POLLS_MAX && watched.streams.len() + polls < OF_RECIPIENT_MAX
        })
    }

    /// Counts a stream or long poll of a caller. Returns false if the caller has its share of the streams.
    pub(super) fn sit(&mut self, caller: &CallerId, streams_max: usize) -> bool {
        let most = match caller {
            CallerId::Recipient(_) => SEATS_MAX,
            _ => caller.most_of(streams_max),
        };
        let seats = self.callers.entry(caller.clone()).or_default();
        let may = *seats < most;
        *seats += usize::from(may);
        may
    }

    /// Counts the end of a stream or long poll of a caller.
    pub(super) fn rise(&mut self, caller: &CallerId) {
        if let Some(seats) = self.callers.get_mut(caller) {
            *seats -= 1;
            if *seats == 0 {
                self.callers.remove(caller);
            }
        }
    }

    /// Adds a waiter for a change. `None` = the engine does not have the recipient's bucket.
    pub(super) fn wait(&mut self, engine: &Engine, id: &Id) -> Option<(u64, Arc<Notify>)> {
        let (no, changed) = (self.waiters, Arc::new(Notify::new()));
        self.watch(engine, id)?.waiters.push((no, Arc::clone(&changed)));
        self.waiters += 1;
        self.open += 1;
        Some((no, changed))
    }

    /// Removes a waiter.
    pub(super) fn wait_no_more(&mut self, id: &Id, waiter: u64, no: BucketNo) {
        self.open -= 1;
        if let Some(watched) = self.recipients.get_mut(id) {
            watched.waiters.retain(|(other, _)| *other != waiter);
        }
        self.drop_idle(id, no);
    }

    /// Queues an inbox for comparison.
    pub(super) fn look_at(&mut self, id: &Id) {
        self.enqueue(id, DuePass::WithFew);
    }

    fn enqueue(&mut self, id: &Id, due: DuePass) {
        let Some(watched) = self.recipients.get_mut(id) else { return };
        watched.is_anew = true;
        self.enqueue_turn(id, due);
    }

    fn enqueue_turn(&mut self, id: &Id, due: DuePass) {
        let Some(watched) = self.recipients.get_mut(id) else { return };
        if watched.due == due || watched.due == DuePass::WithFew {
            return;
        }
        watched.due = due;
        let queue = if due == DuePass::WithFew { &mut self.few } else { &mut self.many };
        queue.push_back(id.clone());
    }

    /// Finds those whose inbox may have changed since it was asked last.
    pub(super) fn find(&mut self, engine: &Engine) {
        let mut found = Vec::new();
        let mut count = 0;
        for (no, bucket) in &mut self.buckets {
            let Some(now) = InboxesAt::of(engine, *no).filter(|now| *now != bucket.since) else {
                continue;
            };
            let changed = bucket.since.changed(engine, *no, &bucket.numbers);
            // Is noted before the inboxes are read, which happens later: a change in between is found
            // again, and never missed.
            bucket.since = now;
            count += changed.len();
            let known = changed.iter().filter_map(|number| bucket.by_number.get(&number));
            let made = bucket.unknown.iter().filter(|id| engine.number_of(id).is_some());
            found.extend(known.chain(made).cloned());
        }
        // All that one look finds is queued alike: it can't tell which commit concerned whom.
        let due = if count < MANY { DuePass::WithFew } else { DuePass::WithMany };
        for id in found {
            self.enqueue(&id, due);
        }
    }

    /// The time after which a recipient may be told something.
    fn rest_of(&self, id: &Id, now: Instant) -> Duration {
        self.passes.0.wait(&CallerId::Recipient(id.clone()), now)
    }

    /// Counts the time that telling a recipient took.
    pub(super) fn note_pass(&mut self, id: &Id, took: Duration, now: Instant) {
        self.passes.0.take(&CallerId::Recipient(id.clone()), took, now);
    }

    /// The next inboxes to be looked at.
    pub(super) fn next(&mut self, most: usize, now: Instant) -> Vec<Id> {
        for _ in 0..self.resting.len() {
            let Some(id) = self.resting.pop_front() else { break };
            let is_rested = self.rest_of(&id, now).is_zero();
            if is_rested { self.few.push_back(id) } else { self.resting.push_back(id) }
        }
        let mut next = Vec::new();
        while next.len() < most
            && let Some(id) = self.few.pop_front().or_else(|| self.many.pop_front())
        {
            let is_resting = !self.rest_of(&id, now).is_zero();
            let Some(watched) = self.recipients.get_mut(&id) else { continue };
            // One that moved up is in both queues, and was looked at from the first.
            if watched.due == DuePass::No {
                continue;
            }
            if is_resting {
                // Nothing else brings it into a queue meanwhile.
                watched.due = DuePass::WithFew;
                self.resting.push_back(id);
            } else {
                watched.due = DuePass::No;
                next.push(id);
            }
        }
        next
    }

    /// The time after which there are inboxes to be looked at; `None` = there are none.
    pub(super) fn rest(&self, now: Instant) -> Option<Duration> {
        if !self.few.is_empty() || !self.many.is_empty() {
            return Some(Duration::ZERO);
        }
        self.resting.iter().map(|id| self.rest_of(id, now)).min()
    }

    /// The streams of a recipient who has this number now, and whether it was another one's before. They are of one
    /// view, since others wait for their turn; the next view is queued behind them. Waiters for a change are woken.
    pub(super) fn streams_of(
        &mut self,
        id: &Id,
        number: Option<RecipientNo>,
        no: BucketNo,
    ) -> (Vec<Arc<OpenStream>>, bool) {
        let Some(watched) = self.recipients.get_mut(id) else {
            return (Vec::new(), false);
        };
        let is_another = watched.number.is_some() && watched.number != number;
        if watched.number != number
            && let Some(bucket) = self.buckets.get_mut(&no)
        {
            bucket.remove(id, watched.number);
            bucket.add(id, number);
            watched.number = number;
        }
        // A further turn for the next view is no new change, and lists no views.
        if std::mem::take(&mut watched.is_anew) {
            watched.waiters.iter().for_each(|(_, changed)| changed.notify_one());
            for stream in &watched.streams {
                if !watched.views.contains(&stream.of) {
                    watched.views.push_back(stream.of.clone());
                }
            }
        }
        if is_another {
            watched.views.clear();
            return (watched.streams.clone(), true);
        }
        let view = watched.views.pop_front();
        let has_more = !watched.views.is_empty();
        let of_view = watched.streams.iter().filter(|stream| Some(&stream.of) == view.as_ref());
        let streams = of_view.cloned().collect();
        // Goes to the end of the queue: a recipient with many views must not hold up the others.
        if has_more {
            self.enqueue_turn(id, DuePass::WithFew);
        }
        (streams, false)
    }

    /// A second has passed: the streams that say that they are alive, and those with a check.
    pub(super) fn tick(&mut self) -> (Vec<Arc<OpenStream>>, Vec<Arc<OpenStream>>) {
        self.ticks = (self.ticks + 1) % COMMENT_TICKS;
        let alive = self.streams.iter().skip(self.ticks).step_by(COMMENT_TICKS);
        let checked = self.all().filter(|stream| stream.check.is_some());
        (alive.flatten().cloned().collect(), checked.cloned().collect())
    }

    /// All streams, in the order of their places.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<OpenStream>> {
        self.streams.iter().flatten()
    }

    /// Opens nothing any more: the streams, each with its share of the time in which they come again, and those who
    /// wait.
    pub(super) fn stop(&mut self) -> Vec<(Arc<OpenStream>, StreamEnd)> {
        self.is_over = true;
        let waiters = self.recipients.values().flat_map(|watched| &watched.waiters);
        waiters.for_each(|(_, changed)| changed.notify_one());
        let streams: Vec<Arc<OpenStream>> = self.all().cloned().collect();
        let (count, last) = (streams.len().max(2) as u64 - 1, RETRY_MS_MAX);
        let ends = streams.into_iter().zip(0..);
        ends.map(|(stream, at)| (stream, StreamEnd::Restart { retry_ms: at * last / count }))
            .collect()
    }
}
