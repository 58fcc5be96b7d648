//! Import of what people switched off elsewhere: a call for each of them, as hosts make it.

use std::collections::BTreeMap;
use std::io::{self, BufReader};

use serde_json::{Value, json};
use tidings_api::body;
use tidings_api::compat::preferences::{ConfiguredTypes, MappedPreferences, knock, novu};
use tidings_api::timeline::{Lines, NextLine};

use super::{ImportArguments, can_not_open, open};
use crate::cli::reach;
use crate::cli::{Status, Streams, report};
use crate::client::{CallFault, CallTarget, Purpose, Request, segment};
use crate::import::Source;

/// The counts of an import.
#[derive(Default)]
struct Done {
    taken: u64,
    skipped: u64,
    /// The parts of rows that were left out, with the number of such rows.
    left_out: BTreeMap<String, u64>,
}

/// Runs the command.
pub(super) fn run(
    arguments: &ImportArguments,
    from: Source,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let input = match open(arguments) {
        Ok(import) => import.input,
        Err(error) => return Ok(can_not_open(arguments, &error, streams)),
    };
    let mut reach = match reach::find(&arguments.to, Purpose::Change, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let mut done = Done::default();
    let ended =
        all(arguments, from, Lines::new(BufReader::new(input)), &mut reach, &mut done, streams)?;
    let closed = reach.close();
    if arguments.to.json {
        let line = json!({
            "kind": "preferences",
            "taken": done.taken,
            "skipped": done.skipped,
            "left_out": done.left_out,
            "complete": ended.is_ok(),
        });
        writeln!(streams.out, "{line}")?;
    } else {
        for (what, count) in &done.left_out {
            writeln!(streams.err, "warning: left out of {count} rows: {what}")?;
        }
        writeln!(
            streams.out,
            "preferences of {} recipients imported, {} skipped",
            done.taken, done.skipped
        )?;
    }
    let status = match ended {
        Ok(()) => Status::Done,
        Err(message) => report(streams, &message, Status::Failed),
    };
    match closed {
        Ok(()) => Ok(status),
        Err(fault) => Ok(reach::report_fault(&fault, streams)),
    }
}

/// Takes all rows; the error is why it stopped before the end.
fn all(
    arguments: &ImportArguments,
    from: Source,
    mut lines: Lines<impl io::BufRead>,
    reach: &mut CallTarget,
    done: &mut Done,
    streams: &mut Streams<'_>,
) -> io::Result<Result<(), String>> {
    let types = reach.ask(&Request::get("/v1/types".to_owned()));
    let known = match types.and_then(|answer| answer.success()?.json()) {
        Ok(types) => ConfiguredTypes::of(&types),
        Err(fault) => return Ok(Err(fault.to_string())),
    };
    loop {
        let (number, row) = match lines.read_next()? {
            NextLine::End => return Ok(Ok(())),
            NextLine::TooLong(number) => {
                let hint = "write one JSON object a line";
                (number, Err(body::Fault::new("the line is too long", hint)))
            }
            NextLine::Text(number, text) => (number, mapped(from, text, &known)),
        };
        let fault = match row {
            Err(fault) => fault,
            Ok(row) => {
                for what in &row.left_out {
                    *done.left_out.entry(what.clone()).or_default() += 1;
                }
                match set(reach, &row) {
                    Ok(()) => {
                        done.taken += 1;
                        continue;
                    }
                    Err(CallFault::Refused { status, reason, hint, .. })
                        if status.is_client_error() && status.as_u16() != 429 =>
                    {
                        body::Fault::new(reason, hint)
                    }
                    Err(fault) => return Ok(Err(fault.to_string())),
                }
            }
        };
        let fault = fault.on_line(number);
        if !arguments.skip_bad {
            return Ok(Err(format!("{fault}\n  = help: or skip such rows with --skip-bad")));
        }
        done.skipped += 1;
        writeln!(streams.err, "warning: {fault}")?;
    }
}

fn mapped(
    from: Source,
    text: &[u8],
    known: &ConfiguredTypes,
) -> Result<MappedPreferences, body::Fault> {
    let row: Value = serde_json::from_slice(text).map_err(|fault| {
        body::Fault::new(format!("not JSON: {fault}"), "write one JSON object a line")
    })?;
    match from {
        Source::Knock => knock(&row, known),
        Source::Novu => novu(&row, known),
    }
}

/// Sets somebody's preferences; those that are there and not among them stay.
fn set(reach: &mut CallTarget, row: &MappedPreferences) -> Result<(), CallFault> {
    if row.list.is_empty() {
        return Ok(());
    }
    let path = format!("/v1/recipients/{}/preferences", segment(&row.recipient));
    reach.ask(&Request::patch(path).json(&row.list))?.success()?;
    Ok(())
}
