//! Commands that are one call of the API: the request, and the answer as text for people.

use std::io::{self, IsTerminal as _, Write};

use clap::value_parser;
use serde_json::Value;
use tidings_core::batch_key::BatchKey;
use tidings_core::{Day, Id};
use unicode_width::UnicodeWidthStr as _;

use super::print::table::{Table, cell, cut, list, padded, shown};
use super::reach::{self, To};
use super::status;
use super::{Status as Ended, Streams, report};
use crate::body::short::{FlushLimits, ForgetDays};
use crate::body::text::Text;
use crate::client::{Reach, Request, segment};
use crate::wording::quoted;

/// A command that makes one call.
pub(super) trait Call {
    /// The target of the call.
    fn to(&self) -> &To;

    /// The request.
    fn request(&self) -> Request;

    /// Asks before something irreversible; returns how the command ends if it is declined.
    ///
    /// # Errors
    /// The stream's.
    fn confirm(&self, _: &mut Streams<'_>) -> io::Result<Option<Ended>> {
        Ok(None)
    }

    /// Writes the answer for people.
    ///
    /// # Errors
    /// The stream's.
    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()>;

    /// What is still to come of this answer where no server runs.
    fn waits_for_server(&self, _answer: &Value) -> Option<&'static str> {
        None
    }

    /// The status with which the command ends after this answer.
    fn ended(&self, _answer: &Value) -> Ended {
        Ended::Done
    }
}

/// Runs a command that is one call.
pub(super) fn run(call: &dyn Call, streams: &mut Streams<'_>) -> io::Result<Ended> {
    if let Some(ended) = call.confirm(streams)? {
        return Ok(ended);
    }
    let request = call.request();
    let mut reach = match reach::find(call.to(), request.purpose(), streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let answer = reach.ask(&request).and_then(|asked| asked.success()?.json());
    let has_server = matches!(reach, Reach::Server(_));
    let closed = reach.close();
    let answer = match answer {
        Ok(answer) => answer,
        Err(fault) => return Ok(reach::report_fault(&fault, streams)),
    };
    if call.to().json {
        match &answer {
            Value::Null => writeln!(streams.out, "{{}}")?,
            answer => writeln!(streams.out, "{answer}")?,
        }
    } else {
        call.write(&answer, streams.out)?;
        if let Some(waits) = call.waits_for_server(&answer).filter(|_| !has_server) {
            writeln!(streams.out, "{waits}")?;
        }
    }
    Ok(match closed {
        Ok(()) => call.ended(&answer),
        Err(fault) => reach::report_fault(&fault, streams),
    })
}

macro_rules! to {
    () => {
        fn to(&self) -> &To {
            &self.to
        }
    };
}

mod cancel;
pub(super) mod explain;
pub(super) mod feeds;
pub(super) mod hooks;
pub(super) mod inbox;
pub(super) mod nodes;
mod steer;
pub(super) mod suppressions;
pub(super) mod tenant;

pub(super) use cancel::{Cancel, Withdraw};
pub(super) use steer::{Pause, Resume, resume};

/// `tidings pending`.
#[derive(clap::Args)]
pub(super) struct Pending {
    /// Recipient id
    recipient: String,
    #[command(flatten)]
    to: To,
}

impl Call for Pending {
    to!();

    fn request(&self) -> Request {
        Request::get(format!("/v1/recipients/{}/pending", segment(&self.recipient)))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new(&["DUE", "CHANNEL", "LANE", "SINCE", "TYPE", "OBJECT", "EVENT"]);
        for lane in list(answer, "lanes") {
            let held_by = cell(lane, "held_by");
            let due = if held_by.is_empty() { cell(lane, "due") } else { held_by };
            for entry in list(lane, "entries") {
                let of_entry = ["t", "type", "object", "event"].map(|key| cell(entry, key));
                let of_lane = [due.clone(), cell(lane, "channel"), lane_cell(lane)];
                table.row(of_lane.into_iter().chain(of_entry));
            }
        }
        for entry in list(answer, "scheduled") {
            let of_entry = ["type", "object", "event"].map(|key| cell(entry, key));
            let when = [String::new(), String::new(), "scheduled".to_owned(), cell(entry, "t")];
            table.row(when.into_iter().chain(of_entry));
        }
        table.write(out)?;
        let messages = list(answer, "messages");
        write_retried(messages, out)?;
        let waits = ["lanes", "messages", "scheduled"];
        if waits.iter().all(|what| list(answer, what).is_empty()) {
            writeln!(out, "No notifications waiting")?;
        }
        Ok(())
    }
}

/// A lane's name, with its batch key if it has one.
pub(super) fn lane_cell(row: &Value) -> String {
    let (lane, key) = (cell(row, "lane"), cell(row, "key"));
    if key.is_empty() { lane } else { format!("{lane} {}", quoted(&key)) }
}

/// Messages that wait for a retry.
fn write_retried(messages: &[Value], out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(&[
        "NEXT TRY",
        "CHANNEL",
        "LANE",
        "RECIPIENT",
        "ENTRIES",
        "ATTEMPTS",
        "LAST REPLY",
        "MESSAGE",
    ]);
    for message in messages {
        let held_by = cell(message, "held_by");
        let next = if held_by.is_empty() { cell(message, "next_try") } else { held_by };
        let keys =
            ["channel", "lane", "recipient", "entries", "failed_attempts", "last.reply", "id"];
        let cells = keys.map(|key| match key {
            "lane" => lane_cell(message),
            key => cell(message, key),
        });
        table.row([next].into_iter().chain(cells));
    }
    table.write(out)
}

/// `tidings due`.
#[derive(clap::Args)]
pub(super) struct Due {
    /// Number of scheduled events to list, at most 1000
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u16).range(..=1000))]
    scheduled: u16,
    #[command(flatten)]
    to: To,
}

impl Call for Due {
    to!();

    fn request(&self) -> Request {
        Request::get(format!("/v1/admin/due?scheduled={}", self.scheduled))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new(&["HOUR", "CHANNEL", "LANE", "RECIPIENTS", "HELD"]);
        for hour in list(answer, "lanes") {
            let cells = ["hour", "channel", "lane", "recipients", "held"];
            table.row(cells.map(|key| cell(hour, key)));
        }
        table.write(out)?;
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
        let mut table = Table::new(&["AT", "TYPE", "OBJECT", "EVENT"]);
        for event in list(answer, "scheduled.next") {
            table.row(["t", "type", "object", "event"].map(|key| cell(event, key)));
        }
        table.write(out)
    }
}

/// `tidings flush`.
#[derive(clap::Args)]
pub(super) struct Flush {
    /// Recipient id
    recipient: String,
    /// Only notifications on this channel
    #[arg(long)]
    channel: Option<String>,
    /// Only notifications in lanes of this name
    #[arg(long, value_parser = Id::new)]
    lane: Option<Id>,
    /// Only notifications in lanes with this batch key
    #[arg(long, value_name = "KEY", value_parser = BatchKey::new)]
    batch_key: Option<BatchKey>,
    /// Only notifications of this tenant and those without a tenant
    #[arg(long, value_name = "ID", value_parser = Id::new)]
    tenant: Option<Id>,
    #[command(flatten)]
    to: To,
}

impl Call for Flush {
    to!();

    fn request(&self) -> Request {
        let limits = FlushLimits {
            channel: self.channel.clone(),
            lane: self.lane.clone().map(Text),
            key: self.batch_key.clone(),
            tenant: self.tenant.clone().map(Text),
        };
        Request::post(format!("/v1/recipients/{}/flush", segment(&self.recipient))).json(&limits)
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let scheduled = scheduled_text(answer);
        let messages = match answer.get("lanes").and_then(Value::as_u64) {
            Some(0) => {
                return match scheduled {
                    Some(scheduled) => writeln!(out, "Nothing to send now: {scheduled}"),
                    None => writeln!(out, "Nothing is pending for {}", self.recipient),
                };
            }
            Some(1) => "1 message".to_owned(),
            lanes => format!("{} messages", lanes.unwrap_or_default()),
        };
        writeln!(out, "Sending {messages} to {}.", self.recipient)?;
        match scheduled {
            Some(scheduled) => writeln!(out, "Not sent now: {scheduled}"),
            None => Ok(()),
        }
    }

    fn waits_for_server(&self, answer: &Value) -> Option<&'static str> {
        let lanes = answer.get("lanes").and_then(Value::as_u64).unwrap_or_default();
        (lanes > 0).then_some("No server runs: it is sent once one does.")
    }
}

/// The scheduled notifications of an answer, as text.
pub(super) fn scheduled_text(answer: &Value) -> Option<String> {
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

/// Asks before something is deleted for good; returns how the command ends if it is declined.
fn confirmed(is_sure: bool, what: &str, streams: &mut Streams<'_>) -> io::Result<Option<Ended>> {
    if is_sure {
        return Ok(None);
    }
    if !io::stdin().is_terminal() {
        let message = format!("this permanently deletes {what}\n  = help: pass --yes to confirm");
        return Ok(Some(report(streams, &message, Ended::Wrong)));
    }
    write!(streams.err, "Permanently delete {what}? [y/N] ")?;
    streams.err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(None);
    }
    Ok(Some(report(streams, "nothing was deleted", Ended::Failed)))
}

/// `tidings forget`.
#[derive(clap::Args)]
pub(super) struct Forget {
    /// First day to keep, in UTC, such as 2024-01-31
    #[arg(long, value_name = "DATE", value_parser = Day::parse)]
    before: Day,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    to: To,
}

impl Call for Forget {
    to!();

    fn request(&self) -> Request {
        Request::post("/v1/admin/forget".to_owned()).json(&ForgetDays { before: Text(self.before) })
    }

    fn confirm(&self, streams: &mut Streams<'_>) -> io::Result<Option<Ended>> {
        let before = self.before;
        let what = format!("all data before {before}, including notifications not yet sent");
        confirmed(self.yes, &what, streams)
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let (days, expired) = (cell(answer, "days"), cell(answer, "expired"));
        let plural = if days == "1" { "" } else { "s" };
        writeln!(
            out,
            "Deleted {days} day{plural} ({expired} pending notifications expired). Today is kept"
        )
    }
}

/// `tidings event`.
#[derive(clap::Args)]
pub(super) struct Event {
    /// Event id
    event: String,
    #[command(flatten)]
    to: To,
}

impl Call for Event {
    to!();

    fn request(&self) -> Request {
        Request::get(format!("/v1/events/{}", segment(&self.event)))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let channels = answer.get("channels").and_then(Value::as_object);
        write_fields(answer, &["channels"], out)?;
        let mut table = Table::new(&["CHANNEL", "ENTRIES", "PENDING", "ENDED", "WHY"]);
        for (name, fate) in channels.into_iter().flatten() {
            let cells = ["entries", "pending", "outcomes", "reasons"].map(|key| cell(fate, key));
            table.row([name.clone()].into_iter().chain(cells));
        }
        table.write(out)
    }
}

/// `tidings recipient`.
#[derive(clap::Args)]
pub(super) struct Recipient {
    /// Recipient id
    recipient: String,
    #[command(flatten)]
    to: To,
}

impl Call for Recipient {
    to!();

    fn request(&self) -> Request {
        Request::get(format!("/v1/recipients/{}", segment(&self.recipient)))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        write_fields(answer, &[], out)
    }
}

/// `tidings status`.
#[derive(clap::Args)]
pub(super) struct Status {
    #[command(flatten)]
    to: To,
}

impl Call for Status {
    to!();

    fn request(&self) -> Request {
        Request::get("/v1/admin/status".to_owned())
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        status::write(answer, out)
    }
}

/// Writes an object, one field per line; nested fields under their path.
fn write_fields(answer: &Value, but: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Vec::new();
    gather("", answer, but, &mut rows);
    let width = rows.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, value) in rows {
        writeln!(out, "{}  {value}", padded(&name, width))?;
    }
    Ok(())
}

fn gather(path: &str, value: &Value, but: &[&str], rows: &mut Vec<(String, String)>) {
    for (name, value) in
        value.as_object().into_iter().flatten().filter(|(name, _)| !but.contains(&name.as_str()))
    {
        let name = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        match value {
            Value::Object(_) => gather(&name, value, but, rows),
            Value::Null => {}
            value => rows.push((cut(&name), shown(value))),
        }
    }
}
