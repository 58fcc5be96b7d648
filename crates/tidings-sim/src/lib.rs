//! Proof for tidings: a second, naive reading of the contract, the situations that were promised,
//! random worlds, and timelines of real life. The engine must agree with all of them.

pub mod model;

pub use model::{Model, Refused};
