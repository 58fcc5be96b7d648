//! Windows of digests that are due once they are full.
//!
//! A digest keeps no more of a window than where it begins. Where the rules bound it by a number of entries, the
//! windows that are opened then are kept whole beside it.

use roaring::RoaringBitmap;

use crate::bucket::lanes::lane::{Columns, EnteringEntries, Lane};
use crate::rules::deadline::Window;

impl Lane {
    /// Counts entries that entered a lane of which only the beginnings of windows are kept. With as many as it takes, a
    /// window is due, and stays so.
    pub(super) fn count_entries(
        &mut self,
        recipients: &RoaringBitmap,
        entering: EnteringEntries<'_>,
    ) {
        let Columns::Since(since) = &self.columns else {
            return;
        };
        if !entering.bounded && self.counts.is_empty() {
            return;
        }
        let entry = entering.entry(entering.parameters.unwrap_or_default());
        let mut full = RoaringBitmap::new();
        for number in recipients {
            let began = since.get(number);
            let opens = began == entering.seq && entering.bounded;
            if !opens && self.counts.get(number).since != began {
                // It was opened under rules that bound nothing.
                continue;
            }
            let window = self.counts.at(number);
            if opens {
                *window = Window::open(&self.kind, entry, began, entering.rules, None);
            } else {
                // Whom a preference brings here has no bound, and may be the first.
                let parameters = entering.parameters_in(window.rules).unwrap_or_default();
                window.join(&self.kind, entering.entry(parameters), None);
            }
            if window.fill(entering.at) {
                full.insert(number);
            }
        }
        if full.is_empty() {
            return;
        }
        self.counted |= &full;
        let mut sooner = self.wheel.remove_after(entering.at.0, &full);
        sooner |= self.parked.remove_after(entering.at.0, &full);
        self.wheel.insert_all(entering.at.0, &sooner);
        self.next = None;
    }
}
