//! The ledger: entries by outcome per bucket, day and channel, counted in the commit that ends them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use crate::journal::stored::{ReadView, Unreadable, decode, each, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table, day_at};
use crate::model::channel::{CHANNELS, ChannelNo};
use crate::model::id::BucketNo;
use crate::model::reason::{Outcome, Reason};
use crate::model::time::Day;
use crate::sets::shared::{Shared, Tree};

/// The entries of a bucket, day and channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// Entries that entered on this day, by arrival or by a move.
    pub entries: u64,
    /// Entries among these that were moved to another day's row (or another row of this day).
    pub moved: u64,
    /// Pending entries among these, counted where entries enter, move and end, so that a counting error shows.
    pub pending: u64,
    /// Pairs of event and recipient that entered on this day; kept under the inbox's row.
    pub notifications: u64,
    /// Ended entries, by outcome.
    pub ended: BTreeMap<Outcome, u64>,
    /// Undelivered entries, by reason.
    pub reasons: BTreeMap<Reason, u64>,
}

impl LedgerRow {
    /// Returns true if every entry moved, ended or is pending, exactly once.
    #[must_use]
    pub(crate) fn balances(&self) -> bool {
        let ended: u64 = self.ended.values().sum();
        self.entries == self.moved + ended + self.pending
    }

    /// Counts entries that enter.
    pub fn enter(&mut self, count: u64) {
        self.entries += count;
        self.pending += count;
    }

    /// Counts entries that move to another row.
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

    /// Counts ended entries as pending again.
    pub fn reopen(&mut self, outcome: Outcome, reason: Option<Reason>, count: u64) {
        self.pending += count;
        take(&mut self.ended, outcome, count);
        if let Some(reason) = reason {
            take(&mut self.reasons, reason, count);
        }
    }

    /// Counts entries as ended.
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

/// Takes a count away; what is counted no more has no count.
fn take<K: Ord>(counts: &mut BTreeMap<K, u64>, of: K, count: u64) {
    if let Entry::Occupied(mut known) = counts.entry(of) {
        *known.get_mut() = known.get().saturating_sub(count);
        if *known.get() == 0 {
            known.remove();
        }
    }
}

/// An account of the ledger, which has a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Account {
    pub(crate) bucket: BucketNo,
    pub(crate) day: Day,
    pub(crate) channel: ChannelNo,
}

/// All rows, and the set of rows that the step changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    rows: Tree<Account, Shared<LedgerRow>>,
    touched: BTreeSet<Account>,
}

impl Ledger {
    /// A mutable row.
    pub(crate) fn at(&mut self, bucket: BucketNo, day: Day, channel: ChannelNo) -> &mut LedgerRow {
        let account = Account { bucket, day, channel };
        self.row(account)
    }

    fn row(&mut self, account: Account) -> &mut LedgerRow {
        self.touched.insert(account);
        self.rows.or_default(account)
    }

    pub(crate) fn rows(&self) -> &Tree<Account, Shared<LedgerRow>> {
        &self.rows
    }

    /// Reads the rows of a bucket.
    pub(crate) fn read(&mut self, view: &dyn ReadView, bucket: BucketNo) -> Result<(), Unreadable> {
        let prefix = Key::of(Owner::Bucket(bucket), Table::Ledger).done();
        each(view, Partition::Base, &prefix, |key, value| {
            let account = day_at(key, REST)
                .zip(key.get(REST + 4).copied().map(ChannelNo))
                .filter(|(_, channel)| usize::from(*channel) < CHANNELS.len());
            let odd = || Unreadable("a ledger key is odd".to_owned());
            let (day, channel) = account.ok_or_else(odd)?;
            let row = decode("a ledger row", value)?;
            let account = Account { bucket, day, channel };
            self.rows.insert(account, Shared::new(row));
            Ok(())
        })
    }

    /// Expires the pending entries of a day and returns their number.
    pub(crate) fn forget(&mut self, day: Day) -> u64 {
        let accounts: Vec<Account> =
            self.rows.keys().filter(|account| account.day == day).copied().collect();
        let mut expired = 0;
        for account in accounts {
            let pending = self.rows.get(&account).map_or(0, |row| row.pending);
            if pending > 0 {
                self.row(account).end(Outcome::Expired, Some(Reason::Forgotten), pending);
                expired += pending;
            }
        }
        expired
    }

    /// Writes the rows that the step changed.
    pub(crate) fn write(&mut self, draft: &mut Draft<'_>) {
        for account in std::mem::take(&mut self.touched) {
            if let Some(row) = self.rows.get(&account) {
                draft.put(Partition::Base, account.key(), encode(&**row));
            }
        }
    }
}

impl Account {
    fn key(self) -> Vec<u8> {
        Key::of(Owner::Bucket(self.bucket), Table::Ledger)
            .day(self.day)
            .bytes(&[self.channel.0])
            .done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_went_wrong_shows() {
        let mut row = LedgerRow::default();
        row.enter(5);
        row.go_on(1);
        row.end(Outcome::Delivered, None, 3);
        assert_eq!((row.pending, row.balances()), (1, true));
        row.end(Outcome::Delivered, None, 2);
        assert!(!row.balances(), "more ended than entered");
    }

    #[test]
    fn what_goes_again_is_as_if_it_had_not_ended() {
        let mut row = LedgerRow::default();
        row.enter(2);
        row.end(Outcome::Failed, Some(Reason::Refused), 1);
        row.reopen(Outcome::Failed, Some(Reason::Refused), 1);
        let mut entered = LedgerRow::default();
        entered.enter(2);
        assert_eq!(row, entered);
    }
}
