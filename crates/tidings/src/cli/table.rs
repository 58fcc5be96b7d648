//! Answers for people: rows whose columns stand below each other.

use std::io::{self, Write};

use serde_json::Value;

/// Rows under titles; every column is as wide as its widest cell.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these titles.
    pub(super) fn new(titles: &[&str]) -> Self {
        let titles = titles.iter().map(|title| (*title).to_owned()).collect();
        Self { rows: vec![titles] }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes all rows; nothing where there is none but the titles.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.len() < 2 {
            return Ok(());
        }
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths);
            let line: Vec<String> = cells
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            writeln!(out, "{}", line.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// What stands at a path of an answer, such as `object.title`, as people read it; empty where there
/// is nothing. Control characters of foreign text are left out: they could steer a terminal.
pub(super) fn cell(value: &Value, path: &str) -> String {
    let mut at = value;
    for key in path.split('.') {
        match at.get(key) {
            Some(found) => at = found,
            None => return String::new(),
        }
    }
    shown(at)
}

/// A value as people read it.
pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("{key} {}", shown(value)));
            fields.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    text.chars().filter(|char| !char.is_control()).collect()
}

/// The list at a path of an answer; empty where there is none.
pub(super) fn list<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    let found = path.split('.').try_fold(value, |at, key| at.get(key));
    found.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let mut table = Table::new(&["WHO", "WHAT"]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        assert!(out.is_empty());
        table.row(["Åse".to_owned(), "x".to_owned()]);
        table.row(["a longer one".to_owned(), String::new()]);
        table.write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "WHO           WHAT\nÅse           x\na longer one\n");
    }

    #[test]
    fn foreign_text_steers_no_terminal() {
        let value = json!({"object": {"title": "a\u{1b}[2Jb"}, "list": ["x", 1, null]});
        assert_eq!(cell(&value, "object.title"), "a[2Jb");
        assert_eq!(cell(&value, "object.url"), "");
        assert_eq!(cell(&value, "list"), "x, 1, ");
        assert_eq!(list(&value, "list").len(), 3);
        assert!(list(&value, "object.title").is_empty());
    }
}
