//! The ledger: entries by outcome per bucket, day and channel, booked in the commit that ends them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use crate::journal::at_rest::{Unreadable, decode, encode};
use crate::journal::record::ChannelNo;
use crate::reason::{Outcome, Reason};
use crate::table::{Key, Owner, Partition, Table};
use crate::time::Day;

/// The entries of a bucket, day and channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Entries that entered on this day, by arrival or by a move.
    pub entries: u64,
    /// Of these, moved on to another day's row (or another row of this day).
    pub moved: u64,
    /// Of these, still waiting: counted where entries enter, go on and end, so that a count that went wrong
    /// shows.
    pub pending: u64,
    /// Pairs of event and recipient that entered on this day; kept under the inbox's row.
    pub notifications: u64,
    /// Ended, by outcome.
    pub ended: BTreeMap<Outcome, u64>,
    /// Ended without being told, by reason.
    pub reasons: BTreeMap<Reason, u64>,
}

impl Row {
    /// Whether every entry went on, ended or waits, once.
    #[must_use]
    pub fn balances(&self) -> bool {
        let ended: u64 = self.ended.values().sum();
        self.entries == self.moved + ended + self.pending
    }

    /// Books entries that enter.
    pub fn enter(&mut self, count: u64) {
        self.entries += count;
        self.pending += count;
    }

    /// Books entries that go on in another row.
    pub fn go_on(&mut self, count: u64) {
        self.moved += count;
        self.pending = self.pending.saturating_sub(count);
    }

    /// Adds another row to this one.
    pub fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.moved += other.moved;
        self.pending += other.pending;
        self.notifications += other.notifications;
        for (outcome, count) in &other.ended {
            *self.ended.entry(*outcome).or_default() += count;
        }
        for (reason, count) in &other.reasons {
            *self.reasons.entry(*reason).or_default() += count;
        }
    }

    /// Books entries as ended.
    pub fn end(&mut self, outcome: Outcome, reason: Option<Reason>, count: u64) {
        if count > 0 {
            self.pending = self.pending.saturating_sub(count);
            *self.ended.entry(outcome).or_default() += count;
            if let Some(reason) = reason {
                *self.reasons.entry(reason).or_default() += count;
            }
        }
    }
}

/// Where a row stands.
pub(crate) type Place = (u16, Day, ChannelNo);

/// All rows, and which of them the step has touched.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    rows: BTreeMap<Place, Row>,
    touched: BTreeSet<Place>,
}

impl Ledger {
    /// A row to be changed.
    pub(crate) fn at(&mut self, place: Place) -> &mut Row {
        self.touched.insert(place);
        self.rows.entry(place).or_default()
    }

    pub(crate) fn rows(&self) -> &BTreeMap<Place, Row> {
        &self.rows
    }

    pub(crate) fn put_back(&mut self, place: Place, bytes: &[u8]) -> Result<(), Unreadable> {
        self.rows.insert(place, decode("a ledger row", bytes)?);
        Ok(())
    }

    /// Turns what a day still holds into expired; how much that was.
    pub(crate) fn forget(&mut self, day: Day) -> u64 {
        let places: Vec<Place> = self.rows.keys().copied().filter(|at| at.1 == day).collect();
        let mut expired = 0;
        for place in places {
            let pending = self.rows.get(&place).map_or(0, |row| row.pending);
            if pending > 0 {
                self.at(place)
                    .end(Outcome::Expired, Some(Reason::Forgotten), pending);
                expired += pending;
            }
        }
        expired
    }

    /// Writes the rows that the step has touched.
    pub(crate) fn write(&mut self, draft: &mut Draft<'_>) {
        for place in std::mem::take(&mut self.touched) {
            if let Some(row) = self.rows.get(&place) {
                draft.put(Partition::Base, key(place), encode(row));
            }
        }
    }
}

fn key((bucket, day, channel): Place) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::Ledger)
        .day(day)
        .bytes(&[channel])
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_went_wrong_shows() {
        let mut row = Row::default();
        row.enter(5);
        row.go_on(1);
        row.end(Outcome::Delivered, None, 3);
        assert_eq!((row.pending, row.balances()), (1, true));
        row.end(Outcome::Delivered, None, 2);
        assert!(!row.balances(), "more ended than entered");
    }
}
