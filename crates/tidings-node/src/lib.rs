//! The runtime of tidings.

pub mod channel;
