//! `tidings demo`: a real stretch of a museum's history, played on a virtual clock.
//!
//! It exists so that a fresh clone shows within a minute what tidings does: true dates, true places
//! and a true shape of who follows whom, so that what goes wrong with real audiences would go wrong
//! here. [`museum`] reads the embedded data, [`world`] chooses the recipients,
//! [`mod@scenario`] has the events in order, [`mod@play`] runs them through the engine, [`story`] tells the outcome on a
//! page that leads to the server's own pages over the same store.
//!
//! Nothing here draws a random number that is not of a fixed seed, and the only clock is a stopwatch:
//! what it shows decides nothing.

pub mod command;
pub mod fan_out;
pub mod museum;
pub mod play;
mod postbox;
mod random;
pub mod scenario;
mod stopwatch;
pub mod story;
mod text;
pub mod world;

pub use play::play;
pub use scenario::{Scenario, scenario};
