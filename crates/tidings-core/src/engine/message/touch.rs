//! The messages that a step may change or end, named before it: see [`crate::engine::Reach`].

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::acts::act::{Act, Cancel};
use crate::engine::acts::log_entry::LogEntry;
use crate::engine::jobs::slice::{JobSlice, touched_by};
use crate::engine::rows::draft::Draft;
use crate::engine::shard::admission::PendingEntries;
use crate::engine::state::Engine;
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::channel::{ChannelNo, channel_no};
use crate::model::command::Command;
use crate::model::event::Event;
use crate::model::id::Id;
use crate::model::number::{MessageId, RecipientAt, RecipientNo};
use crate::model::tenant::TenantNo;
use crate::model::time::Day;
use crate::rules::Rules;
use crate::rules::compiled::RulesVersion;

/// The work of a step, as far as it may change or end messages.
#[derive(Clone, Copy, Debug)]
pub enum UpcomingStep<'a> {
    /// These commands.
    Commands(&'a [Command]),
    /// New rules.
    Rules(&'a Rules),
    /// Days before this one are deleted.
    Forget(Day),
    /// Messages of jobs.
    Jobs(&'a [JobSlice]),
    /// Acts of another node's intake.
    LogEntry(&'a [Arc<LogEntry>]),
}

/// An engine beside the draft through which it looks for messages.
struct MessageLookup<'a> {
    engine: &'a Engine,
    draft: &'a Draft<'a>,
}

impl Engine {
    /// The messages that a step may change or end, a few too many at most: the senders must keep them
    /// back until it is durable. Their content then, if any is left, comes from [`Planner::made_again`](super::plan::Planner::made_again).
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn may_touch(
        &self,
        view: &dyn ReadView,
        upcoming: UpcomingStep<'_>,
    ) -> Result<BTreeSet<MessageId>, Unreadable> {
        let mut messages = BTreeSet::new();
        let mut open = self.shards.buckets().flat_map(|bucket| bucket.closings.values());
        if open.all(|open| open.sending.is_empty()) {
            return Ok(messages);
        }
        let touching = MessageLookup { engine: self, draft: &Draft::new(view) };
        match upcoming {
            UpcomingStep::Rules(rules) => messages.extend(touching.unwanted_under(rules)?),
            UpcomingStep::Jobs(slices) => messages.extend(touched_by(slices)),
            UpcomingStep::Forget(before) => messages.extend(touching.messages_before(before)?),
            UpcomingStep::LogEntry(logged) => {
                for act in logged.iter().flat_map(|logged| &logged.acts) {
                    messages.extend(touching.touched_by_act(act)?);
                }
            }
            UpcomingStep::Commands(commands) => {
                for command in commands {
                    messages.extend(touching.touched_by(command)?);
                }
            }
        }
        Ok(messages)
    }
}

impl MessageLookup<'_> {
    fn messages_of_recipient(&self, recipient: &Id, channel: Option<ChannelNo>) -> Vec<MessageId> {
        let found = self.engine.find(recipient).ok();
        found.map_or_else(Vec::new, |RecipientAt { bucket, number }| {
            let shard = &self.engine.shards[self.engine.shards.index_of(bucket)];
            shard.messages(self.draft).messages_to(bucket, number, channel)
        })
    }

    /// The messages with entries that are `never` under other rules.
    fn unwanted_under(&self, rules: &Rules) -> Result<Vec<MessageId>, Unreadable> {
        let mut messages = Vec::new();
        if self.engine.rules() == Some(rules) {
            return Ok(messages);
        }
        let mut names = self.engine.intake.compiled.names.clone();
        let (version, _) = RulesVersion::new(0, rules.clone(), &mut names);
        for (shard, bucket) in self.engine.shards.with_buckets() {
            let unwanted = shard.messages(self.draft).unwanted(bucket.no, None, None, &version)?;
            messages.extend(unwanted.into_iter().map(|(_, _, message)| message));
        }
        Ok(messages)
    }

    fn messages_before(&self, before: Day) -> Result<Vec<MessageId>, Unreadable> {
        let mut messages = Vec::new();
        for shard in self.engine.shards.iter() {
            messages.extend(shard.messages(self.draft).messages_before(before)?.into_keys());
        }
        Ok(messages)
    }

    /// The messages with entries of cancelled events.
    fn messages_of_events(&self, cancel: &Cancel) -> Result<Vec<MessageId>, Unreadable> {
        let mut messages = Vec::new();
        for shard in self.engine.shards.iter() {
            let events = shard.copies_in(self.draft).with_copies(cancel)?;
            for (bucket, (place, event)) in shard
                .buckets
                .iter()
                .flat_map(|bucket| events.iter().map(move |event| (bucket, event)))
            {
                for kept in bucket.index.arrivals_of(self.draft.view, *place, &event.days)? {
                    let found = bucket.sets_of(self.draft.view, &kept)?;
                    for (variant, recipients) in kept.arrival.variants.iter().zip(found) {
                        for lane in &variant.lanes {
                            let names = &shard.compiled.names;
                            let lane =
                                names.address(*lane, &kept.arrival.keys, kept.arrival.tenant);
                            messages.extend(shard.messages(self.draft).messages_with(
                                bucket.no,
                                &lane,
                                kept.seq,
                                &recipients,
                            )?);
                        }
                    }
                }
            }
        }
        Ok(messages)
    }

    /// The messages of a tenant's lanes.
    fn messages_of_tenant(&self, tenant: TenantNo) -> Vec<MessageId> {
        let mut messages = Vec::new();
        for bucket in self.engine.shards.buckets() {
            let of_tenant = bucket.closings.iter().filter(|(_, of)| of.lane.tenant == Some(tenant));
            for (closing, open) in of_tenant {
                let closing = bucket.closing_id(*closing);
                messages.extend(open.sending.iter().map(|no| closing.message(RecipientNo(no))));
            }
        }
        messages
    }

    /// The messages with entries that an event may replace.
    fn messages_replaced(
        &self,
        event: &Event,
        tenant: Option<TenantNo>,
    ) -> Result<Vec<MessageId>, Unreadable> {
        let compiled = &self.engine.intake.compiled;
        let of_type = compiled
            .names
            .type_no(event.event_type.as_str())
            .zip(compiled.current())
            .and_then(|(no, version)| version.of_type(no));
        let mut messages = Vec::new();
        if let Some(of_type) = of_type {
            for shard in self.engine.shards.iter() {
                let pending = PendingEntries { shard, draft: self.draft, of_type };
                messages.extend(pending.messages_replaced(event, tenant)?);
            }
        }
        Ok(messages)
    }

    /// The messages that an act may change or end.
    fn touched_by_act(&self, act: &Act) -> Result<Vec<MessageId>, Unreadable> {
        match act {
            Act::Publish { row, .. } => self.messages_replaced(&row.event, row.tenant),
            Act::Cancel(cancel) => self.messages_of_events(cancel),
            Act::Tenant { number, .. } => Ok(self.messages_of_tenant(*number)),
            Act::Forget { before } => self.messages_before(*before),
            Act::Rules { rules, .. } => self.unwanted_under(rules),
            Act::Enter { .. }
            | Act::Expire { .. }
            | Act::Pause(_)
            | Act::Resume(_)
            | Act::Keep { .. }
            | Act::Unschedule { .. }
            | Act::Object { .. }
            | Act::Suppression { .. }
            | Act::Job { .. }
            | Act::StopJob { .. } => Ok(Vec::new()),
        }
    }

    /// The messages that a command may change or end.
    fn touched_by(&self, command: &Command) -> Result<Vec<MessageId>, Unreadable> {
        match command {
            Command::Cancel { what, tenant } | Command::Withdraw { what, tenant } => {
                let intake = &self.engine.intake;
                let tenant = tenant.as_ref().map(|id| intake.tenants.number(id)).transpose();
                // An unknown tenant is refused by the step.
                let Ok(tenant) = tenant else {
                    return Ok(Vec::new());
                };
                let events = intake.located_events(self.draft, what, tenant)?;
                let cancel = Cancel { what: what.clone(), tenant, events, withdraws: false };
                self.messages_of_events(&cancel)
            }
            Command::Tenant { tenant, .. } | Command::DeleteTenant { tenant } => {
                let number = self.engine.intake.tenants.number(tenant);
                Ok(number.map_or_else(|_| Vec::new(), |number| self.messages_of_tenant(number)))
            }
            Command::Erase { recipient } | Command::Preferences { recipient, .. } => {
                Ok(self.messages_of_recipient(recipient, None))
            }
            Command::Preference { recipient, channel, .. } => {
                Ok(self.messages_of_recipient(recipient, channel_no(channel)))
            }
            Command::Forget { before } => self.messages_before(*before),
            Command::Publish(event) => {
                let tenants = &self.engine.intake.tenants;
                match event.tenant.as_ref().map(|tenant| tenants.number(tenant)).transpose() {
                    Ok(tenant) => self.messages_replaced(event, tenant),
                    // An unknown tenant has no entries yet.
                    Err(_) => Ok(Vec::new()),
                }
            }
            Command::Message { message, .. } => Ok(vec![message.id]),
            Command::Recipient(_)
            | Command::Device { .. }
            | Command::Join { .. }
            | Command::Leave { .. }
            | Command::Subscribe { .. }
            | Command::Unsubscribe { .. }
            | Command::Object(_)
            | Command::Resolved(_)
            | Command::Retract { .. }
            | Command::Mark { .. }
            | Command::ChangeItems { .. }
            | Command::Flush { .. }
            | Command::Pause(_)
            | Command::Resume(_)
            | Command::Report { .. }
            | Command::Suppress { .. }
            | Command::Unsuppress { .. }
            | Command::ReportAddress { .. }
            | Command::Hook { .. }
            | Command::BeginJob(_)
            | Command::StopJob { .. } => Ok(Vec::new()),
        }
    }
}
