//! The body of a preference.

use serde::{Deserialize, Serialize};
use tidings_core::channel::{EACH, INBOX};
use tidings_core::command::Choice;
use tidings_core::occurrence::By;
use tidings_core::preference::ALL_CATEGORIES;
use tidings_core::recipient::OwnHours;
use tidings_core::{Command, Id, Mode, PreferenceScope, Rules};
use utoipa::ToSchema;

use super::fault::{About, Fault};
use super::fields::Fields;
use super::json::Json;
use super::text::{Text, Topic};
use super::{known_channel, not_one, quiet, unknown};
use crate::wording::quoted;

/// A preference for a type, a category or all categories, or the mute of a topic or an object. A mute has precedence
/// over a type, a type over its category, and that over all categories.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"category": "following", "channel": "email", "mode": "weekly"}))]
pub(crate) struct Preference {
    /// A category of the configuration; `*` for every category, those that are configured later included.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// A type of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
    /// A topic to mute, with everything below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    topic: Option<Text<Topic>>,
    /// An object to mute, also where it is the target; one of the four.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    object: Option<Text<Id>>,
    /// The tenant to whose notifications it applies; absent = all notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Text<Id>>,
    /// The channel; `*` is each, those that are configured later included: for a mute, or for the category `*`.
    channel: String,
    /// `never`, `immediate` (the type's own policy, or at once if that is a digest), `default` (no
    /// preference), or the name of a digest. Mutes have `never` and `default`. `never` is refused for a required type,
    /// and leaves those of its category out.
    mode: String,
}

impl Preference {
    /// The body of a preference that is set.
    pub(crate) fn of(Choice { tenant, scope, channel, mode }: Choice) -> Self {
        let mut shown = Self {
            category: None,
            r#type: None,
            topic: None,
            object: None,
            tenant: tenant.map(Text),
            channel,
            mode: match mode {
                Mode::Never => "never".to_owned(),
                Mode::Immediate => "immediate".to_owned(),
                Mode::Default => "default".to_owned(),
                Mode::Digest(name) => name,
            },
        };
        match scope {
            PreferenceScope::Category(name) => shown.category = Some(name),
            PreferenceScope::AllCategories => shown.category = Some(ALL_CATEGORIES.to_owned()),
            PreferenceScope::Type(name) => shown.r#type = Some(name),
            PreferenceScope::Topic(topic) => shown.topic = Some(Text(Topic(topic))),
            PreferenceScope::Object(object) => shown.object = Some(Text(object)),
        }
        shown
    }

    /// The scope that it names, judged by the rules.
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
            ])),
        }
    }

    /// The preference, judged by the rules.
    ///
    /// # Errors
    /// A word that the configuration does not have, a digest on the inbox, or a `never` for a required type.
    pub(crate) fn choice(mut self, rules: &Rules) -> Result<Choice, Fault> {
        let scope = self.scope(rules)?;
        let fault = |what: &str, hint: &str| Err(Fault::new(what, hint).about(About::Preference));
        if self.channel != EACH {
            known_channel(&self.channel)?;
        } else if !scope.may_be_on_each() {
            let what = "only a mute and the category `*` are for each channel";
            return fault(what, "name one channel");
        }
        let mode = match self.mode.as_str() {
            "never" => Mode::Never,
            "immediate" => Mode::Immediate,
            "default" => Mode::Default,
            digest if rules.digests.contains_key(digest) => Mode::Digest(self.mode),
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
        if [INBOX, EACH].contains(&&*self.channel) && matches!(mode, Mode::Digest(_)) {
            let hint = match &*self.channel {
                INBOX => "write `immediate`, `never` or `default`",
                _ => "name one channel, or write `immediate`, `never` or `default`",
            };
            return fault("the inbox can't have a digest", hint);
        }
        let tenant = self.tenant.map(Text::inner);
        Ok(Choice { tenant, scope, channel: self.channel, mode })
    }

    /// The command that sets this one.
    ///
    /// # Errors
    /// As [`Self::choice`].
    pub(crate) fn command(self, rules: &Rules, recipient: Id) -> Result<Command, Fault> {
        let Choice { scope, channel, mode, tenant } = self.choice(rules)?;
        Ok(Command::Preference { tenant, recipient, scope, channel, mode, by: By::Key })
    }
}

/// A change of preferences: their list, or an object with it.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is read by its parts, which tell faults better")]
pub(crate) enum PreferenceChange {
    List(Vec<Preference>),
    WithHours(WithHours),
}

/// Preferences to set, and quiet hours.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PreferencesAndHours, example = json!({"preferences": [{"type": "comment", "channel": "email", "mode": "never"}], "quiet_hours": {"from": "22:00", "to": "07:00"}}))]
pub(crate) struct WithHours {
    /// Preferences to set; the others stay as they are.
    #[serde(default)]
    preferences: Vec<Preference>,
    /// Quiet hours: hours of one's own, null for none at all, or `default` for those of each channel.
    #[serde(default, deserialize_with = "quiet::given")]
    #[schema(value_type = Option<quiet::Shown>, required = false)]
    quiet_hours: Option<quiet::Given>,
}

impl WithHours {
    /// The choices, and the quiet hours where they are given.
    ///
    /// # Errors
    /// As [`Preference::choice`], or hours that are none.
    pub(crate) fn read(self, rules: &Rules) -> Result<(Vec<Choice>, Option<Hours>), Fault> {
        let preferences = (1_u64..).zip(self.preferences);
        let chosen = preferences.map(|(number, preference)| {
            preference.choice(rules).map_err(|fault| of_item(number, fault))
        });
        let hours = self.quiet_hours.map(quiet::Given::choice).transpose()?;
        Ok((chosen.collect::<Result<_, _>>()?, hours))
    }
}

/// Quiet hours of one's own; `None` = those of each channel.
type Hours = Option<Box<OwnHours>>;

pub(super) fn of_item(number: u64, fault: Fault) -> Fault {
    Fault { reason: format!("item {number}: {}", fault.reason), ..fault }
}

/// Reads a list of preferences.
///
/// # Errors
/// The first [`Fault`] of an item, with its number.
pub(crate) fn choices(rules: &Rules, list: Vec<Json<'_>>) -> Result<Vec<Choice>, Fault> {
    let read = |(number, item): (u64, Json<'_>)| {
        let Json::Table(table) = item else {
            let reason = format!("item {number} must be an object, got {}", item.kind());
            let hint = "write `{\"type\": …, \"channel\": …, \"mode\": …}`";
            return Err(Fault::new(reason, hint));
        };
        let preference = Fields::new(table).body::<Preference>();
        let choice = preference.and_then(|preference| preference.choice(rules));
        choice.map_err(|fault| of_item(number, fault))
    };
    (1..).zip(list).map(read).collect()
}
