//! The key layout: every table with its keys, values and partition.
//!
//! A key begins with its owner (a bucket, or the intake) and its table, so that an engine that
//! shares its store with others can tell from the key alone whose commit a write belongs to.
//! Integers are big-endian, so that the order of the bytes is the order of the numbers.
//!
//! | table | partition | owner | rest of the key | value |
//! |---|---|---|---|---|
//! | `META` | base | each | - | a bucket's checkpoint header; the clock and counters of the intake and of a shard |
//! | `RULES` | base | intake | version | [`crate::Rules`] as JSON |
//! | `NAMES` | base | intake | kind, number | a type's name or a lane |
//! | `OBJECTS` | base | intake | object id | what the object is now |
//! | `OBJECT_DAYS` | base | intake | day, object id | nothing: the newest day that named or changed the object |
//! | `OBJECT_DAYS` | day | intake | - | nothing: objects changed on a day on which nothing was published before |
//! | `WITHDRAWN` | base | intake | object id | nothing: the object must not be told |
//! | `SCHEDULED` | base | either | t, place | the event; a bucket's frozen sets of it |
//! | `SCHEDULED_IDS` | base | intake | event id, 0, place | t, place |
//! | `SCHEDULED_KEYS` | base | intake | cancellation key, 0, place | t, place |
//! | `CANCELLED_AHEAD` | base | intake | tenant, event id | until when the event is cancelled if it comes |
//! | `RECIPIENTS` | base | bucket | number | profile and preferences, as of the checkpoint |
//! | `FOLLOWERS` | base | bucket | tenant, topic | set of numbers, as of the checkpoint |
//! | `FOLLOWING` | base | bucket | number, tenant, topic | more topics of the tenant that were followed with it |
//! | `MEMBERS` | base | bucket | last tenant and number of a page | memberships up to it and above the row before, as of the checkpoint |
//! | `MARKS` | base | bucket | number, kind, what | the newest marks of it, as of the checkpoint |
//! | `LANES` | base | bucket | lane | who waits in it and until when, as of the checkpoint |
//! | `LANES` | base | bucket | lane, column, page, generation | windows of 256 recipients |
//! | `KEYED_LANES` | base | bucket | lane, number / 1024, tenant, batch key | windows and last messages of these recipients |
//! | `CAP_COUNTS` | base | bucket | channel, number / 256 | the instants of messages that caps count, as of the checkpoint |
//! | `DELIVERED_ONCE` | base | bucket | tenant, type, per, subject, 0, number / 65536 | who was delivered an entry of a type with `once_ever` |
//! | `TENANT_TERMS` | base | bucket | tenant | its zone, quiet hours and defaults, as of the checkpoint |
//! | `LEDGER` | base | bucket | day, channel | entries by outcome |
//! | `ANSWERS` | base | intake | hash of an `Idempotency-Key` | when, hash of the request, the answer |
//! | `ANSWERS_BY_AGE` | base | intake | when, hash of an `Idempotency-Key` | nothing |
//! | `SUPPRESSIONS` | base | intake | channel, hash of the address | the address, why it is suppressed, since when and until when |
//! | `API_KEYS` | base | intake | hash of an API key | its id, name, when it was made, and its role |
//! | `SIGNING_KEYS` | base | intake | id of a signing key | its name, when it was made, its scope, what its signatures are checked with |
//! | `SESSIONS` | base | intake | hash of the secret of a session | its id, who is signed in by it, role and groups, since when, last use and until when |
//! | `REVOKED_TOKENS` | base | bucket | hash of a recipient's id | up to which instant the recipient's tokens are refused |
//! | `FEEDS` | base | intake | name of a feed | nothing: it is paused |
//! | `ACTS` | base | intake | number | the acts of a step, until every shard has applied them |
//! | `TOKEN_SECRET` | base | intake | - | the secret with which tokens in links are sealed |
//! | `EVENTS` | day | intake | ordinal of the first | up to 16 events, a line each |
//! | `HEADERS` | day | intake | ordinal / 256 | a columnar block of event headers |
//! | `IDS` | day | intake | event id | place, t, ordinal |
//! | `ID_FILTER` | day | intake | - | which ids the day may hold, once it is over |
//! | `KEYS` | day | intake, shared | cancellation key, 0, place | place, t |
//! | `ENTERED_IDS` | day | intake, shared | event id, 0, place | place, t, of an event that entered on this day, scheduled or moved |
//! | `COPIED_EVENTS` | day | shared | day, ordinal | an event of another day, entries of which moved here |
//! | `JOURNAL` | day | bucket | seq of the first | records of one step |
//! | `SEGMENT_LIST` | day | bucket | - | which segments the day has |
//! | `SEGMENTS` | day | bucket | segment, first arrival | up to 128 arrivals of a segment, without their sets |
//! | `POSTINGS` | day | bucket | block, segment | per recipient its arrivals |
//! | `FACETS` | day | bucket | segment, ordinal / 1024 | of a segment's arrivals what an inbox is counted by |
//! | `DETAILS` | day | bucket | segment, first arrival | of the same arrivals what an inbox shows |
//! | `ENDED` | day | bucket | seq, channel | whose entry of an arrival ended by itself, as of the checkpoint |
//! | `MESSAGES` | day | bucket | number, seq of the closing | a personal batch |
//! | `ATTEMPTS` | day | bucket | number, seq of the closing | the attempts of a day to send a message, with the provider's answers; the hash of its content |
//! | `OCCURRENCES` | day | intake or bucket | instant, number | what occurred in a step that hooks tell the host |
//! | `HOOKS` | base | intake | name of a hook | since when it is told, whether it was resumed or is replayed |
//! | `HOOK_PROGRESS` | base | intake or bucket | name of a hook | how far it was told of this owner's occurrences |
//! | `TENANTS` | base | intake | number of a tenant | its id, what it sets, whether it was deleted |
//! | `SCHEDULED_OF_TENANTS` | base | intake | number of a tenant, t, place | nothing: an event of it is scheduled |
//! | `HOOK_PROGRESS` | base | intake or bucket | name of a hook, 0, next try, instant, number, index | an occurrence that it refuses, and that waits |
//! | `CHUNKS` | either | either | table, rest of the key, number | a further chunk of a value that is longer than a row |
//! | `PIECES` | either | either | the key of a value, number | a piece of a value that is longer than the store takes; the value's own row has their number |
//! | `ADDRESSES` | base | intake | - | the key of the hashes of addresses |
//! | `ADDRESSES` | base | bucket | - | nothing: the addresses of the bucket's recipients are indexed |
//! | `ADDRESSES` | base | shared | hash of an address, bucket, number | nothing: the recipient has it; or since when they have it no more |
//! | `FORMER_ADDRESSES` | base | shared | bucket, number, hash of an address | since when the recipient has it no more |
//! | `LEFT_OUT` | day | bucket | place | how many recipients an admission left out of an event |
//! | `HOUR_FIGURES` | base | intake, shard | (shard,) day, type, channel, hour | counts of a type in an hour |
//! | `FIGURES` | base | intake, shard | (shard,) day, type, channel | counts of a type on a day |
//! | `TENANT_FIGURES` | base | intake, shard | (shard,) day, tenant, channel | counts of a tenant on a day |
//! | `DAY_FIGURES` | base | intake, shard | (shard,) day | counts of a deleted day, of all types and channels |
//! | `FIGURES_SINCE` | base | intake | - | the first day whose figures are whole |
//! | `DUE_CLOSINGS` | day | shard | its number, channel, instant (newest first), bucket and seq of the first | closings of a step, by which lists find messages |
//! | `UNSENT` | day | shard | its number, state, reason, instant of the closing (newest first), bucket, seq | whose message of the closing was not handed over |
//! | `MESSAGE_FACETS` | day | shard | its number, kind, number or hash, second (newest first) | some of the messages of a type, provider or tenant that were due in it, or that there are many |
//! | `JOBS` | day | intake | 0, number of a job | a change of many messages, which are rows of their own |
//! | `JOBS` | day | intake | 1, number of a job, bucket, row | up to 512 of its messages |
//! | `JOBS` | day | intake | 2, number of a job | the number of these rows by bucket |
//! | `JOBS` | day | shard | its number, number of a job | what became of the messages that the shard came to |
//! | `JOBS` | day | bucket | number of a job | how far the bucket has come with it |
//! | `CHANGES` | base | intake or shard | writer, instant (newest first), number | a line of the log of changes |
//! | `CHANGES_BY` | base | intake or shard | writer, hash of a property, instant (newest first), number | nothing: the line has the property |
//! | `ENDS` | day | bucket | 0, seq of an arrival (or 1, place; 2, seq of a closing), seq | nothing: the record tells its end |
//! | `ARRIVED` | day | intake | complement of the place of the first | accepted events of a step, as lists show them |
//! | `ARRIVED_INDEX` | day | intake | part, complement of a place | by hash of a value: those of some thousand events from that place on that have it |
//! | `ARRIVED_INDEX` | day | intake | 255 | the ranges of places that are indexed |
//! | `OLD_INDEXED` | day | intake | - | of a day before lists: how far its events are listed and indexed |
//! | `OLD_INDEXED` | day | shard | its number | of a day before lists: the buckets whose messages are indexed |
//! | `NOT_REACHED` | day | bucket | place | who was in the event's audience and got no entry, by reason |

use crate::model::id::BucketNo;
use crate::model::number::Seq;
use crate::model::time::Day;

/// The partition of a key. Deleting a day drops its partition, whatever it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Partition {
    /// Data that outlives days: recipients, subscriptions, objects, ledger, checkpoints.
    Base,
    /// Data written on a UTC day.
    Day(Day),
}

/// One change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The partition.
    pub partition: Partition,
    /// The key.
    pub key: Vec<u8>,
    /// The new value; `None` deletes.
    pub value: Option<Vec<u8>>,
}

impl Write {
    /// The partition and the key: the order of the store.
    #[must_use]
    pub fn place(&self) -> (Partition, &[u8]) {
        (self.partition, &self.key)
    }
}

/// The owner of a row: the part of a store that one writer owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A bucket of recipients.
    Bucket(BucketNo),
    /// The intake of events, and the data that all buckets share.
    Intake,
    /// A shard of the buckets, for what they share: their clock and counters.
    Shard,
    /// Rows that any shard may write, since all write the same, or each its own: those of the index of addresses.
    Shared,
}

/// A table's number, the third byte of a key. Numbers are never given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is a row of the table at the head of this module")]
pub enum Table {
    Meta = 1,
    Rules = 2,
    Names = 3,
    Objects = 4,
    Scheduled = 5,
    ScheduledIds = 6,
    ScheduledKeys = 13,
    Recipients = 7,
    Followers = 8,
    Following = 9,
    Marks = 10,
    Lanes = 11,
    Ledger = 12,
    Answers = 14,
    AnswersByAge = 15,
    Withdrawn = 24,
    Events = 32,
    Headers = 33,
    Ids = 34,
    Keys = 35,
    Journal = 36,
    Segments = 37,
    Postings = 38,
    Messages = 39,
    EnteredIds = 40,
    SegmentList = 48,
    Ended = 49,
    Ends = 52,
    Facets = 56,
    Details = 57,
    IdFilter = 58,
    Chunks = 59,
    ObjectDays = 60,
    CopiedEvents = 61,
    ApiKeys = 62,
    KeyedLanes = 63,
    CapCounts = 64,
    CancelledAhead = 65,
    DeliveredOnce = 66,
    LeftOut = 67,
    Attempts = 68,
    TokenSecret = 69,
    Suppressions = 70,
    Acts = 71,
    SigningKeys = 80,
    RevokedTokens = 81,
    Feeds = 82,
    Occurrences = 83,
    Hooks = 84,
    HookProgress = 85,
    Tenants = 86,
    Members = 87,
    TenantTerms = 89,
    ScheduledOfTenants = 90,
    Pieces = 92,
    HourFigures = 106,
    Figures = 107,
    TenantFigures = 108,
    DayFigures = 109,
    FiguresSince = 114,
    OldIndexed = 115,
    DueClosings = 96,
    Unsent = 97,
    MessageFacets = 98,
    Jobs = 99,
    Addresses = 100,
    FormerAddresses = 101,
    Arrived = 93,
    ArrivedIndex = 94,
    NotReached = 95,
    Changes = 102,
    ChangesBy = 103,
    Sessions = 116,
}

/// The owner of rows that any shard may write, as keys have it. Buckets are below.
const SHARED: u16 = u16::MAX - 2;

/// A key under construction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(Vec<u8>);

impl Key {
    /// The key that all keys of this owner's table begin with.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::journal::{Key, Owner, Table};
    /// use tidings_core::model::BucketNo;
    ///
    /// let key = Key::of(Owner::Bucket(BucketNo(3)), Table::Journal).u64(7).done();
    /// assert_eq!(key, [0, 3, 36, 0, 0, 0, 0, 0, 0, 0, 7]);
    /// ```
    #[must_use]
    pub fn of(owner: Owner, table: Table) -> Self {
        let owner = match owner {
            Owner::Bucket(bucket) => bucket.0,
            Owner::Intake => u16::MAX,
            Owner::Shard => u16::MAX - 1,
            Owner::Shared => SHARED,
        };
        let mut bytes = Vec::with_capacity(24);
        bytes.extend_from_slice(&owner.to_be_bytes());
        bytes.push(table as u8);
        Self(bytes)
    }

    /// Appends an unsigned number of 8 bytes.
    #[must_use]
    pub fn u64(mut self, number: u64) -> Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    /// Appends a seq, in 8 bytes.
    #[must_use]
    pub fn seq(self, seq: Seq) -> Self {
        self.u64(seq.0)
    }

    /// Appends an unsigned number of 4 bytes.
    #[must_use]
    pub fn u32(mut self, number: u32) -> Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    /// Appends an unsigned number of 2 bytes.
    #[must_use]
    pub fn u16(mut self, number: u16) -> Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    /// Appends a signed number of 8 bytes in an order-keeping form.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::journal::{Key, Owner, REST, Table, i64_at};
    ///
    /// let key = |number| Key::of(Owner::Intake, Table::Scheduled).i64(number).done();
    /// // The order of the bytes is that of the numbers, also below 0.
    /// assert!(key(-2) < key(-1) && key(-1) < key(0));
    /// assert_eq!(i64_at(&key(-2), REST), Some(-2));
    /// ```
    #[must_use]
    pub fn i64(self, number: i64) -> Self {
        self.u64(number.cast_unsigned() ^ (1 << 63))
    }

    /// Appends a day in an order-keeping form.
    #[must_use]
    pub fn day(self, day: Day) -> Self {
        self.u32(day.0.cast_unsigned() ^ (1 << 31))
    }

    /// Appends bytes as they are.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// The finished key.
    #[must_use]
    pub fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Returns true if the owner of a row is a bucket.
///
/// # Examples
/// ```
/// use tidings_core::journal::{Key, Owner, Table, is_of_bucket};
/// use tidings_core::model::BucketNo;
///
/// let of = |owner| is_of_bucket(&Key::of(owner, Table::Meta).done());
/// assert!(of(Owner::Bucket(BucketNo(3))) && !of(Owner::Intake) && !of(Owner::Shard));
/// ```
#[must_use]
pub fn is_of_bucket(key: &[u8]) -> bool {
    let owner = key.first_chunk().map(|owner| u16::from_be_bytes(*owner));
    owner.is_some_and(|owner| owner < SHARED)
}

/// The smallest key that is greater than every key with this prefix; `None` = there is none.
///
/// # Examples
/// ```
/// use tidings_core::journal::after_prefix;
///
/// assert_eq!(after_prefix(b"artist/"), Some(b"artist0".to_vec()));
/// assert_eq!(after_prefix(&[7, 255]), Some(vec![8]));
/// // Nothing is greater than all keys that begin so.
/// assert_eq!(after_prefix(&[255, 255]), None);
/// ```
#[must_use]
pub fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let keep = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix[..=keep].to_vec();
    end[keep] += 1;
    Some(end)
}

/// Reads a big-endian number of 8 bytes at `offset`; `None` if the key is shorter.
///
/// # Examples
/// ```
/// use tidings_core::journal::{Key, Owner, REST, Table, u64_at};
///
/// let key = Key::of(Owner::Intake, Table::Rules).u32(1).done();
/// // A key that is too short has no such number, and is no reason to panic.
/// assert_eq!(u64_at(&key, REST), None);
/// ```
#[must_use]
pub fn u64_at(key: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(offset..offset + 8)?.try_into().ok()?))
}

/// Reads a seq at `offset`; `None` if the key is shorter.
#[must_use]
pub(crate) fn seq_at(key: &[u8], offset: usize) -> Option<Seq> {
    u64_at(key, offset).map(Seq)
}

/// Reads a big-endian number of 2 bytes at `offset`; `None` if the key is shorter.
#[must_use]
pub(crate) fn u16_at(key: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_be_bytes(key.get(offset..offset + 2)?.try_into().ok()?))
}

/// Reads a big-endian number of 4 bytes at `offset`; `None` if the key is shorter.
#[must_use]
pub(crate) fn u32_at(key: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(offset..offset + 4)?.try_into().ok()?))
}

/// Reads an instant's or another signed number's 8 bytes at `offset`.
#[must_use]
pub fn i64_at(key: &[u8], offset: usize) -> Option<i64> {
    u64_at(key, offset).map(|number| (number ^ (1 << 63)).cast_signed())
}

/// Reads a day's 4 bytes at `offset`.
#[must_use]
pub(crate) fn day_at(key: &[u8], offset: usize) -> Option<Day> {
    u32_at(key, offset).map(|number| Day((number ^ (1 << 31)).cast_signed()))
}

/// The offset of the rest of a key, after owner and table.
pub const REST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_is_in_the_list_at_the_head() {
        let (head, rest) = include_str!("table.rs").split_once("pub enum Table {").unwrap();
        let variants = rest.split_once('}').unwrap().0.lines();
        let names = variants.filter_map(|line| Some(line.split_once(" = ")?.0.trim()));
        let mut count = 0;
        for name in names {
            let mut listed = String::new();
            for letter in name.chars() {
                if letter.is_uppercase() && !listed.is_empty() {
                    listed.push('_');
                }
                listed.extend(letter.to_uppercase());
            }
            assert!(head.contains(&format!("//! | `{listed}` |")), "{listed}");
            count += 1;
        }
        assert!(count > 0);
    }

    #[test]
    fn order_of_bytes_is_order_of_numbers() {
        let key = |n: i64| Key::of(Owner::Bucket(BucketNo(3)), Table::Ledger).i64(n).done();
        assert!(key(-5) < key(-4));
        assert!(key(-1) < key(0));
        assert_eq!(i64_at(&key(-77), REST), Some(-77));
        let day = |n: i32| Key::of(Owner::Intake, Table::Ledger).day(Day(n)).done();
        assert!(day(-1) < day(0));
        assert_eq!(day_at(&day(-9), REST), Some(Day(-9)));
    }

    #[test]
    fn prefixes_end() {
        assert_eq!(after_prefix(&[1, 2]), Some(vec![1, 3]));
        assert_eq!(after_prefix(&[1, 255]), Some(vec![2]));
        assert_eq!(after_prefix(&[255, 255]), None);
    }
}
