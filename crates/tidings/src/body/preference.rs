//! The body of a preference.

use serde::{Deserialize, Serialize};
use tidings_core::channel::INBOX;
use tidings_core::command::Choice;
use tidings_core::{Command, Id, Mode, PreferenceScope, Rules};
use utoipa::ToSchema;

use super::fault::{About, Fault};
use super::fields::Fields;
use super::json::Json;
use super::{known_channel, not_one, unknown};

/// A preference for a type or a category. A type has precedence over its category.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"category": "following", "channel": "email", "mode": "weekly"}))]
pub(crate) struct Preference {
    /// A category of the configuration; this or `type`.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// A type of the configuration; this or `category`.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
    /// The channel.
    channel: String,
    /// `never`, `immediate` (the type's own policy, or at once if that is a digest), `default` (no
    /// preference), or the name of a digest.
    mode: String,
}

impl Preference {
    /// The body of a preference that is set.
    pub(crate) fn of(scope: PreferenceScope, channel: &str, mode: Mode) -> Self {
        let (category, r#type) = match scope {
            PreferenceScope::Category(name) => (Some(name), None),
            PreferenceScope::Type(name) => (None, Some(name)),
        };
        Self {
            category,
            r#type,
            channel: channel.to_owned(),
            mode: match mode {
                Mode::Never => "never".to_owned(),
                Mode::Immediate => "immediate".to_owned(),
                Mode::Default => "default".to_owned(),
                Mode::Digest(name) => name,
            },
        }
    }

    /// The preference, judged by the rules.
    ///
    /// # Errors
    /// A word that the configuration does not have, or a digest on the inbox.
    pub(crate) fn choice(self, rules: &Rules) -> Result<Choice, Fault> {
        let scope = match (self.category, self.r#type) {
            (None, Some(kind)) if rules.types.contains_key(&kind) => PreferenceScope::Type(kind),
            (None, Some(kind)) => {
                let names = rules.types.keys().map(String::as_str);
                return Err(unknown("type", &kind, names).about(About::UnknownType));
            }
            (Some(name), None) if rules.categories.contains_key(&name) => {
                PreferenceScope::Category(name)
            }
            (Some(name), None) => {
                let names = rules.categories.keys().map(String::as_str);
                return Err(unknown("category", &name, names));
            }
            (category, kind) => {
                return Err(not_one(&[
                    ("category", category.is_some()),
                    ("type", kind.is_some()),
                ]));
            }
        };
        known_channel(&self.channel)?;
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
        if self.channel == INBOX && matches!(mode, Mode::Digest(_)) {
            let hint = "write `immediate`, `never` or `default`";
            return Err(Fault::new("the inbox can't have a digest", hint).about(About::Preference));
        }
        Ok(Choice {
            scope,
            channel: self.channel,
            mode,
        })
    }

    /// The command that sets this one.
    ///
    /// # Errors
    /// As [`Self::choice`].
    pub(crate) fn command(self, rules: &Rules, recipient: Id) -> Result<Command, Fault> {
        let Choice {
            scope,
            channel,
            mode,
        } = self.choice(rules)?;
        Ok(Command::Preference {
            recipient,
            scope,
            channel,
            mode,
        })
    }
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
        choice.map_err(|fault| Fault {
            reason: format!("item {number}: {}", fault.reason),
            ..fault
        })
    };
    (1..).zip(list).map(read).collect()
}
