//! The clock of the model: its instants, and the three phases of each.

use tidings_core::time::DAY_MS;
use tidings_core::{Instant, Item, Message, Outcome, Reason, Skipped};

use super::pending::PAUSED;
use super::route::{self, Route};
use super::{EntryState, Model, Refused};

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
            let gone = self
                .days
                .keys()
                .copied()
                .take_while(|&day| ended(day))
                .last();
            if let Some(gone) = gone {
                self.forget(tidings_core::Day(gone.0 + 1));
                self.objects.retain(|_, object| !ended(object.newest));
            }
        }
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
            (&a.recipient, &a.channel, &a.lane, &a.key).cmp(&(
                &b.recipient,
                &b.channel,
                &b.lane,
                &b.key,
            ))
        });
        self.midst = false;
    }

    /// The next instant after now at which something may happen by itself.
    fn next_instant(&self) -> Option<Instant> {
        let dues = self
            .open
            .iter()
            .filter_map(|&lane| self.due(lane))
            .map(|(due, _)| due);
        let scheduled = self.scheduled.first().map(|&(t, _)| t);
        let forgetting = self.days.first_key_value().map(|(day, _)| {
            let midnights = |instant: Instant| instant.0.div_euclid(DAY_MS);
            let kept_until = day.end().plus_ms(self.current().store.keep_ms);
            let first = midnights(kept_until.plus_ms(DAY_MS - 1));
            Instant(first.max(midnights(self.now) + 1) * DAY_MS)
        });
        dues.chain(scheduled)
            .chain(forgetting)
            .filter(|&next| next > self.now)
            .min()
    }

    /// The deadline of an open lane, and whether it is held back.
    fn due(&self, lane: usize) -> Option<(Instant, Held)> {
        let lane = &self.lanes[lane];
        let window = lane.window.as_ref().filter(|_| lane.name != PAUSED)?;
        let paused = self.paused_channels.contains(&lane.channel);
        let held = if paused || self.people[lane.person].is_held(&lane.channel) {
            Held::Yes
        } else {
            Held::No
        };
        Some((window.due(lane.last_message), held))
    }

    fn could_become_due(&self) -> bool {
        let waits = |&lane: &usize| {
            !self.lanes[lane].waiting.is_empty()
                && self.due(lane).is_some_and(|(_, held)| held == Held::No)
        };
        !self.scheduled.is_empty() || self.open.iter().any(waits)
    }

    fn send_what_is_due(&mut self) {
        for lane in self.open.iter().copied().collect::<Vec<_>>() {
            match self.due(lane) {
                Some((due, Held::No)) if due <= self.now => self.close(lane),
                Some((due, Held::Yes)) if due <= self.now => {
                    let last = self.lanes[lane].last_message;
                    if let Some(window) = self.lanes[lane].window.as_mut() {
                        window.fix(last);
                    }
                }
                _ => {}
            }
        }
    }

    /// Closes a lane: checks each entry once more and sends the rest.
    fn close(&mut self, lane: usize) {
        self.open.remove(&lane);
        self.lanes[lane].window = None;
        let mut waiting: Vec<usize> = self.lanes[lane].waiting.iter().copied().collect();
        waiting.sort_by_key(|&entry| {
            let event = self.entries[entry].event;
            (self.events[event].t, event)
        });
        let mut message = Message {
            at: self.now,
            recipient: self.people[self.lanes[lane].person].id.clone(),
            channel: self.lanes[lane].channel.clone(),
            lane: self.lanes[lane].name.clone(),
            key: self.lanes[lane].key.clone(),
            items: Vec::new(),
            skipped: Vec::new(),
        };
        for entry in waiting {
            let published = &self.events[self.entries[entry].event];
            if let Some(reason) = self.look(entry) {
                message.skipped.push(Skipped {
                    event: published.event.id.clone(),
                    reason,
                });
                self.end(entry, reason.outcome());
            } else {
                message.items.push(Item {
                    event: published.event.id.clone(),
                    kind: published.event.kind.clone(),
                    object: published.event.object.id.clone(),
                    t: published.t,
                    reasons: self.entries[entry].reasons.to_vec(),
                });
                self.end(entry, Outcome::Delivered);
            }
        }
        if !message.items.is_empty() {
            self.lanes[lane].last_message = Some(self.now);
            self.messages.push(message);
        }
    }

    /// The reason to skip an entry, in the order of the contract; `None` = send it.
    fn look(&self, entry: usize) -> Option<Reason> {
        debug_assert!(matches!(
            self.entries[entry].state,
            EntryState::Waiting { .. }
        ));
        let entry_route = self.route_of(entry);
        let entry = &self.entries[entry];
        let person = &self.people[entry.person];
        let published = &self.events[entry.event];
        let event = &published.event;
        let kind = event.kind.as_str();
        let object = self
            .objects
            .get(&event.object.id)
            .copied()
            .unwrap_or_default();
        let look_back = self
            .current()
            .types
            .get(kind)
            .and_then(|rules| rules.look_back_ms);
        let drops_seen =
            || route::drops_seen(self.current(), &person.preferences, kind, &entry.channel);

        if entry_route == Route::UnknownType {
            Some(Reason::UnknownType)
        } else if person.gone || person.state == tidings_core::State::Disabled {
            Some(Reason::RecipientGone)
        } else if event.expires_at.is_some_and(|end| end <= self.now) {
            Some(Reason::Expired)
        } else if entry_route == Route::Never {
            Some(Reason::Preference)
        } else if object.retracted || object.not_notifiable {
            Some(Reason::NotApplicable)
        } else if entry.seen && drops_seen() {
            Some(Reason::Seen)
        } else if look_back.is_some_and(|ms| published.t < self.now.plus_ms(-ms)) {
            Some(Reason::Stale)
        } else if !person.has_address(&entry.channel) {
            Some(Reason::NoAddress)
        } else {
            None
        }
    }
}

/// A verdict on a lane that may be due: it stays open or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Yes,
    No,
}
