//! `tidings nodes`: the nodes that share a store.

use std::io;

use serde_json::Value;
use tidings_http::v1::nodes::shown;
use tidings_store::{Expected, StorePlace, database};

use super::answer;
use super::given::GivenArguments;
use crate::cli::print::table::{TextTable, cell};
use crate::cli::reach::{self, TargetArguments};
use crate::cli::status::span;
use crate::cli::{Status, Streams, report};
use crate::client::{CallFault, Purpose, Request};

/// Shows the nodes. With the address of the database no node has to run.
pub(super) fn show(
    given: &GivenArguments,
    streams: &mut Streams<'_>,
) -> io::Result<Option<Status>> {
    let to = &given.to;
    let nodes = match to.store_place() {
        Some(StorePlace::Database(url)) => in_database(&url),
        _ => of_server(to),
    };
    let nodes = match nodes {
        Ok(nodes) => nodes,
        Err(fault) => return Ok(Some(reach::report_fault(&fault, streams))),
    };
    if to.json {
        writeln!(streams.out, "{nodes}")?;
        return Ok(Some(Status::Done));
    }
    let nodes = nodes.as_array().map_or(&[][..], Vec::as_slice);
    if nodes.is_empty() {
        let message = "no nodes: the store is a data directory, or no node has started";
        return Ok(Some(report(streams, message, Status::Failed)));
    }
    table(nodes).write(streams.out)?;
    if !nodes.iter().any(is_holder) {
        writeln!(streams.err, "No node holds the store now: calls are answered 503")?;
    }
    for node in of_other_config(nodes) {
        writeln!(
            streams.err,
            "`{node}` would put another configuration in force: the files differ, one was not read again (SIGHUP), \
             or the versions differ"
        )?;
    }
    Ok(Some(Status::Done))
}

/// Returns true if a node holds the store: the intake, and what is not at other nodes.
fn is_holder(node: &Value) -> bool {
    cell(node, "state") == "holding" && node["intake"] == true
}

/// The names of the nodes with another configuration than the one that holds the store.
fn of_other_config(nodes: &[Value]) -> Vec<String> {
    let holder = nodes.iter().find(|node| is_holder(node));
    let differs = |node: &&Value| {
        let config = holder.map(|holder| cell(holder, "config"));
        cell(node, "state") != "silent"
            && config.is_some_and(|config| config != cell(node, "config"))
    };
    nodes.iter().filter(differs).map(|node| cell(node, "node")).collect()
}

fn table(nodes: &[Value]) -> TextTable {
    let columns = [
        ("NODE", "node"),
        ("STATE", "state"),
        ("PARTS", "parts"),
        ("SINCE", "since"),
        ("BEHIND", "lag_ms"),
        ("SILENT", "silent_ms"),
        ("CONFIG", "config"),
        ("ADDRESS", "address"),
    ];
    answer::table(&columns, nodes, |node, path| match path {
        "parts" => parts(node),
        "lag_ms" | "silent_ms" => span(node[path].as_u64().unwrap_or_default() / 1_000),
        "config" => cell(node, path).chars().take(8).collect(),
        path => cell(node, path),
    })
}

/// Describes what a node holds: `all`, `intake and 0-2`, `3-5`, or `-`.
fn parts(node: &Value) -> String {
    let numbers = match &node["parts"] {
        Value::Null => return "all".to_owned(),
        numbers => numbers.as_array().into_iter().flatten(),
    };
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers.filter_map(Value::as_u64) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let ranges = ranges.into_iter().map(|(first, last)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    });
    let ranges: Vec<String> = ranges.collect();
    match (node["intake"] == true, ranges.is_empty()) {
        (true, true) => "intake".to_owned(),
        (true, false) => format!("intake and {}", ranges.join(", ")),
        (false, true) => "-".to_owned(),
        (false, false) => ranges.join(", "),
    }
}

fn in_database(url: &str) -> Result<Value, CallFault> {
    let place = StorePlace::Database(url.to_owned());
    if !place.is_there().map_err(CallFault::Store)? {
        return Err(CallFault::NoStore(place));
    }
    let shared = database::share(url, Expected::Existing);
    let membership = shared.and_then(|shared| shared.leases.membership());
    let nodes = shown(&membership.map_err(CallFault::Store)?);
    serde_json::to_value(&nodes).map_err(|fault| CallFault::Odd(fault.to_string()))
}

fn of_server(to: &TargetArguments) -> Result<Value, CallFault> {
    let mut reach = to.find(Purpose::Look)?;
    let answer = reach.ask(&Request::get("/v1/nodes".to_owned()))?;
    let nodes = answer.success()?.json();
    reach.close()?;
    nodes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_answers_who_holds_the_store_and_who_is_behind() {
        let node = |name: &str, state: &str, parts: Option<&[u16]>, lag_ms: u64| {
            json!({
                "node": name, "address": format!("http://{name}:8990"), "parts": parts, "state": state,
                "intake": name == "a",
                "since": "2024-01-01T00:00:00Z", "lag_ms": lag_ms, "silent_ms": 310, "config": format!("{lag_ms:016x}"), "epoch": null,
            })
        };
        let nodes = [node("a", "holding", None, 65_000), node("b", "standby", Some(&[]), 0)];
        let mut out = Vec::new();
        table(&nodes).write(&mut out).unwrap();
        let expected = "\
NODE  STATE    PARTS  SINCE                 BEHIND     SILENT  CONFIG    ADDRESS
a     holding  all    2024-01-01T00:00:00Z  1 min 5 s  0 s     00000000  http://a:8990
b     standby  -      2024-01-01T00:00:00Z  0 s        0 s     00000000  http://b:8990
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert_eq!(of_other_config(&nodes), ["b"]);

        let parts = |name, of: &[u16]| parts(&node(name, "holding", Some(of), 0));
        assert_eq!(parts("a", &[0, 1, 2]), "intake and 0-2");
        assert_eq!(parts("a", &[]), "intake");
        assert_eq!(parts("b", &[3, 4, 5]), "3-5");
        assert_eq!(parts("b", &[0, 1, 3, 5, 6]), "0-1, 3, 5-6");
    }
}
