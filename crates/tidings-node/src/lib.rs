//! The runtime of tidings: it connects the pure core to a store, to clocks and to channels.
//!
//! [`Node`] is an engine whose decisions are durable. [`Player`] drives it on a virtual clock (the
//! simulator, the demo, the tests). A server's loop is a stepped function: [`Runtime`] drives it in real
//! time with threads, [`Stepped`] in the caller's thread. All send by the same [`Delivery`].

pub mod channel;
mod clock;
mod cluster;
mod commit;
mod delivery;
pub mod election;
mod error;
mod event_loop;
mod handle;
mod hooks;
mod keys;
mod node;
mod once;
mod packer;
mod player;
mod resolver;
mod restored;
mod runtime;
mod settings;
pub mod spans;
mod stepped;
mod token_key;
mod vitals;

pub use clock::{AheadClock, Clock, SystemClock, VirtualClock};
pub use cluster::candidate::{Candidate, Holder, Lag, OpenReport, Term, call_leases};
pub use cluster::follower::{Follower, LeaderLink};
pub use cluster::log_feed::FollowerReport;
pub use commit::durable::DurableSnapshot;
pub use commit::view::StoreView;
pub use commit::work::{AnswerRecorder, Replies};
pub use commit::workers::Threads;
pub use delivery::priority::Priority;
pub use delivery::ready::Ready;
pub use delivery::{Delivery, MaySend, Retries};
pub use error::{Error, RuntimeError, TENANTS_THERE};
pub use handle::Handle;
pub use handle::shares::{CallerId, FairQueue};
pub use handle::time_shares::TimeShares;
pub use hooks::{HookVitals, HooksVitals, hooks_stored};
pub use keys::{
    ApiKey, KeptAnswer, KeyChange, KeyHash, Role, SigningKey, SigningSecret, TOKEN_MS_MAX,
};
pub use node::{Accepted, AppliedEntries, Node, SLICE_RECIPIENTS_MAX};
pub use once::{IdempotencyHit, Once};
pub use player::{Collect, Observer, Out, PlayError, Player, sort_messages};
pub use resolver::{Resolved, Resolver, ResolverBounds};
pub use restored::pause_restored;
pub use runtime::{Ended, Runtime};
pub use settings::{OpenStore, Settings};
pub use stepped::Stepped;
pub use tidings_core::messages::Answered;
pub use token_key::token_key;
pub use vitals::{BOUNDS_S, Histogram, Reads, ResolverVitals, Vitals};
