//! Texts of warnings: a stable code, what is wrong, and what to do.

use std::collections::BTreeMap;

use tidings_core::Id;
use tidings_core::engine::Warning;
use tidings_core::model::GeoCircle;

use tidings_config::wording::{one_of, quoted};

/// Topics that a warning lists.
const TOPICS_MAX: usize = 3;

/// A warning with its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarningText {
    /// Stable; the list is in `docs/commands.md`.
    pub code: &'static str,
    /// The fault in words.
    pub detail: String,
    /// Advice on what to do.
    pub hint: &'static str,
}

impl From<&Warning> for WarningText {
    fn from(warning: &Warning) -> Self {
        let (code, detail, hint) = match warning {
            Warning::UnknownRecipient(id) => (
                "unknown_recipient",
                format!("unknown recipient {}", quoted(id.as_str())),
                "create the recipient, or give an object with `id` and `email` in `to.recipients`; publish again \
                 under the same id if nobody got the event, or else under a new one",
            ),
            Warning::NoFollowers(topics) => (
                "no_followers",
                format!("no recipient follows {}", any_of(topics)),
                "check the spelling of the topic (there are no wildcards), or subscribe recipients first",
            ),
            Warning::OnlyTheActor => (
                "only_the_actor",
                "the only recipient is the actor, who is left out".to_owned(),
                "set `include_actor = true` for the type, or leave `actor` out",
            ),
            Warning::OnlyExceptions => (
                "only_exceptions",
                "all who would be in the audience are in `to.except`".to_owned(),
                "nothing is to be mended if that was meant; otherwise take them out of `except`",
            ),
            Warning::NobodyNear(circles) => (
                "nobody_near",
                format!("no recipient is within {}", any_circle(circles)),
                "recipients need `lat` and `lon`; check the circle, `km` is its radius",
            ),
            Warning::NobodyConcerned => (
                "nobody_concerned",
                "the audience is empty".to_owned(),
                "name known recipients, topics, a circle or `everyone` in `to`",
            ),
            Warning::AlreadyExpired(at) => (
                "already_expired",
                format!("`expires_at` is {at}, which has passed: nothing is sent"),
                "give a later `expires_at`, or none",
            ),
            Warning::ExpiresBeforeDelivery(at) => (
                "expires_before_delivery",
                format!("`expires_at` is {at}, not after its delivery: nothing is sent"),
                "give an `expires_at` after the event is delivered, or none",
            ),
            Warning::Differs => (
                "differs",
                "the id was used before for an event with other content; that event is unchanged"
                    .to_owned(),
                "give a new event a new id",
            ),
        };
        Self { code, detail, hint }
    }
}

fn any_of(topics: &[Id]) -> String {
    let named: Vec<&str> = topics.iter().take(TOPICS_MAX).map(Id::as_str).collect();
    match topics.len().checked_sub(TOPICS_MAX) {
        None | Some(0) => one_of(&named),
        Some(more) => format!("{} or {more} more topics", one_of(&named)),
    }
}

fn any_circle(circles: &[GeoCircle]) -> String {
    let [first, rest @ ..] = circles else {
        return "the circle".to_owned();
    };
    let GeoCircle { lat, lon, km } = first;
    match rest.len() {
        0 => format!("{km} km of {lat}, {lon}"),
        more => format!("{km} km of {lat}, {lon} or {more} more circles"),
    }
}

/// Warnings counted by code: bulk commands show the first of each, and then the number of others.
#[derive(Debug, Default)]
pub struct WarningSummary(BTreeMap<String, u64>);

/// Warnings of one code that are shown in full.
const SHOWN_MAX: u64 = 10;

impl WarningSummary {
    /// Counts a warning; whether it is among the first of its code, which are shown.
    pub fn add(&mut self, code: &str) -> bool {
        let count = self.0.entry(code.to_owned()).or_default();
        *count += 1;
        *count <= SHOWN_MAX
    }

    /// Sums up the warnings that were not shown, a line a code.
    pub fn rest(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter(|(_, count)| **count > SHOWN_MAX).map(|(code, count)| {
            format!("{} more warnings of this kind ({code})", count - SHOWN_MAX)
        })
    }
}
