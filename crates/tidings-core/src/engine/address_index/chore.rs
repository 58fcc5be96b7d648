//! Maintenance of the index between steps: it is built once in a store of an earlier version, bucket by bucket, and each
//! day former addresses that are older than `keep` leave it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::hash::HashKey;
use super::rows::{AddressIndex, built_row, former_at, former_rows, index_row, put, rows_of};
use crate::bucket::Bucket;
use crate::engine::shard::buckets::Buckets;
use crate::journal::stored::{ReadView, Unreadable, decode};
use crate::journal::table::{Partition, Write, after_prefix};
use crate::model::id::BucketNo;
use crate::model::number::{RecipientAt, RecipientNo};
use crate::model::time::{Day, Instant};

/// The most recipients, or rows of former addresses, that a slice looks at.
const LOOKED_AT_MAX: usize = 1_000;

/// Work of the index that is to be done.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexChores {
    /// Buckets of an earlier version, each with the first number that is not indexed yet.
    unbuilt: BTreeMap<BucketNo, RecipientNo>,
    /// True if there may be rows of former addresses.
    has_former: bool,
    /// The day up to which they were gone through.
    expired_on: Option<Day>,
    /// The row at which the next slice begins.
    expires_from: Option<Vec<u8>>,
}

impl IndexChores {
    /// Returns true if recipients of a bucket may not be indexed yet.
    pub(crate) fn is_unbuilt(&self, bucket: BucketNo) -> bool {
        self.unbuilt.contains_key(&bucket)
    }

    /// Notes that there is a former address.
    pub(super) fn expect_former(&mut self) {
        self.has_former = true;
    }

    fn expires(&self, today: Day) -> bool {
        self.has_former && self.expired_on.is_none_or(|on| on < today)
    }
}

impl AddressIndex {
    /// Finds out what there is to do for buckets as they are read.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn recover(
        view: &dyn ReadView,
        key: Option<HashKey>,
        buckets: &Buckets,
    ) -> Result<Self, Unreadable> {
        let mut chores = IndexChores::default();
        for bucket in buckets.iter() {
            let is_empty = bucket.roster.next_number() == RecipientNo(0);
            if !is_empty && view.get(Partition::Base, &built_row(bucket.no))?.is_none() {
                chores.unbuilt.insert(bucket.no, RecipientNo(0));
            }
        }
        let (from, until) = range(buckets);
        view.scan(Partition::Base, &from, until.as_deref(), &mut |_, _| {
            chores.has_former = true;
            ControlFlow::Break(())
        })?;
        Ok(Self { key, chores })
    }

    /// Returns true if recipients of a bucket may not be indexed yet.
    pub(crate) fn is_unbuilt(&self, bucket: BucketNo) -> bool {
        self.key.is_none() || self.chores.is_unbuilt(bucket)
    }

    /// Runs one bounded slice; `None` = nothing is left to do. Former addresses stay for `keep_ms`; `None` = for good.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn chore(
        &mut self,
        view: &dyn ReadView,
        buckets: &Buckets,
        now: Instant,
        keep_ms: Option<i64>,
    ) -> Result<Option<Vec<Write>>, Unreadable> {
        while self.has_chore(now.day()) {
            let writes = match (self.key, self.chores.unbuilt.first_key_value()) {
                (Some(key), Some((no, from))) => self.build_slice(key, &buckets[*no], *from),
                _ => self.expire_slice(view, range(buckets), now, keep_ms)?,
            };
            if !writes.is_empty() {
                return Ok(Some(writes));
            }
        }
        Ok(None)
    }

    /// Returns true if [`AddressIndex::chore`] may have work.
    pub(crate) fn has_chore(&self, today: Day) -> bool {
        let Self { key, chores } = self;
        key.is_some() && (!chores.unbuilt.is_empty() || chores.expires(today))
    }

    /// Indexes some recipients of a bucket as they are now; later changes have written their own rows.
    fn build_slice(&mut self, key: HashKey, bucket: &Bucket, from: RecipientNo) -> Vec<Write> {
        let (no, roster) = (bucket.no, &bucket.roster);
        let most = u32::try_from(LOOKED_AT_MAX).unwrap_or(u32::MAX);
        let until = roster.next_number().0.min(from.0.saturating_add(most));
        let mut writes = Vec::new();
        for number in (from.0..until).map(RecipientNo) {
            let at = RecipientAt { bucket: no, number };
            if let Some(profile) = roster.profile(number) {
                writes.extend(rows_of(key, at, &profile.addresses));
            }
        }
        if until == roster.next_number().0 {
            writes.push(put(built_row(no)));
            self.chores.unbuilt.remove(&no);
        } else {
            self.chores.unbuilt.insert(no, RecipientNo(until));
        }
        writes
    }

    /// Removes some former addresses within a range of rows that are older than `keep_ms`.
    fn expire_slice(
        &mut self,
        view: &dyn ReadView,
        (first, until): (Vec<u8>, Option<Vec<u8>>),
        now: Instant,
        keep_ms: Option<i64>,
    ) -> Result<Vec<Write>, Unreadable> {
        let chores = &mut self.chores;
        let Some(keep_ms) = keep_ms else {
            chores.expired_on = Some(now.day());
            return Ok(Vec::new());
        };
        let ended = now.plus_ms(-keep_ms);
        let is_whole = chores.expires_from.is_none();
        let from = chores.expires_from.take().unwrap_or(first);
        let (mut writes, mut looked_at, mut stay, mut fault) = (Vec::new(), 0, 0, None);
        view.scan(Partition::Base, &from, until.as_deref(), &mut |key, value| {
            if looked_at == LOOKED_AT_MAX {
                chores.expires_from = Some(key.to_vec());
                return ControlFlow::Break(());
            }
            looked_at += 1;
            match decode::<Instant>("a former address", value) {
                Err(unreadable) => {
                    fault = Some(unreadable);
                    return ControlFlow::Break(());
                }
                Ok(since) if since > ended => stay += 1,
                Ok(_) => {
                    let of = former_at(key).map(|(hash, at)| index_row(&hash, at));
                    let gone = of.into_iter().chain([key.to_vec()]);
                    writes.extend(gone.map(|key| Write {
                        partition: Partition::Base,
                        key,
                        value: None,
                    }));
                }
            }
            ControlFlow::Continue(())
        })?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        if chores.expires_from.is_none() {
            chores.expired_on = Some(now.day());
            chores.has_former = !is_whole || stay > 0;
        }
        Ok(writes)
    }
}

/// The rows of former addresses of buckets, which are consecutive.
fn range(buckets: &Buckets) -> (Vec<u8>, Option<Vec<u8>>) {
    let numbers = buckets.numbers();
    let first = numbers.first().copied().unwrap_or_default();
    let last = numbers.last().copied().unwrap_or_default();
    (former_rows(first).done(), after_prefix(&former_rows(last).done()))
}
