//! The clock of the model: its instants, and the three phases of each.

use tidings_core::channel::{INBOX, channel_no};
use tidings_core::rules::{Admission, Policy};
use tidings_core::suppression::ChannelAddress;
use tidings_core::time::DAY_MS;
use tidings_core::{Instant, Item, Message, Outcome, Reason, Rules, Skipped};

use super::calendar;
use super::pending::PAUSED;
use super::person::Person;
use super::route::{self, Route};
use super::window::Lane;
use super::{Entry, EntryState, Model, ObjectState, Published, Refused, condition};

impl Model {
    /// Runs the clock until no pending entry can become due, or to `until`, all steps of that instant
    /// included.
    pub fn finish(&mut self, until: Option<Instant>) {
        self.close_instant();
        match until {
            Some(until) => {
                self.play_before(until);
                if self.now < until {
                    self.begin(until);
                    self.close_instant();
                }
            }
            None => {
                while self.could_become_due() {
                    let Some(next) = self.next_instant() else {
                        break;
                    };
                    self.begin(next);
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
        self.play_before(to);
        self.begin(to);
        Ok(())
    }

    fn play_before(&mut self, to: Instant) {
        while let Some(next) = self.next_instant().filter(|&next| next < to) {
            self.begin(next);
            self.close_instant();
        }
    }

    /// The first phase of an instant, the forgetting of days, and what was scheduled for it.
    fn begin(&mut self, at: Instant) {
        self.now = at;
        self.midst = true;
        self.earlier = self.messages.len();
        self.send_what_is_due();
        if at.0.rem_euclid(DAY_MS) == 0 {
            let keep = self.current().store.keep_ms;
            let ended = |day: tidings_core::Day| day.end().plus_ms(keep) <= at;
            let gone = self.days.keys().copied().take_while(|&day| ended(day)).last();
            if let Some(gone) = gone {
                self.forget(tidings_core::Day(gone.0 + 1));
                self.objects.retain(|_, object| !ended(object.newest) || object.shrink());
            }
        }
        self.end_snoozes();
        while let Some(&(t, arrival)) = self.scheduled.first().filter(|(t, _)| *t <= at) {
            self.scheduled.remove(&(t, arrival));
            self.enter_all(arrival);
        }
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

    /// The next instant after now at which something may happen by itself.
    fn next_instant(&self) -> Option<Instant> {
        let dues = self.open.iter().flat_map(|&lane| {
            let asked = self.due(lane).map(|(due, _)| due);
            let quiet = self.quiet_until(lane, self.now);
            let own = self.lanes[lane]
                .window
                .as_ref()
                .map(|window| window.due(self.lanes[lane].last_message));
            [asked, quiet, own].into_iter().flatten()
        });
        let freed = self
            .told
            .values()
            .flatten()
            .flat_map(|told| self.current().caps.iter().map(|cap| told.plus_ms(cap.per_ms)));
        let scheduled = self.scheduled.first().map(|&(t, _)| t);
        let forgetting = self.days.first_key_value().map(|(day, _)| {
            let midnights = |instant: Instant| instant.0.div_euclid(DAY_MS);
            let kept_until = day.end().plus_ms(self.current().store.keep_ms);
            let first = midnights(kept_until.plus_ms(DAY_MS - 1));
            Instant(first.max(midnights(self.now) + 1) * DAY_MS)
        });
        dues.chain(scheduled).chain(forgetting).chain(freed).filter(|&next| next > self.now).min()
    }

    /// The deadline of an open lane, and whether it is held back.
    fn due(&self, index: usize) -> Option<(Instant, Held)> {
        let lane = &self.lanes[index];
        let window = lane.window.as_ref().filter(|_| lane.name != PAUSED)?;
        let paused = self.paused_channels.contains(&lane.channel);
        let held = if paused || self.people[lane.person].is_held(&lane.channel) {
            Held::Yes
        } else {
            Held::No
        };
        let due = window.due(lane.last_message);
        Some((self.quiet_until(index, due).unwrap_or(due), held))
    }

    /// The end of the quiet hours that keep a lane's window at an instant.
    fn quiet_until(&self, index: usize, at: Instant) -> Option<Instant> {
        let lane = &self.lanes[index];
        lane.window.as_ref().filter(|_| lane.name != PAUSED)?;
        let hours = self.quiet_hours(lane.person, lane.tenant, &lane.channel)?;
        if self.passes(index) {
            return None;
        }
        let zone = calendar::zone(self.tz(lane.person, lane.tenant));
        calendar::quiet_until(&hours, &zone, at)
    }

    /// Returns true if quiet hours and caps don't keep a lane's window.
    fn passes(&self, lane: usize) -> bool {
        let lane = &self.lanes[lane];
        let is_urgent = |entry: &usize| self.entries[*entry].urgent;
        let flushed = lane.window.as_ref().is_some_and(|window| window.flushed);
        flushed || lane.waiting.iter().any(is_urgent)
    }

    fn could_become_due(&self) -> bool {
        let waits = |&lane: &usize| {
            !self.lanes[lane].waiting.is_empty()
                && self.due(lane).is_some_and(|(_, held)| held == Held::No)
        };
        let scheduled = |entry: &Entry| entry.state == EntryState::Scheduled;
        self.entries.iter().any(scheduled) || self.open.iter().any(waits)
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
            (lane.person, channel, name, lane.key.clone(), self.id_of(lane.tenant))
        });
        let (mut closing, mut keeps) = (Vec::new(), false);
        for lane in open {
            let is_due = self.due(lane).is_some_and(|(due, _)| due <= self.now);
            let is_quiet = self.quiet_until(lane, self.now).is_some();
            if is_due && !is_quiet && self.passes_over(lane) {
                continue;
            }
            match self.due(lane) {
                Some((due, Held::No)) if due <= self.now && is_quiet => {}
                Some((due, Held::No)) if due <= self.now => {
                    if self.is_capped(lane, &closing) {
                        keeps = true;
                        self.fix(lane);
                    } else {
                        closing.push(lane);
                    }
                }
                Some((due, Held::Yes)) if due <= self.now => self.fix(lane),
                _ => {}
            }
        }
        let before = self.messages.len();
        let closed = closing.len();
        for lane in closing {
            self.close(lane);
        }
        keeps && self.messages.len() - before < closed
    }

    fn fix(&mut self, lane: usize) {
        let last = self.lanes[lane].last_message;
        if let Some(window) = self.lanes[lane].window.as_mut() {
            window.fix(last);
        }
    }

    /// Contract, section 6, "Caps". `closing` = lanes that close at this instant, before this one.
    fn is_capped(&self, index: usize, closing: &[usize]) -> bool {
        let lane = &self.lanes[index];
        if self.passes(index) || self.people[lane.person].gone {
            return false;
        }
        let alike = |other: &&usize| {
            let other = &self.lanes[**other];
            other.person == lane.person && other.channel == lane.channel
        };
        let now = closing.iter().filter(alike).count();
        let told = self.told.get(&(lane.person, lane.channel.clone()));
        let mut caps = self.current().caps.iter().filter(|cap| cap.channel == lane.channel);
        caps.any(|cap| {
            let since = self.now.plus_ms(-cap.per_ms);
            let told = told.into_iter().flatten().filter(|instant| **instant > since).count();
            (told + now) as u64 >= u64::from(cap.max)
        })
    }

    /// New rules come: what the caps until now did not count is forgotten, and all where there are none any more.
    pub(super) fn trim_log(&mut self, new: &Rules) {
        let now = self.now;
        let caps = self.current().caps.clone();
        for ((_, channel), told) in &mut self.told {
            if !new.caps.iter().any(|cap| cap.channel == *channel) {
                told.clear();
            }
            let caps = caps.iter().filter(|cap| cap.channel == *channel);
            let longest = caps.clone().map(|cap| cap.per_ms).max().unwrap_or(0);
            let most = caps.map(|cap| cap.max as usize).max().unwrap_or(0);
            told.retain(|instant| *instant > now.plus_ms(-longest));
            told.drain(..told.len().saturating_sub(most));
        }
    }

    /// Contract, section 6, "min_items": counts the window of a digest that is due for the first time. With
    /// fewer, but not none, it waits for the next slot.
    fn passes_over(&mut self, lane: usize) -> bool {
        let now = self.now;
        let Lane { person, tenant, .. } = self.lanes[lane];
        let pending = self.lanes[lane].waiting.len();
        let Some(window) = &mut self.lanes[lane].window else {
            return false;
        };
        let Policy::Digest { digest } = &window.policy else {
            return false;
        };
        let Some(digest) = self.rules[window.rules].digests.get(digest) else {
            return false;
        };
        if window.flushed || window.full || std::mem::replace(&mut window.counted, true) {
            return false;
        }
        // Nothing is kept of who was erased: there is no zone for a next slot.
        if self.people[person].gone || pending == 0 || pending as u64 >= u64::from(digest.min_items)
        {
            return false;
        }
        let digest = digest.clone();
        let zone = self.zone_of(person, tenant, &digest);
        let id = self.people[person].id.as_str();
        let slot = calendar::next_slot(&digest, id, &zone, now);
        if let Some(window) = &mut self.lanes[lane].window {
            window.pass_over(slot);
        }
        true
    }

    /// Closes a lane: checks each entry once more and sends the rest.
    fn close(&mut self, lane: usize) {
        self.open.remove(&lane);
        self.lanes[lane].window = None;
        let mut waiting: Vec<usize> = self.lanes[lane].waiting.iter().copied().collect();
        waiting.sort_by_key(|&entry| {
            let event = self.entries[entry].event;
            (self.entries[entry].t, event)
        });
        let mut message = Message {
            at: self.now,
            recipient: self.people[self.lanes[lane].person].id.clone(),
            channel: self.lanes[lane].channel.clone(),
            lane: self.lanes[lane].name.clone(),
            key: self.lanes[lane].key.clone(),
            tenant: self.id_of(self.lanes[lane].tenant),
            items: Vec::new(),
            skipped: Vec::new(),
        };
        for entry in waiting {
            let published = &self.events[self.entries[entry].event];
            if let Some(reason) = self.look(entry) {
                message.skipped.push(Skipped { event: published.event.id.clone(), reason });
                self.end(entry, reason.outcome());
            } else {
                message.items.push(Item {
                    event: published.event.id.clone(),
                    event_type: published.event.event_type.clone(),
                    object: published.event.object.id.clone(),
                    t: self.entries[entry].t,
                    reasons: self.entries[entry].reasons.to_vec(),
                });
                let arrival = self.entries[entry].event;
                let event = &self.events[arrival].event;
                let rules = self.current().types.get(event.event_type.as_str());
                if rules.is_some_and(|rules| rules.admission == Admission::OnceEver) {
                    let key = self.key_of(arrival);
                    self.told_once.insert((self.entries[entry].person, key));
                }
                if self.entries[entry].channel == INBOX {
                    self.entries[entry].shown = true;
                    self.show(entry);
                }
                self.end(entry, Outcome::Delivered);
            }
        }
        let (person, channel) = (self.lanes[lane].person, self.lanes[lane].channel.clone());
        let mut caps = self.current().caps.iter();
        let counts = caps.any(|cap| cap.channel == channel) && !self.people[person].gone;
        if message.items.is_empty() {
            self.told_nothing |= counts;
            self.lanes[lane].told_nothing_at = Some(self.now);
        } else {
            self.lanes[lane].last_message = Some(self.now);
            if counts {
                self.told.entry((person, channel)).or_default().push(self.now);
            }
            self.messages.push(message);
        }
    }

    /// The reason to skip an entry, in the order of the contract; `None` = send it.
    fn look(&self, entry: usize) -> Option<Reason> {
        debug_assert!(matches!(self.entries[entry].state, EntryState::Waiting { .. }));
        let entry_route = self.route_of(entry);
        let was_seen_before = self.was_seen_before(entry);
        let entry = &self.entries[entry];
        let person = &self.people[entry.person];
        let published = &self.events[entry.event];
        let event = &published.event;
        let event_type = event.event_type.as_str();
        let object = self.objects.get(&event.object.id).cloned().unwrap_or_default();
        let look_back = self.current().types.get(event_type).and_then(|rules| rules.look_back_ms);
        let chosen = self.chosen(entry.person, published.tenant);
        let drops_seen = || route::drops_seen(self.current(), &chosen, event_type, &entry.channel);

        if entry_route == Route::UnknownType {
            Some(Reason::UnknownType)
        } else if person.gone || person.state == tidings_core::State::Disabled {
            Some(Reason::RecipientGone)
        } else if event.expires_at.is_some_and(|end| end <= self.now) {
            Some(Reason::Expired)
        } else if entry_route == Route::Never {
            Some(Reason::Preference)
        } else if let Some(reason) = self.asked(entry, &object) {
            Some(reason)
        } else if object.retracted || object.not_notifiable {
            Some(Reason::NotApplicable)
        } else if entry.seen && drops_seen() || was_seen_before {
            Some(Reason::Seen)
        } else if look_back.is_some_and(|ms| entry.t < self.now.plus_ms(-ms)) {
            Some(Reason::Stale)
        } else if !person.has_address(&entry.channel) {
            Some(Reason::NoAddress)
        } else if self.is_suppressed(person, &entry.channel) {
            Some(Reason::Suppressed)
        } else {
            None
        }
    }
}

impl Model {
    /// Returns true if each address that somebody has on a channel is on the list of suppressed ones.
    fn is_suppressed(&self, person: &Person, channel: &str) -> bool {
        let mut addresses = person.addresses(channel).iter();
        let on_list = |address: &String| {
            let address = channel_no(channel).map(|number| ChannelAddress::new(number, address));
            address.is_some_and(|address| self.suppressed.has(&address, self.now))
        };
        !person.addresses(channel).is_empty() && addresses.all(on_list)
    }

    /// The reason for which the condition of an entry's type ends it.
    fn asked(&self, entry: &Entry, object: &ObjectState) -> Option<Reason> {
        let Published { event, tenant, .. } = &self.events[entry.event];
        let rules = self.current().types.get(event.event_type.as_str())?;
        let condition = rules.condition.as_deref()?;
        let target = event
            .target
            .as_ref()
            .map(|target| self.objects.get(&target.id).cloned().unwrap_or_default().known);
        let names = condition::names(
            event,
            entry.t,
            &object.known,
            target.as_ref(),
            (self.recipient_value(entry.person, *tenant), self.tenant_value(*tenant)),
            self.now,
        );
        match condition::holds(condition, &names) {
            Some(true) => None,
            Some(false) => Some(Reason::Condition),
            None => Some(Reason::ConditionError),
        }
    }
}

/// A verdict on a lane that may be due: it stays open or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Yes,
    No,
}
