//! Events as text for people: outcomes, explanations, and the extent of cancels.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::answer::{ShownAnswer, write_fields};
use crate::cli::print::table::{TextTable, cell, list};

/// Writes the answer of `event`.
pub(super) fn write_event(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_fields(answer.value, &["channels"], out)?;
    let mut table = TextTable::new(&["CHANNEL", "ENTRIES", "PENDING", "ENDED", "WHY"]);
    for (name, fate) in answer.value["channels"].as_object().into_iter().flatten() {
        let cells = ["entries", "pending", "outcomes", "reasons"].map(|key| cell(fate, key));
        table.row([name.clone()].into_iter().chain(cells));
    }
    table.write(out)
}

/// Writes the answer of `cancel`.
pub(super) fn write_cancelled(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let answer = answer.value;
    let late = cell(answer, "too_late");
    match answer["status"].as_str() {
        Some("remembered") => writeln!(
            out,
            "No such event yet: it will be cancelled if it is published within 24 hours"
        ),
        Some("unknown") => {
            let warnings = list(answer, "warnings").iter();
            let unknown: Vec<String> = warnings.map(|warning| cell(warning, "detail")).collect();
            writeln!(out, "Nothing cancelled: {}", unknown.join("; "))
        }
        Some("nothing_left") => writeln!(out, "Nothing cancelled: nothing is left to cancel"),
        Some("too_late") => writeln!(out, "Nothing cancelled: too late for {late} entries"),
        _ => writeln!(
            out,
            "Entries: {} cancelled, {} removed from messages, too late for {late}",
            cell(answer, "cancelled"),
            cell(answer, "removed_from_batch"),
        ),
    }
}

/// Writes the answer of `withdraw`.
pub(super) fn write_withdrawn(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_cancelled(answer, out)?;
    writeln!(out, "Taken out of inboxes: {}", cell(answer.value, "withdrawn"))
}

/// Writes the answer of `forget`.
pub(super) fn write_forgotten(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let [days, expired] = ["days", "expired"].map(|field| cell(answer.value, field));
    let plural = if days == "1" { "" } else { "s" };
    writeln!(
        out,
        "Deleted {days} day{plural} ({expired} pending notifications expired). Today is kept"
    )
}

/// The event of an explanation. A text that begins like a JSON object is a hypothetical event; the call reports its
/// faults.
pub(super) fn named(event: &str) -> Value {
    let supposed =
        event.trim_start().starts_with('{').then(|| serde_json::from_str::<Value>(event).ok());
    supposed.flatten().unwrap_or_else(|| json!(event))
}

/// The body of `explain`.
pub(in crate::cli) fn explain_body(event: &str, recipient: &str) -> Value {
    json!({"event": named(event), "recipient": recipient})
}

/// Writes the counts of an audience: a line for each channel.
fn write_audience(answer: &Value, out: &mut dyn Write) -> io::Result<()> {
    let supposed = if answer["supposed"] == true { "supposed event" } else { "event" };
    let [event, kind, as_of, concerned, notifications] =
        ["event", "type", "as_of", "concerned", "notifications"].map(|field| cell(answer, field));
    writeln!(out, "{supposed} {event} ({kind}), as of {as_of}")?;
    writeln!(out, "{concerned} people in its audience, {notifications} with a notification\n")?;
    let mut table = TextTable::new(&["CHANNEL", "ENTRIES", "PENDING", "ENDED", "WHY", "LEFT OUT"]);
    for (name, of) in answer["channels"].as_object().into_iter().flatten() {
        let cells =
            ["entries", "pending", "outcomes", "reasons", "left_out"].map(|key| cell(of, key));
        table.row([name.clone()].into_iter().chain(cells));
    }
    table.write(out)
}

/// Writes an explanation for people: the rules as a table, then a line for each channel.
pub(in crate::cli) fn write_explanation(answer: &Value, out: &mut dyn Write) -> io::Result<()> {
    if answer.get("recipient").is_none() {
        return write_audience(answer, out);
    }
    let supposed = match answer.get("supposed") {
        Some(Value::Bool(true)) => "supposed event",
        _ => "event",
    };
    let [event, kind, recipient, as_of] =
        ["event", "type", "recipient", "as_of"].map(|field| cell(answer, field));
    writeln!(out, "{supposed} {event} ({kind}) for {recipient}, as of {as_of}\n")?;
    let mut table = TextTable::new(&["CHANNEL", "RULE", "AT", "RESULT", "LOOKED AT"]);
    let mut add = |channel: &str, steps: &[Value]| {
        for step in steps {
            let cells = ["rule", "at", "result", "looked_at"].map(|field| cell(step, field));
            table.whole_row([channel.to_owned()].into_iter().chain(cells));
        }
    };
    add("", list(answer, "steps"));
    let channels = list(answer, "channels");
    for channel in channels {
        add(&cell(channel, "channel"), list(channel, "steps"));
    }
    table.write_all(out)?;
    writeln!(out)?;
    for channel in channels {
        let [name, state, reason, at] =
            ["channel", "state", "reason", "at"].map(|field| cell(channel, field));
        let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        let at = match (&*state, at.is_empty()) {
            (_, true) => String::new(),
            ("pending", false) => format!(", due {at}"),
            (_, false) => format!(", {at}"),
        };
        let state = match &*state {
            "none" => "no entry",
            state => state,
        };
        writeln!(out, "{name}: {state}{reason}{at}")?;
    }
    if channels.is_empty() {
        writeln!(out, "no entry on any channel")?;
    }
    Ok(())
}
