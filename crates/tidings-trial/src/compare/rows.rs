//! The rows of figures for people, on a terminal and on a page: one for each figure, with a cell for each
//! configuration.

use tidings_config::duration::rounded;

use super::Distribution;
use super::figures::{ConfigFigures, reasons};

/// A row: its label, and the value of each configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonRow {
    /// The title. One that begins with blanks belongs to the row before.
    pub title: String,
    /// A cell for each configuration.
    pub cells: Vec<String>,
}

/// The rows of figures.
#[must_use]
pub fn rows(figures: &[ConfigFigures]) -> Vec<ComparisonRow> {
    let mut rows = Vec::new();
    let mut row = |title: &str, cell: &dyn Fn(&ConfigFigures) -> String| {
        rows.push(ComparisonRow {
            title: title.to_owned(),
            cells: figures.iter().map(cell).collect(),
        });
    };
    let as_count: NumberFormat = |count| count.to_string();
    row("messages", &|of| of.messages.to_string());
    row("recipients with a message", &|of| of.recipients.to_string());
    row("messages a recipient and day: mean", &|of| mean(&of.messages_per_day));
    for (name, point) in POINTS {
        row(name, &|of| said(point(&of.messages_per_day), as_count));
    }
    row("delay from event to message: p50", &|of| said(of.delay_ms.percentile(50), rounded));
    for (name, point) in &POINTS[1..] {
        row(name, &|of| said(point(&of.delay_ms), rounded));
    }
    row("items a message: mean", &|of| mean(&of.items_per_message));
    for (name, point) in POINTS {
        row(name, &|of| said(point(&of.items_per_message), as_count));
    }
    for reason in reasons(figures) {
        row(&format!("left out: {}", reason.word()), &|of| {
            of.left_out.of_reason(reason).to_string()
        });
    }
    if figures.iter().any(|of| of.left_out.suppressed > 0) {
        row("left out: admission", &|of| of.left_out.suppressed.to_string());
    }
    if figures.iter().any(|of| of.left_out.pending > 0) {
        row("still waiting", &|of| of.left_out.pending.to_string());
    }
    rows
}

/// The text of a number.
type NumberFormat = fn(i64) -> String;

/// A point of a distribution, with the title of its row.
type DistributionPoint = (&'static str, fn(&Distribution) -> Option<i64>);

const POINTS: [DistributionPoint; 3] = [
    ("  p50", |of| of.percentile(50)),
    ("  p95", |of| of.percentile(95)),
    ("  max", Distribution::max),
];

/// A mean with two digits.
#[must_use]
pub fn mean(of: &Distribution) -> String {
    of.mean().map_or_else(|| "-".to_owned(), |mean| format!("{mean:.2}"))
}

/// A value, or a dash where there is none.
#[must_use]
pub fn said(value: Option<i64>, text: NumberFormat) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}
