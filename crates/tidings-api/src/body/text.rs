//! Values that are texts in bodies, and bounds of values.
//!
//! The name of a field is put before the reasons given here (`read`).

use std::fmt::{self, Display};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tidings_config::duration;
use tidings_config::wording::quoted;
use tidings_core::model::{Trace, WallTime, check_topic};
use tidings_core::{Day, Id, Instant};

use super::address;
use super::fault::Fault;
use super::json::BorrowedText;

/// Maximum number of bytes of a title and of a recipient's name.
pub(crate) const TITLE_BYTES_MAX: usize = 1 << 10;

/// A value that is a text in a body.
#[derive(Clone, Debug)]
pub struct Text<T>(pub T);

impl<T> Text<T> {
    /// The value.
    pub fn inner(self) -> T {
        self.0
    }
}

/// A value that can be read from a text.
pub trait FromText: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// The rule that the text breaks, without the name of the field.
    fn from_text(text: &str) -> Result<Self, Fault>;
}

impl FromText for Id {
    fn from_text(text: &str) -> Result<Self, Fault> {
        Self::new(text).map_err(|error| {
            Fault::new(
                format!("must be an id, got {}: {error}", quoted(text)),
                "write 1 to 256 bytes of UTF-8 without control characters",
            )
        })
    }
}

/// A topic ([`tidings_core::model::check_topic`]).
#[derive(Clone, Debug)]
pub struct Topic(pub Id);

impl FromText for Topic {
    fn from_text(text: &str) -> Result<Self, Fault> {
        check_topic(text).map_err(|error| {
            let reason = format!("must be a topic, got {}: {error}", quoted(text));
            Fault::new(reason, error.hint())
        })?;
        Id::from_text(text).map(Self)
    }
}

impl Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromText for Instant {
    fn from_text(text: &str) -> Result<Self, Fault> {
        Self::parse(text).map_err(|_| {
            let hint = if text.starts_with("9999-") {
                "the latest is `9999-12-30T22:00:00Z`"
            } else {
                "write RFC 3339 with an offset, such as `2024-01-01T09:00:00Z`"
            };
            Fault::new(format!("must be a time, got {}", quoted(text)), hint)
        })
    }
}

impl FromText for Day {
    fn from_text(text: &str) -> Result<Self, Fault> {
        Self::parse(text).map_err(|_| {
            let reason = format!("must be a date, got {}", quoted(text));
            Fault::new(reason, "write a UTC date, such as `2024-01-31`")
        })
    }
}

/// A duration, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Wait(pub i64);

impl FromText for Wait {
    fn from_text(text: &str) -> Result<Self, Fault> {
        duration::parse(text).map(Self).map_err(|error| {
            let reason = format!("must be a duration, got {}: {error}", quoted(text));
            Fault::new(reason, error.hint())
        })
    }
}

impl Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&duration::print(self.0))
    }
}

impl FromText for Trace {
    fn from_text(text: &str) -> Result<Self, Fault> {
        text.parse().map_err(|error| {
            let reason = format!("must be a traceparent, got {}", quoted(text));
            Fault::new(reason, format!("{error}"))
        })
    }
}

impl FromText for WallTime {
    fn from_text(text: &str) -> Result<Self, Fault> {
        Self::parse(text).ok_or_else(|| {
            let reason = format!("must be a time without a zone, got {}", quoted(text));
            Fault::new(reason, "write a date and a time, such as `2024-05-01T09:00`")
        })
    }
}

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromText> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let BorrowedText(text) = BorrowedText::deserialize(deserializer)?;
        T::from_text(&text).map(Self).map_err(D::Error::custom)
    }
}

/// Reads a title.
pub(super) fn title<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    checked(value, |title| address::within(title, TITLE_BYTES_MAX))
}

/// Reads the address of a page or a picture.
pub(super) fn address<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    checked(value, address::check)
}

/// Reads a text that a check accepts.
pub(super) fn checked<'de, D: Deserializer<'de>>(
    value: D,
    check: impl FnOnce(&str) -> Result<(), Fault>,
) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(value)?;
    let checked = text.as_deref().map_or(Ok(()), check);
    checked.map(|()| text).map_err(D::Error::custom)
}

/// A number within inclusive bounds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct BoundedNumber<const LEAST: i32, const MOST: i32>(pub f64);

/// Degrees north.
pub type Latitude = BoundedNumber<-90, 90>;
/// Degrees east.
pub type Longitude = BoundedNumber<-180, 180>;
/// A distance between two places on earth.
pub type Kilometres = BoundedNumber<0, 20_038>;

impl<const LEAST: i32, const MOST: i32> TryFrom<f64> for BoundedNumber<LEAST, MOST> {
    type Error = Fault;

    fn try_from(number: f64) -> Result<Self, Fault> {
        if (f64::from(LEAST)..=f64::from(MOST)).contains(&number) {
            return Ok(Self(number));
        }
        let range = format!("a number from {LEAST} to {MOST}");
        let reason = format!("must be {range}, got {number}");
        Err(Fault::new(reason, format!("write {range}")))
    }
}
