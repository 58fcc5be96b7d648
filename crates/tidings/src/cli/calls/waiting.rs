//! Pending notifications as text for people: of a recipient, of the store, and of a flush.

use std::io::{self, Write};

use serde_json::Value;
use tidings_config::wording::quoted;

use super::answer::{ShownAnswer, table};
use crate::cli::print::table::{TextTable, cell, list};

/// Writes the answer of `pending`.
pub(super) fn write_pending(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let answer = answer.value;
    let mut table = TextTable::new(&["DUE", "CHANNEL", "LANE", "SINCE", "TYPE", "OBJECT", "EVENT"]);
    for lane in list(answer, "lanes") {
        for entry in list(lane, "entries") {
            let of_entry = ["t", "type", "object", "event"].map(|key| cell(entry, key));
            let of_lane = ["due", "channel", "lane"].map(|key| cell_of(lane, key));
            table.row(of_lane.into_iter().chain(of_entry));
        }
    }
    for entry in list(answer, "scheduled") {
        let of_entry = ["type", "object", "event"].map(|key| cell(entry, key));
        let when = [String::new(), String::new(), "scheduled".to_owned(), cell(entry, "t")];
        table.row(when.into_iter().chain(of_entry));
    }
    table.write(out)?;
    write_retried(list(answer, "messages"), out)?;
    let waits = ["lanes", "messages", "scheduled"];
    if waits.iter().all(|what| list(answer, what).is_empty()) {
        writeln!(out, "No notifications waiting")?;
    }
    Ok(())
}

/// A cell of a row that may wait: in place of an instant what holds it, and with a lane's name its batch key.
pub(super) fn cell_of(row: &Value, path: &str) -> String {
    match path {
        "next_try" if row["held"].is_object() => held_words(row),
        "due" | "next_try" if !cell(row, "held_by").is_empty() => cell(row, "held_by"),
        "lane" if !cell(row, "key").is_empty() => {
            format!("{} {}", cell(row, "lane"), quoted(&cell(row, "key")))
        }
        path => cell(row, path),
    }
}

/// Until when a message is held, and by what.
pub(super) fn held_words(message: &Value) -> String {
    let held = &message["held"];
    let until = cell(held, "until");
    match held["destination"].as_str() {
        Some(destination) => format!("held until {until} (destination {destination})"),
        None => format!("held until {until} (channel {})", cell(held, "channel")),
    }
}

/// Messages that wait for a retry.
fn write_retried(messages: &[Value], out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        ("NEXT TRY", "next_try"),
        ("CHANNEL", "channel"),
        ("LANE", "lane"),
        ("RECIPIENT", "recipient"),
        ("ENTRIES", "entries"),
        ("ATTEMPTS", "failed_attempts"),
        ("LAST REPLY", "last.reply"),
        ("MESSAGE", "id"),
    ];
    table(&columns, messages, cell_of).write(out)
}

/// Writes the answer of `due`.
pub(super) fn write_due(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let answer = answer.value;
    let columns = [
        ("HOUR", "hour"),
        ("CHANNEL", "channel"),
        ("LANE", "lane"),
        ("RECIPIENTS", "recipients"),
        ("HELD", "held"),
    ];
    table(&columns, list(answer, "lanes"), cell).write(out)?;
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let deferred = number(&answer["deferred"]["messages"]);
    writeln!(
        out,
        "Messages: {} to build, {} sending, {deferred} waiting for a retry. Scheduled events: {}",
        number(&answer["unmade"]),
        number(&answer["sending"]).saturating_sub(deferred),
        number(&answer["scheduled"]["events"]),
    )?;
    write_retried(list(answer, "deferred.next"), out)?;
    let columns = [("AT", "t"), ("TYPE", "type"), ("OBJECT", "object"), ("EVENT", "event")];
    table(&columns, list(answer, "scheduled.next"), cell).write(out)
}

/// Writes the answer of `flush`.
pub(super) fn write_flushed(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let recipient = answer.given.text("recipient").unwrap_or_default();
    let scheduled = scheduled_text(answer.value);
    let lanes = answer.value["lanes"].as_u64().unwrap_or_default();
    if lanes == 0 {
        return match scheduled {
            Some(scheduled) => writeln!(out, "Nothing to send now: {scheduled}"),
            None => writeln!(out, "Nothing is pending for {recipient}"),
        };
    }
    let plural = if lanes == 1 { "" } else { "s" };
    writeln!(out, "Sending {lanes} message{plural} to {recipient}.")?;
    if let Some(scheduled) = scheduled {
        writeln!(out, "Not sent now: {scheduled}")?;
    }
    if !answer.has_server {
        writeln!(out, "No server runs: it is sent once one does.")?;
    }
    Ok(())
}

/// The scheduled notifications of an answer, as text.
pub(in crate::cli) fn scheduled_text(answer: &Value) -> Option<String> {
    let scheduled = answer.get("scheduled").filter(|of| !of.is_null())?;
    let count = scheduled.get("notifications").and_then(Value::as_u64)?;
    let first = cell(scheduled, "first");
    Some(match count {
        1 => format!("1 notification is scheduled for {first} and in no lane before"),
        count => format!(
            "{count} notifications are scheduled and in no lane yet, the first from {first} on"
        ),
    })
}
