//! Counters of a server, and the text form in which they are read.

pub(crate) mod exposition;
pub(crate) mod requests;
