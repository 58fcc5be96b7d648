//! The key layout: which table keeps what, under which key, in which partition.
//!
//! A key begins with its owner (a bucket, or the intake) and its table, so that an engine that
//! shares its store with others can tell from the key alone whose commit a write belongs to.
//! Integers are big-endian, so that the order of the bytes is the order of the numbers.

use crate::time::Day;

/// Where a key lives: forgetting a day drops its partition, whatever it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Partition {
    /// What outlives days: recipients, subscriptions, objects, ledger, checkpoints.
    Base,
    /// What was written on a UTC day.
    Day(Day),
}

/// One change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Where.
    pub partition: Partition,
    /// Which key.
    pub key: Vec<u8>,
    /// The new value; `None` deletes.
    pub value: Option<Vec<u8>>,
}
