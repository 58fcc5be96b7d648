//! The body of a flush.

use serde::{Deserialize, Serialize};
use tidings_core::{Command, Id};
use utoipa::ToSchema;

use super::fault::Fault;
use super::known_channel;
use super::text::Text;

/// Limits of a flush; without them all open lanes.
#[derive(Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"channel": "email"}))]
pub(crate) struct FlushLimits {
    /// Only lanes of this channel.
    pub(crate) channel: Option<String>,
    /// Only lanes of this name.
    #[schema(value_type = Option<String>)]
    pub(crate) lane: Option<Text<Id>>,
}

impl FlushLimits {
    /// The command that makes a recipient's open lanes due.
    ///
    /// # Errors
    /// A channel that there is not.
    pub(crate) fn command(self, recipient: Id) -> Result<Command, Fault> {
        self.channel.as_deref().map_or(Ok(()), known_channel)?;
        Ok(Command::Flush {
            recipient,
            channel: self.channel,
            lane: self.lane.map(|lane| lane.0.as_str().to_owned()),
        })
    }
}
