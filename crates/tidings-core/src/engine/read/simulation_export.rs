//! Reads of the last days for an export: all recipients, and the events as they were accepted.
//!
//! A simulation plays them under another configuration.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::engine::read::reader::Reader;
use crate::engine::rows::event_row::{EventRow, row_key};
use crate::journal::stored::{Unreadable, from_json};
use crate::journal::table::Partition;
use crate::model::event::Event;
use crate::model::number::{EventNo, RecipientNo};
use crate::model::recipient::Recipient;
use crate::model::time::{Day, Instant};

impl<'a> Reader<'a> {
    /// The profiles of all recipients, by id.
    #[must_use]
    pub fn profiles(&self) -> Vec<&'a Recipient> {
        let engine = self.engine;
        let mut all: Vec<&'a Recipient> = Vec::new();
        for bucket in engine.shards.buckets() {
            let numbers = bucket.roster.everyone.iter();
            all.extend(numbers.filter_map(|number| bucket.roster.profile(RecipientNo(number))));
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
    }

    /// Visits the events of the kept days from one on, in the order in which they entered lanes, until the visitor
    /// breaks. An instant comes with each: of its acceptance, or of the one before where it was scheduled and that is
    /// later. An event that is still scheduled is not among them.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn each_event(
        &self,
        from: Day,
        visit: &mut dyn FnMut(Instant, Event) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        let Reader { engine, view } = *self;
        let mut passage = EventRangeVisit {
            from: from.start(),
            last: from.start(),
            seen: BTreeSet::new(),
            visit,
        };
        for (day, _) in engine.intake.days.range(from..) {
            let mut fault = Ok(());
            let mut is_over = false;
            let (first, end) = (row_key(0), row_key(u32::MAX));
            view.scan(Partition::Day(*day), &first, Some(&end), &mut |_, lines| match passage
                .row(lines)
            {
                Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
                Ok(ControlFlow::Break(())) => {
                    is_over = true;
                    ControlFlow::Break(())
                }
                Err(unreadable) => {
                    fault = Err(unreadable);
                    ControlFlow::Break(())
                }
            })?;
            fault?;
            if is_over {
                break;
            }
        }
        Ok(())
    }
}

/// A way through the events.
struct EventRangeVisit<'v> {
    from: Instant,
    last: Instant,
    /// Events with several instants, which have a row on each day of them.
    seen: BTreeSet<EventNo>,
    visit: &'v mut dyn FnMut(Instant, Event) -> ControlFlow<()>,
}

impl EventRangeVisit<'_> {
    /// Visits the events of a stored row.
    fn row(&mut self, lines: &[u8]) -> Result<ControlFlow<()>, Unreadable> {
        for line in lines.split(|byte| *byte == b'\n') {
            let mut row: EventRow = from_json("an event", line)?;
            let enters = row.enters();
            if enters.len() > 1 && !self.seen.insert(row.place) {
                continue;
            }
            // It came before, and only channels that come after the inbox are of these days.
            if row.enters_first().last().is_some_and(|t| *t < self.from) {
                continue;
            }
            // A delay counts from the acceptance, which may be before the instant that it gets here.
            if let Some(delay_ms) = row.event.delay_ms.take() {
                row.event.deliver_at = Some(row.came_at().plus_ms(delay_ms));
            }
            self.last = self.last.max(row.arrived);
            if (self.visit)(self.last, row.event).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
