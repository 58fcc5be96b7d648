//! A bucket's checkpoint: the fold up to a seq, so that a start replays only what came after.
//!
//! With it the arrivals of the tail are turned round into postings, after which their sets are
//! dropped from the journal. Both happen in one commit: a crash leaves the old state or the new.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::collect::{posting_key, run_key};
use super::lane::{Lane, LaneImage};
use super::{Bucket, BucketDay, Closing, Dirty, Marks, RunAt, facets};
use crate::id::Id;
use crate::journal::at_rest::{Kept, Run, Shelf, Unreadable, decode, each, each_from, encode};
use crate::journal::record::{ChannelNo, LaneNo, Record};
use crate::law::Law;
use crate::postings;
use crate::recipient::{Mode, PreferenceScope, Recipient};
use crate::set::Set;
use crate::table::{Key, Owner, Partition, REST, Table, Write, u32_at, u64_at};
use crate::time::{Day, Instant};

/// A day, its first seq, and the first and last seq of each of its runs.
type DayImage = (Day, u64, Vec<(u64, u64)>);

/// A closing: seq, lane, instant, whose messages are not made (each since which seq), whose are on
/// their way.
type ClosingImage = (u64, LaneNo, Instant, Vec<(u32, u64)>, Set);

/// The head of a checkpoint; big things have rows of their own.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    next_seq: u64,
    told_to: u64,
    rules: u32,
    versions: Vec<(u64, u32)>,
    next_number: u32,
    /// Arrivals from this seq on are in the journal, older ones at rest.
    tail_from: u64,
    days: Vec<DayImage>,
    ended: Vec<(u64, ChannelNo, Set)>,
    closings: Vec<ClosingImage>,
    paused: Vec<ChannelNo>,
}

/// A recipient as the store keeps them; nothing where they were erased.
#[derive(Debug, Serialize, Deserialize)]
struct RecipientRow {
    profile: Option<Recipient>,
    preferences: Vec<(ChannelNo, PreferenceScope, Mode)>,
}

/// The key of a record.
pub(crate) fn journal_key(bucket: u16, seq: u64) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::Journal)
        .u64(seq)
        .done()
}

impl Bucket {
    fn key(&self, table: Table) -> Key {
        Key::of(Owner::Bucket(self.no), table)
    }

    /// Writes a checkpoint, and turns round each day's tail that holds at least `turn_at` entries,
    /// or whatever it holds once its day is over (`None` = never turn).
    pub(crate) fn checkpoint(&mut self, today: Day, turn_at: Option<u64>) -> Vec<Write> {
        let mut writes = Vec::new();
        if let Some(turn_at) = turn_at {
            self.turn_round(today, turn_at, &mut writes);
        }
        self.write_dirty(&mut writes);
        let mut base = |key: Vec<u8>, value: Option<Vec<u8>>| {
            writes.push(Write {
                partition: Partition::Base,
                key,
                value,
            });
        };
        for (no, lane) in &self.lanes {
            base(
                self.key(Table::Lanes).u16(*no).done(),
                Some(encode(&lane.image())),
            );
        }
        base(self.key(Table::Meta).done(), Some(encode(&self.head())));
        self.dirty = Dirty::default();
        self.unload_before(today);
        writes
    }

    /// Lets go of what was read of older days, so that memory doesn't grow with what was looked at.
    fn unload_before(&mut self, today: Day) {
        for (_, held) in self.days.range_mut(..today) {
            for run in &mut held.runs {
                run.loaded.take();
            }
        }
    }

    fn head(&self) -> Head {
        let tails = self.days.values().filter_map(|day| day.tail.first());
        let days = self.days.iter().map(|(day, held)| {
            let runs = held.runs.iter().map(|run| (run.first, run.last)).collect();
            (*day, held.first, runs)
        });
        let ended = self
            .ended
            .iter()
            .map(|((seq, channel), who)| (*seq, *channel, who.clone().into()));
        let closings = self.closings.iter().map(|(seq, closing)| {
            let unmade = closing
                .unmade
                .iter()
                .map(|(number, since)| (*number, *since))
                .collect();
            (
                *seq,
                closing.lane,
                closing.at,
                unmade,
                closing.sending.clone().into(),
            )
        });
        Head {
            next_seq: self.next_seq,
            told_to: self.told_to,
            rules: self.rules,
            versions: self
                .versions
                .iter()
                .map(|(seq, version)| (*seq, *version))
                .collect(),
            next_number: self.roster.next_number(),
            tail_from: tails.map(|kept| kept.seq).min().unwrap_or(self.next_seq),
            days: days.collect(),
            ended: ended.collect(),
            closings: closings.collect(),
            paused: self.paused.clone(),
        }
    }

    fn write_dirty(&self, writes: &mut Vec<Write>) {
        let mut base = |key: Vec<u8>, value: Option<Vec<u8>>| {
            writes.push(Write {
                partition: Partition::Base,
                key,
                value,
            });
        };
        for number in &self.dirty.recipients {
            let profile = self.roster.profile(number).cloned();
            let row = profile.map(|profile| {
                let preferences = self.preferences.of(number);
                encode(&RecipientRow {
                    profile: Some(profile),
                    preferences,
                })
            });
            base(self.key(Table::Recipients).u32(number).done(), row);
        }
        for topic in &self.dirty.topics {
            let who = self.followers.get(topic).filter(|who| !who.is_empty());
            let value = who.map(|who| encode(&Set::from(who.clone())));
            base(
                self.key(Table::Followers)
                    .bytes(topic.as_str().as_bytes())
                    .done(),
                value,
            );
        }
        for number in &self.dirty.marks {
            let value = self.marks.get(&number).map(encode);
            base(self.key(Table::Marks).u32(number).done(), value);
        }
    }

    fn turn_round(&mut self, today: Day, turn_at: u64, writes: &mut Vec<Write>) {
        let (bucket, told_to) = (self.no, self.told_to);
        for (day, held) in &mut self.days {
            // What the inboxes are yet to be told is looked for in the tail.
            let told = held.tail.partition_point(|kept| kept.seq <= told_to);
            let ready = &held.tail[..told];
            let variants = ready.iter().flat_map(|kept| &kept.arrival.variants);
            let entries: u64 = variants.clone().map(|variant| variant.who.len()).sum();
            let due = entries >= turn_at || *day < today;
            let (true, Some(first), Some(last)) = (due, ready.first(), ready.last()) else {
                continue;
            };
            let (first, last) = (first.seq, last.seq);
            let sets: Vec<&RoaringBitmap> = variants.map(|variant| &variant.who.0).collect();
            let mut put = |key: Vec<u8>, value: Option<Vec<u8>>| {
                writes.push(Write {
                    partition: Partition::Day(*day),
                    key,
                    value,
                });
            };
            for (block, bytes) in postings::build(&sets) {
                put(posting_key(bucket, block, first), Some(bytes));
            }
            let rest: Vec<Kept> = held
                .tail
                .drain(..told)
                .map(|kept| without_sets(&kept))
                .collect();
            for kept in &rest {
                put(journal_key(bucket, kept.seq), None);
            }
            put(run_key(bucket, first), Some(encode(&rest)));
            for (key, row) in facets::rows(bucket, first, rest.iter()) {
                put(key, Some(row));
            }
            let loaded = OnceLock::from(Arc::new(Run::new(rest)));
            held.runs.push(RunAt {
                first,
                last,
                loaded,
            });
        }
    }

    /// Reads the checkpoint and folds in what came after it.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub(crate) fn recover(
        no: u16,
        shelf: &dyn Shelf,
        days: &[Day],
        law: &Law,
    ) -> Result<Self, Unreadable> {
        let mut bucket = Self::new(no);
        let key = bucket.key(Table::Meta).done();
        let mut tail_from = 0;
        if let Some(bytes) = shelf.get(Partition::Base, &key)? {
            let head: Head = decode("a bucket's checkpoint", &bytes)?;
            bucket.read_rows(shelf, &head, law)?;
            tail_from = head.tail_from;
            bucket.take_head(head, days);
        }
        let checkpoint = bucket.next_seq;
        for day in days {
            bucket.replay(shelf, *day, tail_from, checkpoint, law)?;
        }
        bucket.dirty.records = bucket.next_seq - checkpoint;
        Ok(bucket)
    }

    fn take_head(&mut self, head: Head, held: &[Day]) {
        self.next_seq = head.next_seq;
        self.told_to = head.told_to;
        self.rules = head.rules;
        self.versions = head.versions.into_iter().collect();
        self.paused = head.paused;
        for (day, first, runs) in head.days {
            if held.contains(&day) {
                let runs = runs.into_iter();
                let runs = runs.map(|(first, last)| RunAt {
                    first,
                    last,
                    loaded: OnceLock::new(),
                });
                let tail = Vec::new();
                self.days.insert(
                    day,
                    BucketDay {
                        first,
                        tail,
                        runs: runs.collect(),
                    },
                );
            }
        }
        for (seq, channel, who) in head.ended {
            self.end_one(seq, channel, &who);
        }
        for (seq, lane, at, unmade, sending) in head.closings {
            let unmade = unmade.into_iter().collect();
            self.closings.insert(
                seq,
                Closing {
                    lane,
                    at,
                    unmade,
                    sending: sending.0,
                },
            );
        }
    }

    fn read_rows(&mut self, shelf: &dyn Shelf, head: &Head, law: &Law) -> Result<(), Unreadable> {
        let tz = law
            .version(head.rules)
            .map_or("UTC", |rules| rules.rules.defaults.tz.as_str());
        self.each_row(shelf, Table::Recipients, |bucket, key, value| {
            let number = u32_at(key, REST).ok_or_else(|| odd_key("a recipient"))?;
            let row: RecipientRow = decode("a recipient", value)?;
            if let Some(profile) = row.profile {
                bucket.roster.put(number, profile, tz);
                for (channel, scope, mode) in row.preferences {
                    bucket.preferences.choose(number, channel, scope, mode);
                }
            }
            Ok(())
        })?;
        self.roster.reserve(head.next_number);
        self.each_row(shelf, Table::Followers, |bucket, key, value| {
            let topic = std::str::from_utf8(&key[REST..]).map_err(|_| odd_key("a topic"))?;
            let topic = Id::new(topic).map_err(|_| odd_key("a topic"))?;
            let who: Set = decode("a topic's followers", value)?;
            bucket.followers.insert(topic, who.0);
            Ok(())
        })?;
        self.each_row(shelf, Table::Marks, |bucket, key, value| {
            let number = u32_at(key, REST).ok_or_else(|| odd_key("a recipient's marks"))?;
            let marks: Marks = decode("a recipient's marks", value)?;
            bucket.marks.insert(number, marks);
            Ok(())
        })?;
        self.each_row(shelf, Table::Lanes, |bucket, key, value| {
            let bytes = key
                .get(REST..REST + 2)
                .and_then(|bytes| bytes.try_into().ok());
            let no = u16::from_be_bytes(bytes.ok_or_else(|| odd_key("a lane"))?);
            let image: LaneImage = decode("a lane", value)?;
            let name = law.names.lane(no);
            let mut lane = Lane::restore(name.kind.clone(), image);
            if head.paused.contains(&name.channel) {
                lane.pause();
            }
            bucket.lanes.insert(no, lane);
            Ok(())
        })
    }

    fn each_row(
        &mut self,
        shelf: &dyn Shelf,
        table: Table,
        mut take: impl FnMut(&mut Self, &[u8], &[u8]) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let prefix = self.key(table).done();
        each(shelf, Partition::Base, &prefix, |key, value| {
            take(self, key, value)
        })
    }

    fn replay(
        &mut self,
        shelf: &dyn Shelf,
        day: Day,
        tail_from: u64,
        checkpoint: u64,
        law: &Law,
    ) -> Result<(), Unreadable> {
        let from = journal_key(self.no, tail_from);
        let journal = self.key(Table::Journal).done();
        each_from(shelf, Partition::Day(day), &journal, &from, |key, value| {
            self.replay_one(key, value, checkpoint, law)
        })
    }

    fn replay_one(
        &mut self,
        key: &[u8],
        value: &[u8],
        checkpoint: u64,
        law: &Law,
    ) -> Result<(), Unreadable> {
        let seq = u64_at(key, REST).ok_or_else(|| odd_key("a record"))?;
        let record: Record = decode("a record", value)?;
        if seq >= checkpoint {
            if seq != self.next_seq {
                let next = self.next_seq;
                let what = format!("bucket {}: record {next} is missing before {seq}", self.no);
                return Err(Unreadable(what));
            }
            self.apply(seq, record, law);
            return Ok(());
        }
        match record {
            Record::Arrival(arrival) => self.keep(Kept { seq, arrival }),
            Record::Move { arrivals, .. } => {
                for (seq, arrival) in (seq..).zip(arrivals) {
                    self.keep(Kept { seq, arrival });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What the journal holds of a day, in order.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn records(
        no: u16,
        shelf: &dyn Shelf,
        day: Day,
    ) -> Result<BTreeMap<u64, Record>, Unreadable> {
        let prefix = Key::of(Owner::Bucket(no), Table::Journal).done();
        let mut records = BTreeMap::new();
        each(shelf, Partition::Day(day), &prefix, |key, value| {
            let seq = u64_at(key, REST).ok_or_else(|| odd_key("a record"))?;
            records.insert(seq, decode("a record", value)?);
            Ok(())
        })?;
        Ok(records)
    }
}

fn without_sets(kept: &Kept) -> Kept {
    let mut rest = kept.clone();
    for variant in &mut rest.arrival.variants {
        variant.who = Set::default();
    }
    rest
}

fn odd_key(what: &str) -> Unreadable {
    Unreadable(format!("the key of {what} makes no sense"))
}
