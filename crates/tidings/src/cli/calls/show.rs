//! Answers of the API as text for people.

use std::io::{self, Write};

use serde::Deserialize;
use serde_json::Value;

use super::answer::{ShownAnswer, text, write_fields};
use super::{before, events, feeds, figures, inbox, messages, steer, waiting};
use crate::cli::print::table::{self, cell};
use crate::cli::{Streams, status};

/// The form of an answer for people.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AnswerForm {
    /// All fields, one a line.
    #[default]
    Fields,
    /// A text, with arguments and fields of the answer in place of what stands in braces.
    Text(String),
    /// The first of these fields that the answer has, alone on standard output, so that `KEY=$(…)` works; and its text
    /// on standard error.
    Secret(Vec<(String, String)>),
    Table(AnswerTable),
    By(AnswerPrinter),
}

/// A list as a table, a page of it perhaps.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerTable {
    /// The field with the list; absent = the answer itself.
    list: Option<String>,
    columns: Vec<AnswerColumn>,
    /// The text of an empty list.
    nothing: String,
    /// True if long cells are not cut.
    #[serde(default)]
    is_whole: bool,
    /// True if its JSON is one row a line, so that the text of an empty list is no result.
    #[serde(default)]
    is_lines: bool,
}

/// A column: its title, the path of its cells, and what stands for an empty one.
#[derive(Deserialize)]
#[serde(untagged)]
enum AnswerColumn {
    Plain(String, String),
    Filled(String, String, String),
}

type WriteAnswer = fn(&ShownAnswer<'_>, &mut dyn Write) -> io::Result<()>;

/// A function that writes an answer.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct AnswerPrinter(WriteAnswer);

impl TryFrom<String> for AnswerPrinter {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let write: WriteAnswer = match &*name {
            "cancelled" => events::write_cancelled,
            "changed" => messages::write_changed,
            "due" => waiting::write_due,
            "event" => events::write_event,
            "explanation" => |answer, out| events::write_explanation(answer.value, out),
            "feeds" => feeds::write_feeds,
            "figures" => figures::write_figures,
            "flushed" => waiting::write_flushed,
            "forgotten" => events::write_forgotten,
            "inbox" => inbox::write_inbox,
            "message" => messages::write_message,
            "paused" => steer::write_paused,
            "pending" => waiting::write_pending,
            "preview" => |answer, out| messages::write_preview(answer.value, out),
            "resumed" => steer::write_resumed,
            "status" => |answer, out| status::write(answer.value, out),
            "withdrawn" => events::write_withdrawn,
            _ => return Err(format!("there is no writer {name}")),
        };
        Ok(Self(write))
    }
}

impl AnswerForm {
    /// Writes an answer.
    pub(super) fn write(
        &self,
        answer: &ShownAnswer<'_>,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        let value = answer.value;
        if answer.given.to.json {
            return match (self, value) {
                (Self::Table(list), _) if list.is_lines => {
                    list.rows(value).iter().try_for_each(|row| writeln!(streams.out, "{row}"))
                }
                (_, Value::Null) => writeln!(streams.out, "{{}}"),
                _ => writeln!(streams.out, "{value}"),
            };
        }
        before::write(value, streams.out)?;
        match self {
            Self::Fields => write_fields(value, &[], streams.out),
            Self::Text(template) => writeln!(streams.out, "{}", text(template, answer)),
            Self::Secret(fields) => {
                let has = |(field, _): &&(String, String)| value[field].is_string();
                let Some((field, note)) = fields.iter().find(has) else {
                    return Err(io::Error::other("the answer lacks what was asked for"));
                };
                writeln!(streams.out, "{}", cell(value, field))?;
                if note.is_empty() {
                    return Ok(());
                }
                writeln!(streams.err, "{}", text(note, answer))
            }
            Self::Table(list) => list.write(value, streams),
            Self::By(AnswerPrinter(write)) => write(answer, streams.out),
        }
    }
}

impl AnswerTable {
    fn rows<'a>(&self, answer: &'a Value) -> &'a [Value] {
        match &self.list {
            Some(path) => table::list(answer, path),
            None => answer.as_array().map_or(&[], Vec::as_slice),
        }
    }

    fn write(&self, answer: &Value, streams: &mut Streams<'_>) -> io::Result<()> {
        let rows = self.rows(answer);
        let columns = self.columns.iter().map(|column| match column {
            AnswerColumn::Plain(title, path) => (title, path, ""),
            AnswerColumn::Filled(title, path, empty) => (title, path, &**empty),
        });
        let columns: Vec<(&String, &str, &str)> = columns
            .filter_map(|(title, path, empty)| match path.strip_suffix('?') {
                Some(path) => {
                    rows.iter().any(|row| !row[path].is_null()).then_some((title, path, empty))
                }
                None => Some((title, path, empty)),
            })
            .collect();
        let titles: Vec<&str> = columns.iter().map(|(title, ..)| title.as_str()).collect();
        let mut table = table::TextTable::new(&titles);
        for row in rows {
            let cells = columns.iter().map(|(_, path, empty)| match waiting::cell_of(row, path) {
                cell if cell.is_empty() => (*empty).to_owned(),
                cell => cell,
            });
            if self.is_whole { table.whole_row(cells) } else { table.row(cells) }
        }
        if self.is_lines && rows.is_empty() {
            return writeln!(streams.err, "{}", self.nothing);
        }
        table.write_page(answer, &self.nothing, streams.out)?;
        match cell(answer, "missing") {
            missing if missing.is_empty() => Ok(()),
            missing => {
                writeln!(streams.out, "No answer from {missing}: what they have is left out")
            }
        }
    }
}
