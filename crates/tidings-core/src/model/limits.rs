//! Bounds on what one command may carry: an accepted command must never make a later commit fail.
//!
//! A store refuses a value above 1 MiB. What grows with what a command carries is bounded here, and so is what grows
//! with the commands about one recipient or one tenant; what grows with the number of all commands is cut into rows of
//! bounded size where it is written.

use serde::{Deserialize, Serialize};

use crate::model::data::Data;
use crate::model::event::{Event, Object};
use crate::model::id::{ID_BYTES_MAX, Id};
use crate::model::topic;

/// Maximum number of bytes of all reasons' words of one event: every topic of the event, each with its
/// parent topics.
pub const REASON_BYTES_MAX: u64 = 512 << 10;

/// Bytes of `topic:` and the length in the word of a reason, beside the topic.
const WORD_BYTES: u64 = 8;

/// A bound of `[limits]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Bound {
    /// Bytes of an event, as compact JSON.
    EventBytes,
    /// Recipients that the `to` of an event names.
    EventRecipients,
    /// Topics that the `to` of an event names.
    EventTopics,
    /// Circles of the `near` of an event.
    EventCircles,
    /// Levels of a topic.
    TopicLevels,
    /// Bytes of a topic.
    TopicBytes,
    /// Topics that a recipient follows.
    Subscriptions,
    /// Bytes of the data of a recipient or an object, as compact JSON.
    DataBytes,
    /// Mutes of a recipient, each on one channel.
    Mutes,
    /// Objects of which the store keeps what `object` commands gave.
    Objects,
    /// Preferences of a recipient, of all tenants and of none, each on one channel; mutes apart.
    Preferences,
    /// Recipients that the `to` of an event leaves out.
    EventExcept,
}

impl Bound {
    /// All bounds, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::EventBytes,
        Self::EventRecipients,
        Self::EventTopics,
        Self::EventCircles,
        Self::TopicLevels,
        Self::TopicBytes,
        Self::Subscriptions,
        Self::DataBytes,
        Self::Mutes,
        Self::Objects,
        Self::Preferences,
        Self::EventExcept,
    ];

    /// Its key in `[limits]`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::EventBytes => "event_bytes",
            Self::EventRecipients => "event_recipients",
            Self::EventTopics => "event_topics",
            Self::EventCircles => "event_circles",
            Self::TopicLevels => "topic_levels",
            Self::TopicBytes => "topic_bytes",
            Self::Subscriptions => "subscriptions",
            Self::DataBytes => "data_bytes",
            Self::Mutes => "mutes",
            Self::Objects => "objects",
            Self::Preferences => "preferences",
            Self::EventExcept => "event_except",
        }
    }

    /// The default value (contract, section 2, "Bounds").
    #[must_use]
    pub fn default_value(self) -> u32 {
        match self {
            Self::EventBytes => 256 << 10,
            Self::EventRecipients | Self::EventExcept | Self::Subscriptions => 10_000,
            Self::EventTopics => 100,
            Self::EventCircles => 50,
            Self::TopicLevels => 16,
            Self::TopicBytes => 256,
            Self::DataBytes => 16 << 10,
            Self::Mutes | Self::Preferences => 1000,
            Self::Objects => 1_000_000,
        }
    }

    /// The greatest value that a configuration may give.
    #[must_use]
    pub fn most(self) -> u32 {
        match self {
            // Several rows hold an event beside what others need of it.
            Self::EventBytes => 512 << 10,
            Self::EventRecipients | Self::EventExcept => 100_000,
            Self::EventTopics | Self::EventCircles => 1000,
            Self::TopicLevels => 64,
            Self::TopicBytes => ID_BYTES_MAX as u32,
            Self::Subscriptions => 1_000_000,
            Self::DataBytes => 64 << 10,
            // One row has those of a recipient.
            Self::Mutes | Self::Preferences => 2000,
            Self::Objects => 100_000_000,
        }
    }

    /// The subject and the unit, for a sentence such as "the event names 101 topics".
    fn sentence(self) -> (&'static str, &'static str) {
        match self {
            Self::EventBytes => ("the event has", "bytes as compact JSON"),
            Self::EventRecipients => ("`to.recipients` names", "recipients"),
            Self::EventTopics => ("`to.topics` names", "topics"),
            Self::EventCircles => ("`to.near` has", "circles"),
            Self::TopicLevels => ("the topic has", "levels"),
            Self::TopicBytes => ("the topic has", "bytes"),
            Self::Subscriptions => ("the recipient would follow", "topics"),
            Self::DataBytes => ("`data` has", "bytes as compact JSON"),
            Self::Mutes => ("the recipient would have", "mutes, each on one channel"),
            Self::Objects => ("the store would keep", "objects"),
            Self::Preferences => ("the recipient would have", "preferences, each on one channel"),
            Self::EventExcept => ("`to.except` names", "recipients"),
        }
    }

    /// Advice to the sender of a command that exceeds the bound.
    fn mend(self) -> &'static str {
        match self {
            Self::EventBytes => "shorten `data`, or keep it elsewhere and link to it",
            Self::EventRecipients => "let them follow a topic, or publish several events",
            Self::EventTopics | Self::EventCircles => "name fewer, or publish several events",
            Self::TopicLevels | Self::TopicBytes => "shorten the topic",
            Self::Subscriptions => "unfollow a topic first, or follow one that lies above several",
            Self::DataBytes => "keep only what conditions ask for",
            Self::Mutes => "lift a mute first, or mute a topic that lies above several",
            Self::Objects => "delete objects that are gone, or raise the bound",
            Self::Preferences => {
                "take others back by `default` first, or set one without a tenant, or for a category"
            }
            Self::EventExcept => "let the others follow a topic of their own, and publish to that",
        }
    }
}

/// The value of each bound.
///
/// Stored as a list in the order of [`Bound::ALL`]; bounds that a stored list lacks have their defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
pub struct Limits([u32; Bound::ALL.len()]);

impl From<Vec<u32>> for Limits {
    /// Reads stored values. Bounds that came after them have their defaults.
    fn from(values: Vec<u32>) -> Self {
        Bound::ALL
            .into_iter()
            .zip(values)
            .fold(Self::default(), |limits, (bound, value)| limits.with(bound, value))
    }
}

impl From<Limits> for Vec<u32> {
    fn from(limits: Limits) -> Self {
        limits.0.into()
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self(Bound::ALL.map(Bound::default_value))
    }
}

/// A bound that a command exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{} {got} {}, more than {most}", bound.sentence().0, bound.sentence().1)]
pub struct ExceededBound {
    /// The bound.
    pub bound: Bound,
    /// The value that the command has.
    pub got: u64,
    /// The greatest value that is accepted.
    pub most: u32,
}

impl ExceededBound {
    /// Advice on how to fix it: names the bound, its value, and the value that was got.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::{Bound, Limits};
    ///
    /// let exceeded = Limits::default().check(Bound::EventTopics, 101).unwrap_err();
    /// assert_eq!(exceeded.to_string(), "`to.topics` names 101 topics, more than 100");
    /// assert_eq!(
    ///     exceeded.hint(),
    ///     "name fewer, or publish several events; `[limits] event_topics` is 100, got 101"
    /// );
    /// ```
    #[must_use]
    pub fn hint(&self) -> String {
        let Self { bound, got, most } = self;
        let key = bound.key();
        format!("{}; `[limits] {key}` is {most}, got {got}", bound.mend())
    }
}

/// A value of the store that commands can make longer, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrowingValue {
    /// A recipient's profile with all preferences and mutes.
    Recipient,
    /// A tenant with its brand, defaults and data.
    Tenant,
}

impl GrowingValue {
    fn words(self) -> &'static str {
        match self {
            Self::Recipient => "the recipient's profile and preferences",
            Self::Tenant => "the tenant",
        }
    }

    fn mend(self) -> &'static str {
        match self {
            Self::Recipient => "remove preferences or devices that are not needed any more",
            Self::Tenant => "give fewer or shorter `preferences`, and less `data`",
        }
    }
}

/// A command that would make a value too long for a row of the store (contract, section 2, "Bounds").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{} would take {got} bytes as stored, more than {most}", what.words())]
pub struct TooLarge {
    /// The value.
    pub what: GrowingValue,
    /// Its bytes with the command.
    pub got: u64,
    /// The greatest number that is accepted.
    pub most: u64,
}

impl TooLarge {
    /// Refuses a value that is too long for a row of `row_bytes`. A row has other records beside it, so it may take
    /// 15 of 16 parts.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub(crate) fn check(what: GrowingValue, got: usize, row_bytes: usize) -> Result<(), Self> {
        let most = row_bytes - row_bytes / 16;
        if got > most {
            return Err(Self { what, got: got as u64, most: most as u64 });
        }
        Ok(())
    }

    /// Advice on how to fix it.
    #[must_use]
    pub fn hint(&self) -> String {
        self.what.mend().to_owned()
    }
}

impl Limits {
    /// The value of a bound.
    #[must_use]
    pub fn of(&self, bound: Bound) -> u32 {
        self.0[bound as usize]
    }

    /// Changes the value of one bound; it is at most [`Bound::most`].
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::{Bound, Limits};
    ///
    /// let limits = Limits::default().with(Bound::TopicLevels, 1_000);
    /// assert_eq!(limits.of(Bound::TopicLevels), Bound::TopicLevels.most());
    /// ```
    #[must_use]
    pub fn with(mut self, bound: Bound, value: u32) -> Self {
        self.0[bound as usize] = value.min(bound.most());
        self
    }

    /// Number of bytes that the words of an event's reasons may take under these limits; the
    /// configuration refuses more than [`REASON_BYTES_MAX`].
    #[must_use]
    pub fn reason_bytes(&self) -> u64 {
        let of = |bound| u64::from(self.of(bound));
        of(Bound::EventTopics) * of(Bound::TopicLevels) * (of(Bound::TopicBytes) + WORD_BYTES)
    }

    /// Refuses a value that exceeds a bound.
    ///
    /// # Errors
    /// [`ExceededBound`].
    pub fn check(&self, bound: Bound, got: u64) -> Result<(), ExceededBound> {
        let most = self.of(bound);
        if got > u64::from(most) { Err(ExceededBound { bound, got, most }) } else { Ok(()) }
    }

    /// Refuses a topic that is too long or too deep.
    ///
    /// # Errors
    /// The first bound that it exceeds.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Id;
    /// use tidings_core::model::{Bound, Limits};
    ///
    /// let limits = Limits::default().with(Bound::TopicLevels, 2);
    /// assert!(limits.check_topic(&Id::new("artist/42")?).is_ok());
    /// // A slash at the end is a level as well.
    /// assert!(limits.check_topic(&Id::new("artist/42/")?).is_err());
    /// # Ok::<(), tidings_core::model::IdError>(())
    /// ```
    pub fn check_topic(&self, topic: &Id) -> Result<(), ExceededBound> {
        let topic = topic.as_str();
        self.check(Bound::TopicBytes, topic.len() as u64)?;
        self.check(Bound::TopicLevels, topic::followed_paths(topic).count() as u64)
    }

    /// Refuses data of a recipient or an object that is too large.
    ///
    /// # Errors
    /// [`ExceededBound`].
    pub(crate) fn check_data<'a>(
        &self,
        data: impl IntoIterator<Item = &'a Data>,
    ) -> Result<(), ExceededBound> {
        let mut data = data.into_iter();
        data.try_for_each(|data| self.check(Bound::DataBytes, data.bytes()))
    }

    /// Refuses an event that carries too much.
    ///
    /// # Errors
    /// The first bound that it exceeds.
    pub fn check_event(&self, event: &Event) -> Result<(), ExceededBound> {
        let to = &event.to;
        self.check(Bound::EventRecipients, to.recipients.len() as u64)?;
        self.check(Bound::EventExcept, to.except.len() as u64)?;
        self.check(Bound::EventTopics, to.topics.len() as u64)?;
        self.check(Bound::EventCircles, to.near.len() as u64)?;
        for topic in &to.topics {
            self.check_topic(topic)?;
        }
        let named = event.actor.iter().chain(&event.target).chain([&event.object]);
        self.check_data(named.filter_map(|object: &Object| object.data.as_ref()))?;
        let bytes = serde_json::to_vec(event).map_or(u64::MAX, |bytes| bytes.len() as u64);
        self.check(Bound::EventBytes, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_have_their_defaults_and_keep_rows_small() {
        let limits = Limits::default();
        for bound in Bound::ALL {
            assert_eq!(limits.of(bound), bound.default_value());
            assert!(bound.default_value() <= bound.most());
        }
        assert!(limits.reason_bytes() <= REASON_BYTES_MAX);
    }

    #[test]
    fn values_that_were_stored_when_there_were_fewer_bounds_are_read() {
        let read = |stored: &str| serde_json::from_str::<Limits>(stored).unwrap();
        let limits = Limits::default().with(Bound::EventBytes, 1_000);
        assert_eq!(read(&serde_json::to_string(&limits).unwrap()), limits);
        assert_eq!(read("[1000]"), limits);
        assert_eq!(read("[]"), Limits::default());
    }

    #[test]
    fn a_refusal_names_the_bound_and_both_values() {
        let limits = Limits::default().with(Bound::TopicLevels, 2);
        let topic = |text: &str| limits.check_topic(&Id::new(text).unwrap());
        assert_eq!(topic("a/b"), Ok(()));
        let exceeded = topic("a/b/c").unwrap_err();
        assert_eq!(exceeded.to_string(), "the topic has 3 levels, more than 2");
        assert_eq!(exceeded.hint(), "shorten the topic; `[limits] topic_levels` is 2, got 3");
    }
}
