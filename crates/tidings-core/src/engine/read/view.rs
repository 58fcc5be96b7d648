//! Reads for recipients and operators, except inboxes: open lanes and built messages.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use crate::bucket::{Preference, PreferenceInForce, preferences_of};
use crate::engine::intake::suppressed::Suppressions;
use crate::engine::message::message_row::{MessageRow, message_key};
use crate::engine::message::plan::{Plan, PlannedMessage};
use crate::engine::read::reader::Reader;
use crate::engine::replies::refused::{Refused, StepError};
use crate::engine::rows::draft::Draft;
use crate::engine::shard::follow;
use crate::engine::state::Engine;
use crate::index::{FoundEntry, SearchFilter};
use crate::journal::record::{TenantTopic, Variant};
use crate::journal::stored::{StoredArrival, Unreadable, each};
use crate::journal::table::{Key, Owner, Partition, REST, Table, seq_at};
use crate::model::batch_key::{BatchKey, LaneKey};
use crate::model::channel::{CHANNELS, ChannelNo, EACH_CHANNEL};
use crate::model::command::Choice;
use crate::model::id::{BucketNo, Id};
use crate::model::number::{ClosingId, LaneNo, MessageId, RecipientAt, RecipientNo, Seq};
use crate::model::recipient::Recipient;
use crate::model::tenant::{TenantNo, View};
use crate::model::time::{Day, Instant};
use crate::rules::compiled::Type;
use crate::rules::lane_kind::LaneKind;

/// A lane with pending entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenLane {
    /// The channel.
    pub channel: &'static str,
    /// Its name.
    pub lane: String,
    /// Its batch key.
    pub key: BatchKey,
    /// Its tenant; `None` = of none.
    pub tenant: Option<Id>,
    /// Due time; `None` = never due as things are.
    pub due: Option<Instant>,
    /// The pending entries, by (t, arrival).
    pub entries: Vec<WaitingEntry>,
}

/// A pending entry, or a scheduled event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingEntry {
    /// The event.
    pub event: Id,
    /// Its type.
    pub event_type: Id,
    /// Its tenant; `None` = of none.
    pub tenant: Option<Id>,
    /// The object's hash.
    pub object: Id,
    /// Time of entering.
    pub t: Instant,
}

/// The location of a recipient's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageAt {
    /// The closing's instant.
    pub at: Instant,
    /// The channel.
    pub channel: &'static str,
    /// The lane's name.
    pub lane: String,
    /// The lane's batch key.
    pub key: BatchKey,
    /// The lane's tenant; `None` = of none.
    pub tenant: Option<TenantNo>,
    /// Number of its entries.
    pub entries: usize,
    pub(crate) bucket: BucketNo,
    pub(crate) number: RecipientNo,
    pub(crate) closing: Seq,
    pub(crate) seqs: Vec<Seq>,
}

/// A topic that a recipient follows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FollowedTopic {
    /// The topic.
    pub topic: Id,
    /// The tenant; `None` = of none.
    pub tenant: Option<Id>,
}

impl Engine {
    /// The suppressed addresses, and those with bounces.
    #[must_use]
    pub fn suppressions(&self) -> &Suppressions {
        &self.intake.suppressions
    }

    /// A recipient's profile.
    #[must_use]
    pub fn recipient(&self, id: &Id) -> Option<&Recipient> {
        let RecipientAt { bucket, number } = self.find(id).ok()?;
        self.shards.bucket(bucket).roster.profile(number)
    }

    /// The profile of a message's recipient, if they still exist. A recipient created again under an erased one's
    /// id is a different one.
    #[must_use]
    pub fn recipient_of(&self, message: MessageId) -> Option<&Recipient> {
        let bucket = self.shards.held_bucket(message.closing.bucket)?;
        bucket.roster.profile(message.number)
    }

    /// Number of recipients.
    #[must_use]
    pub fn recipients(&self) -> u64 {
        self.shards.buckets().map(|bucket| bucket.roster.everyone.len()).sum()
    }

    /// Number of followers of a topic itself, of no tenant.
    #[must_use]
    pub fn followers(&self, topic: &str) -> u64 {
        let of = |bucket: &crate::bucket::Bucket| {
            bucket.followers.get(None, topic).map_or(0, RoaringBitmap::len)
        };
        self.shards.buckets().map(of).sum()
    }

    /// The preferences of a recipient that hold in a view: those for all entries, and those for entries of its tenant;
    /// [`View::Only`] has no more than these. Preferences for what is not configured now are kept and not shown. What is
    /// the same on each channel is shown once, on [`EACH_CHANNEL`].
    ///
    /// # Errors
    /// [`Refused::UnknownRecipient`], and [`Refused::UnknownTenant`].
    pub fn preferences(&self, id: &Id, view: &View) -> Result<Vec<Choice>, Refused> {
        let tenants = &self.intake.tenants;
        let view = tenants.view(view)?;
        let RecipientAt { bucket, number } = self.find(id)?;
        let knows = |of: &Preference| {
            self.rules().is_some_and(|rules| rules.know_choice(&of.scope, &of.mode))
        };
        let chosen = preferences_of(self.shards.bucket(bucket), number.0).into_iter();
        let is_there =
            |tenant: Option<TenantNo>| tenant.is_none_or(|tenant| tenants.get(tenant).is_some());
        let chosen = chosen.filter(|of| view.shows(of.tenant) && is_there(of.tenant) && knows(of));
        let (wide, narrow): (Vec<_>, Vec<_>) = chosen.partition(|of| of.scope.may_be_on_each());
        let choice = |of: Preference, channel: &str| Choice {
            scope: of.scope,
            channel: channel.to_owned(),
            mode: of.mode,
            tenant: tenants.id(of.tenant).cloned(),
        };
        let mut shown: Vec<Choice> = narrow
            .into_iter()
            .map(|of| {
                let channel = of.channel.name();
                choice(of, channel)
            })
            .collect();
        let mut by_choice: BTreeMap<_, Vec<Preference>> = BTreeMap::new();
        for of in wide {
            let key = (of.tenant, of.scope.clone(), of.mode.clone());
            by_choice.entry(key).or_default().push(of);
        }
        for mut all in by_choice.into_values() {
            let is_of_digest = all.iter().any(|of| of.scope.digest().is_some());
            if all.len() == CHANNELS.len() || is_of_digest {
                shown.extend(all.pop().map(|of| choice(of, EACH_CHANNEL)));
                continue;
            }
            shown.extend(all.into_iter().map(|of| {
                let channel = of.channel.name();
                choice(of, channel)
            }));
        }
        Ok(shown)
    }
}

impl<'a> Reader<'a> {
    /// The lanes with pending entries of a recipient.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient is unknown.
    pub fn open_lanes(&self, id: &Id) -> Result<Vec<OpenLane>, StepError> {
        let Reader { engine, view } = *self;
        let RecipientAt { bucket: at, number } = engine.find(id)?;
        let bucket = engine.shards.bucket(at);
        let recipients = RoaringBitmap::from_iter([number.0]);
        let mut lanes = Vec::new();
        let (names, tenants) = (&engine.intake.compiled.names, &engine.intake.tenants);
        for no in bucket.lanes.numbers() {
            let name = names.lane(no);
            let found = bucket.waiting(view, names).in_lane(no, Some(&recipients))?;
            let mut by_lane: BTreeMap<LaneKey, (Instant, Vec<_>)> = BTreeMap::new();
            for FoundEntry { source, .. } in &found.entries {
                let arrival = &found.source(*source).0.arrival;
                let lane = names.address(no, &arrival.keys, arrival.tenant);
                let (entered, entries) = by_lane.entry(lane).or_insert((arrival.at, Vec::new()));
                *entered = arrival.at.min(*entered);
                let header = engine.intake.header(view, arrival.at.day(), arrival.event)?;
                let waiting = WaitingEntry {
                    event: header.id,
                    event_type: header.event_type,
                    tenant: tenants.id(arrival.tenant).cloned(),
                    object: header.object,
                    t: arrival.t,
                };
                entries.push((arrival.t, arrival.place, waiting));
            }
            for (address, (entered, mut entries)) in by_lane {
                entries.sort_by_key(|(t, place, _)| (*t, *place));
                let lane = bucket.lanes.get(&address);
                let terms = bucket.terms(address.tenant, &engine.intake.compiled);
                let due = lane.and_then(|lane| lane.deadlines(terms).of(number.0));
                let due = match name.kind {
                    // The wheel knows no more than the second.
                    LaneKind::Now => due.map(|due| Instant(due).max(entered)),
                    _ => due.map(Instant),
                };
                lanes.push(OpenLane {
                    channel: name.channel.name(),
                    lane: name.name.clone(),
                    tenant: tenants.id(address.tenant).cloned(),
                    key: address.key,
                    due,
                    entries: entries.into_iter().map(|(_, _, entry)| entry).collect(),
                });
            }
        }
        Ok(lanes)
    }

    /// The topics that a recipient follows, by bytes, then by tenant, of none first.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient is unknown.
    pub fn following(&self, id: &Id) -> Result<Vec<FollowedTopic>, StepError> {
        let Reader { engine, view } = *self;
        let RecipientAt { bucket, number } = engine.find(id)?;
        let no = engine.shards.bucket(bucket).no;
        let prefix = Key::of(Owner::Bucket(no), Table::Following).u32(number.0).done();
        let mut topics = Vec::new();
        each(view, Partition::Base, &prefix, |key, value| {
            let tenants = &engine.intake.tenants;
            for TenantTopic { tenant, topic } in follow::topics_of(key, value)? {
                let known = tenant.map(|tenant| tenants.get(tenant).map(|known| known.id.clone()));
                // Those of a tenant that was deleted are about to go.
                if known != Some(None) {
                    topics.push(FollowedTopic { topic, tenant: known.flatten() });
                }
            }
            Ok(())
        })?;
        topics.sort_unstable();
        Ok(topics)
    }

    /// The scheduled entries of a recipient, by (t, arrival): they enter their lanes at their `t`.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient is unknown.
    pub fn scheduled(&self, id: &Id) -> Result<Vec<WaitingEntry>, StepError> {
        let Reader { engine, view } = *self;
        let RecipientAt { bucket: at, number } = engine.find(id)?;
        let (draft, mut entries) = (Draft::new(view), Vec::new());
        for (t, place) in engine.shards.bucket(at).scheduled.of(number.0) {
            let (row, _) = engine.intake.scheduled_row(&draft, t, place)?;
            let event = row.event;
            entries.push(WaitingEntry {
                event: event.id,
                event_type: event.event_type,
                tenant: engine.intake.tenants.id(row.tenant).cloned(),
                object: event.object.id,
                t,
            });
        }
        Ok(entries)
    }

    /// The built messages of a recipient, newest first; the inbox has none.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient is unknown.
    pub fn messages_of(&self, id: &Id) -> Result<Vec<MessageAt>, StepError> {
        let Reader { engine, view } = *self;
        let RecipientAt { bucket: at, number } = engine.find(id)?;
        let bucket = engine.shards.bucket(at).no;
        let prefix = Key::of(Owner::Bucket(bucket), Table::Messages).u32(number.0).done();
        let mut messages = Vec::new();
        for day in engine.shards.days_of(bucket).iter().rev() {
            let mut of_day = Vec::new();
            each(view, Partition::Day(*day), &prefix, |key, value| {
                let seq = seq_at(key, REST + 4).unwrap_or_default();
                let row = MessageRow::read(view, Partition::Day(*day), key, value)?;
                of_day.push(self.located(row, ClosingId { bucket, seq }, number));
                Ok(())
            })?;
            messages.extend(of_day.into_iter().rev());
        }
        Ok(messages)
    }

    /// A built message, looked for from the day of its closing on; `None` where the store has it no longer, or
    /// its recipient was erased.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn message_of(
        &self,
        message: MessageId,
        from: Day,
    ) -> Result<Option<MessageAt>, Unreadable> {
        let Reader { engine, view } = *self;
        let MessageId { closing, number } = message;
        if engine.recipient_of(message).is_none() {
            return Ok(None);
        }
        let key = message_key(message);
        for day in engine.shards.days_of(closing.bucket).range(from..) {
            let partition = Partition::Day(*day);
            if let Some(row) = view.get(partition, &key)? {
                let row = MessageRow::read(view, partition, &key, &row)?;
                return Ok(Some(self.located(row, closing, number)));
            }
        }
        Ok(None)
    }

    fn located(&self, row: MessageRow, closing: ClosingId, number: RecipientNo) -> MessageAt {
        let engine = self.engine;
        let name = engine.intake.compiled.names.lane(row.lane.lane);
        let seqs = row.entries(closing.seq);
        MessageAt {
            at: row.at,
            channel: name.channel.name(),
            lane: name.name.clone(),
            key: row.lane.key,
            tenant: row.lane.tenant,
            entries: seqs.len(),
            bucket: closing.bucket,
            number,
            closing: closing.seq,
            seqs,
        }
    }

    /// A built message with its entries; entries of deleted days are left out.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn message_at(
        &self,
        message: &MessageAt,
    ) -> Result<(Plan, PlannedMessage), Unreadable> {
        let Reader { engine, view } = *self;
        let bucket = engine.shards.bucket(message.bucket);
        let recipients = RoaringBitmap::from_iter([message.number.0]);
        let (from, to) = (message.seqs.iter().min(), message.seqs.iter().max());
        let seqs: BTreeSet<Seq> = message.seqs.iter().copied().collect();
        let lanes = engine.intake.compiled.names.lanes();
        let lane = lanes
            .into_iter()
            .find(|(_, name)| name.name == message.lane && name.channel.name() == message.channel);
        let lane = LaneKey {
            lane: lane.map_or(LaneNo(0), |(no, _)| no),
            key: message.key.clone(),
            tenant: message.tenant,
        };
        let takes = |_: &StoredArrival, _: &Variant| true;
        let has = |_: u32, kept: &StoredArrival| seqs.contains(&kept.seq);
        let look = SearchFilter {
            from: from.copied().unwrap_or_default(),
            to: to.copied().unwrap_or_default(),
            recipients: &recipients,
            takes: &takes,
            has: &has,
        };
        let mut found = bucket.index.look(view, &look)?;
        found.sort();
        let mut sources: Vec<u32> = found.entries.iter().map(|entry| entry.source).collect();
        let closing = bucket.closing_id(message.closing);
        let plan = engine.planner(view).plan_of(closing, &lane, message.at, message.at, found)?;
        plan.order(&mut sources);
        Ok((plan, PlannedMessage { number: message.number, entries: sources, ended: Vec::new() }))
    }

    /// Returns true if an object is known.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn knows_object(&self, object: &Id) -> Result<bool, Unreadable> {
        let view = self.view;
        Ok(view
            .get(Partition::Base, &crate::engine::intake::objects::object_key(object))?
            .is_some())
    }

    /// Number of objects of which the host gave something by a command, and which are kept until they are deleted.
    #[must_use]
    pub fn kept_objects(&self) -> u64 {
        let engine = self.engine;
        engine.intake.objects.kept
    }

    /// The preference that applies to each type on a channel, for entries of a tenant or of none, with the level at which
    /// it was set; types without one are left out.
    ///
    /// # Errors
    /// [`Refused::UnknownRecipient`], and [`Refused::UnknownTenant`].
    pub fn applying(
        &self,
        id: &Id,
        channel: ChannelNo,
        tenant: Option<&Id>,
    ) -> Result<BTreeMap<String, PreferenceInForce>, Refused> {
        let engine = self.engine;
        let tenant = tenant.map(|tenant| engine.intake.tenants.number(tenant)).transpose()?;
        let RecipientAt { bucket: at, number } = engine.find(id)?;
        let preferences = &engine.shards.bucket(at).preferences;
        let current = engine.intake.compiled.current();
        let types = current.into_iter().flat_map(|version| version.types());
        let applying = |of_type: &Type| {
            let applying = preferences.applying(number.0, channel, of_type, tenant)?;
            Some((of_type.name.clone(), applying))
        };
        Ok(types.filter_map(applying).collect())
    }

    /// The lane that entries of each type, of a tenant or of none, take on a channel now, for a recipient; `None` = no
    /// entry.
    ///
    /// # Errors
    /// [`Refused::UnknownRecipient`], and [`Refused::UnknownTenant`].
    pub fn lanes_of(
        &self,
        id: &Id,
        channel: ChannelNo,
        tenant: Option<&Id>,
    ) -> Result<BTreeMap<String, Option<String>>, Refused> {
        let engine = self.engine;
        let tenant = tenant.map(|tenant| engine.intake.tenants.number(tenant)).transpose()?;
        let RecipientAt { bucket: at, number } = engine.find(id)?;
        let preferences = &engine.shards.bucket(at).preferences;
        let compiled = &engine.intake.compiled;
        let types = compiled
            .current()
            .into_iter()
            .flat_map(|version| version.types())
            .filter(|of_type| of_type.channels(None).contains(&channel));
        let lane = |of_type: &Type| {
            let recipients = RoaringBitmap::from_iter([number.0]);
            let modes = preferences.split(channel, of_type, tenant, recipients);
            let mode = modes.first().and_then(|(mode, _)| mode.as_ref());
            let lane = of_type.lane(channel, mode);
            lane.map(|lane| compiled.names.lane(lane).name.clone())
        };
        Ok(types.map(|of_type| (of_type.name.clone(), lane(of_type))).collect())
    }
}
