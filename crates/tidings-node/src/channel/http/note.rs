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
            suppress: None,
        };
        let json: Value = serde_json::from_slice(&message.bytes).map_err(broken)?;
        let text = |name: &str| json[name].as_str().map(str::to_owned);
        Ok(Self {
            title: text("title").unwrap_or_default(),
            text: text("text").unwrap_or_default(),
            url: text("url"),
        })
    }

    /// The title, and the text below it.
    pub(super) fn words(&self) -> String {
        let mut words = format!("{}\n{}", self.title, self.text);
        words.truncate(words.trim_end().len());
        words
    }

    /// Title, text and link, each on a line of its own; the words are cut to a maximum number of characters in all.
    pub(crate) fn lines(&self, chars_max: usize) -> String {
        // A link is kept whole, or left out where it would leave no room for words.
        let link = self.url.as_ref().map(|url| format!("\n{url}"));
        let link = link.filter(|link| link.chars().count() < chars_max).unwrap_or_default();
        let words = self.words();
        let room = chars_max - link.chars().count();
        tidings_mail::cut(&words, room) + &link
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(title: &str, text: &str, chars_max: usize) -> String {
        let note = Note {
            title: title.to_owned(),
            text: text.to_owned(),
            url: Some("https://a.example".to_owned()),
        };
        note.lines(chars_max)
    }

    #[test]
    fn a_title_stands_above_its_text_and_the_link_is_kept_whole() {
        let link = "\nhttps://a.example";
        // Who wrote something is told, whatever they wrote.
        assert_eq!(lines("Ann wrote", "“Ann wrote”", 200), format!("Ann wrote\n“Ann wrote”{link}"));
        assert_eq!(
            lines("12 new works", "Work 1 · Work 2", 200),
            format!("12 new works\nWork 1 · Work 2{link}")
        );
        assert_eq!(lines("Work 1", "", 200), format!("Work 1{link}"));
        let short = lines(&"é".repeat(100), "", 50);
        assert_eq!(short.chars().count(), 50);
        assert!(short.ends_with(&format!("é…{link}")), "{short}");
        assert_eq!(lines("Work", "", 10), "Work", "there is no room for a link");
    }
}
