//! The books: counts of all entries from a walk over the store, never by subtraction.
//!
//! Deleted days count by their ledger rows. For other days the walk must agree with the ledger, which is written in the
//! commits themselves.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bucket::storage::recovery;
use crate::bucket::{Bucket, FrozenRecipients};
use crate::content::message::Totals;
use crate::engine::message::message_row::MessageRow;
use crate::engine::read::reader::Reader;
use crate::engine::rows::ledger::{Account, LedgerRow};
use crate::engine::shard::state::Shard;
use crate::engine::state::Engine;
use crate::index::postings::{BLOCK_RECIPIENTS, PostingBlock};
use crate::journal::record::{Entries, Origin, Record};
use crate::journal::stored::{ReadView, StoredArrival, Unreadable, each};
use crate::journal::table::{Key, Owner, Partition, REST, Table, seq_at, u32_at, u64_at};
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::number::{EventNo, RecipientNo, Seq};
use crate::model::reason::{Ending, Outcome, Reason};
use crate::model::time::Day;
use crate::sets::set::Set;

/// The result of a walk.
#[derive(Debug, Default)]
pub struct BooksWalk {
    /// The counters.
    pub books: Totals,
    /// The points at which the walk and the ledger disagree; empty.
    pub disagreements: Vec<String>,
}

/// The walk through one bucket.
struct BucketWalk<'a> {
    engine: &'a Engine,
    bucket: &'a Bucket,
    shard: &'a Shard,
    view: &'a dyn ReadView,
    rows: BTreeMap<Account, LedgerRow>,
    /// Entries that have not ended yet.
    live: FxHashMap<(Seq, ChannelNo), RoaringBitmap>,
    /// Arrivals whose inbox entries are paused and not delivered.
    undelivered: FxHashSet<Seq>,
    notifications: u64,
    /// Recipients of events of which some entries never entered a lane.
    partly: BTreeMap<EventNo, RoaringBitmap>,
    pending: u64,
    duplicates: u64,
}

impl Reader<'_> {
    /// Counts everything that is stored.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn walk(&self) -> Result<BooksWalk, Unreadable> {
        let Reader { engine, view } = *self;
        let tally = engine.tally();
        let mut walk = BooksWalk::default();
        let mut books = Totals {
            events: tally.events,
            republished: tally.republished,
            messages: tally.messages,
            resent: tally.resent,
            warnings: tally.warnings,
            suppressed: tally.suppressed,
            ..Totals::default()
        };
        for (shard, bucket) in engine.shards.with_buckets() {
            let mut walker = BucketWalk {
                engine,
                bucket,
                shard,
                view,
                rows: BTreeMap::new(),
                live: FxHashMap::default(),
                undelivered: FxHashSet::default(),
                notifications: 0,
                partly: BTreeMap::new(),
                pending: 0,
                duplicates: 0,
            };
            walker.walk()?;
            books.entries += walker.scheduled()?;
            self.compare(&walker, &mut walk.disagreements);
            for row in walker.rows.values() {
                count_row(&mut books, row);
            }
            books.notifications += walker.notifications;
            books.pending += walker.pending;
            books.duplicates += walker.duplicates;
        }
        for (account, row) in engine.shards.ledger_rows() {
            if engine.intake.forgotten_before.is_some_and(|before| account.day < before) {
                count_row(&mut books, row);
                books.notifications += row.notifications;
            }
        }
        if engine.holds_intake && engine.shards.len() == usize::from(engine.of_shards) {
            self.compare_figures(&mut walk.disagreements)?;
        }
        // An entry that was promised and is nowhere.
        books.lost = engine.shards.entries_created().saturating_sub(books.entries);
        walk.books = books;
        Ok(walk)
    }

    fn compare(&self, walker: &BucketWalk<'_>, disagreements: &mut Vec<String>) {
        let engine = self.engine;
        let bucket = walker.bucket.no;
        let held = |account: &Account| {
            account.bucket == bucket
                && engine.intake.forgotten_before.is_none_or(|before| account.day >= before)
        };
        let booked = walker.shard.ledger.rows();
        let mut accounts: Vec<Account> = booked.keys().copied().filter(held).collect();
        accounts.extend(walker.rows.keys().copied());
        accounts.sort_unstable();
        accounts.dedup();
        for account in accounts {
            let empty = LedgerRow::default();
            let booked = booked.get(&account).map_or(&empty, |row| &**row);
            let mut booked = booked.clone();
            booked.notifications = 0;
            let walked = walker.rows.get(&account).unwrap_or(&empty);
            if booked != *walked || !booked.balances() {
                let Account { day, channel, .. } = account;
                disagreements.push(format!(
                    "bucket {bucket}, {day}, channel {}: ledger {booked:?}, walk {walked:?}",
                    channel.0
                ));
            }
        }
    }
}

fn count_row(books: &mut Totals, row: &LedgerRow) {
    let ended = |outcome| row.ended.get(&outcome).copied().unwrap_or(0);
    books.entries += row.entries - row.moved;
    books.delivered += ended(Outcome::Delivered);
    books.cancelled += ended(Outcome::Cancelled);
    books.skipped += ended(Outcome::Skipped);
    books.expired += ended(Outcome::Expired);
    books.failed += ended(Outcome::Failed);
    books.unknown += ended(Outcome::Unknown);
}

impl BucketWalk<'_> {
    fn walk(&mut self) -> Result<(), Unreadable> {
        let mut records = BTreeMap::new();
        for day in &self.shard.journal_days {
            records.extend(recovery::records(self.bucket.no, self.view, *day)?);
        }
        for record in records.values() {
            let never_entered = match record {
                Record::Dropped { at, place, later, items } => {
                    Some((at.day(), place, later, items))
                }
                Record::NeverEntered { arrived, place, later, items, .. } => {
                    Some((*arrived, place, later, items))
                }
                _ => None,
            };
            // Where the day is deleted its ledger row has them.
            let forgotten_before = self.shard.forgotten_before;
            let is_kept = |day: Day| forgotten_before.is_none_or(|before| day >= before);
            if let Some((day, place, later, items)) =
                never_entered.filter(|(day, ..)| is_kept(*day))
            {
                self.dropped(day, items);
                if !later {
                    let recipients = items.iter().map(|(_, _, recipients)| &recipients.0);
                    let partly = self.partly.entry(*place).or_default();
                    recipients.for_each(|recipients| *partly |= recipients);
                }
            }
        }
        for (day, held) in &self.bucket.index.days {
            for at in &held.segments {
                let segment = self.bucket.index.segment_once(self.view, *day, at)?;
                let sets = self.sets_at_rest(*day, at.id(), segment.variants.len())?;
                let mut sets = sets.into_iter();
                for kept in &segment.arrivals {
                    let sets: Vec<_> = sets.by_ref().take(kept.arrival.variants.len()).collect();
                    self.arrived(*day, kept, &sets);
                }
            }
            for kept in held.tail.values() {
                let variants = &kept.arrival.variants;
                let sets: Vec<_> =
                    variants.iter().map(|variant| variant.recipients.0.clone()).collect();
                self.arrived(*day, kept, &sets);
            }
        }
        self.notifications += self.partly.values().map(RoaringBitmap::len).sum::<u64>();
        let mut endings: BTreeMap<Seq, Vec<(Ending, RoaringBitmap)>> = BTreeMap::new();
        for record in records.into_values() {
            match record {
                Record::Cut { why, items, .. } => self.cut(why, &items),
                Record::InboxDelivered { from, to, except, .. } => {
                    self.delivered(from, to, &except);
                }
                Record::Outcome { closing, recipients, ending, .. } => {
                    endings.entry(closing).or_default().push((ending, recipients.0));
                }
                // A message that was sent again has no outcome until the next record: the one before is
                // taken back, as in the ledger.
                Record::Reopened(again) => {
                    for (_, recipients) in endings.entry(again.closing).or_default() {
                        recipients.remove(again.number.0);
                    }
                }
                _ => {}
            }
        }
        self.messages(&endings)?;
        self.pending += self.live.values().map(RoaringBitmap::len).sum::<u64>();
        Ok(())
    }

    fn row(&mut self, day: Day, channel: ChannelNo) -> &mut LedgerRow {
        let account = Account { bucket: self.bucket.no, day, channel };
        self.rows.entry(account).or_default()
    }

    fn dropped(&mut self, day: Day, items: &[(ChannelNo, Reason, Set)]) {
        for (channel, reason, recipients) in items {
            let row = self.row(day, *channel);
            row.enter(recipients.len());
            row.end(reason.outcome(), Some(*reason), recipients.len());
        }
    }

    fn arrived(&mut self, day: Day, kept: &StoredArrival, sets: &[RoaringBitmap]) {
        let place = kept.arrival.place;
        for (variant, recipients) in kept.arrival.variants.iter().zip(sets) {
            if kept.arrival.origin == Origin::First {
                match self.partly.get_mut(&place) {
                    Some(partly) => *partly |= recipients,
                    None => self.notifications += recipients.len(),
                }
            }
            for lane in &variant.lanes {
                let name = self.engine.intake.compiled.names.lane(*lane);
                let channel = name.channel;
                if channel == INBOX_NO && !name.is_inbox() {
                    self.undelivered.insert(kept.seq);
                }
                self.row(day, channel).enter(recipients.len());
                *self.live.entry((kept.seq, channel)).or_default() |= recipients;
            }
        }
    }

    fn sets_at_rest(
        &self,
        day: Day,
        segment: u64,
        count: usize,
    ) -> Result<Vec<RoaringBitmap>, Unreadable> {
        let mut sets = vec![RoaringBitmap::new(); count];
        let prefix = Key::of(Owner::Bucket(self.bucket.no), Table::Postings).done();
        each(self.view, Partition::Day(day), &prefix, |key, value| {
            if u64_at(key, REST + 4) != Some(segment) {
                return Ok(());
            }
            let base = u32_at(key, REST).unwrap_or(0).saturating_mul(BLOCK_RECIPIENTS);
            let add = |slot: u8, ordinal: u32| {
                if let Some(set) = sets.get_mut(ordinal as usize) {
                    set.insert(base + u32::from(slot));
                }
            };
            PostingBlock::parse(value)?.each(|_| true, add)?;
            Ok(())
        })?;
        Ok(sets)
    }

    fn cut(&mut self, why: Option<Reason>, items: &[Entries]) {
        for entries in items {
            let Some(day) = self.bucket.index.day_of(entries.seq) else {
                continue;
            };
            let live = self.live.entry((entries.seq, entries.channel)).or_default();
            let ended = &*live & &entries.recipients.0;
            *live -= &ended;
            self.duplicates += entries.recipients.len() - ended.len();
            let row = self.row(day, entries.channel);
            match why {
                Some(reason) => row.end(reason.outcome(), Some(reason), ended.len()),
                None => row.go_on(ended.len()),
            }
        }
    }

    fn delivered(&mut self, from: Seq, to: Seq, except: &[(Seq, Reason, Set)]) {
        for (seq, reason, recipients) in except {
            let Some(day) = self.bucket.index.day_of(*seq) else {
                continue;
            };
            if let Some(live) = self.live.get_mut(&(*seq, INBOX_NO)) {
                *live -= &recipients.0;
            }
            self.row(day, INBOX_NO).end(reason.outcome(), Some(*reason), recipients.len());
        }
        for seq in (from.0..=to.0)
            .map(Seq)
            .filter(|seq| !self.undelivered.contains(seq))
            .collect::<Vec<_>>()
        {
            let (Some(live), Some(day)) =
                (self.live.remove(&(seq, INBOX_NO)), self.bucket.index.day_of(seq))
            else {
                continue;
            };
            self.row(day, INBOX_NO).end(Outcome::Delivered, None, live.len());
        }
    }

    fn messages(
        &mut self,
        endings: &BTreeMap<Seq, Vec<(Ending, RoaringBitmap)>>,
    ) -> Result<(), Unreadable> {
        let prefix = Key::of(Owner::Bucket(self.bucket.no), Table::Messages).done();
        let first = self.bucket.index.first_seq(self.bucket.next_seq);
        for day in &self.shard.journal_days {
            let mut rows: Vec<(u32, Seq, MessageRow)> = Vec::new();
            each(self.view, Partition::Day(*day), &prefix, |key, value| {
                let at = u32_at(key, REST).zip(seq_at(key, REST + 4));
                let (number, closing) =
                    at.ok_or_else(|| Unreadable("a message's key is odd".to_owned()))?;
                let row = MessageRow::read(self.view, Partition::Day(*day), key, value)?;
                rows.push((number, closing, row));
                Ok(())
            })?;
            for (number, closing, row) in rows {
                let ending = endings.get(&closing).and_then(|sets| {
                    sets.iter()
                        .find(|(_, recipients)| recipients.contains(number))
                        .map(|(ending, _)| *ending)
                });
                self.message(RecipientNo(number), closing, &row, ending, first);
            }
        }
        Ok(())
    }

    fn message(
        &mut self,
        number: RecipientNo,
        closing: Seq,
        row: &MessageRow,
        ending: Option<Ending>,
        first: Seq,
    ) {
        let channel = self.engine.intake.compiled.names.lane(row.lane.lane).channel;
        let (entries, ended) = row.seqs(closing);
        let (outcome, reason) = (ending.map(Ending::outcome), ending.and_then(Ending::reason));
        let entries = entries.into_iter().map(|seq| (seq, outcome, reason));
        let ended =
            ended.into_iter().map(|(seq, reason)| (seq, Some(reason.outcome()), Some(reason)));
        for (seq, outcome, reason) in entries.chain(ended) {
            let Some(day) = self.bucket.index.day_of(seq).filter(|_| seq >= first) else {
                continue;
            };
            let live = self.live.get_mut(&(seq, channel));
            if !live.is_some_and(|recipients| recipients.remove(number.0)) {
                self.duplicates += 1;
                continue;
            }
            match outcome {
                Some(outcome) => self.row(day, channel).end(outcome, reason, 1),
                None => self.pending += 1,
            }
        }
    }

    /// The number of scheduled entries: they count as pending until they enter their lanes.
    fn scheduled(&mut self) -> Result<u64, Unreadable> {
        let prefix = Key::of(Owner::Bucket(self.bucket.no), Table::Scheduled).done();
        let mut sum = 0;
        each(self.view, Partition::Base, &prefix, |key, value| {
            let (entries, notifications) = frozen_counts(self.view, key, value)?;
            sum += entries;
            self.notifications += notifications;
            Ok(())
        })?;
        self.pending += sum;
        Ok(sum)
    }
}

/// Decodes the frozen sets of a scheduled event: (entries, notifications).
fn frozen_counts(view: &dyn ReadView, key: &[u8], value: &[u8]) -> Result<(u64, u64), Unreadable> {
    let subsets = FrozenRecipients::read(view, key, value)?.subsets;
    let entries =
        subsets.iter().map(|subset| subset.recipients.len() * subset.channels.len() as u64).sum();
    let notifications =
        subsets.iter().filter(|subset| !subset.later).map(|subset| subset.recipients.len()).sum();
    Ok((entries, notifications))
}
