//! `tidings feeds`: the databases out of which events are read.

use std::io::{self, Write};

use serde_json::Value;

use super::{Call, Request, Table, To, cell};
use crate::cli::status::span;

/// Arguments of `feeds`.
#[derive(clap::Args)]
pub(in crate::cli) struct Feeds {
    #[command(flatten)]
    to: To,
}

impl Call for Feeds {
    to!();

    fn request(&self) -> Request {
        Request::get("/v1/feeds".to_owned())
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let feeds = answer.as_array().map_or(&[][..], Vec::as_slice);
        if feeds.is_empty() {
            return writeln!(out, "No feeds: the configuration has no `[feeds.NAME]`");
        }
        write_feeds(feeds, out)
    }
}

/// Writes the table, and each fault whole below it.
fn write_feeds(feeds: &[Value], out: &mut dyn Write) -> io::Result<()> {
    table(feeds).write(out)?;
    for feed in feeds {
        let fault = cell(feed, "fault");
        if !fault.is_empty() {
            writeln!(out, "\n{} is {}: {fault}", cell(feed, "name"), cell(feed, "state"))?;
        }
    }
    Ok(())
}

fn table(feeds: &[Value]) -> Table {
    let mut table = Table::new(&["FEED", "STATE", "NEWEST", "LAG", "TAKEN", "PARKED"]);
    for feed in feeds {
        let lag_ms = feed.get("lag_ms").and_then(Value::as_u64);
        let text = |key| cell(feed, key);
        table.row([
            text("name"),
            text("state"),
            text("newest"),
            lag_ms.map_or_else(|| "?".to_owned(), |lag_ms| span(lag_ms / 1_000)),
            text("taken"),
            text("parked"),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn f15_a_fault_is_shown_whole_below_the_table() {
        let fault = "PostgreSQL: permission denied for table tidings_outbox (SQLSTATE 42501); grant SELECT, UPDATE \
                     and DELETE on the table to the user of the feed's `url`";
        let feeds = json!([
            {"name": "app", "state": "failing", "newest": null, "lag_ms": null, "taken": 0, "parked": 0, "fault": fault},
            {"name": "shop", "state": "running", "newest": "7", "lag_ms": 3000, "taken": 7, "parked": 0},
        ]);
        let mut out = Vec::new();
        write_feeds(feeds.as_array().unwrap(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let lines: Vec<Vec<&str>> =
            out.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["app", "failing", "?", "0", "0"], "{out}");
        assert!(lines[2].contains(&"running") && lines[2].contains(&"3"), "{out}");
        assert!(out.ends_with(&format!("\napp is failing: {fault}\n")), "{out}");
    }
}
