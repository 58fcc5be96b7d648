//! The body of the deletion of days.

use serde::{Deserialize, Serialize};
use tidings_core::{Command, Day};
use utoipa::ToSchema;

use super::text::Text;

/// The days to delete.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"before": "2024-01-31"}))]
pub(crate) struct ForgetDays {
    /// The first day (UTC) that is kept.
    #[schema(value_type = String, format = "date")]
    pub(crate) before: Text<Day>,
}

impl ForgetDays {
    /// The command that deletes them.
    pub(crate) fn command(self) -> Command {
        Command::Forget {
            before: self.before.0,
        }
    }
}
