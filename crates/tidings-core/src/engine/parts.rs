//! The parts of an engine: each holds a range of the buckets, and their answers add up.

use std::collections::BTreeSet;

use super::part::state::{Part, range_of};
use super::rows::ledger::{Account, Row};
use super::rows::reply::Refused;
use super::state::Engine;
use crate::bucket::Bucket;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::Write;
use crate::model::id::{BucketNo, Id};
use crate::model::number::RecipientNo;
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::time::Day;

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

    /// The days that may hold a record of a bucket.
    pub(super) fn days_of(&self, bucket: BucketNo) -> &BTreeSet<Day> {
        &self.parts[self.part_no(bucket)].journal_days
    }

    /// The days that may hold a record of some bucket.
    pub(super) fn journal_days(&self) -> BTreeSet<Day> {
        let days = self.parts.iter().flat_map(|part| &part.journal_days);
        days.copied().collect()
    }

    pub(super) fn ledger_rows(&self) -> impl Iterator<Item = (&Account, &Row)> {
        let rows = self.parts.iter().flat_map(|part| part.ledger.rows());
        rows.map(|(account, row)| (account, &**row))
    }

    /// Number of entries that events got when they were applied.
    pub(super) fn promised(&self) -> u64 {
        self.parts.iter().map(|part| part.promised).sum()
    }

    /// The bucket and number of a recipient.
    pub(super) fn find(&self, recipient: &Id) -> Result<(BucketNo, RecipientNo), Refused> {
        let no = BucketNo::of(recipient.as_str(), self.intake.buckets);
        self.parts[self.part_no(no)].find(recipient)
    }

    /// Tells whether the rules contain the scope and mode of a preference.
    pub(super) fn knows_choice(&self, scope: &PreferenceScope, mode: &Mode) -> bool {
        let rules = self.rules();
        rules.is_some_and(|rules| rules.know_choice(scope, mode))
    }

    /// Runs one bounded slice of maintenance: checkpoint, index build or merge. Returns its writes, to be
    /// committed before anything else; `None` = nothing is left to do.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn chore(&mut self, view: &dyn ReadView) -> Result<Option<Vec<Write>>, Unreadable> {
        for _ in 0..self.parts.len() {
            if let Some(writes) = self.parts[self.busy].chore(view)? {
                return Ok(Some(writes));
            }
            self.busy = (self.busy + 1) % self.parts.len();
        }
        Ok(None)
    }

    /// Tells whether [`Engine::chore`] may have work.
    #[must_use]
    pub fn has_chores(&self) -> bool {
        self.parts.iter().any(Part::has_chores)
    }

    /// The bucket of the last writes from [`Engine::chore`].
    #[must_use]
    pub fn chores_of(&self) -> BucketNo {
        self.parts[self.busy].chores_of()
    }

    /// Stops the chores of a bucket whose writes the store refused.
    pub fn set_aside(&mut self, bucket: BucketNo) {
        self.part_of(bucket).set_aside(bucket);
    }

    /// Tells whether chores are so far behind that they should get more of a step's time.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.parts.iter().any(Part::is_behind)
    }

    /// The days that came to rest since the last call: they are over, and only outcomes of their messages
    /// will still be written to them.
    pub fn take_rested(&mut self) -> Vec<Day> {
        let today = self.intake.now.day();
        let over = self
            .parts
            .iter()
            .flat_map(|part| part.restless.range(..today));
        let over: BTreeSet<Day> = over.copied().collect();
        let is_at_rest = |day: &Day| self.buckets().all(|bucket| bucket.is_at_rest(*day));
        let rested: Vec<Day> = over.into_iter().filter(is_at_rest).collect();
        for part in &mut self.parts {
            part.restless.retain(|day| !rested.contains(day));
        }
        rested
    }
}

/// The number of the part that has a recipient, in a store of so many buckets and parts.
#[must_use]
pub fn part_of(recipient: &Id, buckets: u16, parts: u16) -> u16 {
    part_with(BucketNo::of(recipient.as_str(), buckets), buckets, parts)
}

/// The number of the part that has a bucket, in a store of so many buckets and parts.
#[must_use]
pub fn part_with(bucket: BucketNo, buckets: u16, parts: u16) -> u16 {
    let has = |part: &u16| range_of(*part, parts, buckets).contains(&bucket.0);
    (0..parts).find(has).unwrap_or(0)
}
