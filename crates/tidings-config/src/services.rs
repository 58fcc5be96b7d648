//! The sections of services beside tidings: the host's databases and services, and collectors of spans.

pub(super) mod compat;
pub mod feeds;
pub(super) mod hooks;
pub(super) mod resolver;
pub(super) mod telemetry;
