//! What the host application says has happened, and to whom it may matter.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::time::Instant;

/// An immutable fact, in the roles of ActivityStreams 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Names the event; the same id is the same event while the day of its arrival is kept.
    pub id: Id,
    /// The type, a key of `[types]`.
    #[serde(rename = "type")]
    pub kind: Id,
    /// Who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Object>,
    /// What it was done to.
    pub object: Object,
    /// What it was done in or for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Object>,
    /// Anything else that templates may show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Map<String, serde_json::Value>>,
    /// Who may be concerned.
    pub to: Audience,
    /// Only these of the type's channels; all of them where `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<String>>,
    /// When it happened, as shown to people; it decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Instant>,
    /// Enters its lanes then, not before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_at: Option<Instant>,
    /// From then on it is not worth telling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Instant>,
    /// Cancels together all that carry it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation_key: Option<Id>,
}

/// What is known of an object, an actor or a target: only what was given changes what is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Names the object.
    pub id: Id,
    /// A title to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it is to be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A picture of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Whether it may be told at all (Artsy's `notifiable?`); only an `object` command gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifiable: Option<bool>,
}

impl Object {
    /// An object of which only the id is known.
    #[must_use]
    pub fn bare(id: Id) -> Self {
        Self {
            id,
            title: None,
            url: None,
            image: None,
            notifiable: None,
        }
    }

    /// Whether anything is given but the id.
    pub(crate) fn says_something(&self) -> bool {
        self.title.is_some() || self.url.is_some() || self.image.is_some()
    }
}

/// The `to` of an event: a union, of which the actor is taken away unless the type says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Audience {
    /// Recipients by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recipients: Vec<Id>,
    /// Those who subscribed to one of these topics or to something above it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<Id>,
    /// Those who live within one of these circles on the map.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<Near>,
    /// Everybody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everyone: bool,
}

/// A circle on the map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// Degrees north, -90 to 90.
    pub lat: f64,
    /// Degrees east, -180 to 180.
    pub lon: f64,
    /// Radius in kilometres along a great circle, 0 to 20,038 (half way round the earth).
    pub km: f64,
}
