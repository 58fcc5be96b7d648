//! Commands that are one call of the API: rows of `commands.toml`, from which their arguments, the request and the
//! answer for people follow.

mod answer;
mod argument;
mod before;
mod events;
mod feeds;
mod figures;
mod given;
mod inbox;
mod keys;
mod messages;
mod nodes;
mod show;
mod steer;
mod table;
mod tenant;
#[cfg(test)]
mod tests;
mod waiting;

use std::io::{self, IsTerminal as _};

use clap::{ArgMatches, FromArgMatches as _};
use serde_json::Value;

use super::reach::{self, TargetArguments};
use super::{Status, Streams, report};
use crate::client::CallTarget;
use answer::ShownAnswer;
use given::GivenArguments;
use table::{CommandRow, TABLE};

pub(super) use before::write as write_concerns;
pub(super) use events::{explain_body, write_explanation};
pub(super) use messages::write_content;
pub(super) use waiting::scheduled_text;

/// Adds the commands of the table.
pub(super) fn augment(command: clap::Command) -> clap::Command {
    TABLE.augment(command)
}

/// Runs a command of the table; `None` if it is none of them.
pub(super) fn run(matches: &ArgMatches, streams: &mut Streams<'_>) -> Option<io::Result<Status>> {
    let (name, matches) = matches.subcommand()?;
    let (row, matches) = match (TABLE.groups.get(name), matches.subcommand()) {
        (Some(_), Some((word, matches))) => (TABLE.row(&format!("{name} {word}"))?, matches),
        (Some(group), None) => (TABLE.row(group.default.as_deref()?)?, matches),
        (None, _) => (TABLE.row(name)?, matches),
    };
    // All arguments of `TargetArguments` were parsed with the command.
    let to = TargetArguments::from_arg_matches(matches).ok()?;
    Some(call(row, &GivenArguments { matches: matches.clone(), to }, streams))
}

fn call(row: &CommandRow, given: &GivenArguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    if let Some(first) = &row.first
        && let Some(ended) = first.0(given, streams)?
    {
        return Ok(ended);
    }
    if let Some(what) = &row.deletes
        && let Some(ended) = confirmed(what, given, streams)?
    {
        return Ok(ended);
    }
    let request = row.request(given);
    let mut reach = match reach::find(&given.to, request.purpose(), streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let answer = reach.ask(&request).and_then(|answer| answer.success()?.json());
    let has_server = matches!(reach, CallTarget::Server(_));
    let closed = reach.close();
    let answer = match answer {
        Ok(answer) => answer,
        Err(fault) => return Ok(reach::report_fault(&fault, streams)),
    };
    row.show.write(&ShownAnswer { value: &answer, given, has_server }, streams)?;
    let has_failed = row.failed.iter().any(|status| answer["status"] == **status);
    Ok(match closed {
        Ok(()) if has_failed => Status::Failed,
        Ok(()) => Status::Done,
        Err(fault) => reach::report_fault(&fault, streams),
    })
}

/// Asks before something is deleted for good; returns how the command ends if it is declined.
fn confirmed(
    what: &str,
    given: &GivenArguments,
    streams: &mut Streams<'_>,
) -> io::Result<Option<Status>> {
    if given.has("yes") {
        return Ok(None);
    }
    let what = answer::text(what, &ShownAnswer { value: &Value::Null, given, has_server: false });
    if !io::stdin().is_terminal() {
        let message = format!("this permanently deletes {what}\n  = help: pass --yes to confirm");
        return Ok(Some(report(streams, &message, Status::Wrong)));
    }
    write!(streams.err, "Permanently delete {what}? [y/N] ")?;
    streams.err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(None);
    }
    Ok(Some(report(streams, "nothing was deleted", Status::Failed)))
}
