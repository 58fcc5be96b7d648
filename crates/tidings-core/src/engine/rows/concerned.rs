//! The recipients, entries and built messages that a dry run touches, noted where it writes its records.
//!
//! There is no second implementation of any command that could count something else than is done.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use crate::bucket::FrozenRecipients;
use crate::engine::replies::concerns::CommandConcerns;
use crate::journal::record::Record;
use crate::model::id::BucketNo;
use crate::model::number::{MessageId, RecipientNo};

/// The people, entries and messages that a step has touched, if they are counted.
#[derive(Debug, Default)]
pub(crate) struct TouchedByDryRun {
    /// False = nothing is counted.
    is_counted: bool,
    people: BTreeMap<BucketNo, RoaringBitmap>,
    entries: u64,
    messages: BTreeSet<MessageId>,
    /// Number of flushed lanes.
    lanes: u64,
}

impl TouchedByDryRun {
    /// Counts what is noted from now on.
    pub(crate) fn begin(&mut self) {
        self.is_counted = true;
    }

    /// Returns true if what is noted is counted.
    pub(crate) fn is_counted(&self) -> bool {
        self.is_counted
    }

    /// The same of a shard, without a count yet.
    pub(crate) fn of_shard(&self) -> Self {
        Self { is_counted: self.is_counted, ..Self::default() }
    }

    /// Notes a record of a bucket's journal.
    pub(crate) fn note(&mut self, bucket: BucketNo, record: &Record) {
        if !self.is_counted {
            return;
        }
        match record {
            Record::Arrival(arrival) => {
                for variant in &arrival.variants {
                    self.each_of(bucket, &variant.recipients, variant.lanes.len());
                }
            }
            Record::Cut { why: Some(_), items, .. } | Record::Hidden { items, .. } => {
                items.iter().for_each(|item| self.each_of(bucket, &item.recipients, 1));
            }
            Record::Dropped { items, .. } | Record::NeverEntered { items, .. } => {
                items.iter().for_each(|(_, _, recipients)| self.each_of(bucket, recipients, 1));
            }
            Record::Members { tenants, .. } => {
                tenants.iter().for_each(|(_, recipients)| self.each_of(bucket, recipients, 0));
            }
            Record::Profile { number, .. } | Record::Erased { number, .. } => {
                self.person(bucket, *number);
            }
            Record::Flush { number, lanes, .. } => {
                self.person(bucket, *number);
                self.lanes += lanes.len() as u64;
            }
            // The messages that these records are about are noted with their entries.
            _ => {}
        }
    }

    /// Notes the audience of an event that waits for its `t`.
    pub(crate) fn frozen(&mut self, bucket: BucketNo, frozen: &FrozenRecipients) {
        if !self.is_counted {
            return;
        }
        for subset in &frozen.subsets {
            self.each_of(bucket, &subset.recipients, subset.channels.len());
        }
    }

    /// Notes a built message that is sent, changed or stopped, and the number of its entries that no record ends.
    pub(crate) fn message(&mut self, message: MessageId, entries: usize) {
        if self.is_counted {
            self.person(message.closing.bucket, message.number);
            self.messages.insert(message);
            self.entries += entries as u64;
        }
    }

    /// Notes entries of recipients who are noted apart.
    pub(crate) fn entries(&mut self, count: u64) {
        if self.is_counted {
            self.entries += count;
        }
    }

    /// Adds what a shard has touched.
    pub(crate) fn add(&mut self, other: Self) {
        for (bucket, people) in other.people {
            *self.people.entry(bucket).or_default() |= people;
        }
        self.entries += other.entries;
        self.messages.extend(other.messages);
        self.lanes += other.lanes;
    }

    pub(crate) fn count(&self) -> CommandConcerns {
        CommandConcerns {
            people: self.people.values().map(RoaringBitmap::len).sum(),
            entries: self.entries,
            messages: self.messages.len() as u64 + self.lanes,
        }
    }

    fn person(&mut self, bucket: BucketNo, number: RecipientNo) {
        self.people.entry(bucket).or_default().insert(number.0);
    }

    /// Notes recipients with a number of entries each.
    fn each_of(&mut self, bucket: BucketNo, recipients: &RoaringBitmap, entries: usize) {
        *self.people.entry(bucket).or_default() |= recipients;
        self.entries += entries as u64 * recipients.len();
    }
}
