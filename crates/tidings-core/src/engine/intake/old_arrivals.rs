//! The days of a version before lists, with how far their events are listed and indexed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::journal::stored::{ReadView, Unreadable, decode};
use crate::journal::table::{Key, Owner, Partition, Table};
use crate::model::time::Day;

/// The days of an earlier version whose events are not all listed and indexed.
#[derive(Clone, Debug, Default)]
pub(crate) struct OldArrivals(pub(super) BTreeMap<Day, OldDay>);

/// The progress of a day. Stored: grows at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum OldDay {
    /// Events are listed up to this key.
    Listing(Vec<u8>),
    /// All are listed.
    Indexing,
    /// All are indexed.
    Done,
}

/// The key of a day's progress.
pub(super) fn progress_key() -> Vec<u8> {
    Key::of(Owner::Intake, Table::OldIndexed).done()
}

impl OldArrivals {
    /// Finds what is to be done of days of an earlier version.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn recover(
        view: &dyn ReadView,
        days: impl Iterator<Item = Day>,
    ) -> Result<Self, Unreadable> {
        let mut all = BTreeMap::new();
        for day in days {
            let row = view.get(Partition::Day(day), &progress_key())?;
            let begins = || Ok(OldDay::Listing(Key::of(Owner::Intake, Table::Ids).done()));
            let progress = row.map_or_else(begins, |row| decode("the progress of a day", &row))?;
            if progress != OldDay::Done {
                all.insert(day, progress);
            }
        }
        Ok(Self(all))
    }

    /// Number of days whose events are not all listed and indexed.
    pub(crate) fn days(&self) -> usize {
        self.0.len()
    }

    pub(super) fn forget(&mut self, day: Day) {
        self.0.remove(&day);
    }
}
