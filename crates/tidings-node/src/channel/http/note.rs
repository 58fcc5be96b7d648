//! A message in a few words, as the renderer of short messages puts it.

use serde_json::Value;

use super::super::{Outcome, Rendered};

/// A message in a few words, without markup.
pub(crate) struct Note {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) url: Option<String>,
}

impl Note {
    /// Reads a rendered message.
    ///
    /// # Errors
    /// The outcome of one that is none, which the renderer does not make.
    pub(crate) fn of(message: &Rendered) -> Result<Self, Outcome> {
        let broken = |_| Outcome::Failed {
            why: "render: the message can't be read".to_owned(),
            address_dead: false,
        };
        let json: Value = serde_json::from_slice(&message.bytes).map_err(broken)?;
        let text = |name: &str| json[name].as_str().map(str::to_owned);
        Ok(Self {
            title: text("title").unwrap_or_default(),
            text: text("text").unwrap_or_default(),
            url: text("url"),
        })
    }

    /// Title, text and link, each on a line of its own; the words are cut so that all of it has at most so many
    /// characters.
    pub(crate) fn lines(&self, chars_max: usize) -> String {
        let url_chars = self.url.as_ref().map_or(0, |url| url.chars().count() + 1);
        let mut words = self.title.clone();
        if !self.text.is_empty() && self.text != self.title {
            words = format!("{words}\n{}", self.text);
        }
        let room = chars_max.saturating_sub(url_chars);
        if words.chars().count() > room {
            words = words.chars().take(room.saturating_sub(1)).collect();
            words.push('…');
        }
        match &self.url {
            Some(url) if url_chars < chars_max => format!("{words}\n{url}"),
            _ => words,
        }
    }
}
