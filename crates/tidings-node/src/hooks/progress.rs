//! The progress of a hook in an owner's occurrences, in memory and as a row.
//!
//! A row is consistent in itself: occurrences before its position were sent, or are in its list of open ones. After a
//! stop the hook goes on from there, so later calls are repeated, under the same ids.

use serde::{Deserialize, Serialize};
use tidings_core::Instant;
use tidings_core::engine::HookState;
use tidings_core::journal::{Key, Partition, ReadView, Table, Unreadable, Write, decode, encode};
use tidings_core::model::{OccurrenceOwner, OccurrenceRow};

/// An occurrence that is about to be sent, or failed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenOccurrence {
    /// Number of failed tries.
    pub(crate) tries: u32,
    /// The instant of the first one.
    pub(crate) first: Instant,
    /// The instant of the next one.
    pub(crate) next: Instant,
}

/// The row of a hook and an owner.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProgressRow {
    /// [`HookState::since`] then: a hook that was gone begins anew.
    pub(crate) since: Instant,
    /// [`HookState::replays`] then: the number of those that are in the position.
    pub(crate) replays: u64,
    /// The turn of the hook that a 410 ended.
    pub(crate) off: Option<u64>,
    /// The row to be read next.
    pub(crate) next: OccurrenceRow,
    /// The open occurrences, each by its row and index.
    pub(crate) open: Vec<(OccurrenceRow, u32, OpenOccurrence)>,
    /// The last answer to a call, of any owner.
    pub(crate) last: Option<(Instant, u16)>,
}

/// The progress of a hook in an owner's occurrences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HookProgress {
    /// The row to be read next.
    pub(crate) next: OccurrenceRow,
    /// The first row that is not counted yet; not before `next`.
    pub(crate) counted: OccurrenceRow,
    /// Number of occurrences between `next` and `counted` that the hook wants.
    pub(crate) behind: u64,
    /// True if the row differs from what is stored.
    pub(crate) is_dirty: bool,
}

impl HookProgress {
    /// The progress from a row on.
    pub(crate) fn from(next: OccurrenceRow) -> Self {
        Self { next, counted: next, behind: 0, is_dirty: false }
    }

    /// Goes back to an instant, unless it is before that.
    pub(crate) fn go_back(&mut self, since: Instant) {
        let first = OccurrenceRow::first(since);
        if first < self.next {
            *self = Self { is_dirty: true, ..Self::from(first) };
        }
    }

    /// Counts anew, as another kind is wanted.
    pub(crate) fn count_again(&mut self) {
        (self.counted, self.behind) = (self.next, 0);
    }

    /// Passes a row that was read, with the number of occurrences that the hook wants.
    pub(crate) fn pass(&mut self, row: OccurrenceRow, wanted: u64) {
        self.next = row.next();
        if row < self.counted {
            self.behind = self.behind.saturating_sub(wanted);
        }
        self.counted = self.counted.max(self.next);
        self.is_dirty |= wanted > 0;
    }

    /// Comes to the end of what there is.
    pub(crate) fn advance(&mut self, until: OccurrenceRow) {
        self.next = self.next.max(until);
        if self.counted <= self.next {
            (self.counted, self.behind) = (self.next, 0);
        }
    }
}

fn key(owner: OccurrenceOwner, name: &str) -> Vec<u8> {
    Key::of(owner.of_rows(), Table::HookProgress).bytes(name.as_bytes()).done()
}

/// The stored row of a hook and an owner, unless the hook began anew since.
pub(crate) fn read(
    view: &dyn ReadView,
    owner: OccurrenceOwner,
    name: &str,
    state: &HookState,
) -> Result<Option<ProgressRow>, Unreadable> {
    let row = view.get(Partition::Base, &key(owner, name))?;
    let row: Option<ProgressRow> =
        row.map(|row| decode("the progress of a hook", &row)).transpose()?;
    Ok(row.filter(|row| row.since == state.since))
}

/// The write that keeps a row.
pub(crate) fn write(owner: OccurrenceOwner, name: &str, row: &ProgressRow) -> Write {
    Write { partition: Partition::Base, key: key(owner, name), value: Some(encode(row)) }
}
