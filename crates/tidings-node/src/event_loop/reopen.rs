//! Recovery from a failure of the store: the state in memory is dropped, and the store is opened again.

use std::collections::BTreeSet;

use tidings_core::engine::ClosingResults;
use tidings_core::model::{Ending, MessageId};

use super::EventLoop;
use crate::delivery::send_job::{SendJob, jobs};
use crate::delivery::{NotedAnswer, put};
use crate::error::Error;
use crate::node::Node;

impl EventLoop {
    /// Drops the handles of the failed store, which is opened again.
    ///
    /// If a write hangs, its thread keeps them, and nothing can be opened again before the process has ended: so the
    /// loop ends, and reports that to its runner ([`Runtime::ended`]).
    ///
    /// [`Runtime::ended`]: crate::Runtime::ended
    pub(super) fn fail(&mut self, fault: &Error) {
        self.abandon();
        // The store may lack the rules in force, if their commit is the one that failed: they are set again.
        self.rules_due = self.cluster.held.as_ref().is_none_or(|held| held.intake);
        if let Error::Chore { bucket, fault } = fault {
            tracing::error!(
                %bucket, error = %fault,
                "the store refuses what a chore writes; its bucket's chores wait for the next start"
            );
            self.shared.vitals.refused_chore();
            self.recovery.set_aside.insert(*bucket);
            // The store itself works: it is opened again at once, without the chores of this bucket.
            self.recovery.rests = false;
            return self.compactor.wait();
        }
        self.recovery.hangs = matches!(fault, Error::Store(tidings_store::Error::Hung(_)));
        if matches!(fault, Error::Store(tidings_store::Error::Fenced)) {
            tracing::warn!("another node has taken the store over");
            self.compactor.wait();
        } else if self.recovery.hangs {
            tracing::error!(error = %fault, "the node ends");
        } else {
            tracing::error!(error = %fault, "the store failed; it will be opened again");
            self.compactor.wait();
        }
    }

    /// Drops the node. Durable decisions are followed up; answers of channels that are not durable are recorded later,
    /// and messages that are not durable are built again.
    fn abandon(&mut self) {
        // Comes first: what is durable goes on, and only the rest is dropped.
        self.follow_up();
        self.node = None;
        self.resolving.forget();
        drop(self.outbound.delivery.in_flight.take_from_senders(SendJob::is_call));
        self.outbound.delivery.in_flight.drop_following();
        self.outbound.unbuilt.clear();
        // These messages were handed over. Without their outcome in the next commit they would be sent
        // again.
        for settled in self.outbound.recorded.drain(..).flat_map(|(_, settled)| settled) {
            let all = self.outbound.answered.entry(settled.closing).or_insert_with(|| {
                ClosingResults { closing: settled.closing, ..ClosingResults::default() }
            });
            all.sent.extend(settled.sent);
            all.tried.extend(settled.tried);
            all.attempts.extend(settled.attempts);
            all.contents.extend(settled.contents);
            all.providers.extend(settled.providers);
        }
    }

    pub(super) fn reopen(&mut self) {
        self.recovery.rests = true;
        let Some(open) = &mut self.recovery.open else {
            return;
        };
        let opened = open().map_err(Error::from).and_then(|store| {
            let node = Node::open_held(store, self.settings.options, self.cluster.held.as_ref())?;
            Ok(node.written(self.by))
        });
        match opened {
            Ok(mut node) => {
                node.measure(&self.shared.vitals);
                self.shared.vitals.set_store_missing(false);
                self.shared.vitals.reads.forget();
                for bucket in &self.recovery.set_aside {
                    node.set_aside(*bucket);
                }
                self.node = Some(node);
                if let Err(fault) = self.resume() {
                    self.fail(&fault);
                }
            }
            Err(fault) => {
                let is_missing = matches!(fault, Error::Store(tidings_store::Error::Missing(_)));
                self.shared.vitals.set_store_missing(is_missing);
                tracing::warn!(error = %fault, "the store can't be opened");
            }
        }
    }

    /// Takes up built messages without an outcome. After a failure of the store some are still being
    /// sent, wait for a retry, or were answered meanwhile.
    pub(super) fn resume(&mut self) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        let buckets = node.engine().replica().of_buckets();
        self.shared.keys.load(&node.view()?, buckets)?;
        node.keep_keys(&self.shared.keys);
        self.cluster.feed.begin(node.engine().replica().newest());
        node.flush()?;
        node.show_in(&self.shared.reads)?;
        // Precedes the messages that are taken up, which else might go although their channel is paused.
        self.outbound.delivery.in_flight.pause(node.engine().paused(), self.clock.now());
        self.hooks.open(node)?;
        let answered = self.outbound.answered.values().flat_map(|settled| {
            settled
                .sent
                .iter()
                .map(|sent| sent.number)
                .map(|number| settled.closing.message(number))
        });
        let answered: BTreeSet<MessageId> = answered.collect();
        let unsettled = node.unsettled()?;
        node.flush()?;
        // An upper bound of the attempts before: the clock may have been put back since the newest step.
        let now = self.clock.now().max(node.engine().now());
        let is_first = self.recovery.earlier_closings.is_none();
        // Of messages built since the first opening this process knows whether they were sent.
        let earlier_closings = self
            .recovery
            .earlier_closings
            .take()
            .unwrap_or_else(|| unsettled.iter().map(|ready| ready.plan.closing).collect());
        for job in unsettled.into_iter().flat_map(jobs) {
            let id = job.message();
            // What this process still has is not doubled: its outcome is known, or its attempt goes on.
            if answered.contains(&id) || self.outbound.delivery.in_flight.has(&job.id) {
                continue;
            }
            let node = self.node.as_ref();
            let tried = node.and_then(|node| node.engine().open_closings().attempts_of(id));
            let job = if earlier_closings.contains(&id.closing) {
                job.after_a_stop(tried, now)
            } else {
                job.after(tried)
            };
            let job = if is_first { job.of_another_process() } else { job };
            let rules = self.node.as_ref().and_then(|node| node.engine().rules());
            if job.is_given_up(rules.or(Some(&self.rules))) {
                put(
                    &mut self.outbound.answered,
                    id.closing,
                    NotedAnswer::Ended(job.ended(Ending::Unknown)),
                );
                continue;
            }
            match tried.filter(|tried| tried.until > now) {
                Some(tried) => self.outbound.delivery.in_flight.wait_until(tried.until, job),
                // Waits as a retry does, which records the second hand-over before it: a third must never follow.
                None if job.is_in_doubt() => {
                    self.outbound.delivery.in_flight.wait_until(self.clock.now(), job);
                }
                None => self.dispatch(job),
            }
        }
        self.recovery.earlier_closings = Some(earlier_closings);
        Ok(())
    }
}
