//! The bodies of calls that try edits of the configuration.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_config::edit::Edit;
use utoipa::ToSchema;

use super::fault::Fault;
use super::known_channel;

/// Maximum number of edits.
const EDITS_MAX: usize = 100;

/// Maximum number of bytes of a key.
const KEY_BYTES_MAX: usize = 512;

/// Maximum number of days that are played.
const DAYS_MAX: u16 = 28;

/// Edits of the configuration, made one after the other.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Edits, example = json!({"edits": [{"key": "types.comment.channels.email.quiet", "value": "10m"}]}))]
pub struct EditsBody {
    /// The edits.
    #[schema(min_items = 1, max_items = 100)]
    edits: Vec<EditBody>,
}

/// An edit of the configuration.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Edit, example = json!({"key": "types.comment.channels.email.quiet", "value": "10m"}))]
pub struct EditBody {
    /// The dotted key, as TOML writes it, under `types`, `categories`, `digests` or `caps`; the index of an item of an
    /// array is a name, as in `caps.0.max`.
    #[schema(min_length = 1, max_length = 512)]
    key: String,
    /// Its value; null removes the key.
    #[schema(required)]
    value: Value,
}

/// A comparison of the configuration with itself under edits.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Comparison, example = json!({"edits": [{"key": "types.comment.channels.email.quiet", "value": "10m"}], "days": 7}))]
pub struct CompareBody {
    /// The edits.
    #[schema(min_items = 1, max_items = 100)]
    edits: Vec<EditBody>,
    /// The last days that are played, today (UTC) included.
    #[schema(minimum = 1, maximum = 28)]
    days: u16,
    /// The only channel that counts; absent = all but the inbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
}

/// The comparison to make: the edits, and how many of the last days.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareQuestion {
    /// The edits.
    pub edits: Vec<Edit>,
    /// The last days, today included.
    pub days: u16,
    /// The only channel that counts; `None` = all but the inbox.
    pub channel: Option<String>,
}

impl CompareBody {
    /// The comparison to make: the edits, and how many of the last days.
    ///
    /// # Errors
    /// As of [`EditsBody::edits`]; the days are too few or too many; there is no such channel.
    pub fn question(self) -> Result<CompareQuestion, Fault> {
        let Self { edits, days, channel } = self;
        let edits = EditsBody { edits }.edits()?;
        if !(1..=DAYS_MAX).contains(&days) {
            let reason = format!("`days` must be a whole number from 1 to {DAYS_MAX}, got {days}");
            return Err(Fault::new(reason, "Example: 7"));
        }
        if let Some(channel) = &channel {
            known_channel(channel)?;
        }
        Ok(CompareQuestion { edits, days, channel })
    }
}

impl EditsBody {
    /// The edits.
    ///
    /// # Errors
    /// There are none or too many, or a key is too long.
    pub fn edits(self) -> Result<Vec<Edit>, Fault> {
        let count = self.edits.len();
        if !(1..=EDITS_MAX).contains(&count) {
            let reason = format!("`edits` must have 1 to {EDITS_MAX} edits, got {count}");
            return Err(Fault::new(reason, r#"Example: [{"key": "caps.0.max", "value": 3}]"#));
        }
        if let Some(long) = self.edits.iter().find(|edit| edit.key.len() > KEY_BYTES_MAX) {
            let bytes = long.key.len();
            let reason = format!("`key` must have at most {KEY_BYTES_MAX} bytes, got {bytes}");
            return Err(Fault::new(reason, "edit the table that it is in as a whole"));
        }
        let edits = self.edits.into_iter();
        Ok(edits.map(|EditBody { key, value }| Edit { key, value }).collect())
    }
}
