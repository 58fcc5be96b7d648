//! Messages as text for people, and retrying all that failed.

use std::io::{self, Write};

use serde_json::json;
use tidings_core::Day;
use tidings_core::time::Instant;

use super::answer::ShownAnswer;
use super::given::GivenArguments;
use super::waiting::{cell_of, held_words};
use crate::cli::print::table::{TextTable, cell, list};
use crate::cli::{Status, Streams, reach, report};
use crate::client::{CallFault, Purpose, Reach, Request, parameters, segment};

/// Writes the answer of `messages show`.
pub(super) fn write_message(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let answer = answer.value;
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
        cell_of(answer, "lane"),
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
    let mut table = TextTable::new(&["AT", "RULE", "RESULT", "LOOKED AT"]);
    for step in list(answer, "timeline") {
        table.whole_row(["at", "rule", "result", "looked_at"].map(|name| cell(step, name)));
    }
    table.write(out)?;
    writeln!(out)?;
    let mut table = TextTable::new(&["T", "TYPE", "OBJECT", "EVENT", "WHY", "LEFT OUT"]);
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

/// Writes the answer to a change of one message.
pub(super) fn write_changed(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    match answer.value["status"].as_str() {
        Some("accepted") => writeln!(out, "Queued: a running server sends it in a moment"),
        Some("cancelled") => {
            writeln!(out, "Cancelled, with {} notifications", cell(answer.value, "cancelled"))
        }
        Some("too_late") => writeln!(out, "Too late: it was handed over, or may have been"),
        _ => writeln!(out, "Nothing is left to cancel"),
    }
}

/// Retries all failed messages of a choice, the earliest first, each once: the list is read before.
pub(super) fn retry_failed(
    given: &GivenArguments,
    streams: &mut Streams<'_>,
) -> io::Result<Option<Status>> {
    if !given.has("failed") {
        return Ok(None);
    }
    let mut reach = match reach::find(&given.to, Purpose::Change, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(Some(status)),
    };
    let retried = failed(&mut reach, given).and_then(|all| send_again(&mut reach, &all));
    let closed = reach.close();
    let Retried { accepted, refused } = match retried {
        Ok(retried) => retried,
        Err(fault) => return Ok(Some(reach::report_fault(&fault, streams))),
    };
    if given.to.json {
        let answer = json!({"accepted": accepted, "refused": refused.len()});
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
    Ok(Some(match closed {
        Ok(()) if refused.is_empty() => Status::Done,
        Ok(()) => Status::Failed,
        Err(fault) => reach::report_fault(&fault, streams),
    }))
}

/// The result of retrying many messages.
#[derive(Default)]
struct Retried {
    accepted: u64,
    /// The reasons why others were not, each with its message.
    refused: Vec<String>,
}

/// The ids of the failed messages, by the time at which they were due.
fn failed(reach: &mut Reach, given: &GivenArguments) -> Result<Vec<String>, CallFault> {
    let choice = ["recipient", "channel", "type", "day"].map(|name| (name, given.text(name)));
    let path = format!("/v1/messages?state=failed&limit=500{}", parameters(choice));
    let since = given.text("since").and_then(|day| Day::parse(day).ok()).map(Day::start);
    let mut all: Vec<(Instant, String)> = Vec::new();
    let mut cursor = String::new();
    loop {
        let request = Request::get(format!("{path}{cursor}"));
        let page = reach.ask(&request)?.success()?.json()?;
        for message in list(&page, "messages") {
            let due = Instant::parse(&cell(message, "due"))
                .map_err(|fault| CallFault::Odd(fault.to_string()))?;
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

fn send_again(reach: &mut Reach, messages: &[String]) -> Result<Retried, CallFault> {
    let mut retried = Retried::default();
    for message in messages {
        match reach
            .ask(&Request::post(format!("/v1/messages/{}/retry", segment(message))))?
            .success()
        {
            Ok(_) => retried.accepted += 1,
            // It went meanwhile, or can't go any more; the others can.
            Err(CallFault::Refused { code, reason, .. })
                if matches!(&*code, "message_state" | "message_not_found") =>
            {
                retried.refused.push(format!("message {message}: {reason}"));
            }
            Err(fault) => return Err(fault),
        }
    }
    Ok(retried)
}
