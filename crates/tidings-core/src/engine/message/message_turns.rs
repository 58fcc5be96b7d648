//! The occurrences of messages for hooks: recipient, address and content.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::engine::intake::state::Intake;
use crate::engine::message::message_row::MessageRow;
use crate::engine::message::sent::Sent;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::occurred::wants;
use crate::engine::send_checks::addresses::TenantChannel;
use crate::engine::shard::state::Shard;
use crate::index::{Found, SearchFilter};
use crate::journal::stored::Unreadable;
use crate::model::batch_key::LaneKey;
use crate::model::id::Id;
use crate::model::messages::{Answered, Attempt, MessageName};
use crate::model::number::{ClosingId, RecipientNo, Seq};
use crate::model::occurrence::{
    MessageOccurrence, MessageTurn, Occurrence, OccurrenceKind, OccurrenceOwner,
};
use crate::model::reason::{Ending, Outcome};
use crate::model::recipient::Recipient;
use crate::model::suppression::ChannelAddress;

/// Types and events of a message.
type MessageContent = (BTreeSet<Id>, Vec<Id>);

/// The occurrence of a message that ends so; `None` = none.
fn turn_of(ending: Ending) -> Option<MessageTurn> {
    match ending.outcome() {
        Outcome::Delivered => Some(MessageTurn::Sent),
        Outcome::Failed => Some(MessageTurn::Failed(ending.reason())),
        _ => None,
    }
}

/// The occurrences of messages of a closing, which a step adds.
pub(super) struct MessageOccurrences<'a, 'd> {
    pub(super) shard: &'a Shard,
    pub(super) intake: &'a Intake,
    pub(super) draft: &'a mut Draft<'d>,
    pub(super) closing: ClosingId,
}

impl MessageOccurrences<'_, '_> {
    /// Records the occurrences of messages that end now, before their end is folded in.
    pub(super) fn note_sent(
        &mut self,
        sent: &[Sent],
        providers: &BTreeMap<RecipientNo, Arc<str>>,
    ) -> Result<(), Unreadable> {
        let (shard, closing) = (self.shard, self.closing);
        let sends = wants(shard.rules(), OccurrenceKind::MessageSent);
        let fails = wants(shard.rules(), OccurrenceKind::MessageFailed);
        let bucket = &shard.buckets[closing.bucket];
        let Some(open) = bucket.closings.get(&closing.seq).filter(|_| sends || fails) else {
            return Ok(());
        };
        let mut seen = BTreeSet::new();
        let turns = sent.iter().filter_map(|sent| {
            // An outcome that comes twice counts once, as it does in the books.
            if !open.sending.contains(sent.number.0) || !seen.insert(sent.number) {
                return None;
            }
            // The copy of a delivered message may fail: the message stays sent.
            let was_delivered = open.tried.get(&sent.number.0).is_some_and(|known| known.delivered);
            let turn = turn_of(sent.ending).filter(|turn| match turn {
                MessageTurn::Sent => sends,
                _ => fails && !was_delivered,
            })?;
            Some((sent, turn))
        });
        let turns: Vec<_> = turns.collect();
        let seqs = turns.iter().map(|(sent, _)| (sent.number.0, &*sent.seqs)).collect();
        let mut contents = self.contents(&seqs)?;
        for (Sent { number, .. }, turn) in turns {
            let Some(profile) = bucket.roster.profile(*number) else {
                // Hooks learn nothing of recipients who were erased.
                continue;
            };
            let name = MessageName { due: open.at.day(), id: closing.message(*number) };
            let content = contents.remove(&number.0).unwrap_or_default();
            let mut occurrence = self.occurrence(profile, name, &open.lane, turn, content);
            occurrence.provider = providers.get(number).map(|provider| provider.to_string());
            self.add(occurrence);
        }
        Ok(())
    }

    /// Records the occurrence of a report about a message that was handed over.
    pub(super) fn note_reported(
        &mut self,
        name: MessageName,
        row: &MessageRow,
        report: &Attempt,
    ) -> Result<(), Unreadable> {
        let (turn, kind) = match report.answer {
            Answered::Bounced => (MessageTurn::Bounced, OccurrenceKind::MessageBounced),
            Answered::Complained => (MessageTurn::Complained, OccurrenceKind::MessageComplained),
            _ => return Ok(()),
        };
        let (shard, closing, number) = (self.shard, self.closing, name.id.number);
        let bucket = &shard.buckets[closing.bucket];
        let profile = bucket.roster.profile(number).filter(|_| wants(shard.rules(), kind));
        let Some(profile) = profile else {
            return Ok(());
        };
        let seqs = row.entries(closing.seq);
        let all = FxHashMap::from_iter([(number.0, &*seqs)]);
        let content = self.contents(&all)?.remove(&number.0).unwrap_or_default();
        let mut occurrence = self.occurrence(profile, name, &row.lane, turn, content);
        occurrence.provider = Some(report.provider.clone());
        occurrence.words.clone_from(&report.reply);
        self.add(occurrence);
        Ok(())
    }

    fn add(&mut self, occurrence: MessageOccurrence) {
        let owner = OccurrenceOwner::Bucket(self.closing.bucket);
        self.draft.occur(owner, Occurrence::Message(occurrence.into()));
    }

    /// The occurrence of a message, without a provider and its words.
    fn occurrence(
        &self,
        profile: &Recipient,
        message: MessageName,
        lane: &LaneKey,
        turn: MessageTurn,
        (types, events): MessageContent,
    ) -> MessageOccurrence {
        let intake = self.intake;
        let channel = intake.compiled.names.lane(lane.lane).channel;
        let is_good = |text: &&str| {
            let address = ChannelAddress::new(channel, text);
            intake.suppressions.of(&address, intake.now).is_none()
        };
        let way = TenantChannel { channel, tenant: lane.tenant };
        let mut addresses = way.addresses(intake, profile);
        let first = way.addresses(intake, profile).next();
        MessageOccurrence {
            turn,
            message,
            recipient: profile.id.clone(),
            channel,
            tenant: intake.tenants.id(lane.tenant).cloned(),
            address: addresses.find(is_good).or(first).map(str::to_owned),
            types: types.into_iter().collect(),
            events,
            provider: None,
            words: String::new(),
        }
    }

    /// The types and the events of entries, by the recipient's number in the bucket.
    fn contents(
        &self,
        seqs: &FxHashMap<u32, &[Seq]>,
    ) -> Result<BTreeMap<u32, MessageContent>, Unreadable> {
        let all = || seqs.values().flat_map(|seqs| seqs.iter().copied());
        let (Some(from), Some(to)) = (all().min(), all().max()) else {
            return Ok(BTreeMap::new());
        };
        let look = SearchFilter {
            from,
            to,
            recipients: &seqs.keys().copied().collect(),
            takes: &|_, _| true,
            has: &|number, kept| seqs.get(&number).is_some_and(|seqs| seqs.contains(&kept.seq)),
        };
        let (intake, draft) = (self.intake, &*self.draft);
        let bucket = &self.shard.buckets[self.closing.bucket];
        let mut found: Found = bucket.index.look(draft.view, &look)?;
        found.sort();
        let mut contents: BTreeMap<u32, MessageContent> = BTreeMap::new();
        let mut headers: FxHashMap<u32, (Id, Id)> = FxHashMap::default();
        for entry in &found.entries {
            let arrival = &found.source(entry.source).0.arrival;
            let (event, of_type) = match headers.get(&entry.source) {
                Some(known) => known.clone(),
                None => {
                    let ids =
                        intake.with_header(draft, arrival.at.day(), arrival.event, |header| {
                            (header.id.clone(), header.event_type.clone())
                        })?;
                    headers.entry(entry.source).or_insert(ids).clone()
                }
            };
            let (types, events) = contents.entry(entry.number).or_default();
            types.insert(of_type);
            events.push(event);
        }
        Ok(contents)
    }
}
