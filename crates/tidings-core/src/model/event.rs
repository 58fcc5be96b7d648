//! Events of the host application, and their audiences.

pub(crate) mod host_text;
pub(crate) mod trace;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::data::Data;
use crate::model::id::Id;
use crate::model::recipient::RecipientChange;
use crate::model::time::{Instant, WallTime};
use host_text::HostText;
use trace::Trace;

/// A fact that a host publishes, in the roles of ActivityStreams 2; it never changes.
///
/// # Examples
/// ```
/// use tidings_core::Event;
///
/// let event: Event = serde_json::from_str(
///     r#"{"id": "e1", "type": "comment", "object": {"id": "work/7"}, "to": {"topics": ["work/7"]}}"#,
/// )?;
/// assert_eq!(event.event_type.as_str(), "comment");
/// assert_eq!(event.actor, None);
/// // What was not given is not written either.
/// assert_eq!(serde_json::to_value(&event.to)?.to_string(), r#"{"topics":["work/7"]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The id; the same id is the same event while the day of its arrival is kept.
    pub id: Id,
    /// The type, a key of `[types]`.
    #[serde(rename = "type")]
    pub event_type: Id,
    /// The actor: who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Object>,
    /// The object: what it was done to.
    pub object: Object,
    /// The target: what it was done in or for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Object>,
    /// Any other data of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Map<String, serde_json::Value>>,
    /// Text that a person wrote, such as a comment: plain, as it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<HostText>,
    /// The rank among the events of a message.
    #[serde(default, skip_serializing_if = "Score::is_zero")]
    pub score: Score,
    /// The audience.
    pub to: Audience,
    /// A restriction of the type's channels; `None` = all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<String>>,
    /// Time that is shown to people. It has no effect on delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Instant>,
    /// Time at which it enters its lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_at: Option<Instant>,
    /// Time, in milliseconds after its arrival, at which it enters its lanes.
    #[serde(default, rename = "delay", skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<i64>,
    /// Time on each recipient's wall clock at which it enters its lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_local: Option<WallTime>,
    /// Time from which on nothing is delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Instant>,
    /// The tenant whose event it is; `None` = of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<Id>,
    /// A key to cancel several events at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation_key: Option<Id>,
    /// The span that published it, to which the spans of its messages link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// The rank of an event among those of a message: the highest is shown first. A finite number, by default 0.
///
/// # Examples
/// ```
/// use tidings_core::model::Score;
///
/// assert!(Score::new(2.5) > Score::new(-1.0));
/// assert_eq!(Score::new(-0.0), Some(Score::default()));
/// assert_eq!(Score::new(f64::NAN), None);
/// ```
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Score(f64);

impl Score {
    /// The score of a number; `None` if it is not finite.
    #[must_use]
    pub fn new(number: f64) -> Option<Self> {
        // Adding nothing makes of the negative zero the other one.
        number.is_finite().then_some(Self(number + 0.0))
    }

    /// The score as a number, which is finite.
    #[must_use]
    pub fn number(self) -> f64 {
        self.0
    }

    fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl TryFrom<f64> for Score {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        Self::new(number).ok_or("a score is a finite number")
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Score {}

/// The given fields of an object, an actor or a target: only those change what is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// The id.
    pub id: Id,
    /// A title to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<HostText>,
    /// Address of its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Address of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Size of the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_size: Option<ImageSize>,
    /// Data of the host, replaced as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
    /// False if its notifications are not sent (Artsy's `notifiable?`); only an `object` command sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifiable: Option<bool>,
}

/// The size of a picture in pixels; neither is 0.
///
/// # Examples
/// ```
/// use tidings_core::model::ImageSize;
///
/// let poster = ImageSize { width: 800, height: 1_200 };
/// assert_eq!(poster.height_at(268), 402);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageSize {
    /// Its width.
    pub width: u16,
    /// Its height.
    pub height: u16,
}

impl ImageSize {
    /// The height at which the picture is shown at a width, 1 or more.
    #[must_use]
    pub fn height_at(self, width: u16) -> u32 {
        let height = u32::from(self.height) * u32::from(width);
        (height / u32::from(self.width.max(1))).max(1)
    }
}

impl Event {
    /// An event of now about an object, with nothing else said of it.
    #[must_use]
    pub fn new(id: Id, event_type: Id, object: Object, to: Audience) -> Self {
        Self {
            id,
            event_type,
            actor: None,
            object,
            target: None,
            data: None,
            body: None,
            score: Score::default(),
            to,
            channels: None,
            occurred_at: None,
            deliver_at: None,
            delay_ms: None,
            deliver_local: None,
            expires_at: None,
            tenant: None,
            cancellation_key: None,
            trace: None,
        }
    }
}

impl Object {
    /// An object of which only the id is known.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::{Id, Object};
    ///
    /// let object = Object::bare(Id::new("work/7")?);
    /// assert_eq!(object.title, None);
    /// // Nobody has said whether it may be notified, which is not a no.
    /// assert_eq!(object.notifiable, None);
    /// # Ok::<(), tidings_core::model::IdError>(())
    /// ```
    #[must_use]
    pub fn bare(id: Id) -> Self {
        Self {
            id,
            title: None,
            url: None,
            image: None,
            image_size: None,
            data: None,
            notifiable: None,
        }
    }

    /// Returns true if a title, a page, a picture or data is given.
    pub(crate) fn says_something(&self) -> bool {
        self.title.is_some()
            || self.url.is_some()
            || self.image.is_some()
            || self.image_size.is_some()
            || self.data.is_some()
    }
}

/// The `to` of an event: a union, without the actor unless the type includes them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Audience {
    /// Ids of recipients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recipients: Vec<Id>,
    /// Profiles of some of these recipients, which are created or changed before the audience is computed. They are no
    /// part of the event, and are not stored with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<RecipientChange>,
    /// Topics: their subscribers, and those of a parent topic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<Id>,
    /// Circles on the map: the recipients within one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<GeoCircle>,
    /// All recipients.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everyone: bool,
    /// Ids of recipients who are left out, whatever their reasons. Unknown ones don't matter.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub except: BTreeSet<Id>,
}

impl Audience {
    /// Returns true if recipients that are not named can be in it.
    pub(crate) fn reaches_unnamed(&self) -> bool {
        self.everyone || !self.topics.is_empty() || !self.near.is_empty()
    }
}

/// A circle on the map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeoCircle {
    /// Degrees north, -90 to 90.
    pub lat: f64,
    /// Degrees east, -180 to 180.
    pub lon: f64,
    /// Radius in kilometres along a great circle, 0 to 20,038 (half way round the earth).
    pub km: f64,
}

/// The role by which lines are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pivot {
    /// Lines about one object: several actors did the same to it.
    Object,
    /// Lines by one actor, about several objects.
    Actor,
    /// Lines in one target: several objects in one place.
    Target,
}

impl Pivot {
    /// The name of the role in a configuration.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::Pivot;
    ///
    /// // One word for a role: in the configuration and in JSON.
    /// assert_eq!(Pivot::Target.word(), "target");
    /// assert_eq!(serde_json::from_str::<Pivot>(r#""target""#)?, Pivot::Target);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Actor => "actor",
            Self::Target => "target",
        }
    }
}
