//! The rules about time: the deadline of a window, quiet hours, caps, and holds.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::arrival::{Arrival, RoutedEntry, policy_text};
use crate::bucket::Lane;
use crate::engine::explain::{ExplainQuestion, begin};
use crate::journal::record::{About, Arrival as ArrivalRecord, EventAt, Origin, Variant};
use crate::journal::stored::{StoredArrival, Unreadable};
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::event::Pivot;
use crate::model::explanation::{ChannelPath, EntryState, ExplanationStep, Rule};
use crate::model::number::{Seq, TypeNo};
use crate::model::recipient::{OwnHours, RecipientState};
use crate::model::time::{Instant, duration_text};
use crate::rules::compiled::Type;
use crate::rules::deadline::{EnteredEntry, Window};
use crate::rules::lane_kind::LaneKind;
use crate::rules::{Cap, QuietHours};

/// The ordinal of a hypothetical event, beyond those of any day.
const SUPPOSED: u32 = u32::MAX;

impl ExplainQuestion<'_> {
    /// The path of a supposed entry, with the lane as it is now.
    pub(super) fn supposition(
        &self,
        arrival: &Arrival,
        entry: &RoutedEntry,
    ) -> Result<ChannelPath, Unreadable> {
        let mut path = begin(entry.channel);
        let Some(of_type) = self.of_type else {
            return Ok(path);
        };
        path.steps = self.choice_steps(of_type, entry.channel, arrival);
        if entry.t > self.now {
            path.steps.push(self.schedule_step(entry.channel, entry.t));
        }
        let kept = Arc::new(self.supposed_arrival(arrival, entry, of_type));
        let names = &self.engine.intake.compiled.names;
        let address = names.address(entry.lane, &kept.arrival.keys, kept.arrival.tenant);
        let due = if names.lane(entry.lane).is_inbox() {
            Some(entry.t)
        } else {
            let compiled = &self.shard.compiled;
            let open = self.bucket.lanes.get(&address);
            let enters = if open.is_some_and(|lane| lane.open().contains(self.number.0)) {
                "joins the window that is open"
            } else {
                "opens a window"
            };
            let lane_text = self.lane_text(&address);
            path.steps.push(ExplanationStep::passes(Rule::Lane, lane_text, enters));
            let lane = self.bucket.lane_with(&kept, &address, self.number.0, compiled);
            self.due_steps(&lane, &address, of_type.no, &mut path)?
        };
        path.at = due;
        path.state = EntryState::Pending;
        let at = due.unwrap_or(entry.t);
        let reason = self.look(&kept, 0, &address, at)?;
        self.look_steps(None, (entry.channel, reason), at, &mut path);
        Ok(path)
    }

    /// The schedule of the event, and the time by which the channel comes later.
    pub(super) fn schedule_step(&self, channel: ChannelNo, t: Instant) -> ExplanationStep {
        let event = self.event();
        let delay = event.delay_ms.map(|ms| format!("delay {}", duration_text(ms)));
        let at = event.deliver_at.map(|at| format!("deliver_at {at}"));
        let local = event.deliver_local.map(|time| format!("deliver_local {time}"));
        let after = match self.event.row.after_ms(channel) {
            0 => None,
            ms => Some(format!("after {}", duration_text(ms))),
        };
        let phrases: Vec<String> = [delay, at, local, after].into_iter().flatten().collect();
        ExplanationStep::passes(Rule::Schedule, phrases.join(", "), "enters its lane then").at(t)
    }

    /// The arrival that a supposed event would write.
    fn supposed_arrival(
        &self,
        arrival: &Arrival,
        entry: &RoutedEntry,
        of_type: &Type,
    ) -> StoredArrival {
        let row = &self.event.row;
        let at = entry.t.max(self.now);
        StoredArrival {
            seq: self.bucket.next_seq,
            row: self.bucket.next_seq,
            arrival: ArrivalRecord {
                at,
                t: entry.t,
                place: row.place,
                event: EventAt { day: at.day(), ordinal: SUPPOSED },
                type_no: of_type.no,
                rules: self.version.map_or(0, |version| version.number),
                keys: row.keys.clone(),
                tenant: row.tenant,
                origin: if entry.route.later { Origin::Later } else { Origin::First },
                about: About::of(&row.event, of_type.rules.group.unwrap_or(Pivot::Object)),
                reasons: arrival.words().to_vec(),
                variants: vec![Variant {
                    lanes: entry.route.lanes.clone(),
                    reasons: entry.route.reasons.clone(),
                    elsewhere: entry.route.elsewhere.clone(),
                    recipients: RoaringBitmap::from_iter([self.number.0]).into(),
                }],
            },
        }
    }

    /// The rules that decide when an open window goes out; returns when it is due as things are.
    pub(super) fn due_steps(
        &self,
        lane: &Lane,
        address: &LaneKey,
        type_no: TypeNo,
        path: &mut ChannelPath,
    ) -> Result<Option<Instant>, Unreadable> {
        let compiled = &self.shard.compiled;
        let terms = self.bucket.terms(address.tenant, compiled);
        let name = compiled.names.lane(address.lane);
        let channel = name.channel;
        let own = lane.own_deadline(self.number.0).filter(|own| *own < i64::MAX).map(Instant);
        let rule = self.policy_of(&name.kind, type_no, channel);
        path.steps.push(match own {
            Some(own) => ExplanationStep::passes(Rule::Deadline, rule, "due").at(own),
            None => ExplanationStep::passes(Rule::Deadline, rule, "no due time at present"),
        });
        let recipients = RoaringBitmap::from_iter([self.number.0]);
        let passes = !lane.deadlines(terms).passes(&recipients).is_empty();
        let due = lane.deadlines(terms).of(self.number.0).map(Instant);
        if let Some(hours) = self.hours(channel) {
            path.steps.push(
                match own.and_then(|own| terms.quiet_until(self.number.0, channel, own)) {
                    _ if passes => ExplanationStep::passes(
                        Rule::QuietHours,
                        hours,
                        "urgent or flushed: passes them",
                    ),
                    Some(until) => {
                        ExplanationStep::passes(Rule::QuietHours, hours, "moves it to their end")
                            .at(until)
                    }
                    None => ExplanationStep::passes(Rule::QuietHours, hours, "not within them"),
                },
            );
        }
        if let LaneKind::Digest(digest) = &name.kind {
            let least = self.version.map_or(0, |version| version.min_items(digest));
            if least > 0 {
                let step = ExplanationStep::passes(
                    Rule::MinItems,
                    format!("min_items {least}"),
                    "a slot with fewer is passed over, once",
                );
                path.steps.push(step);
            }
        }
        let mut due = due;
        for cap in self.caps(channel) {
            let Some(at) = due else {
                continue;
            };
            let (step, free) = self.cap_step(cap, channel, at, passes)?;
            path.steps.push(step);
            if let Some(free) = free {
                let until = terms.quiet_until(self.number.0, channel, free);
                due = Some(until.unwrap_or(free));
            }
        }
        self.hold_steps(channel, path);
        Ok(due)
    }

    fn hold_steps(&self, channel: ChannelNo, path: &mut ChannelPath) {
        let mut hold = |what: &str, result: &str| {
            path.steps.push(ExplanationStep::passes(Rule::Hold, what, result));
        };
        if self.profile.state == RecipientState::Unconfirmed {
            hold("the recipient is unconfirmed", "waits for the confirmation");
        }
        if self.shard.paused.has_channel(channel.name()) {
            hold("the channel is paused", "waits until it is resumed");
        }
    }

    /// Applies a cap to a window at an instant; returns when there is room, where it keeps the window open.
    fn cap_step(
        &self,
        cap: &Cap,
        channel: ChannelNo,
        at: Instant,
        passes: bool,
    ) -> Result<(ExplanationStep, Option<Instant>), Unreadable> {
        let mut sent = self.sent_within(channel, at.plus_ms(-cap.per_ms), at)?;
        sent.sort_unstable();
        let (count, max) = (sent.len(), cap.max as usize);
        let looked_at =
            format!("{count} of {max} messages in the {} before", duration_text(cap.per_ms));
        let oldest = count.checked_sub(max).and_then(|place| sent.get(place));
        let free = oldest.map(|oldest| oldest.plus_ms(cap.per_ms));
        let result = match (free, passes) {
            (None, _) => "there is room".to_owned(),
            (Some(_), true) => "urgent or flushed: passes it".to_owned(),
            (Some(free), false) => format!("keeps the window open, until {free} at least"),
        };
        let step = ExplanationStep::passes(Rule::Cap, looked_at, result).at(at);
        Ok((step, free.filter(|_| !passes)))
    }

    /// The instants of the recipient's messages on a channel after an instant and up to another.
    fn sent_within(
        &self,
        channel: ChannelNo,
        after: Instant,
        to: Instant,
    ) -> Result<Vec<Instant>, Unreadable> {
        let within = |at: &Instant| *at > after && *at <= to;
        let name = channel.name();
        let reader = self.engine.reader(self.draft.view);
        let known = match reader.messages_of(&self.profile.id) {
            Ok(known) => known,
            Err(error) => error.refusal().map(|_| Vec::new())?,
        };
        let made = known.into_iter().filter(|of| of.channel == name && of.entries > 0);
        let names = &self.shard.compiled.names;
        let unmade = self.bucket.closings.iter().filter(|(_, closing)| {
            names.lane(closing.lane.lane).channel == channel
                && closing.unmade.get(&self.number.0).is_some()
        });
        let made = made.map(|of| of.at).chain(unmade.map(|(_, closing)| closing.clock));
        Ok(made.filter(within).collect())
    }

    fn caps(&self, channel: ChannelNo) -> &[Cap] {
        self.version.map_or(&[], |version| version.caps(channel))
    }

    /// The quiet hours that hold on a channel, in words.
    fn hours(&self, channel: ChannelNo) -> Option<String> {
        let of_channel = self.version.and_then(|version| version.quiet_hours(channel));
        let tenant = self.event.row.tenant;
        let (_, of_tenant) =
            tenant.map_or((None, None), |tenant| self.bucket.roster.set_by(tenant));
        let own = self.profile.quiet_hours.as_deref();
        let speaks = |of: &&OwnHours| of.channels.as_ref().is_none_or(|all| all.contains(&channel));
        let (whose, hours) = match (own.filter(speaks), of_tenant.filter(speaks)) {
            (Some(own), _) => ("the recipient's", own.hours.as_ref()),
            (None, Some(of_tenant)) => ("the tenant's", of_tenant.hours.as_ref()),
            (None, None) => ("the channel's", of_channel),
        };
        let hours = hours?;
        let zone = self.bucket.roster.clocks(tenant).zone(self.number);
        let zone = zone.map_or("", |(name, _)| name);
        Some(format!("{whose}: {}, {zone}", hours_text(hours)))
    }

    /// The policy that a kind of lane stands for, in words: the type's, where it is of that kind.
    pub(super) fn policy_of(&self, lane: &LaneKind, type_no: TypeNo, channel: ChannelNo) -> String {
        let of_type = self.version.and_then(|version| version.of_type(type_no));
        let routes = of_type.map(|of_type| &of_type.rules.channels);
        let route = routes.and_then(|routes| routes.get(channel.name()));
        let own = route.filter(|route| LaneKind::of(&route.policy).as_ref() == Some(lane));
        match (own, lane) {
            (Some(route), _) => policy_text(&route.policy),
            (None, LaneKind::Digest(name)) => format!("digest `{name}`"),
            (None, LaneKind::Paused) => "the type is paused".to_owned(),
            (None, lane) => lane.default_lane(),
        }
    }

    /// The rules that decided when a message went out: the deadline is worked out anew from its entries.
    pub(super) fn was_due_steps(
        &self,
        address: &LaneKey,
        at: Instant,
        entries: &[&ArrivalRecord],
        path: &mut ChannelPath,
    ) -> Result<(), Unreadable> {
        let compiled = &self.shard.compiled;
        let name = compiled.names.lane(address.lane);
        let [Some(first), Some(newest)] = [entries.first(), entries.last()] else {
            return Ok(());
        };
        let rule = self.policy_of(&name.kind, first.type_no, name.channel);
        let count = entries.len();
        let looked_at = match count {
            1 => format!("{rule}; 1 entry, {}", first.t),
            _ => format!("{rule}; {count} entries, {} to {}", first.t, newest.t),
        };
        let Some(due) = self.policy_due(address, entries) else {
            path.steps.push(ExplanationStep::passes(Rule::Deadline, looked_at, "due").at(at));
            return Ok(());
        };
        path.steps.push(ExplanationStep::passes(Rule::Deadline, looked_at, "due").at(due));
        if due > at {
            let early =
                "went out earlier: full, flushed, or made due by a change of preferences or rules";
            path.steps.push(ExplanationStep::passes(Rule::Deadline, "the closing", early).at(at));
        } else if due < at {
            self.late_steps(due, at, name.channel, path)?;
        }
        Ok(())
    }

    /// The rules that may have kept a window open from its deadline until it went out.
    fn late_steps(
        &self,
        due: Instant,
        at: Instant,
        channel: ChannelNo,
        path: &mut ChannelPath,
    ) -> Result<(), Unreadable> {
        let mut is_explained = false;
        let terms = self.bucket.terms(self.event.row.tenant, &self.shard.compiled);
        let quiet = terms.quiet_until(self.number.0, channel, due);
        if let Some((hours, until)) = self.hours(channel).zip(quiet) {
            let moved = ExplanationStep::passes(Rule::QuietHours, hours, "moved it to their end");
            path.steps.push(moved.at(until));
            is_explained = until == at;
        }
        let first_passed = quiet.unwrap_or(due);
        for cap in self.caps(channel) {
            if !is_explained {
                let (step, free) = self.cap_step(cap, channel, first_passed, false)?;
                path.steps.push(step);
                is_explained = free.is_some();
            }
        }
        if !is_explained {
            let held = "went out later: an unconfirmed address, a pause, min_items, or rules and hours of that time";
            path.steps.push(ExplanationStep::passes(Rule::Hold, "the closing", held).at(at));
        }
        Ok(())
    }

    /// The deadline that a policy gives to a window of these entries, by (t, arrival), under the rules of now or, for
    /// parameters, of their time.
    fn policy_due(&self, address: &LaneKey, entries: &[&ArrivalRecord]) -> Option<Instant> {
        let compiled = &self.shard.compiled;
        let of_type = &compiled.names.lane(address.lane).kind;
        let first = entries.first()?;
        match of_type {
            LaneKind::Now | LaneKind::Leading | LaneKind::Paused => None,
            LaneKind::Digest(name) => {
                let member = self.bucket.roster.clocks(address.tenant).member(self.number);
                self.version?.slot(name, &member, first.at)
            }
            LaneKind::Cooldown | LaneKind::FirstEvent(_) => {
                let entered = |arrival: &ArrivalRecord| {
                    let parameters =
                        compiled.parameters(first.rules, arrival.type_no, address.lane);
                    EnteredEntry {
                        t: arrival.t,
                        place: arrival.place,
                        parameters: parameters.unwrap_or_default(),
                    }
                };
                let mut window =
                    Window::open(of_type, entered(first), Seq::default(), first.rules, None);
                for arrival in &entries[1..] {
                    window.join(of_type, entered(arrival), None);
                }
                Some(Instant(window.due()))
            }
        }
    }
}

fn hours_text(hours: &QuietHours) -> String {
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let time = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    let text = format!("{} to {}", time(hours.from_minute), time(hours.to_minute));
    if hours.days == QuietHours::EVERY_DAY {
        return text;
    }
    let days: Vec<&str> =
        (1..).zip(DAYS).filter(|(day, _)| hours.begin_on(*day)).map(|(_, name)| name).collect();
    format!("{text} on {}", days.join(", "))
}
