//! Windows whose deadline has come and that are asked again later: quiet hours or a cap hold them.
//!
//! The wheel knows deadlines by the second. A window that must not close when its second comes goes here, by
//! the very instant at which it may. Nothing of it is stored: who recovers asks all anew.

use roaring::RoaringBitmap;

use super::super::wheel::{slot_of, start_of};
use crate::bucket::lanes::lane::{Columns, Lane, Terms};
use crate::model::channel::ChannelNo;
use crate::model::number::Seq;
use crate::model::time::Instant;
use crate::rules::deadline::Opened;
use crate::sets::shared::{Shared, Tree};

/// Recipients by the instant, in milliseconds, at which their window is asked again.
#[derive(Clone, Debug, Default)]
pub(super) struct Late {
    at: Tree<i64, Shared<RoaringBitmap>>,
    who: RoaringBitmap,
}

impl Late {
    pub(super) fn put(&mut self, at: Instant, who: &RoaringBitmap) {
        self.remove(who);
        **self.at.or_default(at.0) |= who;
        self.who |= who;
    }

    /// All of them.
    pub(super) fn who(&self) -> &RoaringBitmap {
        &self.who
    }

    /// The first instant at which somebody is asked.
    pub(super) fn next(&self) -> Option<i64> {
        self.at.first().map(|(at, _)| *at)
    }

    /// Removes those who are asked at or before an instant.
    pub(super) fn take_until(&mut self, at: Instant) -> RoaringBitmap {
        let mut taken = RoaringBitmap::new();
        while self.next().is_some_and(|next| next <= at.0) {
            let Some((_, who)) = self.at.pop_first() else {
                break;
            };
            taken |= &*who;
        }
        self.who -= &taken;
        taken
    }

    /// Removes some, and returns those who were here.
    pub(super) fn remove(&mut self, who: &RoaringBitmap) -> RoaringBitmap {
        let removed = who & &self.who;
        if !removed.is_empty() {
            self.who -= &removed;
            remove_from(&mut self.at, &removed);
        }
        removed
    }

    /// The instant at which a recipient is asked.
    pub(super) fn instant_of(&self, number: u32) -> Option<i64> {
        let mut all = self.at.iter().filter(|_| self.who.contains(number));
        all.find(|(_, who)| who.contains(number)).map(|(at, _)| *at)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (i64, &RoaringBitmap)> {
        self.at.iter().map(|(at, who)| (*at, &**who))
    }

    pub(super) fn bytes(&self) -> usize {
        let sets = self.at.values().map(|who| 72 + who.serialized_size());
        self.who.serialized_size() + sets.sum::<usize>()
    }
}

/// Removes recipients from every set that has some of them. The others are not copied.
fn remove_from<K: Ord + Copy>(sets: &mut Tree<K, Shared<RoaringBitmap>>, who: &RoaringBitmap) {
    let some = sets.iter().filter(|(_, some)| !some.is_disjoint(who));
    for key in some.map(|(key, _)| *key).collect::<Vec<_>>() {
        let Some(some) = sets.get_mut(&key) else {
            continue;
        };
        **some -= who;
        if some.is_empty() {
            sets.remove(&key);
        }
    }
}

impl Lane {
    /// Tells whether anybody has quiet hours on its channel.
    pub(crate) fn may_be_quiet(&self, terms: Terms<'_>) -> bool {
        terms.may_be_quiet(self.channel)
    }

    /// Asks windows again that were put off, since what held them has changed.
    pub(crate) fn ask_again(&mut self, who: &RoaringBitmap, at: Instant) {
        let asked = self.late.remove(who);
        match &self.columns {
            Columns::Since(_) => {
                for (slot, some) in self.parked.take(&asked) {
                    self.wheel.insert_all(start_of(slot), &some);
                }
            }
            Columns::Windows(_) => self.wheel.insert_all(at.0, &asked),
        }
        self.next = None;
    }

    /// Tells whether windows of some of these were put off.
    pub(crate) fn has_late(&self, who: &RoaringBitmap) -> bool {
        !self.late.who().is_disjoint(who)
    }

    /// Puts windows off that a cap has kept when they were due: their deadlines have passed.
    pub(crate) fn put_off(&mut self, at: Instant, again: Instant, who: &RoaringBitmap) {
        self.counted |= who;
        self.wheel.remove_until(slot_of(at.0), who);
        match &mut self.columns {
            Columns::Since(_) => {
                self.parked.remove_until(slot_of(at.0), who);
                self.parked.insert_all(at.0, who);
            }
            Columns::Windows(windows) => {
                for number in who {
                    windows.at(number).due_by(at);
                }
            }
        }
        self.late.put(again, who);
        self.next = None;
    }

    /// The recipients among these who are not kept by quiet hours and caps: their window was flushed, or holds a
    /// pending entry of an urgent type.
    pub(crate) fn passes(&self, who: &RoaringBitmap, terms: Terms<'_>) -> RoaringBitmap {
        let mut passes = who & &self.flushed;
        for (seq, urgent) in &self.urgent {
            let mut urgent = &**urgent & who;
            if let Some(ended) = terms.ended.of(*seq, self.channel) {
                urgent -= ended;
            }
            passes |= urgent;
        }
        passes
    }

    /// Puts off those of these recipients, whose deadline has come, whose quiet hours hold, and returns the
    /// others. `slot` = the second of their deadline.
    pub(super) fn keep_quiet(
        &mut self,
        slot: i64,
        mut who: RoaringBitmap,
        at: Instant,
        terms: Terms<'_>,
    ) -> RoaringBitmap {
        if who.is_empty() {
            return who;
        }
        let asked = self.heeding(&who, terms);
        for (end, some) in terms.quiet(&asked, self.channel, at) {
            self.late.put(end, &some);
            if let Columns::Since(_) = self.columns {
                self.parked.insert_all(start_of(slot), &some);
            }
            who -= some;
        }
        who
    }

    /// The recipients among these whose quiet hours may hold.
    pub(super) fn heeding(&self, who: &RoaringBitmap, terms: Terms<'_>) -> RoaringBitmap {
        if !terms.may_be_quiet(self.channel) {
            return RoaringBitmap::new();
        }
        who - self.passes(who, terms)
    }

    /// The deadline of a recipient's window after quiet hours, in milliseconds. `heeding` = those of [`Lane::heeding`].
    pub(super) fn deadline_of(
        &self,
        opened: Opened<'_>,
        number: u32,
        heeding: &RoaringBitmap,
        terms: Terms<'_>,
    ) -> i64 {
        let due = terms.due(opened, number);
        if due == i64::MAX || !heeding.contains(number) {
            return due;
        }
        let end = terms.quiet_until(number, self.channel, Instant(due));
        end.map_or(due, |end| end.0)
    }

    /// Tells whether it is a lane of a channel.
    pub(crate) fn is_on(&self, channel: ChannelNo) -> bool {
        self.channel == channel
    }

    /// Tells whether an arrival put an urgent entry into a window.
    pub(crate) fn has_urgent(&self, seq: Seq) -> bool {
        self.urgent.contains_key(&seq)
    }

    /// The seqs of the arrivals that put an urgent entry into a window.
    pub(crate) fn urgent_seqs(&self) -> impl Iterator<Item = Seq> {
        self.urgent.keys().copied()
    }

    /// Drops the urgent entries of windows that close.
    pub(super) fn drop_urgent(&mut self, who: &RoaringBitmap) {
        remove_from(&mut self.urgent, who);
    }

    /// Makes deadlines final that have passed while their windows were held, before what they depend on changes.
    pub(crate) fn settle_passed(&mut self, who: &RoaringBitmap, at: Instant, terms: Terms<'_>) {
        let held = self.would_hold(&(who & &self.open), terms);
        self.fix_passed(&held, at, terms);
    }

    /// Makes the deadlines of these windows final, if they have passed.
    pub(super) fn fix_passed(&mut self, who: &RoaringBitmap, at: Instant, terms: Terms<'_>) {
        let Columns::Windows(windows) = &self.columns else {
            return;
        };
        let heeding = self.heeding(who, terms);
        let passed = |number: &u32| {
            let window = windows.get(*number);
            self.deadline_of(Opened::Window(&window), *number, &heeding, terms) <= at.0
        };
        let passed: Vec<u32> = who.iter().filter(passed).collect();
        if let Columns::Windows(windows) = &mut self.columns {
            for number in passed {
                windows.at(number).due_by(at);
            }
        }
    }

    /// Tells whether an urgent entry before this seq is known.
    pub(crate) fn has_urgent_before(&self, first: Seq) -> bool {
        let known = self.urgent.first();
        known.is_some_and(|(seq, _)| *seq < first)
    }

    /// Drops what is known of entries before this seq, whose days are deleted.
    pub(crate) fn forget_before(&mut self, first: Seq) {
        self.urgent.remove_before(&first);
    }
}
