//! A bucket: recipients with one journal, and the fold of its records.
//!
//! State changes only by [`Bucket::apply`]: live and on recovery the same records go through it, so
//! what was recovered is what there was.

mod capped;
mod change;
mod clock;
mod fold;
mod lanes;
mod pause;
pub(crate) mod people;
mod scheduled;
mod state;
pub(crate) mod storage;
pub(crate) mod tenant;

pub(crate) use lanes::lane::{Due, Lane, Terms};
pub(crate) use lanes::waiting::WaitingFilter;
pub(crate) use people::counted::{AsOf, Counts, TypeCounts};
pub(crate) use people::covering::{Looked, Marking};
pub(crate) use people::items::Items;
pub(crate) use people::marks::{MarkAt, Marks, ReaderMarks};
pub(crate) use people::mutes::{Left, Why};
pub(crate) use people::newest::NewestSeqs;
pub(crate) use people::preferences::Preference;
pub use people::preferences::{Applying, SetBy};
pub(crate) use scheduled::{Frozen, FrozenSubset};
pub(crate) use state::{Bucket, Closing, preferences_of};
