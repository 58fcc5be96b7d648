//! The audiences of scheduled events, fixed at their arrival.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::journal::chunks;
use crate::journal::record::ChannelReasons;
use crate::journal::stored::{ReadView, Unreadable, decode};
use crate::journal::table::Partition;
use crate::model::channel::ChannelNo;
use crate::model::number::{EventNo, TypeNo};
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::sets::set::Set;
use crate::sets::shared::{Shared, Tree};

/// An instant of a scheduled event, with the event.
type ScheduledAt = (Instant, EventNo);

/// The scheduled events of a bucket, each with the recipients who wait for it. Millions may wait, and most of them for
/// one recipient, who takes four bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScheduledSets {
    of_one: Tree<ScheduledAt, u32>,
    of_many: Tree<ScheduledAt, Shared<RoaringBitmap>>,
}

impl ScheduledSets {
    /// Sets who waits.
    pub(crate) fn insert(&mut self, scheduled: ScheduledAt, recipients: RoaringBitmap) {
        self.remove(&scheduled);
        match (recipients.len(), recipients.min()) {
            (1, Some(number)) => {
                self.of_one.insert(scheduled, number);
            }
            _ => {
                self.of_many.insert(scheduled, Shared::new(recipients));
            }
        }
    }

    /// Removes an event that no recipient waits for.
    pub(crate) fn remove(&mut self, scheduled: &ScheduledAt) {
        self.of_one.remove(scheduled);
        self.of_many.remove(scheduled);
    }

    /// Returns true if a recipient waits for an event.
    pub(crate) fn contains_key(&self, scheduled: &ScheduledAt) -> bool {
        self.of_one.contains_key(scheduled) || self.of_many.contains_key(scheduled)
    }

    /// Returns true if no recipient waits for any event.
    pub(crate) fn is_empty(&self) -> bool {
        self.of_one.is_empty() && self.of_many.is_empty()
    }

    /// The recipients of a set who wait for an event.
    pub(crate) fn intersect(
        &self,
        scheduled: &ScheduledAt,
        recipients: &RoaringBitmap,
    ) -> RoaringBitmap {
        let of_many = self.of_many.get(scheduled).map(|waiting| &**waiting & recipients);
        let of_one = self.of_one.get(scheduled).filter(|number| recipients.contains(**number));
        of_many.unwrap_or_else(|| of_one.into_iter().collect())
    }

    /// The events for which a recipient waits, in their order.
    pub(crate) fn of(&self, number: u32) -> Vec<ScheduledAt> {
        let of_one = self.of_one.iter().filter(|(_, of)| **of == number);
        let of_many = self.of_many.iter().filter(|(_, recipients)| recipients.contains(number));
        let mut all: Vec<ScheduledAt> = of_one.map(|(at, _)| *at).collect();
        all.extend(of_many.map(|(at, _)| *at));
        all.sort_unstable();
        all
    }

    /// Bytes of memory used, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let of_many = self.of_many.values().map(|recipients| 48 + recipients.serialized_size());
        let keys = size_of::<ScheduledAt>() * (self.of_one.len() + self.of_many.len());
        keys + size_of::<u32>() * self.of_one.len() + of_many.sum::<usize>()
    }

    /// All of them, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ScheduledAt, RoaringBitmap)> {
        let of_one =
            self.of_one.iter().map(|(at, number)| (*at, RoaringBitmap::from_iter([*number])));
        let of_many = self.of_many.iter();
        of_one.chain(of_many.map(|(at, recipients)| (*at, RoaringBitmap::clone(recipients))))
    }
}

/// The recipients of a scheduled event in a bucket, fixed at its arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FrozenRecipients {
    /// Words of the reasons, sorted by bytes.
    pub(crate) words: Vec<String>,
    pub(crate) subsets: Vec<FrozenSubset>,
    /// The event; `None` = it was stored before that was kept.
    pub(crate) event: Option<FrozenEvent>,
}

/// A scheduled event as far as what ends of it before it is due is counted by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FrozenEvent {
    /// The instant at which it arrived.
    pub(crate) arrived: Instant,
    pub(crate) type_no: TypeNo,
    /// Its tenant; `None` = of none.
    pub(crate) tenant: Option<TenantNo>,
}

/// The frozen sets as they were stored before they had their event.
#[derive(Deserialize)]
struct FrozenSets {
    words: Vec<String>,
    subsets: Vec<FrozenSubset>,
}

/// Sets of recipients with entries on the same channels for the same reasons.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FrozenSubset {
    /// The channels of their entries.
    pub(crate) channels: Vec<ChannelNo>,
    /// Indexes of their reasons' words.
    pub(crate) reasons: Vec<u16>,
    /// The channels with other reasons.
    pub(crate) elsewhere: Vec<ChannelReasons>,
    /// True if these recipients have other entries of the event before.
    pub(crate) later: bool,
    pub(crate) recipients: Set,
}

impl FrozenRecipients {
    /// All recipients of it.
    pub(crate) fn everyone(&self) -> RoaringBitmap {
        self.subsets
            .iter()
            .fold(RoaringBitmap::new(), |recipients, subset| recipients | &subset.recipients.0)
    }

    /// The frozen sets whose first row is `row`.
    ///
    /// # Errors
    /// [`Unreadable`] where they make no sense.
    pub(crate) fn read(view: &dyn ReadView, key: &[u8], row: &[u8]) -> Result<Self, Unreadable> {
        let bytes = chunks::whole(key, row, |key| view.get(Partition::Base, key))?;
        Self::decode(&bytes)
    }

    /// Decodes them.
    ///
    /// # Errors
    /// [`Unreadable`] where they make no sense.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        decode("a scheduled audience", bytes).or_else(|_| {
            let FrozenSets { words, subsets } = decode("a scheduled audience", bytes)?;
            Ok(Self { words, subsets, event: None })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_counted_in_bytes() {
        let event = |number| (Instant(1), EventNo(number));
        let mut sets = ScheduledSets::default();
        assert_eq!(sets.bytes(), 0);
        sets.insert(event(0), RoaringBitmap::from_iter([7]));
        let of_one = sets.bytes();
        assert!(of_one > size_of::<ScheduledAt>());
        sets.insert(event(1), (0..9).collect());
        assert!(sets.bytes() > 2 * of_one);
        sets.remove(&event(0));
        sets.remove(&event(1));
        assert_eq!(sets.bytes(), 0);
    }
}
