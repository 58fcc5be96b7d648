//! The clock of the model: its instants, and the three phases of each.

use tidings_core::content::{Item, Message, SkippedEntry};
use tidings_core::model::{ChannelAddress, DAY_MS, INBOX, Reason, channel_no};
use tidings_core::rules::{Admission, AllowedAddresses, Policy};
use tidings_core::{Instant, Rules};

use super::calendar;
use super::figures::SuppressedMessage;
use super::pending::PAUSED;
use super::person::Person;
use super::route::{self, Route};
use super::window::Lane;
use super::{Entry, Model, ModelEntryState, ModelEvent, Refused, condition};

impl Model {
    /// Runs the clock until no pending entry can become due, or to `until`, all steps of that instant
    /// included.
    pub fn finish(&mut self, until: Option<Instant>) {
        self.close_instant();
        match until {
            Some(until) => {
                play_before(self, until);
                if self.now < until {
                    begin(self, until);
                    self.close_instant();
                }
            }
            None => {
                while could_become_due(self) {
                    let Some(next) = next_instant(self) else {
                        break;
                    };
                    begin(self, next);
                    self.close_instant();
                }
            }
        }
    }

    /// Comes to the middle phase of an instant, having played all before it.
    pub(super) fn advance(&mut self, to: Instant) -> Result<(), Refused> {
        if to < self.now {
            return Err(Refused::TimeWentBack(to));
        }
        if self.midst && to == self.now {
            return Ok(());
        }
        self.close_instant();
        play_before(self, to);
        begin(self, to);
        Ok(())
    }

    /// The last phase.
    fn close_instant(&mut self) {
        if !self.midst {
            return;
        }
        self.send_what_is_due();
        self.messages[self.earlier..].sort_by(|a, b| {
            (&a.recipient, &a.channel, &a.lane, &a.key, &a.tenant).cmp(&(
                &b.recipient,
                &b.channel,
                &b.lane,
                &b.key,
                &b.tenant,
            ))
        });
        self.midst = false;
    }

    fn send_what_is_due(&mut self) {
        while self.send_some() {}
    }

    /// Closes what is due, all of one person in the order of channel, lane, key and tenant. Returns whether a cap has kept
    /// something that a closing without a message lets go.
    fn send_some(&mut self) -> bool {
        let mut open: Vec<usize> = self.open.iter().copied().collect();
        open.sort_by_key(|&lane| {
            let lane = &self.lanes[lane];
            let (channel, name) = (lane.channel.clone(), lane.name.clone());
            (lane.person, channel, name, lane.key.clone(), self.tenants.id_of(lane.tenant))
        });
        let (mut closing, mut keeps) = (Vec::new(), false);
        for lane in open {
            let is_due = due(self, lane).is_some_and(|(due, _)| due <= self.now);
            let is_quiet = quiet_until(self, lane, self.now).is_some();
            if is_due && !is_quiet && passes_over(self, lane) {
                continue;
            }
            match due(self, lane) {
                Some((due, LaneVerdict::No)) if due <= self.now && is_quiet => {}
                Some((due, LaneVerdict::No)) if due <= self.now => {
                    if is_capped(self, lane, &closing) {
                        keeps = true;
                        fix(self, lane);
                    } else {
                        closing.push(lane);
                    }
                }
                Some((due, LaneVerdict::Yes)) if due <= self.now => fix(self, lane),
                _ => {}
            }
        }
        let before = self.messages.len();
        let closed = closing.len();
        for lane in closing {
            close(self, lane);
        }
        keeps && self.messages.len() - before < closed
    }

    /// New rules come: what the caps until now did not count is forgotten, and all where there are none any more.
    pub(super) fn trim_log(&mut self, new: &Rules) {
        let now = self.now;
        let caps = self.current().caps.clone();
        for ((_, channel), sent_at) in &mut self.sent_at {
            if !new.caps.iter().any(|cap| cap.channel == *channel) {
                sent_at.clear();
            }
            let caps = caps.iter().filter(|cap| cap.channel == *channel);
            let longest = caps.clone().map(|cap| cap.per_ms).max().unwrap_or(0);
            let most = caps.map(|cap| cap.max as usize).max().unwrap_or(0);
            sent_at.retain(|instant| *instant > now.plus_ms(-longest));
            sent_at.drain(..sent_at.len().saturating_sub(most));
        }
    }
}

fn play_before(model: &mut Model, to: Instant) {
    while let Some(next) = next_instant(model).filter(|&next| next < to) {
        begin(model, next);
        model.close_instant();
    }
}

/// The first phase of an instant, the forgetting of days, and what was scheduled for it.
fn begin(model: &mut Model, at: Instant) {
    model.now = at;
    model.midst = true;
    model.earlier = model.messages.len();
    model.send_what_is_due();
    if at.0.rem_euclid(DAY_MS) == 0 {
        let keep = model.current().store.keep_ms;
        let ended = |day: tidings_core::Day| day.end().plus_ms(keep) <= at;
        let gone = model.days.keys().copied().take_while(|&day| ended(day)).last();
        if let Some(gone) = gone {
            model.forget(tidings_core::Day(gone.0 + 1));
            model.objects.forget(ended);
        }
    }
    model.end_snoozes();
    while let Some(&(t, arrival)) = model.scheduled.first().filter(|(t, _)| *t <= at) {
        model.scheduled.remove(&(t, arrival));
        model.enter_all(arrival);
    }
}

/// The next instant after now at which something may happen by itself.
fn next_instant(model: &Model) -> Option<Instant> {
    let dues = model.open.iter().flat_map(|&lane| {
        let due_at = due(model, lane).map(|(due, _)| due);
        let quiet = quiet_until(model, lane, model.now);
        let own = model.lanes[lane]
            .window
            .as_ref()
            .map(|window| window.due(model.lanes[lane].last_message));
        [due_at, quiet, own].into_iter().flatten()
    });
    let freed = model
        .sent_at
        .values()
        .flatten()
        .flat_map(|sent_at| model.current().caps.iter().map(|cap| sent_at.plus_ms(cap.per_ms)));
    let scheduled = model.scheduled.first().map(|&(t, _)| t);
    let forgetting = model.days.first_key_value().map(|(day, _)| {
        let midnights = |instant: Instant| instant.0.div_euclid(DAY_MS);
        let kept_until = day.end().plus_ms(model.current().store.keep_ms);
        let first = midnights(kept_until.plus_ms(DAY_MS - 1));
        Instant(first.max(midnights(model.now) + 1) * DAY_MS)
    });
    dues.chain(scheduled).chain(forgetting).chain(freed).filter(|&next| next > model.now).min()
}

/// The deadline of an open lane, and whether it is held back.
fn due(model: &Model, index: usize) -> Option<(Instant, LaneVerdict)> {
    let lane = &model.lanes[index];
    let window = lane.window.as_ref().filter(|_| lane.name != PAUSED)?;
    let paused = model.paused_channels.contains(&lane.channel);
    let held = if paused || model.people[lane.person].is_held(&lane.channel) {
        LaneVerdict::Yes
    } else {
        LaneVerdict::No
    };
    let due = window.due(lane.last_message);
    Some((quiet_until(model, index, due).unwrap_or(due), held))
}

/// The end of the quiet hours that keep a lane's window at an instant.
fn quiet_until(model: &Model, index: usize, at: Instant) -> Option<Instant> {
    let lane = &model.lanes[index];
    lane.window.as_ref().filter(|_| lane.name != PAUSED)?;
    let hours = model.settings(lane.person, lane.tenant).quiet_hours(&lane.channel)?;
    if passes(model, index) {
        return None;
    }
    let zone = calendar::zone(model.settings(lane.person, lane.tenant).tz());
    calendar::quiet_until(&hours, &zone, at)
}

/// Returns true if quiet hours and caps don't keep a lane's window.
fn passes(model: &Model, lane: usize) -> bool {
    let lane = &model.lanes[lane];
    let is_urgent = |entry: &usize| model.entries[*entry].urgent;
    let flushed = lane.window.as_ref().is_some_and(|window| window.flushed);
    flushed || lane.waiting.iter().any(is_urgent)
}

fn could_become_due(model: &Model) -> bool {
    let waits = |&lane: &usize| {
        !model.lanes[lane].waiting.is_empty()
            && due(model, lane).is_some_and(|(_, held)| held == LaneVerdict::No)
    };
    let scheduled = |entry: &Entry| entry.state == ModelEntryState::Scheduled;
    model.entries.iter().any(scheduled) || model.open.iter().any(waits)
}

fn fix(model: &mut Model, lane: usize) {
    let last = model.lanes[lane].last_message;
    if let Some(window) = model.lanes[lane].window.as_mut() {
        window.fix(last);
    }
}

/// Contract, section 6, "Caps". `closing` = lanes that close at this instant, before this one.
fn is_capped(model: &Model, index: usize, closing: &[usize]) -> bool {
    let lane = &model.lanes[index];
    if passes(model, index) || model.people[lane.person].gone {
        return false;
    }
    let alike = |other: &&usize| {
        let other = &model.lanes[**other];
        other.person == lane.person && other.channel == lane.channel
    };
    let now = closing.iter().filter(alike).count();
    let sent_at = model.sent_at.get(&(lane.person, lane.channel.clone()));
    let mut caps = model.current().caps.iter().filter(|cap| cap.channel == lane.channel);
    caps.any(|cap| {
        let since = model.now.plus_ms(-cap.per_ms);
        let sent_at = sent_at.into_iter().flatten().filter(|instant| **instant > since).count();
        (sent_at + now) as u64 >= u64::from(cap.max)
    })
}

/// Contract, section 6, "min_items": counts the window of a digest that is due for the first time. With
/// fewer, but not none, it waits for the next slot.
fn passes_over(model: &mut Model, lane: usize) -> bool {
    let now = model.now;
    let Lane { person, tenant, .. } = model.lanes[lane];
    let pending = model.lanes[lane].waiting.len();
    let Some(window) = &mut model.lanes[lane].window else {
        return false;
    };
    let Policy::Digest { digest: name } = &window.policy else {
        return false;
    };
    let name = name.clone();
    let Some(digest) = model.rules[window.rules].digests.get(&name).cloned() else {
        return false;
    };
    if window.flushed || window.full || std::mem::replace(&mut window.counted, true) {
        return false;
    }
    // Nothing is kept of who was erased: there is no zone for a next slot.
    if model.people[person].gone || pending == 0 || pending as u64 >= u64::from(digest.min_items) {
        return false;
    }
    let settings = model.settings(person, tenant);
    let (zone, digest) = (settings.zone_of(&digest), settings.digest(&name, &digest));
    let id = model.people[person].id.as_str();
    let slot = calendar::next_slot(&digest, id, &zone, now);
    if let Some(window) = &mut model.lanes[lane].window {
        window.pass_over(slot);
    }
    true
}

/// Closes a lane: checks each entry once more and sends the rest.
fn close(model: &mut Model, lane: usize) {
    model.open.remove(&lane);
    model.lanes[lane].window = None;
    let mut waiting: Vec<usize> = model.lanes[lane].waiting.iter().copied().collect();
    waiting.sort_by_key(|&entry| {
        let event = model.entries[entry].event;
        (model.entries[entry].t, event)
    });
    let mut message = Message {
        at: model.now,
        recipient: model.people[model.lanes[lane].person].id.clone(),
        channel: model.lanes[lane].channel.clone(),
        lane: model.lanes[lane].name.clone(),
        key: model.lanes[lane].key.clone(),
        tenant: model.tenants.id_of(model.lanes[lane].tenant),
        items: Vec::new(),
        skipped: Vec::new(),
    };
    let first = waiting.first().map_or(0, |entry| model.entries[*entry].event);
    for entry in waiting {
        let published = &model.events[model.entries[entry].event];
        if let Some(reason) = look(model, entry) {
            message.skipped.push(SkippedEntry { event: published.event.id.clone(), reason });
            model.end(entry, Some(reason));
        } else {
            message.items.push(Item {
                event: published.event.id.clone(),
                event_type: published.event.event_type.clone(),
                object: published.event.object.id.clone(),
                t: model.entries[entry].t,
                reasons: model.entries[entry].reasons.to_vec(),
            });
            let arrival = model.entries[entry].event;
            let event = &model.events[arrival].event;
            let rules = model.current().types.get(event.event_type.as_str());
            if rules.is_some_and(|rules| rules.admission == Admission::OnceEver) {
                let key = model.key_of(arrival);
                model.admitted_once.insert((model.entries[entry].person, key));
            }
            if model.entries[entry].channel == INBOX {
                model.entries[entry].shown = true;
                model.show(entry);
            }
            model.entries[entry].delivered = Some(model.now);
            model.end(entry, None);
        }
    }
    let (person, channel) = (model.lanes[lane].person, model.lanes[lane].channel.clone());
    let mut caps = model.current().caps.iter();
    let counts = caps.any(|cap| cap.channel == channel) && !model.people[person].gone;
    if message.items.is_empty() {
        if !message.skipped.is_empty() && message.channel != INBOX {
            model.figures_log.suppressed.push(SuppressedMessage {
                at: model.now,
                event: first,
                channel: message.channel.clone(),
            });
        }
        model.passed_empty |= counts;
        model.lanes[lane].passed_empty_at = Some(model.now);
    } else {
        model.lanes[lane].last_message = Some(model.now);
        if counts {
            model.sent_at.entry((person, channel)).or_default().push(model.now);
        }
        model.messages.push(message);
    }
}

/// The reason to skip an entry, in the order of the contract; `None` = send it.
fn look(model: &Model, entry: usize) -> Option<Reason> {
    debug_assert!(matches!(model.entries[entry].state, ModelEntryState::Waiting { .. }));
    let entry_route = model.route_of(entry);
    let was_seen_before = model.was_seen_before(entry);
    let entry = &model.entries[entry];
    let person = &model.people[entry.person];
    let published = &model.events[entry.event];
    let event = &published.event;
    let event_type = event.event_type.as_str();
    let object = model.objects.get(&event.object.id).cloned().unwrap_or_default();
    let look_back = model.current().types.get(event_type).and_then(|rules| rules.look_back_ms);
    let chosen = model.settings(entry.person, published.tenant).chosen();
    let drops_seen = || route::drops_seen(model.current(), &chosen, event_type, &entry.channel);

    if entry_route == Route::UnknownType {
        Some(Reason::UnknownType)
    } else if person.gone || person.state == tidings_core::model::RecipientState::Disabled {
        Some(Reason::RecipientGone)
    } else if event.expires_at.is_some_and(|end| end <= model.now) {
        Some(Reason::Expired)
    } else if entry_route == Route::Never {
        Some(Reason::Preference)
    } else if let Some(reason) = unmet_condition(model, entry) {
        Some(reason)
    } else if object.retracted || object.not_notifiable {
        Some(Reason::NotApplicable)
    } else if entry.seen && drops_seen() || was_seen_before {
        Some(Reason::Seen)
    } else if look_back.is_some_and(|ms| entry.t < model.now.plus_ms(-ms)) {
        Some(Reason::Stale)
    } else if !person.has_address(&entry.channel, published.tenant) {
        Some(Reason::NoAddress)
    } else if is_suppressed(model, person, &entry.channel, published.tenant) {
        Some(Reason::Suppressed)
    } else if !is_allowed(model, person, &entry.channel, published.tenant) {
        Some(Reason::NotAllowed)
    } else {
        None
    }
}

/// Returns true if each address of a recipient on a channel, for a tenant's messages, is suppressed.
fn is_suppressed(model: &Model, person: &Person, channel: &str, tenant: Option<usize>) -> bool {
    let addresses = person.addresses(channel, tenant);
    let on_list = |address: &&str| {
        let address = channel_no(channel).map(|number| ChannelAddress::new(number, address));
        address.is_some_and(|address| model.suppressed.has(&address, model.now))
    };
    !addresses.is_empty() && addresses.iter().all(on_list)
}

/// Returns true if the channel allows one of the recipient's addresses, or does not restrict addresses.
fn is_allowed(model: &Model, person: &Person, channel: &str, tenant: Option<usize>) -> bool {
    let allow = model.current().channels.get(channel).and_then(|rules| rules.allow.as_ref());
    let Some(allow) = allow else {
        return true;
    };
    person.addresses(channel, tenant).into_iter().any(|address| {
        allow.iter().any(|allowed| match allowed {
            AllowedAddresses::Address(one) => one.eq_ignore_ascii_case(address),
            AllowedAddresses::Domain(domain) => {
                let of = address.rsplit_once('@').map(|(_, of)| of);
                of.is_some_and(|of| of.eq_ignore_ascii_case(domain))
            }
        })
    })
}

/// The reason for which the condition of an entry's type ends it.
fn unmet_condition(model: &Model, entry: &Entry) -> Option<Reason> {
    let ModelEvent { event, tenant, .. } = &model.events[entry.event];
    let rules = model.current().types.get(event.event_type.as_str())?;
    let condition = rules.condition.as_deref()?;
    let object = model.objects.shown(&event.object.id);
    let target = event.target.as_ref().map(|target| model.objects.shown(&target.id));
    let names = condition::names(
        event,
        entry.t,
        &object,
        target.as_ref(),
        model.settings(entry.person, *tenant).values(),
        model.now,
    );
    match condition::holds(condition, &names) {
        Some(true) => None,
        Some(false) => Some(Reason::Condition),
        None => Some(Reason::ConditionError),
    }
}

/// A verdict on a lane that may be due: it stays open or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneVerdict {
    Yes,
    No,
}
