//! The runtime of tidings: it connects the pure core to a store, to clocks and to channels.
//!
//! [`Node`] is an engine whose decisions are durable. [`Player`] drives it on a virtual clock (the
//! simulator, the demo, the tests). A server's loop is a stepped function: [`Runtime`] drives it in real
//! time with threads, [`Stepped`] in the caller's thread. All send by the same [`Delivery`].

mod ahead;
pub mod channel;
mod clock;
mod complaints;
mod deferred;
mod delivery;
mod durable;
mod event_loop;
mod handle;
mod kept_back;
mod keys;
mod node;
mod once;
mod outbox;
mod packer;
mod player;
mod restored;
mod runtime;
mod send_job;
mod senders;
mod stepped;
mod view;
mod vitals;
mod waiting;

pub use clock::{AheadClock, Clock, SystemClock, VirtualClock};
pub use deferred::{Deferrals, Deferred, Said};
pub use delivery::{Delivery, Retries};
pub use durable::Durable;
pub use handle::{Handle, Replies, RuntimeError};
pub use keys::{ApiKey, KeptAnswer, KeyChange, KeyHash};
pub use node::{Accepted, Node, Priority, Ready, SLICE_RECIPIENTS_MAX};
pub use once::{AnswerRecorder, Kept, Once};
pub use player::{Observer, Out, PlayError, Player, Watch};
pub use restored::pause_restored;
pub use runtime::{Ended, OpenStore, Runtime, Settings};
pub use stepped::Stepped;
use tidings_core::BucketNo;
use tidings_core::journal::stored::Unreadable;
pub use view::StoreView;
pub use vitals::{Answered, BOUNDS_S, Histogram, Reads, Vitals};

/// A fatal error of a node, which is poisoned then: drop it, and open the store again.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] tidings_store::Error),
    /// A stored value can't be read or decoded.
    #[error("what is stored makes no sense: {0}")]
    Unreadable(#[from] Unreadable),
    /// The store refuses the writes of a bucket's chore. Earlier decisions are durable.
    #[error("what a chore of bucket {bucket} writes is refused: {fault}")]
    Chore {
        /// The bucket.
        bucket: BucketNo,
        /// The store's error.
        fault: tidings_store::Error,
    },
    /// The walk through the store and the ledger differ.
    #[error("the books don't balance: {0}")]
    Disagreement(String),
}
