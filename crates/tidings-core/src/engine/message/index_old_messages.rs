//! The messages of days before lists: a store of an earlier version gets the rows of its index once.
//!
//! A slice indexes some buckets of a day from their journal and the rows of their messages. A row of the day remembers
//! which are done, so a restart goes on where it was. Indexing twice changes nothing: a list asks each message that it
//! finds for its state.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::attempt_row::attempts_of;
use super::index_writer::MessageIndexWriter;
use super::message_index::{MessageFacet, NewClosings};
use super::message_row::MessageRow;
use super::old_messages::done_rows;
use super::standing::MessageStanding;
use crate::bucket::storage::recovery;
use crate::engine::rows::draft::Draft;
use crate::engine::shard::state::Shard;
use crate::index::SearchFilter;
use crate::journal::record::Record;
use crate::journal::row::journal_key;
use crate::journal::stored::{ReadView, Unreadable, decode, each, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table, Write, seq_at, u32_at};
use crate::model::batch_key::LaneKey;
use crate::model::id::BucketNo;
use crate::model::number::{ClosingId, MessageId, RecipientNo, Seq, TypeNo};
use crate::model::time::{Day, Instant};
use crate::sets::set::Set;

/// The number of records and rows after which a slice ends.
const LOOKED_AT_MAX: usize = 2_000;

/// The messages of a closing that were built on a day.
struct BuiltMessages {
    lane: LaneKey,
    due: Instant,
    recipients: RoaringBitmap,
    /// The seqs of their entries.
    seqs: BTreeSet<Seq>,
}

/// A slice of the chore: it indexes the messages of some buckets of old days.
pub(crate) struct OldMessagesSlice<'a, 'd> {
    shard: &'a mut Shard,
    draft: Draft<'d>,
}

impl<'a, 'd> OldMessagesSlice<'a, 'd> {
    /// Runs a slice and returns its writes; `None` = all are indexed.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn run(
        shard: &'a mut Shard,
        view: &'d dyn ReadView,
    ) -> Result<Option<Vec<Write>>, Unreadable> {
        let before = shard.forgotten_before;
        shard.old_messages.forget_before(before);
        let mut slice = Self { shard, draft: Draft::new(view) };
        let (mut looked_at, mut done) = (0, BTreeMap::<Day, RoaringBitmap>::new());
        while let Some((day, bucket)) = slice.shard.old_messages.next()
            && looked_at < LOOKED_AT_MAX
        {
            looked_at += 1 + slice.bucket(day, bucket)?;
            done.entry(day).or_default().insert(u32::from(bucket.0));
            slice.shard.old_messages.remove(day, bucket);
        }
        if done.is_empty() {
            return Ok(None);
        }
        let Self { shard, mut draft } = slice;
        for (day, buckets) in done {
            let (partition, key) = (Partition::Day(day), done_rows().u16(shard.no).done());
            let known = draft.get(partition, &key)?;
            let known = known.map(|row| decode::<Set>("the buckets that are indexed", &row));
            let all = known.transpose()?.unwrap_or_default().0 | buckets;
            draft.put(partition, key, encode(&Set(all)));
        }
        Ok(Some(draft.done()))
    }

    fn writer(&mut self) -> MessageIndexWriter<'_, 'd> {
        MessageIndexWriter::of(self.shard, &mut self.draft)
    }

    /// Indexes the messages of a bucket that were due, built, tried or ended on a day; returns how much was read.
    fn bucket(&mut self, day: Day, bucket: BucketNo) -> Result<usize, Unreadable> {
        let records = recovery::records(bucket, self.draft.view, day)?;
        let mut looked_at = records.len();
        let (mut closings, mut outcomes) = (NewClosings::default(), Vec::new());
        for (seq, record) in records {
            let closing = ClosingId { bucket, seq };
            match record {
                Record::Closing { at, lane, recipients } => {
                    let channel = self.shard.compiled.names.lane(lane.lane).channel;
                    closings.add(at, channel, lane.tenant, closing, &recipients);
                }
                Record::Outcome { closing, recipients, ending, .. } => {
                    outcomes.push((ClosingId { bucket, seq: closing }, recipients, ending));
                }
                _ => {}
            }
        }
        self.writer().closings(closings)?;
        for (closing, recipients, ending) in outcomes {
            if let Some(due) = self.due_of(day, closing)? {
                self.writer().ended(closing, due, ending, &recipients)?;
            }
        }
        looked_at += self.built(day, bucket)?;
        looked_at += self.tried(day, bucket)?;
        Ok(looked_at)
    }

    /// The instant of a closing that was due on a day or before; `None` = its day is deleted.
    fn due_of(
        &self,
        day: Day,
        ClosingId { bucket, seq }: ClosingId,
    ) -> Result<Option<Instant>, Unreadable> {
        let key = journal_key(bucket, seq);
        for day in self.shard.journal_days.range(..=day).rev() {
            if let Some(row) = self.draft.view.get(Partition::Day(*day), &key)?
                && let Record::Closing { at, .. } = decode("a record", &row)?
            {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Indexes messages that were built on a day: by the types of their entries, and those without content.
    fn built(&mut self, day: Day, bucket: BucketNo) -> Result<usize, Unreadable> {
        let (view, partition) = (self.draft.view, Partition::Day(day));
        let prefix = Key::of(Owner::Bucket(bucket), Table::Messages).done();
        let mut looked_at = 0;
        let mut built: BTreeMap<Seq, BuiltMessages> = BTreeMap::new();
        let mut without_content = Vec::new();
        each(view, partition, &prefix, |key, value| {
            looked_at += 1;
            let MessageId { closing, number } = message_of(key, bucket)?;
            let row = MessageRow::read(view, partition, key, value)?;
            let of = built.entry(closing.seq).or_insert_with(|| BuiltMessages {
                lane: row.lane.clone(),
                due: row.at,
                recipients: RoaringBitmap::new(),
                seqs: BTreeSet::new(),
            });
            of.recipients.insert(number.0);
            row.has(closing.seq, |seq| {
                of.seqs.insert(seq);
                false
            });
            if row.why_nothing().is_some() {
                let standing = MessageStanding::closed(&row, None);
                without_content.push((closing, row.at, number, standing));
            }
            Ok(())
        })?;
        for (closing, due, number, standing) in without_content {
            let recipients = RoaringBitmap::from_iter([number.0]);
            self.writer().unsent(closing, due, standing, &recipients)?;
        }
        for (seq, built) in built {
            let closing = ClosingId { bucket, seq };
            // Of several recipients it is not known who has an entry of which type.
            let only = built.recipients.min().filter(|_| built.recipients.len() == 1);
            let only = only.map(|number| closing.message(RecipientNo(number)));
            for type_no in self.types_of(closing, &built)? {
                let facet = MessageFacet::Type(type_no);
                let mut writer = self.writer();
                writer.put_facet(facet, built.due, only.as_slice(), only.is_none())?;
            }
        }
        Ok(looked_at)
    }

    /// The types of the entries of messages of a closing.
    fn types_of(
        &self,
        closing: ClosingId,
        built: &BuiltMessages,
    ) -> Result<BTreeSet<TypeNo>, Unreadable> {
        let Some(from) = built.seqs.first() else {
            return Ok(BTreeSet::new());
        };
        let names = &self.shard.compiled.names;
        let look = SearchFilter {
            from: *from,
            to: closing.seq,
            recipients: &built.recipients,
            takes: &|kept, variant| built.lane.has(names, &kept.arrival, variant),
            has: &|_, kept| built.seqs.contains(&kept.seq),
        };
        let found = self.shard.buckets[closing.bucket].index.look(self.draft.view, &look)?;
        Ok(found.sources.iter().map(|source| source.kept.arrival.type_no).collect())
    }

    /// Indexes messages by the providers that were asked on a day.
    fn tried(&mut self, day: Day, bucket: BucketNo) -> Result<usize, Unreadable> {
        let view = self.draft.view;
        let prefix = Key::of(Owner::Bucket(bucket), Table::Attempts).done();
        let mut tried = BTreeSet::new();
        each(view, Partition::Day(day), &prefix, |key, _| {
            tried.insert(message_of(key, bucket)?);
            Ok(())
        })?;
        for message in &tried {
            let Some(due) = self.due_of(day, message.closing)? else {
                continue;
            };
            let runs = attempts_of(view, *message, [day].iter())?;
            let by_provider = runs.iter().map(|run| (run.provider.as_str(), vec![*message]));
            self.writer().attempts(due, &by_provider.collect())?;
        }
        Ok(tried.len())
    }
}

/// The message of a key of a row about it.
fn message_of(key: &[u8], bucket: BucketNo) -> Result<MessageId, Unreadable> {
    let of = u32_at(key, REST).zip(seq_at(key, REST + 4));
    let (number, seq) = of.ok_or_else(|| Unreadable("a message's key is odd".to_owned()))?;
    Ok(ClosingId { bucket, seq }.message(RecipientNo(number)))
}
