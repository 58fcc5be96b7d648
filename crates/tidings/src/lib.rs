//! The embeddable face of tidings, and all that its binary does: configuration, timelines, the
//! command line. What decides lives in `tidings_core`; here stand the doors to it.

pub mod app;
pub mod backup;
pub mod bench;
pub mod cli;
pub mod client;
pub mod config;
pub mod demo;
pub mod http;
pub mod import;
pub mod keys;
pub mod simulate;
pub mod timeline;
pub mod warning;
pub mod wording;
pub mod zone;
