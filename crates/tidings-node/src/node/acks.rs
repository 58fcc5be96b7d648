//! Acknowledgements: requests are answered when shards on other nodes have applied their acts, or have not for long.

use std::collections::BTreeSet;

use tidings_core::Instant;
use tidings_core::engine::{OpenReply, Refused, Reply};

use super::Node;
use super::pending_acks::{PendingRequest, PendingStep, SILENT_MS, WAIT_MS};
use super::replication::Replication;
use crate::cluster::log_feed::FollowerReport;
use crate::commit::idempotency;
use crate::commit::work::{CommandRequester, StepWork};
use crate::error::{Error, RuntimeError};

impl Replication<'_> {
    /// Lets a request wait for shards on other nodes. `open` has the replies that are not whole, with their indexes
    /// among those of the request.
    pub(super) fn gather_answers(&mut self, now: Instant, work: StepWork, open: Vec<OpenReply>) {
        let Some(no) = open.first().map(OpenReply::no) else {
            return;
        };
        let mine = self.node.engine.replica().shard_numbers();
        let others =
            (0..self.node.engine.replica().of_shards()).filter(|shard| !mine.contains(shard));
        let pending_acks = &mut self.node.pending_acks;
        let is_there = |shard: &u16| {
            let reported_at = pending_acks.reported_at.get(shard);
            reported_at.is_some_and(|reported_at| now < reported_at.plus_ms(SILENT_MS))
        };
        let others: BTreeSet<u16> = others.collect();
        // If one shard is away the reply is not whole in time anyway, so it waits for none.
        let is_waited_for = work.waits && others.iter().all(is_there);
        let since = if is_waited_for { now } else { now.plus_ms(-WAIT_MS) };
        let waits = (no, work.waits);
        let waiting = pending_acks.waiting().entry(waits).or_insert_with(|| PendingStep {
            since,
            shards: others,
            requests: Vec::new(),
        });
        waiting.requests.push(PendingRequest { work, open, copies: Vec::new() });
    }

    /// Lets a copy of a request that waits wait with it; returns it if there is no such request.
    pub(crate) fn wait_with_first(&mut self, key: &[u8; 16], copy: StepWork) -> Option<StepWork> {
        let waiting = self.node.pending_acks.waiting().values_mut();
        let mut requests = waiting.flat_map(|waiting| &mut waiting.requests);
        let is_of_key = |request: &&mut PendingRequest| {
            request.work.once().is_some_and(|once| once.key == *key)
        };
        match requests.find(is_of_key) {
            Some(first) => first.copies.push(copy),
            None => return Some(copy),
        }
        None
    }

    /// The instant at which a request is answered though shards on other nodes have not applied its acts.
    pub(crate) fn next_late_answer(&mut self) -> Option<Instant> {
        self.node.pending_acks.next()
    }

    /// Takes over the report of a node with other shards.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn take_report(
        &mut self,
        now: Instant,
        report: &FollowerReport,
    ) -> Result<(), Error> {
        let FollowerReport { progress, answers, .. } = report;
        let reported_at = progress.shards.iter().map(|shard| (*shard, now));
        self.node.pending_acks.reported_at.extend(reported_at);
        for (no, answers) in answers {
            let Some(waiting) = self.node.pending_acks.waiting().get_mut(&(*no, true)) else {
                continue;
            };
            // A report that comes twice must not count twice.
            let is_new = progress.shards.iter().all(|shard| waiting.shards.contains(shard));
            if is_new && !progress.shards.is_empty() {
                waiting.shards.retain(|shard| !progress.shards.contains(shard));
                let open = waiting.requests.iter_mut().flat_map(|request| &mut request.open);
                open.for_each(|open| open.add(answers));
            }
        }
        self.keep_objects(now, &report.kept_objects)?;
        self.take_progress(now, progress)
    }

    /// Answers the requests whose acts all shards have applied, and those that have waited for long.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(crate) fn answer_gathered(&mut self, now: Instant, all: bool) -> Result<(), Error> {
        let is_over = |waiting: &PendingStep| {
            all || waiting.shards.is_empty() || now >= waiting.since.plus_ms(WAIT_MS)
        };
        let over = self.node.pending_acks.waiting().extract_if(.., |_, waiting| is_over(waiting));
        let over: Vec<PendingStep> = over.map(|(_, waiting)| waiting).collect();
        if over.is_empty() {
            return Ok(());
        }
        let requests = over.iter().flat_map(|waiting| &waiting.requests);
        let open: Vec<OpenReply> = requests.flat_map(|request| request.open.clone()).collect();
        let concluded = self.conclude(now, &open);
        let mut replies = match concluded {
            Ok(replies) => replies.into_iter(),
            Err(fault) => {
                let requests = over.into_iter().flat_map(|waiting| waiting.requests);
                let why = || RuntimeError::of_commit(&fault);
                requests.for_each(|request| request.fail(why));
                return Err(fault);
            }
        };
        let mut answers = Vec::new();
        let (mut works, mut copies) = (Vec::new(), Vec::new());
        for waiting in over {
            let applied = waiting.shards.is_empty();
            for PendingRequest { mut work, open, copies: more } in waiting.requests {
                for (open, reply) in open.iter().zip(replies.by_ref()) {
                    if let Some(place) = work.replies.get_mut(open.command) {
                        *place = marked(reply, applied);
                    }
                }
                answers.extend(work.keep());
                works.push(work);
                copies.extend(more);
            }
        }
        let view = self.node.view()?;
        let writes = idempotency::writes(&view, now, &answers)?;
        drop(view);
        if !writes.is_empty() {
            self.node.write(writes)?;
        }
        for work in works {
            self.node.ahead.answer(work.when_durable());
        }
        let mut copies = copies.into_iter();
        while let Some(copy) = copies.next() {
            match (Repeats { node: self.node, now }).answer(copy) {
                Ok(None) => {}
                // No answer was kept, so it may be asked again.
                Ok(Some(copy)) => copy.fail(RuntimeError::Busy),
                Err(fault) => {
                    copies.for_each(|copy| copy.fail(RuntimeError::of_commit(&fault)));
                    return Err(fault);
                }
            }
        }
        Ok(())
    }
}

/// Requests that may have been done before, as of an instant.
pub(crate) struct Repeats<'a> {
    pub(crate) node: &'a mut Node,
    pub(crate) now: Instant,
}

impl Repeats<'_> {
    /// Answers a request that was done before with its stored answer; returns it if it was not done.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read; the request is answered with it.
    pub(crate) fn answer(&mut self, work: StepWork) -> Result<Option<StepWork>, Error> {
        let Some(once) = work.once() else {
            return Ok(Some(work));
        };
        let hit = self.node.view().and_then(|view| idempotency::lookup(&view, self.now, once));
        let hit = match hit {
            Ok(hit) => hit,
            Err(fault) => {
                work.fail(RuntimeError::of_commit(&fault));
                return Err(fault);
            }
        };
        match (hit, work.asker) {
            // The row may be of a commit that is not durable yet: its answer waits for that.
            (Some(hit), CommandRequester::Once(_, keeper)) => {
                let send = |done: Result<(), _>| keeper.send(done.map(|()| hit));
                self.node.ahead.answer(Box::new(send));
                Ok(None)
            }
            (_, asker) => Ok(Some(StepWork { asker, ..work })),
        }
    }

    /// Takes commands out of a request that were done before.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read; the request is answered with it.
    pub(crate) fn drop_known(&self, mut work: StepWork) -> Result<StepWork, Error> {
        if work.onces.is_empty() {
            return Ok(work);
        }
        let dropped = self.node.view().and_then(|view| {
            work.drop_known(|once| Ok(idempotency::lookup(&view, self.now, once)?.is_some()))
        });
        match dropped {
            Ok(()) => Ok(work),
            Err(fault) => {
                work.fail(RuntimeError::of_commit(&fault));
                Err(fault)
            }
        }
    }
}

/// A reply with the mark whether all shards have applied what it is about.
fn marked(reply: Result<Reply, Refused>, applied: bool) -> Result<Reply, Refused> {
    match reply {
        Ok(Reply::Published(mut published)) => {
            published.applied &= applied;
            Ok(Reply::Published(published))
        }
        reply => reply,
    }
}
