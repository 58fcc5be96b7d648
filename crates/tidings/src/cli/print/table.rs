//! Tables for people: aligned columns, none wider than a terminal can show.

use std::io::{self, Write};

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

/// Columns of a terminal that a cell takes at most.
const CELL_WIDTH_MAX: usize = 60;

/// Characters of a cell at most, where many take no columns.
const CELL_CHARS_MAX: usize = 4 * CELL_WIDTH_MAX;

/// Rows under titles; every column is as wide as its widest cell, and a cell is cut at
/// [`CELL_WIDTH_MAX`].
#[derive(Debug, Default)]
pub(in crate::cli) struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these titles.
    pub(in crate::cli) fn new(titles: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(titles.iter().map(|title| (*title).to_owned()));
        table
    }

    /// Adds a row.
    pub(in crate::cli) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| cut(&cell)).collect());
    }

    /// Adds a row whose cells are shown whole.
    pub(in crate::cli) fn whole_row(&mut self, cells: impl IntoIterator<Item = String>) {
        let plain = |cell: String| cell.chars().filter(|char| !steers(*char)).collect();
        self.rows.push(cells.into_iter().map(plain).collect());
    }

    /// Writes all rows; nothing where there is none but the titles.
    pub(in crate::cli) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.rows.len() {
            0 | 1 => Ok(()),
            _ => self.write_all(out),
        }
    }

    /// Writes a page of a list, and the command for the next one; `nothing` is the text of an empty list.
    pub(in crate::cli) fn write_page(
        &self,
        answer: &Value,
        nothing: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.write(out)?;
        match cell(answer, "next") {
            next if !next.is_empty() => writeln!(out, "next page: --cursor {next}"),
            _ if self.rows.len() <= 1 => writeln!(out, "{nothing}"),
            _ => Ok(()),
        }
    }

    /// Writes all rows of a table that has no titles.
    pub(in crate::cli) fn write_all(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.width())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let line: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| padded(cell, *width)).collect();
            writeln!(out, "{}", line.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// A text padded with spaces to a number of columns.
pub(in crate::cli) fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

/// A text without what steers a terminal, and no wider than a cell may be.
pub(in crate::cli) fn cut(text: &str) -> String {
    let mut shown: String =
        text.chars().filter(|char| !steers(*char)).take(CELL_CHARS_MAX + 1).collect();
    if shown.width() <= CELL_WIDTH_MAX && shown.chars().count() <= CELL_CHARS_MAX {
        return shown;
    }
    // Room for the mark that something is missing.
    while shown.width() >= CELL_WIDTH_MAX || shown.chars().count() > CELL_CHARS_MAX {
        shown.pop();
    }
    shown.push('…');
    shown
}

/// Returns true if a character steers a terminal: control characters, and those that turn the direction round.
fn steers(char: char) -> bool {
    char.is_control() || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The value at a path of an answer, such as `object.title`, as text for people; empty if there is none.
/// Control characters of foreign text are left out: they could steer a terminal.
pub(in crate::cli) fn cell(value: &Value, path: &str) -> String {
    let mut at = value;
    for key in path.split('.') {
        match at.get(key) {
            Some(found) => at = found,
            None => return String::new(),
        }
    }
    shown(at)
}

/// A value as text for people.
pub(in crate::cli) fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| format!("{key} {}", shown(value)))
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    };
    text.chars().filter(|char| !steers(*char)).collect()
}

/// The list at a path of an answer; empty if there is none.
pub(in crate::cli) fn list<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    let found = path.split('.').try_fold(value, |at, key| at.get(key));
    found.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let mut table = TextTable::new(&["WHO", "WHAT"]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        assert!(out.is_empty());
        table.row(["Åse".to_owned(), "x".to_owned()]);
        table.row(["a longer one".to_owned(), String::new()]);
        table.write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "WHO           WHAT\nÅse           x\na longer one\n");
    }

    fn written(cells: [&str; 2]) -> String {
        let mut table = TextTable::new(&["A", "B"]);
        table.row(cells.map(str::to_owned));
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_cell_is_wider_than_a_terminal() {
        for length in [61, 65_535, 65_536, 500_000] {
            let text = written([&"x".repeat(length), "y"]);
            let row = text.lines().last().unwrap();
            assert_eq!(row, format!("{}…  y", "x".repeat(59)));
        }
        let fits = "x".repeat(60);
        assert_eq!(written([&fits, "y"]).lines().last().unwrap(), format!("{fits}  y"));
        // Two columns each: the last that fits leaves one column for the mark.
        let text = written([&"水".repeat(70_000), "y"]);
        assert_eq!(text.lines().last().unwrap(), format!("{}…  y", "水".repeat(29)));
        assert_eq!(written(["水", "y"]), "A   B\n水  y\n");
        assert_eq!(written(["e\u{301}", "y"]), "A  B\ne\u{301}  y\n");
        assert_eq!(written(["👨‍👩‍👧", "y"]), "A   B\n👨‍👩‍👧  y\n");
        assert_eq!(written(["⌚", "y"]), "A   B\n⌚  y\n");
        let joining = "e".to_owned() + &"\u{301}".repeat(70_000);
        assert!(written([&joining, "y"]).len() < 1_000);
        let steering = "\u{202e}\u{1b}[2J\n".repeat(70_000);
        assert_eq!(written([&steering, "y"]).lines().count(), 2);
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
