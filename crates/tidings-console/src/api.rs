//! The console's way to the server: calls of the API, made in a caller's name.

use async_trait::async_trait;
use axum::http::StatusCode;
use jiff::Timestamp;
use serde_json::Value;

use crate::call::Call;
use crate::problem::CallProblem;
use crate::viewer::Viewer;

/// The author of a call, for the log of changes, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// A key, or a person whom a proxy vouches for.
    pub kind: CallerKind,
    /// The id of the key, or the name that the proxy gives the person.
    pub id: String,
    /// The name of the role.
    pub role: &'static str,
    /// The way in.
    pub way: Way,
}

impl Caller {
    /// A developer, who needs no key.
    #[must_use]
    pub fn developer(way: Way) -> Self {
        Self { kind: CallerKind::Key, id: "dev".to_owned(), role: "admin", way }
    }
}

/// The kind of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerKind {
    /// The holder of an API key.
    Key,
    /// A person.
    Person,
}

/// The way in of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The pages.
    Console,
    /// The tools of an assistant.
    Mcp,
}

/// The API of the server.
#[async_trait]
pub trait Api: Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// The fields of `data` that are not masked (`[console] show`), as `data.plan`.
    fn shown_data(&self) -> Vec<String>;

    /// Returns true if a role may make the call of this name, by the table of calls.
    fn may(&self, role: &str, operation: &str) -> bool;

    /// Returns true for a developer's server (`--dev`), where everybody is signed in as `admin`.
    fn is_dev(&self) -> bool;

    /// Makes a call. An answer without a body is null.
    ///
    /// # Errors
    /// The refusal of the call.
    async fn call(&self, caller: &Caller, call: Call) -> Result<Value, CallProblem>;

    /// Notes that a viewer opens the name, addresses and texts of a recipient (`person.shown` in the log of changes).
    ///
    /// # Errors
    /// The recipient is unknown, or the server has no such note; nobody is opened then.
    async fn open_person(&self, viewer: &Viewer, recipient: &str) -> Result<(), CallProblem> {
        let _ = (viewer, recipient);
        let detail = "This server can't open people.";
        Err(CallProblem::new(StatusCode::NOT_IMPLEMENTED, "not_implemented", detail))
    }

    /// Notes that an assistant calls a tool (`mcp.called` in the log of changes).
    ///
    /// # Errors
    /// The server has no such note; the tool is not called then.
    async fn log_tool_call(&self, caller: &Caller, tool: &'static str) -> Result<(), CallProblem>;

    /// Draws a text that nobody can guess.
    ///
    /// # Errors
    /// The system has no random bits.
    fn secret(&self) -> Result<String, CallProblem>;
}
