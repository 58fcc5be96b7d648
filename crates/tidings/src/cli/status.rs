//! `tidings status` for people: whether notifications wait, whether mail goes out, what is paused.

use std::io::{self, Write};

use serde_json::Value;
use tidings_core::model::EMAIL;

use super::print::table::{TextTable, cell, list, shown};

/// Writes the status.
pub(super) fn write(status: &Value, out: &mut dyn Write) -> io::Result<()> {
    let version = cell(status, "version");
    match status.get("uptime_seconds").and_then(Value::as_u64) {
        Some(seconds) => writeln!(out, "tidings {version}, running for {}", span(seconds))?,
        None => writeln!(out, "tidings {version}, no server: nothing is sent")?,
    }
    write_counts(status, out)?;
    let mut channels = TextTable::new(&["CHANNEL", "PROVIDERS", "STATE"]);
    let of_status = status.get("channels").and_then(Value::as_object);
    for (name, channel) in of_status.into_iter().flatten() {
        let providers: Vec<String> = list(channel, "providers").iter().map(shown).collect();
        let is_paused = channel.get("paused") == Some(&Value::Bool(true));
        if providers.is_empty() && !is_paused && name != EMAIL {
            continue;
        }
        let providers = if providers.is_empty() { "none".to_owned() } else { providers.join(", ") };
        let state = if is_paused { "paused" } else { "active" };
        channels.row([name.clone(), providers, state.to_owned()]);
    }
    writeln!(out)?;
    channels.write(out)?;
    write_away(status, out)?;
    for (kind, names) in [("channel", "paused.channels"), ("type", "paused.types")] {
        for name in list(status, names).iter().map(shown) {
            writeln!(out, "Paused: {kind} {name}. Resume with `tidings resume {kind} {name}`")?;
        }
    }
    Ok(())
}

fn write_counts(status: &Value, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = TextTable::default();
    for (name, value) in [
        ("clock", clock(status)),
        ("newest step", cell(status, "newest_step")),
        ("recipients", cell(status, "recipients")),
        ("pending", known(status, cell(status, "entries.pending"))),
        ("oldest overdue", overdue(status)),
        ("retrying", cell(status, "retrying")),
        ("kept aside", kept_aside(status)),
        ("ended", cell(status, "entries.outcomes")),
        ("because of", cell(status, "entries.reasons")),
        ("deleted before", cell(status, "forgotten_before")),
    ] {
        if !value.is_empty() {
            rows.row([name.to_owned(), value]);
        }
    }
    rows.write_all(out)
}

/// The server's clock, and by how much it is behind.
fn clock(status: &Value) -> String {
    let now = cell(status, "now");
    match status.get("clock_behind_seconds").and_then(Value::as_u64) {
        Some(seconds) => format!(
            "{now} ({} behind the newest step: the clock was ahead and was put right; what waits goes by it, and what is \
             recorded meanwhile has the time of that step)",
            span(seconds)
        ),
        None => now,
    }
}

/// Number of messages that are kept aside; empty if there are none.
fn kept_aside(status: &Value) -> String {
    let count = status.get("kept_aside").and_then(Value::as_u64);
    count.filter(|count| *count > 0).map_or_else(String::new, |count| count.to_string())
}

/// Writes the unavailable providers and destinations.
fn write_away(status: &Value, out: &mut dyn Write) -> io::Result<()> {
    for away in list(status, "away") {
        let (channel, provider) = (cell(away, "channel"), cell(away, "provider"));
        let destination = away.get("destination").and_then(Value::as_str);
        let target = destination.map_or(provider, str::to_owned);
        let (until, why) = (cell(away, "until"), cell(away, "why"));
        writeln!(out, "Away: {channel} {target}, asked again at {until}: {why}")?;
    }
    Ok(())
}

/// The age of the oldest overdue, unsent message.
fn overdue(status: &Value) -> String {
    let age = status.get("oldest_due_age_seconds").and_then(Value::as_u64);
    match age {
        Some(late) => format!("{} ({} late)", cell(status, "oldest_due"), span(late)),
        None => known(status, String::new()),
    }
}

/// A value, or what its absence means: nothing, unless shards of the store did not answer.
fn known(status: &Value, value: String) -> String {
    let missing = cell(status, "missing");
    match (value.is_empty(), missing.is_empty()) {
        (false, _) => value,
        (true, true) => "none".to_owned(),
        (true, false) => format!("unknown, since these did not answer: {missing}"),
    }
}

/// Seconds in words, with the two largest units.
pub(super) fn span(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest} s"),
        (0, 0, _) => format!("{minutes} min {rest} s"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_span_has_its_two_largest_units() {
        let spans = [5, 65, 3_660, 90_000].map(span);
        assert_eq!(spans, ["5 s", "1 min 5 s", "1 h 1 min", "1 d 1 h"]);
    }

    #[test]
    fn the_screen_answers_whether_mail_goes_out() {
        let status = json!({
            "version": "0.1.0",
            "uptime_seconds": 65,
            "now": "2024-01-01T12:01:05Z",
            "newest_step": "2024-01-01T12:00:05Z",
            "clock_behind_seconds": null,
            "oldest_due": "2024-01-01T12:00:00Z",
            "oldest_due_age_seconds": 65,
            "retrying": 3,
            "kept_aside": 40,
            "away": [{"channel": "webhook", "provider": "webhook by each address", "destination": "hooks.example", "until": "2024-01-01T12:00:15Z", "why": "answer: it took too long"}],
            "recipients": 2,
            "channels": {"email": {"providers": ["smtps", "file"], "paused": true}, "sms": {"providers": [], "paused": false}},
            "entries": {"pending": 4, "outcomes": {"delivered": 1}, "reasons": {}},
            "paused": {"types": ["note"], "channels": ["email"]},
        });
        let mut out = Vec::new();
        write(&status, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let expected = "\
tidings 0.1.0, running for 1 min 5 s
clock           2024-01-01T12:01:05Z
newest step     2024-01-01T12:00:05Z
recipients      2
pending         4
oldest overdue  2024-01-01T12:00:00Z (1 min 5 s late)
retrying        3
kept aside      40
ended           delivered 1

CHANNEL  PROVIDERS    STATE
email    smtps, file  paused
Away: webhook hooks.example, asked again at 2024-01-01T12:00:15Z: answer: it took too long
Paused: channel email. Resume with `tidings resume channel email`
Paused: type note. Resume with `tidings resume type note`
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a7_a_clock_that_was_put_right_is_shown_with_what_it_means() {
        let status = json!({
            "version": "0.1.0",
            "now": "2024-01-01T11:00:00Z",
            "newest_step": "2024-01-01T12:00:00Z",
            "clock_behind_seconds": 3_600,
        });
        let mut out = Vec::new();
        write(&status, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("2024-01-01T11:00:00Z (1 h 0 min behind the newest step"), "{text}");
    }

    #[test]
    fn a13_what_a_missing_shard_has_is_unknown() {
        let status = json!({
            "version": "0.1.0", "now": "2024-01-01T12:00:05Z", "recipients": 2,
            "oldest_due_age_seconds": null, "entries": {"pending": null}, "missing": ["shard 1"],
        });
        let mut out = Vec::new();
        write(&status, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for name in ["pending ", "oldest overdue "] {
            let row = text.lines().find(|line| line.starts_with(name));
            let row = row.unwrap_or_else(|| panic!("no {name} in {text}"));
            assert!(row.ends_with(" unknown, since these did not answer: shard 1"), "{row}");
        }
    }
}
