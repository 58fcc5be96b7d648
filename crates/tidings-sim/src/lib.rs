//! Proof for tidings: a second, naive reading of the contract, the situations that were promised,
//! random worlds, and timelines of real life. The engine must agree with all of them.

pub mod cases;
pub mod engine;
pub mod rig;
pub mod convert;
pub mod model;
pub mod random;
pub mod subject;
pub mod text;

pub use model::{Model, Refused};
