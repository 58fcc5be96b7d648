//! Rows of an input, each with its line number: JSON or CSV, checked by the same code.

use std::borrow::Cow;
use std::io::{self, BufReader, Read};

use serde_json::Number;
use tidings_api::body::json::{Json, JsonObject};
use tidings_api::body::object::ObjectChange;
use tidings_api::body::recipient::ProfileChange;
use tidings_api::body::short::Subscription;
use tidings_api::body::{Fault, Fields, field_names};
use tidings_api::compat::{knock, novu};
use tidings_api::timeline::{Lines, NextLine};
use tidings_config::wording::{did_you_mean, quoted};
use tidings_core::Command;

use super::{InputPosition, Kind, Source};

/// Bytes read ahead.
const READ_BYTES: usize = 1 << 18;

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object a line
    Ndjson,
    /// Comma-separated values in UTF-8; the first row names the fields, spaces around a cell are removed, an empty cell
    /// is one that is not given
    Csv,
}

/// The next thing in an input.
#[derive(Debug)]
pub(super) enum ImportRow {
    /// A row that can be read, and the number of its line.
    Good(u64, Command),
    /// One that can't; the fault has its line.
    Bad(Fault),
    /// A quote that nothing closes: all the rest of the file is one row, which is not to be left out.
    Unclosed(Fault),
    /// Nothing more.
    End,
}

/// The rows of an input.
pub(super) struct Rows<R> {
    written: InputLines<R>,
    from: Option<Source>,
}

enum InputLines<R> {
    Lines(Lines<BufReader<R>>),
    Csv(Box<Csv<R>>),
}

struct Csv<R> {
    reader: csv::Reader<TerminatedInput<R>>,
    columns: Vec<String>,
    record: csv::StringRecord,
}

impl<R: Read> Rows<R> {
    /// Reads rows of a kind.
    ///
    /// # Errors
    /// The head of a CSV is not a list of the kind's fields.
    pub(super) fn new(
        input: R,
        format: Format,
        kind: Kind,
        from: Option<Source>,
    ) -> Result<Self, Fault> {
        let written = match format {
            Format::Ndjson => {
                let input = BufReader::with_capacity(READ_BYTES, input);
                InputLines::Lines(Lines::new(input))
            }
            Format::Csv => {
                let mut reader = reader(input);
                let head = head(&mut reader)?;
                kind.check(&head)?;
                InputLines::Csv(Box::new(Csv {
                    reader,
                    columns: head.columns,
                    record: csv::StringRecord::new(),
                }))
            }
        };
        Ok(Self { written, from })
    }

    /// Up to where the input has been read.
    pub(super) fn position(&self) -> InputPosition {
        match &self.written {
            InputLines::Lines(lines) => {
                InputPosition { line: lines.number(), bytes: lines.bytes() }
            }
            InputLines::Csv(csv) => {
                let position = csv.reader.position();
                InputPosition { line: position.line() - 1, bytes: position.byte() }
            }
        }
    }

    /// The next row; `lines` gets it as a line of JSON too.
    ///
    /// # Errors
    /// The error of the input.
    pub(super) fn read_next(
        &mut self,
        kind: Kind,
        lines: Option<&mut Vec<u8>>,
    ) -> io::Result<ImportRow> {
        match &mut self.written {
            InputLines::Lines(input) => Ok(match input.read_next()? {
                NextLine::End => ImportRow::End,
                NextLine::TooLong(number) => ImportRow::Bad(
                    Fault::new("the line is too long", "write one JSON object a line")
                        .on_line(number),
                ),
                NextLine::Text(number, text) => {
                    let command = match self.from {
                        None => own(kind, text, lines),
                        Some(from) => moved(from, kind, text, lines),
                    };
                    judged(number, command)
                }
            }),
            InputLines::Csv(csv) => csv.read_next(kind, lines),
        }
    }
}

impl<R: Read> Csv<R> {
    fn read_next(&mut self, kind: Kind, lines: Option<&mut Vec<u8>>) -> io::Result<ImportRow> {
        let at = loop {
            let read = self.reader.read_record(&mut self.record);
            // The line on which the row ends: its own end of line is read with it.
            let last = self.reader.position().line() - 1;
            match read {
                Ok(false) => return Ok(ImportRow::End),
                Ok(true) => {}
                Err(fault) => match fault.into_kind() {
                    csv::ErrorKind::Io(fault) => return Err(fault),
                    _ => {
                        let fault = Fault::new("not UTF-8", "write the file in UTF-8");
                        return Ok(ImportRow::Bad(fault.on_line(last)));
                    }
                },
            }
            if self.reader.get_ref().is_at_end {
                return Ok(self.unclosed(last - breaks(&self.record)));
            }
            if !is_blank(&self.record) {
                break last - breaks(&self.record);
            }
        };
        let columns = self.columns.len();
        let beyond = self.record.iter().skip(columns);
        let last = beyond.enumerate().filter(|(_, cell)| !cell.trim().is_empty()).last();
        let cells = last.map_or(self.record.len().min(columns), |(at, _)| columns + at + 1);
        if cells != columns {
            let reason = format!("{cells} columns, the header has {columns}");
            let hint = "put text with a comma in quotes";
            return Ok(self.bad(Fault::new(reason, hint).on_line(at)));
        }
        let cells = self.record.iter().map(str::trim);
        let given = self.columns.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
        let mut table = JsonObject::new();
        for (column, cell) in given {
            put(&mut table, column, value(column, cell));
        }
        let line = lines.map(|lines| (lines, Fields::new(table.clone())));
        let command = command(kind, Fields::new(table)).and_then(|command| {
            if let Some((lines, fields)) = line {
                let line: serde_json::Value = fields.body()?;
                lines.extend_from_slice(line.to_string().as_bytes());
                lines.push(b'\n');
            }
            Ok(command)
        });
        Ok(match judged(at, command) {
            ImportRow::Bad(fault) => self.bad(fault),
            other => other,
        })
    }

    /// A row that can't be read.
    fn bad(&self, mut fault: Fault) -> ImportRow {
        let lines = breaks(&self.record) + 1;
        if lines > 1 {
            fault.reason = format!("{}, in a row of {lines} lines", fault.reason);
        }
        ImportRow::Bad(fault)
    }

    /// The row that the end of the file has cut off within quotes.
    fn unclosed(&self, before: u64) -> ImportRow {
        let reason = "an unclosed quote begins here or later";
        let hint = "close it, or write `\"\"` for a quote in a text";
        // One end of line fewer than rows have stands behind it.
        ImportRow::Unclosed(Fault::new(reason, hint).on_line(before + 1))
    }
}

/// Counts the ends of lines between quotes.
fn breaks(record: &csv::StringRecord) -> u64 {
    record.iter().map(|cell| cell.bytes().filter(|byte| *byte == b'\n').count() as u64).sum()
}

/// An input of which the last line is ended like the others. A row that is read up to the end of it, and not up to the
/// end of a line, is within quotes there.
struct TerminatedInput<R> {
    input: R,
    /// The last byte that was read.
    last: u8,
    /// True once a read has found nothing more.
    is_at_end: bool,
}

impl<R: Read> Read for TerminatedInput<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        if let Some(last) = into[..read].last() {
            self.last = *last;
        } else if let (Some(end), true) = (into.first_mut(), self.last != b'\n') {
            (*end, self.last) = (b'\n', b'\n');
            return Ok(1);
        } else {
            self.is_at_end = !into.is_empty();
        }
        Ok(read)
    }
}

fn reader<R: Read>(input: R) -> csv::Reader<TerminatedInput<R>> {
    // What takes either character for an end of line leaves the second of two to the next row, and counts
    // its line wrong.
    csv::ReaderBuilder::new()
        .has_headers(false)
        .terminator(csv::Terminator::Any(b'\n'))
        .flexible(true)
        .buffer_capacity(READ_BYTES)
        .from_reader(TerminatedInput { input, last: b'\n', is_at_end: false })
}

fn is_blank(record: &csv::StringRecord) -> bool {
    record.iter().all(|cell| cell.trim().is_empty())
}

/// The first row of a CSV.
struct CsvHead {
    columns: Vec<String>,
    line: u64,
}

fn head<R: Read>(reader: &mut csv::Reader<TerminatedInput<R>>) -> Result<CsvHead, Fault> {
    const NAMES: &str = "name the fields in the first row, such as `id,email,tz`";
    const UTF_8: &str = "save the file as `CSV UTF-8`, with lines that end with a line feed";
    let mut head = csv::StringRecord::new();
    while reader.read_record(&mut head).map_err(|fault| match fault.kind() {
        csv::ErrorKind::Utf8 { .. } => Fault::new("the file is not UTF-8", UTF_8).on_line(1),
        _ => Fault::new(format!("cannot read the header: {fault}"), NAMES).on_line(1),
    })? && is_blank(&head)
    {}
    let line = reader.position().line().saturating_sub(1).max(1);
    let mut columns: Vec<String> =
        head.iter().map(|name| name.trim().trim_start_matches('\u{feff}').to_owned()).collect();
    let fault = |reason: String, hint: &str| Err(Fault::new(reason, hint).on_line(line));
    // What spreadsheets leave at the end of rows.
    let named = columns.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
    columns.truncate(named);
    if columns.iter().any(|column| column.contains('\0')) {
        return fault("the file is not UTF-8".to_owned(), UTF_8);
    }
    if columns.iter().any(|column| column.contains('\r')) {
        let reason = "the lines end with a carriage return alone";
        return fault(reason.to_owned(), UTF_8);
    }
    if let [all] = &columns[..]
        && let Some(separator) = [';', '\t', '|'].into_iter().find(|mark| all.contains(*mark))
    {
        let mark = separator.escape_default();
        let reason = format!("the columns are separated by `{mark}`");
        return fault(reason, "separate them by commas");
    }
    for (at, column) in columns.iter().enumerate() {
        if column.is_empty() {
            return fault(format!("column {} has no name", at + 1), NAMES);
        }
        if columns[..at].contains(column) {
            return fault(format!("the column {} stands twice", quoted(column)), NAMES);
        }
    }
    Ok(CsvHead { columns, line })
}

impl Kind {
    /// Checks that the columns are fields of rows of this kind: a name that is wrong is wrong in every row.
    fn check(self, head: &CsvHead) -> Result<(), Fault> {
        let known = match self {
            Self::Recipients => field_names::<ProfileChange>(),
            Self::Objects => field_names::<ObjectChange>(),
            Self::Subscriptions => field_names::<Subscription>(),
            Self::Preferences => &[],
        };
        for column in &head.columns {
            let field = column.split_once('.').map_or(&**column, |(outer, _)| outer);
            if !known.contains(&field) {
                let reason = format!("unknown column {}", quoted(column));
                let hint = did_you_mean(field, known.iter().copied()).unwrap_or_default();
                return Err(Fault::new(reason, hint).on_line(head.line));
            }
        }
        Ok(())
    }
}

/// Puts a value in its place: `addresses.email` is a field of `addresses`.
fn put<'c>(table: &mut JsonObject<'c>, column: &'c str, value: Json<'c>) {
    let Some((outer, inner)) = column.split_once('.') else {
        return table.push((Cow::Borrowed(column), value));
    };
    let inner = (Cow::Borrowed(inner), value);
    let known = table.iter_mut().find(|(name, _)| name == outer);
    match known {
        Some((_, Json::Table(fields))) => fields.push(inner),
        _ => table.push((Cow::Borrowed(outer), Json::Table(vec![inner]))),
    }
}

/// Reads a cell. CSV has only text, so fields of other kinds are listed by name; a cell that is no number stays text,
/// and is refused as that.
fn value<'c>(column: &str, cell: &'c str) -> Json<'c> {
    let text = || Json::Text(Cow::Borrowed(cell));
    match (column, cell) {
        ("lat" | "lon", number) => {
            let number = number.trim().parse().ok().and_then(Number::from_f64);
            number.map_or_else(text, Json::Number)
        }
        ("tenants", list) => {
            let names = list.split(';').map(str::trim).filter(|name| !name.is_empty());
            Json::List(names.map(|name| Json::Text(Cow::Borrowed(name))).collect())
        }
        ("notifiable" | "unsubscribe", "true") => Json::Bool(true),
        ("notifiable" | "unsubscribe", "false") => Json::Bool(false),
        _ => text(),
    }
}

fn command(kind: Kind, fields: Fields<'_>) -> Result<Command, Fault> {
    match kind {
        Kind::Recipients => fields.body::<ProfileChange>()?.command(None),
        Kind::Objects => fields.body::<ObjectChange>()?.command(None),
        Kind::Subscriptions => fields.body::<Subscription>()?.said(false),
        // They don't come as rows of their own.
        Kind::Preferences => Err(Fault::new("there are no rows of preferences", "name --from")),
    }
}

/// The command of a line of our own, and the line as it is.
fn own(kind: Kind, text: &[u8], lines: Option<&mut Vec<u8>>) -> Result<Command, Fault> {
    let command = command(kind, Fields::parse(text)?)?;
    if let Some(lines) = lines {
        lines.extend_from_slice(text.trim_ascii());
        lines.push(b'\n');
    }
    Ok(command)
}

/// The command of a line of another product, and the line as we would write it.
fn moved(
    from: Source,
    kind: Kind,
    text: &[u8],
    lines: Option<&mut Vec<u8>>,
) -> Result<Command, Fault> {
    let person = Fields::parse(text)?.into_table();
    let profile = match from {
        Source::Knock => knock::user(person, false)?,
        Source::Novu => novu::subscriber(person, false)?,
    };
    let command = command(kind, Fields::new(profile.clone()))?;
    if let Some(lines) = lines {
        let line: serde_json::Value = Fields::new(profile).body()?;
        lines.extend_from_slice(line.to_string().as_bytes());
        lines.push(b'\n');
    }
    Ok(command)
}

fn judged(number: u64, command: Result<Command, Fault>) -> ImportRow {
    match command {
        Ok(command) => ImportRow::Good(number, command),
        Err(fault) => ImportRow::Bad(fault.on_line(number)),
    }
}
