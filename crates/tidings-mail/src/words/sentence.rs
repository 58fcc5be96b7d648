//! Sentences of a configuration: text with places for values of an event.
//!
//! A sentence is read once, when the configuration is, so that a misspelt place is a fault there and not a
//! gap in a mail.

use std::sync::Arc;

use icu_locale_core::Locale;
use serde_json::{Value, json};
use tidings_core::content::EventData;

use crate::words::books::Books;
use crate::words::format::{self, Format, ReaderLocale};
use crate::words::locale::Language;
use crate::words::plural::Plurals;
use crate::words::{Words, tag};

/// A sentence, such as `{actor} published {object}`.
///
/// # Examples
/// ```
/// use tidings_mail::Sentence;
///
/// assert!(Sentence::parse("{actor} published {count|a work|works}", "en").is_ok());
/// let fault = Sentence::parse("{artist} published", "en").unwrap_err();
/// assert!(fault.to_string().contains("{actor}"));
/// let fault = Sentence::parse("{count} {count|praca|prace}", "pl").unwrap_err();
/// assert!(fault.to_string().contains("one, few, many"));
/// ```
#[derive(Clone, Debug)]
pub struct Sentence {
    pieces: Vec<SentencePiece>,
    /// The locale whose text it is.
    locale: Locale,
    /// The product's words in its language: how it lists names.
    pub(crate) words: Arc<Words>,
}

/// The reason why a text is not a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SentenceError {
    /// A brace has no partner.
    #[error(
        "a brace is alone: write `{{{{` or `}}}}` for one that is shown; a place can't stand within another one"
    )]
    Brace,
    /// A place is unknown.
    #[error(
        "`{{{0}}}` is unknown: write {{actor}}, {{object}}, {{target}}, {{tenant}}, {{count}}, \
         {{count|one|more}}, {{actors|one|more}} or {{data.NAME}}"
    )]
    Unknown(String),
    /// A value has a format that is unknown.
    #[error(
        "`{{{0}}}` has an unknown format: write `date`, `time`, `datetime`, `number` or `money(data.CURRENCY)` after the bar"
    )]
    Format(String),
    /// A word has not as many forms as its language.
    #[error(
        "`{{{place}|…}}` has {given}, but `{locale}` has {wanted}: write one for each of {categories}, in this order"
    )]
    Forms {
        /// The counted thing.
        place: &'static str,
        /// The number of forms that there are, with their noun.
        given: String,
        /// The number that there must be.
        wanted: usize,
        /// The locale whose text it is.
        locale: String,
        /// The categories.
        categories: String,
    },
}

#[derive(Clone, Debug)]
enum SentencePiece {
    Text(String),
    Actor,
    Object,
    Target,
    Tenant,
    Count,
    /// The form of a word that goes with a number.
    Form(CountedWord, Box<Forms>),
    /// A value of `data`, with the way in which it is shown, if it has one.
    Data(Vec<String>, Option<Format>),
}

/// The numbers that a word may go with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountedWord {
    /// That of the notifications.
    Entries,
    /// That of the actors.
    Actors,
}

/// The forms of a word.
#[derive(Clone, Debug)]
struct Forms {
    texts: Vec<String>,
    plurals: Plurals,
}

/// The values of the places of a sentence; nothing where one is not known.
pub(crate) struct SentenceValues {
    pub(crate) actor: Option<String>,
    pub(crate) object: Option<String>,
    pub(crate) target: Option<String>,
    /// Name of the tenant.
    pub(crate) tenant: Option<String>,
    pub(crate) count: usize,
    /// Number of actors, those without a name among them; `None` where an event has none.
    pub(crate) actors: Option<usize>,
    pub(crate) data: Option<Arc<EventData>>,
}

/// A stretch of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub(crate) struct SentenceStretch {
    pub(crate) text: String,
    /// True for what leads to the page of the object: its name, or all of a sentence that does not have it.
    pub(crate) link: bool,
}

impl Sentence {
    /// Reads a sentence of a locale.
    ///
    /// # Errors
    /// [`SentenceError`] has a cure; the first one, if there are several.
    pub fn parse(text: &str, locale: &str) -> Result<Self, SentenceError> {
        Self::parse_with_books(&Books::built_in(None), text, locale)
    }

    /// Parses a sentence of a locale; its lists of names use the words of some books.
    pub(crate) fn parse_with_books(
        books: &Books,
        text: &str,
        locale: &str,
    ) -> Result<Self, SentenceError> {
        let (pieces, faults) = Self::read(text, locale);
        if let Some(fault) = faults.into_iter().next() {
            return Err(fault);
        }
        let words = Language::with_books(books, locale).words;
        Ok(Self { pieces, locale: tag::parsed(locale), words })
    }

    /// All faults of a text as a sentence of a locale.
    #[must_use]
    pub fn faults(text: &str, locale: &str) -> Vec<SentenceError> {
        Self::read(text, locale).1
    }

    /// The pieces of a text, and its faults in their order.
    fn read(text: &str, locale: &str) -> (Vec<SentencePiece>, Vec<SentenceError>) {
        let mut pieces = Vec::new();
        let mut faults = Vec::new();
        let mut plain = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '{' if chars.as_str().starts_with('{') => {
                    chars.next();
                    plain.push('{');
                }
                '}' if chars.as_str().starts_with('}') => {
                    chars.next();
                    plain.push('}');
                }
                '{' => {
                    let rest = chars.as_str();
                    let end = rest.find(['{', '}']);
                    let Some(end) = end.filter(|end| rest[*end..].starts_with('}')) else {
                        // Where the next place begins is not known.
                        faults.push(SentenceError::Brace);
                        return (pieces, faults);
                    };
                    let place = &rest[..end];
                    if !plain.is_empty() {
                        pieces.push(SentencePiece::Text(std::mem::take(&mut plain)));
                    }
                    match SentencePiece::parse(place, locale) {
                        Ok(piece) => pieces.push(piece),
                        Err(fault) => faults.push(fault),
                    }
                    chars = rest[end + 1..].chars();
                }
                '}' => {
                    faults.push(SentenceError::Brace);
                    return (pieces, faults);
                }
                c => plain.push(c),
            }
        }
        if !plain.is_empty() {
            pieces.push(SentencePiece::Text(plain));
        }
        (pieces, faults)
    }

    /// Returns true if the count is all that its places ask for, and that only for the form of a word: then it
    /// can be a title.
    #[must_use]
    pub fn is_title(&self) -> bool {
        let is_plain = |piece: &SentencePiece| {
            matches!(piece, SentencePiece::Text(_) | SentencePiece::Form(CountedWord::Entries, _))
        };
        self.pieces.iter().all(is_plain)
    }

    /// Returns true if the first place is that of the actor, with nothing before it.
    pub(crate) fn begins_with_actor(&self) -> bool {
        matches!(self.pieces.first(), Some(SentencePiece::Actor))
    }

    /// Returns true if it has the actor and the target, and neither the object nor `data`.
    pub(crate) fn names_only_people_and_places(&self) -> bool {
        !self
            .pieces
            .iter()
            .any(|piece| matches!(piece, SentencePiece::Object | SentencePiece::Data(..)))
    }

    /// Returns true if it has values of `data`.
    pub(crate) fn shows_data(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, SentencePiece::Data(..)))
    }

    /// The dotted paths of the `data` places with sample values; places with a format come first.
    pub(crate) fn samples(&self) -> Vec<(String, Value)> {
        let mut formatted = Vec::new();
        let mut plain = Vec::new();
        for piece in &self.pieces {
            let SentencePiece::Data(path, format) = piece else {
                continue;
            };
            let name = path.join(".");
            match format {
                None => plain.push((name, json!(path.last()))),
                Some(Format::Date | Format::Time | Format::DateTime) => {
                    formatted.push((name, json!("2024-03-04T09:00:00Z")));
                }
                Some(Format::Number) => formatted.push((name, json!(1_234.5))),
                Some(Format::Money(currency)) => {
                    formatted.push((name, json!(12.5)));
                    formatted.push((currency.join("."), json!("EUR")));
                }
            }
        }
        formatted.append(&mut plain);
        formatted
    }

    /// A title with the form of its words that goes with a count; `None` where it has other places.
    pub(crate) fn counted(&self, count: usize) -> Option<String> {
        let mut text = String::new();
        for piece in &self.pieces {
            text.push_str(match piece {
                SentencePiece::Text(text) => text,
                SentencePiece::Form(CountedWord::Entries, forms) => {
                    forms.plurals.form(&forms.texts, count)
                }
                _ => return None,
            });
        }
        (!text.is_empty()).then_some(text)
    }

    /// The sentence with its places filled, as it stands among words of a language; `None` where a place has nothing to
    /// hold. In a message of the other direction it is one isolated stretch.
    pub(crate) fn stretches(
        &self,
        said: &SentenceValues,
        language: &Language,
    ) -> Option<Vec<SentenceStretch>> {
        let around = &*language.words;
        let mut stretches: Vec<SentenceStretch> = Vec::new();
        for piece in &self.pieces {
            let text = match piece {
                SentencePiece::Text(text) => text.clone(),
                SentencePiece::Actor => said.actor.clone()?,
                SentencePiece::Object => said.object.clone()?,
                SentencePiece::Target => said.target.clone()?,
                SentencePiece::Tenant => said.tenant.clone()?,
                SentencePiece::Count => {
                    format::count(said.count, language.reader.locale_in(&self.locale))
                }
                SentencePiece::Form(counted, forms) => {
                    let count = match counted {
                        CountedWord::Entries => said.count,
                        CountedWord::Actors => said.actors?,
                    };
                    forms.plurals.form(&forms.texts, count).to_owned()
                }
                SentencePiece::Data(path, format) => {
                    let value = self.value(said, path, format.as_ref(), &language.reader)?;
                    self.words.isolated(value)
                }
            };
            let link = matches!(piece, SentencePiece::Object);
            match stretches.last_mut() {
                Some(last) if !link && !last.link => last.text.push_str(&text),
                _ => stretches.push(SentenceStretch { text, link }),
            }
        }
        if self.words.is_right_to_left != around.is_right_to_left {
            let text = stretches.into_iter().map(|stretch| stretch.text).collect();
            let text = around.isolated(text);
            return Some(vec![SentenceStretch { text, link: true }]);
        }
        if let [alone] = &mut stretches[..] {
            alone.link = true;
        }
        Some(stretches)
    }

    /// Formats a value of `data` for its place; a value that doesn't fit the format is shown as it was given.
    fn value(
        &self,
        said: &SentenceValues,
        path: &[String],
        format: Option<&Format>,
        reader: &ReaderLocale,
    ) -> Option<String> {
        let data = said.data.as_deref()?;
        let given = scalar(data, path)?;
        let Some(format) = format else {
            return Some(given);
        };
        let currency = match format {
            Format::Money(path) => scalar(data, path),
            _ => None,
        };
        // In the shared data of several events, a currency that differs is absent.
        if matches!(format, Format::Money(_)) && currency.is_none() && said.count > 1 {
            return None;
        }
        let locale = reader.locale_in(&self.locale);
        Some(format.apply(&given, currency.as_deref(), locale, reader).unwrap_or(given))
    }

    /// The same as one text.
    pub(crate) fn text(&self, said: &SentenceValues, language: &Language) -> Option<String> {
        let stretches = self.stretches(said, language)?;
        Some(stretches.into_iter().map(|stretch| stretch.text).collect())
    }
}

impl SentencePiece {
    fn parse(place: &str, locale: &str) -> Result<Self, SentenceError> {
        let unknown = || SentenceError::Unknown(place.to_owned());
        Ok(match place {
            "actor" => Self::Actor,
            "object" => Self::Object,
            "target" => Self::Target,
            "tenant" => Self::Tenant,
            "count" => Self::Count,
            _ => {
                for (name, counted) in
                    [("count", CountedWord::Entries), ("actors", CountedWord::Actors)]
                {
                    let forms = place.strip_prefix(name);
                    if let Some(forms) = forms.and_then(|rest| rest.strip_prefix('|')) {
                        let forms = Forms::parse(name, forms, locale)?;
                        return Ok(Self::Form(counted, Box::new(forms)));
                    }
                }
                let (name, format) = match place.split_once('|') {
                    Some((name, format)) => (name, Some(format)),
                    None => (place, None),
                };
                let path = path_in_data(name).ok_or_else(unknown)?;
                let read = |name| Format::parse(name, path_in_data);
                let is_unknown = || SentenceError::Format(place.to_owned());
                let format = format.map(|name| read(name).ok_or_else(is_unknown)).transpose()?;
                Self::Data(path, format)
            }
        })
    }
}

/// The names of a path such as `data.price.currency`.
fn path_in_data(text: &str) -> Option<Vec<String>> {
    let names = text.strip_prefix("data.")?.split('.');
    let is_odd =
        |name: &str| name.is_empty() || name.contains(|c: char| c == '|' || c.is_whitespace());
    names.map(|name| (!is_odd(name)).then(|| name.to_owned())).collect()
}

impl Forms {
    fn parse(place: &'static str, forms: &str, locale: &str) -> Result<Self, SentenceError> {
        let texts: Vec<String> = forms.split('|').map(str::to_owned).collect();
        let plurals = Plurals::of(locale);
        if plurals.fit(texts.len()) {
            return Ok(Self { texts, plurals });
        }
        Err(SentenceError::Forms {
            place,
            given: match texts.len() {
                1 => "1 form".to_owned(),
                forms => format!("{forms} forms"),
            },
            wanted: plurals.len(),
            locale: locale.to_owned(),
            categories: plurals.in_words(),
        })
    }
}

/// The text, number or truth at a path of an event's `data`.
fn scalar(data: &EventData, path: &[String]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let value = rest.iter().try_fold(data.get(first)?, |value, name| value.get(name))?;
    let text = match value {
        Value::String(text) => crate::words::text::clean(text),
        // Without separators: it may be a year.
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(count: usize) -> SentenceValues {
        SentenceValues {
            actor: Some("Ann".to_owned()),
            object: Some("Rain".to_owned()),
            target: None,
            tenant: None,
            count,
            actors: Some(1),
            data: None,
        }
    }

    #[test]
    fn places_are_filled_and_the_object_leads_to_its_page() {
        let sentence = Sentence::parse("{actor} sold {object}, {{really}}.", "en").unwrap();
        let stretches = sentence.stretches(&said(1), &Language::of("en")).unwrap();
        let parts: Vec<(&str, bool)> =
            stretches.iter().map(|stretch| (stretch.text.as_str(), stretch.link)).collect();
        assert_eq!(parts, [("Ann sold ", false), ("Rain", true), (", {really}.", false)]);
    }

    #[test]
    fn words_follow_the_count_in_each_language() {
        let told = |text: &str, locale: &str, count: usize| {
            let sentence = Sentence::parse(text, locale).unwrap();
            sentence.text(&said(count), &Language::of(locale)).unwrap()
        };
        let english = "{count} {count|work|works}";
        assert_eq!(told(english, "en", 1), "1 work");
        assert_eq!(told(english, "en-GB", 1_200), "1,200 works");
        assert_eq!(told("{count} {count|Werk|Werke}", "de-AT", 1_200), "1\u{a0}200 Werke");
        assert_eq!(told("{count} {count|œuvre|œuvres}", "fr", 0), "0 œuvre");
        let polish = "{count} {count|komentarz|komentarze|komentarzy}";
        for (count, words) in
            [(1, "1 komentarz"), (5, "5 komentarzy"), (22, "22 komentarze"), (25, "25 komentarzy")]
        {
            assert_eq!(told(polish, "pl", count), words);
        }
        assert_eq!(told("{count|Hinweis}e", "xx", 7), "Hinweise");
    }

    #[test]
    fn f9_a_verb_follows_the_number_of_actors() {
        let told = |text: &str, locale: &str, actors: usize| {
            let sentence = Sentence::parse(text, locale).unwrap();
            let said = SentenceValues { actors: Some(actors), ..said(1) };
            sentence.text(&said, &Language::of(locale)).unwrap()
        };
        let german = "{actor} {actors|hat|haben} {object} kommentiert";
        assert_eq!(told(german, "de", 1), "Ann hat Rain kommentiert");
        assert_eq!(told(german, "de", 2), "Ann haben Rain kommentiert");
        let hebrew = "{actors|הגיב|הגיבו|הגיבו}";
        assert_eq!([1, 2, 3].map(|actors| told(hebrew, "he", actors)), ["הגיב", "הגיבו", "הגיבו"]);
    }

    #[test]
    fn field_11_forms_are_as_many_as_the_language_has() {
        for (text, locale, fault) in [
            (
                "{count|a|b|c}",
                "en-GB",
                "`{count|…}` has 3 forms, but `en-GB` has 2: write one for each of one, other, in this order",
            ),
            (
                "{actors|a}",
                "pl",
                "`{actors|…}` has 1 form, but `pl` has 3: write one for each of one, few, many, in this order",
            ),
            (
                "{count|a}",
                "fr",
                "`{count|…}` has 1 form, but `fr` has 3: write one for each of one, many, other, or without many, \
                 in this order",
            ),
        ] {
            assert_eq!(Sentence::parse(text, locale).unwrap_err().to_string(), fault);
        }
    }

    #[test]
    fn a_sentence_without_one_of_its_values_is_not_told() {
        let to_target = Sentence::parse("{actor} in {target}", "en").unwrap();
        assert_eq!(to_target.text(&said(1), &Language::of("en")), None);
        let data = serde_json::json!({"a": {"b": 2_000, "c": []}, "d": "x\ny"});
        let of_data = |text: &str| {
            let sentence = Sentence::parse(text, "en").unwrap();
            let said = SentenceValues { data: data.as_object().cloned().map(Arc::new), ..said(1) };
            sentence.text(&said, &Language::of("en"))
        };
        assert_eq!(of_data("{data.a.b} {data.d}").as_deref(), Some("2000 x y"));
        assert_eq!(of_data("{data.a.c}"), None);
        assert_eq!(of_data("{data.x}"), None);
    }

    #[test]
    fn i42_values_have_the_format_that_their_place_names() {
        let data = serde_json::json!({
            "at": "2024-03-04T23:30:00Z", "n": 1_234.5, "price": {"amount": "12.50", "currency": "EUR"}, "none": "soon",
        });
        let told = |text: &str, locale: &str, reader: &str, count: usize| {
            let sentence = Sentence::parse(text, locale).unwrap();
            let said =
                SentenceValues { data: data.as_object().cloned().map(Arc::new), ..said(count) };
            let reader = ReaderLocale::new(reader, "Europe/Paris");
            sentence.text(&said, &Language::of(locale).for_reader(reader))
        };
        for (text, shown) in [
            ("on {data.at|date}", "on 05.03.2024"),
            ("at {data.at|time}", "at 00:30"),
            ("{data.at|datetime}", "05.03.2024, 00:30"),
            ("{data.n|number}", "1 234,5"),
            ("{data.price.amount|money(data.price.currency)}", "€ 12,50"),
            ("{data.none|date} {data.none|number}", "soon soon"),
            ("{data.n|money(data.unit)}", "1234.5"),
        ] {
            let told = told(text, "de", "de-AT", 1).unwrap();
            assert_eq!(told.replace('\u{a0}', " "), shown, "{text}");
        }
        assert_eq!(told("{data.at|date}", "en", "de", 1).as_deref(), Some("Mar 5, 2024"));
        assert_eq!(told("{data.absent|date}", "en", "de", 1), None);
        // In Hebrew the groups of a date would change places.
        assert_eq!(
            told("{data.at|date}", "he", "he", 1).as_deref(),
            Some("\u{2068}5 במרץ 2024\u{2069}")
        );
        // Of several the currency may have differed.
        let price = "{data.price.amount|money(data.price.currency)}";
        assert_eq!(told(price, "en", "en", 2).as_deref(), Some("€12.50"));
        assert_eq!(told("{data.n|money(data.unit)}", "en", "en", 2), None);
    }

    #[test]
    fn all_faults_of_a_text_are_found() {
        let faults = Sentence::faults("{artist} {object} {count|a} {work} }", "en");
        let unknown = |place: &str| SentenceError::Unknown(place.to_owned());
        assert_eq!(faults.len(), 4, "{faults:?}");
        assert_eq!(faults[0], unknown("artist"));
        assert!(matches!(faults[1], SentenceError::Forms { .. }));
        assert_eq!(faults[2..], [unknown("work"), SentenceError::Brace]);
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in ["{", "a } b", "{actor", "{actor{object}}", "{actor {object}"] {
            assert_eq!(Sentence::parse(text, "en").unwrap_err(), SentenceError::Brace, "{text}");
        }
        for text in [
            "{}",
            "{name}",
            "{data.}",
            "{data}",
            "{data.a..b}",
            "{data.|date}",
            "{data.a b}",
            "{ actor }",
        ] {
            let fault = Sentence::parse(text, "en");
            assert!(matches!(fault, Err(SentenceError::Unknown(_))), "{text}: {fault:?}");
        }
        for text in [
            "{data.a|}",
            "{data.a|euro}",
            "{data.a|Date}",
            "{data.a|date|time}",
            "{data.a| date}",
            "{data.a|money}",
            "{data.a|money(EUR)}",
            "{data.a|money(data.)}",
            "{data.a|money(data.b}",
        ] {
            let fault = Sentence::parse(text, "en");
            assert!(matches!(fault, Err(SentenceError::Format(_))), "{text}: {fault:?}");
        }
    }
}
