//! Recovery of a bucket from the store: its newest checkpoint, and the records after it.

use std::collections::BTreeMap;

use super::known::{self, KnownNumbers, odd_key};
use super::work::{CheckpointHead, RecipientRow};
use crate::bucket::lanes::lane::{Lane, LaneHead, SparseLanePage};
use crate::bucket::people::column::PAGE;
use crate::bucket::scheduled::FrozenRecipients;
use crate::bucket::{Bucket, Closing, MarkAt};
use crate::journal::chunks;
use crate::journal::record::{Record, TenantTopic};
use crate::journal::row::{each_record, journal_key};
use crate::journal::stored::{ReadView, StoredArrival, Unreadable, decode, each, each_from};
use crate::journal::table::{Key, Owner, Partition, REST, Table, i64_at, seq_at, u32_at, u64_at};
use crate::model::batch_key::{BatchKey, LaneKey};
use crate::model::channel::ChannelNo;
use crate::model::id::BucketNo;
use crate::model::item::Shelf;
use crate::model::number::{EventNo, LaneNo, RecipientNo, Seq};
use crate::model::tenant::{TenantNo, TenantTerms};
use crate::model::time::{Day, Instant};
use crate::rules::compiled::CompiledRules;
use crate::sets::set::Set;
use crate::sets::shared::Shared;

/// The input of a bucket's recovery.
#[derive(Clone, Copy)]
pub(crate) struct RecoveryInput<'a> {
    pub(crate) view: &'a dyn ReadView,
    pub(crate) compiled: &'a CompiledRules,
    /// The days that are kept.
    pub(crate) days: &'a [Day],
    /// Days before this one are deleted.
    pub(crate) forgotten_before: Option<Day>,
}

/// Reads the checkpoint of a bucket and folds in the records after it.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or makes no sense.
pub(crate) fn recover(no: BucketNo, from: RecoveryInput<'_>) -> Result<Bucket, Unreadable> {
    let mut recovery = Recovery { bucket: Bucket::new(no), from };
    recovery.run()?;
    Ok(recovery.bucket)
}

/// A bucket that is read.
struct Recovery<'a> {
    bucket: Bucket,
    from: RecoveryInput<'a>,
}

impl Recovery<'_> {
    fn run(&mut self) -> Result<(), Unreadable> {
        let from = self.from;
        let key = self.bucket.key(Table::Meta).done();
        let mut tail_from = Seq::default();
        if let Some(bytes) = chunks::get(from.view, Partition::Base, &key)? {
            let head: CheckpointHead = decode("a bucket's checkpoint", &bytes)?;
            let known = KnownNumbers { compiled: from.compiled, next_number: head.next_number };
            known.head(&head)?;
            self.read_people(known, &head)?;
            self.read_lanes(known, &head)?;
            self.read_keyed_lanes(known)?;
            tail_from = head.tail_from;
            self.take_head(head);
            let (lanes, around) = self.bucket.lanes_and_around(from.compiled);
            lanes.restored(around);
        }
        // Records before this seq are in the checkpoint. Of these only arrivals are read again, for the index.
        self.bucket.checkpointed = self.bucket.next_seq;
        for day in from.days {
            self.read_day(*day)?;
        }
        for day in from.days {
            self.replay(*day, tail_from)?;
        }
        self.read_scheduled()?;
        let bucket = &mut self.bucket;
        if let Some(before) = from.forgotten_before {
            bucket.forget_before(before);
            // A day may have been deleted since the checkpoint.
            let before_first = bucket.index.first_seq(bucket.next_seq).before();
            bucket.forgotten_to = bucket.forgotten_to.max(before_first);
            bucket.hidden.forget_to(bucket.forgotten_to);
        }
        Ok(())
    }

    fn take_head(&mut self, head: CheckpointHead) {
        let bucket = &mut self.bucket;
        bucket.next_seq = head.next_seq;
        bucket.delivered_to = head.delivered_to;
        bucket.clock = head.clock;
        bucket.rules = head.rules;
        bucket.versions = head.versions.into_iter().collect();
        bucket.paused = head.paused;
        bucket.hidden = Shared::new(head.hidden);
        bucket.forgotten_to = head.forgotten_to;
        for image in head.closings {
            let closing = Closing {
                lane: image.lane,
                at: image.at,
                clock: image.clock,
                from: image.from,
                unmade: image.unmade.into_iter().collect(),
                sending: image.sending.0,
                tried: image.tried.into_iter().collect(),
            };
            bucket.closings.insert(image.seq, Shared::new(closing));
        }
    }

    fn read_people(
        &mut self,
        known: KnownNumbers<'_>,
        head: &CheckpointHead,
    ) -> Result<(), Unreadable> {
        let version = known.compiled.version(head.rules);
        let tz = version.map_or("UTC", |rules| rules.rules.defaults.tz.as_str());
        self.each_row(Table::Recipients, |bucket, key, value| {
            let number = u32_at(key, REST).ok_or_else(|| odd_key("a recipient"))?;
            known.recipient(number)?;
            let row: RecipientRow = decode("a recipient", value)?;
            if let Some(profile) = row.profile {
                bucket.roster.put(RecipientNo(number), profile, tz);
                for chosen in row.preferences {
                    match chosen.scope.digest() {
                        Some(_) => bucket.roster.digest_times.choose(number, &chosen),
                        None => bucket.preferences.choose(number, chosen),
                    }
                }
            }
            Ok(())
        })?;
        // Erased recipients have no row. Their numbers are not given again, since stored sets still have them.
        self.bucket.roster.reserve(head.next_number);
        self.each_row(Table::TenantTerms, |bucket, key, value| {
            let tenant = u32_at(key, REST).and_then(TenantNo::of_raw);
            let tenant = tenant.ok_or_else(|| odd_key("a tenant's terms"))?;
            let terms: TenantTerms = decode("a tenant's terms", value)?;
            known.terms(&terms)?;
            bucket.roster.set_tenant(tenant, &terms);
            bucket.preferences.set_defaults(tenant, &terms);
            Ok(())
        })?;
        self.each_row(Table::Followers, |bucket, key, value| {
            let topic = TenantTopic::of_key(&key[REST..]).ok_or_else(|| odd_key("a topic"))?;
            let recipients: Set = decode("a topic's followers", value)?;
            known.set(&recipients)?;
            bucket.followers.add(topic, recipients.0);
            Ok(())
        })?;
        self.each_row(Table::Members, |bucket, key, value| {
            let last = u64_at(key, REST).ok_or_else(|| odd_key("members of tenants"))?;
            let page: Vec<u8> = decode("members of tenants", value)?;
            Ok(bucket.members.restore(last, &page)?)
        })?;
        if let Some(number) = self.bucket.members.restored() {
            known.recipient(number)?;
        }
        self.each_row(Table::CapCounts, |bucket, key, value| {
            bucket.cap_counts.restore(key, value, |number| known.recipient(number))
        })?;
        self.each_row(Table::Marks, |bucket, key, value| {
            let number = u32_at(key, REST).ok_or_else(|| odd_key("a recipient's marks"))?;
            let mark = key
                .get(REST + size_of::<u32>()..)
                .and_then(MarkAt::of_key)
                .ok_or_else(|| odd_key("a recipient's mark"))?;
            known.recipient(number)?;
            let item = if let MarkAt::Item(place) = mark { Some(place) } else { None };
            let marks = &mut **bucket.marks.or_default(number);
            marks.put(mark, value)?;
            let item = item.and_then(|place| marks.items.get(place));
            if let Some(Shelf::Snoozed(until)) = item.map(|item| item.shelf) {
                bucket.snoozed.insert((until, number), ());
            }
            Ok(())
        })
    }

    fn read_scheduled(&mut self) -> Result<(), Unreadable> {
        let RecoveryInput { view, compiled, .. } = self.from;
        self.each_row(Table::Scheduled, |bucket, key, row| {
            let (t, place) = i64_at(key, REST)
                .zip(u64_at(key, REST + 8))
                .ok_or_else(|| odd_key("a scheduled audience"))?;
            let recipients = FrozenRecipients::read(view, key, row)?.everyone();
            let next_number = bucket.roster.next_number().0;
            KnownNumbers { compiled, next_number }.set(&recipients)?;
            bucket.scheduled.insert((Instant(t), EventNo(place)), recipients);
            Ok(())
        })
    }

    fn read_lanes(
        &mut self,
        known: KnownNumbers<'_>,
        head: &CheckpointHead,
    ) -> Result<(), Unreadable> {
        let view = self.from.view;
        let mut heads: BTreeMap<LaneNo, LaneHead> = BTreeMap::new();
        self.each_row(Table::Lanes, |bucket, key, value| {
            let odd = || odd_key("a lane");
            let (no, page) = key[REST..].split_first_chunk().ok_or_else(odd)?;
            let no = LaneNo(u16::from_be_bytes(*no));
            known.lane(no)?;
            if page.is_empty() {
                // The key of the head comes before those of the pages.
                let get = |key: &[u8]| view.get(Partition::Base, key);
                let head = decode("a lane", &chunks::whole(key, value, get)?)?;
                let name = known.compiled.names.lane(no);
                let mut lane = Lane::restore(name.kind.clone(), name.channel, &head);
                lane.count_if(known.compiled.counts(&name.kind));
                bucket.lanes.plain_mut().insert(no, Shared::new(lane));
                heads.insert(no, head);
                return Ok(());
            }
            let [part, number @ .., generation] = page else {
                return Err(odd());
            };
            let number = u32::from_be_bytes(number.try_into().map_err(|_| odd())?);
            if number > head.next_number / PAGE {
                return Err(odd());
            }
            // A lane whose first checkpoint never came to its end has pages and no head.
            match (heads.get(&no), bucket.lanes.plain_mut().get_mut(&no)) {
                (Some(head), Some(lane)) => {
                    lane.restore_page(head, *part, number, *generation, value)
                }
                _ => Ok(()),
            }
        })?;
        for (no, lane_head) in heads {
            if let Some(lane) = self.bucket.lanes.plain_mut().get_mut(&no) {
                lane.restored(lane_head);
            }
        }
        Ok(())
    }

    fn read_keyed_lanes(&mut self, known: KnownNumbers<'_>) -> Result<(), Unreadable> {
        self.each_row(Table::KeyedLanes, |bucket, key, value| {
            let odd = || odd_key("a lane with a batch key");
            let (no, rest) = key[REST..].split_first_chunk().ok_or_else(odd)?;
            let rest = rest.get(size_of::<u32>()..).ok_or_else(odd)?;
            let (tenant, text) = rest.split_first_chunk().ok_or_else(odd)?;
            let tenant = TenantNo::of_raw(u32::from_be_bytes(*tenant));
            let text = std::str::from_utf8(text).map_err(|_| odd())?;
            let lane = LaneNo(u16::from_be_bytes(*no));
            let key = BatchKey::new(text).map_err(|_| odd())?;
            known.lane(lane)?;
            let name = known.compiled.names.lane(lane);
            let lane = LaneKey { lane, key, tenant };
            if lane.is_plain() || !lane.key.is_empty() && !name.kind.takes_keys() {
                return Err(odd());
            }
            let page: SparseLanePage = decode("a lane with a batch key", value)?;
            page.numbers().try_for_each(|number| known.recipient(number))?;
            bucket.lanes.restore_page(&lane, name, page);
            Ok(())
        })
    }

    /// Reads the segments of a day, and its entries that ended individually.
    fn read_day(&mut self, day: Day) -> Result<(), Unreadable> {
        let (view, bucket) = (self.from.view, &mut self.bucket);
        let partition = Partition::Day(day);
        bucket.index.read_day(view, day)?;
        let prefix = bucket.key(Table::Ended).done();
        each(view, partition, &prefix, |key, value| {
            let (seq, channel) = seq_at(key, REST)
                .zip(key.get(REST + 8).copied().map(ChannelNo))
                .ok_or_else(|| odd_key("what has ended"))?;
            let recipients: Set = decode("what has ended", value)?;
            known::channel(channel)?;
            bucket.ended.note(seq, channel, &recipients);
            Ok(())
        })
    }

    fn each_row(
        &mut self,
        table: Table,
        mut take: impl FnMut(&mut Bucket, &[u8], &[u8]) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let prefix = self.bucket.key(table).done();
        each(self.from.view, Partition::Base, &prefix, |key, value| {
            take(&mut self.bucket, key, value)
        })
    }

    fn replay(&mut self, day: Day, tail_from: Seq) -> Result<(), Unreadable> {
        let bucket = &self.bucket;
        let at_rest = bucket.index.days.get(&day).and_then(|held| held.segments.last());
        let begin = tail_from.max(at_rest.map_or(Seq::default(), |segment| segment.last.next()));
        let begin = journal_key(bucket.no, begin);
        let journal = bucket.key(Table::Journal).done();
        let partition = Partition::Day(day);
        each_from(self.from.view, partition, &journal, &begin, |key, value| {
            let row = seq_at(key, REST).ok_or_else(|| odd_key("a record"))?;
            each_record(row, value, |seq, record| self.replay_one(seq, row, day, record))
        })
    }

    fn replay_one(
        &mut self,
        seq: Seq,
        row: Seq,
        day: Day,
        record: Record,
    ) -> Result<(), Unreadable> {
        let (bucket, compiled) = (&mut self.bucket, self.from.compiled);
        let next_number = bucket.roster.next_number().0;
        KnownNumbers { compiled, next_number }.record(&record)?;
        if seq >= bucket.checkpointed {
            // A gap would fold later records into a state that never was.
            if seq != bucket.next_seq {
                let next = bucket.next_seq;
                let what = format!("bucket {}: record {next} is missing before {seq}", bucket.no);
                return Err(Unreadable(what));
            }
            bucket.apply(seq, row, day, record, compiled);
            return Ok(());
        }
        match record {
            Record::Arrival(arrival) => bucket.index.add(StoredArrival { seq, row, arrival }),
            Record::Move { arrivals, .. } => {
                for (seq, arrival) in seq.and_on().zip(arrivals) {
                    bucket.index.add(StoredArrival { seq, row, arrival });
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The records of a day, in order.
///
/// # Errors
/// [`Unreadable`] where the store can't be read.
pub(crate) fn records(
    no: BucketNo,
    view: &dyn ReadView,
    day: Day,
) -> Result<BTreeMap<Seq, Record>, Unreadable> {
    let prefix = Key::of(Owner::Bucket(no), Table::Journal).done();
    let mut records = BTreeMap::new();
    each(view, Partition::Day(day), &prefix, |key, value| {
        let row = seq_at(key, REST).ok_or_else(|| odd_key("a record"))?;
        each_record(row, value, |seq, record| {
            records.insert(seq, record);
            Ok(())
        })
    })?;
    Ok(records)
}
