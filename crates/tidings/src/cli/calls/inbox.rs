//! The inbox of a recipient as a table.

use std::io::{self, Write};

use serde_json::Value;

use super::answer::ShownAnswer;
use crate::cli::print::table::{TextTable, cell, list};

/// Writes the answer of `inbox`.
pub(super) fn write_inbox(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let answer = answer.value;
    writeln!(out, "{} unseen, {} unread", cell(answer, "unseen"), cell(answer, "unread"))?;
    let mut table = TextTable::new(&["NEWEST", "TYPE", "COUNT", "", "ACTORS", "OBJECTS"]);
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
