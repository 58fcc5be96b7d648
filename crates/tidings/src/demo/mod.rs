//! `tidings demo`: a real stretch of a museum's history, played on a virtual clock.
//!
//! It exists so that a fresh clone shows within a minute what tidings does: true dates, true places
//! and a true shape of who follows whom, so that what goes wrong with real audiences would go wrong
//! here. [`museum`] reads the data that is carried along, [`world`] settles who is told,
//! [`scenario`] says what happens when, [`page`] is where one looks at the outcome.
//!
//! Nothing here reads a clock or draws a random number that is not of a fixed seed.

pub mod museum;
pub mod page;
pub(crate) mod random;
pub mod scenario;
pub mod world;

pub use scenario::{Scenario, scenario};
