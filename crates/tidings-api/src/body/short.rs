//! Small bodies: subscriptions, marks, cancels, retractions, flushes, deletions of days.

use serde::{Deserialize, Serialize};
use tidings_core::model::{BatchKey, Cancelled, MarkKind, Marked, View};
use tidings_core::{Command, Day, Id, Instant};
use utoipa::ToSchema;

use super::fault::Fault;
use super::text::{Text, Topic};
use super::{known_channel, not_one, tenant};

/// A subscription to add or to remove.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"recipient": "ada", "topic": "artist/42"}))]
pub struct Subscription {
    /// Id of the recipient.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    recipient: Text<Id>,
    /// The topic.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    topic: Text<Topic>,
    /// The tenant of the topic; absent = none.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Text<Id>>,
    /// True = remove the subscription.
    unsubscribe: Option<bool>,
}

impl Subscription {
    /// The command that adds or removes it, by its own `unsubscribe`.
    #[must_use]
    pub fn command(self) -> Command {
        let (recipient, topic) = (self.recipient.0, self.topic.0.0);
        let tenant = tenant::named(self.tenant);
        match self.unsubscribe {
            Some(true) => Command::Unsubscribe { tenant, recipient, topic },
            _ => Command::Subscribe { tenant, recipient, topic },
        }
    }

    /// The command that adds or removes it, by another source than its own `unsubscribe`.
    ///
    /// # Errors
    /// It has an `unsubscribe` of its own.
    pub fn said(self, unsubscribe: bool) -> Result<Command, Fault> {
        if self.unsubscribe.is_some() {
            return Err(Fault::new("unknown field `unsubscribe`", "remove it"));
        }
        let unsubscribe = Some(unsubscribe);
        Ok(Self { unsubscribe, ..self }.command())
    }
}

/// The items to mark: exactly one of these.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Marked, example = json!({"object": "works/1"}))]
pub struct Mark {
    /// Marks all items that entered by this time.
    #[schema(value_type = Option<String>, format = "date-time")]
    up_to: Option<Text<Instant>>,
    /// Marks all items about this object that entered so far.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    object: Option<Text<Id>>,
    /// Marks the event with this id.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    event: Option<Text<Id>>,
    /// Marks only items of this tenant and those without a tenant.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Text<Id>>,
}

impl Mark {
    /// The command that marks it for a recipient.
    ///
    /// # Errors
    /// It does not name exactly one thing.
    pub fn command(self, recipient: Id, kind: MarkKind) -> Result<Command, Fault> {
        let what = match (self.up_to, self.object, self.event) {
            (Some(at), None, None) => Marked::UpTo(at.0),
            (None, Some(object), None) => Marked::Object(object.0),
            (None, None, Some(event)) => Marked::Event(event.0),
            (up_to, object, event) => {
                return Err(not_one(&[
                    ("up_to", up_to.is_some()),
                    ("object", object.is_some()),
                    ("event", event.is_some()),
                ]));
            }
        };
        let view = tenant::named(self.tenant).map_or(View::All, View::Of);
        Ok(Command::Mark { view, recipient, what, kind })
    }
}

/// The events to cancel or to withdraw.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CancelKey, example = json!({"cancellation_key": "invoice-42"}))]
pub struct Cancel {
    /// One event. A call has it in its path.
    #[schema(ignore)]
    pub event: Option<Text<Id>>,
    /// All events published with this key so far.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    pub cancellation_key: Option<Text<Id>>,
    /// Only events of this tenant; absent = of every tenant and of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub tenant: Option<Text<Id>>,
}

impl Cancel {
    /// Its events, and their tenant.
    ///
    /// # Errors
    /// It does not name exactly one thing.
    pub fn named(self) -> Result<(Cancelled, Option<Id>), Fault> {
        let tenant = tenant::named(self.tenant);
        match (self.event, self.cancellation_key) {
            (Some(event), None) => Ok((Cancelled::Event(event.0), tenant)),
            (None, Some(key)) => Ok((Cancelled::Key(key.0), tenant)),
            (event, key) => {
                Err(not_one(&[("event", event.is_some()), ("cancellation_key", key.is_some())]))
            }
        }
    }
}

/// The object to retract.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retraction {
    id: Text<Id>,
}

impl Retraction {
    /// The command that retracts it.
    #[must_use]
    pub fn command(self) -> Command {
        Command::Retract { object: self.id.0 }
    }
}

/// The lanes to flush; all open lanes if empty.
#[derive(Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"channel": "email"}))]
pub struct FlushLimits {
    /// Only lanes of this channel.
    pub channel: Option<String>,
    /// Only lanes of this name.
    #[schema(value_type = Option<String>)]
    pub lane: Option<Text<Id>>,
    /// Only lanes with this batch key; empty = lanes without one.
    #[schema(value_type = Option<String>)]
    pub key: Option<BatchKey>,
    /// Only lanes of this tenant and those without a tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub tenant: Option<Text<Id>>,
}

impl FlushLimits {
    /// Its view.
    pub fn view(&mut self) -> View {
        tenant::named(self.tenant.take()).map_or(View::All, View::Of)
    }

    /// The command that makes a recipient's open lanes of a view due.
    ///
    /// # Errors
    /// An unknown channel.
    pub fn command(self, recipient: Id, view: View) -> Result<Command, Fault> {
        self.channel.as_deref().map_or(Ok(()), known_channel)?;
        Ok(Command::Flush {
            view,
            recipient,
            channel: self.channel,
            lane: self.lane.map(|lane| lane.0.as_str().to_owned()),
            key: self.key,
        })
    }
}

/// The days to delete.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"before": "2024-01-31"}))]
pub struct ForgetDays {
    /// The first day (UTC) that is kept.
    #[schema(value_type = String, format = "date")]
    pub before: Text<Day>,
}

impl ForgetDays {
    /// The command that deletes them.
    #[must_use]
    pub fn command(self) -> Command {
        Command::Forget { before: self.before.0 }
    }
}
