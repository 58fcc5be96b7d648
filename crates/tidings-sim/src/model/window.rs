//! Lanes, their windows, and the due times of windows.

use std::collections::BTreeSet;

use tidings_core::Instant;
use tidings_core::model::BatchKey;
use tidings_core::rules::{Decide, Policy};

/// A lane, where entries gather for one message.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// Whose: index into the model's people.
    pub(super) person: usize,
    pub(super) channel: String,
    pub(super) name: String,
    pub(super) key: BatchKey,
    /// The tenant of all its entries.
    pub(super) tenant: Option<usize>,
    /// Entries that wait here now.
    pub(super) waiting: BTreeSet<usize>,
    /// The window opened by the first entry since the lane was last due.
    pub(super) window: Option<Window>,
    /// The instant of its last message with an entry told.
    pub(super) last_message: Option<Instant>,
    /// The instant at which it last closed without telling anything.
    pub(super) passed_empty_at: Option<Instant>,
}

/// The entries of a lane since it was last due, as far as the deadline asks for them. It speaks of all
/// that ever entered: what is taken back or moved away stays counted, so no deadline moves by that.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Index of the rules under which it was opened: their parameters hold for it.
    pub(super) rules: usize,
    /// The policy of the entry that opened it.
    pub(super) policy: Policy,
    /// The slot, for a digest.
    pub(super) slot: Option<Instant>,
    first: WindowEntry,
    newest: WindowEntry,
    /// The least t + hold over all members, for `earliest`.
    earliest: Instant,
    /// Number of entries that entered, whatever became of them.
    entered: usize,
    /// Set once the deadline has passed unused, or a flush named one: nothing moves it any more.
    fixed: Option<Instant>,
    /// It holds as many entries as it takes.
    pub(super) full: bool,
    /// It was flushed.
    pub(super) flushed: bool,
    /// It was due once, and what it held was counted.
    pub(super) counted: bool,
}

/// An entry as a window sees it. Order is (t, arrival).
#[derive(Clone, Debug)]
pub(super) struct WindowEntry {
    pub(super) t: Instant,
    pub(super) arrival: usize,
    /// With the parameters of its type.
    pub(super) policy: Policy,
    /// `max_items` of its type in this lane.
    pub(super) max_items: Option<u16>,
}

impl WindowEntry {
    fn order(&self) -> (Instant, usize) {
        (self.t, self.arrival)
    }

    fn held_until(&self) -> Instant {
        match self.policy {
            Policy::FirstEvent { hold_ms, .. } => self.t.plus_ms(hold_ms),
            _ => self.t,
        }
    }
}

impl Window {
    pub(super) fn open(rules: usize, member: WindowEntry, slot: Option<Instant>) -> Self {
        Self {
            rules,
            policy: member.policy.clone(),
            slot,
            earliest: member.held_until(),
            first: member.clone(),
            newest: member,
            entered: 1,
            full: false,
            fixed: None,
            flushed: false,
            counted: false,
        }
    }

    /// Takes in one more entry. One whose policy is of another kind has no parameter that this
    /// window could use: it joins and moves nothing.
    pub(super) fn join(&mut self, member: WindowEntry) {
        self.entered += 1;
        if std::mem::discriminant(&self.policy) != std::mem::discriminant(&member.policy) {
            return;
        }
        self.earliest = self.earliest.min(member.held_until());
        if member.order() < self.first.order() {
            self.first = member.clone();
        }
        if member.order() > self.newest.order() {
            self.newest = member;
        }
    }

    /// Holds the deadline where it is.
    pub(super) fn fix(&mut self, last_message: Option<Instant>) {
        self.fixed = Some(self.due(last_message));
    }

    /// Its slot is passed over: it waits for this one, held or not.
    pub(super) fn pass_over(&mut self, slot: Instant) {
        self.slot = Some(slot);
        self.fixed = None;
    }

    /// A flush: due at this instant, unless it was due before.
    pub(super) fn flush(&mut self, at: Instant, last_message: Option<Instant>) {
        self.fixed = Some(self.due(last_message).min(at));
        self.flushed = true;
    }

    /// Returns true if the slot of a digest has come: it stays then, whatever the zone.
    pub(super) fn slot_has_come(&self, now: Instant) -> bool {
        self.slot.is_some_and(|slot| slot <= now)
    }

    /// Contract, section 6, "max_items": with its n-th entry it is due, n of the first entry's type.
    pub(super) fn fill(&mut self, at: Instant, last_message: Option<Instant>) {
        let most = self.first.max_items.map(usize::from);
        if !self.full && most.is_some_and(|most| self.entered >= most) {
            self.full = true;
            self.fixed = Some(self.due(last_message).min(at));
        }
    }

    /// Contract, section 2, the table of policies.
    pub(super) fn due(&self, last_message: Option<Instant>) -> Instant {
        if let Some(fixed) = self.fixed {
            return fixed;
        }
        match &self.policy {
            Policy::Now | Policy::Never => self.first.t,
            Policy::FirstEvent { decide: Decide::First, .. } => self.first.held_until(),
            Policy::FirstEvent { decide: Decide::Earliest, .. } => self.earliest,
            Policy::Cooldown { .. } => {
                let quiet = match self.newest.policy {
                    Policy::Cooldown { quiet_ms, .. } => self.newest.t.plus_ms(quiet_ms),
                    _ => Instant::MAX,
                };
                let longest = match self.first.policy {
                    Policy::Cooldown { max_wait_ms: Some(wait), .. } => self.first.t.plus_ms(wait),
                    _ => Instant::MAX,
                };
                quiet.min(longest)
            }
            Policy::Leading { .. } => match (last_message, &self.first.policy) {
                (Some(last), Policy::Leading { quiet_ms }) => last.plus_ms(*quiet_ms),
                _ => self.first.t,
            },
            Policy::Digest { .. } => self.slot.unwrap_or(self.first.t),
        }
    }
}
