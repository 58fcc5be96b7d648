//! The runtime of tidings: it connects the pure core to a store, to clocks and to channels.
//!
//! [`Node`] is an engine whose decisions are durable. [`Player`] drives it on a virtual clock (the
//! simulator, the demo, the tests). A server's loop is a stepped function: [`Runtime`] drives it in real
//! time with threads, [`Stepped`] in the caller's thread. All send by the same [`Delivery`].

mod candidate;
pub mod channel;
mod clock;
mod commit;
mod commit_pipeline;
mod complaints;
mod delivery;
mod durable;
pub mod election;
mod error;
mod event_loop;
mod executor;
mod follower;
mod handle;
mod kept_back;
mod keys;
mod log_feed;
mod node;
mod once;
mod outbox;
mod packer;
mod player;
mod priority;
mod ready;
mod resolver;
mod resolving;
mod restored;
mod runtime;
mod send_job;
mod senders;
mod sending;
mod settings;
mod stepped;
mod token_key;
mod view;
mod vitals;
mod waiting;
mod work;
mod workers;

pub use candidate::{Candidate, Holder, Lag, Opened, Term, call_leases};
pub use clock::{AheadClock, Clock, SystemClock, VirtualClock};
pub use delivery::{Delivery, MaySend, Retries};
pub use durable::Durable;
pub use error::{Error, RuntimeError};
pub use follower::{Follower, LeaderLink};
pub use handle::Handle;
pub use keys::{ApiKey, KeptAnswer, KeyChange, KeyHash};
pub use log_feed::FollowerReport;
pub use node::{Accepted, AppliedEntries, Node, SLICE_RECIPIENTS_MAX};
pub use once::{Kept, Once};
pub use player::{Choose, NodesPlayer, Observer, Out, PlayError, Player, Watch};
pub use priority::Priority;
pub use ready::Ready;
pub use resolver::{Resolved, Resolver, ResolverBounds};
pub use restored::pause_restored;
pub use runtime::{Ended, Runtime};
pub use settings::{OpenStore, Settings};
pub use stepped::Stepped;
pub use tidings_core::messages::Answered;
pub use token_key::token_key;
pub use view::StoreView;
pub use vitals::{BOUNDS_S, Histogram, Reads, ResolverVitals, Vitals};
pub use work::{AnswerRecorder, Replies};
pub use workers::Threads;
