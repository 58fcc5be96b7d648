//! A list of the system as one template shows it: columns, rows of cells, and the fields of its filter.

use minijinja::value::Serde;
use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;

/// A list.
pub(super) struct Listing {
    /// Its name, as in the path and in the bar.
    pub(super) name: &'static str,
    /// A sentence that sums the rows up.
    pub(super) verdict: String,
    pub(super) columns: &'static [Column],
    pub(super) rows: Vec<Vec<ListCell>>,
    pub(super) fields: Vec<Field>,
    /// The meaning of an empty list, and the command that fills it.
    pub(super) empty: [&'static str; 2],
    pub(super) missing: Value,
    /// The URL of the next page, below the base.
    pub(super) next: Option<String>,
}

/// A column.
pub(super) struct Column {
    word: &'static str,
    is_number: bool,
}

impl Column {
    pub(super) const fn text(word: &'static str) -> Self {
        Self { word, is_number: false }
    }

    pub(super) const fn number(word: &'static str) -> Self {
        Self { word, is_number: true }
    }
}

/// A cell.
pub(super) enum ListCell {
    Text(String),
    /// A text that is less important.
    Dim(String),
    Id(String),
    /// An id, and its page below the base.
    Link(String, String),
    At(Option<String>),
    State(String),
    Number(Option<i64>),
    SpanMs(Option<i64>),
    /// Buttons: words, and their pages below the base.
    Actions(Vec<(&'static str, String)>),
}

impl ListCell {
    /// A text of a row.
    pub(super) fn text(row: &Value, name: &str) -> Self {
        Self::Text(written(&row[name]))
    }

    /// An id of a row.
    pub(super) fn id(row: &Value, name: &str) -> Self {
        Self::Id(written(&row[name]))
    }

    /// An instant of a row.
    pub(super) fn at(row: &Value, name: &str) -> Self {
        Self::At(row[name].as_str().map(str::to_owned))
    }

    fn shown(&self) -> Shown {
        match self {
            Self::Text(text) => context! { kind => "text", text },
            Self::Dim(text) => context! { kind => "dim", text },
            Self::Id(text) => context! { kind => "id", text },
            Self::Link(text, href) => context! { kind => "id", text, href },
            Self::At(at) => context! { kind => "at", at },
            Self::State(text) => context! { kind => "state", text },
            Self::Number(number) => context! { kind => "number", number },
            Self::SpanMs(ms) => context! { kind => "span", ms },
            Self::Actions(actions) => {
                let actions =
                    actions.iter().map(|(label, href)| context! { label => *label, href });
                context! { kind => "actions", actions => actions.collect::<Vec<_>>() }
            }
        }
    }
}

/// A value as a text: nothing for null.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// A field of a filter.
pub(super) struct Field {
    name: &'static str,
    value: String,
    /// The words that it may have; none = any text.
    words: &'static [&'static str],
    example: &'static str,
}

impl Field {
    pub(super) fn text(query: &Query, name: &'static str, example: &'static str) -> Self {
        Self { name, value: query.text(name).to_owned(), words: &[], example }
    }

    pub(super) fn of(query: &Query, name: &'static str, words: &'static [&'static str]) -> Self {
        Self { name, value: query.text(name).to_owned(), words, example: "" }
    }

    fn shown(&self) -> Shown {
        context! {
            name => self.name, value => &self.value, words => self.words.to_vec(), example => self.example,
        }
    }
}

impl Listing {
    /// Its page. A refusal of its filter stands above the filter, so that it can be mended.
    pub(super) fn page(self, refused: Option<&CallProblem>) -> Page {
        let columns = self.columns.iter().map(|column| {
            context! { word => column.word, is_number => column.is_number }
        });
        let columns: Vec<Shown> = columns.collect();
        let rows =
            self.rows.iter().map(|cells| cells.iter().map(ListCell::shown).collect::<Vec<_>>());
        let problem = refused.map(|problem| {
            context! { detail => problem.text("detail"), hint => problem.text("hint") }
        });
        let values = context! {
            name => self.name, verdict => self.verdict, columns,
            rows => rows.collect::<Vec<_>>(),
            fields => self.fields.iter().map(Field::shown).collect::<Vec<_>>(),
            empty => self.empty, answer => context! { missing => Serde(&self.missing) },
            next => self.next, problem,
        };
        let mut page =
            Page::new(BarSection::System, title(self.name), "system-list.html").with(values);
        if let Some(problem) = refused {
            page.status = problem.status;
        }
        page
    }
}

/// The name of a list with a capital.
fn title(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A number with its noun: exact where the page shows all, else as a least.
pub(super) fn counted(rows: usize, is_all: bool, one: &str, many: &str) -> String {
    match (rows, is_all) {
        (0, true) => format!("No {many}"),
        (1, true) => format!("1 {one}"),
        (rows, true) => format!("{rows} {many}"),
        (rows, false) => format!("More than {rows} {many}"),
    }
}
