//! Rows of an input, each with its line number: JSON or CSV, checked by the same code.

use std::borrow::Cow;
use std::io::{self, BufReader, Read};

use serde_json::Number;
use tidings_core::Command;

use super::{Kind, Mark};
use crate::body::json::{Json, Table};
use crate::body::object::ObjectChange;
use crate::body::recipient::ProfileChange;
use crate::body::short::Subscription;
use crate::body::{Fault, Fields};
use crate::timeline::{Line, Lines};
use crate::wording::quoted;

/// Bytes read ahead.
const READ_BYTES: usize = 1 << 18;

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object a line
    Ndjson,
    /// Comma-separated values; the first row names the fields, an empty cell is one that is not given
    Csv,
}

/// The next thing in an input.
#[derive(Debug)]
pub(super) enum Row {
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
pub(super) struct Rows<R>(Written<R>);

enum Written<R> {
    Lines(Lines<BufReader<R>>),
    Csv(Box<Csv<R>>),
}

struct Csv<R> {
    reader: csv::Reader<Ended<R>>,
    columns: Vec<String>,
    record: csv::StringRecord,
    /// The mark at which `reader` began.
    before: Mark,
}

impl<R: Read> Rows<R> {
    /// Reads from `from` on. `columns` are those of a CSV whose head is not in `input`.
    ///
    /// # Errors
    /// The head of a CSV names nothing, or something twice.
    pub(super) fn new(
        input: R,
        format: Format,
        columns: Option<Vec<String>>,
        from: Mark,
    ) -> Result<Self, Fault> {
        let written = match format {
            Format::Ndjson => {
                let input = BufReader::with_capacity(READ_BYTES, input);
                Written::Lines(Lines::resumed(input, from.line, from.bytes))
            }
            Format::Csv => {
                let mut reader = reader(input);
                let columns = match columns {
                    Some(columns) => columns,
                    None => head(&mut reader)?,
                };
                Written::Csv(Box::new(Csv {
                    reader,
                    columns,
                    record: csv::StringRecord::new(),
                    before: from,
                }))
            }
        };
        Ok(Self(written))
    }

    /// Up to where the input has been read.
    pub(super) fn mark(&self) -> Mark {
        match &self.0 {
            Written::Lines(lines) => Mark {
                line: lines.number(),
                bytes: lines.bytes(),
            },
            Written::Csv(csv) => {
                let position = csv.reader.position();
                Mark {
                    line: csv.before.line + position.line() - 1,
                    bytes: csv.before.bytes + position.byte(),
                }
            }
        }
    }

    /// The next row; `lines` gets it as a line of JSON too.
    ///
    /// # Errors
    /// The error of the input.
    pub(super) fn read_next(&mut self, kind: Kind, lines: Option<&mut Vec<u8>>) -> io::Result<Row> {
        match &mut self.0 {
            Written::Lines(input) => Ok(match input.read_next()? {
                Line::End => Row::End,
                Line::TooLong(number) => Row::Bad(
                    Fault::new("the line is too long", "write one JSON object a line")
                        .on_line(number),
                ),
                Line::Text(number, text) => {
                    let command = Fields::parse(text).and_then(|fields| command(kind, fields));
                    if let (Ok(_), Some(lines)) = (&command, lines) {
                        lines.extend_from_slice(text.trim_ascii());
                        lines.push(b'\n');
                    }
                    judged(number, command)
                }
            }),
            Written::Csv(csv) => csv.read_next(kind, lines),
        }
    }
}

impl<R: Read> Csv<R> {
    fn read_next(&mut self, kind: Kind, lines: Option<&mut Vec<u8>>) -> io::Result<Row> {
        let at = loop {
            let read = self.reader.read_record(&mut self.record);
            // The line on which the row ends: its own end of line is read with it.
            let last = self.before.line + self.reader.position().line() - 1;
            match read {
                Ok(false) => return Ok(Row::End),
                Ok(true) => {}
                Err(fault) => match fault.into_kind() {
                    csv::ErrorKind::Io(fault) => return Err(fault),
                    _ => {
                        let fault = Fault::new("not UTF-8", "write the file in UTF-8");
                        return Ok(Row::Bad(fault.on_line(last)));
                    }
                },
            }
            if !is_blank(&self.record) {
                break last - breaks(&self.record);
            }
        };
        let (cells, columns) = (self.record.len(), self.columns.len());
        if cells != columns {
            let reason = format!("{cells} columns, the header has {columns}");
            let hint = "put text with a comma in quotes";
            return Ok(self.bad(Fault::new(reason, hint).on_line(at)));
        }
        // Of an end of line of two characters the first is left in the last cell.
        let cells = self.record.iter().enumerate().map(|(at, cell)| {
            let is_last = at + 1 == columns;
            cell.strip_suffix('\r').filter(|_| is_last).unwrap_or(cell)
        });
        let cells = self.columns.iter().zip(cells);
        let given = cells.filter(|(_, cell)| !cell.is_empty());
        let mut table = Table::new();
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
            Row::Bad(fault) => self.bad(fault),
            other => other,
        })
    }

    /// A row that can't be read.
    fn bad(&self, mut fault: Fault) -> Row {
        // The end of line that every input is given stands within quotes.
        let last = self.record.iter().next_back();
        if last.is_some_and(|cell| cell.ends_with('\n')) {
            "an unclosed quote begins here or later".clone_into(&mut fault.reason);
            "close it, or write `\"\"` for a quote in a text".clone_into(&mut fault.hint);
            // One end of line fewer than rows have was behind it.
            fault.line = fault.line.map(|line| line + 1);
            return Row::Unclosed(fault);
        }
        let lines = breaks(&self.record) + 1;
        if lines > 1 {
            fault.reason = format!("{}, in a row of {lines} lines", fault.reason);
        }
        Row::Bad(fault)
    }
}

/// Counts the ends of lines between quotes.
fn breaks(record: &csv::StringRecord) -> u64 {
    let cells = record
        .iter()
        .map(|cell| cell.bytes().filter(|byte| *byte == b'\n').count() as u64);
    cells.sum()
}

/// An input of which the last line is ended like the others.
struct Ended<R> {
    input: R,
    /// The last byte that was read.
    last: u8,
}

impl<R: Read> Read for Ended<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        if let Some(last) = into[..read].last() {
            self.last = *last;
        } else if let (Some(end), true) = (into.first_mut(), self.last != b'\n') {
            (*end, self.last) = (b'\n', b'\n');
            return Ok(1);
        }
        Ok(read)
    }
}

fn reader<R: Read>(input: R) -> csv::Reader<Ended<R>> {
    // What takes either character for an end of line leaves the second of two to the next row, and counts
    // its line wrong.
    csv::ReaderBuilder::new()
        .has_headers(false)
        .terminator(csv::Terminator::Any(b'\n'))
        .flexible(true)
        .buffer_capacity(READ_BYTES)
        .from_reader(Ended { input, last: b'\n' })
}

fn is_blank(record: &csv::StringRecord) -> bool {
    record.len() == 1 && record[0].trim_ascii().is_empty()
}

/// The names of a CSV's columns, as its first row has them.
///
/// # Errors
/// The head can't be read, or names a column twice or not at all.
pub fn columns(input: impl Read) -> io::Result<Vec<String>> {
    head(&mut reader(input)).map_err(io::Error::other)
}

fn head<R: Read>(reader: &mut csv::Reader<Ended<R>>) -> Result<Vec<String>, Fault> {
    let hint = "name the fields in the first row, such as `id,email,tz`";
    let mut head = csv::StringRecord::new();
    while reader.read_record(&mut head).map_err(|fault| {
        let line = reader.position().line();
        Fault::new(format!("the head of the file is not valid: {fault}"), hint).on_line(line)
    })? && is_blank(&head)
    {}
    let line = reader.position().line().saturating_sub(1).max(1);
    let columns: Vec<String> = head
        .iter()
        .map(|name| name.trim().trim_start_matches('\u{feff}').to_owned())
        .collect();
    for (at, column) in columns.iter().enumerate() {
        let reason = if column.is_empty() {
            format!("column {} has no name", at + 1)
        } else if columns[..at].contains(column) {
            format!("the column {} stands twice", quoted(column))
        } else {
            continue;
        };
        return Err(Fault::new(reason, hint).on_line(line));
    }
    Ok(columns)
}

/// Puts a value in its place: `addresses.email` is a field of `addresses`.
fn put<'c>(table: &mut Table<'c>, column: &'c str, value: Json<'c>) {
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

/// Reads a cell. CSV knows text alone, so the fields that are something else are told by name;
/// what is no number stays text, and is refused as that.
fn value<'c>(column: &str, cell: &'c str) -> Json<'c> {
    let text = || Json::Text(Cow::Borrowed(cell));
    match (column, cell) {
        ("lat" | "lon", number) => {
            let number = number.trim().parse().ok().and_then(Number::from_f64);
            number.map_or_else(text, Json::Number)
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
    }
}

fn judged(number: u64, command: Result<Command, Fault>) -> Row {
    match command {
        Ok(command) => Row::Good(number, command),
        Err(fault) => Row::Bad(fault.on_line(number)),
    }
}
