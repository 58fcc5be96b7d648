//! The sources of a list of messages: each finds some by the instant at which they were due, newest first.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::due_rows::{DueRow, DueRows};
use crate::bucket::{Bucket, Closing};
use crate::engine::jobs::job::JobRow;
use crate::engine::message::message_index::{DueClosing, FacetRow, second_of};
use crate::engine::message::message_row::MessageRow;
use crate::journal::stored::{ReadView, Unreadable, decode, each};
use crate::journal::table::{Key, Owner, Partition, REST, Table, seq_at, u16_at};
use crate::model::id::BucketNo;
use crate::model::messages::MessageState;
use crate::model::messages::jobs::{JobNo, MessagesOfClosing};
use crate::model::number::{MessageId, RecipientAt, RecipientNo, Seq};
use crate::model::time::{Day, Instant};
use crate::sets::set::Set;

/// The messages that were due at an instant and that a list has to look at.
#[derive(Debug, Default)]
pub(super) struct InstantMessages {
    /// Their closings by bucket.
    pub(super) buckets: BTreeMap<BucketNo, Vec<(Seq, ClosingRecipients)>>,
    /// Those that surely have an entry of a wanted type.
    pub(super) certain: BTreeSet<MessageId>,
}

/// The recipients of messages of a closing.
#[derive(Debug)]
pub(super) enum ClosingRecipients {
    /// These.
    These(RoaringBitmap),
    /// Those of its record.
    OfRecord,
}

/// A source of messages. The instants that are asked for go back in time.
pub(super) enum MessageSource<'a> {
    /// All, or those of some channels.
    Closings(DueRows<'a>),
    /// Those that were not handed over.
    Unsent(DueRows<'a>),
    /// Those with a common property.
    Facet(FacetRows<'a>),
    /// Those that are not built or have no outcome.
    Open(OpenClosings<'a>),
    /// Those to a recipient.
    Recipient(RecipientRows<'a>),
    /// Those of a job.
    Job(JobRows<'a>),
    /// Those that were found before.
    Found(BTreeMap<Instant, InstantMessages>),
}

impl InstantMessages {
    pub(super) fn add(&mut self, bucket: BucketNo, seq: Seq, recipients: ClosingRecipients) {
        self.buckets.entry(bucket).or_default().push((seq, recipients));
    }

    pub(super) fn add_one(&mut self, MessageId { closing, number }: MessageId) {
        let recipients = ClosingRecipients::These(RoaringBitmap::from_iter([number.0]));
        self.add(closing.bucket, closing.seq, recipients);
    }

    fn add_closings(&mut self, row: &DueRow) -> Result<(), Unreadable> {
        let closings: Vec<DueClosing> = decode("closings of a step", &row.value)?;
        for DueClosing { bucket, seq, only } in closings {
            let recipients = match only {
                Some(number) => ClosingRecipients::These(RoaringBitmap::from_iter([number.0])),
                None => ClosingRecipients::OfRecord,
            };
            self.add(bucket, seq, recipients);
        }
        Ok(())
    }

    fn append(&mut self, other: Self) {
        for (bucket, mut closings) in other.buckets {
            self.buckets.entry(bucket).or_default().append(&mut closings);
        }
        self.certain.extend(other.certain);
    }
}

impl MessageSource<'_> {
    /// The newest instant, at or before this one, at which messages were due.
    pub(super) fn newest(&mut self, at: Instant) -> Result<Option<Instant>, Unreadable> {
        match self {
            Self::Closings(rows) | Self::Unsent(rows) => rows.newest(at),
            Self::Facet(rows) => rows.newest(at),
            Self::Open(closings) => Ok(closings.newest(at)),
            Self::Recipient(rows) => rows.newest(at),
            Self::Job(rows) => rows.newest(at),
            Self::Found(found) => Ok(found.range(..=at).next_back().map(|(at, _)| *at)),
        }
    }

    /// Takes those of the instant that [`MessageSource::newest`] gave.
    pub(super) fn take(
        &mut self,
        at: Instant,
        found: &mut InstantMessages,
    ) -> Result<(), Unreadable> {
        match self {
            Self::Closings(rows) => {
                for row in rows.take(at)? {
                    found.add_closings(&row)?;
                }
            }
            Self::Unsent(rows) => {
                for row in rows.take(at)? {
                    let odd = || Unreadable("a key of the index is odd".to_owned());
                    let of = u16_at(&row.rest, 0).zip(seq_at(&row.rest, 2));
                    let (bucket, seq) = of.ok_or_else(odd)?;
                    let set: Set = decode("messages that were not handed over", &row.value)?;
                    found.add(BucketNo(bucket), seq, ClosingRecipients::These(set.0));
                }
            }
            Self::Facet(rows) => rows.take(at, found),
            Self::Open(closings) => closings.take(at, found),
            Self::Recipient(rows) => rows.take(at, found),
            Self::Job(rows) => rows.take(at, found)?,
            Self::Found(all) => found.append(all.remove(&at).unwrap_or_default()),
        }
        Ok(())
    }
}

/// The messages with a common property, second by second: those that a row names, or all of the second.
pub(super) struct FacetRows<'a> {
    rows: DueRows<'a>,
    closings: DueRows<'a>,
    /// True if the property is a wanted type.
    are_certain: bool,
    /// Those of the seconds that were read.
    read: BTreeMap<Instant, InstantMessages>,
}

impl<'a> FacetRows<'a> {
    pub(super) fn new(rows: DueRows<'a>, closings: DueRows<'a>, are_certain: bool) -> Self {
        Self { rows, closings, are_certain, read: BTreeMap::new() }
    }

    fn newest(&mut self, at: Instant) -> Result<Option<Instant>, Unreadable> {
        loop {
            if let Some((newest, _)) = self.read.range(..=at).next_back() {
                return Ok(Some(*newest));
            }
            self.read.clear();
            let Some(second) = self.rows.newest(at)? else {
                return Ok(None);
            };
            self.read_second(second)?;
        }
    }

    fn read_second(&mut self, second: Instant) -> Result<(), Unreadable> {
        let mut are_many = false;
        for row in self.rows.take(second)? {
            match decode("messages of a second", &row.value)? {
                FacetRow::Many => are_many = true,
                FacetRow::Named(named) => {
                    for (at, id) in named {
                        let found = self.read.entry(at).or_default();
                        found.add_one(id);
                        if self.are_certain {
                            found.certain.insert(id);
                        }
                    }
                }
            }
        }
        let mut at = second.plus_ms(999);
        while are_many
            && let Some(newest) = self.closings.newest(at)?.filter(|of| second_of(*of) == second)
        {
            for row in self.closings.take(newest)? {
                self.read.entry(newest).or_default().add_closings(&row)?;
            }
            at = newest.plus_ms(-1);
        }
        Ok(())
    }

    fn take(&mut self, at: Instant, found: &mut InstantMessages) {
        found.append(self.read.remove(&at).unwrap_or_default());
    }
}

/// The closings of a bucket, the newest first. Instants of records never go back, so the order of seqs is theirs.
struct NewestClosings<'a> {
    bucket: &'a Bucket,
    /// The seq before which closings were not visited.
    before: Seq,
}

impl<'a> NewestClosings<'a> {
    /// The newest closing that was not visited, was due at or before an instant and has messages in these states.
    fn newest(&mut self, at: Instant, states: &[MessageState]) -> Option<(Seq, &'a Closing)> {
        loop {
            let (seq, open) = self.bucket.closings.before(&self.before)?;
            let has_wanted = states.iter().any(|state| match state {
                MessageState::Planned => !open.unmade.is_empty(),
                MessageState::Retrying => !open.tried.is_empty(),
                _ => !open.sending.is_empty(),
            });
            if open.at <= at && has_wanted {
                return Some((*seq, open));
            }
            self.before = *seq;
        }
    }
}

/// The closings with messages on their way, of some buckets.
pub(super) struct OpenClosings<'a> {
    buckets: Vec<NewestClosings<'a>>,
    /// The states that are wanted.
    states: Vec<MessageState>,
}

impl<'a> OpenClosings<'a> {
    pub(super) fn new(
        buckets: impl IntoIterator<Item = &'a Bucket>,
        states: Vec<MessageState>,
    ) -> Self {
        let all = |bucket| NewestClosings { bucket, before: Seq::LAST };
        let buckets = buckets.into_iter().map(all).collect();
        Self { buckets, states }
    }

    fn newest(&mut self, at: Instant) -> Option<Instant> {
        let states = &self.states;
        let newest = self.buckets.iter_mut().filter_map(|closings| closings.newest(at, states));
        newest.map(|(_, open)| open.at).max()
    }

    fn take(&mut self, at: Instant, found: &mut InstantMessages) {
        for closings in &mut self.buckets {
            while let Some((seq, open)) = closings.newest(at, &self.states)
                && open.at == at
            {
                let wanted = ClosingRecipients::These(wanted_of(open, &self.states));
                found.add(closings.bucket.no, seq, wanted);
                closings.before = seq;
            }
        }
    }
}

fn wanted_of(open: &Closing, states: &[MessageState]) -> RoaringBitmap {
    let mut wanted = RoaringBitmap::new();
    for state in states {
        match state {
            MessageState::Planned => wanted.extend(open.unmade.keys()),
            MessageState::Retrying => wanted.extend(open.tried.keys()),
            _ => wanted |= &open.sending,
        }
    }
    wanted
}

/// The built messages to a recipient, by the rows of their days.
pub(super) struct RecipientRows<'a> {
    view: &'a dyn ReadView,
    whose: RecipientAt,
    /// The days that are still to be read, the newest last.
    days: Vec<Day>,
    /// The last day that was read: messages that were due on it, or later, were not built before it.
    read_from: Day,
    read: BTreeMap<Instant, Vec<Seq>>,
}

impl<'a> RecipientRows<'a> {
    pub(super) fn new(
        view: &'a dyn ReadView,
        whose: RecipientAt,
        days: impl IntoIterator<Item = Day>,
    ) -> Self {
        let days = days.into_iter().collect();
        Self { view, whose, days, read_from: Day(i32::MAX), read: BTreeMap::new() }
    }

    fn newest(&mut self, at: Instant) -> Result<Option<Instant>, Unreadable> {
        loop {
            let newest = self.read.range(..=at).next_back().map(|(at, _)| *at);
            if newest.is_some_and(|newest| newest.day() >= self.read_from) {
                return Ok(newest);
            }
            let Some(day) = self.days.pop() else {
                return Ok(newest);
            };
            self.read_day(day)?;
            self.read_from = day;
        }
    }

    fn read_day(&mut self, day: Day) -> Result<(), Unreadable> {
        let (view, partition) = (self.view, Partition::Day(day));
        let prefix = Key::of(Owner::Bucket(self.whose.bucket), Table::Messages);
        let prefix = prefix.u32(self.whose.number.0).done();
        each(view, partition, &prefix, |key, value| {
            let odd = || Unreadable("a message's key is odd".to_owned());
            let seq = seq_at(key, REST + 4).ok_or_else(odd)?;
            let row = MessageRow::read(view, partition, key, value)?;
            self.read.entry(row.at).or_default().push(seq);
            Ok(())
        })
    }

    fn take(&mut self, at: Instant, found: &mut InstantMessages) {
        let RecipientAt { bucket, number: RecipientNo(number) } = self.whose;
        for seq in self.read.remove(&at).unwrap_or_default() {
            found.add(bucket, seq, ClosingRecipients::These(RoaringBitmap::from_iter([number])));
        }
    }
}

/// The messages of a job, by the rows of its buckets.
pub(super) struct JobRows<'a> {
    view: &'a dyn ReadView,
    no: JobNo,
    job: &'a JobRow,
    buckets: Vec<JobOfBucket>,
}

/// The messages of a job in a bucket that were not visited: those of its first rows, and those that were read.
struct JobOfBucket {
    bucket: BucketNo,
    chunks: u32,
    read: Vec<MessagesOfClosing>,
}

impl<'a> JobRows<'a> {
    pub(super) fn new(
        view: &'a dyn ReadView,
        no: JobNo,
        job: &'a JobRow,
        held: impl Fn(BucketNo) -> bool,
    ) -> Result<Self, Unreadable> {
        let buckets = job.buckets(view, no)?.0.into_iter();
        let buckets = buckets.filter(|(bucket, _)| held(*bucket));
        let of = |(bucket, chunks)| JobOfBucket { bucket, chunks, read: Vec::new() };
        Ok(Self { view, no, job, buckets: buckets.map(of).collect() })
    }

    fn newest(&mut self, at: Instant) -> Result<Option<Instant>, Unreadable> {
        let mut newest = None;
        for of in &mut self.buckets {
            newest = newest.max(of.newest(self.view, (self.no, self.job), at)?);
        }
        Ok(newest)
    }

    fn take(&mut self, at: Instant, found: &mut InstantMessages) -> Result<(), Unreadable> {
        for of in &mut self.buckets {
            while of.newest(self.view, (self.no, self.job), at)? == Some(at) {
                if let Some(MessagesOfClosing { closing, recipients, .. }) = of.read.pop() {
                    found.add(of.bucket, closing, ClosingRecipients::These(recipients.0));
                }
            }
        }
        Ok(())
    }
}

impl JobOfBucket {
    fn newest(
        &mut self,
        view: &dyn ReadView,
        (no, job): (JobNo, &JobRow),
        at: Instant,
    ) -> Result<Option<Instant>, Unreadable> {
        loop {
            match self.read.last() {
                Some(last) if last.due <= at => return Ok(Some(last.due)),
                Some(_) => drop(self.read.pop()),
                None if self.chunks == 0 => return Ok(None),
                None => {
                    self.chunks -= 1;
                    self.read = job.chunk(view, no, self.bucket, self.chunks)?;
                }
            }
        }
    }
}
