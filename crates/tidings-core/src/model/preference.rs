//! Preferences: what recipients choose for types, categories, topics and objects, in place of the rules.

use serde::{Deserialize, Serialize};

use crate::model::id::Id;

/// The name that stands for all categories, which no category has.
pub const ALL_CATEGORIES: &str = "*";

/// The scope of a preference.
///
/// # Examples
/// ```
/// use tidings_core::{Mode, PreferenceScope};
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
}

impl PreferenceScope {
    /// Returns true if it is that of a mute, which stands above types and categories.
    #[must_use]
    pub fn is_mute(&self) -> bool {
        matches!(self, Self::Topic(_) | Self::Object(_))
    }

    /// Returns true if it may be set on each channel at once, those that are configured later included.
    #[must_use]
    pub fn may_be_on_each(&self) -> bool {
        self.is_mute() || *self == Self::AllCategories
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
}
