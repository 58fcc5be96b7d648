//! A hook: its pending occurrences, and when they are sent.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use tidings_core::engine::{Engine, HookState, occurrence_at};
use tidings_core::journal::{ReadView, Unreadable, Write};
use tidings_core::model::{
    DAY_MS, HOUR_MS, Occurrence, OccurrenceOwner, OccurrencePlace, OccurrenceRow, SECOND_MS,
};
use tidings_core::rules::HookRules;
use tidings_core::{Id, Instant};

use super::answer::{HookAnswer, call_of};
use super::body::body;
use super::lines::{NewestOccurrence, PreferenceLines};
use super::parked::Parked;
use super::progress::{self, HookProgress, OpenOccurrence, ProgressRow};
use super::vitals::HookVitals;
use crate::delivery::send_job::{HookNo, SendJob};
use crate::handle::shares::FairQueue;

/// The number of open occurrences of a hook from which on no more are read.
pub(super) const OPEN_MAX: usize = 1_000;
/// The most rows that are read in a turn.
const ROWS_MAX: usize = 256;
/// The wait after the first failed try.
const FIRST_WAIT_MS: i64 = 30 * SECOND_MS;
/// The longest wait between tries.
const MAX_WAIT_MS: i64 = HOUR_MS;
/// The time after the first try at which an occurrence is given up.
const GIVE_UP_MS: i64 = 3 * DAY_MS;
/// The most calls of a hook at once.
const CALLS_MAX: usize = 8;
/// The number of failed tries from which on an occurrence counts as refused, where others are taken between two of them.
const REFUSED_FROM: u32 = 3;
/// The wait after a call that this node was not allowed to make.
const WITHHELD_MS: i64 = SECOND_MS;

mod parking;

/// By owner the first row that may not be durable yet.
type StoredOccurrences = BTreeMap<OccurrenceOwner, OccurrenceRow>;

/// A hook of a node.
pub(super) struct Hook {
    pub(super) no: HookNo,
    pub(super) name: Arc<str>,
    rules: HookRules,
    pub(super) state: HookState,
    owners: BTreeMap<OccurrenceOwner, HookProgress>,
    /// The open occurrences.
    open: BTreeMap<OccurrencePlace, OpenOccurrence>,
    /// Open occurrences that are not under way, by the instant of their next try.
    due: BTreeSet<(Instant, OccurrencePlace)>,
    /// Open occurrences whose instant has come, by recipient in turn: `None` = of none, or of one that is not known any more.
    ready: FairQueue<Option<Id>, OccurrencePlace>,
    /// The recipients of open occurrences that were read by this process.
    recipients: BTreeMap<OccurrencePlace, Id>,
    under_way: BTreeSet<OccurrencePlace>,
    /// Occurrences of `due` that the host refused at the last attempt, while it accepts others.
    refused: BTreeSet<OccurrencePlace>,
    /// The instants of the last failed tries of open occurrences.
    failed_at: BTreeMap<OccurrencePlace, Instant>,
    /// The instant at which the host took one.
    taken_at: Option<Instant>,
    /// The instant from which newer ones may be tried though all that are open fail.
    probe_at: Instant,
    /// Open changes of preferences by their line.
    lines: PreferenceLines,
    /// Number of times that rows were read: each time another owner is the first.
    turns: usize,
    /// Parked occurrences by owner.
    parked: BTreeMap<OccurrenceOwner, Parked>,
    /// The turn that a 410 ended.
    off: Option<u64>,
    /// Failures in a row.
    failures: u32,
    /// True if what is dirty is to be written at once.
    pub(super) is_urgent: bool,
    counts: HookVitals,
}

impl Hook {
    /// Reads the progress of a hook by owner.
    pub(super) fn load(
        view: &dyn ReadView,
        no: HookNo,
        rules: &HookRules,
        state: HookState,
        owners: impl Iterator<Item = OccurrenceOwner>,
        now: Instant,
    ) -> Result<Self, Unreadable> {
        let mut hook = Self {
            no,
            name: rules.name.as_str().into(),
            rules: rules.clone(),
            state,
            owners: BTreeMap::new(),
            open: BTreeMap::new(),
            due: BTreeSet::new(),
            ready: FairQueue::default(),
            recipients: BTreeMap::new(),
            under_way: BTreeSet::new(),
            refused: BTreeSet::new(),
            failed_at: BTreeMap::new(),
            taken_at: None,
            probe_at: Instant::MIN,
            lines: PreferenceLines::default(),
            turns: 0,
            parked: BTreeMap::new(),
            off: None,
            failures: 0,
            is_urgent: false,
            counts: HookVitals::default(),
        };
        for owner in owners {
            let row = progress::read(view, owner, &rules.name, &state)?;
            let next = row.as_ref().map_or(OccurrenceRow::first(state.since), |row| row.next);
            let mut progress = HookProgress::from(next);
            if row.as_ref().map_or(0, |row| row.replays) < state.replays.count {
                // A replay that was ordered while this row was not written has still to be done.
                progress.go_back(state.replays.newest);
            }
            hook.owners.insert(owner, progress);
            let parked = Parked::load(view, (owner, &rules.name), state.since, now)?;
            hook.parked.insert(owner, parked);
            let Some(row) = row else {
                continue;
            };
            hook.off = hook.off.max(row.off);
            hook.counts.last = hook.counts.last.max(row.last);
            for (row, index, mut open) in row.open {
                // A clock that was put back delays nothing.
                open.next = open.next.min(now.plus_ms(MAX_WAIT_MS));
                let place = OccurrencePlace { owner, row, index };
                hook.open.insert(place, open);
                hook.due.insert((open.next, place));
            }
        }
        Ok(hook)
    }

    /// Takes over the rules in force, and the intake's state.
    pub(super) fn apply_rules(&mut self, rules: &HookRules, state: HookState, now: Instant) {
        if self.rules != *rules {
            if self.rules.of != rules.of {
                self.owners.values_mut().for_each(HookProgress::count_again);
            }
            self.rules = rules.clone();
            self.retry_all(now);
        }
        let before = std::mem::replace(&mut self.state, state);
        if before.turn < state.turn {
            self.retry_all(now);
        }
        if before.replays.count < state.replays.count {
            for progress in self.owners.values_mut() {
                progress.go_back(state.replays.newest);
                progress.is_dirty = true;
            }
            self.is_urgent = true;
        }
    }

    /// Makes all waiting occurrences due.
    fn retry_all(&mut self, now: Instant) {
        self.refused.clear();
        self.parked.values_mut().for_each(|parked| parked.retry_all(now));
        self.retry_unrefused(now);
    }

    /// Makes occurrences due that failed because the host was down; refused ones keep waiting.
    fn retry_unrefused(&mut self, now: Instant) {
        self.failures = 0;
        for (at, place) in std::mem::take(&mut self.due) {
            let at = if self.refused.contains(&place) { at } else { at.min(now) };
            if let Some(open) = self.open.get_mut(&place) {
                open.next = at;
                self.due.insert((at, place));
            }
        }
    }

    /// Returns true if a 410 turned it off, and it was not resumed.
    fn is_off(&self) -> bool {
        self.off == Some(self.state.turn)
    }

    fn wants(&self, occurrence: &Occurrence) -> bool {
        self.rules.of.contains(&occurrence.kind())
    }

    /// Returns true if more is to be read.
    fn reads(&self, durable: &StoredOccurrences) -> bool {
        let has_more = |(owner, progress): (&OccurrenceOwner, &HookProgress)| {
            durable.get(owner).is_some_and(|until| progress.next < *until)
        };
        let has_room = self.open.len() < OPEN_MAX || self.can_park();
        !self.is_off() && has_room && self.owners.iter().any(has_more)
    }

    /// Returns true if more is to be counted.
    pub(super) fn counts(&self, durable: &StoredOccurrences) -> bool {
        let is_behind = |(owner, progress): (&OccurrenceOwner, &HookProgress)| {
            durable.get(owner).is_some_and(|until| progress.counted < *until)
        };
        self.owners.iter().any(is_behind)
    }

    /// The next try, if a call is free for it.
    fn next_try(&self) -> Option<Instant> {
        let is_free = !self.is_off() && self.under_way.len() < CALLS_MAX;
        let ready = (!self.ready.is_empty()).then_some(Instant::MIN);
        ready.or_else(|| self.due.first().map(|(at, _)| *at)).filter(|_| is_free)
    }

    /// The instant at which there is something to do.
    pub(super) fn next(&self, durable: &StoredOccurrences, calls: bool) -> Option<Instant> {
        if (calls && self.reads(durable)) || self.counts(durable) {
            return Some(Instant::MIN);
        }
        let probe = self.next_probe(durable);
        self.next_try().into_iter().chain(self.next_parked()).chain(probe).filter(|_| calls).min()
    }

    /// Returns true if there is something to do that needs the store.
    pub(super) fn has_work(&self, durable: &StoredOccurrences, now: Instant, calls: bool) -> bool {
        self.next(durable, calls).is_some_and(|at| at <= now)
    }

    /// Reads what occurred, as much as there is room for.
    pub(super) fn read(
        &mut self,
        engine: &Engine,
        view: &dyn ReadView,
        durable: &StoredOccurrences,
        now: Instant,
    ) -> Result<(), Unreadable> {
        // Parked ones that are due come first: they were first in time, and others are parked to make room
        // for them.
        self.unpark(view, now)?;
        self.probe(durable, now);
        if !self.reads(durable) {
            return Ok(());
        }
        self.park(now);
        let mut rows = 0;
        let mut owners: Vec<OccurrenceOwner> = self.owners.keys().copied().collect();
        let first = self.turns % owners.len().max(1);
        // Another owner is first each time, or one with many rows would use up the room of all.
        owners.rotate_left(first);
        self.turns = self.turns.wrapping_add(1);
        for owner in owners {
            let (Some(mut progress), Some(&until)) =
                (self.owners.get(&owner).copied(), durable.get(&owner))
            else {
                continue;
            };
            if progress.next >= until || self.open.len() >= OPEN_MAX || rows >= ROWS_MAX {
                continue;
            }
            let mut is_over = true;
            engine.reader(view).occurrences_from(owner, progress.next, |row, all| {
                // Rows from here on may be of a commit that is not durable yet.
                if row >= until {
                    return ControlFlow::Break(());
                }
                if self.open.len() >= OPEN_MAX || rows >= ROWS_MAX {
                    is_over = false;
                    return ControlFlow::Break(());
                }
                rows += 1;
                let mut wanted = 0;
                for (index, occurrence) in (0..).zip(&all) {
                    if !self.wants(occurrence) {
                        continue;
                    }
                    wanted += 1;
                    self.open_one(OccurrencePlace { owner, row, index }, occurrence, now);
                }
                progress.pass(row, wanted);
                ControlFlow::Continue(())
            })?;
            if is_over {
                // Passes what no hook wants as well, so that it is not read again.
                progress.advance(until);
            }
            self.owners.insert(owner, progress);
        }
        Ok(())
    }

    /// Opens an occurrence. A change of a preference that waits for a call ends with the next one of the same line.
    fn open_one(&mut self, place: OccurrencePlace, occurrence: &Occurrence, now: Instant) {
        match self.lines.newest(place, occurrence) {
            NewestOccurrence::IsAnother => return,
            NewestOccurrence::Replaces(before) => self.skip(before),
            NewestOccurrence::IsNew => {}
        }
        if self.open.contains_key(&place) {
            return;
        }
        self.open.insert(place, OpenOccurrence { tries: 0, first: now, next: now });
        self.due.insert((now, place));
        if let Some(recipient) = occurrence.recipient() {
            self.recipients.insert(place, recipient.clone());
        }
    }

    /// Ends an occurrence that is not under way, as a newer one has the present state.
    fn skip(&mut self, place: OccurrencePlace) {
        let Some(open) = self.open.get(&place) else {
            return;
        };
        let recipient = self.recipients.get(&place).cloned();
        if self.due.remove(&(open.next, place))
            || self.ready.remove(&recipient, |ready| *ready == place).is_some()
        {
            self.end(place);
        }
    }

    /// Marks an owner's row as changed.
    fn touch(&mut self, owner: OccurrenceOwner) {
        if let Some(progress) = self.owners.get_mut(&owner) {
            progress.is_dirty = true;
        }
    }

    /// Begins the calls that are due, one recipient after the other.
    pub(super) fn call(
        &mut self,
        view: &dyn ReadView,
        calls: &mut Vec<SendJob>,
        now: Instant,
    ) -> Result<(), Unreadable> {
        while let Some((at, place)) = self.due.first().copied()
            && at <= now
        {
            self.due.pop_first();
            self.ready.push(self.recipients.get(&place).cloned(), place);
        }
        while self.next_try().is_some_and(|at| at <= now) {
            let Some((_, place)) = self.ready.pop(|_| true) else {
                break;
            };
            // Retention does not wait for hooks: what a day had to tell goes with it.
            let Some(occurrence) = occurrence_at(view, place)? else {
                tracing::warn!(hook = %self.name, "an occurrence was not told before its day was deleted");
                self.counts.failed += 1;
                self.end(place);
                continue;
            };
            self.under_way.insert(place);
            self.refused.remove(&place);
            let at = place.row.at;
            let body = body(&occurrence, at);
            let call = call_of(&self.name, &self.rules.url, occurrence.id(place), at, body);
            calls.push(SendJob::call(self.no, place, call));
        }
        Ok(())
    }

    /// Counts some of the pending occurrences.
    pub(super) fn count(
        &mut self,
        engine: &Engine,
        view: &dyn ReadView,
        durable: &StoredOccurrences,
    ) -> Result<(), Unreadable> {
        let mut rows = 0;
        for (owner, progress) in &mut self.owners {
            let Some(&until) = durable.get(owner).filter(|until| progress.counted < **until) else {
                continue;
            };
            let mut is_over = true;
            engine.reader(view).occurrences_from(*owner, progress.counted, |row, all| {
                if row >= until {
                    return ControlFlow::Break(());
                }
                if rows >= ROWS_MAX {
                    is_over = false;
                    return ControlFlow::Break(());
                }
                rows += 1;
                let wanted = all.iter().filter(|one| self.rules.of.contains(&one.kind()));
                progress.behind += wanted.count() as u64;
                progress.counted = row.next();
                ControlFlow::Continue(())
            })?;
            if is_over {
                progress.counted = until;
            }
        }
        Ok(())
    }

    /// Takes an answer.
    pub(super) fn answered(
        &mut self,
        place: OccurrencePlace,
        id: &str,
        answer: &HookAnswer,
        now: Instant,
    ) {
        if !self.under_way.remove(&place) {
            return;
        }
        let Some(open) = self.open.get_mut(&place) else {
            return;
        };
        let status = match answer {
            HookAnswer::Withheld => {
                // This node had no licence: no attempt, and no failure of the host.
                open.next = now.plus_ms(WITHHELD_MS);
                self.due.insert((open.next, place));
                return;
            }
            HookAnswer::Taken(status)
            | HookAnswer::Gone(status)
            | HookAnswer::Again { status, .. } => *status,
        };
        self.counts.last = Some((now, status));
        if let Some(progress) = self.owners.get_mut(&place.owner) {
            progress.is_dirty = true;
        }
        match answer {
            HookAnswer::Again { after_ms, why, .. } => {
                self.try_again((place, id), *after_ms, why, now);
                if let Some(open) = self.open.get(&place) {
                    let before = self.failed_at.insert(place, now);
                    // The host took another one between two failures of this one, so it is up, and refuses
                    // this.
                    let takes_others =
                        before.zip(self.taken_at).is_some_and(|(before, taken)| before <= taken);
                    if answer.is_refusal() || takes_others && open.tries >= REFUSED_FROM {
                        self.refused.insert(place);
                    }
                }
            }
            HookAnswer::Gone(_) => {
                // What it answers stays open: the hook is told it once it is on again.
                open.next = now;
                self.due.insert((now, place));
                self.turn_off();
            }
            HookAnswer::Taken(_) | HookAnswer::Withheld => {
                self.counts.sent += 1;
                self.taken_at = Some(now);
                self.end(place);
                // The host is back: what failed because it was down need not wait for its own time.
                if self.failures > 0 {
                    self.retry_unrefused(now);
                }
            }
        }
    }

    fn turn_off(&mut self) {
        if !self.is_off() {
            tracing::error!(
                hook = %self.name,
                hint = format!("`tidings hooks resume {}` turns it on again", self.name),
                "the hook answered 410 and is off"
            );
        }
        self.off = Some(self.state.turn);
        self.is_urgent = true;
    }

    /// Lets an occurrence wait for its next attempt, or gives it up.
    fn try_again(
        &mut self,
        (place, id): (OccurrencePlace, &str),
        after_ms: Option<i64>,
        why: &str,
        now: Instant,
    ) {
        let Some(open) = self.open.get_mut(&place) else {
            return;
        };
        if open.tries == 0 {
            open.first = now;
        }
        open.tries += 1;
        open.next = next_try(open, id, after_ms, now);
        let (next, last) = (open.next, open.first.plus_ms(GIVE_UP_MS));
        self.failures = self.failures.saturating_add(1);
        if next > last {
            tracing::error!(hook = %self.name, id, why, "a call of a hook is given up");
            self.counts.failed += 1;
            return self.end(place);
        }
        if self.failures == 1 {
            tracing::warn!(hook = %self.name, id, why, "a call of a hook failed, and is made again");
        }
        self.counts.retried += 1;
        self.due.insert((next, place));
    }

    /// Ends an occurrence that was sent, or is not sent any more.
    fn end(&mut self, place: OccurrencePlace) {
        self.open.remove(&place);
        self.recipients.remove(&place);
        self.lines.remove(place);
        self.refused.remove(&place);
        self.failed_at.remove(&place);
        self.touch(place.owner);
    }

    /// Adapts to a clock that was put back by a number of milliseconds.
    pub(super) fn put_back(&mut self, by_ms: i64) {
        self.parked.values_mut().for_each(Parked::put_back);
        (self.probe_at, self.taken_at) = (Instant::MIN, None);
        self.failed_at.clear();
        self.due.clear();
        self.ready = FairQueue::default();
        for (place, open) in &mut self.open {
            (open.first, open.next) = (open.first.plus_ms(-by_ms), open.next.plus_ms(-by_ms));
            if !self.under_way.contains(place) {
                self.due.insert((open.next, *place));
            }
        }
    }

    /// Returns true if its progress is not written.
    pub(super) fn is_dirty(&self) -> bool {
        self.owners.values().any(|progress| progress.is_dirty)
            || self.parked.values().any(Parked::has_writes)
    }

    /// The writes of its progress.
    pub(super) fn take_rows(&mut self) -> Vec<Write> {
        self.is_urgent = false;
        let mut writes: Vec<Write> =
            // Parked rows and the progress of their owner are one commit: an occurrence is in exactly one
            // of the two.
            self.parked.values_mut().flat_map(Parked::take_writes).collect();
        for (owner, progress) in self.owners.iter_mut().filter(|(_, progress)| progress.is_dirty) {
            progress.is_dirty = false;
            let from = OccurrencePlace { owner: *owner, row: OccurrenceRow::FIRST, index: 0 };
            let open = self.open.range(from..).take_while(|(place, _)| place.owner == *owner);
            let row = ProgressRow {
                since: self.state.since,
                replays: self.state.replays.count,
                off: self.off,
                next: progress.next,
                open: open.map(|(place, open)| (place.row, place.index, *open)).collect(),
                last: self.counts.last,
            };
            writes.push(progress::write(*owner, &self.name, &row));
        }
        writes
    }

    /// Its status, for operators.
    pub(super) fn shown(&self) -> HookVitals {
        let behind: u64 = self.owners.values().map(|progress| progress.behind).sum();
        HookVitals {
            is_off: self.is_off(),
            backlog: behind + self.open.len() as u64 + self.parked_count(),
            open: self.open.len() as u64,
            ..self.counts.clone()
        }
    }
}

/// The instant of the next try of an occurrence after a failed one.
fn next_try(open: &OpenOccurrence, id: &str, after_ms: Option<i64>, now: Instant) -> Instant {
    let wait = (FIRST_WAIT_MS << (open.tries - 1).min(20)).min(MAX_WAIT_MS);
    // Spread over a tenth, by the id: no random number is needed to break up a herd.
    let jitter = id.bytes().fold(0, |sum, byte| (sum * 31 + i64::from(byte)) % 997);
    now.plus_ms((wait + wait * jitter / 9_970).max(after_ms.unwrap_or(0)))
}
