//! A bucket's checkpoint: the fold up to a seq, so that a start replays only what came after.
//!
//! It shows the bucket as it was at one moment and is written over many: what is small is encoded at
//! that moment, and columns keep their pages as they were until those are written. The head comes
//! last, in one commit with all rows that have only one place; until then the checkpoint before
//! holds.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::bucket::lanes::lane::{Frozen, Part};
use crate::bucket::{Bucket, Dirty};
use crate::index::Slice;
use crate::journal::record::Attempts;
use crate::journal::stored::encode;
use crate::journal::table::{Key, Owner, Partition, Table, Write};
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::number::{LaneNo, RecipientNo, Seq};
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::recipient::Recipient;
use crate::model::time::{Day, Instant};
use crate::sets::set::Set;

/// The most rows of deleted marks that one checkpoint removes: more than it writes of new ones, each of
/// which is a record.
const STALE_MARKS_MAX: usize = 8192;

/// A closing as stored.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::bucket) struct ClosingImage {
    pub(in crate::bucket) seq: Seq,
    pub(in crate::bucket) lane: LaneKey,
    pub(in crate::bucket) at: Instant,
    pub(in crate::bucket) clock: Instant,
    /// The first seq of its windows.
    pub(in crate::bucket) from: Seq,
    /// The start of each window whose message is not built yet.
    pub(in crate::bucket) unmade: Vec<(u32, Seq)>,
    /// Recipients whose message is on its way.
    pub(in crate::bucket) sending: Set,
    pub(in crate::bucket) tried: Vec<(u32, Attempts)>,
}

/// The head of a checkpoint. Large parts have rows of their own.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::bucket) struct Head {
    pub(in crate::bucket) next_seq: Seq,
    pub(in crate::bucket) delivered_to: Seq,
    pub(in crate::bucket) clock: Option<Instant>,
    pub(in crate::bucket) rules: u32,
    pub(in crate::bucket) versions: Vec<(Seq, u32)>,
    pub(in crate::bucket) next_number: u32,
    /// Older arrivals are at rest.
    pub(in crate::bucket) tail_from: Seq,
    pub(in crate::bucket) closings: Vec<ClosingImage>,
    pub(in crate::bucket) paused: Vec<ChannelNo>,
}

/// A recipient as stored; empty if erased.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::bucket) struct RecipientRow {
    pub(in crate::bucket) profile: Option<Recipient>,
    pub(in crate::bucket) preferences: Vec<(ChannelNo, PreferenceScope, Mode)>,
}

/// A checkpoint that is being written.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    /// The day of the first record after the previous checkpoint.
    pub(in crate::bucket) since: Option<Day>,
    head: Head,
    /// The rows to write together with the head.
    rows: Vec<Write>,
    lanes: BTreeMap<LaneNo, Frozen>,
    /// Pages still to be written.
    pages: VecDeque<(LaneNo, Part, u32)>,
}

impl Bucket {
    pub(in crate::bucket) fn key(&self, table: Table) -> Key {
        Key::of(Owner::Bucket(self.no), table)
    }

    /// Begins a checkpoint of the current state.
    pub(in crate::bucket) fn freeze(&mut self) -> Checkpoint {
        let mut rows = self.dirty_rows();
        rows.extend(self.keyed_rows());
        rows.extend(self.cap_count_rows());
        let head = self.head();
        let mut pages = VecDeque::new();
        let lanes = self.lanes.plain_mut().iter_mut().map(|(no, lane)| {
            let frozen = lane.freeze();
            pages.extend(frozen.pages.iter().map(|(part, page)| (*no, *part, *page)));
            (*no, frozen)
        });
        let lanes = lanes.collect();
        let mut stale_marks = std::mem::take(&mut self.dirty.stale_marks);
        for _ in 0..STALE_MARKS_MAX {
            if stale_marks.pop_first().is_none() {
                break;
            }
        }
        let dirty = Dirty {
            stale_marks,
            ..Dirty::default()
        };
        Checkpoint {
            since: std::mem::replace(&mut *self.dirty, dirty).since,
            head,
            rows,
            lanes,
            pages,
        }
    }

    /// Writes a slice of a checkpoint and returns what is left of it.
    pub(in crate::bucket) fn checkpoint_slice(
        &mut self,
        mut work: Checkpoint,
        slice: &mut Slice,
    ) -> Option<Checkpoint> {
        while let Some((no, part, page)) = work.pages.pop_front() {
            let lane = self.lanes.plain_mut().get_mut(&no);
            let lane = lane.zip(work.lanes.get(&no));
            let row = lane.and_then(|(lane, frozen)| frozen.page_row(lane, part, page));
            if let Some((generation, bytes)) = row {
                let key = self.key(Table::Lanes).u16(no.0).bytes(&[part as u8]);
                let key = key.u32(page).bytes(&[generation]).done();
                slice.put(Partition::Base, key, Some(bytes));
            }
            if slice.is_full() {
                return Some(work);
            }
        }
        for (no, frozen) in &work.lanes {
            if let Some(lane) = self.lanes.plain().get(no) {
                let key = self.key(Table::Lanes).u16(no.0).done();
                slice.put_in_parts(Partition::Base, key, &encode(&frozen.head(lane)));
            }
        }
        let is_held = |write: &Write| match write.partition {
            Partition::Base => true,
            Partition::Day(day) => self.index.days.contains_key(&day),
        };
        slice.writes.extend(work.rows.into_iter().filter(is_held));
        let key = self.key(Table::Meta).done();
        slice.put_in_parts(Partition::Base, key, &encode(&work.head));
        self.checkpointed = work.head.next_seq;
        None
    }

    fn head(&self) -> Head {
        let tails = self.index.days.values().filter_map(|day| day.tail.first());
        let tails = tails.map(|(_, kept)| kept);
        let closings = self.closings.iter().map(|(seq, closing)| {
            let unmade = closing.unmade.iter();
            let tried = closing.tried.iter();
            ClosingImage {
                seq: *seq,
                lane: closing.lane.clone(),
                at: closing.at,
                clock: closing.clock,
                from: closing.from,
                unmade: unmade.map(|(number, since)| (*number, *since)).collect(),
                sending: closing.sending.clone().into(),
                tried: tried.map(|(number, tried)| (*number, *tried)).collect(),
            }
        });
        let versions = self.versions.iter();
        Head {
            next_seq: self.next_seq,
            delivered_to: self.delivered_to,
            clock: self.clock,
            rules: self.rules,
            versions: versions.map(|(seq, version)| (*seq, *version)).collect(),
            next_number: self.roster.next_number().0,
            tail_from: tails.map(|kept| kept.row).min().unwrap_or(self.next_seq),
            closings: closings.collect(),
            paused: self.paused.clone(),
        }
    }

    /// The changed rows of lanes with a key: each has few recipients, and only one place.
    fn keyed_rows(&mut self) -> Vec<Write> {
        let dirty = self.lanes.take_dirty().into_iter();
        let rows = dirty.map(|(at, page, held)| {
            let key = self.key(Table::KeyedLanes).u16(at.lane.0).u32(page);
            Write {
                partition: Partition::Base,
                key: key.bytes(at.key.as_str().as_bytes()).done(),
                value: held.map(|held| encode(&held)),
            }
        });
        rows.collect()
    }

    fn dirty_rows(&self) -> Vec<Write> {
        let mut rows = Vec::new();
        let mut put = |partition: Partition, key: Vec<u8>, value: Option<Vec<u8>>| {
            rows.push(Write {
                partition,
                key,
                value,
            });
        };
        for number in &self.dirty.recipients {
            let profile = self.roster.profile(RecipientNo(number)).cloned();
            let row = profile.map(|profile| {
                let preferences = self.preferences.of(number);
                encode(&RecipientRow {
                    profile: Some(profile),
                    preferences,
                })
            });
            let key = self.key(Table::Recipients).u32(number).done();
            put(Partition::Base, key, row);
        }
        for topic in &self.dirty.topics {
            let who = self.followers.get(topic.as_str());
            let value = who.map(|who| encode(&Set::from(who.clone())));
            let key = self.key(Table::Followers);
            let key = key.bytes(topic.as_str().as_bytes()).done();
            put(Partition::Base, key, value);
        }
        let stale = self.dirty.stale_marks.iter().take(STALE_MARKS_MAX);
        for (number, mark) in self.dirty.marks.iter().chain(stale) {
            let newest = self.marks.get(number).and_then(|marks| marks.get(mark));
            let key = self.key(Table::Marks).u32(*number).bytes(&mark.key());
            put(Partition::Base, key.done(), newest.map(encode));
        }
        for (seq, channel) in &self.dirty.ended {
            if let Some(day) = self.index.day_of(*seq) {
                let key = self.key(Table::Ended).seq(*seq).bytes(&[channel.0]).done();
                let who = self.ended.of(*seq, *channel);
                let value = who.map(|who| encode(&Set::from(who.clone())));
                put(Partition::Day(day), key, value);
            }
        }
        rows
    }
}
