//! Tests of tidings against a naive second implementation of the contract, promised situations, random
//! worlds, and timelines of real life. The engine must agree with all of them.

pub mod cases;
pub mod convert;
pub mod engine;
pub mod live;
pub mod model;
pub mod random;
pub mod rig;
pub mod subject;
pub mod text;

pub use model::{Model, Refused};
