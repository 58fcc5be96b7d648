//! The rules at arrival, which decide about entries, their channels and their lanes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use roaring::RoaringBitmap;

use crate::bucket::{EntryReasons, SetBy, UnmutedReasons};
use crate::engine::explain::{ExplainQuestion, begin};
use crate::engine::rows::left_out::left_out;
use crate::engine::shard::admission::PendingEntries;
use crate::engine::shard::mute::{RecipientRoute, RouteBranch};
use crate::engine::shard::publish::{LaneRouter, ReasonWords, RoutedSets};
use crate::journal::stored::Unreadable;
use crate::model::channel::ChannelNo;
use crate::model::event::Audience;
use crate::model::explanation::{ChannelPath, ExplanationStep, Rule};
use crate::model::id::Id;
use crate::model::number::{LaneNo, RecipientAt};
use crate::model::preference::{ALL_CATEGORIES, Mode, PreferenceScope};
use crate::model::recipient::RecipientState;
use crate::model::time::{Instant, duration_text};
use crate::model::topic::followed_paths;
use crate::rules::compiled::Type;
use crate::rules::{Admission, Decide, Policy};

/// The rules that hold for all channels, and what they leave.
pub(super) struct Arrival {
    pub(super) steps: Vec<ExplanationStep>,
    /// True if there may be an entry.
    pub(super) is_reached: bool,
    /// The words of the event's reasons.
    words: Vec<String>,
    /// The indexes of those for which the recipient is reached.
    reasons: Vec<u16>,
}

/// An entry that a supposed event would have.
pub(super) struct RoutedEntry {
    pub(super) channel: ChannelNo,
    pub(super) lane: LaneNo,
    pub(super) t: Instant,
    pub(super) route: RecipientRoute,
}

impl Arrival {
    /// The words of the event's reasons.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }
}

impl ExplainQuestion<'_> {
    /// Applies the rules that hold for all channels. `recorded` = the reasons of the entries that there were.
    pub(super) fn arrival(&self, recorded: Option<Vec<String>>) -> Result<Arrival, Unreadable> {
        let event = self.event();
        let tenant = self.event.row.tenant;
        let all = ReasonWords::of(&self.event.row);
        let mut arrival = Arrival {
            steps: Vec::new(),
            is_reached: false,
            reasons: all.reaching(self.bucket, &self.event.row, self.number.0),
            words: all.words,
        };
        let name = event.event_type.as_str();
        let Some(of_type) = self.of_type else {
            let gone = ExplanationStep::ends(Rule::Type, name, "it is not configured");
            arrival.steps.push(gone);
            return Ok(arrival);
        };
        let category = &of_type.rules.category;
        let configured = format!("configured, in category `{category}`");
        arrival.steps.push(ExplanationStep::passes(Rule::Type, name, configured));
        arrival.steps.push(self.recipient_step());
        let is_recorded = recorded.is_some();
        let words = recorded.unwrap_or_else(|| {
            arrival
                .reasons
                .iter()
                .filter_map(|at| arrival.words.get(usize::from(*at)))
                .cloned()
                .collect()
        });
        let mut goes_to = audience_text(&event.to);
        if let Some(tenant) = &event.tenant {
            let _ = write!(goes_to, ", of tenant `{tenant}`");
        }
        if words.is_empty() {
            let members = &self.bucket.members;
            let is_member = tenant.is_none_or(|tenant| members.has(tenant, self.number.0));
            let outside = match (self.supposed, is_member) {
                (true, true) => "not in the audience",
                (true, false) => "not in the audience, and not a member of the tenant",
                (false, true) => "not in the audience, as it is now",
                (false, false) => {
                    "not in the audience, and not a member of the tenant, as it is now"
                }
            };
            let step = ExplanationStep::ends(Rule::Audience, goes_to, outside);
            arrival.steps.push(step);
            return Ok(arrival);
        }
        let reached = ExplanationStep::passes(
            Rule::Audience,
            goes_to,
            format!("reached: {}", words.join(", ")),
        );
        arrival.steps.push(reached);
        if event.to.except.contains(&self.profile.id) && !is_recorded {
            let step = ExplanationStep::ends(
                Rule::Audience,
                self.profile.id.as_str(),
                "left out by `except`",
            );
            arrival.steps.push(step);
            return Ok(arrival);
        }
        let is_actor = event.actor.as_ref().is_some_and(|actor| actor.id == self.profile.id);
        if is_actor && !of_type.rules.include_actor && !is_recorded {
            let step = ExplanationStep::ends(
                Rule::Actor,
                self.profile.id.as_str(),
                "actors are left out of their own events",
            );
            arrival.steps.push(step);
            return Ok(arrival);
        }
        if let Some(only) = &event.channels {
            let step = ExplanationStep::passes(
                Rule::Channels,
                only.join(", "),
                "the event keeps to these",
            );
            arrival.steps.push(step);
        }
        arrival.is_reached = true;
        self.admission(&mut arrival, of_type, is_recorded)?;
        Ok(arrival)
    }

    fn recipient_step(&self) -> ExplanationStep {
        let state = match self.profile.state {
            RecipientState::Active => "active",
            RecipientState::Unconfirmed => "unconfirmed: messages wait for the confirmation",
            RecipientState::Disabled => "disabled: entries end when they are due",
        };
        ExplanationStep::passes(Rule::Recipient, self.profile.id.as_str(), state)
    }

    fn admission(
        &self,
        arrival: &mut Arrival,
        of_type: &Type,
        is_recorded: bool,
    ) -> Result<(), Unreadable> {
        let admission = of_type.rules.admission;
        if admission == Admission::Always {
            return Ok(());
        }
        let looked_at = format!("{} per {}", admission.word(), of_type.rules.per.word());
        let would = if is_recorded || !self.supposed {
            None
        } else {
            let pending = PendingEntries { shard: self.shard, draft: &self.draft, of_type };
            let recipient = RecipientAt { bucket: self.bucket.no, number: self.number };
            pending.would_leave_out(&self.engine.intake, recipient, &self.event.row)?
        };
        let step = match would {
            Some(why) => {
                arrival.is_reached = false;
                ExplanationStep::ends(Rule::Admission, looked_at, format!("left out: {why}"))
            }
            None if is_recorded || self.supposed => {
                ExplanationStep::passes(Rule::Admission, looked_at, "taken in")
            }
            None => {
                let row = &self.event.row;
                let rows = left_out(self.draft.view, self.bucket.no, row.arrived.day(), row.place)?;
                match rows.first() {
                    None => ExplanationStep::passes(Rule::Admission, looked_at, "left nobody out"),
                    Some(some) => {
                        arrival.is_reached = false;
                        let why = some.why.word();
                        ExplanationStep::ends(
                            Rule::Admission,
                            looked_at,
                            format!("left out: {why}"),
                        )
                    }
                }
            }
        };
        arrival.steps.push(step);
        Ok(())
    }

    /// The entries that a supposed event would have.
    pub(super) fn routed(&self, arrival: &Arrival) -> Vec<RoutedEntry> {
        let mut branches = Vec::new();
        let Some(of_type) = self.of_type else {
            return Vec::new();
        };
        for channel in of_type.channels(self.event().channels.as_deref()) {
            let Some(lane) = self.chosen(of_type, channel).1 else {
                continue;
            };
            let reasons = match self.unmuted(of_type, channel, arrival) {
                UnmutedReasons::Nothing => continue,
                UnmutedReasons::All => None,
                UnmutedReasons::Some(reasons) => Some(reasons),
            };
            branches.push(RouteBranch { channel, lane, reasons });
        }
        if branches.is_empty() {
            return Vec::new();
        }
        let names = &self.shard.compiled.names;
        let route = RecipientRoute::of(branches, &arrival.reasons);
        let routed = RoutedSets::from([(route, RoaringBitmap::from_iter([self.number.0]))]);
        let router = self.router(arrival);
        let mut entries = Vec::new();
        for (t, routed) in router.by_instant(router.settled(routed)) {
            for (route, _) in routed {
                entries.extend(route.lanes.iter().map(|lane| RoutedEntry {
                    channel: names.lane(*lane).channel,
                    lane: *lane,
                    t,
                    route: route.clone(),
                }));
            }
        }
        entries
    }

    /// The rules of a channel on which there is no entry.
    pub(super) fn without_entry(&self, arrival: &Arrival, channel: ChannelNo) -> ChannelPath {
        let mut path = begin(channel);
        let Some(of_type) = self.of_type else {
            return path;
        };
        path.steps = self.choice_steps(of_type, channel, arrival);
        if path.steps.iter().all(|step| !step.ends) {
            let looked_at = "what is stored of the event";
            let step = ExplanationStep::ends(
                Rule::Audience,
                looked_at,
                "there was no entry when it arrived: an admission left the recipient out, or audience, preferences \
                 and rules were others than now",
            );
            path.steps.push(step);
        }
        path
    }

    /// The preference and the mutes of the recipient on a channel.
    pub(super) fn choice_steps(
        &self,
        of_type: &Type,
        channel: ChannelNo,
        arrival: &Arrival,
    ) -> Vec<ExplanationStep> {
        let mut steps = vec![self.preference_step(of_type, channel)];
        if steps[0].ends {
            return steps;
        }
        let muted = self.mutes_that_concern(channel);
        if muted.is_empty() {
            return steps;
        }
        let muted = muted.join(", ");
        steps.push(match self.unmuted(of_type, channel, arrival) {
            _ if of_type.rules.required => {
                ExplanationStep::passes(Rule::Mute, muted, "the type is required")
            }
            UnmutedReasons::Nothing => ExplanationStep::ends(Rule::Mute, muted, "no entry"),
            UnmutedReasons::All | UnmutedReasons::Some(_) => {
                ExplanationStep::passes(Rule::Mute, muted, "other reasons remain")
            }
        });
        steps
    }

    /// The preference that applies on a channel, in words.
    pub(super) fn preference_text(&self, of_type: &Type, channel: ChannelNo) -> String {
        match self.chosen(of_type, channel).0 {
            Some((scope, mode)) => format!("{scope}: {mode}"),
            None => "none is set".to_owned(),
        }
    }

    /// The preference or the mutes that end what waits on a channel, in words.
    pub(super) fn unwanted_text(&self, channel: ChannelNo) -> String {
        let since = "a preference or a mute that is another now";
        let Some(of_type) = self.of_type else {
            return since.to_owned();
        };
        let muted = self.mutes_that_concern(channel);
        match self.chosen(of_type, channel) {
            (Some((scope, mode)), None) => format!("{scope}: {mode}"),
            (None, None) => "the type's policy is never".to_owned(),
            _ if !muted.is_empty() && !of_type.rules.required => {
                format!("muted: {}", muted.join(", "))
            }
            _ => since.to_owned(),
        }
    }

    fn preference_step(&self, of_type: &Type, channel: ChannelNo) -> ExplanationStep {
        let lane = self.chosen(of_type, channel).1;
        let looked_at = self.preference_text(of_type, channel);
        let policy = of_type
            .rules
            .channels
            .get(channel.name())
            .map_or(&Policy::Never, |route| &route.policy);
        let names = &self.engine.intake.compiled.names;
        match lane {
            Some(lane) => {
                let lane = &names.lane(lane).name;
                let result =
                    format!("an entry in lane {lane} (the type's policy: {})", policy_text(policy));
                ExplanationStep::passes(Rule::Preference, looked_at, result)
            }
            None if *policy == Policy::Never => ExplanationStep::ends(
                Rule::Preference,
                looked_at,
                "the type's policy is never: no entry",
            ),
            None => ExplanationStep::ends(Rule::Preference, looked_at, "no entry"),
        }
    }

    /// The preference that applies, and the lane that it chooses.
    fn chosen(
        &self,
        of_type: &Type,
        channel: ChannelNo,
    ) -> (Option<(String, Mode)>, Option<LaneNo>) {
        let (preferences, tenant) = (&self.bucket.preferences, self.event.row.tenant);
        let chosen = preferences.applying(self.number.0, channel, of_type, tenant);
        let mode = chosen.as_ref().map(|chosen| &chosen.mode);
        let lane = of_type.lane_while(&self.shard.paused, channel, mode);
        let named = chosen.map(|chosen| {
            let scope = scope_text(&chosen.scope);
            let tenant = self.engine.intake.tenants.id(tenant).map_or("", Id::as_str);
            let text = match chosen.set_by {
                SetBy::Recipient => scope,
                SetBy::RecipientForTenant => format!("{scope} for tenant `{tenant}`"),
                SetBy::Tenant => format!("{scope}, the default of tenant `{tenant}`"),
            };
            (text, chosen.mode)
        });
        (named, lane)
    }

    fn router<'a>(&'a self, arrival: &'a Arrival) -> LaneRouter<'a> {
        self.shard.router(self.bucket.no, &self.event.row, &arrival.words)
    }

    fn unmuted(&self, of_type: &Type, channel: ChannelNo, arrival: &Arrival) -> UnmutedReasons {
        let why = EntryReasons { words: &arrival.words, reasons: &arrival.reasons };
        let recipients = RoaringBitmap::from_iter([self.number.0]);
        let left = self.router(arrival).unmuted(of_type, channel, why, recipients);
        left.into_iter().next().map_or(UnmutedReasons::All, |(left, _)| left)
    }

    /// The recipient's mutes that name the event's object, target or topics.
    fn mutes_that_concern(&self, channel: ChannelNo) -> Vec<String> {
        let event = self.event();
        let objects: Vec<&Id> =
            event.target.iter().chain([&event.object]).map(|object| &object.id).collect();
        let topics: Vec<&str> =
            event.to.topics.iter().map(Id::as_str).flat_map(followed_paths).collect();
        let concern = self
            .bucket
            .preferences
            .mutes
            .of(self.number.0)
            .filter(|(tenant, of, _)| {
                *of == channel && (tenant.is_none() || *tenant == self.event.row.tenant)
            })
            .filter(|(.., mute)| match mute {
                PreferenceScope::Object(id) => objects.contains(&id),
                PreferenceScope::Topic(topic) => topics.contains(&topic.as_str()),
                _ => false,
            });
        // A mute for all tenants and one for the event's tenant are shown once.
        let concern: BTreeSet<&PreferenceScope> = concern.map(|(.., mute)| mute).collect();
        concern.into_iter().map(scope_text).collect()
    }
}

/// The sources of an audience in words.
fn audience_text(to: &Audience) -> String {
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let counts = [
        to.everyone.then(|| "everyone".to_owned()),
        counted(to.recipients.len(), "named recipient", "named recipients"),
        counted(to.topics.len(), "topic", "topics"),
        counted(to.near.len(), "circle", "circles"),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let counted = if counts.is_empty() { "nobody".to_owned() } else { counts.join(", ") };
    match to.except.len() {
        0 => counted,
        except => format!("{counted}, except {except}"),
    }
}

/// The scope of a preference in words.
fn scope_text(scope: &PreferenceScope) -> String {
    match scope {
        PreferenceScope::Type(name) => format!("type `{name}`"),
        PreferenceScope::Category(name) => format!("category `{name}`"),
        PreferenceScope::AllCategories => format!("category `{ALL_CATEGORIES}`"),
        PreferenceScope::Topic(topic) => format!("topic `{topic}`"),
        PreferenceScope::Object(object) => format!("object `{object}`"),
        PreferenceScope::DigestDay(name) => format!("day of the digest `{name}`"),
        PreferenceScope::DigestTime(name) => format!("time of the digest `{name}`"),
    }
}

/// A policy in words.
pub(super) fn policy_text(policy: &Policy) -> String {
    match policy {
        Policy::Now => "now".to_owned(),
        Policy::FirstEvent { hold_ms, decide } => {
            let decide = match decide {
                Decide::First => "",
                Decide::Earliest => ", the earliest decides",
            };
            format!("first_event, hold {}{decide}", duration_text(*hold_ms))
        }
        Policy::Cooldown { quiet_ms, max_wait_ms } => {
            let most = max_wait_ms.map_or("none".to_owned(), duration_text);
            format!("cooldown, quiet {}, max_wait {most}", duration_text(*quiet_ms))
        }
        Policy::Leading { quiet_ms } => format!("leading, quiet {}", duration_text(*quiet_ms)),
        Policy::Digest { digest } => format!("digest `{digest}`"),
        Policy::Never => "never".to_owned(),
    }
}
