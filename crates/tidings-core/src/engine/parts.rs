//! The parts of an engine: each holds a range of the buckets, and their answers add up.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::Engine;
use super::ledger::{Place, Row};
use super::part::Part;
use super::reply::Refused;
use crate::bucket::Bucket;
use crate::id::{BucketNo, Id};
use crate::recipient::{Mode, PreferenceScope};
use crate::time::Day;

/// The buckets of a part, of so many parts and buckets.
pub(super) fn range_of(part: u16, parts: u16, buckets: u16) -> Range<u16> {
    let first = |part: u16| {
        let first = u32::from(part) * u32::from(buckets) / u32::from(parts);
        u16::try_from(first).expect("a part begins within the buckets")
    };
    first(part)..first(part + 1)
}

impl Engine {
    /// The index of a bucket's part.
    pub(super) fn part_no(&self, bucket: BucketNo) -> usize {
        let has = |part: &Part| part.buckets.get(bucket).is_some();
        self.parts.iter().position(has).unwrap_or(0)
    }

    pub(super) fn part_of(&mut self, bucket: BucketNo) -> &mut Part {
        let no = self.part_no(bucket);
        &mut self.parts[no]
    }

    pub(super) fn bucket(&self, no: BucketNo) -> &Bucket {
        &self.parts[self.part_no(no)].buckets[no]
    }

    pub(super) fn held_bucket(&self, no: BucketNo) -> Option<&Bucket> {
        self.parts.iter().find_map(|part| part.buckets.get(no))
    }

    /// All buckets, by number.
    pub(super) fn buckets(&self) -> impl Iterator<Item = &Bucket> {
        self.parts.iter().flat_map(|part| part.buckets.iter())
    }

    /// All buckets, each with its part.
    pub(super) fn parts_with_buckets(&self) -> impl Iterator<Item = (&Part, &Bucket)> {
        let parts = self.parts.iter();
        parts.flat_map(|part| part.buckets.iter().map(move |bucket| (part, bucket)))
    }

    /// The numbers of all buckets.
    pub(super) fn numbers(&self) -> Arc<[BucketNo]> {
        self.buckets().map(|bucket| bucket.no).collect()
    }

    /// The days that may hold a record of a bucket.
    pub(super) fn days_of(&self, bucket: BucketNo) -> &BTreeSet<Day> {
        &self.parts[self.part_no(bucket)].journal_days
    }

    /// The days that may hold a record of some bucket.
    pub(super) fn journal_days(&self) -> BTreeSet<Day> {
        let days = self.parts.iter().flat_map(|part| &part.journal_days);
        days.copied().collect()
    }

    pub(super) fn ledger_rows(&self) -> impl Iterator<Item = (&Place, &Row)> {
        let rows = self.parts.iter().flat_map(|part| part.ledger.rows());
        rows.map(|(place, row)| (place, &**row))
    }

    /// Number of entries that events got when they were applied.
    pub(super) fn promised(&self) -> u64 {
        self.parts.iter().map(|part| part.promised).sum()
    }

    /// The bucket and number of a recipient.
    pub(super) fn find(&self, recipient: &Id) -> Result<(BucketNo, u32), Refused> {
        let no = BucketNo::of(recipient.as_str(), self.intake.buckets);
        self.parts[self.part_no(no)].find(recipient)
    }

    /// Tells whether the rules contain the scope and mode of a preference.
    pub(super) fn knows_choice(&self, scope: &PreferenceScope, mode: &Mode) -> bool {
        let rules = self.rules();
        rules.is_some_and(|rules| rules.know_choice(scope, mode))
    }
}
