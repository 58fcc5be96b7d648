//! Pages of messages, as operators look at them.
//!
//! They are read from rows that sending writes anyway: those of messages, and the records of their closings. A page
//! reads a bounded number of messages, whether it shows them or not.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use roaring::RoaringBitmap;

use crate::bucket::Bucket;
use crate::engine::message::message_row::MessageRow;
use crate::engine::message::operate::Standing;
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::{Of, ends};
use crate::engine::rows::reply::StepError;
use crate::engine::shard::state::Shard;
use crate::engine::state::Engine;
use crate::index::SearchFilter;
use crate::journal::record::{Attempts, Record};
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Key, Owner, Partition, REST, Table, after_prefix, seq_at, u32_at};
use crate::model::batch_key::BatchKey;
use crate::model::channel::channel_no;
use crate::model::id::{BucketNo, Id};
use crate::model::messages::{MessageName, MessageState};
use crate::model::number::{ClosingId, MessageId, RecipientAt, RecipientNo, Seq, TypeNo};
use crate::model::reason::Reason;
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};

/// The most messages that one page looks at.
const LOOKED_AT_MAX: usize = 1_000;

/// The most that one looks at which shows none yet.
const LOOKED_AT_FOR_NONE_MAX: usize = 10_000;

/// The most rows that are read together.
const TOGETHER: usize = 250;

/// A choice among messages; what is absent leaves all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// Only those to this recipient.
    pub recipient: Option<Id>,
    /// Only those on this channel.
    pub channel: Option<String>,
    /// Only those in this state.
    pub state: Option<MessageState>,
    /// Only those of this tenant.
    pub tenant: Option<Id>,
    /// Only those with an entry of this type.
    pub event_type: Option<Id>,
    /// Only those that were built on this UTC day; of those that are not, the ones that were due on it.
    pub day: Option<Day>,
}

/// A message in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSummary {
    /// Its name.
    pub name: MessageName,
    /// The recipient; `None` = was erased.
    pub recipient: Option<Id>,
    /// The channel.
    pub channel: &'static str,
    /// The lane's name.
    pub lane: String,
    /// The lane's batch key.
    pub key: BatchKey,
    /// The tenant of its entries; `None` = they are of none.
    pub tenant: Option<Id>,
    /// Its state.
    pub state: MessageState,
    /// The reason why it was not handed over.
    pub reason: Option<Reason>,
    /// The instant at which its lane was due.
    pub due: Instant,
    /// The instant at which it was built.
    pub built: Option<Instant>,
    /// The instant of its outcome.
    pub ended: Option<Instant>,
    /// Number of its entries; `None` = it is not built.
    pub entries: Option<usize>,
    /// The failed attempts of one that waits for the next.
    pub tried: Option<Attempts>,
}

/// A page of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagesPage {
    /// The messages: those that are not built, then by the day on which they were built, newest first.
    pub messages: Vec<MessageSummary>,
    /// The start of the next page. There may be one after a page without messages.
    pub next: Option<MessageCursor>,
}

/// The start of a page of messages: the one after which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageCursor {
    /// The day on which it was built; `None` = it was not, or is found among those on their way.
    day: Option<Day>,
    id: MessageId,
}

/// A text that is not a cursor of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is what a page of messages gave as `next`")]
pub struct MessageCursorError;

impl fmt::Display for MessageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (due, id) = (self.day.unwrap_or_default(), self.id);
        let place = MessageName { due, id };
        let sign = if self.day.is_some() { 'd' } else { 'w' };
        write!(f, "{sign}.{place}")
    }
}

impl FromStr for MessageCursor {
    type Err = MessageCursorError;

    fn from_str(text: &str) -> Result<Self, MessageCursorError> {
        let (sign, place) = text.split_once('.').ok_or(MessageCursorError)?;
        let MessageName { due, id } = place.parse().map_err(|_| MessageCursorError)?;
        let day = (sign == "d").then_some(due);
        let cursor = Self { day, id };
        (cursor.to_string() == text).then_some(cursor).ok_or(MessageCursorError)
    }
}

/// A page under construction.
struct Gathering<'a> {
    engine: &'a Engine,
    view: &'a dyn ReadView,
    filter: &'a MessageFilter,
    /// The recipient's bucket and number.
    whose: Option<RecipientAt>,
    type_no: Option<TypeNo>,
    most: usize,
    page: MessagesPage,
    looked_at: usize,
    /// The last message that was looked at.
    last: Option<MessageCursor>,
    /// The records of closings.
    records: BTreeMap<(Day, ClosingId), Vec<Record>>,
}

impl Reader<'_> {
    /// A page of messages, at most `most`.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient is unknown.
    pub fn messages(
        &self,
        filter: &MessageFilter,
        from: Option<MessageCursor>,
        most: usize,
    ) -> Result<MessagesPage, StepError> {
        let Reader { engine, view } = *self;
        let whose = filter.recipient.as_ref().map(|id| engine.find(id));
        let whose = whose.transpose()?;
        let type_no = filter
            .event_type
            .as_ref()
            .map(|of_type| engine.intake.compiled.names.type_no(of_type.as_str()));
        if type_no == Some(None) {
            return Ok(MessagesPage::default());
        }
        let gathering = Gathering {
            engine,
            view,
            filter,
            whose,
            type_no: type_no.flatten(),
            most,
            page: MessagesPage::default(),
            looked_at: 0,
            last: from,
            records: BTreeMap::new(),
        };
        Ok(gathering.gather(from)?)
    }

    pub(crate) fn summary(
        &self,
        shard: &Shard,
        bucket: &Bucket,
        id: MessageId,
        standing: Standing,
        row: Option<&(Day, MessageRow)>,
    ) -> Option<MessageSummary> {
        let open = bucket.closings.get(&id.closing.seq);
        let row = row.map(|(_, row)| row);
        let (lane, due) = row
            .map(|row| (&row.lane, row.at))
            .or_else(|| open.map(|open| (&open.lane, open.at)))?;
        let lane_name = shard.compiled.names.lane(lane.lane);
        let tried = open.and_then(|open| open.tried.get(&id.number.0)).copied();
        let profile = bucket.roster.profile(id.number);
        Some(MessageSummary {
            name: MessageName { due: due.day(), id },
            recipient: profile.map(|profile| profile.id.clone()),
            channel: lane_name.channel.name(),
            lane: lane_name.name.clone(),
            key: lane.key.clone(),
            tenant: self.engine.intake.tenants.id(lane.tenant).cloned(),
            state: standing.state,
            reason: standing.reason,
            due,
            built: row.map(MessageRow::built),
            ended: standing.at,
            entries: row.map(MessageRow::len),
            tried: tried.filter(|tried| tried.count > 0),
        })
    }
}

impl Gathering<'_> {
    fn gather(mut self, from: Option<MessageCursor>) -> Result<MessagesPage, Unreadable> {
        let state = self.filter.state;
        let on_their_way = [MessageState::Planned, MessageState::Sending, MessageState::Retrying];
        let only_open = state.is_some_and(|state| on_their_way.contains(&state));
        let lists_open = state.is_none() || only_open;
        if lists_open && from.is_none_or(|from| from.day.is_none()) {
            self.open(from.map(|from| from.id))?;
        }
        if !only_open && !self.is_full() {
            self.closed(from.filter(|from| from.day.is_some()))?;
        }
        Ok(self.page)
    }

    fn is_full(&self) -> bool {
        self.page.next.is_some()
    }

    /// Counts a message that is looked at; false = the page ends before it.
    fn has_room(&mut self, cursor: MessageCursor) -> bool {
        let looked_at_max =
            if self.page.messages.is_empty() { LOOKED_AT_FOR_NONE_MAX } else { LOOKED_AT_MAX };
        if self.page.messages.len() >= self.most || self.looked_at >= looked_at_max {
            self.page.next = self.last;
            return false;
        }
        self.looked_at += 1;
        self.last = Some(cursor);
        true
    }

    /// Gathers the messages on their way: those that are not built, unless others are wanted.
    fn open(&mut self, after: Option<MessageId>) -> Result<(), Unreadable> {
        let is_planned = matches!(self.filter.state, None | Some(MessageState::Planned));
        let most = LOOKED_AT_FOR_NONE_MAX + 1;
        let engine = self.engine;
        for (shard, bucket) in engine.shards.with_buckets() {
            if self.whose.is_some_and(|of| of.bucket != bucket.no)
                || after.is_some_and(|after| after.closing.bucket > bucket.no)
            {
                continue;
            }
            let first = after.filter(|after| after.closing.bucket == bucket.no);
            let from = first.map_or_else(Seq::default, |after| after.closing.seq);
            for (seq, open) in bucket.closings.from(&from) {
                let closing = bucket.closing_id(*seq);
                let last = first.filter(|after| after.closing.seq == *seq);
                let (least, greatest) =
                    self.whose.map_or((0, u32::MAX), |of| (of.number.0, of.number.0));
                let least = last.map_or(least, |last| least.max(last.number.0.saturating_add(1)));
                if least > greatest {
                    continue;
                }
                let numbers: Vec<u32> = if is_planned {
                    let unmade = open.unmade.from(&least).map(|(number, _)| *number);
                    let unmade = unmade.take_while(|number| *number <= greatest);
                    unmade.take(most).collect()
                } else {
                    open.sending.range(least..=greatest).take(most).collect()
                };
                for number in numbers {
                    let id = closing.message(RecipientNo(number));
                    if !self.has_room(MessageCursor { day: None, id }) {
                        return Ok(());
                    }
                    self.add_open(shard, bucket, id)?;
                }
            }
        }
        Ok(())
    }

    /// Returns true if messages of a tenant, or without one, are wanted. A deleted tenant is another one than its
    /// successor with the same id.
    fn is_of_tenant(&self, tenant: Option<TenantNo>) -> bool {
        let wanted = self.filter.tenant.as_ref();
        wanted.is_none_or(|id| {
            tenant.is_some() && self.engine.intake.tenants.number(id).ok() == tenant
        })
    }

    fn add_open(
        &mut self,
        shard: &Shard,
        bucket: &Bucket,
        id: MessageId,
    ) -> Result<(), Unreadable> {
        let Some(standing) = Standing::open(bucket, id) else {
            return Ok(());
        };
        let is_wanted = self.filter.state.is_none_or(|state| state == standing.state);
        let open = bucket.closings.get(&id.closing.seq);
        let Some(open) = open.filter(|open| is_wanted && self.is_of_tenant(open.lane.tenant))
        else {
            return Ok(());
        };
        let row = match standing.state {
            MessageState::Planned => None,
            _ => shard.messages(&Draft::new(self.view)).message_row(id, open.at.day())?,
        };
        let day = row.as_ref().map_or(open.at.day(), |(day, _)| *day);
        if self.filter.day.is_some_and(|wanted| wanted != day) {
            return Ok(());
        }
        self.add(shard, bucket, id, standing, row.as_ref())
    }

    /// Gathers those that are built, by the days on which they were.
    fn closed(&mut self, after: Option<MessageCursor>) -> Result<(), Unreadable> {
        let engine = self.engine;
        let days = engine.shards.journal_days().into_iter().rev().filter(|day| {
            let is_wanted = self.filter.day.is_none_or(|wanted| wanted == *day);
            is_wanted && after.is_none_or(|after| after.day.is_none_or(|last| *day <= last))
        });
        for day in days.collect::<Vec<_>>() {
            for (shard, bucket) in engine.shards.with_buckets() {
                if self.whose.is_some_and(|of| of.bucket != bucket.no) {
                    continue;
                }
                let of_day = after.filter(|after| after.day == Some(day)).map(|at| at.id);
                if of_day.is_some_and(|after| after.closing.bucket > bucket.no) {
                    continue;
                }
                let mut after = of_day.filter(|after| after.closing.bucket == bucket.no);
                loop {
                    let rows = self.rows(day, bucket.no, after)?;
                    after = rows.last().map(|(id, _)| *id);
                    let is_last = rows.len() < TOGETHER;
                    for (id, row) in rows {
                        if !self.has_room(MessageCursor { day: Some(day), id }) {
                            return Ok(());
                        }
                        self.add_closed(shard, bucket, id, &(day, row))?;
                    }
                    if is_last {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The next rows of a bucket's messages that were built on a day.
    fn rows(
        &self,
        day: Day,
        bucket: BucketNo,
        after: Option<MessageId>,
    ) -> Result<Vec<(MessageId, MessageRow)>, Unreadable> {
        let prefix = Key::of(Owner::Bucket(bucket), Table::Messages);
        let prefix = match self.whose {
            Some(RecipientAt { number, .. }) => prefix.u32(number.0).done(),
            None => prefix.done(),
        };
        let from = after.map(|MessageId { closing, number }| {
            let key = Key::of(Owner::Bucket(bucket), Table::Messages).u32(number.0);
            key.seq(closing.seq.next()).done()
        });
        let from = from.filter(|from| *from > prefix);
        let (partition, until) = (Partition::Day(day), after_prefix(&prefix));
        let mut rows = Vec::new();
        let mut fault = Ok(());
        let start = from.as_deref().unwrap_or(&prefix);
        self.view.scan(partition, start, until.as_deref(), &mut |key, value| {
            let id = u32_at(key, REST).zip(seq_at(key, REST + 4));
            let Some((number, seq)) = id else {
                fault = Err(Unreadable("a message's key is odd".to_owned()));
                return ControlFlow::Break(());
            };
            match MessageRow::read(self.view, partition, key, value) {
                Ok(row) => {
                    let closing = ClosingId { bucket, seq };
                    rows.push((closing.message(RecipientNo(number)), row));
                }
                Err(unreadable) => {
                    fault = Err(unreadable);
                    return ControlFlow::Break(());
                }
            }
            if rows.len() < TOGETHER { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        fault.map(|()| rows)
    }

    fn add_closed(
        &mut self,
        shard: &Shard,
        bucket: &Bucket,
        id: MessageId,
        row: &(Day, MessageRow),
    ) -> Result<(), Unreadable> {
        if !self.is_of_tenant(row.1.lane.tenant) {
            return Ok(());
        }
        let channel = shard.compiled.names.lane(row.1.lane.lane).channel;
        let wanted = self.filter.channel.as_deref();
        if wanted.is_some_and(|wanted| channel_no(wanted) != Some(channel)) {
            return Ok(());
        }
        let standing = match Standing::open(bucket, id) {
            Some(standing) => standing,
            None => {
                let records = self.records.entry((row.0, id.closing));
                let records = match records {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => {
                        let days = shard.journal_days.range(row.0..).copied();
                        let of = Of::Closing(id.closing.seq);
                        new.insert(ends(self.view, bucket.no, of, days)?)
                    }
                };
                Standing::closed(&row.1, id.number, &*records)
            }
        };
        self.add(shard, bucket, id, standing, Some(row))
    }

    /// Adds a message if it is wanted.
    fn add(
        &mut self,
        shard: &Shard,
        bucket: &Bucket,
        id: MessageId,
        standing: Standing,
        row: Option<&(Day, MessageRow)>,
    ) -> Result<(), Unreadable> {
        let filter = self.filter;
        if filter.state.is_some_and(|state| state != standing.state) {
            return Ok(());
        }
        let reader = self.engine.reader(self.view);
        let Some(summary) = reader.summary(shard, bucket, id, standing, row) else {
            return Ok(());
        };
        let is_other = |channel: &String| *channel != summary.channel;
        if filter.channel.as_ref().is_some_and(is_other) {
            return Ok(());
        }
        if let Some(type_no) = self.type_no
            && !self.has_type(bucket, id, row.map(|(_, row)| row), type_no)?
        {
            return Ok(());
        }
        self.page.messages.push(summary);
        Ok(())
    }

    fn has_type(
        &self,
        bucket: &Bucket,
        id: MessageId,
        row: Option<&MessageRow>,
        type_no: TypeNo,
    ) -> Result<bool, Unreadable> {
        let closing = id.closing.seq;
        let names = &self.engine.intake.compiled.names;
        let open = bucket.closings.get(&closing);
        let seqs: Option<Vec<Seq>> = row.map(|row| {
            let (entries, ended) = row.seqs(closing);
            let ended = ended.into_iter().chain(row.taken(closing)).map(|(seq, _)| seq);
            entries.into_iter().chain(ended).collect()
        });
        let from = match &seqs {
            Some(seqs) => seqs.iter().min().copied(),
            None => open.and_then(|open| open.unmade.get(&id.number.0).copied()),
        };
        let Some((lane, from)) =
            row.map(|row| &row.lane).or_else(|| open.map(|open| &open.lane)).zip(from)
        else {
            return Ok(false);
        };
        let recipients = RoaringBitmap::from_iter([id.number.0]);
        let look = SearchFilter {
            from,
            to: closing,
            recipients: &recipients,
            takes: &|kept, variant| {
                kept.arrival.type_no == type_no && lane.has(names, &kept.arrival, variant)
            },
            has: &|_, kept| seqs.as_ref().is_none_or(|seqs| seqs.contains(&kept.seq)),
        };
        Ok(!bucket.index.look(self.view, &look)?.entries.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        let id = ClosingId::default().message(RecipientNo(7));
        for day in [None, Some(Day(19_789))] {
            let cursor = MessageCursor { day, id };
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for odd in ["", "d", "x.2024-03-07.1.2.3", "w.2024-03-07.1.2.3", "d.1"] {
            assert_eq!(odd.parse::<MessageCursor>(), Err(MessageCursorError));
        }
    }
}
