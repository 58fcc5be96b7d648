//! The stored entries of an event, each with its fate.

use std::collections::BTreeSet;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::look::rule_of;
use crate::bucket::FrozenRecipients;
use crate::engine::explain::{ExplainQuestion, begin, end, ended};
use crate::engine::read::messages::of_lane::{EntryMessage, LaneEntries};
use crate::engine::read::view::MessageAt;
use crate::engine::rows::ends::{EndSubject, ended_by, ends};
use crate::engine::rows::named::scheduled_key;
use crate::engine::shard::messages::stored_ends;
use crate::journal::record::{Arrival, Origin, Record};
use crate::journal::stored::{StoredArrival, Unreadable};
use crate::journal::table::{Owner, Partition};
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::explanation::{ChannelPath, EntryState, ExplanationStep, Rule};
use crate::model::number::{LaneNo, Seq};
use crate::model::reason::{Ending, Outcome, Reason};
use crate::model::time::Instant;

/// The stored entries of an event for a recipient.
#[derive(Default)]
pub(super) struct StoredEntries {
    /// The arrivals with the recipient's variant, by seq.
    arrivals: Vec<(Arc<StoredArrival>, u32)>,
    /// The entries that ended before they entered a lane.
    dropped: Vec<(ChannelNo, Reason, Instant)>,
    /// The entries that enter a lane later: instant, channels, reasons.
    scheduled: Vec<(Instant, Vec<ChannelNo>, Vec<String>)>,
}

impl StoredEntries {
    /// The reasons for which the recipient was reached; `None` = there is no entry.
    pub(super) fn reasons(&self) -> Option<Vec<String>> {
        let of_arrival = |(kept, variant): &(Arc<StoredArrival>, u32)| {
            let arrival = &kept.arrival;
            arrival.variants[*variant as usize]
                .reasons
                .iter()
                .filter_map(|at| arrival.reasons.get(usize::from(*at)))
                .cloned()
                .collect()
        };
        let entered = self.arrivals.first().map(of_arrival);
        let scheduled = || self.scheduled.first().map(|(.., words)| words.clone());
        let dropped = || {
            let reasons = "reasons that are not kept".to_owned();
            (!self.dropped.is_empty()).then(|| vec![reasons])
        };
        entered.or_else(scheduled).or_else(dropped)
    }

    /// The channels on which there are entries.
    pub(super) fn channels(&self, question: &ExplainQuestion<'_>) -> BTreeSet<ChannelNo> {
        let names = &question.shard.compiled.names;
        let entered = self.arrivals.iter().flat_map(|(kept, variant)| {
            let lanes = &kept.arrival.variants[*variant as usize].lanes;
            lanes.iter().map(|lane| names.lane(*lane).channel)
        });
        let dropped = self.dropped.iter().map(|(channel, ..)| *channel);
        let scheduled = self.scheduled.iter().flat_map(|(_, channels, _)| channels.iter().copied());
        entered.chain(dropped).chain(scheduled).collect()
    }

    /// Returns true if there are entries on a channel.
    pub(super) fn has(&self, question: &ExplainQuestion<'_>, channel: ChannelNo) -> bool {
        self.channels(question).contains(&channel)
    }
}

impl ExplainQuestion<'_> {
    /// Collects the stored entries.
    pub(super) fn entries(&self) -> Result<StoredEntries, Unreadable> {
        let (view, place) = (self.draft.view, self.event.row.place);
        let mut entries = StoredEntries::default();
        for t in &self.event.instants {
            let key = scheduled_key(Owner::Bucket(self.bucket.no), *t, place);
            let Some(bytes) = view.get(Partition::Base, &key)? else {
                continue;
            };
            let frozen = FrozenRecipients::read(view, &key, &bytes)?;
            for subset in frozen.subsets {
                if subset.recipients.contains(self.number.0) {
                    let words = subset
                        .reasons
                        .iter()
                        .filter_map(|at| frozen.words.get(usize::from(*at)))
                        .cloned()
                        .collect();
                    entries.scheduled.push((*t, subset.channels, words));
                }
            }
        }
        let days = self.event.journal_days.iter().copied();
        for record in ends(view, self.bucket.no, EndSubject::Event(place), days)? {
            if let Record::Dropped { at, items, .. } | Record::NeverEntered { at, items, .. } =
                record
            {
                let own = items
                    .into_iter()
                    .filter(|(.., recipients)| recipients.contains(self.number.0))
                    .map(|(channel, reason, _)| (channel, reason, at));
                entries.dropped.extend(own);
            }
        }
        for kept in self.bucket.index.arrivals_of(view, place, &self.event.days)? {
            let sets = self.bucket.sets_of(view, &kept)?;
            let own = (0..).zip(&sets).find(|(_, recipients)| recipients.contains(self.number.0));
            if let Some((variant, _)) = own {
                entries.arrivals.push((kept, variant));
            }
        }
        entries.arrivals.sort_by_key(|(kept, _)| kept.seq);
        Ok(entries)
    }

    /// The path of the stored entries on a channel.
    pub(super) fn history(
        &self,
        entries: &StoredEntries,
        channel: ChannelNo,
    ) -> Result<ChannelPath, Unreadable> {
        let mut path = begin(channel);
        let names = &self.shard.compiled.names;
        for (kept, variant) in &entries.arrivals {
            let lanes = &kept.arrival.variants[*variant as usize].lanes;
            let lane = lanes.iter().find(|lane| names.lane(**lane).channel == channel);
            if let Some(lane) = lane {
                self.stay(kept, *variant, *lane, &mut path)?;
            }
        }
        for (_, reason, at) in entries.dropped.iter().filter(|(of, ..)| *of == channel) {
            let looked_at = match reason {
                Reason::Preference => {
                    format!("{}, before it entered its lane", self.unwanted_text(channel))
                }
                _ => "before it entered its lane".to_owned(),
            };
            let step = ended(rule_of(*reason), looked_at, *reason);
            path.steps.push(step.at(*at));
            end(&mut path, reason.outcome(), Some(*reason), *at);
        }
        for (t, channels, _) in &entries.scheduled {
            if channels.contains(&channel) {
                path.steps.push(self.schedule_step(channel, *t));
                path.state = EntryState::Scheduled;
                path.at = Some(*t);
            }
        }
        Ok(path)
    }

    /// The time of an entry in one lane, up to its end, its move, or now.
    fn stay(
        &self,
        kept: &Arc<StoredArrival>,
        variant: u32,
        lane_no: LaneNo,
        path: &mut ChannelPath,
    ) -> Result<(), Unreadable> {
        let (view, arrival) = (self.draft.view, &kept.arrival);
        let names = &self.shard.compiled.names;
        let name = names.lane(lane_no);
        let address = names.address(lane_no, &arrival.keys, arrival.tenant);
        let entered = match arrival.origin {
            Origin::Moved => "moved into it",
            Origin::First | Origin::Later => "entered it",
        };
        let lane_text =
            if name.is_inbox() { "the inbox".to_owned() } else { self.lane_text(&address) };
        path.steps.push(ExplanationStep::passes(Rule::Lane, lane_text, entered).at(arrival.at));
        (path.state, path.at) = (EntryState::Pending, None);
        for record in stored_ends(self.shard, view, self.bucket, kept)? {
            let mut of_number = ended_by(&record, kept.seq, name.channel)
                .into_iter()
                .filter(|(_, recipients)| recipients.contains(self.number.0));
            let Some((why, _)) = of_number.next() else {
                continue;
            };
            match (why, &record) {
                (Some(reason), Record::InboxDelivered { at, .. }) => {
                    self.look_steps(Some(kept), (name.channel, Some(reason)), *at, path);
                    end(path, reason.outcome(), Some(reason), *at);
                }
                (Some(reason), Record::Cut { at, .. }) => {
                    let looked_at = match reason {
                        Reason::Preference => self.unwanted_text(name.channel),
                        _ => cut_text(reason).to_owned(),
                    };
                    let step = ended(rule_of(reason), looked_at, reason);
                    path.steps.push(step.at(*at));
                    end(path, reason.outcome(), Some(reason), *at);
                }
                (None, Record::Cut { at, .. }) => {
                    let moved = "a changed preference, configuration or pause";
                    let step = ExplanationStep::passes(Rule::Preference, moved, "left the lane");
                    path.steps.push(step.at(*at));
                }
                _ => {}
            }
            return Ok(());
        }
        let recipients = RoaringBitmap::from_iter([self.number.0]);
        // No record has ended it: it waits, is shown, or is in a message.
        let pending = self.bucket.pending(kept.seq, &address, name.channel, &recipients);
        match (pending.is_empty(), name.is_inbox()) {
            (false, false) => self.waiting(kept, variant, &address, path),
            (false, true) => Ok(()),
            (true, true) => {
                self.look_steps(Some(kept), (name.channel, None), arrival.at, path);
                let shown =
                    ExplanationStep::passes(Rule::Delivery, "the inbox", "it is in the inbox");
                path.steps.push(shown.at(arrival.at));
                path.steps.extend(self.mark_step(kept));
                end(path, Outcome::Delivered, None, arrival.at);
                Ok(())
            }
            (true, false) => self.in_message(kept, &address, path),
        }
    }

    /// An entry that waits in its lane, or whose message is not built yet.
    fn waiting(
        &self,
        kept: &Arc<StoredArrival>,
        variant: u32,
        address: &LaneKey,
        path: &mut ChannelPath,
    ) -> Result<(), Unreadable> {
        let closings = self.bucket.closings.from(&kept.seq);
        let mut closings = closings.filter(|(_, open)| {
            let since = open.unmade.get(&self.number.0);
            open.lane == *address && since.is_some_and(|since| *since <= kept.seq)
        });
        let at = match closings.next() {
            Some((_, open)) => {
                let made =
                    ExplanationStep::passes(Rule::Message, "the lane was due", "it is being made");
                path.steps.push(made.at(open.clock));
                Some(open.clock)
            }
            None => match self.bucket.lanes.get(address) {
                Some(lane) => self.due_steps(lane, address, kept.arrival.type_no, path)?,
                None => None,
            },
        };
        let look_at = at.unwrap_or(self.now).max(self.now);
        let reason = self.look(kept, variant, address, look_at)?;
        let channel = self.shard.compiled.names.lane(address.lane).channel;
        self.look_steps(Some(kept), (channel, reason), look_at, path);
        path.at = at;
        Ok(())
    }

    /// An entry whose message is built.
    fn in_message(
        &self,
        kept: &StoredArrival,
        address: &LaneKey,
        path: &mut ChannelPath,
    ) -> Result<(), Unreadable> {
        let seq = kept.seq;
        let (view, days) = (self.draft.view, &self.event.journal_days);
        let entries = LaneEntries { bucket: self.bucket.no, seq, lane: address };
        let EntryMessage { closing, row, .. } = entries.message_of(view, days, self.number)?;
        let name = self.shard.compiled.names.lane(address.lane);
        let (shown, left_out) = row.seqs(closing);
        let reason = left_out.iter().find(|(of, _)| *of == seq);
        let reason = reason.map(|(_, reason)| *reason);
        let left_out = left_out.iter().map(|(seq, _)| *seq);
        let located = |seqs| MessageAt {
            at: row.at,
            channel: name.channel.name(),
            lane: name.name.clone(),
            key: address.key.clone(),
            tenant: address.tenant,
            entries: 0,
            bucket: self.bucket.no,
            number: self.number,
            closing,
            seqs,
        };
        let all = located(shown.iter().copied().chain(left_out).collect());
        let (window, planned) = self.engine.reader(view).message_at(&all)?;
        let entries: Vec<&Arrival> =
            planned.entries.iter().map(|source| &window.found.source(*source).0.arrival).collect();
        self.was_due_steps(address, row.at, &entries, path)?;
        self.look_steps(Some(kept), (name.channel, reason), row.at, path);
        if let Some(reason) = reason {
            end(path, reason.outcome(), Some(reason), row.at);
            return Ok(());
        }
        let (plan, planned) = self.engine.reader(view).message_at(&located(shown))?;
        if let Some(message) = self.engine.message(&plan, &planned) {
            let id = crate::engine::message::present::batch_id(&message);
            let count = match message.items.len() {
                1 => "with this entry alone".to_owned(),
                count => format!("with {count} entries"),
            };
            let step = ExplanationStep::passes(Rule::Message, id, format!("carries it, {count}"));
            path.steps.push(step.at(row.at));
        }
        self.delivery(closing, path)
    }

    /// The outcome of a message.
    fn delivery(&self, closing: Seq, path: &mut ChannelPath) -> Result<(), Unreadable> {
        let open = self.bucket.closings.get(&closing);
        if let Some(open) = open.filter(|open| open.sending.contains(self.number.0)) {
            path.state = EntryState::Sending;
            let (tried, result) = match open.tried.get(&self.number.0) {
                None => ("no attempt that failed".to_owned(), "it is being sent"),
                Some(attempts) if attempts.count == 0 => {
                    ("an operator resent it".to_owned(), "it is being sent")
                }
                Some(attempts) => {
                    path.at = Some(attempts.until);
                    (format!("{} attempts failed", attempts.count), "it is tried again")
                }
            };
            let step = ExplanationStep::passes(Rule::Delivery, tried, result);
            path.steps.push(match path.at {
                Some(at) => step.at(at),
                None => step,
            });
            return Ok(());
        }
        let days = self.event.journal_days.iter().copied();
        for record in ends(self.draft.view, self.bucket.no, EndSubject::Closing(closing), days)? {
            if let Record::Reopened(again) = &record
                && again.number == self.number
            {
                let step = ExplanationStep::passes(Rule::Delivery, "an operator", "resent it");
                path.steps.push(step.at(again.at));
            }
            let Record::Outcome { at, recipients, ending, .. } = record else {
                continue;
            };
            if recipients.contains(self.number.0) {
                let result = ending.outcome().word();
                let looked_at = ending_text(ending);
                let step = match ending {
                    Ending::Delivered => ExplanationStep::passes(Rule::Delivery, looked_at, result),
                    _ => ExplanationStep::ends(Rule::Delivery, looked_at, result),
                };
                path.steps.push(step.at(at));
                end(path, ending.outcome(), ending.reason(), at);
            }
        }
        Ok(())
    }
}

/// The act that ended entries for a reason.
fn cut_text(reason: Reason) -> &'static str {
    match reason {
        Reason::Event => "the event was cancelled",
        Reason::Replaced => "a later event took its place",
        Reason::Message => "an operator cancelled the message",
        Reason::RecipientGone => "the recipient was erased",
        Reason::Expired | Reason::Forgotten => "its day was forgotten",
        _ => "what waited was looked at",
    }
}

fn ending_text(ending: Ending) -> &'static str {
    match ending {
        Ending::Delivered => "the channel took it",
        Ending::Refused => "the channel refused it",
        Ending::Unreachable => "the channel was not reached",
        Ending::Unknown => "the channel did not say whether it took it",
        Ending::RecipientGone => "the recipient was erased",
        Ending::Forgotten => "its day was forgotten",
        Ending::Template => "a template failed, no provider was asked",
    }
}
