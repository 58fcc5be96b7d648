//! The deadline of a lane: one function, [`due`], for all kinds of lanes and all callers.
//!
//! A lane is due at (first, newest = the first and the newest entry, by (t, arrival), that entered
//! it since it was last due) as the table in the contract, section 2, says. A window holds what that
//! table needs, already added up: `soft` moves with the entries, `hard` is fixed by the first.
//!
//! Quiet hours are the last step, and move a deadline to later only. So the wheel has the deadline before them,
//! and they are asked of all together whose second has come: who must wait is asked again at their end.

use serde::{Deserialize, Serialize};

use crate::model::number::{EventNo, Seq};
use crate::model::time::Instant;
use crate::rules::Decide;
use crate::rules::calendar::PersonCalendar;
use crate::rules::compiled::RulesVersion;
use crate::rules::lane_kind::{LaneKind, PolicyParameters};

/// The fields of an entry that a deadline uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnteredEntry {
    /// The time when it entered its first lane.
    pub t: Instant,
    /// The place of its event in the intake, which orders arrivals.
    pub place: EventNo,
    /// The parameters of its type.
    pub parameters: PolicyParameters,
}

/// The open window of one recipient in a lane that is not on a calendar. The fields that a joining entry
/// reads come first and are adjacent: windows that share an event are far apart in memory, and each cache
/// line of one is a miss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Window {
    /// The newest entry's (t, arrival).
    pub newest: (Instant, EventNo),
    /// The movable deadline: `newest.t + quiet` of a cool-down, the least `t + hold` if the earliest
    /// decides; else none.
    pub soft: i64,
    /// The deadline that the first entry fixes, if any.
    pub hard: i64,
    /// The version of the rules under which it was opened: its parameters.
    pub rules: u32,
    /// Number of entries that entered it, until its deadline is final.
    pub entered: u16,
    /// The number of entries that makes it due, by the first one's type: 0 = none, [`u16::MAX`] = its deadline is final.
    pub full_at: u16,
    /// The first entry's (t, arrival).
    pub first: (Instant, EventNo),
    /// `quiet` of the first entry's type, for `leading`.
    pub quiet_ms: i64,
    /// The seq of the first record that put an entry into it.
    pub since: Seq,
}

/// An open window, as far as its deadline depends on it.
#[derive(Clone, Copy, Debug)]
pub enum OpenWindow<'a> {
    /// A window with its fields.
    Window(&'a Window),
    /// A window of a lane without fields (`now`, a digest, paused entries) that is checked for the first time, or
    /// again, at this instant.
    At(&'a LaneKind, Instant),
    /// The deadline that was found so, in milliseconds.
    Found(i64),
}

/// [`Window::full_at`] of a window whose deadline is final: it has passed, or a flush or its last entry has set it.
const FINAL: u16 = u16::MAX;

/// The value for "no such deadline".
const NONE: i64 = i64::MAX;

/// The time when a window is due, in milliseconds; [`i64::MAX`] = never. `rules` = those under which it was opened.
///
/// # Examples
/// ```
/// use tidings_core::Instant;
/// use tidings_core::rules::{DeadlineGroup, LaneKind, OpenWindow, due};
///
/// let at = |kind: &LaneKind| due(OpenWindow::At(kind, Instant(7)), None, &DeadlineGroup::default());
/// assert_eq!(at(&LaneKind::Now), 7);
/// assert_eq!(at(&LaneKind::Paused), i64::MAX);
/// // A digest that the rules no longer have keeps nobody waiting.
/// assert_eq!(at(&LaneKind::Digest("gone".to_owned())), 7);
/// ```
#[must_use]
pub fn due(
    window: OpenWindow<'_>,
    rules: Option<&RulesVersion>,
    person: &impl PersonCalendar,
) -> i64 {
    match window {
        OpenWindow::Window(window) => window.due(),
        OpenWindow::At(LaneKind::Digest(name), at) => {
            let slot = rules.and_then(|rules| rules.slot(name, person, at));
            slot.unwrap_or(at).0
        }
        OpenWindow::At(LaneKind::Now, at) => at.0,
        OpenWindow::At(_, _) => NONE,
        OpenWindow::Found(due) => due,
    }
}

impl Window {
    /// Opens a window with its first entry. `last` is the lane's last message, for `leading`.
    #[must_use]
    pub fn open(
        kind: &LaneKind,
        entry: EnteredEntry,
        since: Seq,
        rules: u32,
        last: Option<Instant>,
    ) -> Self {
        let key = (entry.t, entry.place);
        let mut window = Self {
            newest: key,
            soft: NONE,
            hard: NONE,
            rules,
            entered: 1,
            full_at: entry.parameters.max_items,
            first: key,
            quiet_ms: entry.parameters.wait_ms,
            since,
        };
        window.count_newest(kind, entry);
        window.count_first(kind, entry, last);
        window
    }

    /// Adds an entry by (t, arrival): it may be before the first or after the newest.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Instant;
    /// use tidings_core::model::{EventNo, Seq};
    /// use tidings_core::rules::{EnteredEntry, LaneKind, PolicyParameters, Window};
    ///
    /// // A cool-down of 10 after the newest entry, and of 25 after the first at most.
    /// let parameters = PolicyParameters { wait_ms: 10, max_wait_ms: Some(25), max_items: 0 };
    /// let entry = |t: i64, place| EnteredEntry { t: Instant(t), place: EventNo(place), parameters };
    /// let mut window = Window::open(&LaneKind::Cooldown, entry(0, 1), Seq(1), 1, None);
    /// assert_eq!(window.due(), 10);
    /// window.join(&LaneKind::Cooldown, entry(8, 2), None);
    /// assert_eq!(window.due(), 18);
    /// window.join(&LaneKind::Cooldown, entry(17, 3), None);
    /// assert_eq!(window.due(), 25);
    /// ```
    pub fn join(&mut self, kind: &LaneKind, entry: EnteredEntry, last: Option<Instant>) {
        if self.is_final() {
            return;
        }
        self.count();
        let key = (entry.t, entry.place);
        let is_newest = key >= self.newest;
        if is_newest || matches!(kind, LaneKind::FirstEvent(Decide::Earliest)) {
            self.newest = self.newest.max(key);
            self.count_newest(kind, entry);
        }
        // What is newest comes after the first, which need not be fetched from memory then.
        if !is_newest && key < self.first {
            self.first = key;
            self.quiet_ms = entry.parameters.wait_ms;
            self.full_at = entry.parameters.max_items;
            self.count_first(kind, entry, last);
        }
    }

    /// Its own deadline, in milliseconds, before which [`due`] never is; [`i64::MAX`] = never.
    #[must_use]
    pub fn due(&self) -> i64 {
        self.soft.min(self.hard)
    }

    /// Makes it due at this instant at the latest.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Instant;
    /// use tidings_core::model::{EventNo, Seq};
    /// use tidings_core::rules::{EnteredEntry, LaneKind, PolicyParameters, Window};
    ///
    /// let parameters = PolicyParameters { wait_ms: 10, ..PolicyParameters::default() };
    /// let entry = |t: i64, place| EnteredEntry { t: Instant(t), place: EventNo(place), parameters };
    /// let mut window = Window::open(&LaneKind::Cooldown, entry(0, 1), Seq(1), 1, None);
    /// window.due_by(Instant(3));
    /// // A flush is final, even if an older entry moves into the window.
    /// window.join(&LaneKind::Cooldown, entry(-5, 2), None);
    /// assert_eq!(window.due(), 3);
    /// ```
    pub fn due_by(&mut self, now: Instant) {
        self.hard = self.due().min(now.0);
        self.soft = NONE;
        self.full_at = FINAL;
    }

    /// Counts an entry that joins and moves nothing.
    pub fn count(&mut self) {
        self.entered = self.entered.saturating_add(1);
    }

    /// Makes it due at this instant if it has as many entries as its first one's type takes; returns whether it
    /// does.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Instant;
    /// use tidings_core::model::{EventNo, Seq};
    /// use tidings_core::rules::{EnteredEntry, LaneKind, PolicyParameters, Window};
    ///
    /// let parameters = PolicyParameters { wait_ms: 10, max_items: 2, ..PolicyParameters::default() };
    /// let entry = |t: i64, place| EnteredEntry { t: Instant(t), place: EventNo(place), parameters };
    /// let mut window = Window::open(&LaneKind::Cooldown, entry(0, 1), Seq(1), 1, None);
    /// assert!(!window.fill(Instant(0)));
    /// window.join(&LaneKind::Cooldown, entry(3, 2), None);
    /// assert!(window.fill(Instant(3)));
    /// assert_eq!(window.due(), 3);
    /// ```
    pub fn fill(&mut self, now: Instant) -> bool {
        let is_full = !matches!(self.full_at, 0 | FINAL) && self.entered >= self.full_at;
        if is_full {
            self.due_by(now);
        }
        is_full
    }

    /// Returns true if its deadline is final.
    pub(crate) fn is_full(&self) -> bool {
        self.is_final()
    }

    /// Moves entries after this instant to it, since the clock was put back to it: they wait from now, as long as they
    /// always would. `last` = the lane's last message, put back too. Returns true if anything has changed.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Instant;
    /// use tidings_core::model::{EventNo, Seq};
    /// use tidings_core::rules::{EnteredEntry, LaneKind, PolicyParameters, Window};
    ///
    /// let parameters = PolicyParameters { wait_ms: 10, ..PolicyParameters::default() };
    /// let entry = |t: i64, place| EnteredEntry { t: Instant(t), place: EventNo(place), parameters };
    /// let mut window = Window::open(&LaneKind::Cooldown, entry(900, 1), Seq(1), 1, None);
    /// assert!(window.put_back(&LaneKind::Cooldown, Instant(100), None));
    /// assert_eq!(window.due(), 110);
    /// // What comes then is newer.
    /// window.join(&LaneKind::Cooldown, entry(104, 2), None);
    /// assert_eq!(window.due(), 114);
    /// ```
    pub fn put_back(&mut self, kind: &LaneKind, to: Instant, last: Option<Instant>) -> bool {
        let before = *self;
        let later_ms = |at: Instant| at.0.saturating_sub(to.0).max(0);
        let (first_ms, newest_ms) = (later_ms(self.first.0), later_ms(self.newest.0));
        self.first.0 = self.first.0.min(to);
        self.newest.0 = self.newest.0.min(to);
        if self.is_final() {
            self.hard = self.hard.min(to.0);
            return *self != before;
        }
        let soft_ms = match kind {
            LaneKind::Cooldown => newest_ms,
            // Whose hold decides is not known: none is shorter for it.
            _ => first_ms,
        };
        for (deadline, ms) in [(&mut self.soft, soft_ms), (&mut self.hard, first_ms)] {
            if *deadline != NONE {
                *deadline = deadline.saturating_sub(ms);
            }
        }
        if *kind == LaneKind::Leading {
            self.lead(last);
        }
        *self != before
    }

    fn is_final(&self) -> bool {
        self.full_at == FINAL
    }

    /// Recomputes the deadline of a `leading` lane whose last message has changed.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Instant;
    /// use tidings_core::model::{EventNo, Seq};
    /// use tidings_core::rules::{EnteredEntry, LaneKind, PolicyParameters, Window};
    ///
    /// let parameters = PolicyParameters { wait_ms: 60, ..PolicyParameters::default() };
    /// let entry = EnteredEntry { t: Instant(100), place: EventNo(1), parameters };
    /// let mut window = Window::open(&LaneKind::Leading, entry, Seq(1), 1, None);
    /// // The lane has sent nothing: the first entry is due at once.
    /// assert_eq!(window.due(), 100);
    /// window.lead(Some(Instant(90)));
    /// assert_eq!(window.due(), 150);
    /// ```
    pub fn lead(&mut self, last: Option<Instant>) {
        if self.is_final() {
            return;
        }
        self.hard = leading(self.first.0, self.quiet_ms, last);
    }

    fn count_newest(&mut self, kind: &LaneKind, entry: EnteredEntry) {
        let after = entry.t.0.saturating_add(entry.parameters.wait_ms);
        match kind {
            LaneKind::Cooldown => self.soft = after,
            LaneKind::FirstEvent(Decide::Earliest) => self.soft = self.soft.min(after),
            LaneKind::Now
            | LaneKind::FirstEvent(Decide::First)
            | LaneKind::Leading
            | LaneKind::Digest(_)
            | LaneKind::Paused => {}
        }
    }

    fn count_first(&mut self, kind: &LaneKind, entry: EnteredEntry, last: Option<Instant>) {
        let PolicyParameters { wait_ms, max_wait_ms, .. } = entry.parameters;
        self.hard = match kind {
            LaneKind::FirstEvent(Decide::First) => entry.t.0.saturating_add(wait_ms),
            LaneKind::Cooldown => max_wait_ms.map_or(NONE, |most| entry.t.0.saturating_add(most)),
            LaneKind::Leading => leading(entry.t, wait_ms, last),
            LaneKind::Now => entry.t.0,
            LaneKind::FirstEvent(Decide::Earliest) | LaneKind::Digest(_) | LaneKind::Paused => NONE,
        };
    }
}

/// The deadline of a `leading` lane: at once if it has sent nothing in the last `quiet`; else its last
/// message + `quiet`.
fn leading(first: Instant, quiet_ms: i64, last: Option<Instant>) -> i64 {
    last.map_or(first.0, |last| first.0.max(last.0.saturating_add(quiet_ms)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::calendar::DeadlineGroup;

    fn entry(t: i64, wait_ms: i64, max_wait_ms: Option<i64>) -> EnteredEntry {
        EnteredEntry {
            t: Instant(t),
            place: EventNo(t.unsigned_abs()),
            parameters: PolicyParameters { wait_ms, max_wait_ms, max_items: 0 },
        }
    }

    #[test]
    fn a_cooldown_follows_the_newest_up_to_its_bound() {
        let kind = LaneKind::Cooldown;
        let mut window = Window::open(&kind, entry(0, 4, Some(15)), Seq(1), 1, None);
        assert_eq!(window.due(), 4);
        for t in [3, 6, 9, 12] {
            window.join(&kind, entry(t, 4, Some(15)), None);
        }
        assert_eq!(window.due(), 15);
        window.join(&kind, entry(-2, 4, Some(15)), None);
        assert_eq!((window.first.0, window.due()), (Instant(-2), 13));
    }

    #[test]
    fn lanes_without_fields_have_deadlines_too() {
        let at = |kind: &LaneKind| {
            due(OpenWindow::At(kind, Instant(7)), None, &DeadlineGroup::default())
        };
        assert_eq!(at(&LaneKind::Now), 7);
        assert_eq!(at(&LaneKind::Paused), i64::MAX);
        // Rules without the digest never keep anybody waiting.
        assert_eq!(at(&LaneKind::Digest("gone".to_owned())), 7);
        assert_eq!(due(OpenWindow::Found(9), None, &DeadlineGroup::default()), 9);
    }

    #[test]
    fn first_or_earliest_decides() {
        for (decide, due) in [(Decide::First, 4), (Decide::Earliest, 3)] {
            let kind = LaneKind::FirstEvent(decide);
            let mut window = Window::open(&kind, entry(1, 3, None), Seq(1), 1, None);
            window.join(&kind, entry(1, 2, None), None);
            assert_eq!(window.due(), due);
        }
    }

    #[test]
    fn leading_waits_for_its_last_message() {
        let open =
            |last| Window::open(&LaneKind::Leading, entry(10, 5, None), Seq(1), 1, last).due();
        assert_eq!(open(None), 10);
        assert_eq!(open(Some(Instant(8))), 13);
        assert_eq!(open(Some(Instant(5))), 10);
        assert_eq!(open(Some(Instant(1))), 10);
    }
}
