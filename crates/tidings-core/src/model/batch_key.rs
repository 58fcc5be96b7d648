//! The part of a lane's address that derives from the content of an event.
//!
//! A recipient has a lane for each (channel, lane name, batch key), so that entries about one document wait apart from
//! those about another (contract, section 6). The key derives from the event alone, so an event has one key on a
//! channel for all recipients.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::channel::ChannelNo;
use crate::model::number::{LaneNo, TenantNo};

/// Maximum number of bytes of a batch key.
pub(crate) const BATCH_KEY_BYTES_MAX: usize = 256;

/// A batch key: a text of at most `BATCH_KEY_BYTES_MAX` bytes, mostly the empty one. Cheap to clone. Order is
/// the order of the bytes.
///
/// # Examples
/// ```
/// use tidings_core::model::BatchKey;
///
/// let key = BatchKey::new("doc/7")?;
/// assert_eq!(key.as_str(), "doc/7");
/// assert!(BatchKey::EMPTY < key);
/// assert!(BatchKey::new(&"x".repeat(257)).is_err());
/// # Ok::<(), tidings_core::model::BatchKeyTooLong>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchKey(Option<Arc<str>>);

/// The refusal of a batch key with this number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a batch key has at most {BATCH_KEY_BYTES_MAX} bytes, got {0}")]
pub struct BatchKeyTooLong(pub usize);

/// The refusal of an event: its batch key on a channel is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error(
    "the batch key on the channel `{}` has {bytes} bytes, more than {BATCH_KEY_BYTES_MAX}",
    channel.name()
)]
pub struct KeyTooLong {
    /// The channel.
    pub channel: ChannelNo,
    /// Number of bytes of the key.
    pub bytes: usize,
}

impl KeyTooLong {
    /// Advice on how to fix it.
    #[must_use]
    pub fn hint(&self) -> String {
        let channel = self.channel.name();
        format!(
            "`batch_key` of the type on {channel} makes the key of what was published: let it choose something \
             shorter, such as an id; at most {BATCH_KEY_BYTES_MAX} bytes are accepted, got {}",
            self.bytes
        )
    }
}

impl BatchKey {
    /// The key of whatever has none.
    pub const EMPTY: Self = Self(None);

    /// Reads a key.
    ///
    /// # Errors
    /// [`BatchKeyTooLong`].
    pub fn new(text: &str) -> Result<Self, BatchKeyTooLong> {
        match text.len() {
            0 => Ok(Self::EMPTY),
            len if len > BATCH_KEY_BYTES_MAX => Err(BatchKeyTooLong(len)),
            _ => Ok(Self(Some(text.into()))),
        }
    }

    /// The text of the key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns true if it is the empty key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl Serialize for BatchKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for BatchKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

/// The batch keys of an event by channel, without those that are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchKeys(Vec<ChannelKey>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ChannelKey {
    channel: ChannelNo,
    key: BatchKey,
}

impl BatchKeys {
    /// Adds the key of a channel that has none yet.
    pub fn add(&mut self, channel: ChannelNo, key: BatchKey) {
        if !key.is_empty() {
            self.0.push(ChannelKey { channel, key });
        }
    }

    /// The key on a channel.
    #[must_use]
    pub fn of(&self, channel: ChannelNo) -> &BatchKey {
        let mut of_channel = self.0.iter().filter(|of| of.channel == channel);
        of_channel.next().map_or(&BatchKey::EMPTY, |of| &of.key)
    }

    /// Returns true if the key is empty on each channel.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The address of a lane among those of a recipient. Order is that in which lanes are due at one instant (contract,
/// section 12).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LaneKey {
    /// The number of its channel, name and kind.
    pub lane: LaneNo,
    /// The batch key.
    pub key: BatchKey,
    /// The tenant of its entries; `None` = of none.
    pub tenant: Option<TenantNo>,
}

impl LaneKey {
    /// Returns true if the number is all of it: no batch key, and no tenant.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.key.is_empty() && self.tenant.is_none()
    }
}

impl From<LaneNo> for LaneKey {
    /// The lane with the empty key, of no tenant.
    fn from(lane: LaneNo) -> Self {
        Self { lane, key: BatchKey::EMPTY, tenant: None }
    }
}
