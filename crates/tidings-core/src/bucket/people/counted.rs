//! A cache of inbox counts of days that are over, so that a badge is not counted again.
//!
//! On such a day nothing arrives any more: its count changes only with the reader's own marks, with objects
//! that are withdrawn or come back, and with events that are withdrawn. All stand beside it, so that readers of
//! older and of newer clones of a bucket share the cache. Derived and bounded; losing it costs a count.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use quick_cache::UnitWeighter;
use quick_cache::unsync::{Cache, DefaultLifecycle};
use rustc_hash::FxBuildHasher;

use super::newest::NewestSeqs;
use crate::model::number::{Seq, TypeNo};
use crate::model::tenant::TenantNo;
use crate::model::time::Day;

/// Maximum number of readers of a bucket in the cache, one to two kilobytes each for 35 days.
const READERS_MAX: usize = 1_024;
/// The number of readers for which a cache has room before it grows.
const READERS_EXPECTED: usize = 16;

/// The counts of the active rows of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Counts of each type and tenant with an unread row; the counts of all views are sums of them.
    pub(crate) types: Vec<TypeCounts>,
    /// The newest seqs of the entries that arrived on it.
    pub(crate) newest: NewestSeqs,
}

/// The counts of the active rows of a type and a tenant, or of none, on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeCounts {
    pub(crate) type_no: TypeNo,
    pub(crate) tenant: Option<TenantNo>,
    /// Rows with an unseen item.
    pub(crate) unseen: u32,
    /// Rows with an unread item.
    pub(crate) unread: u32,
}

/// Counts by reader and day.
#[derive(Clone)]
pub(crate) struct CountsByReader(Arc<Mutex<CountsCache>>);

type CountsCache = Cache<u32, ReaderCounts, UnitWeighter, FxBuildHasher>;

impl Default for CountsByReader {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Cache::with(
            READERS_EXPECTED,
            READERS_MAX as u64,
            UnitWeighter,
            FxBuildHasher,
            DefaultLifecycle::default(),
        ))))
    }
}

impl fmt::Debug for CountsByReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountsByReader").finish_non_exhaustive()
    }
}

/// The state of what changes the counts of a day that is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountsVersion {
    /// The seq of the reader's newest mark.
    pub(crate) marked: Seq,
    /// The count of withdrawals and restorations of objects.
    pub(crate) withdrawals: u64,
    /// The seq of the newest record that took something out of inboxes.
    pub(crate) hidden: Seq,
    /// The seq up to which days were deleted, which may have had items that came back on a later one.
    pub(crate) forgotten_to: Seq,
}

#[derive(Clone, Debug)]
struct ReaderCounts {
    as_of: CountsVersion,
    days: Arc<Vec<(Day, Counts)>>,
}

impl CountsByReader {
    /// The cached counts of a reader, if nothing has changed them since.
    pub(crate) fn of(&self, number: u32, as_of: CountsVersion) -> Arc<Vec<(Day, Counts)>> {
        let readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match readers.get(&number) {
            Some(known) if known.as_of == as_of => Arc::clone(&known.days),
            _ => Arc::default(),
        }
    }

    /// Caches the counts of a reader.
    pub(crate) fn keep(&self, number: u32, as_of: CountsVersion, days: Vec<(Day, Counts)>) {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readers.insert(number, ReaderCounts { as_of, days: Arc::new(days) });
    }
}
