//! The records of a bucket's journal: what happened, when, to which set of recipients.
//!
//! State is the fold of them. A record therefore says everything that the fold needs and the fold
//! decides nothing: whoever writes a record has decided.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::batch::Pivot;
use crate::command::MarkKind;
use crate::event::{Event, Object};
use crate::id::Id;
use crate::reason::{Ending, Reason};
use crate::recipient::{Mode, PreferenceScope, Recipient};
use crate::rules::CHANNELS;
use crate::set::Set;
use crate::time::Instant;

/// A channel's number: its place in [`CHANNELS`]. Numbers are stored and never given again.
pub type ChannelNo = u8;

/// The inbox's number.
pub const INBOX_NO: ChannelNo = 0;

/// The number of a channel, if this version knows it.
#[must_use]
pub fn channel_no(name: &str) -> Option<ChannelNo> {
    CHANNELS
        .iter()
        .position(|known| *known == name)
        .and_then(|at| u8::try_from(at).ok())
}

/// A lane's number, given once for (channel, lane name, kind) and stored.
pub type LaneNo = u16;

/// A type's number, given once for its name and stored.
pub type TypeNo = u32;

/// One line of a bucket's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// An event reached these recipients.
    Arrival(Arrival),
    /// The lanes of this name of these recipients came due. It is the flush marker: an entry belongs
    /// to the first closing of its lane at or above its seq.
    Closing {
        /// When they were due.
        at: Instant,
        /// Which lane.
        lane: LaneNo,
        /// Whose.
        who: Set,
    },
    /// Entries end.
    Cut {
        /// When.
        at: Instant,
        /// Why; `None` = they go on in another lane: [`Record::Move`]s follow in the same commit.
        why: Option<Reason>,
        /// Which entries of whom.
        items: Vec<Entries>,
    },
    /// Entries arrive again in another lane with their old `t` and place, entry `i` under this
    /// record's seq + `i`. They join open windows by (t, arrival), all of a commit together.
    Move {
        /// When.
        at: Instant,
        /// By lane, whose deadline had passed before any of it arrived: it moves nothing for them.
        overdue: Vec<(LaneNo, Set)>,
        /// What arrives again, by (t, place).
        arrivals: Vec<Arrival>,
    },
    /// Entries that end without ever entering a lane: scheduled, then cancelled or no longer wanted.
    Dropped {
        /// When.
        at: Instant,
        /// The event's place in the intake.
        place: u64,
        /// Which channel, why, whose.
        items: Vec<(ChannelNo, Reason, Set)>,
    },
    /// Seen or read.
    Mark {
        /// When.
        at: Instant,
        /// It covers what was published before this place.
        before: u64,
        /// Whose.
        number: u32,
        /// What.
        what: Covered,
        /// Seen, or read as well.
        kind: MarkKind,
    },
    /// The inbox was told all of its entries in `from..=to`, but for these. No row a recipient.
    Told {
        /// When.
        at: Instant,
        /// The first seq.
        from: u64,
        /// The last seq.
        to: u64,
        /// What ended instead.
        except: Vec<(u64, Reason, Set)>,
    },
    /// These recipients' messages of a closing were made; their rows were written with this record.
    Made {
        /// When.
        at: Instant,
        /// The closing.
        closing: u64,
        /// Whose messages.
        who: Set,
        /// Those of them that have nothing to say.
        nothing: Set,
    },
    /// What became of these recipients' messages.
    Outcome {
        /// When.
        at: Instant,
        /// The closing.
        closing: u64,
        /// Whose messages.
        who: Set,
        /// How they ended.
        ending: Ending,
    },
    /// A recipient was made (under the next number) or changed.
    Profile {
        /// When.
        at: Instant,
        /// Number in the bucket.
        number: u32,
        /// The whole new profile.
        profile: Box<Recipient>,
    },
    /// A recipient was erased.
    Erased {
        /// When.
        at: Instant,
        /// Number in the bucket.
        number: u32,
    },
    /// Recipients follow or unfollow.
    Follow {
        /// What, and who; no topic stands twice.
        topics: Vec<(Id, Set)>,
        /// Whether from now on they follow it.
        on: bool,
    },
    /// A recipient chose.
    Preference {
        /// Who.
        number: u32,
        /// What it speaks of.
        scope: PreferenceScope,
        /// On which channel.
        channel: ChannelNo,
        /// What they chose.
        mode: Mode,
    },
    /// Open lanes are due now.
    Flush {
        /// When.
        at: Instant,
        /// Whose.
        number: u32,
        /// Which lanes.
        lanes: Vec<LaneNo>,
    },
    /// A new version of the rules: zones of those who don't say may change.
    Rules {
        /// When.
        at: Instant,
        /// The version.
        version: u32,
    },
    /// Which channels are paused from now on.
    Pause {
        /// When.
        at: Instant,
        /// Their numbers, ascending.
        channels: Vec<ChannelNo>,
        /// Lanes of what was paused from which everything has gone on.
        emptied: Vec<LaneNo>,
    },
    /// These recipients' messages of a closing were made, and then everything that they told was
    /// taken back: they are not sent.
    Withdrawn {
        /// When.
        at: Instant,
        /// The closing.
        closing: u64,
        /// Whose messages.
        who: Set,
    },
}

/// What a mark covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Covered {
    /// What has a `t` up to this instant, of types that have an inbox.
    UpTo(Instant),
    /// Everything about an object.
    Object(Id),
    /// An event, by its place in the intake: an id may come again once its day is forgotten.
    Event(u64),
}

/// One arrival's entries of some recipients on one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entries {
    /// The arrival's seq.
    pub seq: u64,
    /// On which channel.
    pub channel: ChannelNo,
    /// Whose.
    pub who: Set,
}

/// An event that reached recipients of a bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrival {
    /// When the record was written; its day is the day of its entries.
    pub at: Instant,
    /// When its entries entered their first lane.
    pub t: Instant,
    /// The event's place in the intake.
    pub place: u64,
    /// The event's row in the day of `at`.
    pub ordinal: u32,
    /// The event's type.
    pub kind: TypeNo,
    /// The version of the rules that decided.
    pub rules: u32,
    /// Whether its entries came from another lane.
    pub moved: bool,
    /// What an inbox must know of the event to group it, without reading it.
    pub about: About,
    /// The words of all reasons, sorted by bytes.
    pub reasons: Vec<String>,
    /// Disjoint sets, one per (lanes, reasons).
    pub variants: Vec<Variant>,
}

/// What an event is about, as hashes of ids: enough to count groups and to find what is marked or
/// withdrawn. Of 64 bits, so that within the days of one reader two ids never meet by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Its object.
    pub object: u64,
    /// What it shares with its group in an inbox; `None` = the object.
    pub pivot: Option<u64>,
}

impl About {
    /// The hash by which an object is known.
    #[must_use]
    pub fn object_hash(object: &Id) -> u64 {
        xxh3_64(object.as_str().as_bytes())
    }

    /// The hash of what a group shares, in a role; what lacks the role stands alone, under the id of
    /// its event. The same id in two roles is two things.
    #[must_use]
    pub fn pivot_hash(role: &str, id: &Id) -> u64 {
        let mut named = Vec::with_capacity(role.len() + 1 + id.as_str().len());
        named.extend_from_slice(role.as_bytes());
        named.push(0);
        named.extend_from_slice(id.as_str().as_bytes());
        xxh3_64(&named)
    }

    /// What an event is about, where its type's inbox groups share `pivot`.
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

    /// What tells the group from others of its type.
    #[must_use]
    pub fn group(self) -> u64 {
        self.pivot.unwrap_or(self.object)
    }
}

/// The recipients of an arrival that go the same way for the same reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The lane on each channel that makes an entry, ascending.
    pub lanes: Vec<LaneNo>,
    /// Which of the arrival's reasons, ascending.
    pub reasons: Vec<u16>,
    /// Who. Empty in an arrival at rest: there the postings say it.
    pub who: Set,
}

impl Arrival {
    /// The words of a variant's reasons, sorted by bytes.
    #[must_use]
    pub fn reasons_of(&self, variant: &Variant) -> Vec<String> {
        let word = |at: &u16| self.reasons.get(usize::from(*at)).cloned();
        variant.reasons.iter().filter_map(word).collect()
    }
}

impl Record {
    /// How many seqs the record takes.
    #[must_use]
    pub fn seqs(&self) -> u64 {
        match self {
            Self::Move { arrivals, .. } => arrivals.len().max(1) as u64,
            _ => 1,
        }
    }
}
