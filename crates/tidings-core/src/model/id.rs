//! Identifiers of the host application: opaque, bounded, compared byte by byte.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of bytes of an identifier (contract, opening paragraph).
pub const ID_BYTES_MAX: usize = 256;

/// An identifier given by the host application: 1 to 256 bytes of UTF-8 without control characters.
///
/// Recipients, events, objects, actors, targets, topics and cancellation keys are named by it. Cheap
/// to clone. Order is the order of the bytes.
///
/// # Examples
/// ```
/// use tidings_core::Id;
///
/// // Ids are opaque: case counts, and the order is that of the bytes.
/// assert_ne!(Id::new("Ada")?, Id::new("ada")?);
/// assert!(Id::new("Zoe")? < Id::new("ada")?);
/// # Ok::<(), tidings_core::model::IdError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Id(Arc<str>);

/// The reason why a text is not an [`Id`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text is empty.
    #[error("an id must have at least one byte")]
    Empty,
    /// The text is longer than [`ID_BYTES_MAX`].
    #[error("an id must have at most {ID_BYTES_MAX} bytes, got {0}")]
    TooLong(usize),
    /// The text has a control character, at this byte.
    #[error("an id must not have control characters, got one at byte {0}")]
    Control(usize),
}

impl Id {
    /// Reads an id.
    ///
    /// # Errors
    /// [`IdError`] is the rule that the text breaks.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Id;
    /// use tidings_core::model::IdError;
    ///
    /// assert_eq!(Id::new(""), Err(IdError::Empty));
    /// assert_eq!(Id::new("a\tb"), Err(IdError::Control(1)));
    /// // The bound is in bytes: 129 letters of two bytes each are too many.
    /// assert_eq!(Id::new(&"é".repeat(129)), Err(IdError::TooLong(258)));
    /// ```
    pub fn new(text: &str) -> Result<Self, IdError> {
        if text.is_empty() {
            return Err(IdError::Empty);
        }
        if text.len() > ID_BYTES_MAX {
            return Err(IdError::TooLong(text.len()));
        }
        match text.char_indices().find(|(_, c)| c.is_control()) {
            Some((at, _)) => Err(IdError::Control(at)),
            None => Ok(Self(text.into())),
        }
    }

    /// The text of the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl std::borrow::Borrow<str> for Id {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for Id {
    type Error = IdError;

    fn try_from(text: &str) -> Result<Self, IdError> {
        Self::new(text)
    }
}

impl std::str::FromStr for Id {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::new(text)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

/// The number of a bucket: a shard of the recipients, whose bucket is a hash of their id.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct BucketNo(pub u16);

impl BucketNo {
    /// The bucket of a recipient among `buckets`: always the same, on every machine.
    ///
    /// The hash is xxh3, as it is specified, stable and fast on short keys; those of the standard library may change or
    /// have a seed. It is not cryptographic: a host that crowds one bucket slows its own installation alone. Tenants that
    /// distrust each other would need a keyed hash for each installation.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::BucketNo;
    ///
    /// // Rows are stored by it: the number of a recipient's bucket never changes.
    /// assert_eq!(BucketNo::of("ada", 16), BucketNo(15));
    /// // No buckets count as one.
    /// assert_eq!(BucketNo::of("ada", 0), BucketNo(0));
    /// ```
    #[must_use]
    pub fn of(recipient: &str, buckets: u16) -> Self {
        let bucket = xxh3_64(recipient.as_bytes()) % u64::from(buckets.max(1));
        Self(u16::try_from(bucket).expect("a remainder is less than its divisor"))
    }
}

impl fmt::Display for BucketNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_kept() {
        assert_eq!(Id::new(""), Err(IdError::Empty));
        assert_eq!(Id::new(&"x".repeat(257)), Err(IdError::TooLong(257)));
        assert_eq!(Id::new("a\nb"), Err(IdError::Control(1)));
        assert!(Id::new(&"é".repeat(128)).is_ok());
    }

    #[test]
    fn order_is_that_of_the_bytes() {
        assert!(Id::new("Z").unwrap() < Id::new("a").unwrap());
        assert!(Id::new("z").unwrap() < Id::new("é").unwrap());
    }
}
