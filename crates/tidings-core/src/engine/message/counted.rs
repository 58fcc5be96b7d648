//! Messages in the figures: each counts once, on the day on which it was due and for the type of its first entry.

use std::sync::Arc;

use crate::bucket::Bucket;
use crate::engine::figures::counting::{CountKey, FigureCounter};
use crate::engine::figures::measure::Slot;
use crate::journal::stored::{ReadView, StoredArrival, Unreadable};
use crate::model::channel::ChannelNo;
use crate::model::messages::{Answered, MessageState};
use crate::model::number::Seq;
use crate::model::time::Instant;

/// A message as the figures count it.
pub(crate) struct CountedMessage {
    /// The instant at which it was due.
    pub(crate) due: Instant,
    pub(crate) channel: ChannelNo,
    /// The arrivals of its entries, of the days that are kept.
    pub(crate) entries: Vec<Arc<StoredArrival>>,
}

impl CountedMessage {
    /// A message with the arrivals of its entries.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn read(
        bucket: &Bucket,
        view: &dyn ReadView,
        (due, channel): (Instant, ChannelNo),
        seqs: impl IntoIterator<Item = Seq>,
    ) -> Result<Self, Unreadable> {
        let arrival = |seq| bucket.index.arrival(view, seq).transpose();
        let entries = seqs.into_iter().filter_map(arrival).collect::<Result<_, _>>()?;
        Ok(Self { due, channel, entries })
    }

    /// Counts it in its final state.
    pub(crate) fn count(&self, figures: &mut FigureCounter, state: MessageState) {
        if let Some((of, slot)) = self.of().zip(Slot::message(state)) {
            figures.add(of, slot, 1);
        }
    }

    /// Takes it back, since it goes again.
    pub(crate) fn take_back(&self, figures: &mut FigureCounter, state: MessageState) {
        if let Some((of, slot)) = self.of().zip(Slot::message(state)) {
            figures.take(of, slot, 1);
        }
    }

    /// Counts its items, once it was sent.
    pub(crate) fn count_items(&self, figures: &mut FigureCounter, sent: Instant) {
        for kept in &self.entries {
            let of = self.of_entry(kept);
            figures.add(of, Slot::ITEMS, 1);
            figures.add(of, Slot::delay(sent.0 - kept.arrival.t.0), 1);
        }
    }

    /// Counts what was reported of it, for the first time.
    pub(crate) fn count_report(&self, figures: &mut FigureCounter, answer: Answered) {
        if let Some((of, slot)) = self.of().zip(Slot::reported(answer)) {
            figures.add(of, slot, 1);
        }
    }

    /// The row of the message: that of its first entry; `None` = the days of all of them are deleted.
    pub(crate) fn of(&self) -> Option<CountKey> {
        let first = self.entries.iter().min_by_key(|kept| (kept.arrival.t, kept.arrival.place));
        first.map(|first| self.of_entry(first))
    }

    fn of_entry(&self, kept: &StoredArrival) -> CountKey {
        CountKey { at: self.due, ..CountKey::entries_of(&kept.arrival, self.channel) }
    }
}
