//! The search of operators: who or what has an id, a tag, a cancellation key or an address; and what is spelled alike.
//!
//! Each way is a look into rows or sets that are in order. Nothing is gone through, but for a store of an earlier version
//! in the minutes until its addresses are indexed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::engine::address_index::hash::spellings;
use crate::engine::address_index::rows::with_address;
use crate::engine::intake::locate::EventPlaces;
use crate::engine::read::reader::Reader;
use crate::engine::read::tenants::TenantDirectory;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::Unreadable;
use crate::journal::table::Table;
use crate::model::id::Id;
use crate::model::messages::MessageName;
use crate::model::number::{EventNo, RecipientNo};
use crate::model::recipient::Addresses;
use crate::model::suppression::ChannelAddress;
use crate::model::time::Instant;

/// The most hits of a search.
pub const HITS_MAX: usize = 50;
/// The most ids that are spelled alike.
pub const NEAREST_MAX: usize = 3;
/// The fewest first bytes that ids have in common to be near.
const NEAR_BYTES: usize = 3;
/// The most events of a cancellation key that are read.
const EVENTS_MAX: usize = 1_000;

/// A search.
#[derive(Clone)]
pub struct Search {
    /// The text, which may be an address.
    pub text: String,
    /// The message of the tag of a mail that the text is.
    pub tagged: Option<MessageName>,
    /// The present time.
    pub now: Instant,
}

// An address belongs in no log.
impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Search(…)")
    }
}

/// A kind of hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the glossary has them")]
pub enum FoundKind {
    Recipient,
    Event,
    Message,
    Object,
    Topic,
    Tenant,
    Type,
}

impl FoundKind {
    /// All kinds, in the order of hits.
    pub const ALL: [Self; 7] = [
        Self::Recipient,
        Self::Event,
        Self::Message,
        Self::Object,
        Self::Topic,
        Self::Tenant,
        Self::Type,
    ];

    /// The word of the kind.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Recipient => "recipient",
            Self::Event => "event",
            Self::Message => "message",
            Self::Object => "object",
            Self::Topic => "topic",
            Self::Tenant => "tenant",
            Self::Type => "type",
        }
    }
}

/// The way in which a hit matched, in the order of hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchedBy {
    /// It has this very id.
    Id,
    /// It is the message of a mail's tag.
    Tag,
    /// It is an event with this cancellation key.
    CancellationKey,
    /// The recipient has the address.
    Address,
    /// The recipient had the address, and has it no more.
    FormerAddress,
}

impl MatchedBy {
    /// All ways.
    pub const ALL: [Self; 5] =
        [Self::Id, Self::Tag, Self::CancellationKey, Self::Address, Self::FormerAddress];

    /// The word of the way.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Tag => "tag",
            Self::CancellationKey => "cancellation_key",
            Self::Address => "address",
            Self::FormerAddress => "former_address",
        }
    }

    /// The place in the order of hits: present and former addresses are one way.
    fn rank(self) -> u8 {
        match self {
            Self::Id => 0,
            Self::Tag => 1,
            Self::CancellationKey => 2,
            Self::Address | Self::FormerAddress => 3,
        }
    }
}

/// A hit of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchHit {
    /// The kind.
    pub kind: FoundKind,
    /// Its id.
    pub id: String,
    /// The way in which it matched.
    pub matched: MatchedBy,
}

/// Something of which the id is spelled alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearId {
    /// The kind.
    pub kind: FoundKind,
    /// Its id.
    pub id: String,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// The hits, in their order.
    pub hits: Vec<SearchHit>,
    /// Without a hit: recipients and topics of which the id begins alike, those with more of it first.
    pub nearest: Vec<NearId>,
}

impl SearchResult {
    /// The results of several nodes as one.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::engine::{FoundKind, MatchedBy, SearchHit, SearchResult};
    ///
    /// let of = |id: &str, matched| SearchResult {
    ///     hits: vec![SearchHit { kind: FoundKind::Recipient, id: id.to_owned(), matched }],
    ///     nearest: Vec::new(),
    /// };
    /// let by_address = |id| of(id, MatchedBy::Address);
    /// let all = [by_address("zoe"), of("q", MatchedBy::Id), by_address("ann"), by_address("q")];
    /// let merged = SearchResult::merged(all.into(), "q");
    /// let ids: Vec<_> = merged.hits.iter().map(|hit| &hit.id).collect();
    /// assert_eq!(ids, ["q", "ann", "zoe"]);
    /// ```
    #[must_use]
    pub fn merged(all: Vec<Self>, text: &str) -> Self {
        let (mut hits, mut nearest) = (Vec::new(), Vec::new());
        for one in all {
            hits.extend(one.hits);
            nearest.extend(one.nearest);
        }
        hits.sort_by(|a: &SearchHit, b| order(a).cmp(&order(b)));
        // Of what matches in several ways the first counts.
        let mut seen = BTreeSet::new();
        hits.retain(|hit| seen.insert((hit.kind, hit.id.clone())));
        hits.truncate(HITS_MAX);
        if hits.is_empty() {
            nearest.sort_by_cached_key(|near: &NearId| {
                (std::cmp::Reverse(common(&near.id, text)), near.kind, near.id.clone())
            });
            nearest.dedup();
            nearest.truncate(NEAREST_MAX);
        } else {
            nearest.clear();
        }
        Self { hits, nearest }
    }
}

fn order(hit: &SearchHit) -> (u8, FoundKind, &str, MatchedBy) {
    (hit.matched.rank(), hit.kind, &hit.id, hit.matched)
}

/// Number of first bytes that two texts have in common.
fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

impl Reader<'_> {
    /// Searches what this engine holds.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn search(&self, search: &Search) -> Result<SearchResult, Unreadable> {
        let found = Lookup { reader: *self, search };
        let mut hits = Vec::new();
        let mut add = |kind, id: &str, matched| {
            hits.push(SearchHit { kind, id: id.to_owned(), matched });
        };
        let text = search.text.as_str();
        let named = text.parse().ok();
        for (name, matched) in [(named, MatchedBy::Id), (search.tagged, MatchedBy::Tag)] {
            if let Some(name) = name
                && self.message_report(name)?.is_some()
            {
                add(FoundKind::Message, &name.to_string(), matched);
            }
        }
        if let Ok(id) = Id::new(text) {
            for kind in found.with_id(&id)? {
                add(kind, text, MatchedBy::Id);
            }
            for event in found.events_with_key(&id)? {
                add(FoundKind::Event, event.as_str(), MatchedBy::CancellationKey);
            }
        }
        for (recipient, is_former) in found.recipients_with_address()? {
            let matched = if is_former { MatchedBy::FormerAddress } else { MatchedBy::Address };
            add(FoundKind::Recipient, recipient.as_str(), matched);
        }
        let nearest = if hits.is_empty() { found.near() } else { Vec::new() };
        Ok(SearchResult::merged(vec![SearchResult { hits, nearest }], text))
    }
}

/// The looks of one search into what the engine holds.
struct Lookup<'a> {
    reader: Reader<'a>,
    search: &'a Search,
}

impl Lookup<'_> {
    /// The kinds of what has an id, but for messages.
    fn with_id(&self, id: &Id) -> Result<Vec<FoundKind>, Unreadable> {
        let Reader { engine, view } = self.reader;
        let is_topic =
            |bucket: &Bucket| bucket.followers.topics_from(id.as_str()).next() == Some(id);
        let is_event = self.reader.known_event(&Draft::new(view), id)?.is_some();
        let is_type = engine.rules().is_some_and(|rules| rules.types.contains_key(id.as_str()));
        let known = [
            (FoundKind::Recipient, engine.recipient(id).is_some()),
            (FoundKind::Event, is_event),
            (FoundKind::Object, self.reader.knows_object(id)?),
            (FoundKind::Topic, engine.shards.buckets().any(is_topic)),
            (FoundKind::Tenant, TenantDirectory::of(engine).get(id).is_some()),
            (FoundKind::Type, is_type),
        ];
        Ok(known.into_iter().filter(|(_, is_known)| *is_known).map(|(kind, _)| kind).collect())
    }

    /// The ids of the events with a cancellation key, of all tenants.
    fn events_with_key(&self, key: &Id) -> Result<BTreeSet<Id>, Unreadable> {
        let Reader { engine, view } = self.reader;
        let (draft, intake) = (Draft::new(view), &engine.intake);
        let mut all = intake.located_by_key(&draft, key)?;
        for shard in engine.shards.iter() {
            all.extend(shard.copies_in(&draft).copies_of(key, Table::Keys)?);
        }
        let mut by_place: BTreeMap<EventNo, EventPlaces> = BTreeMap::new();
        for (day, located) in all {
            by_place.entry(located.place).or_default().insert((day, located));
        }
        let mut ids = BTreeSet::new();
        for (place, located) in by_place.into_iter().rev().take(EVENTS_MAX) {
            let waits = located.iter().find_map(|(_, located)| {
                let t = located.scheduled?;
                intake.scheduled.contains_key(&(t, place)).then_some(t)
            });
            let row = intake.row_of(&draft, &located, waits)?;
            ids.extend(row.map(|row| row.event.id));
        }
        Ok(ids)
    }

    /// The recipients who have an address (false) or had it within `keep` (true).
    fn recipients_with_address(&self) -> Result<BTreeMap<Id, bool>, Unreadable> {
        let (Reader { engine, view }, search) = (self.reader, self.search);
        let keep_ms = engine.rules().map_or(0, |rules| rules.store.keep_ms);
        let ended = search.now.plus_ms(-keep_ms);
        let mut found = BTreeMap::new();
        let mut add = |id: &Id, is_former: bool| {
            *found.entry(id.clone()).or_insert(is_former) &= is_former;
        };
        let keys = engine.shards.iter().find_map(|shard| shard.addresses.key);
        let hashes = keys.map(|key| key.of_text(&search.text)).unwrap_or_default();
        for (at, since) in with_address(view, &hashes)? {
            // Rows are of all shards, profiles of those held here.
            let bucket = engine.shards.held_bucket(at.bucket);
            let profile = bucket.and_then(|bucket| bucket.roster.profile(at.number));
            if let Some(profile) = profile
                && since.is_none_or(|since| since > ended)
            {
                add(&profile.id, since.is_some());
            }
        }
        let spellings = spellings(&search.text);
        for (shard, bucket) in engine.shards.with_buckets() {
            if shard.addresses.is_unbuilt(bucket.no) {
                for number in 0..bucket.roster.next_number().0 {
                    let profile = bucket.roster.profile(RecipientNo(number));
                    if let Some(profile) = profile
                        && has_one(&profile.addresses, &spellings)
                    {
                        add(&profile.id, false);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Recipients and topics of which the id begins as the text, for three bytes or more.
    fn near(&self) -> Vec<NearId> {
        let text = self.search.text.as_str();
        let buckets: Vec<&Bucket> = self.reader.engine.shards.buckets().collect();
        let recipients = nearest(text, &|first| {
            buckets.iter().flat_map(|bucket| few(first, bucket.roster.ids_from(first))).collect()
        });
        let topics = nearest(text, &|first| {
            let all = buckets.iter();
            all.flat_map(|bucket| few(first, bucket.followers.topics_from(first))).collect()
        });
        let near = |kind, ids: Vec<Id>| {
            ids.into_iter().map(move |id| NearId { kind, id: id.as_str().to_owned() })
        };
        near(FoundKind::Recipient, recipients).chain(near(FoundKind::Topic, topics)).collect()
    }
}

/// Returns true if one of the addresses is spelled so.
fn has_one(addresses: &Addresses, spellings: &BTreeSet<String>) -> bool {
    let mut all = addresses.all();
    all.any(|(channel, text)| spellings.contains(ChannelAddress::new(channel, text).address()))
}

/// The first ids with a prefix, a few more than may be shown: of some one knows that they are nearer.
fn few<'a>(prefix: &'a str, ids: impl Iterator<Item = &'a Id>) -> Vec<Id> {
    let with_prefix = ids.take_while(|id| id.as_str().starts_with(prefix));
    let mut few: Vec<Id> = Vec::new();
    for id in with_prefix {
        if few.last() != Some(id) {
            few.push(id.clone());
        }
        if few.len() == 2 * NEAREST_MAX {
            break;
        }
    }
    few
}

/// The ids that have most of their first bytes in common with a text. `few_with` = the first ids with a prefix, of each
/// bucket.
fn nearest(text: &str, few_with: &dyn Fn(&str) -> BTreeSet<Id>) -> Vec<Id> {
    let bounds: Vec<&str> = text
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .filter(|end| *end >= NEAR_BYTES)
        .filter_map(|end| text.get(..end))
        .collect();
    // Longer prefixes have fewer ids: those that have enough of them come first.
    let enough = bounds.partition_point(|prefix| few_with(prefix).len() >= NEAREST_MAX);
    let nearer = bounds.get(enough).map(|prefix| few_with(prefix)).unwrap_or_default();
    let last = enough.checked_sub(1).and_then(|last| bounds.get(last));
    let ids: BTreeSet<Id> =
        nearer.into_iter().chain(last.map(|prefix| few_with(prefix)).unwrap_or_default()).collect();
    let mut ids: Vec<Id> = ids.into_iter().collect();
    ids.sort_by_cached_key(|id| (std::cmp::Reverse(common(id.as_str(), text)), id.clone()));
    ids.truncate(NEAREST_MAX);
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_ids_have_most_of_their_first_bytes_in_common() {
        let ids = ["an", "ana", "ana-1", "ana-2", "ana-3", "ana-4", "anb", "zoë-1", "zoë-2"];
        let ids: BTreeSet<Id> = ids.into_iter().map(|id| Id::new(id).unwrap()).collect();
        let near = |text: &str| {
            let with = |prefix: &str| -> BTreeSet<Id> {
                let from = ids.iter().filter(|id| id.as_str() >= prefix);
                few(prefix, from).into_iter().collect()
            };
            let near = nearest(text, &with);
            near.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(near("ana-22"), "ana-2 ana-1 ana-3");
        assert_eq!(near("ana-9"), "ana-1 ana-2 ana-3");
        assert_eq!(near("anab"), "ana ana-1 ana-2");
        assert_eq!(near("anb-1"), "anb");
        assert_eq!(near("zoë"), "zoë-1 zoë-2");
        assert_eq!(near("zoé-1"), "");
        for far in ["an", "a", "bob", ""] {
            assert_eq!(near(far), "", "{far}");
        }
    }
}
