//! A bucket's checkpoint: the fold up to a seq, so that a start replays only later records.
//!
//! It shows the bucket at one moment and is written over many: small parts are encoded at that moment, and lanes are
//! cloned. The head comes last, in one commit with all rows that have only one place; until then the previous
//! checkpoint is valid.

use std::collections::VecDeque;

use super::work::{Checkpoint, CheckpointHead, ClosingImage, RecipientRow};
use crate::bucket::state::{Bucket, CheckpointChanges, preferences_of};
use crate::bucket::tenant::terms_of;
use crate::index::Slice;
use crate::journal::stored::encode;
use crate::journal::table::{Partition, Table, Write};
use crate::model::number::RecipientNo;
use crate::model::tenant::TenantTerms;
use crate::sets::set::Set;

/// The most rows of deleted marks that one checkpoint removes: more than it writes of new ones, each of
/// which is a record.
const STALE_MARKS_MAX: usize = 8192;

impl Checkpoint {
    /// Begins a checkpoint of the current state.
    pub(in crate::bucket) fn begin(bucket: &mut Bucket) -> Self {
        let mut rows = bucket.dirty.rows(bucket);
        rows.extend(bucket.lanes.rows(bucket.no));
        rows.extend(bucket.members.rows(bucket.no));
        rows.extend(bucket.cap_counts.rows(bucket.no));
        let head = CheckpointHead::of(bucket);
        let mut pages = VecDeque::new();
        let lanes = bucket.lanes.plain_mut().iter_mut().map(|(no, lane)| {
            let changed = lane.take_dirty().into_iter();
            pages.extend(changed.map(|(part, page)| (*no, part, page)));
            (*no, lane.clone())
        });
        let lanes = lanes.collect();
        let mut stale_marks = std::mem::take(&mut bucket.dirty.stale_marks);
        for _ in 0..STALE_MARKS_MAX {
            if stale_marks.pop_first().is_none() {
                break;
            }
        }
        let dirty = CheckpointChanges { stale_marks, ..CheckpointChanges::default() };
        Self { since: std::mem::replace(&mut *bucket.dirty, dirty).since, head, rows, lanes, pages }
    }

    /// Writes a slice of it and returns what is left.
    pub(in crate::bucket) fn write_slice(
        mut self,
        bucket: &mut Bucket,
        slice: &mut Slice,
    ) -> Option<Self> {
        while let Some((no, part, page)) = self.pages.pop_front() {
            let lane = self.lanes.get(&no);
            if let Some((generation, bytes)) = lane.and_then(|lane| lane.page_row(part, page)) {
                let key = bucket
                    .key(Table::Lanes)
                    .u16(no.0)
                    .bytes(&[part as u8])
                    .u32(page)
                    .bytes(&[generation])
                    .done();
                slice.put(Partition::Base, key, Some(bytes));
            }
            if slice.is_full() {
                return Some(self);
            }
        }
        for (no, lane) in &self.lanes {
            let key = bucket.key(Table::Lanes).u16(no.0).done();
            slice.put_chunked(Partition::Base, key, &encode(&lane.head()));
        }
        // A day may have been deleted since the checkpoint began: a row would bring it back.
        let is_held = |write: &Write| match write.partition {
            Partition::Base => true,
            Partition::Day(day) => bucket.index.days.contains_key(&day),
        };
        slice.writes.extend(self.rows.into_iter().filter(is_held));
        let key = bucket.key(Table::Meta).done();
        slice.put_chunked(Partition::Base, key, &encode(&self.head));
        // Counts once the head is written, which names pages and rows of this checkpoint alone.
        bucket.checkpointed = self.head.next_seq;
        None
    }
}

impl CheckpointHead {
    fn of(bucket: &Bucket) -> Self {
        let tails =
            bucket.index.days.values().filter_map(|day| day.tail.first()).map(|(_, kept)| kept);
        let closings = bucket.closings.iter().map(|(seq, closing)| {
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
        let versions = bucket.versions.iter();
        Self {
            next_seq: bucket.next_seq,
            delivered_to: bucket.delivered_to,
            clock: bucket.clock,
            rules: bucket.rules,
            versions: versions.map(|(seq, version)| (*seq, *version)).collect(),
            next_number: bucket.roster.next_number().0,
            tail_from: tails.map(|kept| kept.row).min().unwrap_or(bucket.next_seq),
            closings: closings.collect(),
            paused: bucket.paused.clone(),
            hidden: (*bucket.hidden).clone(),
            forgotten_to: bucket.forgotten_to,
        }
    }
}

impl CheckpointChanges {
    /// The changed rows of a bucket that have only one place.
    fn rows(&self, bucket: &Bucket) -> Vec<Write> {
        let mut rows = Vec::new();
        let mut put = |partition: Partition, key: Vec<u8>, value: Option<Vec<u8>>| {
            rows.push(Write { partition, key, value });
        };
        for number in &self.recipients {
            let profile = bucket.roster.profile(RecipientNo(number)).cloned();
            let row = profile.map(|profile| {
                let preferences = preferences_of(bucket, number);
                encode(&RecipientRow { profile: Some(profile), preferences })
            });
            let key = bucket.key(Table::Recipients).u32(number).done();
            put(Partition::Base, key, row);
        }
        for tenant in &self.tenants {
            let terms = terms_of(bucket, *tenant);
            let row = (terms != TenantTerms::default()).then(|| encode(&terms));
            let key = bucket.key(Table::TenantTerms).u32(tenant.0.get()).done();
            put(Partition::Base, key, row);
        }
        for topic in &self.topics {
            let recipients = bucket.followers.get(topic.tenant, topic.topic.as_str());
            let value = recipients.map(|recipients| encode(&Set::from(recipients.clone())));
            put(Partition::Base, topic.put(bucket.key(Table::Followers)), value);
        }
        let stale = self.stale_marks.iter().take(STALE_MARKS_MAX);
        for (number, mark) in self.marks.iter().chain(stale) {
            let row = bucket.marks.get(number).and_then(|marks| marks.row(mark));
            let key = bucket.key(Table::Marks).u32(*number).bytes(&mark.key());
            put(Partition::Base, key.done(), row);
        }
        for (seq, channel) in &self.ended {
            if let Some(day) = bucket.index.day_of(*seq) {
                let key = bucket.key(Table::Ended).seq(*seq).bytes(&[channel.0]).done();
                let recipients = bucket.ended.of(*seq, *channel);
                let value = recipients.map(|recipients| encode(&Set::from(recipients.clone())));
                put(Partition::Day(day), key, value);
            }
        }
        rows
    }
}
