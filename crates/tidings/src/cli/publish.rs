//! `tidings publish`: events from a file of lines, or one event by its flags.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use serde_json::{Value, json};
use tidings_api::body::event::{AudienceBody, BareId, EventBody, IdOrObject, IdOrProfile};
use tidings_api::body::object::EventObject;
use tidings_api::body::text::{FromText as _, Text, Topic, Wait};
use tidings_api::timeline::{Lines, NextLine, by_line};
use tidings_api::warning::WarningSummary;
use tidings_config::duration;
use tidings_config::wording::quoted;
use tidings_core::model::{HostText, WallTime};
use tidings_core::{Id, Instant};

use super::calls::write_concerns;
use super::print::table::{cell, list};
use super::print::{write_rest, write_warning};
use super::reach::{self, TargetArguments};
use super::{Status, Streams, report};
use crate::client::{CallFault, CallTarget, LineProblem, Purpose, Request, parameters};

/// Events that are sent at once.
const SLICE_LINES: usize = 1_000;

/// Bytes of events that are sent at once, where they are long.
const SLICE_BYTES: usize = 1 << 20;

/// Arguments of `publish`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(super) struct PublishArguments {
    /// File of events, one JSON object per line, or a JSON array; `-` reads standard input. Events with an id
    /// can be published again: each is accepted once
    #[arg(value_name = "FILE", group = "what")]
    file: Option<PathBuf>,
    #[command(flatten)]
    event: OneEvent,
    #[command(flatten)]
    to: TargetArguments,
}

/// One event by its flags.
#[derive(clap::Args)]
struct OneEvent {
    /// Type of the event
    #[arg(
        long = "type",
        value_name = "TYPE",
        group = "what",
        requires = "object",
        value_parser = Id::new
    )]
    kind: Option<Id>,
    /// Id of the object that the event is about
    #[arg(long, value_name = "ID", requires = "kind", value_parser = Id::new)]
    object: Option<Id>,
    /// Title of the object
    #[arg(long, requires = "kind")]
    title: Option<String>,
    /// URL of the object
    #[arg(long, value_name = "URL", requires = "kind")]
    object_url: Option<String>,
    /// Id of the actor
    #[arg(long, value_name = "ID", requires = "kind", value_parser = Id::new)]
    actor: Option<Id>,
    /// Id of the target: what it was done in or for
    #[arg(long, value_name = "ID", requires = "kind", value_parser = Id::new)]
    target: Option<Id>,
    /// Text that a person wrote, such as a comment, to be shown; at most 2 KiB
    #[arg(long, value_name = "TEXT", requires = "kind")]
    body: Option<String>,
    /// Event id; generated if not given
    #[arg(long, requires = "kind", value_parser = Id::new)]
    id: Option<Id>,
    /// Rank among the events of a message: the highest is shown first
    #[arg(long, value_name = "NUMBER", requires = "kind", allow_negative_numbers = true)]
    score: Option<f64>,
    /// Notify this recipient; can be repeated
    #[arg(long, value_name = "ID", requires = "kind", value_parser = Id::new)]
    recipient: Vec<Id>,
    /// Notify the followers of this topic; can be repeated
    #[arg(long, requires = "kind", value_parser = topic)]
    topic: Vec<Topic>,
    /// No option: the body's `to` is said by those above.
    #[arg(long, value_name = "ID", hide = true, value_parser = no_to)]
    to: Option<String>,
    /// Leave this recipient out, whatever else is said; can be repeated
    #[arg(long, value_name = "ID", requires = "kind", value_parser = Id::new)]
    except: Vec<Id>,
    /// Notify all recipients
    #[arg(long, requires = "kind")]
    everyone: bool,
    /// Use only this channel; can be repeated
    #[arg(long, requires = "kind")]
    channel: Vec<String>,
    /// Deliver at this instant (RFC 3339), not now
    #[arg(long, value_name = "INSTANT", requires = "kind", value_parser = Instant::parse)]
    deliver_at: Option<Instant>,
    /// Deliver after this time, such as 90s or 36h, not now
    #[arg(long, value_name = "DURATION", requires = "kind", value_parser = duration::parse, conflicts_with_all = ["deliver_at", "deliver_local"])]
    delay: Option<i64>,
    /// Deliver at this time on each recipient's wall clock, such as 2024-05-01T09:00
    #[arg(long, value_name = "TIME", requires = "kind", value_parser = wall_time, conflicts_with = "deliver_at")]
    deliver_local: Option<WallTime>,
    /// Expire at this instant (RFC 3339): what is not sent by then is not sent at all
    #[arg(long, value_name = "INSTANT", requires = "kind", value_parser = Instant::parse)]
    expires_at: Option<Instant>,
    /// Tenant of the event
    #[arg(long, value_name = "ID", requires = "kind", value_parser = Id::new)]
    tenant: Option<Id>,
    /// Key to cancel this event by, together with others
    #[arg(long, value_name = "KEY", requires = "kind", value_parser = Id::new)]
    cancellation_key: Option<Id>,
    /// Say whom it would reach, and publish nothing
    #[arg(long, requires = "kind")]
    dry: bool,
    /// Publish nothing if it would reach more people than N
    #[arg(long, value_name = "N", requires = "kind")]
    expect: Option<u64>,
}

fn wall_time(text: &str) -> Result<WallTime, String> {
    WallTime::parse(text)
        .ok_or_else(|| "write a date and a time, such as 2024-05-01T09:00".to_owned())
}

fn topic(text: &str) -> Result<Topic, String> {
    Topic::from_text(text).map_err(|fault| format!("{}; {}", fault.reason, fault.hint))
}

fn no_to(text: &str) -> Result<String, String> {
    Err(format!("write `--recipient {text}`, `--topic {text}` or `--everyone`"))
}

impl OneEvent {
    /// The body that the flags give.
    fn body(&self) -> Option<EventBody> {
        let recipients = self.recipient.iter().cloned().map(BareId);
        let topics = self.topic.iter().cloned().map(Text);
        Some(EventBody {
            id: self.id.clone().map(Text),
            r#type: Text(self.kind.clone()?),
            actor: self.actor.clone().map(BareId).map(IdOrObject::Id),
            object: EventObject {
                id: Text(self.object.clone()?),
                title: self.title.as_deref().map(HostText::from),
                url: self.object_url.clone(),
                image: None,
                image_size: None,
                data: None,
            },
            target: self.target.clone().map(BareId).map(IdOrObject::Id),
            data: None,
            body: self.body.as_deref().map(HostText::from),
            score: self.score,
            to: AudienceBody {
                recipients: Some(recipients.map(IdOrProfile::Id).collect()),
                topics: Some(topics.collect()),
                near: None,
                everyone: Some(self.everyone),
                except: Some(self.except.iter().cloned().map(Text).collect::<Vec<_>>())
                    .filter(|except| !except.is_empty()),
            },
            channels: Some(self.channel.clone()).filter(|channels| !channels.is_empty()),
            occurred_at: None,
            deliver_at: self.deliver_at.map(Text),
            delay: self.delay.map(Wait).map(Text),
            deliver_local: self.deliver_local.map(Text),
            expires_at: self.expires_at.map(Text),
            tenant: self.tenant.clone().map(Text),
            cancellation_key: self.cancellation_key.clone().map(Text),
            trace: None,
        })
    }
}

/// Counts of events by their result.
#[derive(Default, serde::Serialize)]
struct PublishTally {
    accepted: u64,
    duplicates: u64,
    notifications: u64,
    suppressed: u64,
    rejected: u64,
}

impl PublishTally {
    /// The numbers for people: what there is none of is not mentioned.
    fn summary(&self) -> String {
        let some = |count: u64, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        let mut summary = format!("{} accepted", some(self.accepted, "event", "events"));
        if self.accepted > 0 {
            summary += ", ";
            summary += &some(self.notifications, "notification", "notifications");
        }
        let others = [
            (self.suppressed, "left out by `admission`", "left out by `admission`"),
            (self.duplicates, "duplicate", "duplicates"),
            (self.rejected, "rejected", "rejected"),
        ];
        for (count, one, many) in others.into_iter().filter(|(count, ..)| *count > 0) {
            summary += "; ";
            summary += &some(count, one, many);
        }
        summary
    }
}

/// Runs the command.
pub(super) fn run(arguments: &PublishArguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    if arguments.event.dry || arguments.event.expect.is_some() {
        return try_one(arguments, streams);
    }
    let input: Box<dyn BufRead> = match &arguments.file {
        None => Box::new(io::Cursor::new(serde_json::to_vec(&arguments.event.body())?)),
        Some(file) if file.as_os_str() == "-" => Box::new(BufReader::new(io::stdin())),
        Some(file) => match File::open(file) {
            Ok(file) => Box::new(BufReader::new(file)),
            Err(error) => {
                let message = format!("cannot open {}: {error}", file.display());
                return Ok(report(streams, &message, Status::Wrong));
            }
        },
    };
    let input = match by_line(input) {
        Ok(input) => input,
        Err(error) => {
            let message = format!("cannot read the events: {error}");
            return Ok(report(streams, &message, Status::Failed));
        }
    };
    let mut reach = match reach::find(&arguments.to, Purpose::Change, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let mut publishing = PublishReporter::of(arguments);
    publishing.all(Lines::new(input), &mut reach, streams)?;
    write_rest(&publishing.warnings, streams.err)?;
    let closed = reach.close();
    let PublishReporter { tally, fault, .. } = publishing;
    if !arguments.to.json && (fault.is_none() || tally.accepted + tally.duplicates > 0) {
        writeln!(streams.out, "{}", tally.summary())?;
    }
    Ok(match fault.map_or(closed, Err) {
        Err(fault) => reach::report_fault(&fault, streams),
        Ok(()) if tally.rejected > 0 => Status::Failed,
        Ok(()) => Status::Done,
    })
}

/// Says whom one event would reach, or publishes it if it reaches no more people than expected.
fn try_one(arguments: &PublishArguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    let OneEvent { dry, expect, .. } = arguments.event;
    let expect = expect.map(|people| people.to_string());
    let query = [("dry", dry.then_some("true")), ("expect", expect.as_deref())];
    let path = format!("/v1/events{}", parameters(query).replacen('&', "?", 1));
    let purpose = if dry { Purpose::Look } else { Purpose::Change };
    let request = Request::post(path).json(&arguments.event.body()).for_purpose(purpose);
    let mut reach = match reach::find(&arguments.to, purpose, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let answer = reach.ask(&request).and_then(|answer| answer.success()?.json());
    let closed = reach.close();
    let answer = match answer {
        Ok(answer) => answer,
        Err(fault) => return Ok(reach::report_fault(&fault, streams)),
    };
    let mut publishing = PublishReporter::of(arguments);
    publishing.print(std::slice::from_ref(&answer), &[1], streams)?;
    write_rest(&publishing.warnings, streams.err)?;
    if !arguments.to.json {
        write_concerns(&answer, streams.out)?;
        writeln!(streams.out, "{}", publishing.tally.summary())?;
    }
    Ok(match closed {
        Ok(()) => Status::Done,
        Err(fault) => reach::report_fault(&fault, streams),
    })
}

struct PublishReporter {
    tally: PublishTally,
    warnings: WarningSummary,
    /// True if the event comes from flags: then there are no lines to speak of.
    is_one: bool,
    json: bool,
    /// The fault at which it ended.
    fault: Option<CallFault>,
}

impl PublishReporter {
    fn of(arguments: &PublishArguments) -> Self {
        Self {
            tally: PublishTally::default(),
            warnings: WarningSummary::default(),
            is_one: arguments.file.is_none(),
            json: arguments.to.json,
            fault: None,
        }
    }

    /// Sends all lines in slices, up to a fault, and prints the result of each.
    fn all(
        &mut self,
        mut lines: Lines<Box<dyn BufRead>>,
        reach: &mut CallTarget,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        loop {
            let (mut slice, mut numbers) = (Vec::new(), Vec::new());
            let mut is_last = false;
            while numbers.len() < SLICE_LINES && slice.len() < SLICE_BYTES {
                match lines.read_next() {
                    Ok(NextLine::Text(number, line)) => {
                        slice.extend_from_slice(line.trim_ascii());
                        slice.push(b'\n');
                        numbers.push(number);
                    }
                    Ok(NextLine::TooLong(number)) => {
                        self.tally.rejected += 1;
                        report(streams, &format!("line {number}: too long"), Status::Failed);
                    }
                    Ok(NextLine::End) => {
                        is_last = true;
                        break;
                    }
                    Err(fault) => {
                        let message = format!("cannot read the next events: {fault}");
                        self.tally.rejected += 1;
                        report(streams, &message, Status::Failed);
                        is_last = true;
                        break;
                    }
                }
            }
            if !numbers.is_empty() {
                let request = Request::post("/v1/events".to_owned()).lines(slice);
                let answer = reach.ask(&request).and_then(|answer| answer.success()?.lines());
                match answer {
                    Ok(answers) => self.print(&answers, &numbers, streams)?,
                    Err(fault) => self.fault = Some(fault),
                }
                if self.fault.is_some() {
                    if let (Some(first), false) = (numbers.first(), self.is_one) {
                        let line = format!("some events from line {first} on got no answer");
                        writeln!(streams.err, "warning: {line}")?;
                    }
                    return Ok(());
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Prints the answers to lines with these numbers.
    fn print(
        &mut self,
        answers: &[Value],
        numbers: &[u64],
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        // An answer a line, in their order; what is more is a count.
        let numbers_of = numbers.iter().map(Some).chain(std::iter::repeat(None));
        for (answer, number) in answers.iter().zip(numbers_of) {
            if let Some(problem) = LineProblem::of(answer) {
                if problem.is_of_the_server() {
                    self.fault = Some(problem.into_fault());
                    return Ok(());
                }
                self.tally.rejected += 1;
                self.print_problem(answer, &problem, numbers, streams)?;
                continue;
            }
            match answer.get("status").and_then(Value::as_str) {
                Some("duplicate") => self.tally.duplicates += 1,
                _ => self.tally.accepted += 1,
            }
            let notifications = answer.get("notifications").and_then(Value::as_u64);
            self.tally.notifications += notifications.unwrap_or(0);
            let suppressed = answer.get("suppressed").and_then(Value::as_u64);
            self.tally.suppressed += suppressed.unwrap_or(0);
            if self.json {
                writeln!(streams.out, "{answer}")?;
            }
            for warning in list(answer, "warnings") {
                let [code, detail, hint] = ["code", "detail", "hint"].map(|key| cell(warning, key));
                if self.warnings.add(&code) {
                    let place = format!("event {}", quoted(&cell(answer, "id")));
                    let place = match number {
                        Some(number) if !self.is_one => format!("line {number}: {place}"),
                        _ => place,
                    };
                    write_warning(&place, &code, &detail, &hint, streams.err)?;
                }
            }
        }
        Ok(())
    }

    fn print_problem(
        &self,
        answer: &Value,
        problem: &LineProblem,
        numbers: &[u64],
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        let at = usize::try_from(problem.line - 1).ok();
        let number = at.and_then(|at| numbers.get(at)).copied().unwrap_or(problem.line);
        if self.json {
            // The line that it has in what was given, not in the slice that was sent.
            let mut answer = answer.clone();
            answer["line"] = json!(number);
            return writeln!(streams.out, "{answer}");
        }
        let place = if self.is_one { String::new() } else { format!("line {number}: ") };
        let LineProblem { reason, hint, .. } = problem;
        report(streams, &format!("{place}{reason}\n  = help: {hint}"), Status::Failed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;

    #[test]
    fn body_is_a_flag_of_one_event() {
        let read = |flags: &[&str]| {
            let command = PublishArguments::augment_args(clap::Command::new("publish"));
            let given = std::iter::once("publish").chain(flags.iter().copied());
            let matches = command.try_get_matches_from(given)?;
            let arguments = PublishArguments::from_arg_matches(&matches)?;
            Ok::<_, clap::Error>(arguments.event.body().and_then(|event| event.body))
        };
        let of_one = ["--type", "note", "--object", "o", "--everyone", "--body", "Well done"];
        assert_eq!(read(&of_one).unwrap(), Some("Well done".into()));
        assert_eq!(read(&of_one[..5]).unwrap(), None);
        assert!(read(&["events.ndjson", "--body", "Well done"]).is_err());
    }
}
