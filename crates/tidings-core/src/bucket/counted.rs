//! A cache of inbox counts of days that are over, so that a badge is not counted again.
//!
//! On such a day nothing arrives any more: its count changes only with the reader's own marks, which
//! drop it when they are folded in, and with objects that are withdrawn or come back, whose number
//! stands beside it. Derived and bounded; losing it costs a count.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::time::Day;

/// The most readers of a bucket in the cache, some 500 bytes each for 35 days.
const READERS_KEPT: usize = 1024;

/// The number of groups of a day with an unseen and with an unread item.
pub(crate) type Counts = (u32, u32);

/// Counts by reader and day.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<FxHashMap<u32, OfReader>>);

#[derive(Debug, Default)]
struct OfReader {
    /// The count of withdrawals and restorations of objects when it was filled.
    withdrawals: u64,
    days: Vec<(Day, Counts)>,
}

impl Counted {
    /// The cached counts of a reader, if no object was withdrawn since.
    pub(crate) fn of(&self, number: u32, withdrawals: u64) -> Vec<(Day, Counts)> {
        let readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match readers.get(&number) {
            Some(known) if known.withdrawals == withdrawals => known.days.clone(),
            _ => Vec::new(),
        }
    }

    /// Caches the counts of a reader.
    pub(crate) fn keep(&self, number: u32, withdrawals: u64, days: Vec<(Day, Counts)>) {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() >= READERS_KEPT && !readers.contains_key(&number) {
            readers.clear();
        }
        readers.insert(number, OfReader { withdrawals, days });
    }

    /// Drops the counts of a reader whose marks have changed.
    pub(crate) fn drop_of(&mut self, number: u32) {
        let readers = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        readers.remove(&number);
    }
}
