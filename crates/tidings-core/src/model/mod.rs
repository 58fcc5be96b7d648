//! The concepts of the API as plain, checked data: nothing here decides.

pub mod batch_key;
pub mod channel;
pub mod command;
pub mod data;
pub mod event;
pub mod explanation;
pub mod id;
pub(crate) mod item;
pub mod limits;
pub mod messages;
pub mod number;
pub mod occurrence;
pub mod pause;
pub mod preference;
pub mod reason;
pub mod recipient;
pub mod suppression;
pub mod tenant;
pub mod time;
pub mod topic;
