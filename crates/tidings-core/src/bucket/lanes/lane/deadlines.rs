//! The deadlines of a lane's windows, under the rules in force and after quiet hours.

use roaring::RoaringBitmap;

use super::super::wheel::start_of;
use crate::bucket::lanes::lane::{Columns, DeadlineTerms, Lane};
use crate::model::time::Instant;
use crate::rules::deadline::OpenWindow;

/// A lane beside what its deadlines depend on.
#[derive(Clone, Copy)]
pub(crate) struct LaneDeadlines<'a> {
    lane: &'a Lane,
    terms: DeadlineTerms<'a>,
}

impl Lane {
    /// Its deadlines.
    pub(crate) fn deadlines<'a>(&'a self, terms: DeadlineTerms<'a>) -> LaneDeadlines<'a> {
        LaneDeadlines { lane: self, terms }
    }
}

impl LaneDeadlines<'_> {
    /// The deadline of a recipient's open window, in milliseconds; for digests it is looked up.
    pub(crate) fn of(&self, number: u32) -> Option<i64> {
        let lane = self.lane;
        if !lane.open.contains(number) {
            return None;
        }
        if let Some(late) = lane.late.instant_of(number) {
            return Some(late);
        }
        let due = OpenWindow::Found(lane.own_deadline(number)?);
        let heeding = self.heeding(&RoaringBitmap::from_iter([number]));
        Some(self.after_quiet_hours(due, number, &heeding)).filter(|due| *due < i64::MAX)
    }

    /// All open windows with their deadlines in milliseconds; windows that are never due have none.
    pub(crate) fn each(&self, take: &mut dyn FnMut(Option<i64>, u32)) {
        let lane = self.lane;
        let mut rest = lane.open.clone();
        for (at, recipients) in lane.late.all() {
            let late = &rest & recipients;
            rest -= &late;
            late.iter().for_each(|number| take(Some(at), number));
        }
        let heeding = self.heeding(&rest);
        let mut emit = |opened: OpenWindow<'_>, number| {
            let due = self.after_quiet_hours(opened, number, &heeding);
            take((due < i64::MAX).then_some(due), number);
        };
        match &lane.columns {
            Columns::Windows(windows) => {
                rest.iter()
                    .for_each(|number| emit(OpenWindow::Window(&windows.get(number)), number));
            }
            Columns::Since(_) => {
                for (slot, recipients) in lane.wheel.slots().chain(lane.parked.slots()) {
                    let due = &rest & recipients;
                    rest -= &due;
                    let found = OpenWindow::Found(start_of(slot));
                    due.iter().for_each(|number| emit(found, number));
                }
                let found = OpenWindow::Found(i64::MAX);
                rest.iter().for_each(|number| emit(found, number));
            }
        }
    }

    /// Recipients with an open window whose deadline has passed, because they are unconfirmed or the
    /// channel is paused: new entries don't move it. (Every other window is closed before anything enters
    /// at its instant.)
    pub(crate) fn overdue(&self, recipients: &RoaringBitmap, at: Instant) -> RoaringBitmap {
        let lane = self.lane;
        let mut members = recipients & &lane.open;
        if !lane.paused {
            members &= &*self.terms.roster.unconfirmed;
        }
        match &lane.columns {
            Columns::Windows(windows) => {
                let heeding = self.heeding(&members);
                let passed = |number: &u32| {
                    let window = windows.get(*number);
                    self.after_quiet_hours(OpenWindow::Window(&window), *number, &heeding) <= at.0
                };
                members.iter().filter(passed).collect()
            }
            // Its deadline is that of the calendar.
            Columns::Since(_) => RoaringBitmap::new(),
        }
    }

    /// The recipients among these who are not kept by quiet hours and caps: their window was flushed, or holds a
    /// pending entry of an urgent type.
    pub(crate) fn passes(&self, recipients: &RoaringBitmap) -> RoaringBitmap {
        let lane = self.lane;
        let mut passes = recipients & &lane.flushed;
        for (seq, urgent) in lane.urgent.iter() {
            let mut urgent = urgent & recipients;
            if let Some(ended) = self.terms.ended.of(seq, lane.channel) {
                urgent -= ended;
            }
            passes |= urgent;
        }
        passes
    }

    /// The recipients among these whose quiet hours may hold.
    pub(super) fn heeding(&self, recipients: &RoaringBitmap) -> RoaringBitmap {
        let lane = self.lane;
        if !self.terms.may_be_quiet(lane.channel) {
            return RoaringBitmap::new();
        }
        recipients - self.passes(recipients)
    }

    /// The deadline of a recipient's window after quiet hours, in milliseconds. `heeding` = those of [`LaneDeadlines::heeding`].
    pub(super) fn after_quiet_hours(
        &self,
        opened: OpenWindow<'_>,
        number: u32,
        heeding: &RoaringBitmap,
    ) -> i64 {
        let lane = self.lane;
        let due = self.terms.due(opened, number);
        if due == i64::MAX || !heeding.contains(number) {
            return due;
        }
        let end = self.terms.quiet_until(number, lane.channel, Instant(due));
        end.map_or(due, |end| end.0)
    }
}
