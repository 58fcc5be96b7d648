//! The figures: what was published, told, seen and muted, by day, which outlive the days themselves.
//!
//! They are counted in the commit that counts, by set and not by entry. A count goes to the rows of its (day, type, channel)
//! and, for [`HOURS_KEPT`] days, of its (hour, type, channel); for an event of a tenant also to that of its (day, tenant,
//! channel). Once the store has deleted a day, its rows by type become one compact row, so a range of years is a few
//! hundred rows to read. A count that comes later gets a row beside it: a reader sums whatever it finds.
//! Counts are signed, since the division of a store into shards may change: what one shard has counted another may take
//! back.

mod audit;
pub(super) mod chore;
pub(super) mod counting;
pub(super) mod counts;
pub(super) mod delays;
pub(super) mod key;
pub(super) mod measure;
pub(super) mod read;

pub use measure::{Delays, FigureValues, Measure};
pub use read::{FigureRow, FiguresQuery, FiguresReport, GroupBy};

/// Number of days whose rows of hours are kept, with today.
pub const HOURS_KEPT: i32 = 7;
