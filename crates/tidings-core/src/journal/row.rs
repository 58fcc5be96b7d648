//! Rows of the journal: consecutive records of one step share a row.
//!
//! Many events to a few recipients each give a bucket many small records in a step: for a store that merges sorted
//! tables, rows cost more than bytes. Records of an end, which are read by their seq, and records with several seqs,
//! which are rare, have rows of their own.

use std::mem::{Discriminant, discriminant};

use super::record::Record;
use super::stored::{Unreadable, body};
use crate::codec::{FORM, encode_onto};
use crate::journal::table::{Key, Owner, Table};
use crate::model::id::BucketNo;
use crate::model::number::Seq;
use crate::model::time::Day;

/// The number of bytes at which a row is full.
const ROW_BYTES: usize = 32 << 10;

/// A row under construction: records of a kind.
#[derive(Debug)]
pub(crate) struct JournalRowWriter {
    pub(crate) day: Day,
    /// The seq of its first record, under which it is stored.
    pub(crate) first: Seq,
    /// The seq of the next record that it can hold.
    next: Seq,
    kind: Discriminant<Record>,
    /// True if it holds profiles and memberships, which come one after the other.
    of_people: bool,
    pub(crate) bytes: Vec<u8>,
}

impl JournalRowWriter {
    pub(crate) fn new(day: Day, seq: Seq, record: &Record) -> Self {
        let mut row = Self {
            day,
            first: seq,
            next: seq,
            kind: discriminant(record),
            of_people: is_of_people(record),
            bytes: vec![FORM],
        };
        row.add(record);
        row
    }

    /// Returns true if a record can be appended to this row.
    pub(crate) fn takes(&self, day: Day, seq: Seq, record: &Record) -> bool {
        let may_share = matches!(
            record,
            Record::Arrival(_)
                | Record::Profile { .. }
                | Record::Follow { .. }
                | Record::Preference { .. }
                | Record::Members { .. }
        );
        may_share
            && (self.day, self.next) == (day, seq)
            && (self.kind == discriminant(record) || self.of_people && is_of_people(record))
            && self.bytes.len() < ROW_BYTES
    }

    pub(crate) fn add(&mut self, record: &Record) {
        encode_onto(&mut self.bytes, record);
        self.next = self.next.plus(record.seqs());
    }
}

fn is_of_people(record: &Record) -> bool {
    matches!(record, Record::Profile { .. } | Record::Members { .. })
}

/// The key of a journal's row, by the seq of its first record.
pub(crate) fn journal_key(bucket: BucketNo, seq: Seq) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::Journal).seq(seq).done()
}

/// Visits the records of a row, each with its seq.
///
/// # Errors
/// The visitor's, and [`Unreadable`] where the row makes no sense.
pub(crate) fn each_record(
    first: Seq,
    row: &[u8],
    mut take: impl FnMut(Seq, Record) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    let (mut seq, mut row) = (first, body("a record", row)?);
    loop {
        let (record, rest): (Record, &[u8]) = postcard::take_from_bytes(row)
            .map_err(|fault| Unreadable::decode("a record", &fault))?;
        let seqs = record.seqs();
        take(seq, record)?;
        if rest.is_empty() {
            return Ok(());
        }
        (seq, row) = (seq.plus(seqs), rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::record::TenantTopic;
    use crate::model::number::RecipientNo;
    use crate::model::time::Instant;
    use crate::sets::set::Set;

    const DAY: Day = Day(3);

    fn follow(topic: &str) -> Record {
        let topic = TenantTopic { tenant: None, topic: topic.try_into().unwrap() };
        Record::Follow { topics: vec![(topic, Set::default())], on: true }
    }

    fn told(at: i64) -> Record {
        Record::InboxDelivered { at: Instant(at), from: Seq(1), to: Seq(2), except: Vec::new() }
    }

    #[test]
    fn records_of_a_kind_share_a_row_and_are_read_in_order() {
        let records = [follow("a"), follow("b"), follow("c")];
        let mut row = JournalRowWriter::new(DAY, Seq(7), &records[0]);
        for (seq, record) in Seq(8).and_on().zip(&records[1..]) {
            assert!(row.takes(DAY, seq, record));
            row.add(record);
        }
        let mut read = Vec::new();
        each_record(row.first, &row.bytes, |seq, record| {
            read.push((seq, record));
            Ok(())
        })
        .unwrap();
        let expected: Vec<_> = Seq(7).and_on().zip(records).collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn another_kind_another_day_or_a_gap_begins_a_row() {
        let row = JournalRowWriter::new(DAY, Seq(7), &follow("a"));
        assert!(!row.takes(DAY, Seq(8), &told(5)));
        assert!(!row.takes(Day(4), Seq(8), &follow("b")));
        assert!(!row.takes(DAY, Seq(9), &follow("b")));
    }

    #[test]
    fn t42_memberships_share_a_row_with_profiles() {
        let members = Record::Members { tenants: Vec::new(), on: true };
        let erased = Record::Erased { at: Instant(5), number: RecipientNo(0) };
        let row = JournalRowWriter::new(DAY, Seq(7), &members);
        assert!(row.takes(DAY, Seq(8), &members));
        assert!(!row.takes(DAY, Seq(8), &follow("a")) && !row.takes(DAY, Seq(8), &erased));
    }

    #[test]
    fn what_is_read_by_its_seq_stands_alone() {
        let row = JournalRowWriter::new(DAY, Seq(7), &told(5));
        assert!(!row.takes(DAY, Seq(8), &told(5)));
    }

    #[test]
    fn a_full_row_takes_no_more() {
        let mut row = JournalRowWriter::new(DAY, Seq(7), &follow("a"));
        row.bytes.resize(ROW_BYTES, 0);
        assert!(!row.takes(DAY, Seq(8), &follow("b")));
    }

    #[test]
    fn a_row_that_is_cut_short_is_unreadable() {
        let row = JournalRowWriter::new(DAY, Seq(7), &follow("a"));
        for cut in 0..row.bytes.len() {
            assert!(each_record(Seq(7), &row.bytes[..cut], |_, _| Ok(())).is_err());
        }
    }
}
