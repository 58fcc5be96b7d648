//! The route of an entry: type, preferences and urgency give a policy and a lane.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidings_core::model::{BatchKey, CHANNELS, EACH_CHANNEL, INBOX, Mode, PreferenceScope};
use tidings_core::rules::{Policy, TypeRules};
use tidings_core::{Event, Rules};

/// Preferences set in one place, by scope and channel.
pub(super) type Preferences = BTreeMap<(PreferenceScope, String), Mode>;

/// The preferences that concern an entry, in order; the first that decides holds.
pub(super) type EntryPreferences<'a> = [&'a Preferences];

/// The route of one type on one channel for one recipient.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Route {
    /// The type is not configured.
    UnknownType,
    /// Nothing is queued.
    Never,
    /// Entries wait in the lane of this name, which is due by this policy.
    Lane { name: String, policy: Policy },
}

/// Contract, section 2, "Preference modes".
pub(super) fn route(
    rules: &Rules,
    chosen: &EntryPreferences<'_>,
    event_type: &str,
    channel: &str,
) -> Route {
    let Some(type_rules) = rules.types.get(event_type) else {
        return Route::UnknownType;
    };
    let Some(own) = type_rules.channels.get(channel) else {
        return Route::Never;
    };
    let levels = [
        PreferenceScope::Type(event_type.to_owned()),
        PreferenceScope::Category(type_rules.category.clone()),
        PreferenceScope::AllCategories,
    ];
    let mut policy = own.policy.clone();
    let mut lane = own.lane.clone();
    let by_level = chosen.iter().flat_map(|chosen| levels.iter().map(move |level| (chosen, level)));
    for (chosen, level) in by_level {
        match chosen.get(&(level.clone(), channel.to_owned())) {
            None | Some(Mode::Default | Mode::Day(_) | Mode::Time(_)) => continue,
            // It leaves a required type out.
            Some(Mode::Never) if type_rules.required => continue,
            Some(Mode::Digest(name)) if !rules.digests.contains_key(name) => continue,
            Some(Mode::Never) => policy = Policy::Never,
            Some(Mode::Immediate) => {
                if matches!(policy, Policy::Digest { .. }) {
                    policy = Policy::Now;
                    lane = None;
                }
            }
            Some(Mode::Digest(name)) => {
                policy = Policy::Digest { digest: name.clone() };
                lane = None;
            }
        }
        break;
    }
    if matches!(policy, Policy::Digest { .. }) && (type_rules.urgent || channel == INBOX) {
        policy = Policy::Now;
        lane = None;
    }
    match lane.or_else(|| policy.lane_name()) {
        Some(name) if policy != Policy::Never => {
            Route::Lane { name: lane_of(type_rules, channel, &name), policy }
        }
        _ => Route::Never,
    }
}

/// Contract, section 2: what is required never shares a message with what is not.
pub(super) fn lane_of(rules: &TypeRules, channel: &str, name: &str) -> String {
    let ending = if rules.required && channel != INBOX { ":required" } else { "" };
    format!("{name}{ending}")
}

/// The channels that a preference names.
pub(super) fn channels(name: &str) -> Vec<String> {
    match name {
        EACH_CHANNEL => CHANNELS.map(str::to_owned).to_vec(),
        name => vec![name.to_owned()],
    }
}

/// Contract, section 6, "Mutes": the reasons of an entry as if its event had no topic at or below a muted one; none
/// where its object or its target is muted.
pub(super) fn reasons_left(
    rules: &Rules,
    chosen: &EntryPreferences<'_>,
    event: &Event,
    channel: &str,
    reasons: &[String],
) -> Vec<String> {
    let is_required = |rules: &TypeRules| rules.required;
    if rules.types.get(event.event_type.as_str()).is_some_and(is_required) {
        return reasons.to_vec();
    }
    let is_muted = |scope: PreferenceScope| {
        let key = (scope, channel.to_owned());
        chosen.iter().any(|chosen| chosen.contains_key(&key))
    };
    let mut about = event
        .target
        .iter()
        .chain([&event.object])
        .map(|object| PreferenceScope::Object(object.id.clone()));
    if about.any(is_muted) {
        return Vec::new();
    }
    let covers = |above: &str, topic: &str| {
        let below = topic.strip_prefix(above);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let muted: Vec<&str> = chosen
        .iter()
        .flat_map(|chosen| chosen.keys())
        .filter(|(_, on)| on == channel)
        .filter_map(|(scope, _)| match scope {
            PreferenceScope::Topic(topic) => Some(topic.as_str()),
            _ => None,
        })
        .collect();
    let left: Vec<&str> = event
        .to
        .topics
        .iter()
        .map(|topic| topic.as_str())
        .filter(|topic| !muted.iter().any(|above| covers(above, topic)))
        .collect();
    let stays = |reason: &&String| match reason.strip_prefix("topic:") {
        Some(followed) => left.iter().any(|topic| covers(followed, topic)),
        None => true,
    };
    reasons.iter().filter(stays).cloned().collect()
}

/// The delay of a type on a channel after the inbox (contract, section 6, "after").
pub(super) fn after_ms(rules: &Rules, event_type: &str, channel: &str) -> i64 {
    let route = rules.types.get(event_type).and_then(|rules| rules.channels.get(channel));
    route.and_then(|route| route.after_ms).unwrap_or(0)
}

/// Returns true if what was seen is left out on this channel.
pub(super) fn drops_seen(
    rules: &Rules,
    chosen: &EntryPreferences<'_>,
    event_type: &str,
    channel: &str,
) -> bool {
    if channel == INBOX {
        return false;
    }
    let of_type = rules.types.get(event_type);
    let said = of_type.and_then(|type_rules| type_rules.drop_if_seen);
    let insists = of_type.is_some_and(|type_rules| type_rules.required || type_rules.urgent);
    said.unwrap_or_else(|| match route(rules, chosen, event_type, channel) {
        _ if insists => false,
        Route::Lane { policy, .. } => !matches!(policy, Policy::Digest { .. }),
        Route::UnknownType | Route::Never => true,
    })
}

/// Contract, section 6, "Batch key", of the expressions that name one field.
pub(super) fn key(rules: &Rules, event: &Event, channel: &str) -> BatchKey {
    let route = rules.types[event.event_type.as_str()].channels.get(channel);
    let Some(path) = route.and_then(|route| route.batch_key.as_deref()) else {
        return BatchKey::EMPTY;
    };
    let mut value = &json!({ "event": event });
    for field in path.split('.') {
        match value.get(field) {
            Some(below) => value = below,
            None => return BatchKey::EMPTY,
        }
    }
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").unwrap_or(&text).to_owned()
        }
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    };
    BatchKey::new(&text).expect("the worlds and cases have short keys")
}
