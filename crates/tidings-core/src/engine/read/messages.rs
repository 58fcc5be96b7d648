//! Lists of messages, as operators look at them: newest first by the instant at which they were due, then by id.
//!
//! A list walks the index of messages, or where its filter is rare, what finds the few that may pass: the rows of a
//! recipient, the arrivals of an event, the messages on their way, those that were not handed over, those of a type. Each
//! message that is found so is asked for all of the filter.

mod due_rows;
mod of_event;
pub(in crate::engine) mod of_lane;
mod sources;
mod summary;
mod wanted;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use roaring::RoaringBitmap;

use self::due_rows::{DueRows, WantedTags};
use self::sources::{
    ClosingRecipients, FacetRows, InstantMessages, JobRows, MessageSource, OpenClosings,
    RecipientRows,
};
pub use self::summary::MessageSummary;
use self::summary::position;
pub use self::wanted::MessageFilter;
use self::wanted::{UNSENT, Wanted};
use super::list::{ListPage, NewestFirst, PageBuilder};
use crate::bucket::Bucket;
use crate::engine::message::attempt_row::attempts_of;
use crate::engine::message::message_index::{MessageFacet, unsent_tag};
use crate::engine::message::message_row::MessageRow;
use crate::engine::message::standing::MessageStanding;
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::ClosingEndings;
use crate::engine::shard::state::Shard;
use crate::index::{Found, SearchFilter};
use crate::journal::record::Record;
use crate::journal::row::journal_key;
use crate::journal::stored::{Unreadable, decode};
use crate::journal::table::{Partition, Table};
use crate::model::id::{BucketNo, Id};
use crate::model::messages::{Answered, MessageName, MessageState};
use crate::model::number::{ClosingId, MessageId, RecipientNo};
use crate::model::time::{Day, Instant};

/// The most messages that a page looks at.
const LOOKED_AT_MAX: usize = 1_000;

/// The most closings that a page passes over because none of its recipients is wanted.
const PASSED_OVER_MAX: usize = 50_000;

/// The states of messages without an outcome.
const OPEN: [MessageState; 3] =
    [MessageState::Planned, MessageState::Sending, MessageState::Retrying];

/// A walk over the messages that a filter may want.
struct MessageWalk<'a> {
    reader: Reader<'a>,
    wanted: &'a Wanted<'a>,
    /// The recipients by bucket to whom it is narrowed; `None` = all.
    within: Option<BTreeMap<BucketNo, RoaringBitmap>>,
    /// Number of closings that may still be passed over.
    passes: usize,
    page: PageBuilder<MessageSummary>,
    /// The endings of the closings that were looked at.
    endings: BTreeMap<ClosingId, ClosingEndings>,
}

/// A message that a walk looks at.
#[derive(Clone, Copy)]
struct MessageCandidate {
    due: Instant,
    id: MessageId,
    /// True if it surely has an entry of a wanted type.
    has_type: bool,
}

impl Reader<'_> {
    /// A page of messages, at most `most`, that begins after a position.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn messages(
        &self,
        filter: &MessageFilter,
        after: Option<&NewestFirst>,
        most: usize,
    ) -> Result<ListPage<MessageSummary>, Unreadable> {
        let Some(wanted) = Wanted::of(*self, filter)? else {
            return Ok(ListPage::default());
        };
        let mut walk = MessageWalk {
            reader: *self,
            wanted: &wanted,
            within: None,
            passes: PASSED_OVER_MAX,
            page: PageBuilder::with_room(after.cloned(), most, LOOKED_AT_MAX),
            endings: BTreeMap::new(),
        };
        let sources = walk.sources()?;
        walk.run(sources, after)?;
        Ok(walk.page.page())
    }
}

impl<'a> MessageWalk<'a> {
    /// The sources that have all wanted messages and as few others as can be known before.
    fn sources(&mut self) -> Result<Vec<MessageSource<'a>>, Unreadable> {
        let Reader { engine, view } = self.reader;
        let wanted = self.wanted;
        let open = wanted.states_of(&OPEN);
        if let Some((no, job)) = wanted.job {
            if let Some(whose) = wanted.whose {
                self.within = Some([(whose.bucket, [whose.number.0].into())].into());
            }
            let held = |bucket| engine.shards.held_bucket(bucket).is_some();
            return Ok(vec![MessageSource::Job(JobRows::new(view, no, job, held)?)]);
        }
        if let Some(whose) = wanted.whose {
            self.within = Some([(whose.bucket, [whose.number.0].into())].into());
            let days = engine.shards.days_of(whose.bucket).iter().copied();
            let bucket = [engine.shards.bucket(whose.bucket)];
            return Ok(vec![
                MessageSource::Recipient(RecipientRows::new(view, whose, days)),
                MessageSource::Open(OpenClosings::new(bucket, open)),
            ]);
        }
        if let Some(event) = &wanted.event {
            if event.are_few() {
                return Ok(vec![MessageSource::Found(event.messages(self.reader)?)]);
            }
            self.within = Some(event.recipients.clone());
            return Ok(vec![self.closings()]);
        }
        let rare = OPEN.iter().chain(&UNSENT);
        if !wanted.is_of_all_states()
            && wanted.states.iter().all(|of| rare.clone().any(|is| is == of))
        {
            return Ok(vec![
                self.unsent(wanted.states_of(&UNSENT)),
                MessageSource::Open(OpenClosings::new(engine.shards.buckets(), open)),
            ]);
        }
        if let Some(provider) = &wanted.filter.provider {
            return Ok(vec![self.facet(&[MessageFacet::provider(provider)])]);
        }
        if let Some(tenant) = wanted.tenant {
            return Ok(vec![self.facet(&[MessageFacet::Tenant(tenant)])]);
        }
        if !wanted.types.is_empty() {
            let types: Vec<_> = wanted.types.iter().map(|no| MessageFacet::Type(*no)).collect();
            let unbuilt = wanted.states_of(&[MessageState::Planned]);
            let unbuilt = OpenClosings::new(engine.shards.buckets(), unbuilt);
            return Ok(vec![self.facet(&types), MessageSource::Open(unbuilt)]);
        }
        Ok(vec![self.closings()])
    }

    fn days(&self) -> impl Iterator<Item = Day> + use<> {
        let (first, last) = (self.wanted.filter.from, self.wanted.filter.to);
        let days = self.reader.engine.shards.journal_days().into_iter();
        days.filter(move |day| {
            first.is_none_or(|from| *day >= from.day()) && last.is_none_or(|to| *day <= to.day())
        })
    }

    fn rows(&self, table: Table, tags: WantedTags<'a>) -> DueRows<'a> {
        DueRows::new(self.reader.view, table, tags, self.days())
    }

    /// The closings of the wanted channel, or of all.
    fn closing_rows(&self) -> DueRows<'a> {
        let tags = match self.wanted.channel {
            Some(channel) => WantedTags::These(vec![vec![channel.0]]),
            None => WantedTags::Passing(1, Box::new(|_| true)),
        };
        self.rows(Table::DueClosings, tags)
    }

    fn closings(&self) -> MessageSource<'a> {
        MessageSource::Closings(self.closing_rows())
    }

    fn unsent(&self, states: Vec<MessageState>) -> MessageSource<'a> {
        let reason = self.wanted.filter.reason;
        let passes = move |tag: &[u8]| {
            states.iter().any(|state| {
                let of = unsent_tag(*state, reason);
                tag[0] == of[0] && (reason.is_none() || tag[1] == of[1])
            })
        };
        MessageSource::Unsent(self.rows(Table::Unsent, WantedTags::Passing(2, Box::new(passes))))
    }

    fn facet(&self, facets: &[MessageFacet]) -> MessageSource<'a> {
        let are_types = facets.iter().all(|facet| matches!(facet, MessageFacet::Type(_)));
        let tags = facets.iter().map(|facet| facet.tag()).collect();
        let rows = self.rows(Table::MessageFacets, WantedTags::These(tags));
        MessageSource::Facet(FacetRows::new(rows, self.closing_rows(), are_types))
    }

    /// Walks the sources until the page ends.
    fn run(
        &mut self,
        mut sources: Vec<MessageSource<'a>>,
        after: Option<&NewestFirst>,
    ) -> Result<(), Unreadable> {
        let filter = self.wanted.filter;
        let first = self.wanted.event.as_ref().and_then(|event| event.first);
        // Rows of messages that were built later may outlive the day on which these were due.
        let kept = self.reader.engine.forgotten_before().map(Day::start);
        let least = filter.from.max(first).max(kept).unwrap_or(Instant::MIN);
        let before = filter.to.map(|to| to.plus_ms(-1));
        let mut at = before.unwrap_or(Instant::MAX);
        if let Some(after) = after {
            at = at.min(after.at);
        }
        loop {
            let mut newest = None;
            for source in &mut sources {
                newest = newest.max(source.newest(at)?);
            }
            let Some(due) = newest.filter(|due| *due >= least) else {
                return Ok(());
            };
            let mut found = InstantMessages::default();
            for source in &mut sources {
                if source.newest(due)? == Some(due) {
                    source.take(due, &mut found)?;
                }
            }
            let after = after.filter(|after| after.at == due);
            if !self.look_at_all(due, found, after)? || due == Instant::MIN {
                return Ok(());
            }
            at = due.plus_ms(-1);
        }
    }

    /// Looks at the messages of an instant, in the order of their ids; false = the page ends before the last.
    fn look_at_all(
        &mut self,
        due: Instant,
        found: InstantMessages,
        after: Option<&NewestFirst>,
    ) -> Result<bool, Unreadable> {
        let after = after.map(|after| after.id.as_str());
        let mut buckets: Vec<_> = found
            .buckets
            .into_iter()
            .filter(|(no, _)| self.reader.engine.shards.held_bucket(*no).is_some())
            .map(|(no, closings)| (format!("{}.{no}.", due.day()), no, closings))
            .collect();
        buckets.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        for (start, bucket, closings) in buckets {
            // Ids of a bucket whose start is before the cursor, and is not its start, are before it.
            if after.is_some_and(|after| *start < *after && !after.starts_with(&start)) {
                continue;
            }
            if self.passes == 0 {
                // Nothing of this bucket was looked at.
                let id = Id::new(&start).expect("the start of a message's name is an id");
                self.page.ends_at(NewestFirst { at: due, id });
                return Ok(false);
            }
            let mut ids: Vec<(String, MessageId)> = Vec::new();
            for (seq, recipients) in closings {
                let closing = ClosingId { bucket, seq };
                let numbers = self.numbers(due, closing, recipients)?;
                self.passes = self.passes.saturating_sub(usize::from(numbers.is_empty()));
                let of = numbers.iter().map(|number| {
                    let id = closing.message(RecipientNo(number));
                    (format!("{start}{number}.{seq}"), id)
                });
                ids.extend(of.filter(|(id, _)| after.is_none_or(|after| id.as_str() > after)));
            }
            ids.sort_by(|(one, _), (other, _)| one.cmp(other));
            // Two sources may find the same one.
            ids.dedup_by_key(|(_, id)| *id);
            for (_, id) in ids {
                let has_type = found.certain.contains(&id);
                if !self.look_at(MessageCandidate { due, id, has_type })? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The wanted recipients of a closing.
    fn numbers(
        &self,
        due: Instant,
        ClosingId { bucket, seq }: ClosingId,
        recipients: ClosingRecipients,
    ) -> Result<RoaringBitmap, Unreadable> {
        let within = match &self.within {
            Some(within) => match within.get(&bucket) {
                Some(within) => Some(within),
                None => return Ok(RoaringBitmap::new()),
            },
            None => None,
        };
        let all = match recipients {
            ClosingRecipients::These(numbers) => numbers,
            ClosingRecipients::OfRecord => {
                let key = journal_key(bucket, seq);
                let record = self.reader.view.get(Partition::Day(due.day()), &key)?;
                let record =
                    record.map(|bytes| decode::<Record>("a record", &bytes)).transpose()?;
                let Some(Record::Closing { recipients, .. }) = record else {
                    let why = format!("closing {seq} of bucket {bucket} is missing");
                    return Err(Unreadable(why));
                };
                recipients.0
            }
        };
        Ok(match within {
            Some(within) => all & within,
            None => all,
        })
    }

    /// Looks at a message, which is shown if it is wanted; false = the page ends before it.
    fn look_at(&mut self, candidate: MessageCandidate) -> Result<bool, Unreadable> {
        let name = MessageName { due: candidate.due.day(), id: candidate.id };
        if !self.page.looks_at(position(candidate.due, name)) {
            return Ok(false);
        }
        if let Some(summary) = self.shown(candidate)? {
            self.page.add(summary);
        }
        Ok(true)
    }

    /// A message, if it is there and wanted.
    fn shown(
        &mut self,
        MessageCandidate { due, id, has_type }: MessageCandidate,
    ) -> Result<Option<MessageSummary>, Unreadable> {
        let Reader { engine, view } = self.reader;
        let wanted = self.wanted;
        let shard = &engine.shards[engine.shards.index_of(id.closing.bucket)];
        let bucket = &shard.buckets[id.closing.bucket];
        let open = MessageStanding::open(bucket, id);
        if open.is_some_and(|open| !wanted.takes(open)) {
            return Ok(None);
        }
        let row = match open {
            Some(MessageStanding { state: MessageState::Planned, .. }) => None,
            _ => shard.messages(&Draft::new(view)).message_row(id, due.day())?,
        };
        let closing = bucket.closings.get(&id.closing.seq).filter(|_| open.is_some());
        let of_row = row.as_ref().map(|(_, row)| &row.lane);
        let Some(lane) = of_row.or_else(|| closing.map(|closing| &closing.lane)) else {
            // All its entries ended before it was built.
            return Ok(None);
        };
        let channel = shard.compiled.names.lane(lane.lane).channel;
        // A deleted tenant is another one than its successor with the same id.
        if wanted.channel.is_some_and(|of| of != channel)
            || wanted.tenant.is_some_and(|of| lane.tenant != Some(of))
        {
            return Ok(None);
        }
        let standing = match (open, &row) {
            (Some(open), _) => open,
            (None, Some((day, row))) => {
                let endings = match self.endings.entry(id.closing) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => {
                        let days = shard.journal_days.range(*day..).copied();
                        new.insert(ClosingEndings::read(view, id.closing, days)?)
                    }
                };
                MessageStanding::closed(row, endings.get(id.number))
            }
            (None, None) => return Ok(None),
        };
        let of_row = row.as_ref().map(|(_, row)| row);
        if !wanted.takes(standing)
            || !self.has_event(bucket, id, of_row)?
            || !has_type && !self.has_type(bucket, id, of_row)?
            || !self.has_provider(shard, due, id)?
        {
            return Ok(None);
        }
        Ok(MessageSummary::of(self.reader, shard, bucket, id, standing, row.as_ref()))
    }

    fn has_event(
        &self,
        bucket: &Bucket,
        id: MessageId,
        row: Option<&MessageRow>,
    ) -> Result<bool, Unreadable> {
        let Some(event) = &self.wanted.event else {
            return Ok(true);
        };
        let Some(seqs) = event.seqs.get(&bucket.no) else {
            return Ok(false);
        };
        if let Some(row) = row {
            return Ok(row.has(id.closing.seq, |seq| seqs.contains(&seq)));
        }
        let found = planned(self.reader, bucket, id)?;
        Ok(found.sources.iter().any(|of| seqs.contains(&of.kept.seq)))
    }

    fn has_type(
        &self,
        bucket: &Bucket,
        id: MessageId,
        row: Option<&MessageRow>,
    ) -> Result<bool, Unreadable> {
        let types = &self.wanted.types;
        if types.is_empty() {
            return Ok(true);
        }
        let Some(row) = row else {
            let found = planned(self.reader, bucket, id)?;
            return Ok(found.sources.iter().any(|of| types.contains(&of.kept.arrival.type_no)));
        };
        let closing = id.closing.seq;
        let mut from = closing;
        row.has(closing, |seq| {
            from = from.min(seq);
            false
        });
        let names = &self.reader.engine.intake.compiled.names;
        let recipients = RoaringBitmap::from_iter([id.number.0]);
        let look = SearchFilter {
            from,
            to: closing,
            recipients: &recipients,
            takes: &|kept, variant| {
                types.contains(&kept.arrival.type_no) && row.lane.has(names, &kept.arrival, variant)
            },
            has: &|_, kept| row.has(closing, |seq| seq == kept.seq),
        };
        Ok(!bucket.index.look(self.reader.view, &look)?.entries.is_empty())
    }

    fn has_provider(&self, shard: &Shard, due: Instant, id: MessageId) -> Result<bool, Unreadable> {
        let Some(provider) = &self.wanted.filter.provider else {
            return Ok(true);
        };
        let days = shard.journal_days.range(due.day()..);
        let attempts = attempts_of(self.reader.view, id, days)?;
        // What is reported later is no answer to an attempt.
        let mut newest_first = attempts.iter().rev();
        let last = newest_first.find(|run| Answered::TO_ATTEMPTS.contains(&run.answer));
        Ok(last.is_some_and(|run| run.provider == *provider))
    }
}

/// The entries of a message that is not built.
fn planned(
    Reader { engine, view }: Reader<'_>,
    bucket: &Bucket,
    id: MessageId,
) -> Result<Found, Unreadable> {
    match bucket.closings.get(&id.closing.seq) {
        None => Ok(Found::default()),
        Some(open) => {
            let waiting = bucket.waiting(view, &engine.intake.compiled.names);
            waiting.unmade_for(id.closing.seq, open, id.number.0)
        }
    }
}

/// Number of entries of a message that is not built.
pub(crate) fn planned_entries(reader: Reader<'_>, id: MessageId) -> Result<usize, Unreadable> {
    match reader.engine.shards.held_bucket(id.closing.bucket) {
        Some(bucket) => Ok(planned(reader, bucket, id)?.entries.len()),
        None => Ok(0),
    }
}
