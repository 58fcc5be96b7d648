//! The compiled rules: every version of the rules, and the lane of an entry.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cel::{OF_CONDITION, OF_EVENT, Program};
use crate::model::batch_key::{BatchKeyTooLong, BatchKeys, KeyTooLong};
use crate::model::channel::{CHANNEL_KINDS, CHANNELS, ChannelKind, ChannelNo, channel_no};
use crate::model::event::Event;
use crate::model::number::{LaneNo, TypeNo};
use crate::model::pause::Paused;
use crate::model::preference::Mode;
use crate::model::time::Instant;
use crate::rules::calendar::{PersonCalendar, Zone, delay_ms, next_slot};
use crate::rules::lane_kind::{LaneKind, PolicyParameters};
use crate::rules::names::{LaneName, NumberedName, NumberedNames};
use crate::rules::{Cap, Digest, Policy, QuietHours, Rules, TypeRules};

/// A compiled version of the rules.
#[derive(Debug)]
pub struct RulesVersion {
    /// The number, from 1.
    pub number: u32,
    /// The rules.
    pub rules: Rules,
    types: FxHashMap<TypeNo, Type>,
    digests: BTreeMap<String, (Digest, Option<Zone>)>,
    /// The longest `quiet` of each `leading` lane, in milliseconds.
    quiet: FxHashMap<LaneNo, i64>,
    /// The lanes that types bound by a number of entries.
    bounded: FxHashSet<LaneNo>,
    quiet_hours: [Option<QuietHours>; CHANNELS.len()],
    caps: [Vec<Cap>; CHANNELS.len()],
}

/// A type under one version of the rules.
#[derive(Debug)]
pub struct Type {
    /// Its number.
    pub no: TypeNo,
    /// Its name.
    pub name: String,
    /// The rules of the type.
    pub rules: TypeRules,
    /// True if it has an inbox.
    pub has_inbox: bool,
    /// Its condition.
    pub condition: Option<Condition>,
    routes: [Option<CompiledRoute>; CHANNELS.len()],
}

/// A condition, with the part that is asked once for all recipients of an arrival; both parts have to hold.
#[derive(Debug)]
pub struct Condition {
    /// The condition as it was written.
    pub text: String,
    /// The part that does not ask for the recipient.
    pub once: Option<Program>,
    /// The part that does.
    pub each: Option<Program>,
}

impl Condition {
    fn new(whole: &Program) -> Self {
        let (once, each) = whole.apart("recipient");
        Self { text: whole.text().to_owned(), once, each }
    }

    /// Returns true if it asks for a name from outside.
    #[must_use]
    pub fn asks(&self, name: &str) -> bool {
        let mut parts = self.once.iter().chain(&self.each);
        parts.any(|part| part.reads(name))
    }
}

#[derive(Debug)]
struct CompiledRoute {
    policy: Policy,
    max_items: Option<u16>,
    after_ms: Option<i64>,
    lane: Option<LaneNo>,
    now: LaneNo,
    digests: BTreeMap<String, LaneNo>,
    paused: LaneNo,
    batch_key: Option<Program>,
}

impl RulesVersion {
    /// Compiles rules; names without a number get one and are returned.
    #[must_use]
    pub fn new(number: u32, rules: Rules, names: &mut NumberedNames) -> (Self, Vec<NumberedName>) {
        let mut given = Vec::new();
        let mut types = FxHashMap::default();
        let mut quiet: FxHashMap<LaneNo, i64> = FxHashMap::default();
        let mut bounded = FxHashSet::default();
        for (name, type_rules) in &rules.types {
            let type_no = names.give_type(name, &mut given);
            let mut routes = [const { None }; CHANNELS.len()];
            for (channel, route) in &type_rules.channels {
                let Some(channel) = channel_no(channel) else {
                    continue;
                };
                let compiled =
                    CompiledRoute::new(channel, type_rules, route, &rules, names, &mut given);
                if let (Policy::Leading { quiet_ms }, Some(lane)) = (&route.policy, compiled.lane) {
                    let longest = quiet.entry(lane).or_default();
                    *longest = (*longest).max(*quiet_ms);
                }
                bounded.extend(compiled.lane.filter(|_| route.max_items.is_some()));
                routes[usize::from(channel)] = Some(compiled);
            }
            let has_inbox = matches!(&routes[0], Some(route) if route.policy == Policy::Now);
            let condition = type_rules
                .condition
                .as_deref()
                .and_then(|text| Program::compile(text, OF_CONDITION).ok())
                .as_ref()
                .map(Condition::new);
            let rules = type_rules.clone();
            let (no, name) = (type_no, name.clone());
            types.insert(no, Type { no, name, rules, has_inbox, condition, routes });
        }
        let digests = rules.digests.iter().map(|(name, digest)| {
            let zone = digest.tz.as_deref().and_then(Zone::find);
            (name.clone(), (digest.clone(), zone))
        });
        let digests = digests.collect();
        let of_channel = |name| rules.channels.get(name).and_then(|rules| rules.quiet_hours);
        let quiet_hours = CHANNELS.map(of_channel);
        let caps = CHANNELS
            .map(|name| rules.caps.iter().filter(|cap| cap.channel == name).cloned().collect());
        (Self { number, rules, types, digests, quiet, bounded, quiet_hours, caps }, given)
    }

    /// A type by its number, if this version has it.
    #[must_use]
    pub fn of_type(&self, number: TypeNo) -> Option<&Type> {
        self.types.get(&number)
    }

    /// The types, in no order.
    pub(crate) fn types(&self) -> impl Iterator<Item = &Type> {
        self.types.values()
    }

    /// Returns true if a type is of some sort.
    pub(crate) fn has_kind(&self, is_one: impl Fn(&Type) -> bool) -> bool {
        self.types.values().any(is_one)
    }

    /// The longest `quiet` of a `leading` lane, in milliseconds: the time for which its last message may be needed.
    #[must_use]
    pub(crate) fn longest_quiet(&self, lane: LaneNo) -> i64 {
        self.quiet.get(&lane).copied().unwrap_or(0)
    }

    /// Returns true if types bound a lane by a number of entries.
    #[must_use]
    pub fn bounds(&self, lane: LaneNo) -> bool {
        self.bounded.contains(&lane)
    }

    /// The first slot of a digest strictly after an instant, for a recipient whose zone is known.
    #[must_use]
    pub fn slot(
        &self,
        name: &str,
        person: &impl PersonCalendar,
        after: Instant,
    ) -> Option<Instant> {
        let (digest, fixed) = self.digests.get(name)?;
        let own = person.zone()?;
        let delay_ms = match digest.spread_minutes {
            0 => 0,
            _ => delay_ms(digest, person.checksum()),
        };
        let zone = fixed.as_ref().unwrap_or(own);
        let digest = &*digest.at_own_times(person.own_times(name));
        Some(next_slot(digest, zone, after.plus_ms(-delay_ms)).plus_ms(delay_ms))
    }

    /// The quiet hours of a channel.
    #[must_use]
    pub fn quiet_hours(&self, channel: ChannelNo) -> Option<&QuietHours> {
        self.quiet_hours.get(usize::from(channel))?.as_ref()
    }

    /// The caps of a channel.
    #[must_use]
    pub fn caps(&self, channel: ChannelNo) -> &[Cap] {
        let caps = self.caps.get(usize::from(channel));
        caps.map_or(&[], Vec::as_slice)
    }

    /// The number of entries below which a slot of a digest is passed over; 0 = none.
    #[must_use]
    pub fn min_items(&self, digest: &str) -> u32 {
        let known = self.digests.get(digest);
        known.map_or(0, |(digest, _)| digest.min_items)
    }

    /// The minutes over which the slots of a digest are spread; 0 = none.
    #[must_use]
    pub fn spread_minutes(&self, digest: &str) -> u16 {
        let known = self.digests.get(digest);
        known.map_or(0, |(digest, _)| digest.spread_minutes)
    }
}

impl Type {
    /// The lane of an entry on a channel for a recipient with this mode; `None` = no entry.
    ///
    /// `urgent` types take `now` wherever a digest would apply; `never` holds (contract, section 2).
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Rules;
    /// use tidings_core::model::Mode;
    /// use tidings_core::rules::{NumberedNames, RulesVersion};
    ///
    /// let kind = serde_json::from_str(
    ///     r#"{"category": "social", "include_actor": false, "urgent": false,
    ///         "channels": {"email": {"policy": {"Cooldown": {"quiet_ms": 1000, "max_wait_ms": null}}}}}"#,
    /// )?;
    /// let rules = Rules { types: [("comment".to_owned(), kind)].into(), ..Rules::default() };
    /// let mut names = NumberedNames::default();
    /// let (version, _) = RulesVersion::new(1, rules, &mut names);
    /// let comment = version.of_type(names.type_no("comment").unwrap()).unwrap();
    /// let email = tidings_core::model::channel_no("email").unwrap();
    ///
    /// let lane = comment.lane(email, None).unwrap();
    /// assert_eq!(names.lane(lane).name, "cooldown");
    /// assert_eq!(comment.lane(email, Some(&Mode::Never)), None);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn lane(&self, channel: ChannelNo, mode: Option<&Mode>) -> Option<LaneNo> {
        let route = self.routes.get(usize::from(channel))?.as_ref()?;
        let own_is_digest = matches!(route.policy, Policy::Digest { .. });
        match mode {
            Some(Mode::Never) => None,
            Some(Mode::Immediate) if own_is_digest => Some(route.now),
            Some(Mode::Digest(name)) if route.digests.contains_key(name) => {
                if self.rules.urgent {
                    Some(route.now)
                } else {
                    route.digests.get(name).copied()
                }
            }
            Some(
                Mode::Immediate | Mode::Digest(_) | Mode::Default | Mode::Day(_) | Mode::Time(_),
            )
            | None => {
                if own_is_digest && self.rules.urgent {
                    Some(route.now)
                } else {
                    route.lane
                }
            }
        }
    }

    /// [`Type::lane`] under pauses: entries of paused types take the lane that is never due.
    #[must_use]
    pub(crate) fn lane_while(
        &self,
        paused: &Paused,
        channel: ChannelNo,
        mode: Option<&Mode>,
    ) -> Option<LaneNo> {
        let lane = self.lane(channel, mode)?;
        if !paused.sets_apart(&self.name, channel) {
            return Some(lane);
        }
        let route = self.routes.get(usize::from(channel))?.as_ref()?;
        Some(route.paused)
    }

    /// Returns true if a mode is valid on a channel: a digest that is configured, and no `never` for a required type.
    #[must_use]
    pub fn knows(&self, channel: ChannelNo, mode: &Mode) -> bool {
        let route = self.routes.get(usize::from(channel)).and_then(Option::as_ref);
        match mode {
            Mode::Digest(name) => route.is_some_and(|route| route.digests.contains_key(name)),
            Mode::Never => !self.rules.required,
            Mode::Immediate | Mode::Default => true,
            Mode::Day(_) | Mode::Time(_) => false,
        }
    }

    /// The type's own lane on a channel, with its parameters.
    #[must_use]
    fn own_lane(&self, channel: ChannelNo) -> Option<(LaneNo, PolicyParameters)> {
        let route = self.routes.get(usize::from(channel))?.as_ref()?;
        let parameters = PolicyParameters {
            max_items: route.max_items.unwrap_or(0),
            ..PolicyParameters::of(&route.policy)
        };
        Some((route.lane?, parameters))
    }

    /// The batch keys of an event.
    ///
    /// # Errors
    /// [`KeyTooLong`].
    pub fn keys(&self, event: &Event) -> Result<BatchKeys, KeyTooLong> {
        let mut keys = BatchKeys::default();
        for channel in self.channels(event.channels.as_deref()) {
            let route = self.routes.get(usize::from(channel)).and_then(Option::as_ref);
            if let Some(program) = route.and_then(|route| route.batch_key.as_ref()) {
                let key = program
                    .key(event)
                    .map_err(|BatchKeyTooLong(bytes)| KeyTooLong { channel, bytes })?;
                keys.add(channel, key);
            }
        }
        Ok(keys)
    }

    /// The time by which entries on a channel come later than those of the inbox; `None` = they don't.
    #[must_use]
    pub fn after_ms(&self, channel: ChannelNo) -> Option<i64> {
        let route = self.routes.get(usize::from(channel))?.as_ref()?;
        route.after_ms
    }

    /// [`Type::after_ms`] of an event's channels that have one.
    #[must_use]
    pub(crate) fn all_after_ms(&self, event: &Event) -> BTreeMap<ChannelNo, i64> {
        self.channels(event.channels.as_deref())
            .into_iter()
            .filter_map(|channel| Some((channel, self.after_ms(channel)?)))
            .collect()
    }

    /// The numbers of the channels that may have an entry, or only of the named ones.
    #[must_use]
    pub fn channels(&self, only: Option<&[String]>) -> Vec<ChannelNo> {
        let named = |channel: &&ChannelKind| {
            only.is_none_or(|only| only.iter().any(|one| one == channel.name))
        };
        CHANNEL_KINDS
            .iter()
            .zip(&self.routes)
            .filter_map(|(channel, route)| route.as_ref().map(|_| channel))
            .filter(named)
            .map(|channel| channel.number)
            .collect()
    }
}

impl CompiledRoute {
    fn new(
        channel: ChannelNo,
        of_type: &TypeRules,
        route: &crate::rules::Route,
        rules: &Rules,
        names: &mut NumberedNames,
        given: &mut Vec<NumberedName>,
    ) -> Self {
        let mut give =
            |name: String, kind: LaneKind| names.give_lane(LaneName { channel, name, kind }, given);
        let named = |name: String| match rules.required_shares_lanes {
            true => name,
            false => of_type.lane_called(channel.name(), name),
        };
        let lane = LaneKind::of(&route.policy)
            .zip(route.lane.clone().or(route.policy.lane_name()))
            .map(|(kind, name)| give(named(name), kind));
        let now = give(named("now".to_owned()), LaneKind::Now);
        let mut digests = BTreeMap::new();
        if channel.name() != crate::model::channel::INBOX {
            for name in rules.digests.keys() {
                let lane = give(named(format!("digest:{name}")), LaneKind::Digest(name.clone()));
                digests.insert(name.clone(), lane);
            }
        }
        let paused = give(LaneKind::Paused.default_lane(), LaneKind::Paused);
        Self {
            policy: route.policy.clone(),
            max_items: route.max_items,
            after_ms: route.after_ms,
            lane,
            now,
            digests,
            paused,
            batch_key: route
                .batch_key
                .as_deref()
                .and_then(|text| Program::compile(text, OF_EVENT).ok()),
        }
    }
}

/// The compiled rules: names, and every version that a stored record may refer to.
#[derive(Clone, Debug)]
pub(crate) struct CompiledRules {
    /// Names and numbers.
    pub names: NumberedNames,
    versions: BTreeMap<u32, Arc<RulesVersion>>,
}

impl CompiledRules {
    /// Creates it without rules.
    #[must_use]
    pub(crate) fn new(names: NumberedNames) -> Self {
        Self { names, versions: BTreeMap::new() }
    }

    /// Adds a version; the newest number is in force.
    pub(crate) fn add(&mut self, version: RulesVersion) {
        self.versions.insert(version.number, Arc::new(version));
    }

    /// The version in force, if any.
    #[must_use]
    pub(crate) fn current(&self) -> Option<&Arc<RulesVersion>> {
        self.versions.last_key_value().map(|(_, version)| version)
    }

    /// Returns true if windows of a kind are counted when they are first due, under any version.
    #[must_use]
    pub(crate) fn counts(&self, kind: &LaneKind) -> bool {
        let LaneKind::Digest(name) = kind else {
            return false;
        };
        let mut versions = self.versions.values();
        versions.any(|version| version.min_items(name) > 1)
    }

    /// The caps of a channel under a version.
    pub(crate) fn caps(&self, version: u32, channel: ChannelNo) -> &[Cap] {
        self.version(version).map_or(&[], |version| version.caps(channel))
    }

    /// A version by its number.
    #[must_use]
    pub(crate) fn version(&self, number: u32) -> Option<&Arc<RulesVersion>> {
        self.versions.get(&number)
    }

    /// Returns true if a type has an inbox under a version.
    #[must_use]
    pub(crate) fn has_inbox(&self, version: u32, type_no: TypeNo) -> bool {
        self.version(version)
            .and_then(|version| version.of_type(type_no))
            .is_some_and(|of_type| of_type.has_inbox)
    }

    /// Returns true if a type is urgent under a version.
    #[must_use]
    pub(crate) fn is_urgent(&self, version: u32, type_no: TypeNo) -> bool {
        self.version(version)
            .and_then(|version| version.of_type(type_no))
            .is_some_and(|of_type| of_type.rules.urgent)
    }

    /// The parameters of a type in a lane under a version; `None` if it has no entries there, or its
    /// policy is of another kind.
    #[must_use]
    pub(crate) fn parameters(
        &self,
        version: u32,
        type_no: TypeNo,
        lane: LaneNo,
    ) -> Option<PolicyParameters> {
        let channel = self.names.lane(lane).channel;
        let (own, parameters) = self.version(version)?.of_type(type_no)?.own_lane(channel)?;
        let same_kind = std::mem::discriminant(&self.names.lane(own).kind)
            == std::mem::discriminant(&self.names.lane(lane).kind);
        (same_kind && self.names.are_one(own, lane)).then_some(parameters)
    }
}
