//! An answer of the API, and how parts of it are written.

use std::io::{self, Write};

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::given::GivenArguments;
use crate::cli::print::table::{TextTable, cell, cut, padded, shown};

/// An answer, with what was asked.
pub(super) struct ShownAnswer<'a> {
    pub(super) value: &'a Value,
    pub(super) given: &'a GivenArguments,
    /// False if the command itself opened the store.
    pub(super) has_server: bool,
}

/// A text with arguments, or else fields of the answer, in place of the names in braces.
pub(super) fn text(template: &str, answer: &ShownAnswer<'_>) -> String {
    let given = |name: &str| answer.given.text(name).map(str::to_owned);
    filled(template, |name| Some(given(name).unwrap_or_else(|| cell(answer.value, name))))
        .unwrap_or_default()
}

/// A text with values in place of the names in braces; `None` if one has no value.
pub(super) fn filled(template: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once('}')?;
        text.push_str(&value(name)?);
        text.push_str(rest);
    }
    Some(text)
}

/// Writes an object, one field per line; nested fields under their path.
pub(super) fn write_fields(answer: &Value, but: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Vec::new();
    gather("", answer, but, &mut rows);
    let width = rows.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, value) in rows {
        writeln!(out, "{}  {value}", padded(&name, width))?;
    }
    Ok(())
}

fn gather(path: &str, value: &Value, but: &[&str], rows: &mut Vec<(String, String)>) {
    for (name, value) in
        value.as_object().into_iter().flatten().filter(|(name, _)| !but.contains(&name.as_str()))
    {
        let name = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        match value {
            Value::Object(_) => gather(&name, value, but, rows),
            Value::Null => {}
            value => rows.push((cut(&name), shown(value))),
        }
    }
}

/// A table of rows, with a title for each cell.
pub(super) fn table(
    columns: &[(&str, &str)],
    rows: &[Value],
    cell: impl Fn(&Value, &str) -> String,
) -> TextTable {
    let titles: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
    let mut table = TextTable::new(&titles);
    for row in rows {
        table.row(columns.iter().map(|(_, path)| cell(row, path)));
    }
    table
}
