//! The records of a bucket's journal: a change, its instant, and a set of recipients.
//!
//! State is the fold of them. So a record has everything that the fold needs, and the fold decides nothing: the writer
//! of a record has decided.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::journal::table::Key;
use crate::model::batch_key::{BatchKeys, LaneKey};
use crate::model::channel::ChannelNo;
use crate::model::command::MarkKind;
use crate::model::event::{Event, Object, Pivot};
use crate::model::id::Id;
use crate::model::item::StoredItem;
use crate::model::number::{EventNo, LaneNo, RecipientNo, Seq, TypeNo};
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::reason::{Ending, Reason};
use crate::model::recipient::Recipient;
use crate::model::tenant::{TenantNo, TenantTerms, View};
use crate::model::time::{Day, Instant};
use crate::sets::set::Set;

/// The address of an accepted event: its row in the day on which it entered.
///
/// Entries that moved to a later day keep the address; that day has a copy of the row, since days are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventAt {
    /// The day on which it entered.
    pub day: Day,
    /// Its ordinal among the events of that day.
    pub ordinal: u32,
}

/// A record of a bucket's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// An event reached these recipients.
    Arrival(Arrival),
    /// Lanes of one name were due, for these recipients. It is the flush marker: an entry belongs to the
    /// first closing of its lane at or above its seq.
    Closing {
        /// The due instant.
        at: Instant,
        /// The lane.
        lane: LaneKey,
        /// The recipients.
        recipients: Set,
    },
    /// Entries ended.
    Cut {
        /// The instant.
        at: Instant,
        /// The reason; `None` = they move to another lane: [`Record::Move`]s follow in the same commit.
        why: Option<Reason>,
        /// The entries.
        items: Vec<Entries>,
    },
    /// Entries moved: they arrive in another lane with their old `t` and place, entry `i` under this
    /// record's seq + `i`. They join open windows by (t, arrival), all of a commit together.
    Move {
        /// The instant.
        at: Instant,
        /// By lane, the recipients whose deadline had passed before the arrival: their deadlines don't
        /// move.
        overdue: Vec<(LaneKey, Set)>,
        /// The arrivals, by (t, place).
        arrivals: Vec<Arrival>,
    },
    /// Scheduled entries ended without entering a lane: cancelled or no longer wanted.
    Dropped {
        /// The instant.
        at: Instant,
        /// The event's place in the intake.
        place: EventNo,
        /// True if these recipients had other entries of the event before.
        later: bool,
        /// Channel, reason and recipients.
        items: Vec<(ChannelNo, Reason, Set)>,
    },
    /// A recipient marked entries as seen or read.
    Mark {
        /// The instant.
        at: Instant,
        /// It covers events published before this place.
        before: EventNo,
        /// The recipient's number.
        number: RecipientNo,
        /// The subject of the mark.
        what: CoveredEntries,
        /// Seen, or seen and read.
        kind: MarkKind,
        /// The entries that it reaches.
        view: View<TenantNo>,
        /// The tenants whose entries it changed in the inbox, each once; `None` = entries of none.
        shows: Vec<Option<TenantNo>>,
    },
    /// All inbox entries in `from..=to` were delivered, with exceptions. There is no row per recipient.
    InboxDelivered {
        /// The instant.
        at: Instant,
        /// The first seq.
        from: Seq,
        /// The last seq.
        to: Seq,
        /// Entries that ended instead.
        except: Vec<(Seq, Reason, Set)>,
    },
    /// Messages of a closing were built for these recipients; their rows were written with this record.
    Made {
        /// The instant.
        at: Instant,
        /// The closing.
        closing: Seq,
        /// The recipients of the messages.
        recipients: Set,
        /// The recipients whose message is empty.
        nothing: Set,
    },
    /// The outcome of these recipients' messages.
    Outcome {
        /// The instant.
        at: Instant,
        /// The closing.
        closing: Seq,
        /// The recipients of the messages.
        recipients: Set,
        /// The ending.
        ending: Ending,
    },
    /// A recipient was created (under the next number) or changed.
    Profile {
        /// The instant.
        at: Instant,
        /// The recipient's number in the bucket.
        number: RecipientNo,
        /// The whole new profile.
        profile: Box<Recipient>,
    },
    /// A recipient was erased.
    Erased {
        /// The instant.
        at: Instant,
        /// The recipient's number in the bucket.
        number: RecipientNo,
    },
    /// Recipients followed or unfollowed topics.
    Follow {
        /// Topics with their recipients; no topic is repeated.
        topics: Vec<(TenantTopic, Set)>,
        /// True if they follow, false if they unfollow.
        on: bool,
    },
    /// A recipient set a preference.
    Preference {
        /// The recipient's number.
        number: RecipientNo,
        /// The tenant for whose entries alone it holds; `None` = for all.
        tenant: Option<TenantNo>,
        /// The scope.
        scope: PreferenceScope,
        /// The channel.
        channel: ChannelNo,
        /// The mode.
        mode: Mode,
    },
    /// Open lanes were made due.
    Flush {
        /// The instant.
        at: Instant,
        /// The recipient's number.
        number: RecipientNo,
        /// The lanes.
        lanes: Vec<LaneKey>,
    },
    /// A new version of the rules came into force: default time zones may change.
    Rules {
        /// The instant.
        at: Instant,
        /// The version.
        version: u32,
    },
    /// The paused channels changed.
    Pause {
        /// The instant.
        at: Instant,
        /// The numbers of all paused channels, ascending.
        channels: Vec<ChannelNo>,
        /// Lanes of paused types that are now empty.
        emptied: Vec<LaneNo>,
    },
    /// Built messages of a closing lost all their entries to cancels: they are not sent.
    Withdrawn {
        /// The instant.
        at: Instant,
        /// The closing.
        closing: Seq,
        /// The recipients of the messages.
        recipients: Set,
    },
    /// An attempt to send a built message failed, and another one follows.
    Attempted {
        /// The instant.
        at: Instant,
        /// The closing.
        closing: Seq,
        /// The recipient's number.
        number: RecipientNo,
        /// All attempts so far.
        attempts: Attempts,
    },
    /// The windows of a digest were counted when they were first due, and stay open.
    Counted {
        /// The instant.
        at: Instant,
        /// The lane.
        lane: LaneKey,
        /// The recipients with too few entries: their windows wait for the next slot.
        fewer: Set,
        /// The recipients with enough, whose windows are held.
        enough: Set,
    },
    /// Windows were due, and a cap kept them: their deadlines have passed.
    Capped {
        /// The instant.
        at: Instant,
        /// The lane.
        lane: LaneKey,
        /// The recipients.
        recipients: Set,
    },
    /// Delivered entries were taken out of inboxes, where they are counted no more. They stay delivered.
    Hidden {
        /// The instant.
        at: Instant,
        /// The tenant of their event; `None` = of none.
        tenant: Option<TenantNo>,
        /// The entries, of the inbox.
        items: Vec<Entries>,
    },
    /// A built message that had its outcome goes again, because an operator asked.
    Reopened(Box<Reopened>),
    /// The clock is behind the instants of records from here on, or has come up to them. Where it is earlier than before
    /// it was put back: what waits by an instant after it waits from now.
    Clock {
        /// The instant of the record, as that of the others never earlier than the one before.
        at: Instant,
        /// The clock's time; `at` = it is not behind.
        clock: Instant,
    },
    /// Inbox items have a state of their own from here on, or another one. Each takes a seq, so that those that come
    /// back together have positions of their own.
    Items {
        /// The instant.
        at: Instant,
        /// The recipient's number.
        number: RecipientNo,
        /// The items by their events' places.
        items: Vec<(EventNo, StoredItem)>,
    },
    /// A tenant set other terms for its entries.
    Tenant {
        /// The instant.
        at: Instant,
        /// The tenant.
        tenant: TenantNo,
        /// Its terms.
        terms: Box<TenantTerms>,
    },
    /// Recipients became members of tenants, or ceased to be.
    Members {
        /// Tenants with their recipients; no tenant is repeated.
        tenants: Vec<(TenantNo, Set)>,
        /// True if they are members from here on, false if they are not.
        on: bool,
    },
    /// A recipient chose a day or a time for the slots of a digest.
    DigestTime {
        /// The instant.
        at: Instant,
        /// The recipient's number.
        number: RecipientNo,
        /// The tenant for whose entries alone it holds; `None` = for all.
        tenant: Option<TenantNo>,
        /// The scope: the day or the time of a digest.
        scope: PreferenceScope,
        /// The mode: the day, the time, or the default.
        mode: Mode,
    },
    /// As [`Record::Dropped`], which earlier versions wrote, with the day on which the event arrived: its entries are
    /// counted there.
    NeverEntered {
        /// The instant.
        at: Instant,
        /// The day on which the event arrived.
        arrived: Day,
        /// The event's place in the intake.
        place: EventNo,
        /// True if these recipients had other entries of the event before.
        later: bool,
        /// Channel, reason and recipients.
        items: Vec<(ChannelNo, Reason, Set)>,
    },
}

/// A topic of a tenant, or of none. An event reaches the subscriptions of its own tenant alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TenantTopic {
    /// The tenant; `None` = of none.
    pub tenant: Option<TenantNo>,
    /// The topic.
    pub topic: Id,
}

impl TenantTopic {
    /// Appends it to a key.
    pub(crate) fn put(&self, key: Key) -> Vec<u8> {
        let key = key.u32(TenantNo::raw(self.tenant));
        key.bytes(self.topic.as_str().as_bytes()).done()
    }

    /// Reads the end of a key; `None` = it makes no sense.
    pub(crate) fn of_key(end: &[u8]) -> Option<Self> {
        let (tenant, topic) = end.split_first_chunk()?;
        let tenant = TenantNo::of_raw(u32::from_be_bytes(*tenant));
        let topic = Id::new(std::str::from_utf8(topic).ok()?).ok()?;
        Some(Self { tenant, topic })
    }
}

/// A built message that goes again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reopened {
    /// The instant.
    pub at: Instant,
    /// The closing.
    pub closing: Seq,
    /// The closing's lane.
    pub lane: LaneKey,
    /// The closing's instant.
    pub due: Instant,
    /// The first seq of its entries.
    pub from: Seq,
    /// The recipient's number.
    pub number: RecipientNo,
    /// Its attempts from now on: there is none before this record.
    pub attempts: Attempts,
}

/// The failed attempts to send a message that has no outcome yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    /// Number of attempts.
    pub count: u32,
    /// The instant of the next attempt; there is none before it.
    pub until: Instant,
    /// True if one of them may have handed the message over.
    pub in_doubt: bool,
    /// Number of times that it is sent again after an unknown outcome.
    pub resent: u32,
    /// True if it was delivered, and a copy is sent because an operator asked: it stays delivered.
    pub delivered: bool,
    /// True if it was in doubt, and from this record on may have been handed over once more.
    pub again: bool,
}

/// The entries that a mark covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoveredEntries {
    /// Entries with a `t` up to this instant, of types that have an inbox.
    UpTo(Instant),
    /// Entries about an object.
    Object(Id),
    /// Entries of an event, by its place in the intake: an id may be used again once its day is deleted.
    Event(EventNo),
}

/// One arrival's entries of some recipients on one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entries {
    /// The arrival's seq.
    pub seq: Seq,
    /// The channel.
    pub channel: ChannelNo,
    /// The recipients.
    pub recipients: Set,
}

/// An event that reached recipients of a bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrival {
    /// The instant of the record; its day is the day of its entries.
    pub at: Instant,
    /// The instant at which its entries entered their first lane.
    pub t: Instant,
    /// The event's place in the intake.
    pub place: EventNo,
    /// The address of the event's row; where its day is not that of `at`, that day has a copy.
    pub event: EventAt,
    /// The event's type.
    pub type_no: TypeNo,
    /// The version of the rules at that time.
    pub rules: u32,
    /// Its batch keys, asked when the event was accepted.
    pub keys: BatchKeys,
    /// The tenant of the event; `None` = of none.
    pub tenant: Option<TenantNo>,
    /// The origin of its entries.
    pub origin: Origin,
    /// The hashes by which an inbox groups the event without reading it.
    pub about: About,
    /// The words of all reasons, sorted by bytes.
    pub reasons: Vec<String>,
    /// Disjoint sets, one per (lanes, reasons).
    pub variants: Vec<Variant>,
}

/// The origin of an arrival's entries, which decides what is counted with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// They are the first of their event for these recipients: notifications.
    First,
    /// These recipients had others of the event before: the channel comes later.
    Later,
    /// They come from another lane.
    Moved,
}

/// Hashes of an event's ids: enough to count groups and to find marked or withdrawn objects. They have 64
/// bits, so that two ids of one reader's days practically never collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The object's hash.
    pub object: u64,
    /// The hash of its group in an inbox; `None` = the object's.
    pub pivot: Option<u64>,
}

impl About {
    /// The hash of an object's id.
    #[must_use]
    pub(crate) fn object_hash(object: &Id) -> u64 {
        xxh3_64(object.as_str().as_bytes())
    }

    /// The hash of a group's shared id in a role. An event that lacks the role is a group by itself,
    /// under its own id. The same id in two roles gives two hashes.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Id;
    /// use tidings_core::journal::About;
    ///
    /// let ada = Id::new("ada")?;
    /// // Works by Ada and works in her gallery are two groups.
    /// assert_ne!(About::pivot_hash("actor", &ada), About::pivot_hash("target", &ada));
    /// # Ok::<(), tidings_core::model::IdError>(())
    /// ```
    #[must_use]
    pub fn pivot_hash(role: &str, id: &Id) -> u64 {
        let mut named = Vec::with_capacity(role.len() + 1 + id.as_str().len());
        named.extend_from_slice(role.as_bytes());
        named.push(0);
        named.extend_from_slice(id.as_str().as_bytes());
        xxh3_64(&named)
    }

    /// The hashes of an event whose type groups its inbox by `pivot`.
    #[must_use]
    pub fn of(event: &Event, pivot: Pivot) -> Self {
        let by_role = |role: Option<&Object>| match role {
            Some(role) => Self::pivot_hash(pivot.word(), &role.id),
            None => Self::pivot_hash("event", &event.id),
        };
        Self {
            object: Self::object_hash(&event.object.id),
            pivot: match pivot {
                Pivot::Object => None,
                Pivot::Actor => Some(by_role(event.actor.as_ref())),
                Pivot::Target => Some(by_role(event.target.as_ref())),
            },
        }
    }

    /// The hash that identifies the group within its type.
    #[must_use]
    pub fn group(self) -> u64 {
        self.pivot.unwrap_or(self.object)
    }
}

/// The recipients of an arrival with the same lanes and the same reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The lane of each entry, ascending.
    pub lanes: Vec<LaneNo>,
    /// Indexes of the arrival's reasons, ascending.
    pub reasons: Vec<u16>,
    /// The channels on which mutes leave other reasons; never the inbox.
    pub elsewhere: Vec<ChannelReasons>,
    /// The recipients. Empty in an arrival at rest: there the postings have them.
    pub recipients: Set,
}

/// The reasons of an entry on a channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChannelReasons {
    /// The channel.
    pub channel: ChannelNo,
    /// Indexes of the words, ascending.
    pub reasons: Vec<u16>,
}

impl Variant {
    /// The indexes of the reasons of its entry on a channel.
    #[must_use]
    pub(crate) fn reasons_on(&self, channel: ChannelNo) -> &[u16] {
        let other = self.elsewhere.iter().find(|of| of.channel == channel);
        other.map_or(&self.reasons, |of| &of.reasons)
    }
}

impl Arrival {
    /// The words of the reasons of a variant's entry on a channel, sorted by bytes.
    #[must_use]
    pub(crate) fn reasons_of(&self, variant: &Variant, channel: ChannelNo) -> Vec<String> {
        let word = |index: &u16| self.reasons.get(usize::from(*index)).cloned();
        variant.reasons_on(channel).iter().filter_map(word).collect()
    }
}

impl Record {
    /// Number of seqs that the record takes.
    #[must_use]
    pub fn seqs(&self) -> u64 {
        match self {
            Self::Move { arrivals, .. } => arrivals.len().max(1) as u64,
            Self::Items { items, .. } => items.len().max(1) as u64,
            _ => 1,
        }
    }
}
