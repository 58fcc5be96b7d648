//! Parked occurrences: those that the host refuses repeatedly and that would delay others.
//!
//! They are rows of the store by their next attempt, and take no memory. The commit that adds or deletes them also updates
//! the progress of their owner, so an occurrence is in exactly one of the two.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use tidings_core::Instant;
use tidings_core::journal::{
    Key, Partition, ReadView, Table, Unreadable, Write, after_prefix, decode, each, encode,
};
use tidings_core::model::{OccurrenceOwner, OccurrencePlace, OccurrenceRow, SECOND_MS};

use super::progress::OpenOccurrence;

/// Minimum wait of a parked occurrence: its row is durable by then.
const WAIT_MS: i64 = 10 * SECOND_MS;

/// A parked occurrence.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ParkedOccurrenceRow {
    /// [`tidings_core::engine::HookState::since`] at that time: a hook that is added again starts over.
    since: Instant,
    /// The instant at which it was parked.
    at: Instant,
    row: OccurrenceRow,
    index: u32,
    open: OpenOccurrence,
}

/// The parked occurrences of an owner.
#[derive(Debug, Default)]
pub(super) struct Parked {
    pub(super) count: u64,
    /// A lower bound of the next attempt.
    pub(super) next: Option<Instant>,
    /// The earliest next attempt of rows added since the last read, which may not be durable yet.
    added: Option<Instant>,
    /// Rows parked until this instant are due immediately: the next read visits all of them.
    hurried: Option<Instant>,
    /// Deleted keys; the deletion may not be durable yet.
    gone: BTreeSet<Vec<u8>>,
    writes: Vec<Write>,
}

/// The key prefix of a hook and an owner. Names contain no zero byte.
fn prefix(owner: OccurrenceOwner, name: &str) -> Key {
    Key::of(owner.of_rows(), Table::HookProgress).bytes(name.as_bytes()).bytes(&[0])
}

impl Parked {
    /// Reads the rows parked since the hook was added; deletes older ones.
    pub(super) fn load(
        view: &dyn ReadView,
        (owner, name): (OccurrenceOwner, &str),
        since: Instant,
        now: Instant,
    ) -> Result<Self, Unreadable> {
        let mut parked = Self::default();
        each(view, Partition::Base, &prefix(owner, name).done(), |key, value| {
            let row: ParkedOccurrenceRow = decode("a parked occurrence", value)?;
            if row.since == since {
                parked.count += 1;
                parked.next = parked.next.or(Some(row.open.next));
                if row.at > now {
                    parked.put_back();
                }
            } else {
                parked.delete(key.to_vec());
            }
            Ok(())
        })?;
        Ok(parked)
    }

    /// Parks an open occurrence.
    pub(super) fn add(
        &mut self,
        name: &str,
        since: Instant,
        (place, mut open): (OccurrencePlace, OpenOccurrence),
        now: Instant,
    ) {
        open.next = open.next.max(now.plus_ms(WAIT_MS));
        let OccurrencePlace { owner, row, index } = place;
        let key = prefix(owner, name).i64(open.next.0).i64(row.at.0).u32(row.number).u32(index);
        let key = key.done();
        // An occurrence that was taken out and is parked again may get the same key, which must not count
        // as deleted.
        self.gone.remove(&key);
        self.count += 1;
        let sooner = |at: Option<Instant>| Some(at.map_or(open.next, |at| at.min(open.next)));
        (self.next, self.added) = (sooner(self.next), sooner(self.added));
        let value = Some(encode(&ParkedOccurrenceRow { since, at: now, row, index, open }));
        self.writes.push(Write { partition: Partition::Base, key, value });
    }

    /// Takes at most `most` due occurrences.
    pub(super) fn take_due(
        &mut self,
        view: &dyn ReadView,
        (owner, name): (OccurrenceOwner, &str),
        most: usize,
        now: Instant,
    ) -> Result<Vec<(OccurrencePlace, OpenOccurrence)>, Unreadable> {
        let from = prefix(owner, name).done();
        let (mut due, mut keys, mut still) = (Vec::new(), Vec::new(), BTreeSet::new());
        let (mut next, mut last) = (None, Vec::new());
        let mut read = Ok(());
        let until = after_prefix(&from);
        view.scan(Partition::Base, &from, until.as_deref(), &mut |key, value| {
            last = key.to_vec();
            // Its deletion is written and not durable yet.
            if self.gone.contains(key) {
                still.insert(key.to_vec());
                return ControlFlow::Continue(());
            }
            let row: ParkedOccurrenceRow = match decode("a parked occurrence", value) {
                Ok(row) => row,
                Err(fault) => {
                    read = Err(fault);
                    return ControlFlow::Break(());
                }
            };
            // A row that was parked by a clock that was ahead is due: its next attempt may be days away.
            let is_due =
                row.open.next <= now || row.at > now || self.hurried.is_some_and(|at| row.at <= at);
            if due.len() < most && is_due {
                let open = OpenOccurrence { next: row.open.next.min(now), ..row.open };
                due.push((OccurrencePlace { owner, row: row.row, index: row.index }, open));
                keys.push(key.to_vec());
                return ControlFlow::Continue(());
            }
            next = next.or(Some(row.open.next));
            let goes_on = self.hurried.is_some() && due.len() < most;
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        read?;
        // Deletions whose rows the scan did not meet are durable: they need no watch any more.
        self.gone.retain(|key| still.contains(key) || *key > last);
        keys.into_iter().for_each(|key| self.delete(key));
        self.count = self.count.saturating_sub(due.len() as u64);
        self.next = next.into_iter().chain(self.added.take()).min();
        if due.len() < most {
            self.hurried = None;
        } else {
            self.next = Some(now);
        }
        if self.count > 0 && self.next.is_none() {
            self.next = Some(now.plus_ms(WAIT_MS));
        }
        Ok(due)
    }

    fn delete(&mut self, key: Vec<u8>) {
        self.gone.insert(key.clone());
        self.writes.push(Write { partition: Partition::Base, key, value: None });
    }

    /// Makes all parked occurrences due.
    pub(super) fn retry_all(&mut self, now: Instant) {
        if self.count > 0 {
            (self.next, self.hurried) = (Some(now), Some(now));
        }
    }

    /// Takes over a clock that was put back: what is parked may wait for an instant that is far ahead now.
    pub(super) fn put_back(&mut self) {
        (self.next, self.hurried) = (Some(Instant::MIN), Some(Instant::MIN));
    }

    pub(super) fn take_writes(&mut self) -> Vec<Write> {
        std::mem::take(&mut self.writes)
    }

    pub(super) fn has_writes(&self) -> bool {
        !self.writes.is_empty()
    }
}
