//! Pending entries: how they enter lanes, move, are marked, cancelled and deleted.

use std::collections::BTreeSet;

use tidings_core::model::{
    BatchKey, Cancelled, DAY_MS, INBOX, MarkKind, Marked, PauseSubject, Reason, TypeFilter, View,
};
use tidings_core::rules::Policy;
use tidings_core::{Day, Event, Instant};

use super::route::{self, Route};
use super::tenant::has;
use super::window::{Lane, Window, WindowEntry};
use super::{Entry, Model, ModelEntryState, ModelEvent, calendar};

/// The lane of paused types, which is never due.
pub(super) const PAUSED: &str = "paused";

impl Model {
    /// An event's `t` has come: what is scheduled of it enters its lanes.
    pub(super) fn enter_all(&mut self, arrival: usize) {
        // A day has its events, with or without entries.
        self.days.entry(self.now.day()).or_default();
        for entry in self.events[arrival].entries.clone() {
            let Entry { state, t, .. } = self.entries[entry];
            if state != ModelEntryState::Scheduled || t > self.now {
                continue;
            }
            match self.route_of(entry) {
                Route::UnknownType => self.end(entry, Some(Reason::UnknownType)),
                _ if self.people[self.entries[entry].person].gone => {
                    self.end(entry, Some(Reason::RecipientGone));
                }
                Route::Never => self.end(entry, Some(Reason::Preference)),
                Route::Lane { .. } if self.was_seen_before(entry) => {
                    self.end(entry, Some(Reason::Seen));
                }
                Route::Lane { name, policy } => self.enter(entry, name, policy),
            }
        }
        fill(self);
    }

    pub(super) fn route_of(&self, entry: usize) -> Route {
        let entry = &self.entries[entry];
        let event = &self.events[entry.event].event;
        let event_type = event.event_type.as_str();
        let chosen = self.settings(entry.person, self.events[entry.event].tenant).chosen();
        let route = route::route(self.current(), &chosen, event_type, &entry.channel);
        let (channel, reasons) = (&entry.channel, &entry.reasons);
        match route {
            Route::Lane { .. }
                if route::reasons_left(self.current(), &chosen, event, channel, reasons)
                    .is_empty() =>
            {
                Route::Never
            }
            Route::Lane { .. } if is_set_apart(self, event_type, &entry.channel) => {
                Route::Lane { name: PAUSED.to_owned(), policy: Policy::Never }
            }
            _ => route,
        }
    }

    /// Pauses or lets go on.
    pub(super) fn pause(&mut self, what: PauseSubject, on: bool) {
        let (set, name) = match what {
            PauseSubject::Type(event_type) => {
                (&mut self.paused_types, event_type.as_str().to_owned())
            }
            PauseSubject::Channel(channel) => (&mut self.paused_channels, channel),
        };
        if on {
            set.insert(name);
        } else {
            set.remove(&name);
        }
        self.reroute(None);
    }

    /// Puts an entry into a lane, whose window it opens or joins.
    fn enter(&mut self, entry: usize, name: String, policy: Policy) {
        let Entry { person, ref channel, event, .. } = self.entries[entry];
        let batch_key = key_in(self, entry, &policy);
        let tenant = self.events[event].tenant;
        let lane_key = (person, channel.clone(), name.clone(), batch_key.clone(), tenant);
        let lane = *self.lane_of.entry(lane_key).or_insert_with(|| {
            self.lanes.push(Lane {
                person,
                channel: channel.clone(),
                name,
                key: batch_key,
                tenant,
                waiting: BTreeSet::new(),
                window: None,
                last_message: None,
                passed_empty_at: None,
            });
            self.lanes.len() - 1
        });
        let mut member = WindowEntry {
            t: self.entries[entry].t,
            arrival: event,
            max_items: max_items_in(self, self.rules.len() - 1, entry, lane),
            policy,
        };
        if let Some(window) = &self.lanes[lane].window {
            member.max_items = max_items_in(self, window.rules, entry, lane);
            if let Some(policy) = policy_under(self, window.rules, entry, lane) {
                member.policy = policy;
            }
        }
        let slot = slot_for(self, person, tenant, &member.policy);
        let opened_under = self.rules.len() - 1;
        if let (Policy::Leading { quiet_ms }, Some(at)) =
            (&member.policy, self.lanes[lane].passed_empty_at)
        {
            self.passed_empty |= self.now < at.plus_ms(*quiet_ms);
        }
        match &mut self.lanes[lane].window {
            Some(window) => window.join(member),
            none => *none = Some(Window::open(opened_under, member, slot)),
        }
        self.open.insert(lane);
        self.lanes[lane].waiting.insert(entry);
        self.entries[entry].state = ModelEntryState::Waiting { lane };
        self.entries[entry].day = self.now.day();
        self.entries[entry].entered = self.now;
        self.entries[entry].place = self.places();
        let event_type = self.events[event].event.event_type.as_str();
        let rules = self.current().types.get(event_type);
        self.entries[entry].urgent = rules.is_some_and(|rules| rules.urgent);
        let named = self.events[event].event.clone();
        self.name(&named, self.now.day());
        self.days.entry(self.now.day()).or_default().entries.push(entry);
    }

    /// A lane with a key or of a tenant keeps the instant of its last message while some type could need it.
    pub(super) fn fade(&mut self) {
        for lane in 0..self.lanes.len() {
            let Lane { ref channel, ref name, ref key, tenant, ref window, last_message, .. } =
                self.lanes[lane];
            if key.is_empty() && tenant.is_none() || window.is_some() {
                continue;
            }
            let longest = self
                .current()
                .types
                .values()
                .filter_map(|rules| Some((rules, rules.channels.get(channel)?)))
                .filter_map(|(rules, route)| match route.policy {
                    Policy::Leading { quiet_ms } => {
                        let lane = route.lane.clone().or_else(|| route.policy.lane_name());
                        let lane = lane.map(|lane| route::lane_of(rules, channel, &lane));
                        (lane.as_ref() == Some(name)).then_some(quiet_ms)
                    }
                    _ => None,
                });
            let longest = longest.max().unwrap_or(0);
            if last_message.is_some_and(|last| last.plus_ms(longest) <= self.now) {
                self.lanes[lane].last_message = None;
            }
        }
    }

    /// Ends an entry for a reason; `None` = it was delivered.
    pub(super) fn end(&mut self, entry: usize, why: Option<Reason>) {
        if let ModelEntryState::Waiting { lane } = self.entries[entry].state {
            self.lanes[lane].waiting.remove(&entry);
        }
        self.entries[entry].state = ModelEntryState::Ended(why);
    }

    /// Moves pending entries to their new lanes after a change of preferences or rules.
    pub(super) fn reroute(&mut self, person: Option<usize>) {
        let mut waiting = waiting(self, person);
        waiting.sort_unstable();
        let mut moved = Vec::new();
        for entry in waiting {
            let ModelEntryState::Waiting { lane } = self.entries[entry].state else {
                continue;
            };
            let apart = self.lanes[lane].name == PAUSED;
            if self.people[self.lanes[lane].person].gone {
                let event_type = self.events[self.entries[entry].event].event.event_type.clone();
                if apart && self.route_of(entry) == Route::UnknownType {
                    self.end(entry, Some(Reason::UnknownType));
                } else if apart
                    && !is_set_apart(self, event_type.as_str(), &self.lanes[lane].channel)
                {
                    self.end(entry, Some(Reason::RecipientGone));
                }
                continue;
            }
            match self.route_of(entry) {
                Route::UnknownType if apart => self.end(entry, Some(Reason::UnknownType)),
                Route::UnknownType => {}
                Route::Never => self.end(entry, Some(Reason::Preference)),
                Route::Lane { name, policy } => {
                    let key = key_in(self, entry, &policy);
                    if (&name, &key) != (&self.lanes[lane].name, &self.lanes[lane].key) {
                        self.lanes[lane].waiting.remove(&entry);
                        self.enter(entry, name, policy);
                        moved.push((self.entries[entry].t, entry));
                    }
                }
            }
        }
        // They move as a set, and are in inboxes in the order of their times.
        moved.sort_unstable();
        for (_, entry) in moved {
            self.entries[entry].place = self.places();
        }
        fill(self);
    }

    /// Covers what has entered its lane by now, never what enters later.
    pub(super) fn mark(&mut self, person: usize, what: &Marked, kind: MarkKind, view: View<usize>) {
        for entry in waiting(self, Some(person)) {
            let ModelEvent { event, tenant, .. } = &self.events[self.entries[entry].event];
            if !has(view, *tenant) {
                continue;
            }
            let covered = match what {
                Marked::UpTo(until) => {
                    self.entries[entry].t <= *until && has_inbox(self, event.event_type.as_str())
                }
                Marked::Object(object) => event.object.id == *object,
                Marked::Event(id) => event.id == *id,
                // They are about an inbox alone.
                Marked::Row(_) | Marked::UpToOf(..) => false,
            };
            self.entries[entry].seen |= covered;
            if covered && kind == MarkKind::Read {
                self.read.insert(entry);
            }
        }
        for entry in &mut self.entries {
            let ModelEvent { event, tenant, .. } = &self.events[entry.event];
            let is_meant = entry.shown && entry.person == person && has(view, *tenant);
            entry.seen |= is_meant && is_about(entry, event, what);
        }
    }

    /// Contract, section 9, "Marks": archived, snoozed and deleted items count as seen from that moment on.
    pub(super) fn shelve(&mut self, person: usize, what: &Marked, view: View<usize>) {
        let events: Vec<usize> = self
            .entries
            .iter()
            .filter(|entry| entry.shown && entry.person == person)
            .filter(|entry| has(view, self.events[entry.event].tenant))
            .filter(|entry| is_about(entry, &self.events[entry.event].event, what))
            .map(|entry| entry.event)
            .collect();
        for entry in self.entries.iter_mut().filter(|entry| entry.person == person) {
            entry.seen |= events.contains(&entry.event);
        }
    }

    /// Contract, section 6, "after": the same event was seen in the inbox, before it came on this channel.
    pub(super) fn was_seen_before(&self, entry: usize) -> bool {
        let Entry { event, person, ref channel, .. } = self.entries[entry];
        let ModelEvent { event, entries, .. } = &self.events[event];
        let comes_later = route::after_ms(self.current(), event.event_type.as_str(), channel) > 0;
        let mut entries = entries.iter().map(|entry| &self.entries[*entry]);
        comes_later && entries.any(|other| other.person == person && other.shown && other.seen)
    }

    /// Cancels events: of one tenant, or whatever they are of.
    pub(super) fn cancel(&mut self, what: &Cancelled, of: Option<usize>) {
        let mut waited = false;
        for arrival in 0..self.events.len() {
            if self.events[arrival].is_meant(what, of) {
                waited |= self.end_event(arrival, Reason::Event);
            }
        }
        // Contract, section 6, "Cancel ahead".
        if let Cancelled::Event(id) = what
            && !waited
            && !self.known.get(id).is_some_and(|known| self.events[*known].is_meant(what, of))
        {
            self.ahead.insert((id.clone(), of), self.now.plus_ms(DAY_MS));
        }
    }

    /// Ends what waits of an event; tells whether something did.
    pub(super) fn end_event(&mut self, arrival: usize, why: Reason) -> bool {
        self.scheduled.retain(|(_, of)| *of != arrival);
        let mut waited = false;
        for entry in self.events[arrival].entries.clone() {
            if !matches!(self.entries[entry].state, ModelEntryState::Ended(_)) {
                self.end(entry, Some(why));
                waited = true;
            }
        }
        waited
    }

    /// Open lanes, the inbox apart, are due now.
    pub(super) fn flush(
        &mut self,
        person: usize,
        channel: Option<&str>,
        name: Option<&str>,
        key: Option<&BatchKey>,
        view: View<usize>,
    ) {
        for &lane in &self.open {
            let lane = &mut self.lanes[lane];
            let meant = lane.person == person
                && lane.channel != INBOX
                && lane.name != PAUSED
                && has(view, lane.tenant)
                && channel.is_none_or(|channel| channel == lane.channel)
                && name.is_none_or(|name| name == lane.name)
                && key.is_none_or(|key| *key == lane.key);
            if let Some(window) = lane.window.as_mut().filter(|_| meant) {
                window.flush(self.now, lane.last_message);
            }
        }
    }

    /// Drops every day before this one: what waits there ends as expired.
    pub(super) fn forget(&mut self, before: Day) {
        while let Some((&day, _)) = self.days.range(..before).next() {
            let held = self.days.remove(&day).unwrap_or_default();
            for arrival in held.events {
                let id = &self.events[arrival].event.id;
                if self.known.get(id) == Some(&arrival) {
                    self.known.remove(id);
                }
            }
            for entry in held.entries {
                let waits = matches!(self.entries[entry].state, ModelEntryState::Waiting { .. });
                if self.entries[entry].day != day {
                    continue;
                }
                self.entries[entry].shown = false;
                if waits {
                    self.end(entry, Some(Reason::Forgotten));
                }
            }
        }
        let before = before.min(self.now.day());
        self.objects.forget(|day| day < before);
    }
}

/// Makes windows due that have as many entries as they take, once all of an instant have entered.
fn fill(model: &mut Model) {
    for &lane in &model.open {
        let lane = &mut model.lanes[lane];
        if let Some(window) = &mut lane.window {
            window.fill(model.now, lane.last_message);
        }
    }
}

/// `max_items` of an entry's type, if the lane is that of the type's own policy.
fn max_items_in(model: &Model, rules: usize, entry: usize, lane: usize) -> Option<u16> {
    policy_under(model, rules, entry, lane)?;
    let entry = &model.entries[entry];
    let event_type = &model.events[entry.event].event.event_type;
    let own = model.rules[rules].types.get(event_type.as_str())?;
    own.channels.get(&entry.channel)?.max_items
}

fn is_set_apart(model: &Model, event_type: &str, channel: &str) -> bool {
    model.paused_types.contains(event_type)
        || (channel == INBOX && model.paused_channels.contains(INBOX))
}

/// The policy that an entry's type had of its own in this lane under older rules, whatever the
/// recipient chose.
fn policy_under(model: &Model, rules: usize, entry: usize, lane: usize) -> Option<Policy> {
    let entry = &model.entries[entry];
    let event_type = model.events[entry.event].event.event_type.as_str();
    match route::route(&model.rules[rules], &[], event_type, &entry.channel) {
        Route::Lane { name, policy } if name == model.lanes[lane].name => Some(policy),
        Route::Lane { .. } | Route::Never | Route::UnknownType => None,
    }
}

/// Contract, section 6: a key is for `first_event`, `cooldown` and `leading`.
fn key_in(model: &Model, entry: usize, policy: &Policy) -> BatchKey {
    match policy {
        Policy::FirstEvent { .. } | Policy::Cooldown { .. } | Policy::Leading { .. } => {
            model.entries[entry].key.clone()
        }
        Policy::Now | Policy::Digest { .. } | Policy::Never => BatchKey::EMPTY,
    }
}

fn slot_for(
    model: &Model,
    person: usize,
    tenant: Option<usize>,
    policy: &Policy,
) -> Option<Instant> {
    let Policy::Digest { digest } = policy else {
        return None;
    };
    let (name, digest) = (digest, model.current().digests.get(digest)?);
    let settings = model.settings(person, tenant);
    let zone = settings.zone_of(digest);
    let id = model.people[person].id.as_str();
    Some(calendar::next_slot(&settings.digest(name, digest), id, &zone, model.now))
}

/// All that waits in open lanes, of one person or of all.
fn waiting(model: &Model, person: Option<usize>) -> Vec<usize> {
    let lanes = model.open.iter().map(|&lane| &model.lanes[lane]);
    lanes
        .filter(|lane| person.is_none_or(|person| lane.person == person))
        .flat_map(|lane| lane.waiting.iter().copied())
        .collect()
}

fn has_inbox(model: &Model, event_type: &str) -> bool {
    let inbox = model.current().types.get(event_type).and_then(|rules| rules.channels.get(INBOX));
    inbox.is_some_and(|route| route.policy != Policy::Never)
}

/// Returns true if a mark is about an entry of an inbox.
fn is_about(entry: &Entry, event: &Event, what: &Marked) -> bool {
    match what {
        Marked::UpTo(until) => entry.t <= *until,
        Marked::Object(object) => event.object.id == *object,
        Marked::Event(id) => event.id == *id,
        Marked::UpToOf(until, TypeFilter::Type(kind)) => {
            entry.t <= *until && event.event_type.as_str() == kind
        }
        // Random worlds name neither.
        Marked::UpToOf(_, TypeFilter::Category(_)) | Marked::Row(_) => false,
    }
}
