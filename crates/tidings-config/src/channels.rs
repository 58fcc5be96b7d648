//! The sections of channels: providers, senders, quiet hours, rates.

pub(crate) mod dkim;
pub(crate) mod mailbox;

use std::collections::BTreeMap;

use tidings_core::model::{AddressKind, ChannelKind, channel_kind, sending_channels};
use tidings_core::rules::{ChannelRules, QuietHours, Rate};
use tidings_node::channel::{ProviderOpenError, check, schemes};

use mailbox::{MAILBOX_HINT, mailbox};

use super::sections::{WEEKDAYS, time_of_day};
use super::staging;
use super::walk::{ConfigReader, PlacedValue, Section};
use crate::wording::{did_you_mean, one_of, quoted};

pub(super) fn channels(
    walk: &mut ConfigReader,
    root: &Section<'_>,
) -> BTreeMap<String, ChannelRules> {
    let mut channels = BTreeMap::new();
    let sections: Vec<String> =
        sending_channels().map(|kind| format!("`[channels.{}]`", kind.name)).collect();
    let hint = format!("write {}", sections.join(" or "));
    let Some(outer) = walk.section(root, "channels", &hint) else {
        return channels;
    };
    for name in outer.keys() {
        match channel_kind(name.value) {
            Some(kind) if !kind.is_inbox() => {}
            Some(_) => {
                let hint = "remove the section";
                walk.bad(&name.span, "the inbox has no provider and no settings", hint);
            }
            None => {
                let names: Vec<&str> = sending_channels().map(|kind| kind.name).collect();
                let hint = did_you_mean(name.value, names).unwrap_or_default();
                walk.bad(&name.span, format!("unknown channel {}", quoted(name.value)), hint);
            }
        }
    }
    for kind in sending_channels() {
        let hint = format!("write `[channels.{}]`", kind.name);
        if let Some(section) = walk.section(&outer, kind.name, &hint) {
            channels.insert(kind.name.to_owned(), channel_rules(walk, &section, kind));
        }
    }
    channels
}

/// The keys of one channel.
fn channel_rules(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    kind: &ChannelKind,
) -> ChannelRules {
    let Some(address) = kind.address else {
        return ChannelRules::default();
    };
    let known: &[&str] = match address {
        AddressKind::Email => &[
            "provider",
            "providers",
            "from",
            "reply_to",
            "quiet_hours",
            "dkim",
            "rate",
            "rate_per_domain",
            "redirect",
            "allow",
        ],
        AddressKind::Phone => {
            &["provider", "providers", "from", "quiet_hours", "rate", "redirect", "allow"]
        }
        AddressKind::WebPush
        | AddressKind::Fcm
        | AddressKind::Apns
        | AddressKind::Slack
        | AddressKind::Discord
        | AddressKind::Teams
        | AddressKind::Telegram
        | AddressKind::Webhook => &["provider", "providers", "quiet_hours", "rate"],
    };
    if known.contains(&"redirect") || !staging::refused(walk, section, kind) {
        walk.only(section, known);
    } else {
        walk.only(section, &[known, &staging::KEYS].concat());
    }
    let providers = providers(walk, section, kind);
    let hint = match address {
        AddressKind::Phone => NUMBER_HINT,
        _ => MAILBOX_HINT,
    };
    if !providers.is_empty() && known.contains(&"from") && !section.has("from") {
        walk.missing(section, "from", hint);
    }
    let from = match address {
        AddressKind::Email => mailbox(walk, section, "from"),
        AddressKind::Phone => number(walk, section),
        _ => None,
    };
    let mut rules = ChannelRules {
        providers,
        from,
        quiet_hours: quiet_hours(walk, section),
        rate: rate(walk, section, "rate"),
        ..ChannelRules::default()
    };
    if known.contains(&"redirect") {
        rules.redirect = staging::redirect(walk, section, kind);
        rules.allow = staging::allow(walk, section, kind);
    }
    if address == AddressKind::Email {
        rules.dkim = dkim::dkim(walk, section);
        rules.rate_per_domain = rate(walk, section, "rate_per_domain");
    }
    rules
}

/// A rate of messages.
fn rate(walk: &mut ConfigReader, section: &Section<'_>, key: &str) -> Option<Rate> {
    let hint =
        format!("write a number per second, minute, hour or day, such as `{key} = \"50/s\"`");
    let text = walk.text(section, key, &hint)?;
    let rate = Rate::parse(text.value);
    if rate.is_none() {
        let reason =
            format!("{} is not a rate of 1 to {} messages", quoted(text.value), Rate::COUNT_MAX);
        walk.bad(&text.span, reason, hint);
    }
    rate
}

/// The quiet hours of a channel.
fn quiet_hours(walk: &mut ConfigReader, section: &Section<'_>) -> Option<QuietHours> {
    let hint = "write `{ from = \"22:00\", to = \"07:00\" }`";
    let table = walk.section(section, "quiet_hours", hint)?;
    walk.only(&table, &["from", "to", "days"]);
    for key in ["from", "to"] {
        if !table.has(key) {
            walk.missing(&table, key, hint);
        }
    }
    let from = time_of_day(walk, &table, "from");
    let to = time_of_day(walk, &table, "to");
    let days = if table.has("days") {
        weekdays(walk, &table, "days")
    } else {
        Some(QuietHours::EVERY_DAY)
    };
    let (from_minute, to_minute, days) = (from?, to?, days?);
    if from_minute == to_minute {
        let reason = "`quiet_hours` begin and end at the same time";
        walk.bad(&table.header, reason, "write another `to`, or remove `quiet_hours`");
        return None;
    }
    Some(QuietHours { from_minute, to_minute, days })
}

/// Weekdays as a set of bits, from 1 = Monday to 64 = Sunday.
fn weekdays(walk: &mut ConfigReader, section: &Section<'_>, key: &str) -> Option<u8> {
    let words = walk.words(section, key, &WEEKDAYS)?;
    let bit = |day: &&str| WEEKDAYS.iter().position(|known| known == day);
    let days = words.value.iter().filter_map(bit).fold(0_u8, |days, at| days | 1 << at);
    if days == 0 {
        let hint = "name one, or leave `days` out for all";
        walk.bad(&words.span, "`days` has no weekday", hint);
        return None;
    }
    Some(days)
}

/// The most providers of a channel.
const PROVIDERS_MAX: usize = 8;

/// The providers of a channel in their order: `providers`, or `provider` for one.
fn providers(walk: &mut ConfigReader, section: &Section<'_>, kind: &ChannelKind) -> Vec<String> {
    let hint = forms(kind);
    let one = walk.text(section, "provider", &hint);
    let list = walk.texts(
        section,
        "providers",
        "write a list of addresses in quotes, such as `providers = [\"smtps://a.example.org\"]`",
    );
    if let (Some(_), Some(key)) = (&one, section.keys().find(|key| key.value == "providers")) {
        let reason = format!("`channels.{}` has both `provider` and `providers`", kind.name);
        walk.bad(&key.span, reason, "put all of them into `providers`");
        return Vec::new();
    }
    if let Some(list) = &list {
        let count = list.value.len();
        if !(1..=PROVIDERS_MAX).contains(&count) {
            let reason = format!("`providers` must have 1 to {PROVIDERS_MAX}, and has {count}");
            walk.bad(&list.span, reason, &*hint);
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    let mut good = Vec::new();
    let all: Vec<_> = one.into_iter().chain(list.into_iter().flat_map(|list| list.value)).collect();
    if let [_, _, ..] = &*all
        && let Some(caught) = all.iter().find(|text| text.value.starts_with("caught://"))
    {
        let reason = "`caught://` keeps every message, so it stands beside no other provider";
        walk.bad(&caught.span, reason, "leave it alone: `provider = \"caught://\"`, or remove it");
    }
    for text in all {
        if seen.contains(&text.value) {
            let reason = "the same provider stands there twice";
            walk.bad(&text.span, reason, "remove one of them");
        }
        seen.push(text.value);
        good.extend(provider(walk, &text, kind));
    }
    good
}

/// A provider, if it has no fault.
fn provider(
    walk: &mut ConfigReader,
    text: &PlacedValue<&str>,
    kind: &ChannelKind,
) -> Option<String> {
    let fault = match check(kind, text.value) {
        _ if text.value.chars().any(char::is_control) => "it contains a control character".into(),
        Ok(()) => return Some(text.value.to_owned()),
        Err(ProviderOpenError::Address(why)) => why,
        // What stands before `://` may be more than a scheme.
        Err(ProviderOpenError::Scheme { .. }) => {
            let known: Vec<&str> = schemes(kind).collect();
            format!("the scheme is not {}", one_of(&known))
        }
        Err(ProviderOpenError::PlainPassword) => {
            "the configuration must not contain a password".to_owned()
        }
        Err(other) => other.to_string(),
    };
    // A provider may hold a password: it is not repeated.
    let reason = format!("`channels.{}.provider`: {fault}", kind.name);
    walk.bad(&text.span, reason, forms(kind));
    None
}

/// The forms of a channel's providers.
fn forms(kind: &ChannelKind) -> String {
    format!("write {}", tidings_node::channel::forms(kind))
}

const NUMBER_HINT: &str = "write a number, such as `+12025550123`, the id of a messaging service, `MG...`, or a name of at \
     most 11 letters and digits";

/// The sender of text messages.
fn number(walk: &mut ConfigReader, section: &Section<'_>) -> Option<String> {
    let text = walk.text(section, "from", NUMBER_HINT)?;
    let is_word = |most| {
        let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b' ';
        (1..=most).contains(&text.value.len()) && text.value.bytes().all(is_letter)
    };
    let is_service = text.value.starts_with("MG") && text.value.len() == 34 && is_word(34);
    if AddressKind::Phone.accepts(text.value) || is_service || is_word(11) {
        return Some(text.value.to_owned());
    }
    let reason = format!("{} sends no text messages", quoted(text.value));
    walk.bad(&text.span, reason, NUMBER_HINT);
    None
}
