//! The entries of urgent types in a lane's windows.

use roaring::RoaringBitmap;

use super::late::remove_from;
use crate::model::number::Seq;
use crate::sets::shared::{Shared, Tree};

/// The recipients with an entry of an urgent type in their window, by the seq of its arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct UrgentRecipients(Tree<Seq, Shared<RoaringBitmap>>);

impl UrgentRecipients {
    /// Notes the entries of an arrival.
    pub(super) fn note(&mut self, seq: Seq, recipients: &RoaringBitmap) {
        **self.0.or_default(seq) |= recipients;
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Seq, &RoaringBitmap)> {
        self.0.iter().map(|(seq, recipients)| (*seq, &**recipients))
    }

    /// Returns true if an arrival put an entry into a window.
    pub(crate) fn has(&self, seq: Seq) -> bool {
        self.0.contains_key(&seq)
    }

    /// The seqs of the arrivals that put an entry into a window.
    pub(crate) fn seqs(&self) -> impl Iterator<Item = Seq> {
        self.0.keys().copied()
    }

    /// Drops the entries of windows that close.
    pub(super) fn remove(&mut self, recipients: &RoaringBitmap) {
        remove_from(&mut self.0, recipients);
    }

    /// Returns true if an entry before this seq is known.
    pub(crate) fn has_before(&self, first: Seq) -> bool {
        let known = self.0.first();
        known.is_some_and(|(seq, _)| *seq < first)
    }

    /// Drops what is known of entries before this seq, whose days are deleted.
    pub(crate) fn forget_before(&mut self, first: Seq) {
        self.0.remove_before(&first);
    }
}
