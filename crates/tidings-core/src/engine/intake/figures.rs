//! The figures of the intake: accepted events, and the day from which on figures are whole.

use crate::engine::figures::counting::{CountKey, FigureCounter, begin, since};
use crate::engine::figures::key::FigureSource;
use crate::engine::figures::measure::Slot;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::number::TypeNo;
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};

/// The figures that the intake counts.
#[derive(Clone, Debug)]
pub(crate) struct IntakeFigures {
    pub(crate) counter: FigureCounter,
    /// The first day whose figures are whole; `None` = it is not decided yet.
    since: Option<Day>,
    /// True if that day is stored.
    is_stored: bool,
}

impl IntakeFigures {
    /// The figures of a new store.
    pub(super) fn new() -> Self {
        let counter = FigureCounter::of(FigureSource::Intake);
        Self { counter, since: None, is_stored: false }
    }

    /// The figures of a store whose newest step was on a day.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(super) fn recover(view: &dyn ReadView, newest: Day) -> Result<Self, Unreadable> {
        let stored = since(view)?;
        // Of a store that did not count before, today is not whole.
        let since = Some(stored.unwrap_or(Day(newest.0 + 1)));
        Ok(Self { since, is_stored: stored.is_some(), ..Self::new() })
    }

    /// Returns true if the figures of a day are whole.
    pub(super) fn has_whole(&self, day: Day) -> bool {
        self.since.is_none_or(|since| since <= day)
    }

    /// Counts an event that is accepted at an instant.
    pub(super) fn count_event(&mut self, at: Instant, type_no: TypeNo, tenant: Option<TenantNo>) {
        let of = CountKey { at, type_no, tenant, channel: None };
        self.counter.add(of, Slot::EVENTS, 1);
    }

    /// Writes the rows that a step changed, and since when there are any.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn write(&mut self, draft: &mut Draft<'_>, now: Instant) -> Result<(), Unreadable> {
        if !self.is_stored && !draft.is_empty() {
            self.is_stored = true;
            begin(draft, *self.since.get_or_insert(now.day()));
        }
        self.counter.write(draft, now)
    }
}
