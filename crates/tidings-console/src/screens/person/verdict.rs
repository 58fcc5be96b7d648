//! The first sentences about a person: what reaches them, what does not and why, and what comes next.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::sentence::Sentence;
use crate::words::{capital, channel, clock, counted, listed};

/// The answers of the calls about a person.
pub(super) struct Facts<'a> {
    /// Their profile.
    pub(super) profile: &'a Value,
    /// `choices` of their preferences; null where they are not known.
    pub(super) choices: &'a Value,
    /// Their suppressed addresses.
    pub(super) suppressions: &'a Value,
    /// Their pending entries and messages.
    pub(super) pending: &'a Value,
    /// Messages that are due and not handed over yet; null where that was not asked.
    pub(super) leaving: &'a Value,
    pub(super) now: Timestamp,
    /// Their zone, if it is not the viewer's.
    pub(super) zone: Option<&'a TimeZone>,
}

/// The obstacle between a person and a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reach<'a> {
    Reached,
    NoAddress,
    /// No type is wanted there: by a choice of theirs, or by default.
    Unwanted {
        is_chosen: bool,
    },
    Suppressed {
        reason: &'a str,
        since: Option<&'a str>,
    },
}

/// The sentences about a person, the most important first.
pub(super) fn verdict(facts: &Facts<'_>) -> Vec<Sentence> {
    let mut sentences = reach_sentences(facts);
    sentences.extend(waiting_sentences(facts));
    sentences
}

/// The word of the colour of the first sentence.
pub(super) fn tone(profile: &Value) -> &'static str {
    match profile["state"].as_str() {
        Some("active") => "state-ok",
        Some("unconfirmed") => "state-wait",
        _ => "state-off",
    }
}

fn reach_sentences(facts: &Facts<'_>) -> Vec<Sentence> {
    let state = match facts.profile["state"].as_str().unwrap_or_default() {
        "unconfirmed" => {
            Some("Unconfirmed: all but the inbox waits until they confirm their address.")
        }
        "disabled" => Some("Disabled: nothing is sent, and what waits ends when it is due."),
        _ => None,
    };
    let reaches = reaches(facts);
    let named = |of: &dyn Fn(&Reach<'_>) -> bool| -> Vec<&str> {
        reaches.iter().filter(|(_, reach)| of(reach)).map(|(name, _)| channel(name)).collect()
    };
    let reached = named(&|reach| *reach == Reach::Reached);
    let mut sentences: Vec<Sentence> = state.into_iter().map(Sentence::new).collect();
    // Of a disabled person the first sentence has said all.
    if sentences.is_empty() && !facts.choices.is_null() {
        sentences.push(Sentence::new(match reached.as_slice() {
            [] => "No channel reaches them.".to_owned(),
            some => format!("Reached by {}.", listed(some)),
        }));
    }
    for (name, reach) in &reaches {
        if let Reach::Suppressed { reason, since } = reach {
            let why = suppression(reason);
            let begin = format!("No {}: their address is suppressed ({why}", channel(name));
            sentences.push(Sentence::new(begin).at(", ", *since).text(")."));
        }
    }
    for (is, why) in [
        (Reach::NoAddress, "there is no address"),
        (Reach::Unwanted { is_chosen: true }, "by their preferences"),
        (Reach::Unwanted { is_chosen: false }, "by the types’ own policies"),
    ] {
        let names = named(&|reach| *reach == is);
        if !names.is_empty() {
            let names = listed(&names).replace("the inbox", "inbox");
            sentences.push(Sentence::new(format!("No {names}: {why}.")));
        }
    }
    sentences
}

/// The obstacles between the person and each channel that a type has, the inbox first.
fn reaches<'a>(facts: &Facts<'a>) -> Vec<(&'a str, Reach<'a>)> {
    #[derive(Default)]
    struct Choices {
        is_connected: bool,
        is_wanted: bool,
        is_chosen: bool,
    }
    let mut channels: BTreeMap<&str, Choices> = BTreeMap::new();
    let types = rows(facts.choices).iter().flat_map(|category| rows(&category["types"]));
    for choice in types.flat_map(|of_type| rows(&of_type["channels"])) {
        let Some(name) = choice["channel"].as_str() else { continue };
        let choices = channels.entry(name).or_default();
        choices.is_connected |= choice["connected"] != false;
        choices.is_wanted |= choice["mode"] != "never";
        choices.is_chosen |= choice["from"] != "default";
    }
    let mut reaches: Vec<(&str, Reach<'_>)> = channels
        .into_iter()
        .map(|(name, choices)| {
            let reach = match choices {
                Choices { is_connected: false, .. } => Reach::NoAddress,
                Choices { is_wanted: false, is_chosen, .. } => Reach::Unwanted { is_chosen },
                Choices { .. } => suppressed(facts, name).unwrap_or(Reach::Reached),
            };
            (name, reach)
        })
        .collect();
    reaches.sort_by_key(|(name, _)| *name != "inbox");
    reaches
}

/// The suppression that leaves no address on a channel.
fn suppressed<'a>(facts: &Facts<'a>, name: &str) -> Option<Reach<'a>> {
    let of_channel = || rows(facts.suppressions).iter().filter(|row| row["channel"] == name);
    let addresses = &facts.profile["addresses"][name];
    let addresses = addresses.as_array().map_or(1, Vec::len);
    let newest = of_channel().next().filter(|_| of_channel().count() >= addresses)?;
    let reason = newest["reason"].as_str().unwrap_or_default();
    Some(Reach::Suppressed { reason, since: newest["since"].as_str() })
}

/// A reason of a suppression in words.
pub(super) fn suppression(reason: &str) -> &str {
    match reason {
        "manual" => "by hand",
        "bounce" => "messages came back",
        "complaint" => "they reported spam",
        "stop" => "they opted out at the provider",
        "gone" => "it no longer exists",
        reason => reason,
    }
}

fn waiting_sentences(facts: &Facts<'_>) -> Vec<Sentence> {
    let (lanes, messages) = (rows(&facts.pending["lanes"]), rows(&facts.pending["messages"]));
    let scheduled = rows(&facts.pending["scheduled"]);
    let items = |lane: &Value| rows(&lane["entries"]).len() as u64;
    let mut sentences = Vec::new();
    let is_held = |lane: &&Value| !lane["held_by"].is_null() || lane["due"].is_null();
    let moving = lanes.iter().filter(|lane| !is_held(lane));
    // Instants of one form and zone are in the order of their texts.
    if let Some(next) = moving.clone().min_by_key(|lane| lane["due"].as_str()) {
        let due = next["due"].as_str();
        let by = channel(next["channel"].as_str().unwrap_or_default());
        let count = counted(items(next), "notification", "notifications");
        let begin = format!("Next by {by}: {count}");
        let more = moving.count() - 1;
        let sentence = Sentence::new(begin).at(", ", due).text(theirs(facts, due));
        sentences.push(sentence.text(match more {
            0 => ".".to_owned(),
            more => format!("; {} behind it.", counted(more as u64, "open lane", "open lanes")),
        }));
    }
    for (held_by, text) in [
        ("paused", "while a type or channel is paused"),
        ("unconfirmed", "for their confirmation"),
        ("", "without a due time"),
    ] {
        let count: u64 = lanes
            .iter()
            .filter(is_held)
            .filter(|lane| lane["held_by"].as_str().unwrap_or_default() == held_by)
            .map(items)
            .sum();
        if count > 0 {
            let verb = if count == 1 { "waits" } else { "wait" };
            let what = counted(count, "notification", "notifications");
            sentences.push(Sentence::new(format!("{what} {verb} {text}.")));
        }
    }
    let leaving = rows(&facts.leaving["messages"]);
    if let Some(first) = leaving.last() {
        let (count, verb) = (leaving.len() as u64, if leaving.len() == 1 { "is" } else { "are" });
        let what = match facts.leaving["next"].is_string() {
            true => format!("More than {}", counted(count, "message", "messages")),
            false => counted(count, "message", "messages"),
        };
        let sentence = Sentence::new(format!("{what} {verb} being made or sent"));
        sentences.push(sentence.at(", due since ", first["due"].as_str()).text("."));
    }
    if let Some(first) = messages.first() {
        let count = messages.len() as u64;
        let verb = if count == 1 { "is" } else { "are" };
        let what = counted(count, "message", "messages");
        let at = first["held"]["until"].as_str().or(first["next_try"].as_str());
        let begin = format!("{what} {verb} being tried again");
        sentences.push(Sentence::new(begin).at(", next ", at).text("."));
    }
    if let Some(first) = scheduled.first() {
        let what = counted(scheduled.len() as u64, "event is", "events are");
        let at = first["t"].as_str();
        let sentence = Sentence::new(format!("{} scheduled", capital(&what)));
        sentences.push(sentence.at(", the first for ", at).text(theirs(facts, at)).text("."));
    }
    if sentences.is_empty() {
        sentences.push(Sentence::new("Nothing waits."));
    }
    sentences
}

/// An instant by the person's own clock, in brackets.
fn theirs(facts: &Facts<'_>, at: Option<&str>) -> String {
    let at = at.and_then(|at| at.parse().ok());
    match (at, facts.zone) {
        (Some(at), Some(zone)) => format!(" ({} there)", clock(at, zone, facts.now)),
        _ => String::new(),
    }
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests;
