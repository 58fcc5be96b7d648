//! Accepting: the intake gives a command its place in the total order, or refuses it.
//!
//! It decides about ids, limits, objects and pauses without knowing a recipient. Commands about one recipient are left
//! to the recipient's shard.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::locate::named_in;
use super::objects::FieldSource;
use super::state::Intake;
use super::suppressing::AddressChange;
use super::tenancy::scheduled_of;
use crate::engine::acts::act::{Act, Cancel, CancelledEvents};
use crate::engine::change_log::note::NotedChange;
use crate::engine::jobs::accept::{begin, stop};
use crate::engine::replies::refused::{Refused, StepError};
use crate::engine::replies::reply::{Published, PublishedAs, Reply, TakenBackEntries};
use crate::engine::replies::warning::Warning;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::{EventRow, ScheduledRow};
use crate::engine::rows::named::{
    EventLocation, id_key, name_again, name_key, named_key, rules_key, scheduled_key,
};
use crate::engine::rows::occurred::change_hook;
use crate::journal::record::EventAt;
use crate::journal::stored::{Unreadable, encode, from_json, to_json};
use crate::journal::table::{Owner, Partition, Table};
use crate::model::changes::DONE;
use crate::model::channel::{ChannelNo, channel_no};
use crate::model::command::{Cancelled, Command, PauseSubject};
use crate::model::event::{Event, Object};
use crate::model::id::{BucketNo, Id};
use crate::model::limits::Bound;
use crate::model::occurrence::HookChange;
use crate::model::recipient::RecipientChange;
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};
use crate::rules::Rules;
use crate::rules::compiled::{RulesVersion, Type};

/// The intake's decision on a command.
pub(crate) enum IntakeDecision {
    /// An act, which every shard applies.
    Act(Act),
    /// Nothing is left to do.
    Answered(Reply),
    /// Days before this one are to be deleted, those of the shards with those of the intake.
    Forget(Day),
    /// It concerns one recipient: their shard does it.
    OfRecipient(Id),
    /// It concerns one bucket: its shard does it.
    OfBucket(BucketNo),
}

impl Intake {
    /// Accepts a command.
    ///
    /// # Errors
    /// [`StepError`].
    pub(crate) fn accept(
        &mut self,
        draft: &mut Draft<'_>,
        command: &Command,
    ) -> Result<IntakeDecision, StepError> {
        if self.are_tenants_off() && command.names_tenant() {
            return Err(Refused::TenantsOff.into());
        }
        let done = IntakeDecision::Answered(Reply::Done);
        match command {
            Command::Publish(event) => self.accept_event(draft, event),
            Command::Object(object) => self.accept_object(draft, object, FieldSource::Host),
            Command::Resolved(object) => self.accept_object(draft, object, FieldSource::Resolver),
            Command::Retract { object } => {
                let today = self.keep_today(draft);
                self.objects.retract(draft, object, today)?;
                Ok(done)
            }
            Command::Cancel { what, tenant } | Command::Withdraw { what, tenant } => {
                if tenant.is_some() {
                    self.check_tenants_on()?;
                }
                let tenant = tenant.as_ref().map(|id| self.tenants.number(id)).transpose()?;
                let cancel = Cancel {
                    what: what.clone(),
                    tenant,
                    events: self.accept_cancel(draft, what, tenant)?,
                    withdraws: matches!(command, Command::Withdraw { .. }),
                };
                // Where shards elsewhere have to answer, this is all that is known with the act.
                if !cancel.events.is_empty() {
                    draft.noted.note(|| NotedChange::with_result(DONE));
                }
                Ok(IntakeDecision::Act(Act::Cancel(cancel)))
            }
            Command::Suppress { address, .. }
            | Command::Unsuppress { address }
            | Command::ReportAddress { address, .. } => {
                let change = AddressChange { intake: self, draft, address };
                match command {
                    Command::Suppress { reason, until, .. } => change.suppress(*reason, *until),
                    Command::ReportAddress { report, at, recipient, .. } => {
                        change.report(*report, *at, recipient.as_ref());
                    }
                    _ => change.unsuppress(),
                }
                Ok(done)
            }
            Command::Pause(what) | Command::Resume(what) => {
                let pauses = matches!(command, Command::Pause(_));
                let accepted = self.accept_pause(what, pauses)?;
                if let IntakeDecision::Act(_) = accepted {
                    draft.noted.note(|| NotedChange::shown("paused", !pauses, pauses));
                }
                Ok(accepted)
            }
            Command::Forget { before } => Ok(IntakeDecision::Forget(*before)),
            Command::Tenant { tenant, change } => self.accept_tenant(draft, tenant, change),
            Command::DeleteTenant { tenant } => self.delete_tenant(draft, tenant),
            Command::Hook { name, change } => {
                change_hook(self, draft, name, *change)?;
                draft.noted.note(|| match change {
                    HookChange::Resume => NotedChange::of(None),
                    HookChange::Replay(since) => {
                        NotedChange::shown("since", Value::Null, since.to_string())
                    }
                });
                Ok(done)
            }
            Command::BeginJob(new) => Ok(IntakeDecision::Act(begin(self, draft, new))),
            Command::StopJob { job } => {
                let stopped = stop(self, draft, *job)?;
                Ok(stopped.map_or(IntakeDecision::Answered(Reply::Done), IntakeDecision::Act))
            }
            Command::Message { message, .. } | Command::Report { message, .. } => {
                match message.id.closing.bucket {
                    bucket if bucket.0 < self.buckets => Ok(IntakeDecision::OfBucket(bucket)),
                    _ => Err(Refused::UnknownMessage(*message).into()),
                }
            }
            Command::Recipient(change) => Ok(IntakeDecision::OfRecipient(change.id.clone())),
            Command::Erase { recipient }
            | Command::Subscribe { recipient, .. }
            | Command::Unsubscribe { recipient, .. }
            | Command::Mark { recipient, .. }
            | Command::ChangeItems { recipient, .. }
            | Command::Preference { recipient, .. }
            | Command::Preferences { recipient, .. }
            | Command::Flush { recipient, .. }
            | Command::Join { recipient, .. }
            | Command::Leave { recipient, .. }
            | Command::Device { recipient, .. } => {
                Ok(IntakeDecision::OfRecipient(recipient.clone()))
            }
        }
    }

    /// Takes over the fields given of an object.
    fn accept_object(
        &mut self,
        draft: &mut Draft<'_>,
        object: &Object,
        by: FieldSource,
    ) -> Result<IntakeDecision, StepError> {
        let limits = self.limits();
        limits.check_data(&object.data)?;
        if by == FieldSource::Host
            && let Some(kept) = self.objects.kept_with(draft, object)?
        {
            limits.check(Bound::Objects, kept)?;
        }
        let today = self.keep_today(draft);
        self.objects.upsert(draft, object, today, by)?;
        Ok(IntakeDecision::Answered(Reply::Done))
    }

    /// Gives an event its place and its rows, once.
    fn accept_event(
        &mut self,
        draft: &mut Draft<'_>,
        event: &Event,
    ) -> Result<IntakeDecision, StepError> {
        // Precedes the checks: a retry of an accepted event is a duplicate, even if newer rules or limits
        // would refuse it.
        if let Some((day, located)) = self.locate(draft, &event.id)? {
            let published = self.publish_again(draft, event, day, located)?;
            return Ok(IntakeDecision::Answered(Reply::Published(published)));
        }
        for id in event.to.profiles.iter().flat_map(RecipientChange::named_tenants) {
            // The event's own tenant may be created with it.
            if event.tenant.as_ref() != Some(id) {
                self.check_tenants_on()?;
                self.tenants.number(id)?;
            }
        }
        let of_type = self.check_type(&event.event_type)?;
        let (type_no, after_ms) = (of_type.no, of_type.all_after_ms(event));
        let keys = of_type.keys(event);
        let limits = self.limits();
        let data = event.to.profiles.iter().filter_map(|of| of.data.as_ref());
        let checked = limits.check_event(event);
        checked.and_then(|()| limits.check_data(data.flatten()))?;
        let keys = keys.map_err(Refused::from)?;
        // Is the last check, since it may create the tenant: a refused event must leave nothing behind.
        let tenant = self.tenant_of(draft, event)?;
        let now = self.now;
        let mut row = Box::new(EventRow {
            place: self.next_place,
            arrived: now,
            clock: (self.clock < now).then_some(self.clock),
            keys,
            after_ms,
            tenant,
            event: event.clone(),
        });
        let profiles = std::mem::take(&mut row.event.to.profiles);
        self.arrivals.add(draft, &row)?;
        self.next_place.0 += 1;
        self.tally.events += 1;
        self.figures.count_event(now, type_no, tenant);
        // A cancelled event still takes its id and a row: a retry is a duplicate, and its outcome can be
        // read.
        if self.ahead.has(&event.id, tenant, now) {
            self.objects.upsert_named(draft, &row.event, now.day())?;
            let at = self.keep_event(draft, now.day(), &row);
            self.register(draft, &row, None, Some(at));
            draft.log(|| Act::Keep { row, at });
            let published = Published {
                id: event.id.clone(),
                status: PublishedAs::Cancelled,
                notifications: 0,
                entries: 0,
                suppressed: 0,
                applied: true,
                warnings: Vec::new(),
            };
            return Ok(IntakeDecision::Answered(Reply::Published(published)));
        }
        let mut later = row.enters();
        // Goes by the clock, as `enters` does: the instant of records is ahead of one that was put back.
        let enters_now = later.remove(&self.clock);
        let last = later.last().copied();
        // Objects are kept until the last instant at which the event enters lanes, since messages show them
        // then.
        self.objects.upsert_named(draft, &row.event, last.unwrap_or(now).day())?;
        let at = enters_now.then(|| self.keep_event(draft, now.day(), &row));
        self.schedule(draft, &row, &later);
        self.register(draft, &row, last, at);
        Ok(IntakeDecision::Act(Act::Publish { row, at, profiles }))
    }

    /// Keeps an event until the last of these instants; the others refer to that.
    fn schedule(&mut self, draft: &mut Draft<'_>, row: &EventRow, later: &BTreeSet<Instant>) {
        let Some(last) = later.last() else {
            return;
        };
        for t in later {
            // Some forty instants for one `deliver_local`: the row stands under the last, so that it
            // outlives the others.
            let kept = if t == last {
                ScheduledRow::Event(Box::new(row.clone()))
            } else {
                ScheduledRow::Until(*last)
            };
            self.scheduled.insert((*t, row.place), ());
            let key = scheduled_key(Owner::Intake, *t, row.place);
            draft.put(Partition::Base, key, to_json(&kept));
            if let Some(tenant) = row.tenant {
                let key = scheduled_of(tenant, *t, row.place);
                draft.put(Partition::Base, key, Vec::new());
            }
        }
    }

    /// Answers an event whose id is known: nothing happens.
    fn publish_again(
        &mut self,
        draft: &Draft<'_>,
        event: &Event,
        day: Day,
        located: EventLocation,
    ) -> Result<Published, Unreadable> {
        self.tally.republished += 1;
        let waits = located.scheduled.filter(|t| self.scheduled.contains_key(&(*t, located.place)));
        let stored = self.row_of(draft, &BTreeSet::from([(Some(day), located)]), waits)?;
        // What was stored has been through JSON, which not every number survives as it was.
        let mut given: Event = from_json("an event", &to_json(event))?;
        given.to.profiles.clear();
        // A retry is another request, whose span differs.
        given.trace = stored.as_ref().and_then(|stored| stored.event.trace);
        let differs = stored.is_some_and(|stored| stored.event != given);
        Ok(Published {
            id: event.id.clone(),
            status: PublishedAs::Duplicate,
            notifications: 0,
            entries: 0,
            suppressed: 0,
            applied: true,
            warnings: differs.then_some(Warning::Differs).into_iter().collect(),
        })
    }

    /// Registers an event under its id and its cancellation key.
    fn register(
        &mut self,
        draft: &mut Draft<'_>,
        row: &EventRow,
        scheduled: Option<Instant>,
        address: Option<EventAt>,
    ) {
        let event = &row.event;
        let located =
            encode(&EventLocation { place: row.place, scheduled, at: address, tenant: row.tenant });
        let day = self.now.day();
        let today = Partition::Day(day);
        self.id_days.insert(day);
        self.known_ids.note(draft, day, &event.id);
        draft.put(today, id_key(&event.id), located.clone());
        if let Some(key) = &event.cancellation_key {
            let today_key = named_key(Owner::Intake, Table::Keys, key, Some(row.place));
            draft.put(today, today_key, located.clone());
            // Rows of the base outlive the day of arrival: a cancel has to find what still waits once that
            // day is deleted.
            if scheduled.is_some() {
                let key = named_key(Owner::Intake, Table::ScheduledKeys, key, Some(row.place));
                draft.put(Partition::Base, key, located.clone());
            }
        }
        if scheduled.is_some() {
            let key = named_key(Owner::Intake, Table::ScheduledIds, &event.id, Some(row.place));
            draft.put(Partition::Base, key, located);
        }
    }

    /// Takes the first scheduled event that is due by now, if any, and gives it a row of today.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub(crate) fn enter_due(&mut self, draft: &mut Draft<'_>) -> Result<Option<Act>, Unreadable> {
        let Some((&(t, place), ())) = self.scheduled.first() else {
            return Ok(None);
        };
        if t > self.clock {
            return Ok(None);
        }
        let (row, last) = self.scheduled_row(draft, t, place)?;
        self.take_scheduled(draft, t, &row, last);
        let today = self.now.day();
        self.objects.touch_all(draft, &row.event, today)?;
        let at = self.enter_row(draft, last, &row)?;
        Ok(Some(Act::Enter { row, at, t }))
    }

    /// Gives a scheduled event a row of today, where it is found from now on, unless it has one.
    fn enter_row(
        &mut self,
        draft: &mut Draft<'_>,
        last: Instant,
        row: &EventRow,
    ) -> Result<EventAt, Unreadable> {
        let today = self.now.day();
        // Only such an event enters more than once, perhaps twice in a day, which has one row of it. Others
        // need no look-up.
        if row.event.deliver_local.is_some() || !row.after_ms.is_empty() {
            let arrived = self
                .locate(draft, &row.event.id)?
                .filter(|(day, of)| *day == today && of.place == row.place);
            if let Some(at) = arrived.and_then(|(_, located)| located.at) {
                return Ok(at);
            }
            let (owner, table) = (Owner::Intake, Table::EnteredIds);
            let known = named_in(draft, &row.event.id, owner, table, Partition::Day(today))?;
            let mut known = known.iter().map(|(_, located)| located);
            let known = known.find(|located| located.place == row.place);
            if let Some(at) = known.and_then(|located| located.at) {
                return Ok(at);
            }
        }
        let at = self.keep_event(draft, today, row);
        self.id_days.insert(today);
        self.entered_days.insert(today);
        let (place, tenant) = (row.place, row.tenant);
        let located = EventLocation { place, scheduled: Some(last), at: Some(at), tenant };
        name_again(draft, Owner::Intake, today, &row.event, located);
        Ok(at)
    }

    /// Removes an instant at which an event was to enter lanes, and with the last one what names it.
    fn take_scheduled(&mut self, draft: &mut Draft<'_>, t: Instant, row: &EventRow, last: Instant) {
        let place = row.place;
        self.scheduled.remove(&(t, place));
        if let Some(tenant) = row.tenant {
            draft.delete(Partition::Base, scheduled_of(tenant, t, place));
        }
        // Shards on other nodes may still have to read it: then it goes with the log entry, once all have applied that.
        if !draft.is_logged() {
            draft.delete(Partition::Base, scheduled_key(Owner::Intake, t, place));
        }
        // As long as another instant is left, a cancel has to find the event by these names.
        if t < last {
            return;
        }
        let id = named_key(Owner::Intake, Table::ScheduledIds, &row.event.id, Some(place));
        draft.delete(Partition::Base, id);
        if let Some(key) = &row.event.cancellation_key {
            let key = named_key(Owner::Intake, Table::ScheduledKeys, key, Some(place));
            draft.delete(Partition::Base, key);
        }
    }

    /// Finds the events to cancel. Scheduled events never enter a day of their own then, but their outcome can be read.
    fn accept_cancel(
        &mut self,
        draft: &mut Draft<'_>,
        cancelled: &Cancelled,
        tenant: Option<TenantNo>,
    ) -> Result<CancelledEvents, Unreadable> {
        let events = self.located_events(draft, cancelled, tenant)?;
        self.unschedule(draft, &events)?;
        Ok(events)
    }

    /// Takes events out of the schedule; each gets a row of today.
    pub(super) fn unschedule(
        &mut self,
        draft: &mut Draft<'_>,
        events: &CancelledEvents,
    ) -> Result<(), Unreadable> {
        for (place, event) in events {
            let Some(first) = event.waits_for.first() else {
                continue;
            };
            // Reads the event before its rows go, of which the last has it.
            let (row, last) = self.scheduled_row(draft, *first, *place)?;
            for t in &event.waits_for {
                self.take_scheduled(draft, *t, &row, last);
            }
            let at = self.enter_row(draft, last, &row)?;
            draft.log(|| Act::Keep { row, at });
        }
        Ok(())
    }

    /// Ends an act with the answer of shards, complete once all have answered. An event with an unknown recipient,
    /// without entries and without recipients left out by admission, releases its id. A cancel is remembered if its
    /// event is unknown and nothing of it was pending.
    pub(crate) fn answer(
        &mut self,
        draft: &mut Draft<'_>,
        act: &Act,
        is_whole: bool,
        reply: Reply,
    ) -> Result<Reply, Unreadable> {
        if let (Act::Publish { row, .. }, Reply::Published(published)) = (act, &reply) {
            let is_unknown = |warning: &Warning| matches!(warning, Warning::UnknownRecipient(_));
            // A shard that has not answered may have entries, and the id of such an event must not be free.
            let concerns_nobody = is_whole && published.entries + published.suppressed == 0;
            if concerns_nobody && published.warnings.iter().any(is_unknown) {
                self.give_back(draft, row)?;
            }
        }
        let (Act::Cancel(cancel), Reply::Cancelled(taken)) = (act, &reply) else {
            return Ok(reply);
        };
        let Cancelled::Event(id) = &cancel.what else {
            return Ok(reply);
        };
        if taken.took_something() || self.knows_cancelled(draft, cancel)? {
            return Ok(reply);
        }
        let now = self.now;
        self.ahead.remember(draft, id, cancel.tenant, now);
        Ok(Reply::Cancelled(TakenBackEntries::REMEMBERED))
    }

    /// Releases the id of an event without entries: the event can't be found any more, and enters no lanes.
    fn give_back(&mut self, draft: &mut Draft<'_>, row: &EventRow) -> Result<(), Unreadable> {
        let event = &row.event;
        let Some((day, located)) = self.locate(draft, &event.id)? else {
            return Ok(());
        };
        // Shards on other nodes answer later: by then the id may be another event's.
        if located.place != row.place {
            return Ok(());
        }
        let waits_for = self.waits_for(draft, located)?;
        if let Some(first) = waits_for.first() {
            let (row, last) = self.scheduled_row(draft, *first, located.place)?;
            for t in &waits_for {
                self.take_scheduled(draft, *t, &row, last);
            }
            draft.log(|| Act::Unschedule { place: located.place, waits_for });
        }
        draft.delete(Partition::Day(day), id_key(&event.id));
        if let Some(key) = &event.cancellation_key {
            let key = named_key(Owner::Intake, Table::Keys, key, Some(row.place));
            draft.delete(Partition::Day(day), key);
        }
        Ok(())
    }

    /// Pauses or resumes a type or channel.
    pub(crate) fn accept_pause(
        &mut self,
        what: &PauseSubject,
        pauses: bool,
    ) -> Result<IntakeDecision, Refused> {
        let changes = match (self.pausable(what)?, what) {
            (Some(channel), _) if pauses => self.paused.channels.insert(channel),
            (Some(channel), _) => self.paused.channels.remove(&channel),
            (None, PauseSubject::Type(name)) if pauses => {
                self.paused.types.insert(name.as_str().to_owned())
            }
            (None, PauseSubject::Type(name)) => self.paused.types.remove(name.as_str()),
            (None, PauseSubject::Channel(_)) => false,
        };
        Ok(match (changes, pauses) {
            (false, _) => IntakeDecision::Answered(Reply::Done),
            (true, true) => IntakeDecision::Act(Act::Pause(what.clone())),
            (true, false) => IntakeDecision::Act(Act::Resume(what.clone())),
        })
    }

    /// Checks that a type is configured or a channel known; returns the channel's number.
    ///
    /// # Errors
    /// [`Refused::UnknownType`] or [`Refused::UnknownChannel`].
    pub(crate) fn pausable(&self, what: &PauseSubject) -> Result<Option<ChannelNo>, Refused> {
        match what {
            PauseSubject::Type(name) => self.check_type(name).map(|_| None),
            PauseSubject::Channel(name) => {
                channel_no(name).map(Some).ok_or_else(|| Refused::UnknownChannel(name.clone()))
            }
        }
    }

    /// Writes a new version of the rules and the names that it gives.
    pub(crate) fn accept_rules(&mut self, draft: &mut Draft<'_>, rules: Rules) -> Act {
        let compiled = Arc::make_mut(&mut self.compiled);
        let number = compiled.current().map_or(1, |version| version.number + 1);
        draft.put(Partition::Base, rules_key(number), to_json(&rules));
        self.paused.keep_types(&rules);
        let logged = Box::new(rules.clone());
        let (version, given) = RulesVersion::new(number, rules, &mut compiled.names);
        for named in given {
            draft.put(Partition::Base, name_key(&named), encode(&named));
        }
        compiled.add(version);
        Act::Rules { version: number, rules: logged }
    }

    /// The rules of a type, if it is configured.
    ///
    /// # Errors
    /// [`Refused::UnknownType`].
    pub(crate) fn check_type(&self, event_type: &Id) -> Result<&Type, Refused> {
        let number = self.compiled.names.type_no(event_type.as_str());
        let current = self.compiled.current();
        let known = number.zip(current);
        if let Some(of_type) = known.and_then(|(no, version)| version.of_type(no)) {
            return Ok(of_type);
        }
        let types = current.map(|version| version.rules.types.keys().cloned());
        Err(Refused::UnknownType {
            event_type: event_type.clone(),
            configured: types.into_iter().flatten().collect(),
        })
    }
}
