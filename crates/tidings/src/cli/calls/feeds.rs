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
        table(feeds).write(out)
    }
}

fn table(feeds: &[Value]) -> Table {
    let mut table = Table::new(&["FEED", "STATE", "NEWEST", "LAG", "TAKEN", "PARKED", "FAULT"]);
    for feed in feeds {
        let lag_ms = feed.get("lag_ms").and_then(Value::as_u64).unwrap_or_default();
        let text = |key| cell(feed, key);
        table.row([
            text("name"),
            text("state"),
            text("newest"),
            span(lag_ms / 1_000),
            text("taken"),
            text("parked"),
            text("fault"),
        ]);
    }
    table
}
