//! Commands about recipients: profiles, subscriptions, marks, flushes.

use std::collections::BTreeSet;

use self::devices::DeviceChange;
use super::follow::{Subscriptions, rows_of};
use super::members::Memberships;
use super::prefer::PreferenceChange;
use super::state::Shard;
use crate::engine::change_log::fields;
use crate::engine::change_log::note::NotedChange;
use crate::engine::inbox::mark::ItemMarks;
use crate::engine::intake::state::Intake;
use crate::engine::intake::tenants::Tenants;
use crate::engine::replies::erasure::Erasure;
use crate::engine::replies::refused::{Refused, StepError};
use crate::engine::replies::reply::Reply;
use crate::engine::rows::draft::Draft;
use crate::journal::record::Record;
use crate::journal::record_size::pieces;
use crate::journal::stored::Unreadable;
use crate::journal::table::Partition;
use crate::model::batch_key::{BatchKey, LaneKey};
use crate::model::channel::channel_no;
use crate::model::command::Command;
use crate::model::id::Id;
use crate::model::limits::TooLarge;
use crate::model::number::RecipientAt;
use crate::model::recipient::{
    Addresses, GivenAddress, Recipient, RecipientChange, RecipientState,
};
use crate::model::tenant::{TenantNo, View};

pub(super) mod devices;
pub(super) mod size;

impl Shard {
    /// Runs a command that concerns one recipient.
    pub(crate) fn command(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        command: &Command,
    ) -> Result<Reply, StepError> {
        match command {
            Command::Recipient(change) => {
                change.named_tenants().try_for_each(|id| intake.tenant_no(id).map(drop))?;
                let tenants = intake.tenants.memberships(change);
                let mut changes = ProfileChanges { shard: self, intake, draft };
                changes.check(change)?;
                changes.change(change, tenants)
            }
            Command::Device { recipient, channel, address, joins } => {
                let (channel, joins) = (*channel, *joins);
                let device = DeviceChange { recipient, channel, given: address, joins };
                device.run(self, intake, draft)
            }
            Command::Erase { recipient } => {
                ProfileChanges { shard: self, intake, draft }.erase(recipient)
            }
            Command::Subscribe { .. } | Command::Unsubscribe { .. } => {
                let replies = Subscriptions { shard: self, draft }.change(intake, &[command])?;
                Ok(replies.into_iter().next().unwrap_or(Ok(Reply::Done))?)
            }
            Command::Mark { recipient, what, kind, view } => {
                ItemMarks::of(self, intake, draft, recipient, view)?.mark(what, *kind)
            }
            Command::ChangeItems { recipient, what, change, view } => {
                ItemMarks::of(self, intake, draft, recipient, view)?.change(what, *change)
            }
            Command::Preference { recipient, scope, channel, mode, tenant, by } => {
                let mut change = PreferenceChange::of(self, intake, draft, recipient, *by)?;
                change.set(scope, channel, mode, tenant.as_ref())
            }
            Command::Preferences { recipient, chosen, whole, tenant, by } => {
                let mut change = PreferenceChange::of(self, intake, draft, recipient, *by)?;
                change.set_all(chosen, whole.then_some(tenant.as_ref()))
            }
            Command::Flush { recipient, channel, lane, key, view } => {
                let (channel, lane) = (channel.as_deref(), lane.as_deref());
                let flush = Flush { recipient, channel, lane, key: key.as_ref(), view };
                flush.run(self, intake, draft)
            }
            Command::Message { message, act } => self.operate(intake, draft, *message, *act),
            Command::Report { message, report } => {
                self.take_report(intake, draft, *message, report)
            }
            Command::Join { .. } | Command::Leave { .. } => {
                let replies = Memberships { shard: self, draft }.change(intake, &[command])?;
                Ok(replies.into_iter().next().unwrap_or(Ok(Reply::Done))?)
            }
            // The intake accepts what concerns everybody.
            Command::Publish(_)
            | Command::Object(_)
            | Command::Resolved(_)
            | Command::Retract { .. }
            | Command::Cancel { .. }
            | Command::Withdraw { .. }
            | Command::Pause(_)
            | Command::Resume(_)
            | Command::Forget { .. }
            | Command::BeginJob(_)
            | Command::StopJob { .. }
            | Command::Suppress { .. }
            | Command::Unsuppress { .. }
            | Command::ReportAddress { .. }
            | Command::Tenant { .. }
            | Command::DeleteTenant { .. }
            | Command::Hook { .. } => Ok(Reply::Done),
        }
    }

    /// Changes the profiles of the shard's recipients, as an event gives them. The intake has checked them.
    pub(crate) fn take_profiles(
        &mut self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        profiles: &[RecipientChange],
    ) -> Result<(), Unreadable> {
        let mut changes = ProfileChanges { shard: self, intake, draft };
        for change in profiles {
            if changes.shard.buckets.of(change.id.as_str()).is_some() {
                let tenants = intake.tenants.memberships(change);
                let changed = changes.change(change, tenants);
                changed.map(drop).or_else(|error| error.refusal().map(drop))?;
            }
        }
        Ok(())
    }
}

impl Shard {
    /// Writes the profile of a recipient, and to the index what it changes of their addresses.
    fn write_profile(&mut self, draft: &mut Draft<'_>, at: RecipientAt, profile: Recipient) {
        let (RecipientAt { bucket, number }, now) = (at, self.now);
        let new = (now, &profile.addresses);
        self.addresses.change(draft, &self.buckets[bucket], number, new);
        let record = Record::Profile { at: now, number, profile: Box::new(profile) };
        self.write(draft, bucket, record);
    }
}

/// Changes of profiles in a shard.
struct ProfileChanges<'a, 'd> {
    shard: &'a mut Shard,
    intake: &'a Intake,
    draft: &'a mut Draft<'d>,
}

impl ProfileChanges<'_, '_> {
    /// Creates or changes a recipient. `tenants` = those of which they are a member from now on; `None` = as before.
    fn change(
        &mut self,
        change: &RecipientChange,
        tenants: Option<BTreeSet<TenantNo>>,
    ) -> Result<Reply, StepError> {
        let Some(bucket) = self.shard.buckets.of(change.id.as_str()) else {
            return Err(Refused::UnknownRecipient(change.id.clone()).into());
        };
        self.shard.limits().check_data(change.data.iter().flatten())?;
        let roster = &self.shard.buckets[bucket].roster;
        let (number, known) = match roster.number(change.id.as_str()) {
            Some(number) => (number, roster.profile(number).cloned()),
            None => (roster.next_number(), None),
        };
        let new = changed(&self.intake.tenants, known.clone(), change);
        self.draft.noted.note_fields(|| fields::profile(known.as_ref(), &new));
        if known.as_ref() != Some(&new) {
            self.shard.write_profile(self.draft, RecipientAt { bucket, number }, new);
        }
        if let Some(tenants) = tenants {
            // Follows the profile, whose record gives a new recipient the number.
            let mut memberships = Memberships { shard: self.shard, draft: self.draft };
            memberships.set(RecipientAt { bucket, number }, tenants, self.intake)?;
        }
        Ok(Reply::Done)
    }

    /// Refuses a change of a profile that would make it too long. Those that an event gives are bounded by the event.
    fn check(&self, change: &RecipientChange) -> Result<(), TooLarge> {
        let Some(bucket) = self.shard.buckets.of(change.id.as_str()) else {
            return Ok(());
        };
        let roster = &self.shard.buckets[bucket].roster;
        let number = roster.number(change.id.as_str());
        let known = number.and_then(|number| roster.profile(number)).cloned();
        let new = changed(&self.intake.tenants, known, change);
        size::check(&self.shard.buckets[bucket], number, &new, &[], self.intake.row_bytes)
    }

    /// Erases a recipient.
    fn erase(&mut self, recipient: &Id) -> Result<Reply, StepError> {
        let at @ RecipientAt { bucket, number } = self.shard.find(recipient)?;
        if self.draft.concerned.is_counted() {
            let waiting = self.shard.waiting_of(self.draft, at)?;
            self.draft.concerned.entries(waiting);
        }
        let erasure = Erasure::of(&self.shard.buckets[bucket], number);
        self.shard.addresses.remove(self.draft, &self.shard.buckets[bucket], number)?;
        for key in rows_of(self.draft, bucket, number)?.into_keys() {
            self.draft.delete(Partition::Base, key);
        }
        self.shard.write(self.draft, bucket, Record::Erased { at: self.shard.now, number });
        self.draft.noted.note(|| NotedChange::of(None));
        // Messages in doubt end as unknown here, since no attempt will tell more.
        self.shard.end_messages_to(self.draft, bucket, number)?;
        Ok(Reply::Erased(Box::new(erasure)))
    }
}

/// A flush of the lanes of a recipient.
struct Flush<'a> {
    recipient: &'a Id,
    channel: Option<&'a str>,
    lane: Option<&'a str>,
    key: Option<&'a BatchKey>,
    view: &'a View,
}

impl Flush<'_> {
    fn run(
        self,
        shard: &mut Shard,
        intake: &Intake,
        draft: &mut Draft<'_>,
    ) -> Result<Reply, StepError> {
        let Self { recipient, channel, lane, key, view } = self;
        let view = intake.tenants.view(view)?;
        let at @ RecipientAt { bucket, number } = shard.find(recipient)?;
        let channel = match channel {
            Some(name) => {
                Some(channel_no(name).ok_or_else(|| Refused::UnknownChannel(name.to_owned()))?)
            }
            None => None,
        };
        let open = shard.buckets[bucket].lanes.open_of(number.0);
        let open = open.filter(|(lane_key, state)| {
            let name = shard.compiled.names.lane(lane_key.lane);
            !state.keeps_paused()
                && channel.is_none_or(|channel| channel == name.channel)
                && lane.is_none_or(|lane| lane == name.name)
                && key.is_none_or(|key| *key == lane_key.key)
                && view.shows(lane_key.tenant)
        });
        let lanes: Vec<_> = open.map(|(at, _)| at).collect();
        if draft.concerned.is_counted() {
            let waiting = shard.waiting_in(draft, at, &lanes)?;
            draft.concerned.entries(waiting);
        }
        let due = lanes.len();
        // Where nothing waits the marker names the place at which the recipient was found flushed.
        let seq = if lanes.is_empty() {
            shard.buckets[bucket].next_seq
        } else {
            let at = shard.now;
            let bytes = |lane: &LaneKey| lane.key.as_str().len() + 16;
            let mut first = None;
            for lanes in pieces(lanes, bytes) {
                let seq = shard.write(draft, bucket, Record::Flush { at, number, lanes });
                first.get_or_insert(seq);
            }
            first.unwrap_or(shard.buckets[bucket].next_seq)
        };
        let marker = format!("{}-{seq}", shard.buckets[bucket].no);
        Ok(Reply::Flushed { marker, lanes: due })
    }
}

/// A profile with the given fields changed. Addresses of tenants that are not there any more are passed over.
fn changed(tenants: &Tenants, known: Option<Recipient>, change: &RecipientChange) -> Recipient {
    let mut new = known.unwrap_or_else(|| Recipient {
        id: change.id.clone(),
        name: None,
        addresses: Addresses::default(),
        tz: None,
        locale: None,
        place: None,
        state: RecipientState::Active,
        data: None,
        quiet_hours: None,
    });
    if let Some(name) = &change.name {
        new.name.clone_from(name);
    }
    for (channel, given) in &change.addresses {
        let there = given.iter().filter_map(|GivenAddress { text, tenant }| {
            let tenant = tenant.as_ref().map(|id| tenants.number(id)).transpose();
            Some((text, tenant.ok()?))
        });
        new.addresses.set_views(*channel, &there.collect::<Vec<_>>());
    }
    if let Some(tz) = &change.tz {
        new.tz.clone_from(tz);
    }
    if let Some(locale) = &change.locale {
        new.locale.clone_from(locale);
    }
    let (lat, lon) = new.place.unzip();
    let place = change.lat.unwrap_or(lat).zip(change.lon.unwrap_or(lon));
    new.place = place;
    new.state = change.state.unwrap_or(new.state);
    if let Some(data) = &change.data {
        new.data.clone_from(data);
    }
    if let Some(hours) = &change.quiet_hours {
        new.quiet_hours.clone_from(hours);
    }
    new
}
