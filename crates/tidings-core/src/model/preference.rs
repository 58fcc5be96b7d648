//! Preferences: what recipients choose for types, categories, topics and objects, in place of the rules.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::id::Id;

/// The name that stands for all categories, which no category has.
pub const ALL_CATEGORIES: &str = "*";

/// The scope of a preference.
///
/// # Examples
/// ```
/// use tidings_core::model::{Mode, PreferenceScope};
///
/// let scope: PreferenceScope = serde_json::from_str(r#"{"category": "social"}"#)?;
/// assert_eq!(scope, PreferenceScope::Category("social".to_owned()));
/// let mode: Mode = serde_json::from_str(r#"{"digest": "weekly"}"#)?;
/// assert_eq!(mode, Mode::Digest("weekly".to_owned()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreferenceScope {
    /// One type; it has precedence over its category.
    Type(String),
    /// All types of a category.
    Category(String),
    /// Mutes a topic and everything below it.
    Topic(Id),
    /// Mutes an object, also where it is a target.
    Object(Id),
    /// All types of every category, those that are configured later included; a type and its category have
    /// precedence. It is a scope of its own, since a `never` for each category of today would not hold for those of
    /// tomorrow. Choices on `*` are stored for the channels of their time: a new channel has to copy them.
    AllCategories,
    /// The day of a digest's slots, on every channel.
    DigestDay(String),
    /// The time of day of a digest's slots, on every channel.
    DigestTime(String),
}

/// The day of a digest's slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotDay {
    /// A day of the week, 1 = Monday to 7 = Sunday.
    Week(u8),
    /// A day of the month, 1 to 31.
    Month(u8),
}

/// The names of weekdays, from Monday on.
pub const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

impl fmt::Display for SlotDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Week(day) => {
                f.write_str(WEEKDAYS.get(usize::from(*day).wrapping_sub(1)).unwrap_or(&"?"))
            }
            Self::Month(day) => day.fmt(f),
        }
    }
}

/// The day and the time that a recipient chose for the slots of a digest, as far as they did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnTimes {
    /// The day.
    pub day: Option<SlotDay>,
    /// Minutes after local midnight.
    pub minute: Option<u16>,
}

impl OwnTimes {
    /// These, and where they say nothing, others.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self { day: self.day.or(others.day), minute: self.minute.or(others.minute) }
    }

    /// Returns true if nothing was chosen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl PreferenceScope {
    /// The digest whose slots it is about.
    #[must_use]
    pub fn digest(&self) -> Option<&str> {
        match self {
            Self::DigestDay(name) | Self::DigestTime(name) => Some(name),
            _ => None,
        }
    }

    /// Returns true if it is that of a mute, which stands above types and categories.
    #[must_use]
    pub fn is_mute(&self) -> bool {
        matches!(self, Self::Topic(_) | Self::Object(_))
    }

    /// Returns true if it may be set on each channel at once, those that are configured later included.
    #[must_use]
    pub fn may_be_on_each(&self) -> bool {
        self.is_mute() || *self == Self::AllCategories || self.digest().is_some()
    }
}

/// The mode of a preference for a scope on a channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing is queued.
    Never,
    /// The type's own policy, or `now` where that is a digest.
    Immediate,
    /// The digest of this name.
    Digest(String),
    /// Removes the preference at this level.
    Default,
    /// The slots of a digest are on this day.
    Day(SlotDay),
    /// The slots of a digest are at this minute after local midnight.
    Time(u16),
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::Immediate => f.write_str("immediate"),
            Self::Default => f.write_str("default"),
            Self::Digest(name) => f.write_str(name),
            Self::Day(day) => day.fmt(f),
            Self::Time(minute) => write!(f, "{:02}:{:02}", minute / 60, minute % 60),
        }
    }
}
