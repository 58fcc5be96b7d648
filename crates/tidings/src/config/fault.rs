//! Faults of a configuration: all at once, each with its place and how to fix it.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// The reason why a configuration is refused. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Faults {
    /// The file's name as the user wrote it.
    pub file: String,
    /// The faults in the order of the file.
    pub list: Vec<Fault>,
}

/// One fault of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place; `None` = the file as a whole (it cannot be read).
    pub place: Option<Place>,
    /// The fault in words.
    pub reason: String,
    /// Advice on how to fix it.
    pub hint: String,
}

/// A stretch of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// Number of characters of the line that are meant, at least 1.
    pub chars: usize,
    /// The line itself, for display.
    pub source: String,
}

impl Place {
    /// The place of a stretch of bytes; where it goes over several lines, its part on the first.
    pub(super) fn of(text: &str, span: &Range<usize>) -> Self {
        let start = floor(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = floor(text, span.end).clamp(start, line_end);
        Self {
            line: text[..line_start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            chars: text[start..end].trim_end().chars().count().max(1),
            source: text[line_start..line_end].trim_end().to_owned(),
        }
    }
}

/// The last character boundary at or before a byte.
fn floor(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One fault as `--json` prints it.
#[derive(Serialize)]
struct Row<'f> {
    file: &'f str,
    line: Option<usize>,
    column: Option<usize>,
    reason: &'f str,
    hint: &'f str,
}

impl Faults {
    /// The faults as a JSON value: a list of `{file, line, column, reason, hint}`; line and column
    /// are null where the file cannot be read.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let rows: Vec<serde_json::Value> = self
            .list
            .iter()
            .map(|fault| {
                let row = Row {
                    file: &self.file,
                    line: fault.place.as_ref().map(|place| place.line),
                    column: fault.place.as_ref().map(|place| place.column),
                    reason: &fault.reason,
                    hint: &fault.hint,
                };
                serde_json::to_value(row).expect("text and numbers are always JSON")
            })
            .collect();
        rows.into()
    }
}

impl fmt::Display for Faults {
    /// Formats faults as compilers do: the reason, the place, the line with a mark under it, the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.list {
            writeln!(f, "error: {}", fault.reason)?;
            match &fault.place {
                Some(place) => show(f, &self.file, place)?,
                None => writeln!(f, " --> {}", self.file)?,
            }
            writeln!(f, "  = help: {}\n", fault.hint)?;
        }
        match self.list.len() {
            1 => writeln!(f, "{}: 1 fault", self.file),
            count => writeln!(f, "{}: {count} faults", self.file),
        }
    }
}

fn show(f: &mut fmt::Formatter<'_>, file: &str, place: &Place) -> fmt::Result {
    const SHOWN_CHARS_MAX: usize = 160;
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    writeln!(f, "{gutter}--> {file}:{}:{}", place.line, place.column)?;
    // A line with a password in it is not repeated: what is printed here may end up in a log.
    if place.column > SHOWN_CHARS_MAX || has_secret(&place.source) || sets_secret(&place.source) {
        return Ok(());
    }
    // Tabs and control characters would move the mark away from what it marks.
    let source: String = place
        .source
        .chars()
        .take(SHOWN_CHARS_MAX)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let mark = "^".repeat(place.chars.min(SHOWN_CHARS_MAX + 1 - place.column));
    writeln!(f, "{gutter} |")?;
    writeln!(f, "{number} | {source}")?;
    writeln!(f, "{gutter} | {}{mark}", " ".repeat(place.column - 1))
}

/// Tells whether a line sets the key `secret` to anything but a name.
fn sets_secret(line: &str) -> bool {
    let value = line.trim_start().strip_prefix("secret");
    value.is_some_and(|value| !value.contains("${"))
}

/// Tells whether a provider holds a password that is not taken from the environment.
pub(super) fn has_secret(line: &str) -> bool {
    let mut addresses = line.split("://").collect::<Vec<_>>();
    if let [alone] = addresses[..] {
        addresses = vec!["", alone];
    }
    addresses.windows(2).any(|pair| {
        let scheme = pair[0].rsplit(['"', '\'', ' ']).next().unwrap_or_default();
        let rest = pair[1]
            .split(['"', '\'', '?', ' '])
            .next()
            .unwrap_or_default();
        let (login, has_place) = match rest.rsplit_once('@') {
            Some((login, _)) => (login, true),
            None => (rest, false),
        };
        let is_open = |part: &str| !part.is_empty() && !part.contains("${");
        match (scheme, login.split_once(':')) {
            ("file" | "http" | "https" | "smtp" | "smtps" | "", None) => false,
            ("file" | "http" | "https" | "smtp" | "smtps" | "", Some((_, password))) => {
                has_place && is_open(password)
            }
            // What stands in the place of a user or of a host is a key.
            (_, None) => is_open(login),
            (_, Some((_, secret))) => is_open(secret),
        }
    })
}
