//! Plots of the pages: each answers one question with a sentence, a picture, and a table of its numbers.
//!
//! A picture has no text, so it can be stretched to any width: labels stand beside it as text of the page. Colours are
//! classes, because the pages' policy allows no styles within them.

mod bars;
mod course;
mod example;
mod pairs;
mod spark;
mod svg;

use minijinja::{Value, context};

pub(crate) use bars::{Bar, Bars};
pub(crate) use course::Course;
pub(crate) use example::Example;
pub(crate) use pairs::{Pair, Pairs};
pub(crate) use spark::sparkline;

/// A colour of a plot, by what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Ok,
    Failed,
    Wait,
    Off,
    /// One of four that mean nothing but "another".
    Other(u8),
}

impl Tone {
    /// Its class, without `f-`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Wait => "wait",
            Self::Off => "off",
            Self::Other(number) => ["0", "1", "2", "3"][usize::from(number % 4)],
        }
    }
}

/// A colour with its word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) word: String,
    pub(crate) tone: Tone,
}

impl Key {
    pub(crate) fn new(word: impl Into<String>, tone: Tone) -> Self {
        Self { word: word.into(), tone }
    }
}

/// A plot as the macro `m.plot` shows it.
#[derive(Debug, Default)]
pub(crate) struct Plot {
    pub(crate) title: String,
    /// The sentence that states the picture's answer.
    pub(crate) sentence: String,
    pub(crate) keys: Vec<Key>,
    svg: String,
    /// The height of the picture, as a number of what it counts.
    pub(crate) most: String,
    /// Labels of the axis, at the same distances from its begin to its end.
    pub(crate) ticks: Vec<String>,
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<PlotRow>,
    pub(crate) is_low: bool,
}

/// A row of the numbers of a plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlotRow {
    pub(crate) label: String,
    pub(crate) cells: Vec<String>,
    /// The list of what it counts.
    pub(crate) href: Option<String>,
}

impl Plot {
    /// The same with a lower picture.
    pub(crate) fn low(self) -> Self {
        Self { is_low: true, ..self }
    }

    /// The value for a template.
    pub(crate) fn value(self) -> Value {
        let keys =
            self.keys.iter().map(|key| context! { word => &key.word, tone => key.tone.name() });
        let rows = self.rows.iter().map(|row| {
            context! { label => &row.label, cells => &row.cells, href => &row.href }
        });
        context! {
            title => self.title, sentence => self.sentence,
            keys => keys.collect::<Vec<_>>(), rows => rows.collect::<Vec<_>>(),
            svg => Value::from_safe_string(self.svg), most => self.most, ticks => self.ticks,
            heads => self.heads, is_low => self.is_low,
        }
    }
}
