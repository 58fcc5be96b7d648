//! The body of a preference.

use serde::{Deserialize, Deserializer, Serialize};
use tidings_config::clock_minute;
use tidings_config::wording::quoted;
use tidings_core::model::{
    ALL_CATEGORIES, ChangedBy, Choice, EACH_CHANNEL, INBOX, Mode, OwnHours, PreferenceScope,
    SlotDay, WEEKDAYS,
};
use tidings_core::rules::Every;
use tidings_core::{Command, Id, Rules};
use utoipa::ToSchema;

use super::fault::{About, Fault};
use super::fields::Fields;
use super::json::Json;
use super::text::{Text, Topic};
use super::{known_channel, not_one, quiet, unknown};

/// A preference for a type, a category or all categories, the mute of a topic or an object, or the times of a digest. A
/// mute has precedence over a type, a type over its category, and that over all categories.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"category": "following", "channel": "email", "mode": "weekly"}))]
pub struct Preference {
    /// A category of the configuration; `*` = all categories, including later ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// A type of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
    /// A topic to mute, with everything below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    topic: Option<Text<Topic>>,
    /// An object to mute, also as a target.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    object: Option<Text<Id>>,
    /// The tenant to whose notifications the preference applies; absent = all notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Text<Id>>,
    /// A digest whose times recipients may choose: with `on`, `at` or both, and without `channel` and `mode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The day of the digest, `mon` to `sun`, or 1 to 31 of a month; null or `default` resets it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Word>)]
    on: Option<Option<Word>>,
    /// The time of the digest, a full quarter of an hour such as `17:15`; null or `default` resets it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    at: Option<Option<Word>>,
    /// The channel; `*` = all channels, including later ones, for a mute or for the category `*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    /// `never`, `immediate` (the type's own policy, or at once if that is a digest), `default` (no preference), or the
    /// name of a digest. Mutes have `never` and `default`. `never` is refused for a required type, and does not apply
    /// to the required types of a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
}

/// A day or a time: a text, or the number of a day of the month.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = DigestDay)]
pub enum Word {
    /// The day of the month.
    Number(u8),
    /// The day of the week.
    Text(String),
}

impl From<SlotDay> for Word {
    fn from(day: SlotDay) -> Self {
        match day {
            SlotDay::Week(_) => Self::Text(day.to_string()),
            SlotDay::Month(day) => Self::Number(day),
        }
    }
}

/// Reads a field that is there, null included.
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<Word>>, D::Error> {
    Option::deserialize(value).map(Some)
}

impl Preference {
    /// The bodies of preferences that are set: the day and the time of a digest share one.
    pub fn list(chosen: impl IntoIterator<Item = Choice>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for choice in chosen {
            let shown = Self::of(choice);
            let same = all.iter_mut().find(|of| {
                of.digest.is_some() && of.digest == shown.digest && of.is_of_tenant_of(&shown)
            });
            match same {
                Some(same) => {
                    same.on = same.on.take().or(shown.on);
                    same.at = same.at.take().or(shown.at);
                }
                None => all.push(shown),
            }
        }
        all
    }

    fn is_of_tenant_of(&self, other: &Self) -> bool {
        let id = |of: &Self| of.tenant.as_ref().map(|Text(id)| id.clone());
        id(self) == id(other)
    }

    /// The body of a preference that is set.
    pub fn of(Choice { tenant, scope, channel, mode }: Choice) -> Self {
        let mut shown = Self {
            category: None,
            r#type: None,
            topic: None,
            object: None,
            tenant: tenant.map(Text),
            digest: None,
            on: None,
            at: None,
            channel: Some(channel),
            mode: None,
        };
        match scope {
            PreferenceScope::Category(name) => shown.category = Some(name),
            PreferenceScope::AllCategories => shown.category = Some(ALL_CATEGORIES.to_owned()),
            PreferenceScope::Type(name) => shown.r#type = Some(name),
            PreferenceScope::Topic(topic) => shown.topic = Some(Text(Topic(topic))),
            PreferenceScope::Object(object) => shown.object = Some(Text(object)),
            PreferenceScope::DigestDay(name) => {
                let on = match mode {
                    Mode::Day(day) => Some(day.into()),
                    _ => None,
                };
                return Self { digest: Some(name), on: Some(on), channel: None, ..shown };
            }
            PreferenceScope::DigestTime(name) => {
                let at = match mode {
                    Mode::Time(_) => Some(Word::Text(mode.to_string())),
                    _ => None,
                };
                return Self { digest: Some(name), at: Some(at), channel: None, ..shown };
            }
        }
        Self { mode: Some(mode.to_string()), ..shown }
    }

    /// Its scope, checked against the rules.
    fn scope(&mut self, rules: &Rules) -> Result<PreferenceScope, Fault> {
        let (category, kind) = (self.category.take(), self.r#type.take());
        let (topic, object) = (self.topic.take(), self.object.take());
        match (category, kind, topic, object) {
            (None, Some(kind), None, None) if rules.types.contains_key(&kind) => {
                Ok(PreferenceScope::Type(kind))
            }
            (None, Some(kind), None, None) => {
                let names = rules.types.keys().map(String::as_str);
                Err(unknown("type", &kind, names).about(About::UnknownType))
            }
            (Some(name), None, None, None) if name == ALL_CATEGORIES => {
                Ok(PreferenceScope::AllCategories)
            }
            (Some(name), None, None, None) if rules.categories.contains_key(&name) => {
                Ok(PreferenceScope::Category(name))
            }
            (Some(name), None, None, None) => {
                let names = rules.categories.keys().map(String::as_str);
                Err(unknown("category", &name, names))
            }
            (None, None, Some(Text(Topic(topic))), None) => Ok(PreferenceScope::Topic(topic)),
            (None, None, None, Some(Text(object))) => Ok(PreferenceScope::Object(object)),
            (category, kind, topic, object) => Err(not_one(&[
                ("category", category.is_some()),
                ("type", kind.is_some()),
                ("topic", topic.is_some()),
                ("object", object.is_some()),
                ("digest", false),
            ])),
        }
    }

    /// Its choices, checked against the rules: the day and the time of a digest are two.
    ///
    /// # Errors
    /// As [`Self::choice`], or a time that the digest does not let recipients choose.
    pub fn choices(mut self, rules: &Rules) -> Result<Vec<Choice>, Fault> {
        match self.digest.take() {
            Some(digest) => self.times(rules, &digest),
            None => Ok(vec![self.choice(rules)?]),
        }
    }

    /// The times of a digest.
    fn times(self, rules: &Rules, name: &str) -> Result<Vec<Choice>, Fault> {
        let fault = |what: &str, hint: &str| Fault::new(what, hint).about(About::Preference);
        let Some(digest) = rules.digests.get(name) else {
            let names = rules.digests.keys().map(String::as_str);
            return Err(unknown("digest", name, names).about(About::Preference));
        };
        let named = [
            ("digest", true),
            ("category", self.category.is_some()),
            ("type", self.r#type.is_some()),
            ("topic", self.topic.is_some()),
            ("object", self.object.is_some()),
        ];
        if named.iter().filter(|(_, given)| *given).count() > 1 {
            return Err(not_one(&named));
        }
        if self.mode.is_some() || self.channel.is_some() {
            let what = "a digest has no `channel` and no `mode`: its times are for all channels";
            return Err(fault(what, "write `{\"digest\": …, \"on\": …, \"at\": …}`"));
        }
        let tenant = self.tenant.map(Text::inner);
        let mut chosen = Vec::new();
        if let Some(on) = self.on {
            let mode = day(on, digest.every).ok_or_else(|| {
                fault(
                    "`on` must be a day of the digest",
                    "write `mon` to `sun`, or 1 to 31 of a month",
                )
            })?;
            chosen.push((PreferenceScope::DigestDay(name.to_owned()), mode, "on"));
        }
        if let Some(at) = self.at {
            let hint = "write a quarter of an hour such as `17:15`, or null";
            let mode = time(at).ok_or_else(|| fault("`at` must be a time of day", hint))?;
            chosen.push((PreferenceScope::DigestTime(name.to_owned()), mode, "at"));
        }
        if chosen.is_empty() {
            return Err(fault(
                "neither `on` nor `at` is given",
                "give one of them, or null to take it back",
            ));
        }
        let choice = |(scope, mode, key): (PreferenceScope, Mode, &str)| {
            if !digest.lets_choose(&scope, &mode) {
                let what = format!(
                    "the digest {} does not let recipients choose this `{key}`",
                    quoted(name)
                );
                let hint = format!(
                    "add \"{key}\" to `choose` of the digest; `at` is a full quarter of an hour"
                );
                return Err(fault(&what, &hint));
            }
            let channel = EACH_CHANNEL.to_owned();
            Ok(Choice { tenant: tenant.clone(), scope, channel, mode })
        };
        chosen.into_iter().map(choice).collect()
    }

    /// The preference, checked against the rules.
    ///
    /// # Errors
    /// A word that the configuration does not have, a digest on the inbox, or a `never` for a required type.
    pub fn choice(mut self, rules: &Rules) -> Result<Choice, Fault> {
        let scope = self.scope(rules)?;
        let fault = |what: &str, hint: &str| Err(Fault::new(what, hint).about(About::Preference));
        if self.on.is_some() || self.at.is_some() {
            return fault("`on` and `at` are times of a digest", "name the digest by `digest`");
        }
        let missing = |key: &str| Fault::new(format!("`{key}` is missing"), format!("add `{key}`"));
        let channel = self.channel.take().ok_or_else(|| missing("channel"))?;
        let given = self.mode.take().ok_or_else(|| missing("mode"))?;
        if channel != EACH_CHANNEL {
            known_channel(&channel)?;
        } else if !scope.may_be_on_each() {
            let what = "only a mute and the category `*` are for each channel";
            return fault(what, "name one channel");
        }
        let mode = match given.as_str() {
            "never" => Mode::Never,
            "immediate" => Mode::Immediate,
            "default" => Mode::Default,
            digest if rules.digests.contains_key(digest) => Mode::Digest(given),
            other => {
                let digests = rules.digests.keys().map(String::as_str);
                let modes = ["never", "immediate", "default"].into_iter().chain(digests);
                return Err(unknown("mode", other, modes).about(About::Preference));
            }
        };
        if scope.is_mute() && !matches!(mode, Mode::Never | Mode::Default) {
            let hint = "write `never`, or `default` to lift a mute";
            return fault("a topic or an object is muted or not", hint);
        }
        if let (PreferenceScope::Type(name), Mode::Never) = (&scope, &mode)
            && rules.types.get(name).is_some_and(|kind| kind.required)
        {
            let what = format!("the type {} is required", quoted(name));
            return fault(&what, "choose another mode: it can't be `never`");
        }
        if [INBOX, EACH_CHANNEL].contains(&&*channel) && matches!(mode, Mode::Digest(_)) {
            let hint = match &*channel {
                INBOX => "write `immediate`, `never` or `default`",
                _ => "name one channel, or write `immediate`, `never` or `default`",
            };
            return fault("the inbox can't have a digest", hint);
        }
        let tenant = self.tenant.map(Text::inner);
        Ok(Choice { tenant, scope, channel, mode })
    }

    /// The command that sets this one.
    ///
    /// # Errors
    /// As [`Self::choice`].
    pub fn command(self, rules: &Rules, recipient: Id) -> Result<Command, Fault> {
        let mut chosen = self.choices(rules)?;
        Ok(match (chosen.len(), chosen.pop()) {
            (1, Some(Choice { scope, channel, mode, tenant })) => {
                Command::Preference { tenant, recipient, scope, channel, mode, by: ChangedBy::Key }
            }
            (_, last) => {
                chosen.extend(last);
                let (whole, tenant) = (false, None);
                Command::Preferences { recipient, chosen, whole, tenant, by: ChangedBy::Key }
            }
        })
    }
}

/// A change of preferences: their list, or an object with it.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(missing_docs, reason = "a text of a variant would be one of the API's document")]
pub enum PreferenceChange {
    List(Vec<Preference>),
    WithHours(WithHours),
}

/// Preferences to set, and quiet hours.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PreferencesAndHours, example = json!({"preferences": [{"type": "comment", "channel": "email", "mode": "never"}], "quiet_hours": {"from": "22:00", "to": "07:00"}}))]
pub struct WithHours {
    /// Preferences to set; the others stay as they are.
    #[serde(default)]
    preferences: Vec<Preference>,
    /// Quiet hours: the recipient's own, null = none, `default` = those of each channel.
    #[serde(default, deserialize_with = "quiet::given")]
    #[schema(value_type = Option<quiet::QuietHoursShown>, required = false)]
    quiet_hours: Option<quiet::QuietHoursChange>,
}

impl WithHours {
    /// The choices, and the quiet hours if they are given.
    ///
    /// # Errors
    /// As [`Preference::choice`], or invalid hours.
    pub fn read(self, rules: &Rules) -> Result<(Vec<Choice>, Option<OwnHoursBody>), Fault> {
        let preferences = (1_u64..).zip(self.preferences);
        let chosen = preferences.map(|(number, preference)| {
            preference.choices(rules).map_err(|fault| of_item(number, fault))
        });
        let hours = self.quiet_hours.map(quiet::QuietHoursChange::choice).transpose()?;
        let chosen: Vec<Vec<Choice>> = chosen.collect::<Result<_, _>>()?;
        Ok((chosen.concat(), hours))
    }
}

/// A recipient's own quiet hours; `None` = those of each channel.
type OwnHoursBody = Option<Box<OwnHours>>;

pub(super) fn of_item(number: u64, fault: Fault) -> Fault {
    Fault { reason: format!("item {number}: {}", fault.reason), ..fault }
}

/// Reads a list of preferences.
///
/// # Errors
/// The first [`Fault`] of an item, with its number.
pub fn choices(rules: &Rules, list: Vec<Json<'_>>) -> Result<Vec<Choice>, Fault> {
    let read = |(number, item): (u64, Json<'_>)| {
        let Json::Table(table) = item else {
            let reason = format!("item {number} must be an object, got {}", item.kind());
            let hint = "write `{\"type\": …, \"channel\": …, \"mode\": …}`";
            return Err(Fault::new(reason, hint));
        };
        let preference = Fields::new(table).body::<Preference>();
        let chosen = preference.and_then(|preference| preference.choices(rules));
        chosen.map_err(|fault| of_item(number, fault))
    };
    let chosen: Result<Vec<_>, Fault> = (1..).zip(list).map(read).collect();
    Ok(chosen?.concat())
}

/// The day of a digest's slots in a text; `None` = it is none.
fn day(word: Option<Word>, every: Every) -> Option<Mode> {
    let day = match (word, every) {
        (None, _) => return Some(Mode::Default),
        (Some(Word::Text(text)), _) if text == "default" => return Some(Mode::Default),
        (Some(Word::Text(text)), Every::Week(_)) => {
            let mut week = (1..).zip(WEEKDAYS);
            SlotDay::Week(week.find(|(_, name)| *name == text)?.0)
        }
        (Some(Word::Number(day)), Every::Month(_)) => SlotDay::Month(day),
        (Some(Word::Text(text)), Every::Month(_)) if text.bytes().all(|of| of.is_ascii_digit()) => {
            SlotDay::Month(text.parse().ok()?)
        }
        _ => return None,
    };
    Some(Mode::Day(day))
}

/// The time of a digest's slots in a text; `None` = it is none.
fn time(word: Option<Word>) -> Option<Mode> {
    match word {
        None => Some(Mode::Default),
        Some(Word::Text(text)) if text == "default" => Some(Mode::Default),
        Some(Word::Text(text)) => clock_minute(&text).map(Mode::Time),
        Some(Word::Number(_)) => None,
    }
}
