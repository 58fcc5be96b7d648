//! Trials of a configuration: a timeline is played under it on a virtual clock, and the messages under two
//! configurations are compared.

pub mod compare;
mod player;
pub mod simulate;

pub use player::{player, stoppable_player};
