//! Parked occurrences: those that the host refuses again and again, and that would be in the way of others.
//!
//! They are rows of the store, by the instant of their next try, so that they take no memory however many there are. They
//! are written and taken away together with the progress of their owner: an occurrence is in one of the two.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use tidings_core::Instant;
use tidings_core::journal::stored::{ReadView, Unreadable, decode, each, encode};
use tidings_core::occurrence::{OccurrenceOwner, OccurrencePlace, OccurrenceRow};
use tidings_core::table::{Key, Partition, Table, Write, after_prefix};
use tidings_core::time::SECOND_MS;

use super::progress::Open;

/// The shortest wait of what is parked: its row is durable by then.
const WAIT_MS: i64 = 10 * SECOND_MS;

/// A parked occurrence.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Row {
    /// [`tidings_core::engine::HookOrder::since`] then: a hook that was gone begins anew.
    since: Instant,
    /// The instant at which it was parked.
    at: Instant,
    row: OccurrenceRow,
    index: u32,
    open: Open,
}

/// What is parked of an owner's occurrences.
#[derive(Debug, Default)]
pub(super) struct Parked {
    pub(super) count: u64,
    /// The instant of the next try, or one before it.
    pub(super) next: Option<Instant>,
    /// The soonest next try of what was parked since the last look, which the store may not have yet.
    added: Option<Instant>,
    /// What was parked until then is to be tried at once: the next look is at all of it.
    hurried: Option<Instant>,
    /// The keys that are taken away, perhaps not durably.
    gone: BTreeSet<Vec<u8>>,
    writes: Vec<Write>,
}

/// What all keys of a hook and an owner begin with. No name has a zero in it.
fn prefix(owner: OccurrenceOwner, name: &str) -> Key {
    Key::of(owner.of_rows(), Table::HookProgress).bytes(name.as_bytes()).bytes(&[0])
}

impl Parked {
    /// Reads what was parked since the hook began; what is older goes.
    pub(super) fn load(
        view: &dyn ReadView,
        (owner, name): (OccurrenceOwner, &str),
        since: Instant,
        now: Instant,
    ) -> Result<Self, Unreadable> {
        let mut parked = Self::default();
        each(view, Partition::Base, &prefix(owner, name).done(), |key, value| {
            let row: Row = decode("a parked occurrence", value)?;
            if row.since == since {
                parked.count += 1;
                parked.next = parked.next.or(Some(row.open.next));
                if row.at > now {
                    parked.put_back();
                }
            } else {
                parked.take_away(key.to_vec());
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
        (place, mut open): (OccurrencePlace, Open),
        now: Instant,
    ) {
        open.next = open.next.max(now.plus_ms(WAIT_MS));
        let OccurrencePlace { owner, row, index } = place;
        let key = prefix(owner, name).i64(open.next.0).i64(row.at.0).u32(row.number).u32(index);
        let key = key.done();
        self.gone.remove(&key);
        self.count += 1;
        let sooner = |at: Option<Instant>| Some(at.map_or(open.next, |at| at.min(open.next)));
        (self.next, self.added) = (sooner(self.next), sooner(self.added));
        let value = Some(encode(&Row { since, at: now, row, index, open }));
        self.writes.push(Write { partition: Partition::Base, key, value });
    }

    /// Takes so many that are due, at most.
    pub(super) fn take_due(
        &mut self,
        view: &dyn ReadView,
        (owner, name): (OccurrenceOwner, &str),
        most: usize,
        now: Instant,
    ) -> Result<Vec<(OccurrencePlace, Open)>, Unreadable> {
        let from = prefix(owner, name).done();
        let (mut due, mut keys, mut still) = (Vec::new(), Vec::new(), BTreeSet::new());
        let (mut next, mut last) = (None, Vec::new());
        let mut found = Ok(());
        let until = after_prefix(&from);
        view.scan(Partition::Base, &from, until.as_deref(), &mut |key, value| {
            last = key.to_vec();
            if self.gone.contains(key) {
                still.insert(key.to_vec());
                return ControlFlow::Continue(());
            }
            let row: Row = match decode("a parked occurrence", value) {
                Ok(row) => row,
                Err(fault) => {
                    found = Err(fault);
                    return ControlFlow::Break(());
                }
            };
            // What was parked by a clock that was ahead has waited for long enough.
            let is_due =
                row.open.next <= now || row.at > now || self.hurried.is_some_and(|at| row.at <= at);
            if due.len() < most && is_due {
                let open = Open { next: row.open.next.min(now), ..row.open };
                due.push((OccurrencePlace { owner, row: row.row, index: row.index }, open));
                keys.push(key.to_vec());
                return ControlFlow::Continue(());
            }
            next = next.or(Some(row.open.next));
            let goes_on = self.hurried.is_some() && due.len() < most;
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        found?;
        // What was taken away and is not there any more is gone for good.
        self.gone.retain(|key| still.contains(key) || *key > last);
        keys.into_iter().for_each(|key| self.take_away(key));
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

    fn take_away(&mut self, key: Vec<u8>) {
        self.gone.insert(key.clone());
        self.writes.push(Write { partition: Partition::Base, key, value: None });
    }

    /// Has all that is parked tried at once.
    pub(super) fn hurry(&mut self, now: Instant) {
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
