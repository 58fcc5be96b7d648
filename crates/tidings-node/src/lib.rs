//! The runtime of tidings: what joins the pure core to a store, to clocks and to channels.
//!
//! [`Node`] is an engine whose decisions are durable. [`Player`] drives it on a virtual clock (the
//! simulator, the demo, the tests), [`Runtime`] in real time with threads (the server). Both send by
//! the same [`Delivery`].

mod ahead;
pub mod channel;
mod clock;
mod complaints;
mod deferred;
mod delivery;
mod handle;
mod kept_back;
mod node;
mod once;
mod packer;
mod player;
mod restored;
mod runtime;
mod senders;
mod shelf;
mod vitals;
mod waiting;

pub use clock::{AheadClock, Clock, SystemClock, VirtualClock};
pub use deferred::{Deferrals, Deferred, Said};
pub use delivery::{Delivery, Retries};
pub use handle::{Handle, Replies, RuntimeError};
pub use node::{Accepted, Node, Pace, Ready, SLICE_RECIPIENTS_MAX};
pub use once::{Keeper, Kept, Once};
pub use player::{Observer, Out, PlayError, Player, Watch};
pub use restored::pause_restored;
pub use runtime::{Ended, OpenStore, Runtime, Settings};
pub use shelf::StoreShelf;
use tidings_core::journal::at_rest::Unreadable;
pub use vitals::{Answered, BOUNDS_S, Histogram, Reads, Vitals};

/// Why a node can't go on. It is worthless then: drop it, and open what is stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] tidings_store::Error),
    /// What is stored can't be read or makes no sense.
    #[error("what is stored makes no sense: {0}")]
    Unreadable(#[from] Unreadable),
    /// The store refuses what a chore of a bucket writes. What was decided before it is durable.
    #[error("what a chore of bucket {bucket} writes is refused: {fault}")]
    Chore {
        /// Whose chore it is.
        bucket: u16,
        /// Why.
        fault: tidings_store::Error,
    },
    /// The walk through the store and the ledger don't agree.
    #[error("the books don't balance: {0}")]
    Disagreement(String),
}
