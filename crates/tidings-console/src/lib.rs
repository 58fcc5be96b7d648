//! The console: pages for people who operate tidings, and tools for their assistants (contract, section 11).
//!
//! It shows and does what calls of the API do, with the same rights, and nothing else: [`Api`] is its only way to the
//! server. Every answer passes through [`mask`] before a page can see it, so no page has to remember to hide anything.

mod api;
mod assets;
mod call;
mod change;
mod console;
#[cfg(test)]
mod fake;
mod form;
mod mask;
mod mcp;
mod page;
mod plot;
mod problem;
mod query;
mod routes;
mod screens;
mod sentence;
mod show;
mod sign_in;
mod viewer;
mod words;

pub use api::{Api, Caller, CallerKind, Way};
pub use call::Call;
pub use console::Console;
pub use mask::{MASKED, ValueMask};
pub use mcp::McpEndpoint;
pub use problem::CallProblem;
pub use routes::router;
pub use sign_in::{PeerAddress, Place, ProxyPerson, Session, SignIn, from_here, signed_in};
pub use viewer::Viewer;
