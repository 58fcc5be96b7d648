//! Commands to the engine: plain data that can be logged and replayed.

use serde::{Deserialize, Serialize};

use crate::model::batch_key::BatchKey;
use crate::model::channel::ChannelNo;
use crate::model::event::{Event, Object};
use crate::model::id::Id;
use crate::model::messages::jobs::{JobNo, NewJob};
use crate::model::messages::{Attempt, MessageAct, MessageName};
use crate::model::occurrence::{ChangedBy, HookChange};
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::recipient::{GivenAddress, RecipientChange};
use crate::model::suppression::{AddressReport, ChannelAddress, SuppressedFor};
use crate::model::tenant::{TenantChange, View};
use crate::model::time::{Day, Instant};

/// A command with the instant at which it takes effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// The instant.
    pub at: Instant,
    /// The command.
    pub command: Command,
}

/// A command: one change requested from outside (contract, section 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Creates or changes a recipient.
    Recipient(Box<RecipientChange>),
    /// Erases a recipient: pending entries end as cancelled(recipient_gone) when they are due.
    Erase {
        /// The recipient.
        recipient: Id,
    },
    /// Adds a device to the addresses of a recipient, or removes it from them.
    Device {
        /// The recipient.
        recipient: Id,
        /// The channel.
        channel: ChannelNo,
        /// The address. One of the same device and tenant is replaced; of too many of a tenant the oldest leaves. One
        /// that leaves without a tenant leaves whatever tenants it was of.
        address: GivenAddress,
        /// True if it joins, false if it leaves.
        joins: bool,
    },
    /// Subscribes to a topic and everything below it.
    Subscribe {
        /// The recipient.
        recipient: Id,
        /// The topic.
        topic: Id,
        /// The tenant; `None` = of none.
        #[serde(default)]
        tenant: Option<Id>,
    },
    /// Unsubscribes; cancels nothing.
    Unsubscribe {
        /// The recipient.
        recipient: Id,
        /// The topic.
        topic: Id,
        /// The tenant; `None` = of none.
        #[serde(default)]
        tenant: Option<Id>,
    },
    /// Publishes an event.
    Publish(Box<Event>),
    /// Creates or changes an object; lifts a retraction. What it gives is kept until it is changed or the object
    /// retracted, however long no day names the object.
    Object(Object),
    /// The same as the host answers to a question about objects that events name: kept as long as a day names it.
    Resolved(Object),
    /// Retracts an object: its entries are skipped from now on.
    Retract {
        /// The object.
        object: Id,
    },
    /// Marks entries of a recipient as seen or read; reading implies seeing.
    Mark {
        /// The recipient.
        recipient: Id,
        /// The subject of the mark.
        what: Marked,
        /// Seen, or seen and read.
        kind: MarkKind,
        /// The entries that it reaches.
        #[serde(default)]
        view: View,
    },
    /// Changes items of a recipient's inbox beyond seen and read.
    ChangeItems {
        /// The recipient.
        recipient: Id,
        /// The items.
        what: Marked,
        /// The change.
        change: ItemChange,
        /// The entries that it reaches.
        #[serde(default)]
        view: View,
    },
    /// Cancels the pending entries of an event.
    Cancel {
        /// The events.
        what: Cancelled,
        /// The tenant whose events alone are meant; `None` = those of all tenants and of none.
        tenant: Option<Id>,
    },
    /// Cancels the pending entries of an event, and removes delivered ones from inboxes.
    Withdraw {
        /// The events.
        what: Cancelled,
        /// The tenant whose events alone are meant; `None` = those of all tenants and of none.
        tenant: Option<Id>,
    },
    /// Sets a preference: never, immediate, a digest, or the default.
    Preference {
        /// The recipient.
        recipient: Id,
        /// The scope: types, or a muted topic or object.
        scope: PreferenceScope,
        /// The channel; `*` is each, for a mute or all categories.
        channel: String,
        /// The mode.
        mode: Mode,
        /// The tenant for whose entries alone it holds; `None` = for all.
        #[serde(default)]
        tenant: Option<Id>,
        /// The cause.
        #[serde(default)]
        by: ChangedBy,
    },
    /// Makes open lanes due now (except the inbox).
    Flush {
        /// The recipient.
        recipient: Id,
        /// Only entries on this channel.
        channel: Option<String>,
        /// Only the lane of this name.
        lane: Option<String>,
        /// Only lanes with this batch key.
        #[serde(default)]
        key: Option<BatchKey>,
        /// Only the lanes of this view.
        #[serde(default)]
        view: View,
    },
    /// Sets several preferences: all of them or, if one is refused, none.
    Preferences {
        /// The recipient.
        recipient: Id,
        /// The preferences; of two for the same scope, channel and tenant the later counts.
        chosen: Vec<Choice>,
        /// True if the list is complete: preferences that are not in it return to the default; otherwise
        /// they stay.
        whole: bool,
        /// The tenant whose preferences alone a complete list replaces; `None` = those of all tenants and of none.
        #[serde(default)]
        tenant: Option<Id>,
        /// The cause.
        #[serde(default)]
        by: ChangedBy,
    },
    /// Pauses a type or channel: nothing of it closes or is sent, and new entries wait.
    Pause(PauseSubject),
    /// Resumes a type or channel: what is due is sent at once.
    Resume(PauseSubject),
    /// Deletes every day before this one.
    Forget {
        /// The first day that is kept.
        before: Day,
    },
    /// Retries, cancels or resends one message.
    Message {
        /// The message.
        message: MessageName,
        /// The change.
        act: MessageAct,
    },
    /// Records what was reported of a message after it was handed over.
    Report {
        /// The message.
        message: MessageName,
        /// The report.
        report: Box<Attempt>,
    },
    /// Suppresses an address: nothing is sent to it from now on. An earlier suppression of it is replaced.
    Suppress {
        /// The address.
        address: ChannelAddress,
        /// The reason.
        reason: SuppressedFor,
        /// The instant from which on it is not suppressed any more; `None` = it stays.
        until: Option<Instant>,
    },
    /// Lifts the suppression of an address. Earlier reports no longer count.
    Unsuppress {
        /// The address.
        address: ChannelAddress,
    },
    /// Applies the report of an address in a provider's answer or a returned mail, unless its suppression was lifted
    /// after that.
    ReportAddress {
        /// The address.
        address: ChannelAddress,
        /// The report.
        report: AddressReport,
        /// The instant of the report.
        at: Instant,
        /// The recipient of the message that it is about, where one is known.
        #[serde(default)]
        recipient: Option<Id>,
    },
    /// Changes a hook.
    Hook {
        /// The name of the hook.
        name: String,
        /// The change.
        change: HookChange,
    },
    /// Makes or changes a tenant.
    Tenant {
        /// The tenant.
        tenant: Id,
        /// The change.
        change: Box<TenantChange>,
    },
    /// Deletes a tenant with its members, subscriptions and preferences: pending entries are cancelled, and delivered
    /// ones leave inboxes.
    DeleteTenant {
        /// The tenant.
        tenant: Id,
    },
    /// Makes a job, which changes many messages.
    BeginJob(Box<NewJob>),
    /// Stops a job: what it did stays done.
    StopJob {
        /// The job.
        job: JobNo,
    },
    /// Makes a recipient a member of a tenant.
    Join {
        /// The recipient.
        recipient: Id,
        /// The tenant.
        tenant: Id,
    },
    /// Ends a membership, and the recipient's subscriptions of that tenant.
    Leave {
        /// The recipient.
        recipient: Id,
        /// The tenant.
        tenant: Id,
    },
}

impl Command {
    /// Returns true if it has a tenant.
    #[must_use]
    pub fn names_tenant(&self) -> bool {
        match self {
            Self::Recipient(change) => of_tenants(change),
            Self::Publish(event) => {
                event.tenant.is_some() || event.to.profiles.iter().any(of_tenants)
            }
            Self::Subscribe { tenant, .. }
            | Self::Unsubscribe { tenant, .. }
            | Self::Cancel { tenant, .. }
            | Self::Withdraw { tenant, .. }
            | Self::Preference { tenant, .. } => tenant.is_some(),
            Self::Device { address, .. } => address.tenant.is_some(),
            Self::Preferences { chosen, tenant, .. } => {
                tenant.is_some() || chosen.iter().any(|one| one.tenant.is_some())
            }
            Self::Mark { view, .. } | Self::ChangeItems { view, .. } | Self::Flush { view, .. } => {
                view.tenant().is_some()
            }
            Self::Tenant { .. }
            | Self::DeleteTenant { .. }
            | Self::Join { .. }
            | Self::Leave { .. } => true,
            _ => false,
        }
    }

    /// The addresses that it gives a recipient.
    pub(crate) fn given_addresses(&self) -> impl Iterator<Item = (ChannelNo, &str)> {
        let device = match self {
            Self::Device { channel, address, joins: true, .. } => Some((*channel, &*address.text)),
            _ => None,
        };
        let change = match self {
            Self::Recipient(change) => Some(&change.addresses),
            _ => None,
        };
        let of_channels = change.into_iter().flatten();
        let all = of_channels.flat_map(|(no, all)| all.iter().map(|one| (*no, &*one.text)));
        device.into_iter().chain(all)
    }

    /// The recipient of a command that concerns only one.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::{Command, Id};
    ///
    /// let ada = Id::new("ada")?;
    /// let topic = Id::new("artist/42")?;
    /// let subscribe =
    ///     Command::Subscribe { recipient: ada.clone(), topic: topic.clone(), tenant: None };
    /// assert_eq!(subscribe.recipient(), Some(&ada));
    /// // A retraction concerns whoever was notified of the object.
    /// assert_eq!(Command::Retract { object: topic }.recipient(), None);
    /// # Ok::<(), tidings_core::model::IdError>(())
    /// ```
    #[must_use]
    pub fn recipient(&self) -> Option<&Id> {
        match self {
            Self::Recipient(change) => Some(&change.id),
            Self::Erase { recipient }
            | Self::Subscribe { recipient, .. }
            | Self::Unsubscribe { recipient, .. }
            | Self::Mark { recipient, .. }
            | Self::ChangeItems { recipient, .. }
            | Self::Preference { recipient, .. }
            | Self::Preferences { recipient, .. }
            | Self::Flush { recipient, .. }
            | Self::Join { recipient, .. }
            | Self::Leave { recipient, .. }
            | Self::Device { recipient, .. } => Some(recipient),
            Self::Publish(_)
            | Self::Object(_)
            | Self::Resolved(_)
            | Self::Retract { .. }
            | Self::Cancel { .. }
            | Self::Withdraw { .. }
            | Self::Pause(_)
            | Self::Resume(_)
            | Self::Forget { .. }
            | Self::Message { .. }
            | Self::Report { .. }
            | Self::Suppress { .. }
            | Self::Unsuppress { .. }
            | Self::ReportAddress { .. }
            | Self::Hook { .. }
            | Self::Tenant { .. }
            | Self::DeleteTenant { .. }
            | Self::BeginJob(_)
            | Self::StopJob { .. } => None,
        }
    }
}

/// A preference of a recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The scope: types, or a muted topic or object.
    pub scope: PreferenceScope,
    /// The channel; `*` is each, for a mute or all categories.
    pub channel: String,
    /// The mode.
    pub mode: Mode,
    /// The tenant for whose entries alone it holds; `None` = for all.
    #[serde(default)]
    pub tenant: Option<Id>,
}

/// A type or channel that can be paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PauseSubject {
    /// The entries of a type, on all channels.
    Type(Id),
    /// A channel.
    Channel(String),
}

/// The entries of a mark. It covers entries that had entered their lane by then, never later ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Marked {
    /// Entries with `t` at or before this instant, of types that have an inbox.
    UpTo(Instant),
    /// All entries about this object.
    Object(Id),
    /// The entries of this event.
    Event(Id),
    /// The inbox items of one row, by the row's key.
    Row(String),
    /// Inbox items with a place at or before this instant, of these types.
    UpToOf(Instant, TypeFilter),
}

/// A choice of types: by their category, or by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeFilter {
    /// The types of a category.
    Category(String),
    /// One type.
    Type(String),
}

/// A change of inbox items beyond seen and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ItemChange {
    /// They are not read; what was seen stays seen.
    Unread,
    /// They leave the inbox for the archive.
    Archive,
    /// They come back from the archive as they were.
    Unarchive,
    /// They leave the inbox until this instant.
    Snooze(Instant),
    /// They come back from a snooze as they were.
    Unsnooze,
    /// They leave the inbox for good.
    Delete,
}

/// The kind of a mark: seen or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MarkKind {
    /// The entry was shown.
    Seen,
    /// The entry was opened; implies seen.
    Read,
}

/// The events to cancel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cancelled {
    /// One event.
    Event(Id),
    /// All events published with this key so far.
    Key(Id),
}

fn of_tenants(change: &RecipientChange) -> bool {
    change.named_tenants().next().is_some()
}
