//! A sentence with instants in it: templates write these in the viewer's zone.

use minijinja::{Value as Shown, context};

/// A sentence: pieces of text, and instants between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sentence {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// An instant as the API writes it.
    At(String),
}

impl Sentence {
    /// The sentence that begins with a text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::default().text(text)
    }

    /// The same with a text behind it.
    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.pieces.push(Piece::Text(text.into()));
        self
    }

    /// The same with an instant behind it, if there is one.
    pub(crate) fn at(mut self, before: &str, at: Option<&str>) -> Self {
        if let Some(at) = at {
            self.pieces.push(Piece::Text(before.to_owned()));
            self.pieces.push(Piece::At(at.to_owned()));
        }
        self
    }

    /// The same with another sentence behind it.
    pub(crate) fn join(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// Its pieces for a template.
    pub(crate) fn shown(&self) -> Shown {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => context! { text },
            Piece::At(at) => context! { at },
        });
        pieces.collect()
    }

    /// The sentence with its instants as the API writes them.
    pub(crate) fn plain(&self) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) | Piece::At(text) => text.as_str(),
        });
        pieces.collect()
    }
}
