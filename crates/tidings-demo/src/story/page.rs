//! The page of the story, in the look of the console, whose sheet it loads. It has no script.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value, context};

use super::Story;
use crate::text::{in_words, milliseconds, number, segment};

impl Story {
    /// The page as HTML.
    ///
    /// # Errors
    /// A template that is none: a defect of ours.
    pub fn page(&self) -> Result<String, Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_filter("number", number);
        environment.add_filter("milliseconds", milliseconds);
        environment.add_filter("in_words", in_words);
        environment.add_filter("segment", |id: String| segment(&id));
        environment.add_template("story", include_str!("story.html"))?;
        let books = &self.books;
        let outcomes = [
            ("delivered", books.delivered, "told in a message, or in the inbox"),
            ("cancelled", books.cancelled, "taken back, or no longer wanted"),
            ("skipped", books.skipped, "not worth telling any more when the message was made"),
            ("expired", books.expired, "too late, or forgotten with its day"),
            ("failed", books.failed, "refused for good"),
            ("unknown", books.unknown, "nobody knows"),
            ("pending", books.pending, "still waiting for its time"),
        ];
        let most = self.weeks.iter().map(|week| week.mails).max().unwrap_or(0).max(1);
        let values = context! {
            story => Value::from(Serde(self)),
            most,
            sum => outcomes.iter().map(|(_, n, _)| n).sum::<u64>(),
            balances => books.balance(),
            outcomes => outcomes.map(|(name, n, meaning)| context! { name, n, meaning }),
        };
        environment.get_template("story")?.render(values)
    }
}
