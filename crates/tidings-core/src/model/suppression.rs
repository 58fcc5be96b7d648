//! Suppressed addresses, to which nothing is sent, whichever recipient has them.
//!
//! An address is suppressed on one channel, and not a recipient: it may belong to several of them, and it may come
//! back with another one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::model::channel::{self, ChannelNo};
use crate::model::time::Instant;

/// The reason why an address is suppressed.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SuppressedFor {
    /// An operator or the host said so.
    #[default]
    Manual,
    /// Messages to it come back.
    Bounce,
    /// Its owner called a message spam.
    Complaint,
    /// Its owner asked the provider for no more.
    Stop,
    /// The provider said that there is no such address any more.
    Gone,
}

impl SuppressedFor {
    /// All reasons.
    pub const ALL: [Self; 5] =
        [Self::Manual, Self::Bounce, Self::Complaint, Self::Stop, Self::Gone];

    /// Returns true if it ends when the host gives the address again: the app has it from the device anew, so it is there
    /// again. What people wish, or mail servers say, doesn't change by that.
    #[must_use]
    pub(crate) fn ends_when_given(self) -> bool {
        self == Self::Gone
    }

    /// The word of the reason.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::SuppressedFor;
    ///
    /// for reason in SuppressedFor::ALL {
    ///     assert_eq!(serde_json::to_value(reason)?, reason.word());
    /// }
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Bounce => "bounce",
            Self::Complaint => "complaint",
            Self::Stop => "stop",
            Self::Gone => "gone",
        }
    }
}

/// The suppression of an address on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    /// The reason.
    pub reason: SuppressedFor,
    /// The instant since which it holds.
    pub since: Instant,
    /// The instant from which on it holds no more; `None` = it holds until it is lifted.
    pub until: Option<Instant>,
}

impl Suppression {
    /// Returns true if it holds at an instant.
    #[must_use]
    pub fn holds(&self, at: Instant) -> bool {
        self.until.is_none_or(|until| at < until)
    }
}

/// A statement of a report about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressReport {
    /// It is suppressed for this reason.
    Suppressed(SuppressedFor),
    /// Its owner wants messages again, which lifts [`SuppressedFor::Stop`] alone.
    OptedIn,
    /// A message came back, and the next one may arrive. Five of five days within 30, with no arrival between them,
    /// suppress it for 30 days.
    Bounced(SuppressionSource),
    /// A message arrived. A report ends all earlier bounces; an answer of a provider ends its own refusals.
    Arrived(SuppressionSource),
}

/// The source of a statement about one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SuppressionSource {
    /// A report that came after the message was handed over.
    Report,
    /// The answer of a provider to the message.
    Provider(ProviderHash),
}

/// A provider, as bounces remember it: a hash of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderHash(u32);

impl ProviderHash {
    /// The hash of an address, which is one without secrets.
    #[must_use]
    pub fn of(address: &str) -> Self {
        let [a, b, c, d, ..] = xxh3_64(address.as_bytes()).to_le_bytes();
        Self(u32::from_le_bytes([a, b, c, d]))
    }
}

/// An address on a channel, as the list of suppressed addresses names it.
///
/// # Examples
/// ```
/// use tidings_core::model::{ChannelAddress, EMAIL_NO};
///
/// let address = ChannelAddress::new(EMAIL_NO, "Ada@Example.org");
/// assert_eq!(address.to_string(), "email:ada@example.org");
/// assert_eq!(address.to_string().parse(), Ok(address));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChannelAddress {
    channel: ChannelNo,
    address: String,
}

// An address is a recipient's, and belongs in no log.
impl fmt::Debug for ChannelAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChannelAddress({}, …)", self.channel.0)
    }
}

impl fmt::Display for ChannelAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.channel.name(), self.address)
    }
}

impl FromStr for ChannelAddress {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        let (channel, address) = text.split_once(':').ok_or(NotAnAddress)?;
        let channel = channel::sending_channels().find(|known| known.name == channel);
        let channel = channel.ok_or(NotAnAddress)?;
        Ok(Self::new(channel.number, address))
    }
}

/// An error: a text is not an address with its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a channel, a colon and an address")]
pub struct NotAnAddress;

impl ChannelAddress {
    /// The address in the form in which equal ones are the same text.
    #[must_use]
    pub fn new(channel: ChannelNo, address: &str) -> Self {
        let kind =
            channel::CHANNEL_KINDS.get(usize::from(channel)).and_then(|channel| channel.address);
        let address = kind.map_or_else(|| address.to_owned(), |kind| kind.compared(address));
        Self { channel, address }
    }

    /// The channel.
    #[must_use]
    pub fn channel(&self) -> ChannelNo {
        self.channel
    }

    /// The address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}
