//! The pure core of tidings.
//!
//! Everything that decides lives here: who hears of an event, when a lane is due, what a message
//! tells, how it is all folded from a journal of sets. Nothing here does I/O, reads a clock, draws
//! a random number or awaits. `cargo xtask tidy` and this crate's `clippy.toml` keep it so.

#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod audience;
pub mod batch;
mod bucket;
pub mod calendar;
pub mod channel;
pub mod codec;
pub mod command;
pub mod deadline;
pub mod engine;
pub mod event;
pub mod group;
pub mod headers;
pub mod id;
pub mod journal;
pub mod law;
pub mod limits;
pub mod message;
pub mod packed;
pub mod pause;
pub mod places;
pub mod postings;
pub mod reason;
pub mod recipient;
pub mod rules;
pub mod set;
pub mod table;
pub mod time;
pub mod topic;

pub use batch::Batch;
pub use command::{Command, Timed};
pub use event::{Audience, Event, Near, Object};
pub use headers::Header;
pub use id::{BucketNo, Id, IdError};
pub use limits::Limits;
pub use message::{Books, Item, Message, Skipped};
pub use pause::Paused;
pub use reason::{Ending, Outcome, Reason};
pub use recipient::{Mode, PreferenceScope, Recipient, RecipientChange, State};
pub use rules::Rules;
pub use set::Set;
pub use time::{Day, Instant};
