//! The newest marks of one thing, and the entries that they cover.
//!
//! A mark of a view covers entries of its tenant and of none, so marks are kept by whose entries they cover: an entry
//! has one tenant, and is looked up among the marks on all and those on its tenant's.

use serde::{Deserialize, Serialize};

use crate::model::command::MarkKind;
use crate::model::id::Id;
use crate::model::item::ItemState;
use crate::model::number::EventNo;
use crate::model::tenant::{TenantNo, View};
use crate::model::time::{Day, Instant};

/// The newest marks of one thing, by whose entries they cover.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TenantMarks {
    /// Marks on entries of every tenant and of none.
    all: NewestMarks,
    /// Marks on entries of one tenant, by number; 0 = entries without a tenant.
    some: Vec<(u32, NewestMarks)>,
}

/// The newest mark of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NewestMarks {
    seen: Option<CoveringMark>,
    read: Option<CoveringMark>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CoveringMark {
    at: Instant,
    before: EventNo,
    /// The latest `t` that it covers.
    reach: Instant,
}

/// The entry that is compared with a mark.
#[derive(Clone, Copy)]
pub(crate) struct ComparedEntry<'a> {
    /// The time when it entered its first lane.
    pub(crate) t: Instant,
    /// Its event's place in the intake.
    pub(crate) place: EventNo,
    /// Its event's tenant; `None` = of none.
    pub(crate) tenant: Option<TenantNo>,
    /// The object's hash.
    pub(crate) object: &'a Id,
    /// Returns true if its type has an inbox under a version of the rules.
    pub(crate) has_inbox: &'a dyn Fn(u32) -> bool,
}

/// The fields of an inbox entry that marks use.
pub(crate) struct MarkedFields<T> {
    pub(crate) place: EventNo,
    /// Its event's tenant; `None` = of none.
    pub(crate) tenant: Option<TenantNo>,
    /// The hash of its object's id.
    pub(crate) object: u64,
    /// Bounds of its `t`.
    pub(crate) bounds: (Instant, Instant),
    /// Its exact `t`, if the bounds are not enough.
    pub(crate) t: T,
}

impl NewestMarks {
    /// One mark.
    pub(super) fn one(kind: MarkKind, at: Instant, before: EventNo, reach: Instant) -> Self {
        let mut newest = Self::default();
        newest.add(kind, CoveringMark { at, before, reach });
        newest
    }

    fn of(&mut self, kind: MarkKind) -> &mut Option<CoveringMark> {
        match kind {
            MarkKind::Seen => &mut self.seen,
            MarkKind::Read => &mut self.read,
        }
    }

    /// Adds a mark. Of two of a kind the one that reaches further counts, of equal ones the later: where the
    /// earlier reaches further, everything that entered after it has a `t` beyond the later one's reach.
    fn add(&mut self, kind: MarkKind, mark: CoveringMark) {
        let old = self.of(kind);
        if old.is_none_or(|old| old.reach <= mark.reach) {
            *old = Some(mark);
        }
    }

    fn add_all(&mut self, other: Self) {
        for (kind, mark) in [(MarkKind::Seen, other.seen), (MarkKind::Read, other.read)] {
            if let Some(mark) = mark {
                self.add(kind, mark);
            }
        }
    }

    /// Returns true if a mark of this kind (or a stronger one) covers what has this `t` and place.
    fn covers(&self, kind: MarkKind, t: Instant, place: EventNo) -> bool {
        work::count();
        let covers =
            |mark: Option<CoveringMark>| mark.is_some_and(|m| place < m.before && t <= m.reach);
        covers(self.read) || kind == MarkKind::Seen && covers(self.seen)
    }

    /// The instant of the earliest mark of this kind (or a stronger one) that covers what has this `t` and place.
    fn covered_at(&self, kind: MarkKind, t: Instant, place: EventNo) -> Option<Instant> {
        let marks = self.read.into_iter().chain(self.seen.filter(|_| kind == MarkKind::Seen));
        marks.filter(|mark| place < mark.before && t <= mark.reach).map(|mark| mark.at).min()
    }

    /// The state of an entry that is at least `state`.
    fn raised<E>(
        &self,
        mut state: ItemState,
        entry: &mut MarkedFields<impl FnMut() -> Result<Instant, E>>,
    ) -> Result<ItemState, E> {
        work::count();
        for (mark, kind) in [(self.read, ItemState::Read), (self.seen, ItemState::Seen)] {
            let Some(mark) = mark.filter(|mark| kind > state && entry.place < mark.before) else {
                continue;
            };
            let (first, last) = entry.bounds;
            if last <= mark.reach || first <= mark.reach && (entry.t)()? <= mark.reach {
                state = kind;
            }
        }
        Ok(state)
    }

    /// Returns true if a mark was made before an instant.
    fn has_before(&self, instant: Instant) -> bool {
        self.seen.iter().chain(&self.read).any(|mark| mark.at < instant)
    }

    /// Drops marks that were made before an instant. Says whether any is left.
    fn forget_before(&mut self, instant: Instant) -> bool {
        self.seen = self.seen.filter(|mark| mark.at >= instant);
        self.read = self.read.filter(|mark| mark.at >= instant);
        self.seen.is_some() || self.read.is_some()
    }
}

impl TenantMarks {
    /// Adds marks on the entries of a view.
    pub(super) fn add(&mut self, view: View<TenantNo>, newest: NewestMarks) {
        match view {
            View::All => self.all.add_all(newest),
            View::Of(tenant) => {
                self.own_mut(0).add_all(newest);
                self.own_mut(TenantNo::raw(Some(tenant))).add_all(newest);
            }
            View::Only(tenant) => self.own_mut(TenantNo::raw(Some(tenant))).add_all(newest),
        }
    }

    pub(super) fn add_all(&mut self, other: Self) {
        self.all.add_all(other.all);
        for (tenant, newest) in other.some {
            self.own_mut(tenant).add_all(newest);
        }
    }

    /// The marks on a tenant's entries alone, or on those of none.
    fn own(&self, tenant: Option<TenantNo>) -> Option<&NewestMarks> {
        if self.some.is_empty() {
            return None;
        }
        let tenant = TenantNo::raw(tenant);
        let at = self.some.binary_search_by_key(&tenant, |(of, _)| *of).ok()?;
        self.some.get(at).map(|(_, newest)| newest)
    }

    fn own_mut(&mut self, tenant: u32) -> &mut NewestMarks {
        let at = match self.some.binary_search_by_key(&tenant, |(of, _)| *of) {
            Ok(at) => at,
            Err(at) => {
                self.some.insert(at, (tenant, NewestMarks::default()));
                at
            }
        };
        &mut self.some[at].1
    }

    /// Returns true if a mark of this kind (or a stronger one) covers the entry.
    pub(super) fn cover(&self, kind: MarkKind, entry: ComparedEntry<'_>) -> bool {
        let ComparedEntry { t, place, tenant, .. } = entry;
        let covers = |newest: &NewestMarks| newest.covers(kind, t, place);
        covers(&self.all) || self.own(tenant).is_some_and(covers)
    }

    /// The instant of the earliest mark of this kind (or a stronger one) that is kept and covers the entry.
    pub(super) fn covered_at(&self, kind: MarkKind, entry: ComparedEntry<'_>) -> Option<Instant> {
        let own = self.own(entry.tenant);
        let all = [&self.all].into_iter().chain(own);
        all.filter_map(|newest| newest.covered_at(kind, entry.t, entry.place)).min()
    }

    /// The state of an entry that is at least `state`.
    ///
    /// # Errors
    /// Those of asking for its `t`.
    pub(super) fn raised<E>(
        &self,
        state: ItemState,
        entry: &mut MarkedFields<impl FnMut() -> Result<Instant, E>>,
    ) -> Result<ItemState, E> {
        let state = self.all.raised(state, entry)?;
        match self.own(entry.tenant) {
            Some(own) => own.raised(state, entry),
            None => Ok(state),
        }
    }

    /// Returns true if a mark was made before an instant.
    pub(super) fn has_before(&self, instant: Instant) -> bool {
        let some = self.some.iter().map(|(_, newest)| newest);
        [&self.all].into_iter().chain(some).any(|newest| newest.has_before(instant))
    }

    /// Drops marks that were made before an instant. Says whether any is left.
    pub(super) fn forget_before(&mut self, instant: Instant) -> bool {
        self.some.retain_mut(|(_, newest)| newest.forget_before(instant));
        self.all.forget_before(instant) || !self.some.is_empty()
    }

    /// The least state of what is covered to the end of a day, of all entries or (`whose`) of a tenant's, or of none.
    pub(super) fn of_day(&self, day: Day, whose: Option<Option<TenantNo>>) -> ItemState {
        let reaches =
            |mark: Option<CoveringMark>| mark.is_some_and(|mark| mark.reach.0 >= day.end().0);
        let own = whose.and_then(|tenant| self.own(tenant));
        let states = [Some(&self.all), own].into_iter().flatten().map(|newest| {
            match (reaches(newest.read), reaches(newest.seen)) {
                (true, _) => ItemState::Read,
                (false, true) => ItemState::Seen,
                (false, false) => ItemState::New,
            }
        });
        states.max().unwrap_or_default()
    }
}

/// Counts examined marks, in tests.
#[cfg(not(test))]
pub(super) mod work {
    pub(in crate::bucket) fn count() {}
}

#[cfg(test)]
pub(super) mod work {
    thread_local! {
        static DONE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }

    pub(in crate::bucket) fn count() {
        DONE.with(|done| done.set(done.get() + 1));
    }

    /// The number of marks examined by this thread since the last call.
    pub(in crate::bucket) fn take() -> u64 {
        DONE.with(|done| done.replace(0))
    }
}
