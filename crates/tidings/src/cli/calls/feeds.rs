//! The databases out of which events are read, as a table.

use std::io::{self, Write};

use serde_json::Value;

use super::answer::{ShownAnswer, table};
use crate::cli::print::table::cell;
use crate::cli::status::span;

/// Writes the answer of `feeds`: the table, and each fault whole below it.
pub(super) fn write_feeds(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let feeds = answer.value.as_array().map_or(&[][..], Vec::as_slice);
    if feeds.is_empty() {
        return writeln!(out, "No feeds: the configuration has no `[feeds.NAME]`");
    }
    let columns = [
        ("FEED", "name"),
        ("STATE", "state"),
        ("NEWEST", "newest"),
        ("LAG", "lag_ms"),
        ("TAKEN", "taken"),
        ("PARKED", "parked"),
    ];
    let of_feed = |feed: &Value, path: &str| match path {
        "lag_ms" => {
            feed[path].as_u64().map_or_else(|| "?".to_owned(), |lag_ms| span(lag_ms / 1_000))
        }
        path => cell(feed, path),
    };
    table(&columns, feeds, of_feed).write(out)?;
    for feed in feeds {
        let fault = cell(feed, "fault");
        if !fault.is_empty() {
            writeln!(out, "\n{} is {}: {fault}", cell(feed, "name"), cell(feed, "state"))?;
        }
    }
    Ok(())
}
