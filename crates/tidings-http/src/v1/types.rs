//! The configuration for callers: types, categories, digests, channels.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_config::duration;
use tidings_core::Rules;
use tidings_core::model::{CHANNELS, INBOX, MINUTE_MS, Paused, Pivot};
use tidings_core::rules::{
    Category, Decide, Digest, Every, Policy, Route, TypeRules, UnresolvedFate,
};
use tidings_mail::Localised;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::Problem;
use crate::{Answer, Service};

/// The call of the configuration.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("list_types", routes!(list_types))
}

/// The configured types and their delivery.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"types": {"comment": {"category": "conversations", "include_actor": false, "urgent": false, "required": false, "condition": null, "admission": "always", "per": "type", "look_back": null, "drop_if_seen": null, "group": null, "unresolved": "send", "unknown_outcome": "resend", "give_up_after": null, "paused": false, "channels": {"email": {"policy": "cooldown", "lane": "cooldown", "quiet": "4m", "max_wait": "15m"}, "inbox": {"policy": "now", "lane": "now"}}}}, "categories": {"conversations": {"title": "Conversations"}}, "digests": {"weekly": {"every": "week", "on": "mon", "at": "09:00", "tz": null}}, "channels": {"email": {"configured": true, "paused": false}, "inbox": {"configured": true, "paused": false}}}))]
struct TypesAnswer {
    /// By name.
    types: BTreeMap<String, TypeShown>,
    /// Categories for a preference page, by name.
    categories: BTreeMap<String, CategoryShown>,
    /// Available digests, by name.
    digests: BTreeMap<String, DigestShown>,
    /// By name.
    channels: BTreeMap<&'static str, ChannelShown>,
}

/// A type.
#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of a configuration")]
struct TypeShown {
    /// Its category.
    category: String,
    /// True if actors are notified of their own events.
    include_actor: bool,
    /// True if it does not wait for a digest.
    urgent: bool,
    /// True if neither `never` nor a mute applies to it.
    required: bool,
    /// The condition that is checked before sending; null = none.
    condition: Option<String>,
    /// The admission: `always`, `once_pending`, `once_ever` or `last_only`.
    admission: &'static str,
    /// The scope within which the admission compares entries: `type`, `object` or `target`.
    per: &'static str,
    /// Greatest age of an entry that is sent; null = no limit.
    look_back: Option<String>,
    /// True if seen notifications are dropped; null = yes, except in digests.
    drop_if_seen: Option<bool>,
    /// The role by which lines are grouped: `object`, `actor` or `target`; null = the one with the fewest groups.
    group: Option<&'static str>,
    /// The handling of its messages while the resolver does not answer: `send` or `wait`.
    #[schema(value_type = String, example = "send")]
    unresolved: UnresolvedFate,
    /// The handling of a message of unknown outcome: `resend` or `give_up`.
    unknown_outcome: &'static str,
    /// Time after its due time at which a message that could not be handed over fails.
    #[schema(value_type = Option<String>)]
    give_up_after: Option<String>,
    /// True if an operator has paused it.
    paused: bool,
    /// The policy for each channel.
    channels: BTreeMap<String, PolicyShown>,
}

/// The policy of a type on a channel.
#[derive(Default, Serialize, ToSchema)]
#[schema(example = json!({"policy": "cooldown", "lane": "cooldown", "quiet": "4m", "max_wait": "16m"}))]
struct PolicyShown {
    /// `now`, `first_event`, `cooldown`, `leading`, `digest` or `never`.
    policy: &'static str,
    /// Lane of its entries; null for `never`.
    lane: Option<String>,
    /// Expression of the batch key, for a policy that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_key: Option<String>,
    /// Number of entries with which a lane is due at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_items: Option<u16>,
    /// Delay of its entries after those of the inbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// For `first_event`: the time for which the first entry waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<String>,
    /// For `first_event`: `first` or `earliest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    decide: Option<&'static str>,
    /// For `cooldown` and `leading`: the quiet time.
    #[serde(skip_serializing_if = "Option::is_none")]
    quiet: Option<String>,
    /// For `cooldown`: the longest wait; `none` = no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_wait: Option<String>,
    /// For `digest`: the digest's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

/// A category.
#[derive(Serialize, ToSchema)]
struct CategoryShown {
    /// The title to show, in the default locale; the category's name if it has none.
    title: String,
}

/// A digest.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"every": "week", "on": "mon", "at": "09:00", "tz": null}))]
struct DigestShown {
    /// `day`, `weekday`, `week`, `month`, or hours such as `6h`.
    every: String,
    /// The day of the week (`mon` to `sun`) or of the month (`1` to `31`); null for other digests.
    on: Option<String>,
    /// The wall-clock time.
    at: String,
    /// The time zone; null = the recipient's.
    tz: Option<String>,
    /// The time over which the recipients' slots are spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    spread: Option<String>,
    /// Number of entries below which a slot is skipped, once.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_items: Option<u32>,
    /// The times that recipients may choose for themselves: `on`, `at` or both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choose: Vec<&'static str>,
}

/// A channel.
#[derive(Serialize, ToSchema)]
struct ChannelShown {
    /// True if it can send messages.
    configured: bool,
    /// True if an operator has paused it.
    paused: bool,
}

impl PolicyShown {
    fn of(of_type: &TypeRules, channel: &str, route: &Route) -> Self {
        let mut shown = Self {
            lane: of_type.own_lane(channel, route),
            batch_key: route.batch_key.clone(),
            max_items: route.max_items,
            after: route.after_ms.map(duration::print),
            ..Self::default()
        };
        match &route.policy {
            Policy::Now => shown.policy = "now",
            Policy::FirstEvent { hold_ms, decide } => {
                shown.policy = "first_event";
                shown.hold = Some(duration::print(*hold_ms));
                shown.decide = Some(match decide {
                    Decide::First => "first",
                    Decide::Earliest => "earliest",
                });
            }
            Policy::Cooldown { quiet_ms, max_wait_ms } => {
                shown.policy = "cooldown";
                shown.quiet = Some(duration::print(*quiet_ms));
                let most = max_wait_ms.map(duration::print);
                shown.max_wait = Some(most.unwrap_or_else(|| "none".to_owned()));
            }
            Policy::Leading { quiet_ms } => {
                shown.policy = "leading";
                shown.quiet = Some(duration::print(*quiet_ms));
            }
            Policy::Digest { digest } => {
                shown.policy = "digest";
                shown.digest = Some(digest.clone());
            }
            Policy::Never => {
                shown.policy = "never";
                shown.lane = None;
            }
        }
        shown
    }
}

impl From<&Digest> for DigestShown {
    fn from(digest: &Digest) -> Self {
        const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let (every, on) = match digest.every {
            Every::Day => ("day".to_owned(), None),
            Every::Weekday => ("weekday".to_owned(), None),
            Every::Week(day) => {
                let name = DAYS.get(usize::from(day).saturating_sub(1));
                ("week".to_owned(), name.map(|name| (*name).to_owned()))
            }
            Every::Month(day) => ("month".to_owned(), Some(day.to_string())),
            Every::Hours(hours) => (format!("{hours}h"), None),
        };
        let spread_ms = i64::from(digest.spread_minutes) * MINUTE_MS;
        let (hour, minute) = (digest.at_minute / 60, digest.at_minute % 60);
        Self {
            every,
            on,
            at: format!("{hour:02}:{minute:02}"),
            tz: digest.tz.clone(),
            spread: (spread_ms > 0).then(|| duration::print(spread_ms)),
            min_items: (digest.min_items > 0).then_some(digest.min_items),
            choose: digest.choose.words(),
        }
    }
}

impl TypesAnswer {
    fn of(rules: &Rules, paused: &Paused) -> Self {
        let types = rules.types.iter().map(|(name, rules)| {
            let channels = rules.channels.iter();
            let shown = TypeShown {
                category: rules.category.clone(),
                include_actor: rules.include_actor,
                urgent: rules.urgent,
                required: rules.required,
                condition: rules.condition.clone(),
                admission: rules.admission.word(),
                per: rules.per.word(),
                look_back: rules.look_back_ms.map(duration::print),
                drop_if_seen: rules.drop_if_seen,
                group: rules.group.map(|pivot| match pivot {
                    Pivot::Object => "object",
                    Pivot::Actor => "actor",
                    Pivot::Target => "target",
                }),
                unresolved: rules.unresolved,
                unknown_outcome: rules.unknown_outcome.word(),
                give_up_after: rules.give_up_after_ms.map(duration::print),
                paused: paused.has_type(name),
                channels: channels
                    .map(|(channel, route)| {
                        (channel.clone(), PolicyShown::of(rules, channel, route))
                    })
                    .collect(),
            };
            (name.clone(), shown)
        });
        let title = |(name, category): (&String, &Category)| {
            let usual = &rules.defaults.locale;
            let titles = Localised::plain(&category.title, usual);
            let title = titles.for_locale(usual).unwrap_or(name).clone();
            (name.clone(), CategoryShown { title })
        };
        let digests = rules.digests.iter();
        let channel = |name: &'static str| {
            let provided =
                rules.channels.get(name).is_some_and(|channel| !channel.providers.is_empty());
            let shown = ChannelShown {
                configured: name == INBOX || provided,
                paused: paused.has_channel(name),
            };
            (name, shown)
        };
        Self {
            types: types.collect(),
            categories: rules.categories.iter().map(title).collect(),
            digests: digests.map(|(name, digest)| (name.clone(), digest.into())).collect(),
            channels: CHANNELS.into_iter().map(channel).collect(),
        }
    }
}

/// List types, categories, digests and channels
///
/// Returns the configuration in force, as a host needs it to publish and to show a preference page.
#[utoipa::path(
    get, path = "/v1/types", tag = "configuration",
    responses((status = 200, description = "The configuration", body = TypesAnswer))
)]
async fn list_types(State(service): State<Arc<Service>>) -> Result<Answer, Problem> {
    let rules = service.rules();
    let types = service.look(move |node| TypesAnswer::of(&rules, node.engine().paused())).await?;
    Answer::json(StatusCode::OK, &types)
}
