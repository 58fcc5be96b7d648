//! The last messages of a lane: one that is `leading` waits for a while after each.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::bucket::lanes::lane::{Columns, Lane};
use crate::model::time::Instant;
use crate::rules::lane_kind::LaneKind;

/// The instants of a lane's last message and of the one before: a message that turns out empty is undone.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct LastMessages {
    pub(super) at: Option<Instant>,
    before: Option<Instant>,
}

impl Lane {
    /// Notes a message of the lane, for `leading`.
    pub(crate) fn note_messages(&mut self, at: Instant, recipients: &RoaringBitmap) {
        for number in recipients {
            let last = self.last.at(number);
            *last = LastMessages { at: Some(at), before: last.at };
        }
    }

    /// Moves last messages after this instant to it; returns their recipients. A last message counts without pending
    /// entries too, since the next entry reads it.
    pub(super) fn put_back_last(&mut self, to: Instant) -> RoaringBitmap {
        let later = self.last.numbers_where(|last| last.at.max(last.before) > Some(to));
        for number in &later {
            let last = self.last.at(number);
            last.at = last.at.map(|at| at.min(to));
            last.before = last.before.map(|at| at.min(to));
        }
        later
    }

    /// Takes over the last messages of the lane under its other kind.
    pub(crate) fn take_over(&mut self, other: &Self) {
        self.last = other.last.copied();
    }

    /// Removes messages that were due at `at` and empty from the last ones of a `leading` lane.
    pub(crate) fn take_back_messages(&mut self, at: Instant, recipients: &RoaringBitmap) {
        for number in recipients {
            if self.last.get(number).at.is_none() {
                continue;
            }
            let last = self.last.at(number);
            if last.at != Some(at) {
                // Another one has come due since.
                last.before = last.before.filter(|before| *before != at);
                continue;
            }
            last.at = last.before;
            let newest = last.at;
            if newest.is_none() {
                self.last.drop_all([number]);
            }
            if let (true, LaneKind::Leading, Columns::Windows(windows)) =
                (self.open.contains(number), &self.kind, &mut self.columns)
            {
                let window = windows.at(number);
                window.lead(newest);
                self.wheel.insert(window.due(), number);
                self.next = None;
            }
        }
    }

    /// The last messages that may still be needed, each with its instant.
    pub(crate) fn last_messages(&self) -> impl Iterator<Item = (u32, Instant)> {
        let last = self.last.few_values();
        last.filter_map(|(number, last)| Some((number, last.at?)))
    }

    /// Drops the last messages up to this instant, except those of open windows.
    pub(crate) fn forget_messages(&mut self, up_to: Instant) -> Vec<u32> {
        let stale = self
            .last_messages()
            .filter(|(_, at)| *at <= up_to)
            .filter(|(number, _)| !self.open.contains(*number));
        let stale: Vec<u32> = stale.map(|(number, _)| number).collect();
        self.last.drop_all(stale.iter().copied());
        stale
    }
}
