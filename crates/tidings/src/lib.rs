//! The library and binary of tidings: command line, assembly of the parts, embedding. Decisions are made in
//! `tidings_core`.

pub mod app;
pub mod cli;
pub mod client;
pub mod embed;
pub mod import;

pub use tidings_config as config;
pub use tidings_core::Rules;
