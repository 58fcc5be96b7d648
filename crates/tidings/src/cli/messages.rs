//! `tidings messages`: lists messages, shows one, and has them retried, cancelled or resent.

use std::io::{self, Write};

use clap::value_parser;
use serde_json::Value;
use tidings_core::Day;
use tidings_core::time::Instant;

use super::calls::{self, Call, lane_cell};
use super::print::table::{Table, cell, list};
use super::reach::{self, To};
use super::{Status, Streams, report};
use crate::client::{Fault, Purpose, Reach, Request, parameters, segment};

/// `tidings messages`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    list: List,
}

#[derive(clap::Subcommand)]
enum What {
    /// List messages
    List(List),
    /// Show what a message holds, and what happened to it
    Show(Show),
    /// Send failed messages again, or messages that wait for their next attempt at once
    Retry(Retry),
    /// Cancel a message that is not handed over yet
    Cancel(One),
    /// Send a message again, even if it was delivered
    Resend(One),
}

/// The choice of messages.
#[derive(clap::Args)]
struct Choice {
    /// Only messages to this recipient
    #[arg(long, value_name = "ID")]
    recipient: Option<String>,
    /// Only messages on this channel
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    /// Only messages with a notification of this type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Only messages that were built on this date, in UTC, such as 2024-01-31
    #[arg(long, value_name = "DATE", value_parser = Day::parse)]
    day: Option<Day>,
}

/// `tidings messages list`.
#[derive(clap::Args)]
struct List {
    #[command(flatten)]
    choice: Choice,
    /// Only messages in this state: planned, sending, retrying, sent, failed, unknown, suppressed or cancelled
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Number of messages
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Cursor of the next page, as the page before printed it
    #[arg(long, value_name = "NEXT")]
    cursor: Option<String>,
    #[command(flatten)]
    to: To,
}

/// `tidings messages show`.
#[derive(clap::Args)]
struct Show {
    /// Message id
    message: String,
    #[command(flatten)]
    to: To,
}

/// `tidings messages cancel` and `resend`.
#[derive(clap::Args)]
struct One {
    /// Message id
    message: String,
    #[command(flatten)]
    to: To,
}

/// `tidings messages retry`.
#[derive(clap::Args)]
struct Retry {
    /// Message id
    #[arg(required_unless_present = "failed", conflicts_with = "failed")]
    message: Option<String>,
    /// All failed messages, the earliest first, each once
    #[arg(long)]
    failed: bool,
    /// With --failed: only messages that were due on this date or later, in UTC
    #[arg(long, value_name = "DATE", value_parser = Day::parse, requires = "failed")]
    since: Option<Day>,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    to: To,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    let operate =
        |one: &One, call| Operate { message: one.message.clone(), call, to: one.to.clone() };
    match &arguments.what {
        None => calls::run(&arguments.list, streams),
        Some(What::List(list)) => calls::run(list, streams),
        Some(What::Show(show)) => calls::run(show, streams),
        Some(What::Cancel(one)) => calls::run(&operate(one, "cancel"), streams),
        Some(What::Resend(one)) => calls::run(&operate(one, "resend"), streams),
        Some(What::Retry(retry)) => match &retry.message {
            Some(message) => {
                let to = retry.to.clone();
                let message = message.clone();
                let call = "retry";
                calls::run(&Operate { message, call, to }, streams)
            }
            None => retry_failed(retry, streams),
        },
    }
}

impl Choice {
    /// The parameters of the query, each with its `&`.
    fn query(&self) -> String {
        let day = self.day.map(|day| day.to_string());
        parameters([
            ("recipient", self.recipient.as_deref()),
            ("channel", self.channel.as_deref()),
            ("type", self.kind.as_deref()),
            ("day", day.as_deref()),
        ])
    }
}

impl Call for List {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        let (state, cursor) = (self.state.as_deref(), self.cursor.as_deref());
        let rest = parameters([("state", state), ("cursor", cursor)]);
        let choice = self.choice.query();
        Request::get(format!("/v1/messages?limit={}{choice}{rest}", self.limit))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new(&[
            "DUE",
            "STATE",
            "WHY",
            "CHANNEL",
            "LANE",
            "RECIPIENT",
            "ENTRIES",
            "NEXT TRY",
            "ID",
        ]);
        for message in list(answer, "messages") {
            let of = |name| cell(message, name);
            table.row([
                of("due"),
                of("state"),
                of("reason"),
                of("channel"),
                lane_cell(message),
                of("recipient"),
                of("entries"),
                next_cell(message),
                of("id"),
            ]);
        }
        table.write_page(answer, "No such messages", out)
    }
}

/// The next attempt of a message, or what keeps it back.
fn next_cell(message: &Value) -> String {
    if message["held"].is_object() { held_words(message) } else { cell(message, "next_try") }
}

/// Until when a message is held, and by what.
fn held_words(message: &Value) -> String {
    let held = &message["held"];
    let until = cell(held, "until");
    match held["destination"].as_str() {
        Some(destination) => format!("held until {until} (destination {destination})"),
        None => format!("held until {until} (channel {})", cell(held, "channel")),
    }
}

impl Call for Show {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        Request::get(format!("/v1/messages/{}", segment(&self.message)))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let of = |name| cell(answer, name);
        let reason = match of("reason") {
            reason if reason.is_empty() => reason,
            reason => format!(" ({reason})"),
        };
        writeln!(
            out,
            "message {} to {}, {} {}: {}{reason}",
            of("id"),
            of("recipient"),
            of("channel"),
            lane_cell(answer),
            of("state"),
        )?;
        if answer["held"].is_object() {
            writeln!(
                out,
                "{}: {}",
                held_words(answer),
                answer["held"]["reason"].as_str().unwrap_or_default()
            )?;
        }
        if !of("batch").is_empty() {
            writeln!(out, "batch {}", of("batch"))?;
        }
        writeln!(out)?;
        let mut table = Table::new(&["AT", "RULE", "RESULT", "LOOKED AT"]);
        for step in list(answer, "timeline") {
            table.whole_row(["at", "rule", "result", "looked_at"].map(|name| cell(step, name)));
        }
        table.write(out)?;
        writeln!(out)?;
        let mut table = Table::new(&["T", "TYPE", "OBJECT", "EVENT", "WHY", "LEFT OUT"]);
        for item in list(answer, "items") {
            let cells = ["t", "type", "object", "event", "reasons"].map(|name| cell(item, name));
            table.row(cells);
        }
        for left_out in list(answer, "left_out") {
            let [event, reason] = ["event", "reason"].map(|name| cell(left_out, name));
            let none = String::new;
            table.row([none(), none(), none(), event, none(), reason]);
        }
        table.write(out)
    }
}

/// A change of one message.
struct Operate {
    message: String,
    call: &'static str,
    to: To,
}

fn operate(message: &str, call: &str) -> Request {
    Request::post(format!("/v1/messages/{}/{call}", segment(message)))
}

impl Call for Operate {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        operate(&self.message, self.call)
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        match answer["status"].as_str() {
            Some("accepted") => writeln!(out, "Queued: a running server sends it in a moment"),
            Some("cancelled") => {
                let count = cell(answer, "cancelled");
                writeln!(out, "Cancelled, with {count} notifications")
            }
            Some("too_late") => writeln!(out, "Too late: it was handed over, or may have been"),
            _ => writeln!(out, "Nothing is left to cancel"),
        }
    }

    fn ended(&self, answer: &Value) -> Status {
        match answer["status"].as_str() {
            Some("too_late" | "nothing_left") => Status::Failed,
            _ => Status::Done,
        }
    }
}

/// Retries all failed messages of a choice, the earliest first. Each is asked for once: the list is read before.
fn retry_failed(retry: &Retry, streams: &mut Streams<'_>) -> io::Result<Status> {
    let mut reach = match reach::find(&retry.to, Purpose::Change, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let retried = failed(&mut reach, retry).and_then(|all| send_again(&mut reach, &all));
    let closed = reach.close();
    let retried = match retried {
        Ok(retried) => retried,
        Err(fault) => return Ok(reach::report_fault(&fault, streams)),
    };
    let Retried { accepted, refused } = retried;
    if retry.to.json {
        let refused = refused.len();
        let answer = serde_json::json!({"accepted": accepted, "refused": refused});
        writeln!(streams.out, "{answer}")?;
    } else {
        let plural = if accepted == 1 { "" } else { "s" };
        writeln!(
            streams.out,
            "{accepted} failed message{plural} accepted. A running server sends them"
        )?;
    }
    for reason in &refused {
        report(streams, reason, Status::Failed);
    }
    Ok(match closed {
        Ok(()) if refused.is_empty() => Status::Done,
        Ok(()) => Status::Failed,
        Err(fault) => reach::report_fault(&fault, streams),
    })
}

/// The result of retrying many messages.
#[derive(Default)]
struct Retried {
    accepted: u64,
    /// The reasons why others were not, each with its message.
    refused: Vec<String>,
}

/// The ids of the failed messages, by the time at which they were due.
fn failed(reach: &mut Reach, retry: &Retry) -> Result<Vec<String>, Fault> {
    let path = format!("/v1/messages?state=failed&limit=500{}", retry.choice.query());
    let since = retry.since.map(Day::start);
    let mut all: Vec<(Instant, String)> = Vec::new();
    let mut cursor = String::new();
    loop {
        let request = Request::get(format!("{path}{cursor}"));
        let page = reach.ask(&request)?.success()?.json()?;
        for message in list(&page, "messages") {
            let due = Instant::parse(&cell(message, "due"))
                .map_err(|fault| Fault::Odd(fault.to_string()))?;
            if since.is_none_or(|since| due >= since) {
                all.push((due, cell(message, "id")));
            }
        }
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={}", segment(next)),
            None => break,
        }
    }
    all.sort();
    Ok(all.into_iter().map(|(_, id)| id).collect())
}

fn send_again(reach: &mut Reach, messages: &[String]) -> Result<Retried, Fault> {
    let mut retried = Retried::default();
    for message in messages {
        match reach.ask(&operate(message, "retry"))?.success() {
            Ok(_) => retried.accepted += 1,
            // It went meanwhile, or can't go any more; the others can.
            Err(Fault::Refused { code, reason, .. })
                if matches!(&*code, "message_state" | "message_not_found") =>
            {
                retried.refused.push(format!("message {message}: {reason}"));
            }
            Err(fault) => return Err(fault),
        }
    }
    Ok(retried)
}
