//! Arrivals: the audience of an event, who is admitted, and their entries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidings_core::model::Reason;
use tidings_core::rules::Admission;
use tidings_core::{Day, Event, Object};

use super::figures::FirstMarks;
use super::route::{self, Route};
use super::{AdmissionKey, Entry, Model, ModelEntryState, ModelEvent, Refused, audience, calendar};

impl Model {
    pub(super) fn publish(&mut self, event: Event) -> Result<(), Refused> {
        if self.known.contains_key(&event.id) {
            self.counted.republished += 1;
            return Ok(());
        }
        let known = event.tenant.as_ref().map(|id| self.tenant_of_event(id)).transpose()?;
        let Some(type_rules) = self.current().types.get(event.event_type.as_str()) else {
            return Err(Refused::UnknownType(event.event_type));
        };
        let include_actor = type_rules.include_actor;
        for change in &event.to.profiles {
            self.are_there(change, event.tenant.as_ref())?;
        }
        let mut channels: Vec<String> = type_rules.channels.keys().cloned().collect();
        if let Some(only) = &event.channels {
            channels.retain(|channel| only.contains(channel));
        }
        let tenant = known.map(|known| known.unwrap_or_else(|id| self.tenants.make(id)));
        for role in event.actor.iter().chain(&event.target) {
            let described = Object { notifiable: None, ..role.clone() };
            if described != Object::bare(role.id.clone()) {
                self.objects.get_or_make(&role.id).learn(&described, false);
            }
        }
        let object = self.objects.get_or_make(&event.object.id);
        object.retracted = false;
        object.learn(&Object { notifiable: None, ..event.object.clone() }, false);
        let ahead = |of: Option<usize>| {
            let until = self.ahead.get(&(event.id.clone(), of));
            until.is_some_and(|until| self.now < *until)
        };
        let cancelled = ahead(None) || ahead(tenant);
        let mut all_t =
            if cancelled { BTreeSet::from([self.now]) } else { calendar::all_t(&event, self.now) };
        if !cancelled {
            for t in all_t.clone() {
                all_t.extend(channels.iter().map(|channel| {
                    t.plus_ms(route::after_ms(self.current(), event.event_type.as_str(), channel))
                }));
            }
        }
        let last = all_t.last().copied().unwrap_or(self.now);
        self.name(&event, last.day());

        self.counted.events += 1;
        let arrival = self.events.len();
        self.known.insert(event.id.clone(), arrival);
        self.days.entry(self.now.day()).or_default().events.push(arrival);
        self.events.push(ModelEvent {
            event,
            tenant,
            entries: Vec::new(),
            arrived: self.now,
            channels: channels.clone(),
            reached: BTreeMap::new(),
        });
        if cancelled {
            return Ok(());
        }
        for change in self.events[arrival].event.to.profiles.clone() {
            self.change_recipient(&change);
        }
        let concerned = audience::audience(
            &self.events[arrival].event,
            include_actor,
            &self.people,
            &self.by_id,
            &self.followers,
            tenant.map(|tenant| (tenant, &self.tenants.get(tenant).members)),
        );
        self.counted.warnings += concerned.unknown + u64::from(concerned.reasons.is_empty());
        let left_out = self.counted.suppressed;
        for (person, reasons) in concerned.reasons {
            notify(self, arrival, person, &Arc::new(reasons), &channels);
        }
        // Its id is as if it had not come.
        let left_out = self.counted.suppressed - left_out;
        if concerned.unknown > 0 && left_out == 0 && self.events[arrival].entries.is_empty() {
            self.given_back += 1;
            let id = self.events[arrival].event.id.clone();
            self.known.remove(&id);
            all_t.clear();
        }
        // It is stored on the day of each, whether or not it has entries.
        let later = all_t.into_iter().filter(|t| *t > self.now);
        self.scheduled.extend(later.map(|t| (t, arrival)));
        self.enter_all(arrival);
        Ok(())
    }

    /// An event names its object, and its actor and target where they are known as objects.
    pub(super) fn name(&mut self, event: &Event, day: Day) {
        for object in event.actor.iter().chain(&event.target).chain([&event.object]) {
            self.objects.name(&object.id, day);
        }
    }

    /// The key of an event's entries by the rules in force.
    pub(super) fn key_of(&self, arrival: usize) -> AdmissionKey {
        let ModelEvent { event, tenant, .. } = &self.events[arrival];
        let event_type = event.event_type.as_str();
        let per = self.current().types.get(event_type).map_or("type", |rules| rules.per.word());
        let id = match per {
            "object" => Some(event.object.id.clone()),
            "target" => event.target.as_ref().map(|target| target.id.clone()),
            _ => None,
        };
        (*tenant, event_type.to_owned(), per, id)
    }
}

/// Contract, section 6, "Admission".
fn admits(model: &mut Model, arrival: usize, person: usize) -> bool {
    let event = &model.events[arrival].event;
    let admission = model.current().types[event.event_type.as_str()].admission;
    if admission == Admission::Always {
        return true;
    }
    let key = model.key_of(arrival);
    let pending: Vec<usize> = (0..model.entries.len())
        .filter(|&entry| {
            let entry = &model.entries[entry];
            entry.person == person
                && !matches!(entry.state, ModelEntryState::Ended(_))
                && model.key_of(entry.event) == key
        })
        .collect();
    let is_first = match admission {
        Admission::Always | Admission::LastOnly => true,
        Admission::OncePending => pending.is_empty(),
        Admission::OnceEver => pending.is_empty() && !model.admitted_once.contains(&(person, key)),
    };
    if !is_first {
        return false;
    }
    if admission == Admission::LastOnly {
        for entry in pending {
            model.end(entry, Some(Reason::Replaced));
        }
    }
    true
}

/// Makes the entries of one notification: preferences at arrival decide whether there are any.
fn notify(
    model: &mut Model,
    arrival: usize,
    person: usize,
    reasons: &Arc<Vec<String>>,
    channels: &[String],
) {
    let before = model.entries.len();
    let mut wanted = Vec::new();
    for channel in channels {
        let event = &model.events[arrival].event;
        let chosen = model.settings(person, model.events[arrival].tenant).chosen();
        if route::route(model.current(), &chosen, event.event_type.as_str(), channel)
            == Route::Never
        {
            continue;
        }
        let left = route::reasons_left(model.current(), &chosen, event, channel, reasons);
        if !left.is_empty() {
            wanted.push((channel, left));
        }
    }
    if !wanted.is_empty() && !admits(model, arrival, person) {
        model.counted.suppressed += 1;
        let event_type = model.events[arrival].event.event_type.as_str();
        let why = match model.current().types[event_type].admission {
            Admission::OnceEver => "once_ever",
            _ => "once_pending",
        };
        let channels = wanted.into_iter().map(|(channel, _)| channel.clone()).collect();
        model.events[arrival].reached.insert(person, Some((why, channels)));
        return;
    }
    model.events[arrival].reached.insert(person, None);
    for (channel, left) in wanted {
        let event = &model.events[arrival].event;
        let zone = model.settings(person, model.events[arrival].tenant).tz();
        let after_ms = route::after_ms(model.current(), event.event_type.as_str(), channel);
        let t = calendar::enters(event, zone, model.now).plus_ms(after_ms);
        model.events[arrival].entries.push(model.entries.len());
        model.entries.push(Entry {
            event: arrival,
            person,
            channel: channel.clone(),
            t,
            key: route::key(model.current(), &model.events[arrival].event, channel),
            reasons: Arc::new(left),
            state: ModelEntryState::Scheduled,
            day: model.now.day(),
            entered: model.now,
            delivered: None,
            first: FirstMarks::default(),
            seen: false,
            place: 0,
            item: None,
            shown: false,
            urgent: false,
        });
    }
    model.counted.notifications += u64::from(model.entries.len() > before);
}
