//! The rules of a configuration, compiled, and the deadlines that follow from them.

pub mod calendar;
pub mod compiled;
pub mod deadline;
pub mod lane_kind;
mod lane_name;
pub mod names;
pub mod presentation;
pub mod schema;
mod tenant;

mod channel;
mod config;
mod digest;
mod hook;

pub use channel::{Allowed, ChannelRules, DkimRules, QuietHours, Rate};
pub use config::{
    Admission, Cap, Category, CompatRules, Decide, Defaults, FeedRules, FeedbackRules,
    MAX_ITEMS_MOST, OnRefusal, Per, Policy, ResolverRules, Route, Rules, StoreRules,
    TelemetryRules, TypeRules, UnknownOutcome, Unresolved, UsersRules, capitalised, in_words,
};
pub use digest::{Choosable, Digest, Every, HOURS, QUARTER_MINUTES};
pub use hook::HookRules;
pub use lane_name::{REQUIRED, lane_stem};
pub use tenant::{TenantRules, UnknownTenant};
