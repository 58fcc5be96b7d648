//! The content of a message: its items, gathered into lines and groups.

pub mod batch;
pub mod group;
pub mod message;
