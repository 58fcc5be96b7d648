//! The inbox of a recipient as a table.

use std::io::{self, Write};

use clap::value_parser;
use serde_json::Value;

use crate::cli::calls::Call;
use crate::cli::print::table::{Table, cell, list};
use crate::cli::reach::To;
use crate::client::{Request, parameters, segment};

/// `tidings inbox`.
#[derive(clap::Args)]
pub(in crate::cli) struct Inbox {
    /// Recipient id
    recipient: String,
    /// Number of groups
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u32).range(1..))]
    limit: u32,
    /// Cursor of the next page, as the page before printed it
    #[arg(long, value_name = "NEXT")]
    cursor: Option<String>,
    #[command(flatten)]
    to: To,
}

impl Call for Inbox {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        let (recipient, limit) = (segment(&self.recipient), self.limit);
        let cursor = parameters([("cursor", self.cursor.as_deref())]);
        Request::get(format!("/v1/recipients/{recipient}/inbox?limit={limit}{cursor}"))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} unseen, {} unread", cell(answer, "unseen"), cell(answer, "unread"))?;
        let mut table = Table::new(&["NEWEST", "TYPE", "COUNT", "", "ACTORS", "OBJECTS"]);
        for group in list(answer, "groups") {
            let flag = |name| group.get(name) == Some(&Value::Bool(true));
            let state = match (flag("seen"), flag("read")) {
                (_, true) => "read",
                (true, false) => "seen",
                (false, false) => "new",
            };
            let items = list(group, "items");
            table.row([
                cell(group, "newest_at"),
                cell(group, "type"),
                cell(group, "count"),
                state.to_owned(),
                few(&names(items, "actor")),
                few(&names(items, "object")),
            ]);
        }
        table.write(out)?;
        match cell(answer, "next") {
            next if next.is_empty() => Ok(()),
            next => writeln!(out, "next page: --cursor {next}"),
        }
    }
}

/// The distinct names of items in a role: the title, else the id.
fn names(items: &[Value], role: &str) -> Vec<String> {
    let mut ids = Vec::new();
    let mut names = Vec::new();
    for item in items {
        let [id, title] = ["id", "title"].map(|field| cell(item, &format!("{role}.{field}")));
        if !id.is_empty() && !ids.contains(&id) {
            names.push(if title.is_empty() { id.clone() } else { title });
            ids.push(id);
        }
    }
    names
}

/// The first ones, and the number of others.
fn few(names: &[String]) -> String {
    const SHOWN_MAX: usize = 3;
    let shown = names[..names.len().min(SHOWN_MAX)].join(", ");
    match names.len().checked_sub(SHOWN_MAX) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}
