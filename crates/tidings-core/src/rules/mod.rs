//! The rules of a configuration, compiled, and the deadlines that follow from them.

pub mod calendar;
pub mod compiled;
pub mod deadline;
pub mod lane_kind;
pub mod names;
pub mod presentation;

mod channel;
mod config;
mod hook;

pub use channel::{ChannelRules, DkimRules, QuietHours, Rate};
pub use config::{
    Admission, Cap, Category, Decide, Defaults, Digest, Every, FeedbackRules, HOURS,
    MAX_ITEMS_MOST, Per, Policy, ResolverRules, Route, Rules, StoreRules, TypeRules,
    UnknownOutcome, Unresolved, UsersRules, capitalised, in_words,
};
pub use hook::HookRules;
