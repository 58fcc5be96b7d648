//! The rows of an inbox as a stream has sent them, and later differences.

use std::collections::{HashMap, HashSet};

use tidings_core::engine::{InboxRow, RowId};

/// Rows with the fingerprints of their content, in the order of the page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LiveRows(Box<[InboxRow]>);

/// The difference of two states of an inbox.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct InboxDifference {
    /// Rows that are new or have changed, in the order of the page.
    pub(super) changed: Vec<RowId>,
    /// Rows that are no longer there.
    pub(super) gone: Vec<RowId>,
}

impl LiveRows {
    pub(super) fn of(rows: Vec<InboxRow>) -> Self {
        Self(rows.into())
    }

    fn by_id(&self) -> HashMap<RowId, u64> {
        self.0.iter().map(|row| (row.id, row.fingerprint)).collect()
    }

    /// The changes since an older state.
    pub(super) fn since(&self, old: &Self) -> InboxDifference {
        if self == old {
            return InboxDifference::default();
        }
        let mut known = old.by_id();
        let is_changed = |row: &&InboxRow| known.remove(&row.id) != Some(row.fingerprint);
        let changed = self.0.iter().filter(is_changed).map(|row| row.id).collect();
        let gone = old.0.iter().map(|row| row.id).filter(|row| known.contains_key(row));
        InboxDifference { changed, gone: gone.collect() }
    }

    /// The state of a reader of an older one who got all differences but those rows.
    pub(super) fn without(&self, old: &Self, untold: &[RowId]) -> Self {
        let known = old.by_id();
        let untold: HashSet<&RowId> = untold.iter().collect();
        let shown = self.0.iter().filter_map(|row| {
            if untold.contains(&row.id) {
                let fingerprint = *known.get(&row.id)?;
                return Some(InboxRow { fingerprint, ..*row });
            }
            Some(*row)
        });
        Self(shown.collect())
    }
}
