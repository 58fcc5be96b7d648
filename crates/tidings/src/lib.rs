//! The library and binary of tidings: configuration, timelines, HTTP API, command line. Decisions are
//! made in `tidings_core`.

pub mod app;
pub mod backup;
mod body;
pub mod cli;
pub mod client;
pub mod compare;
mod compat;
pub mod config;
mod data_schema;
pub mod embed;
mod explained;
mod html;
pub mod http;
pub mod import;
pub mod keys;
mod preview;
pub mod resolver;
pub mod server_files;
pub mod simulate;
pub mod telemetry;
pub mod timeline;
pub mod token;
pub mod warning;
pub mod wording;
pub mod zone;

pub use tidings_core::Rules;
