//! The choices of a recipient on the page: as narrow as what the message told, and as wide as everything.

use std::collections::{BTreeMap, BTreeSet};

use tidings_api::body::json;
use tidings_api::body::preference::{Preference, choices};
use tidings_core::content::Batch;
use tidings_core::engine::TenantDirectory;
use tidings_core::model::{
    CHANNELS, Choice, EACH_CHANNEL, Mode, PreferenceScope, View, sending_channels,
};
use tidings_core::rules::{ChoiceOrder, ChoosableTimes, Digest, Policy, TypeRules, lane_stem};
use tidings_core::{Id, Object, Rules};
use tidings_mail::{
    AppliedChoice, ChoiceName, Choices, DigestSlot, OfferedChange, OwnTime, PreferenceRow,
    SendingTime, ShortName, Unsubscribe,
};
use tidings_node::DurableSnapshot;

use crate::chosen::{self, SlotTime, SlotTimes, hours};

/// The most topics, and the most objects, that the page offers to mute.
const TOPICS_MAX: usize = 8;
const OBJECTS_MAX: usize = 3;
/// The most digests that are offered for a type.
const DIGESTS_MAX: usize = 2;

/// A change that was just made.
pub(super) struct Set {
    /// The choices that take it back.
    pub(super) undo: Vec<Choice>,
    /// The choice of a button of the page; `None` = several, or those of a mail program.
    pub(super) chosen: Option<Choice>,
}

/// The state that the choices of a recipient begin with.
pub(super) struct SiteChooser<'r> {
    /// The locales in which the page may be: the recipient's, the tenant's.
    pub(super) locales: Vec<String>,
    rules: &'r Rules,
    token: &'r Unsubscribe,
    /// The channel's name.
    channel: &'static str,
    chosen: Vec<Choice>,
    /// The time zone of digests that have none of their own.
    zone: String,
    /// The lane that each type takes on the channel; `None` = none.
    lanes: BTreeMap<String, Option<String>>,
}

impl<'r> SiteChooser<'r> {
    /// The state of a token's recipient; `None` if there is none any more. The number of its message tells them from
    /// one who was made later under the same id.
    pub(super) fn of(
        node: &DurableSnapshot,
        rules: &'r Rules,
        token: &'r Unsubscribe,
    ) -> Option<Self> {
        let engine = node.engine();
        let mut channels = sending_channels();
        let channel = channels.find(|kind| kind.number == token.channel)?.name;
        let profile = engine.recipient_of(token.message);
        let profile = profile.filter(|profile| profile.id == token.recipient)?;
        let tenants = TenantDirectory::of(engine);
        let tenant = match &token.tenant {
            Some(of) => Some(tenants.get(&of.id).filter(|known| known.made == of.made)?),
            None => None,
        };
        let of = tenant.map(|known| known.id);
        let mut chosen = engine.preferences(&token.recipient, &View::All).ok()?;
        // No word of other tenants.
        chosen.retain(|choice| choice.tenant.is_none() || choice.tenant.as_ref() == of);
        let locales = [profile.locale.as_ref(), tenant.and_then(|of| of.tenant.locale.as_ref())];
        Some(Self {
            locales: locales.into_iter().flatten().cloned().collect(),
            rules,
            token,
            channel,
            chosen,
            zone: chosen::zone(rules, Some(profile), tenant.map(|of| of.tenant)).to_owned(),
            lanes: engine.reader(node.view()).lanes_of(&token.recipient, token.channel, of).ok()?,
        })
    }

    /// The choices that a mail program makes: no more of what the mail told; where it ended a digest, no more of
    /// what comes with that digest now, nor of what is configured later.
    pub(super) fn one_click(&self) -> Vec<Choice> {
        let types = self.types();
        let mut choices: Vec<Choice> =
            types.iter().map(|event_type| self.of_type(event_type, Mode::Never)).collect();
        if self.token.lane.is_some() {
            choices.extend(self.rest_of_digest(&types));
        }
        choices
    }

    /// The choices by which a digest stays away that some types came with: what is configured later comes by no other
    /// way, and the other types that come now keep on coming as they do.
    fn rest_of_digest(&self, types: &[&str]) -> Vec<Choice> {
        let is_digest = |mode: &Mode| match mode {
            Mode::Digest(name) => self.token.lane == Some(ShortName::of(&format!("digest:{name}"))),
            Mode::Never | Mode::Immediate | Mode::Default | Mode::Day(_) | Mode::Time(_) => false,
        };
        let category = |of: &TypeRules| PreferenceScope::Category(of.category.clone());
        let here = |scope, mode| Choice {
            tenant: self.tenant(),
            scope,
            channel: self.channel.to_owned(),
            mode,
        };
        let of_digest = self.chosen.iter().filter(|choice| {
            let is_category = matches!(choice.scope, PreferenceScope::Category(_));
            is_category && choice.channel == self.channel && is_digest(&choice.mode)
        });
        let mut choices: Vec<Choice> =
            of_digest.map(|choice| here(choice.scope.clone(), Mode::Default)).collect();
        for (name, rules) in &self.rules.types {
            let comes = self.lanes.get(name).is_some_and(Option::is_some);
            let of_category = self.mode(&category(rules), self.channel);
            let is_chosen = self.mode(&PreferenceScope::Type(name.clone()), self.channel)
                != Mode::Default
                || (of_category != Mode::Default && !is_digest(&of_category));
            if comes && !rules.required && !is_chosen && !types.contains(&name.as_str()) {
                choices.push(self.of_type(name, self.own(name)));
            }
        }
        choices.push(here(PreferenceScope::AllCategories, Mode::Never));
        choices
    }

    /// The choices of a list as the API has it; `None` if it is none.
    pub(super) fn listed(&self, list: &str) -> Option<Vec<Choice>> {
        let list = json::list(list.as_bytes()).ok()?;
        let chosen = choices(self.rules, list).ok()?.into_iter();
        Some(chosen.map(|choice| Choice { tenant: self.tenant(), ..choice }).collect())
    }

    /// The choices that take others back.
    pub(super) fn undo(&self, set: &[Choice]) -> Vec<Choice> {
        let before = |choice: &Choice, channel: &str| Choice {
            tenant: self.tenant(),
            scope: choice.scope.clone(),
            channel: channel.to_owned(),
            mode: self.own_mode(&choice.scope, channel, true),
        };
        let mut undo = Vec::with_capacity(set.len());
        for choice in set {
            match &*choice.channel {
                // They may have differed; the times of a digest can't.
                EACH_CHANNEL if choice.scope.digest().is_none() => {
                    undo.extend(CHANNELS.map(|channel| before(choice, channel)));
                }
                channel => undo.push(before(choice, channel)),
            }
        }
        undo
    }

    /// The page's choices.
    pub(super) fn choices(&self, batch: Option<&Batch>, set: Option<&Set>) -> Choices {
        let types = self.types();
        let undo = set.map(|set| &*set.undo);
        Choices {
            undo: undo.filter(|undo| !undo.is_empty()).map(to_json),
            done: set.and_then(|set| self.done(batch, set.chosen.as_ref()?)),
            subjects: batch.map_or_else(Vec::new, |batch| self.subjects(batch)),
            types: types.into_iter().map(|event_type| self.type_row(event_type)).collect(),
            categories: self.categories(),
            slots: self.slots(),
            everything: self.everything(),
            has_required: self.rules.types.values().any(|kind| kind.required),
        }
    }

    /// A choice that was just made, in so far as a sentence tells it.
    fn done(&self, batch: Option<&Batch>, choice: &Choice) -> Option<AppliedChoice> {
        let pace = (choice.mode == Mode::Never).then_some(SendingTime::Off);
        Some(match &choice.scope {
            PreferenceScope::Type(name) => {
                let pace = pace.unwrap_or_else(|| self.pace(name));
                AppliedChoice::Pace { name: ChoiceName::Type(Id::new(name).ok()?), pace }
            }
            PreferenceScope::AllCategories if choice.channel == EACH_CHANNEL => {
                AppliedChoice::Pace { name: ChoiceName::All, pace: pace? }
            }
            PreferenceScope::AllCategories => {
                AppliedChoice::Pace { name: ChoiceName::AllMail, pace: pace? }
            }
            PreferenceScope::Topic(id) | PreferenceScope::Object(id) => {
                let batch = batch?;
                let lines = || batch.groups.iter().flat_map(|group| &group.lines);
                let topics = batch.topics.iter();
                let objects = lines().map(|line| &line.object);
                let targets = lines().filter_map(|line| line.target.as_ref());
                let mut all = topics.chain(targets).chain(objects);
                let title = all.find(|object| object.id == *id)?.title.clone()?;
                AppliedChoice::Pace { name: ChoiceName::Title(title), pace: pace? }
            }
            PreferenceScope::DigestDay(name) | PreferenceScope::DigestTime(name) => {
                AppliedChoice::Times(name.clone())
            }
            PreferenceScope::Category(name) => {
                let pace = pace.or_else(|| self.category_row(name)?.pace)?;
                AppliedChoice::Pace { name: ChoiceName::Category(name.clone()), pace }
            }
        })
    }

    /// The types that the token is about, and that are not required.
    fn types(&self) -> Vec<&'r str> {
        let Unsubscribe { lane, types, .. } = self.token;
        let is_meant = |(name, rules): &(&'r String, &TypeRules)| {
            let of = self.lanes.get(name.as_str()).and_then(Option::as_deref);
            let comes_with = of.map(ShortName::of).is_some_and(|of| *lane == Some(of));
            !rules.required && (types.contains(&ShortName::of(name)) || comes_with)
        };
        self.rules.types.iter().filter(is_meant).map(|(name, _)| name.as_str()).collect()
    }

    /// The tenant for whose entries alone the choices are, if the message was a tenant's.
    fn tenant(&self) -> Option<Id> {
        self.token.tenant.as_ref().map(|of| of.id.clone())
    }

    /// The mode for a scope: that for the message's tenant, else that for all entries.
    fn mode(&self, scope: &PreferenceScope, channel: &str) -> Mode {
        match self.own_mode(scope, channel, true) {
            Mode::Default => self.own_mode(scope, channel, false),
            mode => mode,
        }
    }

    /// The mode that is set for a scope with the message's tenant, or without a tenant.
    fn own_mode(&self, scope: &PreferenceScope, channel: &str, is_own: bool) -> Mode {
        let tenant = self.token.tenant.as_ref().map(|of| &of.id).filter(|_| is_own);
        let mut chosen = self.chosen.iter().filter(|choice| choice.tenant.as_ref() == tenant);
        let found = chosen.find(|choice| {
            choice.scope == *scope && [channel, EACH_CHANNEL].contains(&&*choice.channel)
        });
        found.map_or(Mode::Default, |choice| choice.mode.clone())
    }

    fn of_type(&self, event_type: &str, mode: Mode) -> Choice {
        Choice {
            tenant: self.tenant(),
            scope: PreferenceScope::Type(event_type.to_owned()),
            channel: self.channel.to_owned(),
            mode,
        }
    }

    /// The rows of what the message told: the topics by which it came, and what others did something to; its
    /// objects where it has neither.
    fn subjects(&self, batch: &Batch) -> Vec<PreferenceRow> {
        let lines = || batch.groups.iter().flat_map(|group| &group.lines);
        let reasons: BTreeSet<&str> = lines()
            .flat_map(|line| line.reasons.iter())
            .filter_map(|reason| reason.strip_prefix("topic:"))
            .collect();
        let mut rows: Vec<PreferenceRow> = batch
            .topics
            .iter()
            .filter(|topic| reasons.contains(topic.id.as_str()))
            .filter_map(|topic| self.mute(topic, PreferenceScope::Topic))
            .take(TOPICS_MAX)
            .collect();
        let targets = lines().filter_map(|line| line.target.as_deref());
        let mut objects: Vec<&Object> = targets.collect();
        if rows.is_empty() && objects.is_empty() {
            objects = lines().map(|line| &*line.object).collect();
        }
        let mut named = reasons;
        objects.retain(|object| named.insert(object.id.as_str()));
        let objects =
            objects.into_iter().filter_map(|object| self.mute(object, PreferenceScope::Object));
        rows.extend(objects.take(OBJECTS_MAX));
        rows
    }

    /// The row of something that can be muted, if it has a title.
    fn mute(&self, object: &Object, scope: fn(Id) -> PreferenceScope) -> Option<PreferenceRow> {
        let title = object.title.clone().filter(|title| !title.first().trim().is_empty())?;
        let scope = scope(object.id.clone());
        let is_off = self.mode(&scope, self.channel) == Mode::Never;
        let (to, mode) = if is_off {
            (SendingTime::AtOnce, Mode::Default)
        } else {
            (SendingTime::Off, Mode::Never)
        };
        let choice =
            Choice { tenant: self.tenant(), scope, channel: self.channel.to_owned(), mode };
        Some(PreferenceRow {
            name: ChoiceName::Title(title),
            pace: is_off.then_some(SendingTime::Off),
            offers: vec![offer(to, &[choice])],
        })
    }

    fn type_row(&self, event_type: &str) -> PreferenceRow {
        let pace = self.pace(event_type);
        let mut offers = Vec::new();
        match pace {
            SendingTime::Off => {
                let on = self.of_type(event_type, self.on(event_type, true));
                offers.push(offer(SendingTime::AtOnce, &[on]));
            }
            SendingTime::AtOnce | SendingTime::Digest(_) => {
                for (name, digest) in self.slower(event_type, pace) {
                    let choice = self.of_type(event_type, Mode::Digest(name.to_owned()));
                    offers.push(offer(SendingTime::Digest(digest.every), &[choice]));
                }
                let off = self.of_type(event_type, Mode::Never);
                offers.push(offer(SendingTime::Off, &[off]));
            }
        }
        PreferenceRow {
            name: Id::new(event_type)
                .map_or_else(|_| ChoiceName::Title(event_type.into()), ChoiceName::Type),
            pace: Some(pace),
            offers,
        }
    }

    /// The pace at which a type comes now.
    fn pace(&self, event_type: &str) -> SendingTime {
        match self.lanes.get(event_type) {
            Some(Some(_)) => {
                let digest = self.digest_of(event_type);
                digest.map_or(SendingTime::AtOnce, |(_, digest)| SendingTime::Digest(digest.every))
            }
            Some(None) | None => SendingTime::Off,
        }
    }

    /// The digest with which a type comes now.
    fn digest_of(&self, event_type: &str) -> Option<(&'r str, &'r Digest)> {
        let lane = lane_stem(self.lanes.get(event_type)?.as_ref()?);
        let of_lane = lane.strip_prefix("digest:");
        let name = of_lane.or_else(|| match self.route(event_type)? {
            (Some(own), Policy::Digest { digest }) if own == lane => Some(digest),
            _ => None,
        })?;
        let (name, digest) = self.rules.digests.get_key_value(name)?;
        Some((name, digest))
    }

    /// The digests with which something comes, and whose times may be chosen.
    fn slots(&self) -> Vec<DigestSlot> {
        let come = self.lanes.keys().filter_map(|event_type| self.digest_of(event_type));
        let come: BTreeSet<&str> = come.map(|(name, _)| name).collect();
        let mut open = chosen::digests(self.rules);
        open.retain(|(name, digest)| {
            come.contains(name) && digest.choose != ChoosableTimes::default()
        });
        open.into_iter().map(|(name, digest)| self.slot(name, digest)).collect()
    }

    fn slot(&self, name: &str, digest: &Digest) -> DigestSlot {
        let SlotTimes { day, minute } =
            SlotTimes::of(name, digest, &self.chosen, self.tenant().as_ref());
        DigestSlot {
            digest: name.to_owned(),
            every: digest.every,
            day: day.filter(|_| digest.choose.day).map(own_time),
            minute: digest.choose.minute.then_some(own_time(minute)),
            zone: digest.tz.as_ref().unwrap_or(&self.zone).clone(),
        }
    }

    fn route(&self, event_type: &str) -> Option<(Option<&'r String>, &'r Policy)> {
        let route = self.rules.types.get(event_type)?.channels.get(self.channel)?;
        Some((route.lane.as_ref(), &route.policy))
    }

    /// The mode that turns a type on again, whatever is chosen for all, and for its category where that is kept.
    fn on(&self, event_type: &str, keeps_category: bool) -> Mode {
        let category = self.rules.types.get(event_type).map(|rules| rules.category.clone());
        let category = PreferenceScope::Category(category.unwrap_or_default());
        let above = [category, PreferenceScope::AllCategories];
        let own = above.clone().into_iter().skip(usize::from(!keeps_category));
        let own = own.map(|scope| self.own_mode(&scope, self.channel, true));
        // What holds for all entries stands below what is chosen for a tenant.
        let of_type = PreferenceScope::Type(event_type.to_owned());
        let below = [of_type].into_iter().chain(above).filter(|_| self.token.tenant.is_some());
        let below = below.map(|scope| self.own_mode(&scope, self.channel, false));
        let above = own.chain(below).find(|mode| *mode != Mode::Default);
        match above {
            Some(Mode::Never) => self.own(event_type),
            _ => Mode::Default,
        }
    }

    /// The mode by which a type comes as its rules say, whatever is chosen for its category or for all.
    fn own(&self, event_type: &str) -> Mode {
        chosen::own(self.rules, event_type, self.channel)
    }

    /// The digests by which a type would come less often, the most frequent first: one of each frequency.
    fn slower(&self, event_type: &str, pace: SendingTime) -> Vec<(&'r str, &'r Digest)> {
        let is_urgent = self.rules.types.get(event_type).is_some_and(|rules| rules.urgent);
        let now = match pace {
            SendingTime::Digest(every) => hours(every),
            SendingTime::Off | SendingTime::AtOnce => 0,
        };
        let mut slower = chosen::digests(self.rules);
        slower.retain(|(_, digest)| {
            !is_urgent && hours(digest.every) >= 24 && hours(digest.every) > now
        });
        slower.dedup_by_key(|(_, digest)| hours(digest.every));
        slower.truncate(DIGESTS_MAX);
        slower
    }

    /// The rows of categories, in the order of the configuration. One alone would be as all mail.
    fn categories(&self) -> Vec<PreferenceRow> {
        let order = &self.rules.presentation.order.categories;
        let names = self.rules.categories.keys().map(String::as_str);
        let rows =
            ChoiceOrder::put(order, names).into_iter().filter_map(|name| self.category_row(name));
        Some(rows.collect()).filter(|rows: &Vec<PreferenceRow>| rows.len() > 1).unwrap_or_default()
    }

    /// The row of a category; `None` if nothing of it can be turned off on the channel.
    fn category_row(&self, name: &str) -> Option<PreferenceRow> {
        let is_optional = |(_, rules): &(&'r String, &TypeRules)| {
            let route = rules.channels.get(self.channel);
            let comes = route.is_some_and(|route| route.policy != Policy::Never);
            rules.category == name && !rules.required && comes
        };
        let types = self.rules.types.iter().filter(is_optional).map(|(name, _)| name.as_str());
        let types: Vec<&str> = types.collect();
        let first = self.pace(types.first()?);
        let has_pace =
            |pace: SendingTime| types.iter().all(|event_type| self.pace(event_type) == pace);
        let own = |event_type: &str| {
            let scope = PreferenceScope::Type(event_type.to_owned());
            self.own_mode(&scope, self.channel, true)
        };
        let is_off = has_pace(SendingTime::Off);
        let (to, mode) = if is_off {
            (SendingTime::AtOnce, Mode::Default)
        } else {
            (SendingTime::Off, Mode::Never)
        };
        // What is off stays off by itself, where the rest is turned off.
        let narrower = types.iter().filter(|of| is_off || own(of) != Mode::Never).map(|of| {
            let mode = if is_off { self.on(of, false) } else { Mode::Default };
            self.of_type(of, mode)
        });
        let mut set: Vec<Choice> = narrower
            .filter(|choice| self.own_mode(&choice.scope, self.channel, true) != choice.mode)
            .collect();
        let scope = PreferenceScope::Category(name.to_owned());
        set.push(Choice { tenant: self.tenant(), scope, channel: self.channel.to_owned(), mode });
        Some(PreferenceRow {
            name: ChoiceName::Category(name.to_owned()),
            pace: has_pace(first).then_some(first),
            offers: vec![offer(to, &set)],
        })
    }

    /// The rows of the channel, and of all channels.
    fn everything(&self) -> Vec<PreferenceRow> {
        let used: BTreeSet<&str> = self
            .rules
            .types
            .values()
            .filter(|kind| !kind.required)
            .flat_map(|kind| kind.channels.keys())
            .map(String::as_str)
            .collect();
        let mut rows = vec![self.whole(ChoiceName::AllMail, self.channel)];
        if used.len() > 1 {
            rows.push(self.whole(ChoiceName::All, EACH_CHANNEL));
        }
        rows
    }

    fn whole(&self, name: ChoiceName, channel: &str) -> PreferenceRow {
        let all = |mode| Choice {
            tenant: self.tenant(),
            scope: PreferenceScope::AllCategories,
            channel: channel.to_owned(),
            mode,
        };
        let everything = self.mode(&PreferenceScope::AllCategories, channel);
        let is_off = everything == Mode::Never
            && self.narrower(channel).all(|choice| choice.mode == Mode::Never);
        let taken_back = |choice: &Choice| Choice { mode: Mode::Default, ..choice.clone() };
        let narrower = self.narrower(channel);
        let (mode, to) = if is_off {
            (Mode::Default, SendingTime::AtOnce)
        } else {
            (Mode::Never, SendingTime::Off)
        };
        // What is off stays off by itself, where the rest is turned off.
        let mut set: Vec<Choice> = narrower
            .filter(|choice| is_off || choice.mode != Mode::Never)
            .map(taken_back)
            .collect();
        set.push(all(mode));
        PreferenceRow {
            name,
            pace: is_off.then_some(SendingTime::Off),
            offers: vec![offer(to, &set)],
        }
    }

    /// The choices for single types and categories on a channel, or on each; required types are left out.
    fn narrower(&self, channel: &str) -> impl Iterator<Item = &Choice> {
        let is_optional = |choice: &&Choice| match &choice.scope {
            PreferenceScope::Type(name) => {
                let of_type = self.rules.types.get(name);
                of_type.is_some_and(|of_type| !of_type.required)
            }
            PreferenceScope::Category(_) => true,
            PreferenceScope::AllCategories
            | PreferenceScope::Topic(_)
            | PreferenceScope::Object(_)
            | PreferenceScope::DigestDay(_)
            | PreferenceScope::DigestTime(_) => false,
        };
        let tenant = self.token.tenant.as_ref().map(|of| &of.id);
        let own = self.chosen.iter().filter(move |choice| choice.tenant.as_ref() == tenant);
        let chosen = own.filter(is_optional);
        let channel = channel.to_owned();
        chosen.filter(move |choice| channel == EACH_CHANNEL || choice.channel == channel)
    }
}

fn own_time<T>(SlotTime { now, default, .. }: SlotTime<T>) -> OwnTime<T> {
    OwnTime { now, default }
}

fn offer(to: SendingTime, set: &[Choice]) -> OfferedChange {
    OfferedChange { to, set: to_json(set) }
}

/// Choices as the API has them.
fn to_json(choices: &[Choice]) -> String {
    let list: Vec<Preference> = choices.iter().cloned().map(Preference::of).collect();
    serde_json::to_string(&list).unwrap_or_default()
}
