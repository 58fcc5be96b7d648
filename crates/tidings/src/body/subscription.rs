//! The body of a subscription.

use serde::Deserialize;
use tidings_core::{Command, Id};
use utoipa::ToSchema;

use super::fault::Fault;
use super::text::Text;

/// A subscription to add or to remove.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"recipient": "ada", "topic": "artist/42"}))]
pub(crate) struct Subscription {
    /// Id of the recipient.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    recipient: Text<Id>,
    /// The topic.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    topic: Text<Id>,
    /// Whether to remove the subscription.
    unsubscribe: Option<bool>,
}

impl Subscription {
    /// The command that adds or removes it, as it says itself.
    pub(crate) fn command(self) -> Command {
        let (recipient, topic) = (self.recipient.0, self.topic.0);
        match self.unsubscribe {
            Some(true) => Command::Unsubscribe { recipient, topic },
            _ => Command::Subscribe { recipient, topic },
        }
    }

    /// The command that adds or removes it, where something else has said which.
    ///
    /// # Errors
    /// It says so itself.
    pub(crate) fn said(self, unsubscribe: bool) -> Result<Command, Fault> {
        if self.unsubscribe.is_some() {
            return Err(Fault::new("unknown field `unsubscribe`", "remove it"));
        }
        let unsubscribe = Some(unsubscribe);
        Ok(Self {
            unsubscribe,
            ..self
        }
        .command())
    }
}
