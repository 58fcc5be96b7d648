//! `tidings tenant set`: makes a tenant, or changes what is given of one.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::given::GivenArguments;
use crate::cli::{Status, Streams, reach, report};
use crate::client::{CallFault, LineProblem, Request};

/// Saves a tenant.
pub(super) fn set(given: &GivenArguments, streams: &mut Streams<'_>) -> io::Result<Option<Status>> {
    let body = match body(given) {
        Ok(body) => body,
        Err(fault) => return Ok(Some(report(streams, &fault, Status::Wrong))),
    };
    // The call with many makes those that are not there.
    let request = Request::post("/v1/tenants".to_owned()).lines(format!("{body}\n").into());
    let mut reach = match reach::find(&given.to, request.purpose(), streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(Some(status)),
    };
    let done = reach.ask(&request).and_then(|answer| {
        let lines = answer.success()?.lines()?;
        let line = lines.first().ok_or_else(|| CallFault::Odd("it has no line".to_owned()))?;
        LineProblem::of(line).map_or(Ok(()), |problem| Err(problem.into_fault()))
    });
    let closed = reach.close();
    if let Err(fault) = done.and(closed) {
        return Ok(Some(reach::report_fault(&fault, streams)));
    }
    if given.to.json {
        writeln!(streams.out, "{{}}")?;
    } else {
        let tenant = given.text("tenant").unwrap_or_default();
        writeln!(streams.out, "The tenant {tenant} is saved")?;
    }
    Ok(Some(Status::Done))
}

/// The changes: the flags go before the file.
fn body(given: &GivenArguments) -> Result<Value, String> {
    let mut body = match given.text("file") {
        Some(file) => object(Path::new(file))?,
        None => Map::new(),
    };
    body.insert("id".to_owned(), json!(given.text("tenant")));
    for name in ["name", "locale", "tz", "from-name", "reply-to"] {
        if let Some(text) = given.text(name) {
            body.insert(name.replace('-', "_"), json!(text));
        }
    }
    if given.has("disable") || given.has("enable") {
        body.insert("disabled".to_owned(), json!(given.has("disable")));
    }
    Ok(body.into())
}

/// The object of a file.
fn object(file: &Path) -> Result<Map<String, Value>, String> {
    let shown = file.display();
    let mut text = String::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().lock().read_to_string(&mut text).map(drop),
        _ => fs::read_to_string(file).map(|read| text = read),
    };
    read.map_err(|fault| format!("can't read {shown}: {fault}"))?;
    serde_json::from_str(&text).map_err(|fault| {
        format!("{shown}: {fault}\n  = help: write a JSON object, such as {{\"name\": \"Acme\"}}")
    })
}
