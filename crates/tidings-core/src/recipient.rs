//! A person who can be told, and what they chose.

use serde::{Deserialize, Serialize};

use crate::id::Id;

/// Whether a recipient is told, read when a message is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Is told.
    #[default]
    Active,
    /// Has not confirmed: on every channel but the inbox no lane closes (Meldium).
    Unconfirmed,
    /// Is in the audience, but what waits ends as cancelled at its time.
    Disabled,
}

/// A recipient's profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipient {
    /// Names the recipient.
    pub id: Id,
    /// Name to show; the title of an actor of the same id whose own title is not known.
    pub name: Option<String>,
    /// Address of the e-mail channel.
    pub email: Option<String>,
    /// IANA time zone; the configuration's default where `None`.
    pub tz: Option<String>,
    /// BCP 47 locale; the configuration's default where `None`.
    pub locale: Option<String>,
    /// Where they live: degrees north and east. Both or neither.
    pub place: Option<(f64, f64)>,
    /// Whether they are told.
    pub state: State,
}

/// A change of a profile: only what is given changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecipientChange {
    /// Names the recipient; an unknown one is made.
    pub id: Id,
    /// New name; `Some(None)` takes it away.
    pub name: Option<Option<String>>,
    /// New address; `Some(None)` takes it away.
    pub email: Option<Option<String>>,
    /// New time zone; `Some(None)` goes back to the default.
    pub tz: Option<Option<String>>,
    /// New locale; `Some(None)` goes back to the default.
    pub locale: Option<Option<String>>,
    /// New latitude in degrees; `Some(None)` takes the place away.
    pub lat: Option<Option<f64>>,
    /// New longitude in degrees; `Some(None)` takes the place away.
    pub lon: Option<Option<f64>>,
    /// New state.
    pub state: Option<State>,
}

/// What a preference speaks of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreferenceScope {
    /// One type; it goes before its category.
    Type(String),
    /// All types of a category.
    Category(String),
}

/// What a recipient chose for a scope on a channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing is queued.
    Never,
    /// The type's own policy, or `now` where that is a digest.
    Immediate,
    /// The digest of this name.
    Digest(String),
    /// Takes away what was chosen at this level.
    Default,
}
