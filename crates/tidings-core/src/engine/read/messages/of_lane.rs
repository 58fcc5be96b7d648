//! The messages that contain entries of an arrival in a lane.
//!
//! The rows of messages are in the order of recipients, so many recipients are found in one walk over a day. Where those
//! who are wanted are few among others the walk seeks from one to the next.

use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use crate::engine::message::message_row::MessageRow;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Key, Owner, Partition, REST, Table, after_prefix, seq_at, u32_at};
use crate::model::batch_key::LaneKey;
use crate::model::id::BucketNo;
use crate::model::number::{RecipientNo, Seq};
use crate::model::time::Day;

/// Number of rows in a row that a walk passes over before it seeks: a seek costs as much as some dozens of rows.
const PASSED_OVER_MAX: usize = 32;

/// Entries of an arrival in a lane.
#[derive(Clone, Copy)]
pub(crate) struct LaneEntries<'a> {
    pub(crate) bucket: BucketNo,
    pub(crate) seq: Seq,
    pub(crate) lane: &'a LaneKey,
}

/// The message that contains an entry.
pub(crate) struct EntryMessage {
    pub(crate) number: RecipientNo,
    pub(crate) closing: Seq,
    pub(crate) row: MessageRow,
}

impl LaneEntries<'_> {
    /// The message of one recipient that contains one of these entries, on some days.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read, or there is no such message.
    pub(crate) fn message_of(
        &self,
        view: &dyn ReadView,
        days: &[Day],
        number: RecipientNo,
    ) -> Result<EntryMessage, Unreadable> {
        let mut found = self.messages(view, days, &RoaringBitmap::from_iter([number.0]))?;
        found.pop().ok_or_else(|| self.missing(number.0))
    }

    /// The messages of some recipients that contain these entries, on some days. The recipients must have one each.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read, or a recipient has no such message.
    pub(crate) fn messages(
        &self,
        view: &dyn ReadView,
        days: &[Day],
        recipients: &RoaringBitmap,
    ) -> Result<Vec<EntryMessage>, Unreadable> {
        let mut rest = recipients.clone();
        let mut found = Vec::new();
        for day in days {
            if rest.is_empty() {
                break;
            }
            self.add_messages_of(view, *day, &mut rest, &mut found)?;
        }
        rest.min().map_or(Ok(found), |number| Err(self.missing(number)))
    }

    fn missing(&self, number: u32) -> Unreadable {
        let Self { bucket, seq, .. } = self;
        Unreadable(format!("no message contains entry {seq} of recipient {number} in {bucket}"))
    }

    /// Moves the recipients with a message of this day from `rest` to `found`.
    fn add_messages_of(
        &self,
        view: &dyn ReadView,
        day: Day,
        rest: &mut RoaringBitmap,
        found: &mut Vec<EntryMessage>,
    ) -> Result<(), Unreadable> {
        let partition = Partition::Day(day);
        let of = |number| Key::of(Owner::Bucket(self.bucket), Table::Messages).u32(number).done();
        let until = rest.max().and_then(|last| after_prefix(&of(last)));
        let mut next = rest.min();
        while let Some(first) = next.take() {
            let (mut passed_over, mut fault) = (0, Ok(()));
            view.scan(partition, &of(first), until.as_deref(), &mut |key, value| {
                let number = u32_at(key, REST).unwrap_or_default();
                if !rest.contains(number) {
                    passed_over += 1;
                    if passed_over < PASSED_OVER_MAX {
                        return ControlFlow::Continue(());
                    }
                    next = rest.range(number..).next();
                    return ControlFlow::Break(());
                }
                passed_over = 0;
                match self.message_in(view, partition, key, value) {
                    Ok(None) => ControlFlow::Continue(()),
                    Ok(Some((closing, row))) => {
                        rest.remove(number);
                        found.push(EntryMessage { number: RecipientNo(number), closing, row });
                        ControlFlow::Continue(())
                    }
                    Err(unreadable) => {
                        fault = Err(unreadable);
                        ControlFlow::Break(())
                    }
                }
            })?;
            fault?;
        }
        Ok(())
    }

    /// The closing and the message of a row, if it contains one of these entries.
    fn message_in(
        &self,
        view: &dyn ReadView,
        partition: Partition,
        key: &[u8],
        value: &[u8],
    ) -> Result<Option<(Seq, MessageRow)>, Unreadable> {
        let closing = seq_at(key, REST + 4).unwrap_or_default();
        if closing < self.seq {
            return Ok(None);
        }
        let row = MessageRow::read(view, partition, key, value)?;
        let (entries, ended) = row.seqs(closing);
        let has = entries.contains(&self.seq) || ended.iter().any(|(of, _)| *of == self.seq);
        Ok((has && row.lane == *self.lane).then_some((closing, row)))
    }
}
