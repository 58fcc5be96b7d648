//! The table of ends: it finds the records that end entries by themselves, or messages.
//!
//! It is beside the journal, so that a read of one event need not read the journal of its days.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::draft::Draft;
use crate::journal::record::Record;
use crate::journal::row::journal_key;
use crate::journal::stored::{ReadView, Unreadable, decode, each, each_from};
use crate::journal::table::{Key, Owner, Partition, REST, Table, seq_at};
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::id::BucketNo;
use crate::model::number::{ClosingId, EventNo, RecipientNo, Seq};
use crate::model::reason::{Ending, Reason};
use crate::model::time::{Day, Instant};

/// The subject of an end: the second part of a key of the table of ends.
#[derive(Clone, Copy)]
pub(crate) enum EndSubject {
    /// Entries of an arrival, by its seq.
    Arrival(Seq),
    /// Entries of a scheduled event, by its place.
    Event(EventNo),
    /// Messages of a closing, by its seq.
    Closing(Seq),
}

/// The tag of the keys of scheduled events.
const OF_EVENT: u8 = 1;

fn ends_key(bucket: BucketNo, of: EndSubject) -> Key {
    let (tag, number) = match of {
        EndSubject::Arrival(seq) => (0, seq.0),
        EndSubject::Event(place) => (OF_EVENT, place.0),
        EndSubject::Closing(seq) => (2, seq.0),
    };
    Key::of(Owner::Bucket(bucket), Table::Ends).bytes(&[tag]).u64(number)
}

/// Records the ends that a journal record describes.
pub(crate) fn note_ends(
    draft: &mut Draft<'_>,
    bucket: BucketNo,
    day: Day,
    seq: Seq,
    record: &Record,
) {
    let mut note = |of| {
        let key = ends_key(bucket, of).seq(seq).done();
        draft.put(Partition::Day(day), key, Vec::new());
    };
    match record {
        Record::Cut { items, .. } => {
            items.iter().for_each(|item| note(EndSubject::Arrival(item.seq)));
        }
        Record::InboxDelivered { except, .. } => {
            except.iter().for_each(|(seq, ..)| note(EndSubject::Arrival(*seq)));
        }
        Record::Dropped { place, .. } | Record::NeverEntered { place, .. } => {
            note(EndSubject::Event(*place));
        }
        Record::Outcome { closing, .. } => note(EndSubject::Closing(*closing)),
        Record::Reopened(again) => note(EndSubject::Closing(again.closing)),
        _ => {}
    }
}

/// The records of these days that describe an end.
pub(crate) fn ends(
    view: &dyn ReadView,
    bucket: BucketNo,
    of: EndSubject,
    days: impl Iterator<Item = Day>,
) -> Result<Vec<Record>, Unreadable> {
    let mut records = Vec::new();
    for day in days {
        for seq in seqs_of_ends(view, bucket, of, day, Seq(0))? {
            records.push(journal_record(view, bucket, day, seq)?);
        }
    }
    Ok(records)
}

/// The seqs of the records of a day that describe an end, from one on.
fn seqs_of_ends(
    view: &dyn ReadView,
    bucket: BucketNo,
    of: EndSubject,
    day: Day,
    from: Seq,
) -> Result<Vec<Seq>, Unreadable> {
    let prefix = ends_key(bucket, of).done();
    let from = ends_key(bucket, of).seq(from).done();
    let mut seqs = Vec::new();
    each_from(view, Partition::Day(day), &prefix, &from, |key, _| {
        let seq = seq_at(key, REST + 9);
        seqs.push(seq.ok_or_else(|| Unreadable("the key of an end is odd".to_owned()))?);
        Ok(())
    })?;
    Ok(seqs)
}

/// The places of scheduled events of which entries of a recipient ended on a day before they entered a lane.
pub(crate) fn ended_ahead(
    view: &dyn ReadView,
    bucket: BucketNo,
    day: Day,
    number: RecipientNo,
) -> Result<Vec<EventNo>, Unreadable> {
    let prefix = Key::of(Owner::Bucket(bucket), Table::Ends).bytes(&[OF_EVENT]).done();
    let mut seqs = BTreeSet::new();
    each(view, Partition::Day(day), &prefix, |key, _| {
        let seq = seq_at(key, REST + 9);
        seqs.insert(seq.ok_or_else(|| Unreadable("the key of an end is odd".to_owned()))?);
        Ok(())
    })?;
    let mut places = Vec::new();
    for seq in seqs {
        if let Record::Dropped { place, items, .. } | Record::NeverEntered { place, items, .. } =
            journal_record(view, bucket, day, seq)?
            && items.iter().any(|(_, _, recipients)| recipients.contains(number.0))
        {
            places.push(place);
        }
    }
    Ok(places)
}

fn journal_record(
    view: &dyn ReadView,
    bucket: BucketNo,
    day: Day,
    seq: Seq,
) -> Result<Record, Unreadable> {
    let bytes = view
        .get(Partition::Day(day), &journal_key(bucket, seq))?
        .ok_or_else(|| Unreadable(format!("record {seq} of bucket {bucket} is missing")))?;
    decode("a record", &bytes)
}

/// The newest endings of the messages of one closing.
///
/// A closing of many recipients has as many records, and more once its messages go again. So each record is read once: an
/// update reads those since the one before.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClosingEndings {
    /// The closing; `None` = none was read.
    closing: Option<ClosingId>,
    /// The seq after the last record that was read.
    next: Seq,
    newest: FxHashMap<RecipientNo, (Instant, Ending)>,
}

impl ClosingEndings {
    /// Reads those of a closing from the records of some days, in their order.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn read(
        view: &dyn ReadView,
        closing: ClosingId,
        days: impl Iterator<Item = Day>,
    ) -> Result<Self, Unreadable> {
        let mut endings = Self::default();
        endings.update(view, closing, days)?;
        Ok(endings)
    }

    /// Reads the records since the last update, or all if that was of another closing.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn update(
        &mut self,
        view: &dyn ReadView,
        closing: ClosingId,
        days: impl Iterator<Item = Day>,
    ) -> Result<(), Unreadable> {
        if self.closing != Some(closing) {
            *self = Self { closing: Some(closing), ..Self::default() };
        }
        let subject = EndSubject::Closing(closing.seq);
        for day in days {
            for seq in seqs_of_ends(view, closing.bucket, subject, day, self.next)? {
                self.add(journal_record(view, closing.bucket, day, seq)?);
                self.next = Seq(seq.0 + 1);
            }
        }
        Ok(())
    }

    fn add(&mut self, record: Record) {
        match record {
            Record::Outcome { at, recipients, ending, .. } => {
                let of = |number| (RecipientNo(number), (at, ending));
                self.newest.extend(recipients.iter().map(of));
            }
            Record::Reopened(again) => drop(self.newest.remove(&again.number)),
            _ => {}
        }
    }

    /// The ending of a recipient's message, and its instant; `None` = it has none, or goes again.
    pub(crate) fn get(&self, number: RecipientNo) -> Option<(Instant, Ending)> {
        self.newest.get(&number).copied()
    }
}

/// The recipients whose entries of an arrival a record ends, and the reason; none = they move to another
/// lane.
pub(crate) fn ended_by(
    record: &Record,
    seq: Seq,
    channel: ChannelNo,
) -> Vec<(Option<Reason>, &RoaringBitmap)> {
    match record {
        Record::Cut { why, items, .. } => items
            .iter()
            .filter(|item| item.seq == seq && item.channel == channel)
            .map(|item| (*why, &item.recipients.0))
            .collect(),
        Record::InboxDelivered { except, .. } if channel == INBOX_NO => except
            .iter()
            .filter(|(of, ..)| *of == seq)
            .map(|(_, reason, recipients)| (Some(*reason), &recipients.0))
            .collect(),
        _ => Vec::new(),
    }
}
