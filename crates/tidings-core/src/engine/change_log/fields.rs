//! The fields that a change concerns, with the values that may be told: no name, address, data or text.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::bucket::Preference;
use crate::engine::intake::tenants::Tenants;
use crate::model::changes::ChangedField;
use crate::model::channel::{CHANNEL_KINDS, CHANNELS, ChannelNo, EACH_CHANNEL, channel_no};
use crate::model::command::Choice;
use crate::model::id::Id;
use crate::model::preference::{ALL_CATEGORIES, Mode, PreferenceScope, WEEKDAYS};
use crate::model::recipient::{Addresses, OwnHours, Recipient, RecipientState};
use crate::model::suppression::Suppression;
use crate::model::tenant::{Tenant, TenantNo};
use crate::rules::Rules;
use crate::rules::presentation::Brand;

/// The fields of a profile that differ; `from` = `None` where the recipient is new.
pub(crate) fn profile(from: Option<&Recipient>, to: &Recipient) -> Vec<ChangedField> {
    let name = |of: &Recipient| of.name.clone();
    let (lat, lon) =
        (|of: &Recipient| of.place.map(|at| at.0), |of: &Recipient| of.place.map(|at| at.1));
    let text = |of: Option<&Option<String>>| json!(of.and_then(Option::as_ref));
    let state = |of: RecipientState| json!(of);
    let none = Addresses::default();
    let before = from.map_or(&none, |from| &from.addresses);
    let mut fields = Vec::new();
    fields.extend(ChangedField::masked("name", from.and_then(name), name(to)));
    fields.extend(addresses(before, &to.addresses));
    let tz = ChangedField::shown("tz", text(from.map(|from| &from.tz)), text(Some(&to.tz)));
    let locale = text(from.map(|from| &from.locale));
    fields.extend(tz);
    fields.extend(ChangedField::shown("locale", locale, text(Some(&to.locale))));
    // Where somebody lives is told as little as their address.
    fields.extend(ChangedField::masked("lat", from.and_then(lat), lat(to)));
    fields.extend(ChangedField::masked("lon", from.and_then(lon), lon(to)));
    let before = from.map_or(Value::Null, |from| state(from.state));
    fields.extend(ChangedField::shown("state", before, state(to.state)));
    let data = from.and_then(|from| from.data.as_ref());
    fields.extend(ChangedField::masked("data", data, to.data.as_ref()));
    let before = from.and_then(|from| from.quiet_hours.as_deref());
    fields.extend(quiet_hours(before, to.quiet_hours.as_deref()));
    fields
}

/// The channels whose addresses differ.
pub(crate) fn addresses<'a>(
    from: &'a Addresses,
    to: &'a Addresses,
) -> impl Iterator<Item = ChangedField> + 'a {
    CHANNEL_KINDS.iter().filter_map(move |channel| {
        let of = |all: &'a Addresses| {
            let all: Vec<_> = all.views(channel.number).collect();
            (!all.is_empty()).then_some(all)
        };
        ChangedField::masked(format!("addresses.{}", channel.name), of(from), of(to))
    })
}

fn quiet_hours(from: Option<&OwnHours>, to: Option<&OwnHours>) -> Option<ChangedField> {
    ChangedField::shown("quiet_hours", hours(from), hours(to))
}

/// Quiet hours as profiles have them, but `none` where there are none at all.
fn hours(own: Option<&OwnHours>) -> Value {
    let Some(OwnHours { hours, channels }) = own else {
        return json!("default");
    };
    let Some(hours) = hours else {
        return json!("none");
    };
    let clock = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    let days = (1..).zip(WEEKDAYS).filter(|(day, _)| hours.begin_on(*day)).map(|(_, name)| name);
    let days: Vec<&str> = days.collect();
    let mut shown = json!({"from": clock(hours.from_minute), "to": clock(hours.to_minute)});
    if days.len() < WEEKDAYS.len() {
        shown["days"] = json!(days);
    }
    if let Some(channels) = channels {
        let names = channels.iter().filter_map(|no| channel_name(*no));
        shown["channels"] = json!(names.collect::<Vec<_>>());
    }
    shown
}

fn channel_name(no: ChannelNo) -> Option<&'static str> {
    CHANNELS.get(usize::from(no)).copied()
}

/// The tenants of a recipient, if they differ.
pub(crate) fn memberships(
    from: &BTreeSet<TenantNo>,
    to: &BTreeSet<TenantNo>,
    tenants: &Tenants,
) -> Option<ChangedField> {
    let ids = |of: &BTreeSet<TenantNo>| {
        let mut ids: Vec<&Id> = of.iter().filter_map(|no| tenants.id(Some(*no))).collect();
        ids.sort();
        json!(ids)
    };
    ChangedField::shown("tenants", ids(from), ids(to))
}

/// The preferences that choices change.
pub(crate) fn preferences(
    known: &[Preference],
    choices: &[Preference],
    tenants: &Tenants,
) -> Vec<ChangedField> {
    let by_scope = |of: &Preference| ((of.tenant, of.scope.clone(), of.channel), of.mode.clone());
    let before: Modes<Option<TenantNo>> = known.iter().map(by_scope).collect();
    let mut after = before.clone();
    after.extend(choices.iter().map(by_scope));
    changed_modes(&before, &after, |tenant| tenants.id(*tenant))
}

/// Modes by tenant, scope and channel.
type Modes<T> = BTreeMap<(T, PreferenceScope, ChannelNo), Mode>;

/// The modes that differ: one field where they do alike on every channel.
fn changed_modes<'t, T: Clone + Ord>(
    before: &Modes<T>,
    after: &Modes<T>,
    tenant_of: impl Fn(&T) -> Option<&'t Id>,
) -> Vec<ChangedField> {
    let mode = |all: &Modes<T>, at: &(T, PreferenceScope, ChannelNo)| {
        all.get(at).cloned().unwrap_or(Mode::Default)
    };
    let mut changed: BTreeMap<(T, PreferenceScope), BTreeMap<ChannelNo, (Mode, Mode)>> =
        BTreeMap::new();
    let all: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for at in all {
        let (from, to) = (mode(before, at), mode(after, at));
        if from != to {
            let channels = changed.entry((at.0.clone(), at.1.clone())).or_default();
            channels.insert(at.2, (from, to));
        }
    }
    let mut fields = Vec::new();
    for ((tenant, scope), channels) in changed {
        let tenant = tenant_of(&tenant);
        let mut alike: Vec<&(Mode, Mode)> = channels.values().collect();
        alike.dedup();
        let field = |channel: &str, (from, to): &(Mode, Mode)| {
            let (from, to) = (from.to_string(), to.to_string());
            ChangedField::shown(preference_name(tenant, &scope, channel), from.into(), to.into())
        };
        match alike[..] {
            [modes] if channels.len() == CHANNEL_KINDS.len() || scope.digest().is_some() => {
                fields.extend(field(EACH_CHANNEL, modes));
            }
            _ => fields.extend(
                channels
                    .iter()
                    .filter_map(|(no, modes)| field(channel_name(*no).unwrap_or_default(), modes)),
            ),
        }
    }
    fields
}

/// The name of a preference in the log: its scope, its channel, and its tenant where it has one.
fn preference_name(tenant: Option<&Id>, scope: &PreferenceScope, channel: &str) -> String {
    let scope = match scope {
        PreferenceScope::Type(name) => format!("type:{name}"),
        PreferenceScope::Category(name) => format!("category:{name}"),
        PreferenceScope::AllCategories => format!("category:{ALL_CATEGORIES}"),
        PreferenceScope::Topic(topic) => format!("topic:{topic}"),
        PreferenceScope::Object(object) => format!("object:{object}"),
        PreferenceScope::DigestDay(name) => format!("digest:{name}.on"),
        PreferenceScope::DigestTime(name) => format!("digest:{name}.at"),
    };
    let tenant = tenant.map(|tenant| format!("@{tenant}")).unwrap_or_default();
    format!("preferences.{scope}.{channel}{tenant}")
}

/// The defaults of a tenant that differ.
fn defaults(from: &[Choice], to: &[Choice]) -> Vec<ChangedField> {
    let modes = |all: &[Choice]| {
        let mut modes: Modes<()> = BTreeMap::new();
        for choice in all {
            let each =
                CHANNEL_KINDS.iter().map(|of| of.number).filter(|_| choice.channel == EACH_CHANNEL);
            for channel in channel_no(&choice.channel).into_iter().chain(each) {
                modes.insert(((), choice.scope.clone(), channel), choice.mode.clone());
            }
        }
        modes
    };
    changed_modes(&modes(from), &modes(to), |()| None)
}

/// The fields of a tenant that differ; `None` = it is not there.
pub(crate) fn tenant(from: Option<&Tenant>, to: Option<&Tenant>) -> Vec<ChangedField> {
    let is_there = |of: Option<&Tenant>| json!(of.is_some());
    let none = Tenant::default();
    let known = ChangedField::shown("exists", is_there(from), is_there(to));
    let (from, to) = (from.unwrap_or(&none), to.unwrap_or(&none));
    let masked = |name: &str, of: fn(&Tenant) -> &Option<String>| {
        ChangedField::masked(name, of(from).as_ref(), of(to).as_ref())
    };
    let shown = |name: &str, of: fn(&Tenant) -> &Option<String>| {
        ChangedField::shown(name, json!(of(from)), json!(of(to)))
    };
    let mut fields: Vec<ChangedField> = known.into_iter().collect();
    fields.extend(masked("name", |of| &of.name));
    fields.extend(brand(&from.brand, &to.brand));
    fields.extend(masked("from_name", |of| &of.from_name));
    fields.extend(masked("reply_to", |of| &of.reply_to));
    fields.extend(shown("locale", |of| &of.locale));
    fields.extend(shown("tz", |of| &of.tz));
    fields.extend(quiet_hours(from.quiet_hours.as_deref(), to.quiet_hours.as_deref()));
    fields.extend(defaults(&from.preferences, &to.preferences));
    fields.extend(ChangedField::masked("data", from.data.as_ref(), to.data.as_ref()));
    fields.extend(ChangedField::shown("disabled", json!(from.disabled), json!(to.disabled)));
    fields
}

/// The fields of a brand that differ: texts, pictures and addresses, none of which is told.
fn brand(from: &Brand, to: &Brand) -> Vec<ChangedField> {
    let given = |of: &Brand| match json!(of) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let (from, to) = (given(from), given(to));
    let of = |all: &Map<String, Value>, name: &str| {
        all.get(name).filter(|value| !value.is_null()).cloned()
    };
    to.keys()
        .filter_map(|name| {
            ChangedField::masked(format!("brand.{name}"), of(&from, name), of(&to, name))
        })
        .collect()
}

/// The parts of a configuration that differ, by their names in [`Rules`]. Their values may be texts or secrets.
pub(crate) fn rules(from: Option<&Rules>, to: &Rules) -> Vec<ChangedField> {
    let (from, to) = (json!(from), json!(to));
    let mut fields = Vec::new();
    for (name, to) in to.as_object().into_iter().flatten() {
        let from = from.get(name).unwrap_or(&Value::Null);
        if let (Value::Object(from), Value::Object(to)) = (from, to) {
            let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
            fields.extend(names.into_iter().filter_map(|part| {
                let given = |all: &Map<String, Value>| {
                    all.get(part).filter(|value| !value.is_null()).cloned()
                };
                ChangedField::masked(format!("{name}.{part}"), given(from), given(to))
            }));
        } else {
            let given = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
            fields.extend(ChangedField::masked(name, given(from), given(to)));
        }
    }
    fields
}

/// The fields of a suppression that differ; `None` = the address is not suppressed.
pub(crate) fn suppression(
    from: Option<&Suppression>,
    to: Option<&Suppression>,
) -> Vec<ChangedField> {
    let reason = |of: Option<&Suppression>| json!(of.map(|of| of.reason.word()));
    let since = |of: Option<&Suppression>| json!(of.map(|of| of.since.to_string()));
    let until =
        |of: Option<&Suppression>| json!(of.and_then(|of| of.until).map(|at| at.to_string()));
    [
        ChangedField::shown("reason", reason(from), reason(to)),
        ChangedField::shown("since", since(from), since(to)),
        ChangedField::shown("until", until(from), until(to)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
