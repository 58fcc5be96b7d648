//! Writes to the index of messages, in the step that closes lanes, or builds, ends or sends messages again.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::message_index::{
    DueClosing, FacetRow, MessageFacet, NewClosings, newest_first, second_of, tagged, unsent_tag,
};
use super::plan::{Plan, PlannedMessage};
use super::standing::MessageStanding;
use crate::engine::rows::draft::Draft;
use crate::engine::shard::state::Shard;
use crate::journal::stored::{Unreadable, decode, encode};
use crate::journal::table::{Partition, Table};
use crate::model::channel::ChannelNo;
use crate::model::messages::MessageState;
use crate::model::number::{ClosingId, MessageId, TypeNo};
use crate::model::reason::{Ending, Reason};
use crate::model::time::{Day, Instant};
use crate::sets::set::Set;

/// The most closings of a row.
const CLOSINGS_MAX: usize = 4096;

/// The most messages of a second that a row names; of more it says that there are many.
const NAMED_MAX: usize = 64;

/// The writer of the rows of a shard in the index of messages.
pub(crate) struct MessageIndexWriter<'a, 'd> {
    /// The number of the shard.
    shard: u16,
    /// Days before this one are deleted, and get no rows.
    forgotten_before: Option<Day>,
    days_to_compact: &'a mut BTreeSet<Day>,
    draft: &'a mut Draft<'d>,
}

/// The messages of a closing that were not handed over, and why not.
struct UnsentMessages {
    due: Instant,
    closing: ClosingId,
    state: MessageState,
    reason: Option<Reason>,
}

impl UnsentMessages {
    fn key(&self, shard: u16) -> Vec<u8> {
        let key = tagged(Table::Unsent, shard, &unsent_tag(self.state, self.reason));
        let ClosingId { bucket, seq } = self.closing;
        key.bytes(&newest_first(self.due)).u16(bucket.0).seq(seq).done()
    }
}

impl<'a, 'd> MessageIndexWriter<'a, 'd> {
    /// The writer of a shard's rows.
    pub(crate) fn of(shard: &'a mut Shard, draft: &'a mut Draft<'d>) -> Self {
        let Shard { no, forgotten_before, days_to_compact, .. } = shard;
        Self { shard: *no, forgotten_before: *forgotten_before, days_to_compact, draft }
    }

    /// Writes the rows of the closings of a step.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn closings(&mut self, closings: NewClosings) -> Result<(), Unreadable> {
        let mut rows: BTreeMap<(Instant, ChannelNo), Vec<DueClosing>> = BTreeMap::new();
        for (at, channel, tenant, closing) in closings.0 {
            rows.entry((at, channel)).or_default().push(closing);
            if let Some(tenant) = tenant {
                let id = ClosingId { bucket: closing.bucket, seq: closing.seq };
                // Without a number of its own: of many recipients the second has many messages.
                let of = closing.only.map(|number| id.message(number));
                self.put_facet(MessageFacet::Tenant(tenant), at, of.as_slice(), of.is_none())?;
            }
        }
        for ((at, channel), closings) in rows {
            for closings in closings.chunks(CLOSINGS_MAX) {
                let DueClosing { bucket, seq, .. } = closings[0];
                let key = tagged(Table::DueClosings, self.shard, &[channel.0]);
                // The first closing makes the key one of its own: an instant may have several steps.
                let key = key.bytes(&newest_first(at)).u16(bucket.0).seq(seq).done();
                self.draft.put(Partition::Day(at.day()), key, encode(&closings));
            }
        }
        Ok(())
    }

    /// Indexes messages that were built: by the types of their entries, and those without content.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn made(
        &mut self,
        plan: &Plan,
        planned: &[&PlannedMessage],
    ) -> Result<(), Unreadable> {
        let mut types: BTreeMap<TypeNo, Vec<MessageId>> = BTreeMap::new();
        let mut unsent: BTreeMap<Reason, RoaringBitmap> = BTreeMap::new();
        for planned in planned {
            let ended = planned.ended.iter().map(|(source, _)| source);
            let sources = planned.entries.iter().chain(ended);
            for source in sources {
                let messages = types.entry(plan.found.source(*source).0.arrival.type_no);
                let (messages, id) = (messages.or_default(), plan.closing.message(planned.number));
                if messages.last() != Some(&id) {
                    messages.push(id);
                }
            }
            if let Some((_, reason)) = planned.ended.first().filter(|_| planned.is_empty()) {
                unsent.entry(*reason).or_default().insert(planned.number.0);
            }
        }
        for (type_no, messages) in types {
            self.put_facet(MessageFacet::Type(type_no), plan.at, &messages, false)?;
        }
        for (reason, recipients) in unsent {
            let (state, reason) = (MessageState::Suppressed, Some(reason));
            let unsent = UnsentMessages { due: plan.at, closing: plan.closing, state, reason };
            self.put_unsent(&unsent, &recipients)?;
        }
        Ok(())
    }

    /// Indexes messages that have an outcome.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn ended(
        &mut self,
        closing: ClosingId,
        due: Instant,
        ending: Ending,
        recipients: &RoaringBitmap,
    ) -> Result<(), Unreadable> {
        let MessageStanding { state, reason, .. } = MessageStanding::ended(due, ending);
        if state == MessageState::Sent {
            return Ok(());
        }
        self.put_unsent(&UnsentMessages { due, closing, state, reason }, recipients)
    }

    /// Indexes built messages of which all entries were taken out.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn withdrawn(
        &mut self,
        closing: ClosingId,
        due: Instant,
        why: Reason,
        recipients: &RoaringBitmap,
    ) -> Result<(), Unreadable> {
        let (state, reason) = (MessageState::Cancelled, Some(why));
        self.put_unsent(&UnsentMessages { due, closing, state, reason }, recipients)
    }

    /// Takes a message that goes again out of those that were not handed over.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn reopened(
        &mut self,
        message: MessageId,
        due: Instant,
        ending: Ending,
    ) -> Result<(), Unreadable> {
        let MessageStanding { state, reason, .. } = MessageStanding::ended(due, ending);
        let unsent = UnsentMessages { due, closing: message.closing, state, reason };
        let (key, partition) = (unsent.key(self.shard), Partition::Day(due.day()));
        // A row that another division of the shards wrote stays; the list asks each message for its state.
        let Some(bytes) = self.draft.get_chunked(partition, &key)? else {
            return Ok(());
        };
        let mut known: Set = decode("messages that were not handed over", &bytes)?;
        known.remove(message.number.0);
        if known.is_empty() {
            return self.draft.delete_chunked(partition, key);
        }
        self.draft.put_chunked(partition, key, &encode(&known));
        self.days_to_compact.insert(due.day());
        Ok(())
    }

    /// Indexes messages of a closing by a provider that answered.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn attempts(
        &mut self,
        due: Instant,
        attempts: &BTreeMap<&str, Vec<MessageId>>,
    ) -> Result<(), Unreadable> {
        for (provider, messages) in attempts {
            self.put_facet(MessageFacet::provider(provider), due, messages, false)?;
        }
        Ok(())
    }

    /// Indexes messages that are known not to have been handed over.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(super) fn unsent(
        &mut self,
        closing: ClosingId,
        due: Instant,
        standing: MessageStanding,
        recipients: &RoaringBitmap,
    ) -> Result<(), Unreadable> {
        let MessageStanding { state, reason, .. } = standing;
        self.put_unsent(&UnsentMessages { due, closing, state, reason }, recipients)
    }

    fn put_unsent(
        &mut self,
        unsent: &UnsentMessages,
        recipients: &RoaringBitmap,
    ) -> Result<(), Unreadable> {
        let day = unsent.due.day();
        if self.is_forgotten(day) {
            return Ok(());
        }
        let (key, partition) = (unsent.key(self.shard), Partition::Day(day));
        let known = self.draft.get_chunked(partition, &key)?;
        let mut all: Set = match known {
            Some(bytes) => decode("messages that were not handed over", &bytes)?,
            None => Set::default(),
        };
        all.0 |= recipients;
        self.draft.put_chunked(partition, key, &encode(&all));
        self.days_to_compact.insert(day);
        Ok(())
    }

    /// Notes that messages that were due at an instant have something in common. `are_many` = they need not be named.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(super) fn put_facet(
        &mut self,
        facet: MessageFacet,
        due: Instant,
        messages: &[MessageId],
        are_many: bool,
    ) -> Result<(), Unreadable> {
        if self.is_forgotten(due.day()) {
            return Ok(());
        }
        let key = tagged(Table::MessageFacets, self.shard, &facet.tag());
        let key = key.bytes(&newest_first(second_of(due))).done();
        let partition = Partition::Day(due.day());
        let known = match self.draft.get(partition, &key)? {
            Some(bytes) => decode("messages of a second", &bytes)?,
            None => FacetRow::Named(Vec::new()),
        };
        let FacetRow::Named(mut named) = known else {
            return Ok(());
        };
        let fresh: Vec<_> = messages.iter().map(|id| (due, *id)).collect();
        named.extend(fresh.into_iter().filter(|of| !named.contains(of)).collect::<Vec<_>>());
        let now = if are_many || named.len() > NAMED_MAX {
            FacetRow::Many
        } else {
            FacetRow::Named(named)
        };
        self.draft.put(partition, key, encode(&now));
        self.days_to_compact.insert(due.day());
        Ok(())
    }

    fn is_forgotten(&self, day: Day) -> bool {
        self.forgotten_before.is_some_and(|before| day < before)
    }
}
