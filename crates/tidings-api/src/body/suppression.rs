//! The body of a suppression, and its address.

use serde::Deserialize;
use tidings_core::model::{AddressKind, ChannelAddress, SuppressedFor, sending_channels};
use tidings_core::{Command, Instant};
use utoipa::ToSchema;

use super::fault::{About, Fault};
use super::text::Text;
use super::unknown;

/// The reason and the end of a suppression.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Suppression, example = json!({"reason": "complaint", "expires_at": "2024-06-01T00:00:00Z"}))]
pub struct SuppressionBody {
    /// The reason; `manual` if absent.
    #[schema(value_type = Option<SuppressionReason>)]
    reason: Option<SuppressedFor>,
    /// Time at which the suppression ends; absent = never.
    #[schema(value_type = Option<String>, format = "date-time")]
    expires_at: Option<Text<Instant>>,
}

/// The reason of a suppression: `manual` (set by an operator or the host), `bounce` (messages come back), `complaint`
/// (its owner reported spam), `stop` (its owner opted out at the provider) or `gone` (the address no longer exists).
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a text of a variant would be one of the API's document")]
pub enum SuppressionReason {
    Manual,
    Bounce,
    Complaint,
    Stop,
    Gone,
}

/// A body without fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

impl SuppressionBody {
    /// The command that suppresses an address.
    pub fn command(self, address: ChannelAddress) -> Command {
        Command::Suppress {
            address,
            reason: self.reason.unwrap_or_default(),
            until: self.expires_at.map(Text::inner),
        }
    }
}

/// The address of a channel that sends messages.
///
/// # Errors
/// An inbox, an unknown channel, or an address that the channel can't have.
pub fn address(channel: &str, address: &str) -> Result<ChannelAddress, Fault> {
    let mut sending = sending_channels();
    let Some(known) = sending.find(|known| known.name == channel) else {
        let names = sending_channels().map(|known| known.name);
        let names: Vec<&str> = names.collect();
        let fault = unknown("channel", channel, names.iter().copied());
        return Err(fault.about(About::UnknownChannel));
    };
    let named = ChannelAddress::new(known.number, address);
    let form = known.address.map_or("", AddressKind::form);
    let is_good = known.address.is_some_and(|kind| {
        let is_device = kind == AddressKind::WebPush && is_endpoint(named.address());
        is_device || kind.accepts(address)
    });
    if is_good {
        return Ok(named);
    }
    // Without the address itself: it is a recipient's.
    let reason = format!("`address` is not an address of the {} channel", known.title);
    Err(Fault::new(reason, format!("write it as `{form}`")))
}

/// Returns true if a text is the endpoint of a device, which identifies its subscription.
fn is_endpoint(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic();
    text.starts_with("https://") && text.len() <= 2048 && text.bytes().all(is_plain)
}
