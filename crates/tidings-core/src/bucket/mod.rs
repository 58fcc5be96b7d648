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

pub(crate) use lanes::lane::{DeadlineTerms, DueWindows, Lane};
pub(crate) use lanes::waiting::WaitingFilter;
pub(crate) use people::counted::{Counts, CountsVersion, TypeCounts};
pub(crate) use people::covering::{ComparedEntry, MarkedFields};
pub(crate) use people::inbox_item_states::InboxItemStates;
pub(crate) use people::marks::{MarkAt, Marks, ReaderMarks};
pub(crate) use people::mutes::{EntryReasons, UnmutedReasons};
pub(crate) use people::newest::NewestSeqs;
pub(crate) use people::preferences::Preference;
pub use people::preferences::{PreferenceInForce, SetBy};
pub(crate) use scheduled::{FrozenEvent, FrozenRecipients, FrozenSubset};
pub(crate) use state::{Bucket, Closing, preferences_of};
