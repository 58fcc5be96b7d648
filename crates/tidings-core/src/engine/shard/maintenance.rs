//! Maintenance of the buckets of a shard between steps: one bucket after the other, slice by slice.

use std::collections::BTreeSet;

use super::buckets::Buckets;
use crate::bucket::Bucket;
use crate::bucket::storage::options::Options;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::Write;
use crate::model::id::BucketNo;
use crate::model::time::Day;
use crate::rules::compiled::CompiledRules;

/// The maintenance of a shard's buckets.
#[derive(Clone, Debug)]
pub(crate) struct Maintenance {
    /// The index, among the numbers, of the bucket whose chores are done now.
    busy: usize,
    /// Buckets whose chores are not done any more.
    disabled: BTreeSet<BucketNo>,
    options: Options,
}

impl Maintenance {
    pub(super) fn new(options: Options) -> Self {
        Self { busy: 0, disabled: BTreeSet::new(), options }
    }

    /// Runs one bounded slice: checkpoint, index build or merge; `None` = nothing is left to do.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(super) fn slice(
        &mut self,
        buckets: &mut Buckets,
        compiled: &CompiledRules,
        view: &dyn ReadView,
        today: Day,
    ) -> Result<Option<Vec<Write>>, Unreadable> {
        let numbers = buckets.numbers();
        for _ in 0..numbers.len() {
            let no = numbers[self.busy];
            let is_disabled = self.disabled.contains(&no);
            let bucket = &mut buckets[no];
            while !is_disabled && bucket.has_chore(today, &self.options) {
                let writes = bucket.chore_slice(view, today, &self.options)?;
                bucket.forget_ended(compiled);
                if !writes.is_empty() {
                    return Ok(Some(writes));
                }
            }
            self.busy = (self.busy + 1) % numbers.len();
        }
        Ok(None)
    }

    /// Returns true if [`Maintenance::slice`] may have work.
    pub(super) fn has_slice(&self, buckets: &Buckets, today: Day) -> bool {
        self.working(buckets).any(|bucket| bucket.has_chore(today, &self.options))
    }

    /// The bucket of the last slice.
    pub(crate) fn bucket(&self, buckets: &Buckets) -> BucketNo {
        buckets.numbers()[self.busy]
    }

    /// Stops the chores of a bucket whose writes the store refused.
    pub(crate) fn disable(&mut self, bucket: BucketNo) {
        self.disabled.insert(bucket);
    }

    /// Returns true if chores are so far behind that they should get more of a step's time.
    pub(crate) fn is_behind(&self, buckets: &Buckets) -> bool {
        let most = self.options.checkpoint_after.saturating_mul(4);
        self.working(buckets).any(|bucket| bucket.dirty.records > most)
    }

    /// The buckets whose chores are still done.
    fn working<'b>(&self, buckets: &'b Buckets) -> impl Iterator<Item = &'b Bucket> {
        buckets.iter().filter(|bucket| !self.disabled.contains(&bucket.no))
    }
}
