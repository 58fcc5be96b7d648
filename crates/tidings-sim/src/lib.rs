//! Tests of tidings against a naive second implementation of the contract, promised situations and
//! random worlds (and in `tests`, timelines of real life). The engine must agree with all of them.

pub mod cases;
pub mod cluster;
pub mod engine;
pub mod figures;
pub mod inbox;
pub mod lists;
pub mod live;
pub mod mix;
pub mod model;
pub mod nodes;
pub mod random;
pub mod rig;
pub mod subject;
pub mod text;

pub use model::{Model, Refused};
