//! Accepting: the intake gives a command its place in the order of all, or refuses it.
//!
//! It decides without knowing a recipient: ids, limits, objects, what is paused. What concerns one recipient
//! it leaves to the part that has them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::act::Act;
use super::draft::Draft;
use super::event_row::EventRow;
use super::intake::Intake;
use super::reply::{Published, PublishedAs, Refused, Reply, Warning};
use super::rows::{Located, id_key, name_again, name_key, named_key, rules_key, scheduled_key};
use crate::channel::{ChannelNo, channel_no};
use crate::command::{Cancelled, Command, Pausable};
use crate::compiled::{Type, Version};
use crate::event::{Event, Object};
use crate::id::Id;
use crate::journal::record::EventAt;
use crate::journal::stored::{Unreadable, encode, from_json, to_json};
use crate::rules::Rules;
use crate::table::{Owner, Partition, Table};
use crate::time::{Day, Instant};

/// The intake's decision on a command.
pub(super) enum Accepted {
    /// An act, which every part applies.
    Act(Box<Act>),
    /// Nothing is left to do.
    Answered(Reply),
    /// Days before this one are to be deleted, those of the parts with those of the intake.
    Forget(Day),
    /// It concerns one recipient: their part does it.
    OfRecipient(Id),
}

/// An answer of the intake; the outer error poisons it, the inner one is the user's.
type Accepting = Result<Result<Accepted, Refused>, Unreadable>;

impl Intake {
    /// Accepts a command.
    ///
    /// # Errors
    /// [`Unreadable`] outside; the engine is poisoned then: drop it and open another.
    pub(super) fn accept(&mut self, draft: &mut Draft<'_>, command: &Command) -> Accepting {
        let done = Ok(Accepted::Answered(Reply::Done));
        match command {
            Command::Publish(event) => self.accept_event(draft, event),
            Command::Object(object) => {
                if let Err(exceeded) = self.limits().check_data(&object.data) {
                    return Ok(Err(exceeded.into()));
                }
                let today = self.keep_today(draft);
                self.objects.upsert(draft, object, today)?;
                Ok(done)
            }
            Command::Retract { object } => {
                let today = self.keep_today(draft);
                self.objects.retract(draft, object, today)?;
                Ok(done)
            }
            Command::Cancel(cancelled) => {
                let act = self.accept_cancel(draft, cancelled)?;
                Ok(Ok(Accepted::Act(Box::new(act))))
            }
            Command::Pause(what) => Ok(self.accept_pause(what, true)),
            Command::Resume(what) => Ok(self.accept_pause(what, false)),
            Command::Forget { before } => Ok(Ok(Accepted::Forget(*before))),
            of_recipient => {
                let recipient = of_recipient.recipient().cloned();
                Ok(Ok(recipient.map_or(
                    Accepted::Answered(Reply::Done),
                    Accepted::OfRecipient,
                )))
            }
        }
    }

    /// Gives an event its place and its rows, once.
    fn accept_event(&mut self, draft: &mut Draft<'_>, event: &Event) -> Accepting {
        if let Some((day, located)) = self.locate(draft, &event.id)? {
            let published = self.publish_again(draft, event, day, located)?;
            return Ok(Ok(Accepted::Answered(Reply::Published(published))));
        }
        let keys = match self.check_type(&event.kind) {
            Ok(kind) => kind.keys(event),
            Err(refused) => return Ok(Err(refused)),
        };
        if let Err(exceeded) = self.limits().check_event(event) {
            return Ok(Err(exceeded.into()));
        }
        let keys = match keys {
            Ok(keys) => keys,
            Err(too_long) => return Ok(Err(too_long.into())),
        };
        let now = self.now;
        let row = EventRow {
            place: self.next_place,
            arrived: now,
            keys,
            event: event.clone(),
        };
        self.next_place += 1;
        self.tally.events += 1;
        let scheduled = event.deliver_at.filter(|t| *t > now);
        let named_on = scheduled.unwrap_or(now).day();
        self.name_objects(draft, event, named_on)?;
        let at = match scheduled {
            None => Some(self.keep_event(draft, now.day(), &row)),
            Some(t) => {
                self.scheduled.insert((t, row.place), ());
                let key = scheduled_key(Owner::Intake, t, row.place);
                draft.put(Partition::Base, key, to_json(&row));
                None
            }
        };
        self.register(draft, &row, scheduled, at);
        let act = match (scheduled, at) {
            (Some(t), _) => Act::Schedule { row, t },
            (None, Some(at)) => Act::Publish { row, at },
            (None, None) => return Err(Unreadable("an event without a row".to_owned())),
        };
        Ok(Ok(Accepted::Act(Box::new(act))))
    }

    /// Takes over what an event says of the objects that it names.
    fn name_objects(
        &mut self,
        draft: &mut Draft<'_>,
        event: &Event,
        day: Day,
    ) -> Result<(), Unreadable> {
        // Only an `object` command says whether an object may be told.
        let described = |object: &Object| Object {
            notifiable: None,
            ..object.clone()
        };
        for role in event.actor.iter().chain(&event.target) {
            self.objects.upsert_role(draft, &described(role), day)?;
        }
        self.objects.upsert(draft, &described(&event.object), day)
    }

    /// Answers an event whose id is known: nothing happens.
    fn publish_again(
        &mut self,
        draft: &Draft<'_>,
        event: &Event,
        day: Day,
        located: Located,
    ) -> Result<Published, Unreadable> {
        self.tally.republished += 1;
        let waits = located
            .scheduled
            .filter(|t| self.scheduled.contains_key(&(*t, located.place)));
        let stored = self.row_of(draft, &BTreeSet::from([(Some(day), located)]), waits)?;
        // What was stored has been through JSON, which not every number survives as it was.
        let given: Event = from_json("an event", &to_json(event))?;
        let differs = stored.is_some_and(|stored| stored.event != given);
        Ok(Published {
            id: event.id.clone(),
            status: PublishedAs::Duplicate,
            notifications: 0,
            entries: 0,
            warnings: differs.then_some(Warning::Differs).into_iter().collect(),
        })
    }

    /// Registers an event under its id and its cancellation key.
    fn register(
        &mut self,
        draft: &mut Draft<'_>,
        row: &EventRow,
        scheduled: Option<Instant>,
        at: Option<EventAt>,
    ) {
        let event = &row.event;
        let located = encode(&Located {
            place: row.place,
            scheduled,
            at,
        });
        let day = self.now.day();
        let today = Partition::Day(day);
        self.id_days.insert(day);
        self.known_ids.note(draft, day, &event.id);
        draft.put(today, id_key(&event.id), located.clone());
        if let Some(key) = &event.cancellation_key {
            let today_key = named_key(Owner::Intake, Table::Keys, key, Some(row.place));
            draft.put(today, today_key, located.clone());
            if scheduled.is_some() {
                let key = named_key(Owner::Intake, Table::ScheduledKeys, key, Some(row.place));
                draft.put(Partition::Base, key, located.clone());
            }
        }
        if scheduled.is_some() {
            let key = named_key(
                Owner::Intake,
                Table::ScheduledIds,
                &event.id,
                Some(row.place),
            );
            draft.put(Partition::Base, key, located);
        }
    }

    /// Takes the first scheduled event that is due by now, if any, and gives it a row of today.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub(super) fn enter_due(&mut self, draft: &mut Draft<'_>) -> Result<Option<Act>, Unreadable> {
        let Some((&(t, place), ())) = self.scheduled.first() else {
            return Ok(None);
        };
        if t > self.now {
            return Ok(None);
        }
        let row = self.take_scheduled(draft, t, place)?;
        let today = self.now.day();
        self.objects.touch_all(draft, &row.event, today)?;
        let at = self.enter_row(draft, t, &row);
        Ok(Some(Act::Enter { row, at, t }))
    }

    /// Gives a scheduled event a row of today, where it is found from now on.
    fn enter_row(&mut self, draft: &mut Draft<'_>, t: Instant, row: &EventRow) -> EventAt {
        let today = self.now.day();
        let at = self.keep_event(draft, today, row);
        self.id_days.insert(today);
        self.entered_days.insert(today);
        let located = Located {
            place: row.place,
            scheduled: Some(t),
            at: Some(at),
        };
        name_again(draft, Owner::Intake, today, &row.event, located);
        at
    }

    /// Removes a scheduled event and returns its row.
    fn take_scheduled(
        &mut self,
        draft: &mut Draft<'_>,
        t: Instant,
        place: u64,
    ) -> Result<EventRow, Unreadable> {
        self.scheduled.remove(&(t, place));
        let key = scheduled_key(Owner::Intake, t, place);
        let row = self.scheduled_row(draft, t, place)?;
        draft.delete(Partition::Base, key);
        let id = named_key(
            Owner::Intake,
            Table::ScheduledIds,
            &row.event.id,
            Some(place),
        );
        draft.delete(Partition::Base, id);
        if let Some(key) = &row.event.cancellation_key {
            let key = named_key(Owner::Intake, Table::ScheduledKeys, key, Some(place));
            draft.delete(Partition::Base, key);
        }
        Ok(row)
    }

    /// Finds the events to cancel. Those that are still scheduled never enter a day of their own, but what
    /// became of them can be asked.
    fn accept_cancel(
        &mut self,
        draft: &mut Draft<'_>,
        cancelled: &Cancelled,
    ) -> Result<Act, Unreadable> {
        let events = self.located_events(draft, cancelled)?;
        for (place, event) in &events {
            if let Some(t) = event.waits_for {
                let row = self.take_scheduled(draft, t, *place)?;
                self.enter_row(draft, t, &row);
            }
        }
        Ok(Act::Cancel {
            what: cancelled.clone(),
            events,
        })
    }

    /// Pauses or resumes a type or channel.
    fn accept_pause(&mut self, what: &Pausable, pauses: bool) -> Result<Accepted, Refused> {
        let changes = match (self.pausable(what)?, what) {
            (Some(channel), _) if pauses => self.paused.channels.insert(channel),
            (Some(channel), _) => self.paused.channels.remove(&channel),
            (None, Pausable::Type(name)) if pauses => {
                self.paused.types.insert(name.as_str().to_owned())
            }
            (None, Pausable::Type(name)) => self.paused.types.remove(name.as_str()),
            (None, Pausable::Channel(_)) => false,
        };
        Ok(match (changes, pauses) {
            (false, _) => Accepted::Answered(Reply::Done),
            (true, true) => Accepted::Act(Box::new(Act::Pause(what.clone()))),
            (true, false) => Accepted::Act(Box::new(Act::Resume(what.clone()))),
        })
    }

    /// Checks that a type is configured or a channel known; returns the channel's number.
    ///
    /// # Errors
    /// [`Refused::UnknownType`] or [`Refused::UnknownChannel`].
    pub(super) fn pausable(&self, what: &Pausable) -> Result<Option<ChannelNo>, Refused> {
        match what {
            Pausable::Type(name) => self.check_type(name).map(|_| None),
            Pausable::Channel(name) => {
                let number = channel_no(name).map(Some);
                number.ok_or_else(|| Refused::UnknownChannel(name.clone()))
            }
        }
    }

    /// Writes a new version of the rules and the names that it gives.
    pub(super) fn accept_rules(&mut self, draft: &mut Draft<'_>, rules: Rules) -> Act {
        let compiled = Arc::make_mut(&mut self.compiled);
        let number = compiled.current().map_or(1, |version| version.number + 1);
        draft.put(Partition::Base, rules_key(number), to_json(&rules));
        self.paused.keep_types(&rules);
        let (version, given) = Version::new(number, rules, &mut compiled.names);
        for named in given {
            draft.put(Partition::Base, name_key(&named), encode(&named));
        }
        compiled.add(version);
        Act::Rules { version: number }
    }

    /// The rules of a type, if it is configured.
    ///
    /// # Errors
    /// [`Refused::UnknownType`].
    pub(super) fn check_type(&self, kind: &Id) -> Result<&Type, Refused> {
        let number = self.compiled.names.type_no(kind.as_str());
        let current = self.compiled.current();
        let known = number.zip(current);
        if let Some(kind) = known.and_then(|(no, version)| version.kind(no)) {
            return Ok(kind);
        }
        let types = current.map(|version| version.rules.types.keys().cloned());
        Err(Refused::UnknownType {
            kind: kind.clone(),
            configured: types.into_iter().flatten().collect(),
        })
    }
}
