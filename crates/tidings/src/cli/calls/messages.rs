//! Messages as text for people, and retrying all that failed.

use std::io::{self, Write};

use serde_json::{Value, json};
use tidings_core::{Day, Instant};

use super::answer::ShownAnswer;
use super::given::GivenArguments;
use super::waiting::{cell_of, held_words};
use crate::cli::print::table::{TextTable, cell, list, shown};
use crate::cli::{Status, Streams, reach, report};
use crate::client::{CallFault, CallTarget, Purpose, Request, parameters, segment};

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

/// Writes the answer of `messages preview`.
pub(super) fn write_preview(answer: &Value, out: &mut dyn Write) -> io::Result<()> {
    let same = match answer["same"].as_bool() {
        Some(true) => "it looked the same when it was sent",
        Some(false) => "it looked different when it was sent",
        None => "there is nothing to compare it with",
    };
    writeln!(out, "{}, built again now: {same}", cell(answer, "channel"))?;
    write_content(answer, out)
}

/// Writes the content of a message as its reader sees it, below an empty line: subject, text, number of parts.
pub(in crate::cli) fn write_content(message: &Value, out: &mut dyn Write) -> io::Result<()> {
    for field in ["subject", "text", "url"] {
        let words = message[field].as_str().unwrap_or_default().trim_end();
        for (at, line) in words.lines().enumerate() {
            let gap = if at == 0 { "\n" } else { "" };
            writeln!(out, "{gap}{}", shown(&json!(line)))?;
        }
    }
    match message["parts"].as_u64() {
        None => Ok(()),
        Some(1) => writeln!(out, "\n1 part"),
        Some(parts) => writeln!(out, "\n{parts} parts"),
    }
}

/// Writes the answer to a change of a message, or of all of a filter.
pub(super) fn write_changed(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !answer.value["of"].is_null() {
        return write_bulk(answer.value, out);
    }
    match answer.value["status"].as_str() {
        Some("accepted") => writeln!(out, "Queued: a running server sends it in a moment"),
        Some("cancelled") => {
            writeln!(out, "Cancelled, with {} notifications", cell(answer.value, "cancelled"))
        }
        Some("too_late") => writeln!(out, "Too late: it was handed over, or may have been"),
        _ => writeln!(out, "Nothing is left to cancel"),
    }
}

/// Writes which job was made, or what it would be about.
fn write_bulk(answer: &Value, out: &mut dyn Write) -> io::Result<()> {
    let of = cell(answer, "of");
    if let Some(job) = answer["job"].as_str() {
        return writeln!(out, "Job {job} is about {of} messages: tidings jobs show {job}");
    }
    writeln!(out, "{of} messages match")?;
    for (reason, count) in answer["left_out"].as_object().into_iter().flatten() {
        writeln!(out, "{count} would stay as they are: {reason}")?;
    }
    Ok(())
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
    let RetryResult { accepted, refused } = match retried {
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
struct RetryResult {
    accepted: u64,
    /// The reasons why others were not, each with its message.
    refused: Vec<String>,
}

/// The ids of the failed messages, by the time at which they were due.
fn failed(reach: &mut CallTarget, given: &GivenArguments) -> Result<Vec<String>, CallFault> {
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

fn send_again(reach: &mut CallTarget, messages: &[String]) -> Result<RetryResult, CallFault> {
    let mut retried = RetryResult::default();
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
