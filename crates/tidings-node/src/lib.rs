//! The runtime of tidings: it connects the pure core to a store, to clocks and to channels.
//!
//! [`Node`] is an engine whose decisions are durable. [`Player`] drives it on a virtual clock (the
//! simulator, the demo, the tests). A server's loop is a stepped function: [`Runtime`] drives it in real
//! time with threads, [`SteppedLoop`] in the caller's thread. All send by the same [`Delivery`].

pub mod backup;
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
mod player;
mod resolver;
mod runtime;
mod telemetry;

pub use clock::Clock;
pub use clock::monotonic::Monotonic;
pub use clock::system::{AheadClock, SystemClock};
pub use clock::virtual_clock::VirtualClock;
pub use cluster::candidate::{Candidate, LeaseCallbacks, OpenReport, Term, TermLag, call_leases};
pub use cluster::follower::{Follower, LeaderLink};
pub use cluster::log_feed::{FollowerReport, Learnt};
pub use commit::durable::DurableSnapshot;
pub use commit::idempotency::{IdempotencyHit, Once};
pub use commit::view::StoreView;
pub use commit::work::{AnswerRecorder, Replies};
pub use commit::workers::Threads;
pub use delivery::priority::Priority;
pub use delivery::ready::ReadyMessages;
pub use delivery::{Delivery, MaySend, Retries};
pub use error::{Error, RuntimeError, TENANTS_THERE};
pub use event_loop::settings::{OpenStore, Settings};
pub use handle::Handle;
pub use handle::shares::{CallerId, FairQueue};
pub use handle::time_shares::TimeShares;
pub use hooks::{HookVitals, HooksVitals, hooks_stored};
pub use keys::token_key::token_key;
pub use keys::{
    ApiKey, KeptAnswer, KeyChange, KeyHash, SESSION_IDLE_MS, SESSION_MS, Session, SignedIn,
    SigningKey, SigningSecret, TOKEN_MS_MAX,
};
pub use node::restored::pause_restored;
pub use node::{Accepted, AppliedEntries, Node, SLICE_RECIPIENTS_MAX};
pub use player::{MessageReceiver, Observer, PlayError, Player, PlayerOutput, sort_messages};
pub use resolver::{ResolvedObjects, Resolver, ResolverBounds};
pub use runtime::stepped::SteppedLoop;
pub use runtime::{EndSignal, Runtime};
pub use telemetry::spans::{Span, record_spans};
pub use telemetry::vitals::{
    BOUNDS_S, ChannelProvider, FailingReads, Histogram, ResolverVitals, Vitals,
};
pub use tidings_core::model::{Answered, Role};
