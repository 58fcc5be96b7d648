//! The days of a version before lists, with the buckets whose messages are not indexed.

use std::collections::{BTreeMap, BTreeSet};

use crate::journal::stored::{ReadView, Unreadable, decode, each};
use crate::journal::table::{Key, Owner, Partition, Table};
use crate::model::id::BucketNo;
use crate::model::time::Day;
use crate::sets::set::Set;

/// The days of an earlier version with the buckets whose messages are not indexed.
#[derive(Clone, Debug, Default)]
pub(crate) struct OldMessages(BTreeMap<Day, BTreeSet<BucketNo>>);

/// The beginning of the rows of the buckets that are done.
pub(super) fn done_rows() -> Key {
    Key::of(Owner::Shard, Table::OldIndexed)
}

impl OldMessages {
    /// Finds what is to be indexed of days of an earlier version.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn recover(
        view: &dyn ReadView,
        days: impl Iterator<Item = Day>,
        buckets: &[BucketNo],
    ) -> Result<Self, Unreadable> {
        let mut all = BTreeMap::new();
        for day in days {
            let mut open: BTreeSet<BucketNo> = buckets.iter().copied().collect();
            each(view, Partition::Day(day), &done_rows().done(), |_, value| {
                let done: Set = decode("the buckets that are indexed", value)?;
                open.retain(|bucket| !done.contains(u32::from(bucket.0)));
                Ok(())
            })?;
            if !open.is_empty() {
                all.insert(day, open);
            }
        }
        Ok(Self(all))
    }

    /// Number of days with messages that are not indexed.
    pub(crate) fn days(&self) -> usize {
        self.0.len()
    }

    /// The newest day that is not indexed, with a bucket.
    pub(super) fn next(&self) -> Option<(Day, BucketNo)> {
        let (day, buckets) = self.0.last_key_value()?;
        Some((*day, *buckets.first()?))
    }

    /// Notes that a bucket of a day is done.
    pub(super) fn remove(&mut self, day: Day, bucket: BucketNo) {
        if let Some(buckets) = self.0.get_mut(&day) {
            buckets.remove(&bucket);
            if buckets.is_empty() {
                self.0.remove(&day);
            }
        }
    }

    /// Forgets the days before one.
    pub(super) fn forget_before(&mut self, before: Option<Day>) {
        if let Some(before) = before {
            self.0 = self.0.split_off(&before);
        }
    }
}
