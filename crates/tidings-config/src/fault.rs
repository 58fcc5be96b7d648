//! Faults of a configuration: all at once, each with its place and how to fix it.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
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
    pub place: Option<SourceSpan>,
    /// The fault in words.
    pub reason: String,
    /// Advice on how to fix it.
    pub hint: String,
}

/// A stretch of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpan {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// Number of characters of the line that are meant, at least 1.
    pub chars: usize,
    /// The line itself, for display.
    pub source: String,
    /// The file, if it is not the configuration.
    pub file: Option<String>,
}

impl SourceSpan {
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
            file: None,
        }
    }

    /// The same place in another file than the configuration.
    pub(super) fn in_file(self, path: &Path) -> Self {
        Self { file: Some(path.display().to_string()), ..self }
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
struct FaultRow<'f> {
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
                let row = FaultRow {
                    file: fault.file(&self.file),
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
            let drawn = Renderer::plain().render(&[fault.report(fault.file(&self.file))]);
            writeln!(f, "{drawn}\n")?;
        }
        match self.list.len() {
            1 => writeln!(f, "{}: 1 fault", self.file),
            count => writeln!(f, "{}: {count} faults", self.file),
        }
    }
}

impl Fault {
    /// Name of the file.
    #[must_use]
    pub fn file<'f>(&'f self, config: &'f str) -> &'f str {
        self.place.as_ref().and_then(|place| place.file.as_deref()).unwrap_or(config)
    }

    fn report<'f>(&'f self, file: &'f str) -> Group<'f> {
        let group = Level::ERROR.primary_title(&self.reason);
        let group = match &self.place {
            None => group.element(Origin::path(file)),
            Some(place) if place.is_secret() => {
                let origin = Origin::path(file).line(place.line);
                group.element(origin.char_column(place.column))
            }
            Some(place) => {
                let mark = AnnotationKind::Primary.span(place.span());
                let line = Snippet::source(&place.source).line_start(place.line);
                group.element(line.path(file).annotation(mark))
            }
        };
        group.element(Level::HELP.message(&self.hint))
    }
}

impl SourceSpan {
    /// Returns true if the line has a password in it: what is printed may end up in a log.
    fn is_secret(&self) -> bool {
        has_secret(&self.source) || sets_secret(&self.source)
    }

    /// The bytes of the line that are meant.
    fn span(&self) -> Range<usize> {
        let byte = |char: usize| {
            let found = self.source.char_indices().nth(char);
            found.map_or(self.source.len(), |(at, _)| at)
        };
        byte(self.column - 1)..byte(self.column - 1 + self.chars)
    }
}

/// Returns true if a line sets the key `secret` to anything but a name.
fn sets_secret(line: &str) -> bool {
    let value = line.trim_start().strip_prefix("secret");
    value.is_some_and(|value| !value.contains("${"))
}

/// Returns true if a provider holds a password that is not taken from the environment.
pub(super) fn has_secret(line: &str) -> bool {
    let mut addresses = line.split("://").collect::<Vec<_>>();
    if let [alone] = addresses[..] {
        addresses = vec!["", alone];
    }
    addresses.windows(2).any(|pair| {
        let scheme = pair[0].rsplit(['"', '\'', ' ']).next().unwrap_or_default();
        let rest = pair[1].split(['"', '\'', '?', ' ']).next().unwrap_or_default();
        let (login, has_place) = match rest.rsplit_once('@') {
            Some((login, _)) => (login, true),
            None => (rest, false),
        };
        let is_open = |part: &str| !part.is_empty() && !part.contains("${");
        match (scheme, login.split_once(':')) {
            (
                "file" | "http" | "https" | "smtp" | "smtps" | "postgres" | "postgresql" | "",
                None,
            ) => false,
            ("file" | "http" | "https" | "smtp" | "smtps" | "", Some((_, password))) => {
                has_place && is_open(password)
            }
            // What stands in the place of a user or of a host is a key.
            (_, None) => is_open(login),
            (_, Some((_, secret))) => is_open(secret),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The drawing of a fault at the first `HERE` of a text.
    fn drawn(text: &str, here: &str) -> String {
        let start = text.find(here).unwrap();
        let faults = Faults {
            file: "a.toml".to_owned(),
            list: vec![Fault {
                place: Some(SourceSpan::of(text, &(start..start + here.len()))),
                reason: "wrong".to_owned(),
                hint: "mend it".to_owned(),
            }],
        };
        faults.to_string()
    }

    #[test]
    fn f37_marks_stand_under_wide_letters() {
        let text = drawn("a = 1\n\"美術館\" = \"展示\"\n", "\"展示\"");
        let lines: Vec<&str> = text.lines().collect();
        // Columns are counted in characters, and each of these is two columns of a screen wide.
        assert!(lines[1].ends_with("--> a.toml:2:9"), "{text}");
        assert_eq!(lines[3], "2 | \"美術館\" = \"展示\"");
        assert_eq!(lines[4], format!("  | {}{}", " ".repeat(11), "^".repeat(6)));
    }

    #[test]
    fn f37_no_line_is_shown_with_a_secret_and_a_long_one_in_part() {
        for line in ["provider = \"smtp://u:hunter2@h\"", "secret = \"hunter2\""] {
            let text = drawn(line, "hunter2");
            assert!(text.contains("--> a.toml:1:"), "{text}");
            assert!(!text.contains("hunter2"), "{text}");
        }
        let long = format!("a = \"{}HERE{}\"", "x".repeat(5_000), "y".repeat(5_000));
        let text = drawn(&long, "HERE");
        assert!(text.contains("HERE") && text.len() < 1_000, "{text}");
        let text = drawn("a\u{1b}[31m = HERE", "HERE");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        // The end of a line, and of the file.
        assert!(drawn("a = ", " ").contains('^'));
    }
}
