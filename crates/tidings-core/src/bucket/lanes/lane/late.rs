//! Windows whose deadline has come and that are asked again later: quiet hours or a cap hold them.
//!
//! The wheel knows deadlines by the second. A window that must not close when its second comes goes here, by
//! the very instant at which it may. Nothing of it is stored: who recovers asks all anew.

use roaring::RoaringBitmap;

use crate::model::time::Instant;
use crate::sets::shared::{Shared, Tree};

/// Recipients by the instant, in milliseconds, at which their window is asked again.
#[derive(Clone, Debug, Default)]
pub(super) struct LateWindows {
    at: Tree<i64, Shared<RoaringBitmap>>,
    recipients: RoaringBitmap,
}

impl LateWindows {
    pub(super) fn put(&mut self, at: Instant, recipients: &RoaringBitmap) {
        self.remove(recipients);
        **self.at.or_default(at.0) |= recipients;
        self.recipients |= recipients;
    }

    /// All of them.
    pub(super) fn recipients(&self) -> &RoaringBitmap {
        &self.recipients
    }

    /// The first instant at which a recipient is checked.
    pub(super) fn next(&self) -> Option<i64> {
        self.at.first().map(|(at, _)| *at)
    }

    /// Removes those who are asked at or before an instant.
    pub(super) fn take_until(&mut self, at: Instant) -> RoaringBitmap {
        let mut taken = RoaringBitmap::new();
        while self.next().is_some_and(|next| next <= at.0) {
            let Some((_, recipients)) = self.at.pop_first() else {
                break;
            };
            taken |= &*recipients;
        }
        self.recipients -= &taken;
        taken
    }

    /// Removes some, and returns those who were here.
    pub(super) fn remove(&mut self, recipients: &RoaringBitmap) -> RoaringBitmap {
        let removed = recipients & &self.recipients;
        if !removed.is_empty() {
            self.recipients -= &removed;
            remove_from(&mut self.at, &removed);
        }
        removed
    }

    /// The instant at which a recipient is asked.
    pub(super) fn instant_of(&self, number: u32) -> Option<i64> {
        let mut all = self.at.iter().filter(|_| self.recipients.contains(number));
        all.find(|(_, recipients)| recipients.contains(number)).map(|(at, _)| *at)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (i64, &RoaringBitmap)> {
        self.at.iter().map(|(at, recipients)| (*at, &**recipients))
    }

    pub(super) fn bytes(&self) -> usize {
        let sets = self.at.values().map(|recipients| 72 + recipients.serialized_size());
        self.recipients.serialized_size() + sets.sum::<usize>()
    }
}

/// Removes recipients from every set that has some of them. The others are not copied.
pub(super) fn remove_from<K: Ord + Copy>(
    sets: &mut Tree<K, Shared<RoaringBitmap>>,
    recipients: &RoaringBitmap,
) {
    let some = sets.iter().filter(|(_, some)| !some.is_disjoint(recipients));
    for key in some.map(|(key, _)| *key).collect::<Vec<_>>() {
        let Some(some) = sets.get_mut(&key) else {
            continue;
        };
        **some -= recipients;
        if some.is_empty() {
            sets.remove(&key);
        }
    }
}
