//! Printing of messages and books: JSON as in the contract, or a table for people.

pub(super) mod figures;
pub(super) mod table;

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::ser::{Serialize, Serializer};
use serde_json::json;
use tidings_api::figures::FiguresRow;
use tidings_core::content::{Item, Message, SkippedEntry, Totals};
use tidings_core::engine::{FiguresQuery, FiguresReport, Warning};
use tidings_core::{Day, Id};

use tidings_api::warning::{WarningSummary, WarningText};
use tidings_config::wording::quoted;
use tidings_trial::simulate::PlaySink;

/// The form of printed messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputForm {
    /// One compact JSON object per line (contract, section 3).
    Json,
    /// A table for people.
    Table,
}

/// Prints messages as they come; keeps the first fault of the stream and prints no more after it.
pub(super) struct Printer<'p> {
    out: &'p mut dyn Write,
    err: &'p mut dyn Write,
    form: OutputForm,
    channel: Option<&'p str>,
    warnings: WarningSummary,
    printed: u64,
    fault: Option<io::Error>,
}

impl<'p> Printer<'p> {
    /// Prints messages to `out`, only those of `channel` where one is given, and warnings to `err`.
    pub(super) fn new(
        out: &'p mut dyn Write,
        err: &'p mut dyn Write,
        form: OutputForm,
        channel: Option<&'p str>,
    ) -> Self {
        Self {
            out,
            err,
            form,
            channel,
            warnings: WarningSummary::default(),
            printed: 0,
            fault: None,
        }
    }

    /// Prints the books, if there are any, and flushes.
    ///
    /// # Errors
    /// The first fault of the stream.
    pub(super) fn finish(mut self, books: Option<&Totals>) -> io::Result<()> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        write_rest(&self.warnings, self.err)?;
        match (books, self.form) {
            (None, _) => {}
            (Some(books), OutputForm::Json) => {
                serde_json::to_writer(&mut *self.out, &PrintedSummary { summary: books })?;
                self.out.write_all(b"\n")?;
            }
            (Some(books), OutputForm::Table) => {
                if self.printed > 0 {
                    self.out.write_all(b"\n")?;
                }
                write_books(books, self.out)?;
            }
        }
        self.out.flush()
    }

    /// Prints figures by day, type and channel.
    ///
    /// # Errors
    /// The first fault of the stream.
    pub(super) fn figures(&mut self, report: FiguresReport) -> io::Result<()> {
        let query = FiguresQuery::of_days(Day::default()..Day::default());
        let rows = serde_json::to_value(FiguresRow::all(&query.by, report.rows))?;
        match self.form {
            OutputForm::Json => writeln!(self.out, "{}", json!({ "figures": rows })),
            OutputForm::Table => {
                if self.printed > 0 {
                    self.out.write_all(b"\n")?;
                }
                self.printed += 1;
                let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
                figures::write(&query.by, &query.measures, rows, self.out)
            }
        }
    }

    fn print(&mut self, message: &Message) -> io::Result<()> {
        match self.form {
            OutputForm::Json => {
                serde_json::to_writer(&mut *self.out, &MessageRow::new(message))?;
                self.out.write_all(b"\n")
            }
            OutputForm::Table => {
                if self.printed == 0 {
                    let titles = ["AT", "RECIPIENT", "CHANNEL", "LANE", "ITEMS"].map(str::to_owned);
                    write_row(&titles, self.out)?;
                }
                let columns = [
                    message.at.to_string(),
                    message.recipient.to_string(),
                    message.channel.clone(),
                    lane_cell(message),
                    items(message),
                ];
                write_row(&columns, self.out)
            }
        }
    }
}

impl PlaySink for Printer<'_> {
    fn message(&mut self, message: &Message) {
        if self.fault.is_some() || self.channel.is_some_and(|channel| channel != message.channel) {
            return;
        }
        match self.print(message) {
            Ok(()) => self.printed += 1,
            Err(fault) => self.fault = Some(fault),
        }
    }

    fn warning(&mut self, line: u64, event: &Id, warning: &Warning) {
        let worded = WarningText::from(warning);
        if self.fault.is_some() || !self.warnings.add(worded.code) {
            return;
        }
        let place = format!("line {line}: event {}", quoted(event.as_str()));
        let WarningText { code, detail, hint } = worded;
        self.fault = write_warning(&place, code, &detail, hint, self.err).err();
    }

    fn closed(&self) -> bool {
        self.fault.is_some()
    }
}

/// Writes a warning: its subject, its code, what is wrong and what to do.
pub(super) fn write_warning(
    place: &str,
    code: &str,
    detail: &str,
    hint: &str,
    err: &mut dyn Write,
) -> io::Result<()> {
    writeln!(err, "warning: {place}: {detail} ({code})\n  = help: {hint}")
}

/// Writes the number of warnings that were not shown.
pub(super) fn write_rest(warnings: &WarningSummary, err: &mut dyn Write) -> io::Result<()> {
    warnings.rest().try_for_each(|line| writeln!(err, "warning: {line}"))
}

/// Wide enough for most of what stands in the columns; what is longer pushes the rest of its row.
const WIDTHS: [usize; 4] = [20, 20, 7, 16];

fn write_row(columns: &[String; 5], out: &mut dyn Write) -> io::Result<()> {
    for (column, width) in columns.iter().zip(WIDTHS) {
        write!(out, "{column:width$}  ")?;
    }
    writeln!(out, "{}", columns[4])
}

fn items(message: &Message) -> String {
    const SHOWN_MAX: usize = 3;
    let shown: Vec<String> = message
        .items
        .iter()
        .take(SHOWN_MAX)
        .map(|item| format!("{} {}", item.event_type, item.object))
        .collect();
    let mut text = format!("{}: {}", message.items.len(), shown.join(", "));
    if message.items.len() > SHOWN_MAX {
        text.push_str(&format!(" and {} more", message.items.len() - SHOWN_MAX));
    }
    if !message.skipped.is_empty() {
        text.push_str(&format!(" ({} left out)", message.skipped.len()));
    }
    text
}

fn write_books(books: &Totals, out: &mut dyn Write) -> io::Result<()> {
    let rows = match serde_json::to_value(books)? {
        serde_json::Value::Object(rows) => rows,
        other => [("books".to_owned(), other)].into_iter().collect(),
    };
    for (name, count) in rows {
        writeln!(out, "{name:14}{:>14}", count.to_string())?;
    }
    Ok(())
}

#[derive(serde::Serialize)]
struct PrintedSummary<'b> {
    summary: &'b Totals,
}

/// A message in the key order of the contract.
#[derive(serde::Serialize)]
struct MessageRow<'m> {
    at: PrintedValue<tidings_core::Instant>,
    recipient: &'m str,
    channel: &'m str,
    lane: &'m str,
    #[serde(skip_serializing_if = "str::is_empty")]
    key: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'m str>,
    #[serde(serialize_with = "items_in_order")]
    items: &'m [Item],
    #[serde(serialize_with = "skipped_in_order")]
    skipped: &'m [SkippedEntry],
}

impl<'m> MessageRow<'m> {
    fn new(message: &'m Message) -> Self {
        Self {
            at: PrintedValue(message.at),
            recipient: message.recipient.as_str(),
            channel: &message.channel,
            lane: &message.lane,
            key: message.key.as_str(),
            tenant: message.tenant.as_ref().map(Id::as_str),
            items: &message.items,
            skipped: &message.skipped,
        }
    }
}

#[derive(serde::Serialize)]
struct ItemRow<'m> {
    event: &'m str,
    #[serde(rename = "type")]
    kind: &'m str,
    object: &'m str,
    t: PrintedValue<tidings_core::Instant>,
    reasons: &'m [String],
}

#[derive(serde::Serialize)]
struct SkippedRow<'m> {
    event: &'m str,
    reason: &'static str,
}

/// The lane's name, with its batch key and its tenant if it has them.
fn lane_cell(message: &Message) -> String {
    let mut cell = message.lane.clone();
    if !message.key.is_empty() {
        let _ = write!(cell, " {}", quoted(message.key.as_str()));
    }
    if let Some(tenant) = &message.tenant {
        let _ = write!(cell, " of {}", quoted(tenant.as_str()));
    }
    cell
}

fn items_in_order<S: Serializer>(items: &&[Item], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(items.iter().map(|item| ItemRow {
        event: item.event.as_str(),
        kind: item.event_type.as_str(),
        object: item.object.as_str(),
        t: PrintedValue(item.t),
        reasons: &item.reasons,
    }))
}

fn skipped_in_order<S: Serializer>(
    rows: &&[SkippedEntry],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        rows.iter().map(|row| SkippedRow { event: row.event.as_str(), reason: row.reason.word() }),
    )
}

/// A value printed for people.
struct PrintedValue<T>(T);

impl<T: std::fmt::Display> Serialize for PrintedValue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
