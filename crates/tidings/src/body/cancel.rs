//! The body of a cancel.

use serde::{Deserialize, Serialize};
use tidings_core::command::Cancelled;
use tidings_core::{Command, Id};
use utoipa::ToSchema;

use super::fault::Fault;
use super::not_one;
use super::text::Text;

/// The events to cancel.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CancelKey, example = json!({"cancellation_key": "invoice-42"}))]
pub(crate) struct Cancel {
    /// One event. A call names it in its path.
    #[schema(ignore)]
    pub(crate) event: Option<Text<Id>>,
    /// Cancels all events published with this key so far.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    pub(crate) cancellation_key: Option<Text<Id>>,
}

impl Cancel {
    /// The command that cancels them.
    ///
    /// # Errors
    /// It does not name exactly one thing.
    pub(crate) fn command(self) -> Result<Command, Fault> {
        match (self.event, self.cancellation_key) {
            (Some(event), None) => Ok(Command::Cancel(Cancelled::Event(event.0))),
            (None, Some(key)) => Ok(Command::Cancel(Cancelled::Key(key.0))),
            (event, key) => Err(not_one(&[
                ("event", event.is_some()),
                ("cancellation_key", key.is_some()),
            ])),
        }
    }
}
