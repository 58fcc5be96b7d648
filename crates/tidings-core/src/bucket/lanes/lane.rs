//! One lane of a bucket: the recipients with open windows, and when those may be due.
//!
//! `now` and digest lanes keep only where each window begins; the others keep a [`Window`] each.

use std::hint::black_box;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::ended::EndedEntries;
use super::wheel::{EarlierWindows, Wheel, note, slot_of, start_of};
use crate::bucket::people::clocks::RecipientClocks;
use crate::bucket::people::roster::Roster;
use crate::bucket::people::values::Values;
use crate::model::channel::ChannelNo;
use crate::model::number::{EventNo, RecipientNo, Seq};
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::QuietHours;
use crate::rules::calendar::DeadlineGroup;
use crate::rules::compiled::RulesVersion;
use crate::rules::deadline::{EnteredEntry, OpenWindow, Window, due};
use crate::rules::lane_kind::{LaneKind, PolicyParameters};

mod back;
mod deadlines;
mod due;
mod few;
mod full;
mod held;
mod image;
mod last;
mod late;
mod urgent;

pub(crate) use due::DueWindows;
pub(crate) use few::SparseLanePage;
pub(crate) use image::{LaneColumn, LaneHead};
use last::LastMessages;
use late::LateWindows;
use urgent::UrgentRecipients;

/// Number of windows in a batch. If they are far apart, a software prefetch touches both ends of each
/// window's fields before the first one is worked on, so that their cache misses overlap.
const TAKEN_AT_ONCE: usize = 32;

/// Windows count as far apart if fewer than one in this many is used.
const APART: u64 = 8;

/// A lane's state.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    kind: LaneKind,
    channel: ChannelNo,
    open: RoaringBitmap,
    columns: Columns,
    wheel: Wheel,
    /// Recipients of the wheel that are held: their deadline passes and their lane stays open.
    parked: Wheel,
    /// Recipients whose window was flushed.
    flushed: RoaringBitmap,
    /// Recipients whose window was counted when it was first due.
    counted: RoaringBitmap,
    /// True if windows are counted then.
    asks_count: bool,
    /// The windows of a lane of `Since` whose entries are counted.
    counts: Values<Window>,
    /// Windows that are asked again at an instant.
    late: LateWindows,
    /// The recipients with an entry of an urgent type in their window, by the seq of its arrival.
    pub(in crate::bucket) urgent: UrgentRecipients,
    /// The last messages of a `leading` lane.
    last: Values<LastMessages>,
    /// The earliest deadline, once computed.
    next: Option<Option<i64>>,
    /// True if its channel is paused: deadlines pass, and nothing closes.
    paused: bool,
}

#[derive(Clone, Debug)]
enum Columns {
    /// The seq at which each window opened.
    Since(Values<Seq>),
    /// The windows with all their fields.
    Windows(Values<Window>),
}

/// The parts of a deadline that are not in the lane.
#[derive(Clone, Copy)]
pub(crate) struct DeadlineTerms<'a> {
    rules: Option<&'a RulesVersion>,
    roster: &'a Roster,
    clocks: RecipientClocks<'a>,
    ended: &'a EndedEntries,
}

impl<'a> DeadlineTerms<'a> {
    pub(crate) fn of(
        roster: &'a Roster,
        ended: &'a EndedEntries,
        rules: Option<&'a Arc<RulesVersion>>,
    ) -> Self {
        let clocks = roster.clocks(None);
        Self { rules: rules.map(|version| &**version), roster, clocks, ended }
    }

    /// The same for lanes of a tenant, or of none.
    pub(crate) fn in_lanes_of(self, tenant: Option<TenantNo>) -> Self {
        Self { clocks: self.roster.clocks(tenant), ..self }
    }

    /// The clocks of the recipients.
    pub(crate) fn clocks(&self) -> RecipientClocks<'a> {
        self.clocks
    }

    /// The same under another version of the rules.
    pub(crate) fn under(self, rules: Option<&'a Arc<RulesVersion>>) -> Self {
        Self { rules: rules.map(|version| &**version), ..self }
    }

    /// The rules in force.
    pub(crate) fn rules(&self) -> Option<&'a RulesVersion> {
        self.rules
    }

    /// The time when a recipient's window is due, in milliseconds, before quiet hours.
    fn due(&self, window: OpenWindow<'_>, number: u32) -> i64 {
        due(window, self.rules, &self.clocks.member(RecipientNo(number)))
    }

    fn hours(&self, channel: ChannelNo) -> Option<&'a QuietHours> {
        self.rules.and_then(|rules| rules.quiet_hours(channel))
    }

    /// Returns true if anybody has quiet hours on a channel.
    fn may_be_quiet(&self, channel: ChannelNo) -> bool {
        self.clocks.may_be_quiet(channel, self.hours(channel))
    }

    fn quiet(
        &self,
        recipients: &RoaringBitmap,
        channel: ChannelNo,
        at: Instant,
    ) -> Vec<(Instant, RoaringBitmap)> {
        self.clocks.quiet(recipients, channel, self.hours(channel), at)
    }

    /// The end of a recipient's quiet hours that hold at an instant.
    pub(crate) fn quiet_until(
        &self,
        number: u32,
        channel: ChannelNo,
        at: Instant,
    ) -> Option<Instant> {
        self.clocks.quiet_until(RecipientNo(number), channel, self.hours(channel), at)
    }
}

/// An arrival's entries that enter a lane.
#[derive(Clone, Copy)]
pub(crate) struct EnteringEntries<'a> {
    /// The seq of the arrival.
    pub(crate) seq: Seq,
    /// The instant at which they enter (later than `key.0` if they were moved).
    pub(crate) at: Instant,
    /// The instant at which the entries entered their first lane, and the place of the event.
    pub(crate) key: (Instant, EventNo),
    /// The parameters of the newest rules; `None` if the type's policy is of another kind.
    pub(crate) parameters: Option<PolicyParameters>,
    /// The version of these rules.
    pub(crate) rules: u32,
    /// True if the type is urgent.
    pub(crate) urgent: bool,
    /// True if these rules bound the lane by a number of entries.
    pub(crate) bounded: bool,
    /// The parameters under older rules, for windows that were opened then.
    pub(crate) under: &'a dyn Fn(u32) -> Option<PolicyParameters>,
}

impl EnteringEntries<'_> {
    /// The parameters in a window that was opened under these rules. A type that was not in the lane under them does
    /// not bound it.
    fn parameters_in(&self, rules: u32) -> Option<PolicyParameters> {
        let unbounded = |parameters| PolicyParameters { max_items: 0, ..parameters };
        if rules == self.rules {
            self.parameters
        } else {
            (self.under)(rules).or(self.parameters.map(unbounded))
        }
    }

    fn entry(&self, parameters: PolicyParameters) -> EnteredEntry {
        EnteredEntry { t: self.key.0, place: self.key.1, parameters }
    }
}

impl Lane {
    pub(crate) fn new(kind: LaneKind, channel: ChannelNo) -> Self {
        let columns = match kind {
            LaneKind::Now | LaneKind::Digest(_) | LaneKind::Paused => {
                Columns::Since(Values::pages())
            }
            LaneKind::FirstEvent(_) | LaneKind::Cooldown | LaneKind::Leading => {
                Columns::Windows(Values::pages())
            }
        };
        Self {
            kind,
            channel,
            open: RoaringBitmap::new(),
            columns,
            wheel: Wheel::default(),
            parked: Wheel::default(),
            flushed: RoaringBitmap::new(),
            counted: RoaringBitmap::new(),
            counts: Values::pages(),
            asks_count: false,
            late: LateWindows::default(),
            urgent: UrgentRecipients::default(),
            last: Values::pages(),
            next: None,
            paused: false,
        }
    }

    /// Creates a lane that few recipients wait in.
    pub(crate) fn of_few(kind: LaneKind, channel: ChannelNo) -> Self {
        let lane = Self::new(kind, channel);
        let columns = match lane.columns {
            Columns::Since(_) => Columns::Since(Values::few()),
            Columns::Windows(_) => Columns::Windows(Values::few()),
        };
        Self { columns, counts: Values::few(), last: Values::few(), ..lane }
    }

    pub(crate) fn open(&self) -> &RoaringBitmap {
        &self.open
    }

    /// The seq at which a recipient's open window begins.
    pub(crate) fn since(&self, number: u32) -> Option<Seq> {
        self.open.contains(number).then(|| match &self.columns {
            Columns::Since(since) => since.get(number),
            Columns::Windows(windows) => windows.get(number).since,
        })
    }

    /// The deadline of a recipient's open window before quiet hours and caps, in milliseconds.
    pub(crate) fn own_deadline(&self, number: u32) -> Option<i64> {
        if !self.open.contains(number) {
            return None;
        }
        match &self.columns {
            Columns::Windows(windows) => Some(windows.get(number).due()),
            Columns::Since(_) => {
                let mut slots = self.wheel.slots().chain(self.parked.slots());
                let (slot, _) = slots.find(|(_, recipients)| recipients.contains(number))?;
                Some(start_of(slot))
            }
        }
    }

    /// Adds an arrival's entries. `overdue` = recipients whose deadline had passed before; `None` = not
    /// known yet.
    pub(crate) fn enter(
        &mut self,
        recipients: &RoaringBitmap,
        overdue: Option<&RoaringBitmap>,
        entering: EnteringEntries<'_>,
        terms: DeadlineTerms<'_>,
    ) {
        if entering.urgent {
            self.urgent.note(entering.seq, recipients);
            // Urgent entries pass quiet hours: a window that these hold is asked again now.
            self.ask_again(recipients, entering.at);
        }
        match &mut self.columns {
            Columns::Since(since) => {
                let new = recipients - &self.open;
                if !new.is_empty() {
                    since.change(&new, |_, seq| *seq = entering.seq);
                    self.open |= &new;
                    self.set_deadlines(&new, entering.at, terms);
                }
                self.count_entries(recipients, entering);
            }
            Columns::Windows(_) => {
                let found;
                let overdue = match overdue {
                    Some(overdue) => overdue,
                    None => {
                        // Is found before the entry joins, which could move the deadline: one that has
                        // passed stays passed.
                        found = self.deadlines(terms).overdue(recipients, entering.at);
                        &found
                    }
                };
                self.enter_windows(recipients, overdue, entering);
            }
        }
    }

    fn enter_windows(
        &mut self,
        recipients: &RoaringBitmap,
        overdue: &RoaringBitmap,
        entering: EnteringEntries<'_>,
    ) {
        let Self { kind, open, columns: Columns::Windows(windows), wheel, last, next, .. } = self
        else {
            return;
        };
        let mut sooner =
            EarlierWindows { wheel, next, due: i64::MAX, recipients: RoaringBitmap::new() };
        let entry = entering.entry(entering.parameters.unwrap_or_default());
        let joins = recipients & &*open;
        windows.change(recipients - &joins, |number, window| {
            let last_at = last.get(number).at;
            *window = Window::open(kind, entry, entering.seq, entering.rules, last_at);
            window.fill(entering.at);
            sooner.add(window.due(), number);
        });
        // Windows opened under the same rules have the same parameters.
        let (mut rules, mut parameters) = (entering.rules, entering.parameters);
        // An overdue window goes out as it is: what joins it moves nothing.
        let joins = joins - overdue;
        let span = u64::from(joins.max().unwrap_or(0));
        let lie_apart = joins.len() * APART < span;
        let (mut numbers, mut room) = (joins.iter(), [0; TAKEN_AT_ONCE]);
        loop {
            let mut taken = 0;
            for (place, number) in room.iter_mut().zip(&mut numbers) {
                *place = number;
                taken += 1;
            }
            let some = &room[..taken];
            if some.is_empty() {
                break;
            }
            if lie_apart {
                let ends = |number: &u32| {
                    let window = windows.get(*number);
                    window.newest.0.0 ^ i64::from(window.rules)
                };
                black_box(some.iter().fold(0, |fetched, number| fetched ^ ends(number)));
            }
            windows.change(some.iter().copied(), |number, window| {
                let before = window.due();
                if window.rules != rules {
                    rules = window.rules;
                    parameters = entering.parameters_in(rules);
                }
                match parameters {
                    Some(parameters) => {
                        window.join(kind, entering.entry(parameters), last.get(number).at);
                    }
                    None => window.count(),
                }
                window.fill(entering.at);
                let due = window.due();
                // A later deadline needs no entry in the wheel: `sift` moves the window on when its old
                // second comes.
                if due < before {
                    sooner.add(due, number);
                }
            });
        }
        sooner.done();
        *open |= recipients;
    }

    /// Puts windows without fields into the wheel, to be checked for the first time, or again, at this instant.
    fn set_deadlines(&mut self, recipients: &RoaringBitmap, at: Instant, terms: DeadlineTerms<'_>) {
        let people = match &self.kind {
            LaneKind::Digest(name) => {
                let minutes = terms.rules.map(|rules| rules.spread_minutes(name));
                terms.clocks.alike(recipients, name, minutes.unwrap_or(0))
            }
            _ => vec![(DeadlineGroup::default(), recipients.clone())],
        };
        for (person, part) in people {
            let due = due(OpenWindow::At(&self.kind, at), terms.rules, &person);
            self.wheel.insert_all(due, &part);
            if due < i64::MAX {
                note(&mut self.next, due);
            }
        }
    }

    /// Closes windows and returns where each began. The next entry opens the next window.
    pub(crate) fn close(&mut self, at: Instant, recipients: &RoaringBitmap) -> Vec<(u32, Seq)> {
        let began =
            recipients.iter().filter_map(|number| Some((number, self.since(number)?))).collect();
        self.open -= recipients;
        match &mut self.columns {
            Columns::Windows(windows) => windows.drop_all(recipients),
            Columns::Since(since) => since.drop_all(recipients),
        }
        self.counts.drop_all(recipients);
        self.flushed -= recipients;
        self.counted -= recipients;
        self.late.remove(recipients);
        self.urgent.remove(recipients);
        // Searches up to now alone. A deadline that came sooner leaves its number in a later slot, where
        // `sift` drops it.
        self.wheel.remove_until(slot_of(at.0), recipients);
        self.parked.remove_until(slot_of(at.0), recipients);
        self.next = None;
        began
    }

    /// Makes an open window due now.
    pub(crate) fn flush(&mut self, number: u32, at: Instant) {
        if !self.open.contains(number) {
            return;
        }
        // Leaves the list of windows that are asked later, since `sift` skips those: it would wait for the
        // end of quiet hours.
        self.late.remove(&RoaringBitmap::from_iter([number]));
        let due = match &mut self.columns {
            Columns::Windows(windows) => {
                let window = windows.at(number);
                window.due_by(at);
                window.due()
            }
            Columns::Since(_) => self
                .wheel
                .remove(number)
                .into_iter()
                .chain(self.parked.remove(number))
                .min()
                .map_or(at.0, |slot| at.0.min(start_of(slot))),
        };
        self.flushed.insert(number);
        self.wheel.insert(due, number);
        self.next = None;
    }

    /// Returns true if it is the lane of paused types.
    pub(crate) fn keeps_paused(&self) -> bool {
        self.kind == LaneKind::Paused
    }

    /// Returns true if its channel is paused.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused
    }

    /// Pauses the lane with its channel.
    pub(crate) fn pause(&mut self) {
        self.paused = true;
    }

    /// Resumes the lane with its channel. Deadlines that have passed stay passed.
    pub(crate) fn resume(&mut self, at: Instant, terms: DeadlineTerms<'_>) {
        self.paused = false;
        self.next = None;
        let late = self.late.recipients().clone();
        self.ask_again(&late, at);
        for (slot, recipients) in std::mem::take(&mut self.parked).slots() {
            self.wheel.insert_all(start_of(slot), recipients);
        }
        // The pause alone held these. Their deadlines become final, before an entry of the same step joins
        // and moves them.
        self.fix_passed(&(&self.open - &*terms.roster.unconfirmed), at, terms);
    }

    /// Empties the lane: all its entries have moved to other lanes.
    pub(crate) fn empty(&mut self) {
        self.open.clear();
        self.flushed.clear();
        self.counted.clear();
        self.late = LateWindows::default();
        self.urgent = UrgentRecipients::default();
        self.next = None;
    }

    /// Activates the window of a recipient who has confirmed. A deadline that has passed stays passed.
    pub(crate) fn unpark(&mut self, number: u32, at: Instant, terms: DeadlineTerms<'_>) {
        let single = RoaringBitmap::from_iter([number]);
        self.fix_passed(&(&single & &self.open), at, terms);
        self.ask_again(&single, at);
        if let Some(slot) = self.parked.remove(number) {
            let due = match &self.columns {
                Columns::Windows(windows) => windows.get(number).due(),
                Columns::Since(_) => start_of(slot),
            };
            self.wheel.insert(due, number);
            self.next = None;
        }
    }

    /// Sets the next slot of a recipient whose time zone changed, unless it is due already.
    pub(crate) fn rezone(&mut self, number: u32, at: Instant, terms: DeadlineTerms<'_>) {
        if !self.is_digest() || !self.open.contains(number) {
            return;
        }
        let slot = terms.due(OpenWindow::At(&self.kind, at), number);
        for wheel in [&mut self.wheel, &mut self.parked] {
            if let Some(old) = wheel.remove(number) {
                let due = start_of(old);
                // A lane that is due already stays due.
                wheel.insert(if due <= at.0 { due } else { slot }, number);
            }
        }
        self.next = None;
    }

    /// Returns true if it is a digest.
    pub(crate) fn is_digest(&self) -> bool {
        matches!(self.kind, LaneKind::Digest(_))
    }

    /// Bytes of memory used, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let columns = match &self.columns {
            Columns::Since(since) => since.bytes(),
            Columns::Windows(windows) => windows.bytes(),
        };
        columns
            + self.open.serialized_size()
            + self.flushed.serialized_size()
            + self.counted.serialized_size()
            + self.counts.bytes()
            + self.wheel.bytes()
            + self.parked.bytes()
            + self.last.bytes()
            + self.late.bytes()
    }
}
