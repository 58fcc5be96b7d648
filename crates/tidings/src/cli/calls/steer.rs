//! `tidings pause` and `tidings resume`.

use std::io::{self, Write};

use serde_json::{Value, json};
use tidings_core::model::CHANNELS;

use super::answer::ShownAnswer;
use super::given::GivenArguments;
use crate::cli::print::table::{list, shown};
use crate::cli::{Status, Streams, reach};
use crate::client::{CallFault, CallTarget, Purpose, Request, segment};

/// The kinds of what is paused that the status lists.
const LISTED: [&str; 2] = ["type", "channel"];

/// Reads the kind of what is paused or resumed.
pub(super) fn kind(text: &str, command: &str) -> Result<String, String> {
    if LISTED.contains(&text) || text == "feed" {
        return Ok(text.to_owned());
    }
    // A name without its kind.
    let kind = if CHANNELS.contains(&text) { "channel" } else { "type" };
    Err(format!("`type`, `channel` or `feed` comes first: `tidings {command} {kind} {text}`"))
}

/// Writes the answer of `pause`.
pub(super) fn write_paused(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let [what, name] = ["what", "name"].map(|one| answer.given.text(one).unwrap_or_default());
    let done = if what == "feed" { "read" } else { "sent" };
    writeln!(
        out,
        "Paused {what} {name}. Nothing of it is {done} until `tidings resume {what} {name}`"
    )
}

/// Writes the answer of `resume`.
pub(super) fn write_resumed(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let [what, name] = ["what", "name"].map(|one| answer.given.text(one).unwrap_or_default());
    write_one(what, name, out)
}

fn write_one(what: &str, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let then = if what == "feed" { "reads it again" } else { "sends what is due" };
    writeln!(out, "Resumed {what} {name}. A running server {then}")
}

/// Resumes all that is paused, of one kind perhaps.
pub(super) fn resume_all(
    given: &GivenArguments,
    streams: &mut Streams<'_>,
) -> io::Result<Option<Status>> {
    if !given.has("all") {
        return Ok(None);
    }
    let mut reach = match reach::find(&given.to, Purpose::Change, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(Some(status)),
    };
    let only = given.text("what");
    let kinds = LISTED.into_iter().filter(|kind| only.is_none_or(|only| only == *kind));
    let resumed = resume(&mut reach, kinds);
    let closed = reach.close();
    let resumed = match resumed.and_then(|resumed| closed.map(|()| resumed)) {
        Ok(resumed) => resumed,
        Err(fault) => return Ok(Some(reach::report_fault(&fault, streams))),
    };
    if given.to.json {
        let names = |kind: &str| -> Vec<&String> {
            resumed.iter().filter(|(what, _)| *what == kind).map(|(_, name)| name).collect()
        };
        writeln!(streams.out, "{}", json!({"types": names("type"), "channels": names("channel")}))?;
        return Ok(Some(Status::Done));
    }
    for (what, name) in &resumed {
        write_one(what, name, streams.out)?;
    }
    if resumed.is_empty() {
        writeln!(streams.out, "Nothing is paused")?;
    }
    Ok(Some(Status::Done))
}

/// Resumes all that is paused of some kinds, and returns what that was.
fn resume(
    reach: &mut CallTarget,
    kinds: impl Iterator<Item = &'static str>,
) -> Result<Vec<(&'static str, String)>, CallFault> {
    let status = Request::get("/v1/admin/status".to_owned());
    let status: Value = reach.ask(&status)?.success()?.json()?;
    let mut resumed = Vec::new();
    for what in kinds {
        for name in list(&status["paused"], &format!("{what}s")).iter().map(shown) {
            let path = format!("/v1/{what}s/{}/resume", segment(&name));
            reach.ask(&Request::post(path))?.success()?;
            resumed.push((what, name));
        }
    }
    Ok(resumed)
}
