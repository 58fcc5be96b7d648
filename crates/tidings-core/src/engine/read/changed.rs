//! The inboxes of a bucket that may have changed since a state of it, for readers that watch some of them.
//!
//! It runs after each commit, so it compares a few numbers and reads only later changes. A change for many recipients,
//! such as an event to everybody, costs as much as the watched inboxes, however many others there are.

use roaring::RoaringBitmap;

use crate::bucket::Bucket;
use crate::engine::state::Engine;
use crate::index::DayIndex;
use crate::model::id::{BucketNo, Id};
use crate::model::number::{RecipientNo, Seq};
use crate::model::time::Day;
use crate::sets::set::Set;

/// A state of a bucket's inboxes, to be compared with later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboxesAt {
    next: Seq,
    delivered_to: Seq,
    hidden: Seq,
    rules: u32,
    withdrawals: u64,
    forgotten_before: Option<Day>,
    deleted_tenants: u64,
}

impl Engine {
    /// The bucket of a recipient, whether there is one of this id or not.
    #[must_use]
    pub fn bucket_of(&self, id: &Id) -> BucketNo {
        BucketNo::of(id.as_str(), self.intake.buckets)
    }

    /// The number of a recipient in their bucket; `None` where there is none of this id.
    #[must_use]
    pub fn number_of(&self, id: &Id) -> Option<RecipientNo> {
        let bucket = self.shards.held_bucket(self.bucket_of(id))?;
        bucket.roster.number(id.as_str())
    }
}

impl InboxesAt {
    /// The state of a bucket's inboxes; `None` where the bucket is on another node.
    #[must_use]
    pub fn of(engine: &Engine, bucket: BucketNo) -> Option<Self> {
        let bucket = engine.shards.held_bucket(bucket)?;
        Some(Self {
            next: bucket.next_seq,
            delivered_to: bucket.delivered_to,
            hidden: bucket.hidden.of_all(),
            rules: bucket.rules,
            withdrawals: engine.intake.objects.withdrawals,
            forgotten_before: engine.intake.forgotten_before,
            deleted_tenants: engine.intake.tenants.deletions(),
        })
    }

    /// The recipients of a set whose inbox may have changed since a state of the bucket. All changed ones are included,
    /// and few others.
    #[must_use]
    pub fn changed(&self, engine: &Engine, bucket: BucketNo, recipients: &Set) -> Set {
        let (Some(now), Some(held)) = (Self::of(engine, bucket), engine.shards.held_bucket(bucket))
        else {
            return recipients.clone();
        };
        if now == *self {
            return Set::default();
        }
        let of_all = |state: &Self| {
            let Self { hidden, rules, withdrawals, forgotten_before, deleted_tenants, .. } = *state;
            (hidden, rules, withdrawals, forgotten_before, deleted_tenants)
        };
        let concerns_all = of_all(&now) != of_all(self)
            // An older state than the one that is known: the store was opened again.
            || now.next < self.next;
        if concerns_all {
            return recipients.clone();
        }
        let mut changed = &**recipients - &*held.roster.everyone;
        for number in &**recipients {
            let marks = held.marks.get(&number);
            if marks.is_some_and(|marks| marks.changed.of_all() >= self.next) {
                changed.insert(number);
            }
        }
        if now.delivered_to > self.delivered_to {
            arrived(held, self.delivered_to, recipients, &mut changed);
        }
        Set(changed)
    }
}

/// Adds the recipients with a delivery after a seq.
fn arrived(bucket: &Bucket, after: Seq, recipients: &Set, changed: &mut RoaringBitmap) {
    for held in bucket.index.days.values().rev() {
        let held: &DayIndex = held;
        if held.segments.last().is_some_and(|segment| segment.last > after) {
            // What is at rest has no sets any more: everybody is looked at.
            *changed |= &**recipients;
            return;
        }
        for (seq, kept) in held.tail.from(&after.next()) {
            if *seq > bucket.delivered_to {
                break;
            }
            for variant in &kept.arrival.variants {
                *changed |= &*variant.recipients & &**recipients;
            }
        }
        if held.first <= after {
            return;
        }
    }
}
