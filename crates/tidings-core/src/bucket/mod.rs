//! A bucket: a shard of recipients with one writer, and the fold of its journal.
//!
//! State changes only by [`Bucket::apply`]: live and on recovery the same records go through it, so
//! what was recovered is what there was.

mod caps;
mod change;
pub(crate) mod checkpoint;
mod chore;
mod clock;
mod column;
mod counted;
mod counting;
mod ended;
mod fold;
mod followers;
mod forget;
mod known;
mod lane;
mod lanes;
mod marks;
mod mutes;
mod pause;
mod preferences;
pub(crate) mod recovery;
mod roster;
mod scheduled;
mod state;
mod values;
mod waiting;
mod wheel;

pub(crate) use counted::{AsOf, Counts};
pub(crate) use lane::{Due, Lane, Terms};
pub(crate) use marks::{Looked, MarkAt, Marking, Marks, Reading, State};
pub(crate) use mutes::{Left, Why};
pub(crate) use scheduled::{Frozen, FrozenPart};
pub(crate) use state::{Bucket, Closing};
use state::{Dirty, version_at};
