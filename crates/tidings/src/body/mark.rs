//! The body of a mark: what a recipient has seen or read.

use serde::Deserialize;
use tidings_core::command::{MarkKind, Marked};
use tidings_core::{Command, Id, Instant};
use utoipa::ToSchema;

use super::fault::Fault;
use super::not_one;
use super::text::Text;

/// What to mark: exactly one of these.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Marked, example = json!({"object": "works/1"}))]
pub(crate) struct Mark {
    /// Marks all items that entered by this time.
    #[schema(value_type = Option<String>, format = "date-time")]
    up_to: Option<Text<Instant>>,
    /// Marks all items about this object that entered so far.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    object: Option<Text<Id>>,
    /// Marks the event with this id.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    event: Option<Text<Id>>,
}

impl Mark {
    /// The command that marks it for a recipient.
    ///
    /// # Errors
    /// It does not name exactly one thing.
    pub(crate) fn command(self, recipient: Id, kind: MarkKind) -> Result<Command, Fault> {
        let what = match (self.up_to, self.object, self.event) {
            (Some(at), None, None) => Marked::UpTo(at.0),
            (None, Some(object), None) => Marked::Object(object.0),
            (None, None, Some(event)) => Marked::Event(event.0),
            (up_to, object, event) => {
                return Err(not_one(&[
                    ("up_to", up_to.is_some()),
                    ("object", object.is_some()),
                    ("event", event.is_some()),
                ]));
            }
        };
        Ok(Command::Mark {
            recipient,
            what,
            kind,
        })
    }
}
