//! The client against a real server, a proxy that does harm, and servers of other versions.

#![allow(clippy::unwrap_used, reason = "a test fails where something does")]

mod calls;
mod examples;
mod faults;
mod proxy;
mod readme;
mod server;
mod stub;
mod versions;
