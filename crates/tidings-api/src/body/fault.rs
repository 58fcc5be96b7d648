//! Faults of a body or a line: one reason, and how to fix it.

use std::fmt;

/// Separates a reason from its hint where a fault is shown.
pub(super) const HELP: &str = "\n  = help: ";

/// The reason why a body is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// The line of the timeline, counted from 1; `None` for a body that stands alone.
    pub line: Option<u64>,
    /// The byte of the line, counted from 1, where the JSON itself is broken.
    pub column: Option<usize>,
    /// The fault, in words.
    pub reason: String,
    /// A way to fix it.
    pub hint: String,
    /// The subject.
    pub about: About,
    /// The JSON pointer (RFC 6901) of the fault, if that is within an event's `data`.
    pub pointer: Option<String>,
}

/// The subject of a fault, so that clients can react to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The body itself.
    Body,
    /// A type that the configuration does not have, or not yet.
    UnknownType,
    /// An unknown channel.
    UnknownChannel,
    /// An impossible preference.
    Preference,
    /// The `data` of an event, which does not fit the schema of its type.
    Data,
}

impl Fault {
    /// A fault without a place.
    #[must_use]
    pub fn new(reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            line: None,
            column: None,
            reason: reason.into(),
            hint: hint.into(),
            about: About::Body,
            pointer: None,
        }
    }

    /// The same fault with another subject than the body itself.
    #[must_use]
    pub fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    /// The same fault at a column.
    #[must_use]
    pub fn at_column(self, column: usize) -> Self {
        Self { column: Some(column), ..self }
    }

    /// The same fault on a line.
    #[must_use]
    pub fn on_line(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            (None, Some(column)) => write!(f, "column {column}: ")?,
            (None, None) => {}
        }
        write!(f, "{}{HELP}{}", self.reason, self.hint)
    }
}
