//! The formats of the API: bodies of calls, lines of timelines, tokens and keys as texts, and what is shown of an
//! event's path and of figures. Every way in (HTTP, timelines, imports, the command line) reads them here.

pub mod body;
pub mod compat;
pub mod explained;
pub mod figures;
pub mod html;
pub mod keys;
pub mod preview;
pub mod sessions;
pub mod timeline;
pub mod token;
pub mod warning;
