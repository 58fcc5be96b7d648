//! The messages that a job would be about: those of a filter, and what would become of them.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::engine::read::messages::{MessageFilter, MessageSummary, planned_entries};
use crate::engine::read::reader::Reader;
use crate::journal::stored::Unreadable;
use crate::model::id::BucketNo;
use crate::model::messages::jobs::{LeftAsItWas, MessageSet, MessagesOfClosing};
use crate::model::messages::{MessageAct, MessageState};
use crate::model::number::{MessageId, Seq};
use crate::model::time::Instant;
use crate::sets::set::Set;

/// The most messages that are found together.
const TOGETHER: usize = 4096;

/// The messages of a filter, with what a change would do with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BulkMessages {
    /// All of them.
    pub messages: MessageSet,
    /// Those that the change would leave as they are, by reason.
    pub left_out: BTreeMap<LeftAsItWas, u64>,
    /// Number of recipients whose messages it would change.
    pub people: u64,
    /// Number of entries of the messages that it would change.
    pub entries: u64,
    /// Number of messages that it would change.
    pub changed: u64,
}

/// A sum of pages.
#[derive(Default)]
struct Gathering {
    sets: BTreeMap<(BucketNo, Instant, Seq), Set>,
    people: BTreeMap<BucketNo, RoaringBitmap>,
    found: BulkMessages,
}

impl BulkMessages {
    /// The messages of a filter, with what a change would do with them; `None` = there are more than `most`.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn find(
        reader: Reader<'_>,
        filter: &MessageFilter,
        act: MessageAct,
        most: u64,
    ) -> Result<Option<Self>, Unreadable> {
        let (mut gathering, mut after, mut of) = (Gathering::default(), None, 0);
        loop {
            let page = reader.messages(filter, after.as_ref(), TOGETHER)?;
            of += page.rows.len() as u64;
            if of > most {
                return Ok(None);
            }
            for message in &page.rows {
                gathering.add(message, act, entries_of(reader, message)?);
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(Some(gathering.done())),
            }
        }
    }
}

fn entries_of(reader: Reader<'_>, message: &MessageSummary) -> Result<u64, Unreadable> {
    Ok(match message.entries {
        Some(entries) => entries as u64,
        None => planned_entries(reader, message.name.id)? as u64,
    })
}

impl Gathering {
    fn add(&mut self, message: &MessageSummary, act: MessageAct, entries: u64) {
        let MessageId { closing, number } = message.name.id;
        let set = self.sets.entry((closing.bucket, message.due, closing.seq));
        set.or_default().insert(number.0);
        match left_as_it_is(message, act) {
            Some(why) => *self.found.left_out.entry(why).or_default() += 1,
            None => {
                self.people.entry(closing.bucket).or_default().insert(number.0);
                self.found.entries += entries;
                self.found.changed += 1;
            }
        }
    }

    fn done(self) -> BulkMessages {
        let Self { sets, people, mut found } = self;
        let MessageSet(messages) = &mut found.messages;
        for ((bucket, due, closing), recipients) in sets {
            let of = MessagesOfClosing { due, closing, recipients };
            messages.entry(bucket).or_default().push(of);
        }
        found.people = people.values().map(RoaringBitmap::len).sum();
        found
    }
}

/// The reason why a change would leave a message as it is, by its state now.
fn left_as_it_is(message: &MessageSummary, act: MessageAct) -> Option<LeftAsItWas> {
    use MessageState::{Cancelled, Failed, Planned, Retrying, Sending, Sent, Suppressed, Unknown};
    let is_gone = message.recipient.is_none();
    match (act, message.state) {
        (MessageAct::Retry, Retrying) => None,
        (MessageAct::Retry, Failed) | (MessageAct::Resend, Sent | Unknown | Failed) => {
            is_gone.then_some(LeftAsItWas::MessageState)
        }
        (MessageAct::Cancel, Planned | Sending | Retrying) => None,
        (MessageAct::Cancel, Sent | Unknown) => Some(LeftAsItWas::TooLate),
        (MessageAct::Cancel, Failed | Suppressed | Cancelled) => Some(LeftAsItWas::NothingLeft),
        (MessageAct::Retry | MessageAct::Resend, _) => Some(LeftAsItWas::MessageState),
    }
}
