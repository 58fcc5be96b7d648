//! Rules and timelines as text, for people and `tidings simulate`.

use std::fmt::{self, Write};

use serde_json::{Map, Value, json};
use tidings_core::model::{
    ALL_CATEGORIES, Cancelled, ChannelNo, Choice, EMAIL_NO, GivenAddress, MarkKind, Marked, Mode,
    OwnHours, PreferenceScope, RecipientChange, TenantChange, Timed, View,
};
use tidings_core::rules::{
    AllowedAddresses, Decide, Digest, Every, Policy, QuietHours, Route, TypeRules,
};
use tidings_core::{Command, Event, Id, Instant, Object, Rules};

/// One command as a line of a timeline (contract, section 3), without the line's end. `None` for the
/// erasure of a recipient, which timelines don't have.
#[must_use]
pub fn line(timed: &Timed) -> Option<String> {
    let (op, body) = match &timed.command {
        Command::Recipient(change) => ("recipient", recipient(change)),
        Command::Erase { .. } | Command::ChangeItems { .. } => return None,
        Command::Subscribe { recipient, topic, tenant } => {
            ("subscribe", of(tenant.as_ref(), json!({"recipient": recipient, "topic": topic})))
        }
        Command::Unsubscribe { recipient, topic, tenant } => {
            ("unsubscribe", of(tenant.as_ref(), json!({"recipient": recipient, "topic": topic})))
        }
        Command::Publish(event) => ("publish", publish(event)),
        Command::Object(object) => ("object", json!(object)),
        Command::Retract { object } => ("retract", json!({"id": object})),
        Command::Mark { recipient, what, kind, view } => {
            let op = match kind {
                MarkKind::Seen => "seen",
                MarkKind::Read => "read",
            };
            let mut body = json!({"recipient": recipient});
            match what {
                Marked::UpTo(until) => body["up_to"] = instant(*until),
                Marked::Object(object) => body["object"] = json!(object),
                Marked::Event(event) => body["event"] = json!(event),
                Marked::Row(_) | Marked::UpToOf(..) => return None,
            }
            (op, of(viewer(view)?, body))
        }
        Command::Cancel { what, tenant } => ("cancel", of(tenant.as_ref(), cancelled(what))),
        Command::Withdraw { what, tenant } => ("withdraw", of(tenant.as_ref(), cancelled(what))),
        Command::Preference { recipient, scope, channel, mode, tenant, .. } => {
            let (scope, channel, mode) = (scope.clone(), channel.clone(), mode.clone());
            let mut body = choice(&Choice { scope, channel, mode, tenant: None });
            body["recipient"] = json!(recipient);
            ("preference", of(tenant.as_ref(), body))
        }
        Command::Flush { recipient, channel, lane, key, view } => {
            let mut body = json!({"recipient": recipient});
            let channel = channel.as_ref().map(|name| json!(name));
            give(&mut body, "channel", channel);
            give(&mut body, "lane", lane.as_ref().map(|name| json!(name)));
            give(&mut body, "key", key.as_ref().map(|key| json!(key)));
            ("flush", of(viewer(view)?, body))
        }
        Command::Suppress { address, reason, until } => {
            let mut body = json!({
                "channel": address.channel().name(),
                "address": address.address(),
                "reason": reason,
            });
            give(&mut body, "expires_at", until.map(instant));
            ("suppress", body)
        }
        Command::Unsuppress { address } => {
            let channel = address.channel().name();
            let body = json!({"channel": channel, "address": address.address()});
            ("unsuppress", body)
        }
        // These have no op: they are calls of hosts and operators.
        Command::Preferences { .. }
        | Command::Pause(_)
        | Command::Resume(_)
        | Command::Resolved(_)
        | Command::Message { .. }
        | Command::BeginJob(_)
        | Command::StopJob { .. }
        | Command::Report { .. }
        | Command::ReportAddress { .. }
        | Command::Device { .. }
        | Command::Hook { .. } => return None,
        Command::Tenant { tenant: id, change } => ("tenant", tenant(id, change)),
        Command::DeleteTenant { tenant } => ("tenant", json!({"id": tenant, "deleted": true})),
        Command::Join { recipient, tenant } => {
            ("member", json!({"recipient": recipient, "tenant": tenant}))
        }
        Command::Leave { recipient, tenant } => {
            ("unmember", json!({"recipient": recipient, "tenant": tenant}))
        }
        Command::Forget { before } => ("forget", json!({"before": before.to_string()})),
    };
    let mut whole = Map::new();
    whole.insert("at".to_owned(), instant(timed.at));
    whole.insert("op".to_owned(), json!(op));
    if let Value::Object(body) = body {
        whole.extend(body);
    }
    Some(Value::Object(whole).to_string())
}

/// A body with its tenant, if it has one.
fn of(tenant: Option<&Id>, mut body: Value) -> Value {
    give(&mut body, "tenant", tenant.map(|tenant| json!(tenant)));
    body
}

/// The tenant whose view it is; none of a view that timelines don't have.
fn viewer(view: &View) -> Option<Option<&Id>> {
    match view {
        View::All => Some(None),
        View::Of(tenant) => Some(Some(tenant)),
        View::Only(_) => None,
    }
}

fn cancelled(what: &Cancelled) -> Value {
    match what {
        Cancelled::Event(event) => json!({"event": event}),
        Cancelled::Key(key) => json!({"cancellation_key": key}),
    }
}

fn choice(Choice { scope, channel, mode, .. }: &Choice) -> Value {
    let (level, name) = level(scope);
    if scope.digest().is_some() {
        return match (scope, mode) {
            (_, Mode::Day(day)) => json!({level: name, "on": day.to_string()}),
            (_, Mode::Time(minute)) => json!({level: name, "at": clock(*minute)}),
            (PreferenceScope::DigestDay(_), _) => json!({level: name, "on": "default"}),
            _ => json!({level: name, "at": "default"}),
        };
    }
    let mode = match mode {
        Mode::Never => "never",
        Mode::Immediate => "immediate",
        Mode::Default => "default",
        Mode::Digest(name) => name,
        Mode::Day(_) | Mode::Time(_) => unreachable!("they are of digests"),
    };
    json!({level: name, "channel": channel, "mode": mode})
}

/// The fields that are given, of those that worlds and cases have.
fn tenant(id: &Id, change: &TenantChange) -> Value {
    let mut body = json!({"id": id});
    let given = |text: &Option<Option<String>>| text.as_ref().map(|text| json!(text));
    give(&mut body, "name", given(&change.name));
    give(&mut body, "tz", given(&change.tz));
    give(&mut body, "locale", given(&change.locale));
    give(&mut body, "data", change.data.as_ref().map(|data| json!(data)));
    let hours = change.quiet_hours.as_ref();
    give(&mut body, "quiet_hours", hours.map(|own| own_hours(own.as_deref())));
    let chosen = change.preferences.as_ref();
    give(&mut body, "preferences", chosen.map(|chosen| chosen.iter().map(choice).collect()));
    give(&mut body, "disabled", change.disabled.map(|disabled| json!(disabled)));
    body
}

/// The key and the name of what a preference is about.
fn level(scope: &PreferenceScope) -> (&'static str, &str) {
    match scope {
        PreferenceScope::Type(name) => ("type", name),
        PreferenceScope::Category(name) => ("category", name),
        PreferenceScope::AllCategories => ("category", ALL_CATEGORIES),
        PreferenceScope::Topic(topic) => ("topic", topic.as_str()),
        PreferenceScope::Object(object) => ("object", object.as_str()),
        PreferenceScope::DigestDay(name) | PreferenceScope::DigestTime(name) => ("digest", name),
    }
}

/// Addresses of a channel; null takes them away.
fn written(addresses: &[GivenAddress]) -> Value {
    let one = |address: &GivenAddress| match &address.tenant {
        None => json!(address.text),
        // Timelines know tenants of browsers alone: this is for people.
        Some(tenant) => json!({ "address": address.text, "tenant": tenant }),
    };
    match addresses {
        [] => Value::Null,
        [alone] => one(alone),
        many => many.iter().map(one).collect(),
    }
}

/// The addresses that change beside the one of the e-mail channel, by channel.
fn addresses(change: &RecipientChange) -> Option<Value> {
    let all: serde_json::Map<String, Value> = change
        .addresses
        .iter()
        .filter(|(channel, _)| **channel != EMAIL_NO)
        .map(|(channel, all)| (channel.name().to_owned(), written(all)))
        .collect();
    (!all.is_empty()).then_some(Value::Object(all))
}

fn recipient(change: &RecipientChange) -> Value {
    // What is `None` is not given; null takes away.
    let mut body = json!({"id": change.id});
    let given = |text: &Option<Option<String>>| text.as_ref().map(|text| json!(text));
    give(&mut body, "name", given(&change.name));
    let email = change.addresses.get(&EMAIL_NO);
    give(&mut body, "email", email.map(|email| written(email)));
    give(&mut body, "addresses", addresses(change));
    give(&mut body, "tz", given(&change.tz));
    give(&mut body, "locale", given(&change.locale));
    give(&mut body, "lat", change.lat.map(|lat| json!(lat)));
    give(&mut body, "lon", change.lon.map(|lon| json!(lon)));
    give(&mut body, "state", change.state.map(|state| json!(state)));
    give(&mut body, "data", change.data.as_ref().map(|data| json!(data)));
    give(
        &mut body,
        "quiet_hours",
        change.quiet_hours.as_ref().map(|own| own_hours(own.as_deref())),
    );
    give(&mut body, "tenants", change.tenants.as_ref().map(|tenants| json!(tenants)));
    body
}

fn own_hours(chosen: Option<&OwnHours>) -> Value {
    let Some(chosen) = chosen else {
        return json!("default");
    };
    let Some(hours) = chosen.hours else {
        return Value::Null;
    };
    let mut body = json!({
        "from": clock(hours.from_minute), "to": clock(hours.to_minute), "days": days(&hours),
    });
    let names = |channels: &Vec<ChannelNo>| {
        let names = channels.iter().map(|channel| channel.name());
        json!(names.collect::<Vec<_>>())
    };
    give(&mut body, "channels", chosen.channels.as_ref().map(names));
    body
}

fn clock(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

fn days(hours: &QuietHours) -> Vec<&'static str> {
    (1..)
        .zip(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])
        .filter(|(day, _)| hours.begin_on(*day))
        .map(|(_, name)| name)
        .collect()
}

/// The event as the core writes it, but for what the contract writes otherwise.
fn publish(event: &Event) -> Value {
    let mut body = json!(event);
    if let Some(to) = body["to"].as_object_mut()
        && to.remove("profiles").is_some()
    {
        let all = event.to.recipients.iter().map(|id| {
            let said = event.to.profiles.iter().find(|change| change.id == *id);
            said.map_or_else(|| json!(id), recipient)
        });
        to.insert("recipients".to_owned(), all.collect());
    }
    if let [one] = event.to.near.as_slice() {
        body["to"]["near"] = json!(one);
    }
    give(&mut body, "actor", event.actor.as_ref().map(role));
    give(&mut body, "target", event.target.as_ref().map(role));
    give(&mut body, "occurred_at", event.occurred_at.map(instant));
    give(&mut body, "deliver_at", event.deliver_at.map(instant));
    give(&mut body, "delay", event.delay_ms.map(|ms| json!(duration(ms))));
    give(&mut body, "expires_at", event.expires_at.map(instant));
    body
}

/// An actor or a target: its id, or an object where more than that is given.
fn role(role: &Object) -> Value {
    if *role == Object::bare(role.id.clone()) {
        return json!(role.id);
    }
    json!(role)
}

fn instant(instant: Instant) -> Value {
    json!(instant.to_string())
}

fn give(body: &mut Value, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        body[key] = value;
    }
}

/// Rules as a `tidings.toml` (contract, section 1).
#[must_use]
pub fn toml(rules: &Rules) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_toml(&mut text, rules);
    text
}

fn write_toml(text: &mut String, rules: &Rules) -> fmt::Result {
    writeln!(text, "[defaults]\ntz = {}", quoted(&rules.defaults.tz))?;
    writeln!(text, "locale = {}", quoted(&rules.defaults.locale))?;
    writeln!(text, "\n[store]\nkeep = \"{}\"", duration(rules.store.keep_ms))?;
    if let Some(tenants) = rules.tenants {
        let unknown = json!(tenants.unknown);
        writeln!(text, "\n[tenants]\non = true\nunknown = {unknown}")?;
    }
    for (name, category) in &rules.categories {
        writeln!(text, "\n[categories.{}]", quoted(name))?;
        for (locale, title) in &category.title.0 {
            let key = match locale.as_str() {
                "" => "title".to_owned(),
                locale => format!("\"title.{locale}\""),
            };
            writeln!(text, "{key} = {}", quoted(title))?;
        }
    }
    for (name, digest) in &rules.digests {
        writeln!(text, "\n[digests.{}]", quoted(name))?;
        write_digest(text, digest)?;
    }
    for (name, type_rules) in &rules.types {
        writeln!(text, "\n[types.{}]", quoted(name))?;
        write_type(text, type_rules)?;
        writeln!(text, "[types.{}.channels]", quoted(name))?;
        for (channel, route) in &type_rules.channels {
            writeln!(text, "{channel} = {}", route_toml(route))?;
        }
    }
    for cap in &rules.caps {
        let per = duration(cap.per_ms);
        let (channel, max) = (&cap.channel, cap.max);
        writeln!(text, "\n[[caps]]\nchannel = \"{channel}\"\nper = \"{per}\"\nmax = {max}")?;
    }
    for (channel, rules) in &rules.channels {
        writeln!(text, "\n[channels.{channel}]")?;
        if let Some(allow) = &rules.allow {
            let texts = allow.iter().map(|allowed| match allowed {
                AllowedAddresses::Address(address) => address.clone(),
                AllowedAddresses::Domain(domain) => format!("@{domain}"),
            });
            writeln!(text, "allow = {:?}", texts.collect::<Vec<_>>())?;
        }
        if let Some(hours) = &rules.quiet_hours {
            let (from, to) = (clock(hours.from_minute), clock(hours.to_minute));
            let days = days(hours);
            writeln!(
                text,
                "quiet_hours = {{ from = \"{from}\", to = \"{to}\", days = {days:?} }}"
            )?;
        }
    }
    Ok(())
}

fn write_digest(text: &mut String, digest: &Digest) -> fmt::Result {
    match digest.every {
        Every::Day => writeln!(text, "every = \"day\"")?,
        Every::Weekday => writeln!(text, "every = \"weekday\"")?,
        Every::Week(on) => {
            let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
            let name = names.get(usize::from(on).wrapping_sub(1)).unwrap_or(&"mon");
            writeln!(text, "every = \"week\"\non = \"{name}\"")?;
        }
        Every::Month(on) => writeln!(text, "every = \"month\"\non = {on}")?,
        Every::Hours(hours) => writeln!(text, "every = \"{hours}h\"")?,
    }
    writeln!(text, "at = \"{:02}:{:02}\"", digest.at_minute / 60, digest.at_minute % 60)?;
    if digest.spread_minutes > 0 {
        writeln!(text, "spread = \"{}m\"", digest.spread_minutes)?;
    }
    let choose = digest.choose.words();
    if !choose.is_empty() {
        writeln!(text, "choose = {choose:?}")?;
    }
    if digest.min_items > 0 {
        writeln!(text, "min_items = {}", digest.min_items)?;
    }
    match &digest.tz {
        Some(tz) => writeln!(text, "tz = {}", quoted(tz)),
        None => Ok(()),
    }
}

fn write_type(text: &mut String, rules: &TypeRules) -> fmt::Result {
    writeln!(text, "category = {}", quoted(&rules.category))?;
    writeln!(
        text,
        "include_actor = {}\nurgent = {}\nrequired = {}",
        rules.include_actor, rules.urgent, rules.required
    )?;
    if let Some(back) = rules.look_back_ms {
        writeln!(text, "look_back = \"{}\"", duration(back))?;
    }
    if let Some(drop) = rules.drop_if_seen {
        writeln!(text, "drop_if_seen = {drop}")?;
    }
    let (admission, per) = (rules.admission.word(), rules.per.word());
    writeln!(text, "admission = \"{admission}\"\nper = \"{per}\"")?;
    if let Some(condition) = &rules.condition {
        writeln!(text, "condition = {}", quoted(condition))?;
    }
    Ok(())
}

fn route_toml(route: &Route) -> String {
    let policy = match &route.policy {
        Policy::Now => "policy = \"now\"".to_owned(),
        Policy::Never => "policy = \"never\"".to_owned(),
        Policy::FirstEvent { hold_ms, decide } => {
            let decide = match decide {
                Decide::First => "first",
                Decide::Earliest => "earliest",
            };
            let hold = duration(*hold_ms);
            format!("policy = \"first_event\", hold = \"{hold}\", decide = \"{decide}\"")
        }
        Policy::Cooldown { quiet_ms, max_wait_ms } => {
            let wait = max_wait_ms.map_or("none".to_owned(), duration);
            let quiet = duration(*quiet_ms);
            format!("policy = \"cooldown\", quiet = \"{quiet}\", max_wait = \"{wait}\"")
        }
        Policy::Leading { quiet_ms } => {
            format!("policy = \"leading\", quiet = \"{}\"", duration(*quiet_ms))
        }
        Policy::Digest { digest } => {
            format!("policy = \"digest\", digest = {}", quoted(digest))
        }
    };
    let mut keys = policy;
    for (key, value) in [("lane", &route.lane), ("batch_key", &route.batch_key)] {
        if let Some(value) = value {
            let _ = write!(keys, ", {key} = {}", quoted(value));
        }
    }
    if let Some(most) = route.max_items {
        let _ = write!(keys, ", max_items = {most}");
    }
    if let Some(after_ms) = route.after_ms {
        let _ = write!(keys, ", after = \"{}\"", duration(after_ms));
    }
    format!("{{ {keys} }}")
}

/// The largest unit that divides it.
fn duration(ms: i64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let unit = units.into_iter().find(|(unit, _)| ms % unit == 0);
    unit.map_or_else(|| format!("{ms}ms"), |(unit, name)| format!("{}{name}", ms / unit))
}

/// A TOML basic string; JSON escapes the same characters in the same way.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::script;
    use crate::subject::Step;

    #[test]
    fn a_timeline_is_written_as_the_contract_has_it() {
        let case = script::parse(
            "digest weekly week mon 09:00\n\
             type news category=main look_back=14d inbox email:digest,weekly\n\
             type talk urgent email:cooldown,4m,none@own\n\
             00:00 person ann tz=Asia/Tokyo state=unconfirmed lat=1.5 lon=-2\n\
             00:00 recipient ann email=none\n\
             00:01 publish e1 news o1 to=ann topics=a/b actor=x deliver_at=00:02 key=k\n\
             00:02 seen ann up_to=00:01\n\
             00:03 preference ann type=news email digest:weekly\n\
             00:04 flush ann channel=email\n\
             00:05 forget 2024-01-01\n",
        )
        .expect("a case");
        let lines: Vec<String> = case
            .steps
            .iter()
            .filter_map(|(step, _)| match step {
                Step::Play(timed) => line(timed),
                Step::Reconfigure(..) => None,
            })
            .collect();
        assert_eq!(
            lines,
            [
                r#"{"at":"2024-01-01T00:00:00Z","op":"recipient","id":"ann","email":"ann@example.org","tz":"Asia/Tokyo","lat":1.5,"lon":-2.0,"state":"unconfirmed"}"#,
                r#"{"at":"2024-01-01T00:00:00Z","op":"recipient","id":"ann","email":null}"#,
                r#"{"at":"2024-01-01T00:01:00Z","op":"publish","id":"e1","type":"news","actor":"x","object":{"id":"o1"},"to":{"recipients":["ann"],"topics":["a/b"]},"deliver_at":"2024-01-01T00:02:00Z","cancellation_key":"k"}"#,
                r#"{"at":"2024-01-01T00:02:00Z","op":"seen","recipient":"ann","up_to":"2024-01-01T00:01:00Z"}"#,
                r#"{"at":"2024-01-01T00:03:00Z","op":"preference","type":"news","channel":"email","mode":"weekly","recipient":"ann"}"#,
                r#"{"at":"2024-01-01T00:04:00Z","op":"flush","recipient":"ann","channel":"email"}"#,
                r#"{"at":"2024-01-01T00:05:00Z","op":"forget","before":"2024-01-01"}"#,
            ]
        );
        let toml = toml(&case.rules);
        for line in [
            "keep = \"35d\"",
            "[digests.\"weekly\"]\nevery = \"week\"\non = \"mon\"\nat = \"09:00\"",
            "look_back = \"14d\"",
            "email = { policy = \"digest\", digest = \"weekly\" }",
            "inbox = { policy = \"now\" }",
            "email = { policy = \"cooldown\", quiet = \"4m\", max_wait = \"none\", lane = \"own\" }",
        ] {
            assert!(toml.contains(line), "{line} is not in\n{toml}");
        }
    }
}
