//! The parser of books of words, for tidings' own and for those of hosts.
//!
//! The English book is the pattern: its keys are the phrases that exist, and the names in its braces are the placeholders.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use tidings_core::rules::FormOfAddress;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use crate::words::plural::Plurals;

/// The most bytes of a phrase.
const PHRASE_BYTES_MAX: usize = 1 << 10;
/// Phrases that exist and that the English book lacks.
const EXTRA: [&str; 1] = ["and_others"];
/// Phrases about a number, which may have plural forms.
const NUMBERED: [&str; 9] = [
    "others",
    "other_people",
    "count_of",
    "new",
    "new_for_you",
    "new_of_kind",
    "more",
    "site.rest",
    "site.hours",
];

static PATTERN: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../../locales/en.toml")).expect("a book of this binary")
});

/// A fault of a host's book of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookFault {
    /// The position in the book, in bytes.
    pub span: Range<usize>,
    /// Description of the fault.
    pub reason: String,
    /// Advice on how to fix it.
    pub hint: String,
    /// A misspelt name, and the names that exist.
    pub misspelt: Option<(String, Vec<String>)>,
}

/// Checks a host's book of words for a locale; returns its faults in the order of their positions.
#[must_use]
pub fn book_faults(locale: &str, book: &str) -> Vec<BookFault> {
    read(locale, book).1
}

/// The phrases of a book.
#[derive(Clone, Debug, Default)]
pub(super) struct Phrases {
    pub(super) usual: Table,
    familiar: Table,
    formal: Table,
}

impl Phrases {
    /// Merges the phrases for a form of address into the usual ones.
    pub(super) fn with_address(self, address: Option<FormOfAddress>) -> Table {
        let mut phrases = self.usual;
        match address {
            None => {}
            Some(FormOfAddress::Familiar) => merge(&mut phrases, self.familiar),
            Some(FormOfAddress::Formal) => merge(&mut phrases, self.formal),
        }
        phrases
    }
}

/// Replaces phrases of a book by others, table by table.
pub(super) fn merge(book: &mut Table, phrases: Table) {
    for (key, phrase) in phrases {
        match (book.get_mut(&key), phrase) {
            (Some(Value::Table(under)), Value::Table(over)) => merge(under, over),
            (_, phrase) => {
                book.insert(key, phrase);
            }
        }
    }
}

/// The paths of the phrases that a book lacks.
pub(super) fn missing_phrases(book: &Table) -> Vec<String> {
    let mut missing = Vec::new();
    collect_missing(&PATTERN, Some(book), "", &mut missing);
    missing
}

fn collect_missing(pattern: &Table, book: Option<&Table>, above: &str, into: &mut Vec<String>) {
    for (key, phrase) in pattern {
        let path = format!("{above}{key}");
        let given = book.and_then(|book| book.get(key));
        match phrase {
            Value::Table(table) => {
                collect_missing(table, given.and_then(Value::as_table), &format!("{path}."), into);
            }
            _ if given.is_none() => into.push(path),
            _ => {}
        }
    }
}

/// The English phrases, which fill the gaps of other books.
pub(super) fn english() -> &'static Table {
    &PATTERN
}

/// Parses the book of a locale. Phrases with a fault are left out.
pub(super) fn read(locale: &str, book: &str) -> (Phrases, Vec<BookFault>) {
    let (document, errors) = DeTable::parse_recoverable(book);
    let mut reader = BookParser { plurals: Plurals::of(locale), locale, faults: Vec::new() };
    for error in &errors {
        let span = error.span().unwrap_or(book.len()..book.len());
        let reason = error.message().replace('\n', ", ");
        reader.fault(&span, reason, "see https://toml.io for how tables and texts are written");
    }
    let mut phrases =
        Phrases { usual: reader.table(document.get_ref(), &PATTERN, ""), ..Phrases::default() };
    for (address, table) in [
        (FormOfAddress::Familiar, &mut phrases.familiar),
        (FormOfAddress::Formal, &mut phrases.formal),
    ] {
        match document.get_ref().get(address.word()).map(|given| (given.span(), given.get_ref())) {
            None => {}
            Some((_, DeValue::Table(given))) => *table = reader.table(given, &PATTERN, ""),
            Some((span, _)) => {
                let reason = format!("`{}` must be a table of phrases", address.word());
                reader.fault(&span, reason, format!("write `[{}]`", address.word()));
            }
        }
    }
    reader.faults.sort_by_key(|fault| (fault.span.start, fault.span.end));
    (phrases, reader.faults)
}

struct BookParser<'a> {
    plurals: Plurals,
    locale: &'a str,
    faults: Vec<BookFault>,
}

impl BookParser<'_> {
    fn fault(&mut self, span: &Range<usize>, reason: impl Into<String>, hint: impl Into<String>) {
        self.faults.push(BookFault {
            span: span.clone(),
            reason: reason.into(),
            hint: hint.into(),
            misspelt: None,
        });
    }

    /// Reads the phrases of a table that have the form of the pattern.
    fn table(&mut self, given: &DeTable<'_>, pattern: &Table, above: &str) -> Table {
        let mut phrases = Table::new();
        for (key, value) in given {
            let name: &str = key.get_ref();
            let path = format!("{above}{name}");
            let is_address = FormOfAddress::ALL.iter().any(|address| address.word() == path);
            let phrase = match pattern.get(name) {
                Some(pattern) => self.phrase(value, pattern, &path),
                None if EXTRA.contains(&&*path) => {
                    self.phrase(value, &Value::String(String::new()), &path)
                }
                None if is_address => None,
                None => {
                    self.unknown(&key.span(), &path, pattern);
                    None
                }
            };
            if let Some(phrase) = phrase {
                phrases.insert(name.to_owned(), phrase);
            }
        }
        phrases
    }

    fn unknown(&mut self, span: &Range<usize>, path: &str, pattern: &Table) {
        let above = path.rsplit_once('.').map_or("", |(above, _)| above);
        let mut names: Vec<String> = pattern.keys().cloned().collect();
        if above.is_empty() {
            names.extend(EXTRA.map(str::to_owned));
            names.extend(FormOfAddress::ALL.map(|address| address.word().to_owned()));
        }
        let name = path.rsplit('.').next().unwrap_or(path).to_owned();
        self.faults.push(BookFault {
            span: span.clone(),
            reason: format!("`{path}` is an unknown phrase"),
            hint: "remove it; the known names are those of the English book".to_owned(),
            misspelt: Some((name, names)),
        });
    }

    fn phrase(
        &mut self,
        given: &Spanned<DeValue<'_>>,
        pattern: &Value,
        path: &str,
    ) -> Option<Value> {
        let span = given.span();
        let is_numbered = NUMBERED.contains(&path);
        match (given.get_ref(), pattern) {
            (DeValue::Table(given), Value::Table(pattern)) => {
                Some(Value::Table(self.table(given, pattern, &format!("{path}."))))
            }
            (DeValue::Boolean(given), Value::Boolean(_)) => Some(Value::Boolean(*given)),
            (DeValue::String(text), pattern) if is_numbered => self
                .text(&span, text, last(pattern), path, true)
                .then(|| text.clone().into_owned().into()),
            (DeValue::Array(forms), pattern) if is_numbered => {
                if !self.plurals.fit(forms.len()) {
                    let reason = format!(
                        "`{path}` has {} forms, but `{}` has {}",
                        forms.len(),
                        self.locale,
                        self.plurals.len()
                    );
                    let hint =
                        format!("write one for each of {}, in this order", self.plurals.in_words());
                    self.fault(&span, reason, hint);
                    return None;
                }
                let count = forms.len();
                let forms = forms.iter().enumerate();
                let texts: Vec<Option<Value>> = forms
                    .map(|(at, form)| self.form(form, last(pattern), path, at + 1 == count))
                    .collect();
                texts.into_iter().collect::<Option<Vec<_>>>().map(Value::Array)
            }
            (DeValue::String(text), Value::String(pattern)) => self
                .text(&span, text, pattern, path, true)
                .then(|| text.clone().into_owned().into()),
            (_, pattern) => {
                let hint = match pattern {
                    Value::Table(_) => format!("write `[{path}]`"),
                    Value::Boolean(_) => "write `true` or `false`".to_owned(),
                    _ if is_numbered => format!(
                        "write a text, or a list of one for each of {}",
                        self.plurals.in_words()
                    ),
                    _ => "write a text in quotes".to_owned(),
                };
                self.fault(&span, format!("`{path}` has the wrong type"), hint);
                None
            }
        }
    }

    fn form(
        &mut self,
        given: &Spanned<DeValue<'_>>,
        pattern: &str,
        path: &str,
        is_last: bool,
    ) -> Option<Value> {
        match given.get_ref() {
            DeValue::String(text) => self
                .text(&given.span(), text, pattern, path, is_last)
                .then(|| text.clone().into_owned().into()),
            _ => {
                let reason = format!("`{path}` must be a list of texts");
                self.fault(&given.span(), reason, "write a text in quotes");
                None
            }
        }
    }

    /// Checks the text of a phrase. A form for a small number may spell it out and lack `{n}`.
    fn text(
        &mut self,
        span: &Range<usize>,
        text: &str,
        pattern: &str,
        path: &str,
        is_last: bool,
    ) -> bool {
        let fault = if text.len() > PHRASE_BYTES_MAX {
            Some(("is too long".to_owned(), format!("write at most {PHRASE_BYTES_MAX} bytes")))
        } else if text.chars().any(char::is_control) {
            Some(("has a control character".to_owned(), "write it in one line".to_owned()))
        } else if text.trim().is_empty() && pattern.contains(char::is_alphabetic) {
            Some(("is empty".to_owned(), "write some text, or remove it".to_owned()))
        } else {
            wrong_place(text, pattern, is_last)
        };
        let Some((reason, hint)) = fault else { return true };
        self.fault(span, format!("`{path}` {reason}"), hint);
        false
    }
}

/// The text of a phrase that has all of its placeholders: the last form.
fn last(phrase: &Value) -> &str {
    let last = phrase.as_array().and_then(|forms| forms.last()).unwrap_or(phrase);
    last.as_str().unwrap_or_default()
}

/// The placeholders of a text.
fn places(text: &str) -> BTreeSet<&str> {
    let names = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    names.map(|(name, _)| name).collect()
}

/// The fault of a text with an unknown or a missing placeholder, and a hint.
fn wrong_place(text: &str, pattern: &str, is_last: bool) -> Option<(String, String)> {
    let (found, wanted) = (places(text), places(pattern));
    let listed = |places: &BTreeSet<&str>| {
        let all: Vec<String> = places.iter().map(|place| format!("`{{{place}}}`")).collect();
        all.join(", ")
    };
    let hint = || match wanted.len() {
        0 => "it has no placeholders: write plain text".to_owned(),
        _ => format!("its placeholders are {}", listed(&wanted)),
    };
    let braces = text.matches(['{', '}']).count();
    let all = text.split('{').skip(1).filter(|rest| rest.contains('}')).count();
    if braces != 2 * all {
        return Some(("has an unmatched brace".to_owned(), hint()));
    }
    if let Some(unknown) = found.difference(&wanted).next() {
        return Some((format!("has the unknown placeholder `{{{unknown}}}`"), hint()));
    }
    let lacking = wanted.difference(&found).find(|place| is_last || **place != "n")?;
    Some((format!("lacks `{{{lacking}}}`"), hint()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Words;

    #[test]
    fn a_book_of_a_host_has_every_fault_with_its_place() {
        let book = "\
colon = 3
colum = ': '
others = ['eins', '{n} andere', 'zu viele']
more = ['und eins', 'und mehr']
zone = '{ort}'
full_stop = ['.']
months = ['Januar']
take_a_look = ' '
familiar = 'du'
[site]
titel = 'x'
weekly = [1]
lead = '{'
";
        let lines: Vec<String> = book_faults("de", book)
            .into_iter()
            .map(|fault| {
                let line = book[..fault.span.start].matches('\n').count() + 1;
                format!("{line}: {}", fault.reason)
            })
            .collect();
        assert_eq!(
            lines,
            [
                "1: `colon` has the wrong type",
                "2: `colum` is an unknown phrase",
                "3: `others` has 3 forms, but `de` has 2",
                "4: `more` lacks `{n}`",
                "5: `zone` has the unknown placeholder `{ort}`",
                "6: `full_stop` has the wrong type",
                "7: `months` is an unknown phrase",
                "8: `take_a_look` is empty",
                "9: `familiar` must be a table of phrases",
                "11: `site.titel` is an unknown phrase",
                "12: `site.weekly` has the wrong type",
                "13: `site.lead` has an unmatched brace",
            ]
        );
        let (found, names) = book_faults("de", book)[9].misspelt.clone().unwrap();
        assert!(found == "titel" && names.contains(&"title".to_owned()));
        assert_eq!(book_faults("de", "colon = '"), book_faults("de", "colon = '"));
        assert!(!book_faults("de", "colon = '").is_empty());
        assert_eq!(book_faults("de", ""), []);
    }

    #[test]
    fn the_numbered_phrases_are_those_that_take_forms() {
        let forms = Value::Array(vec!["{n}".into(), "{n}".into()]);
        for path in missing_phrases(&Table::new()) {
            let mut table = Table::new();
            match path.split_once('.') {
                None => {
                    table.insert(path.clone(), forms.clone());
                }
                Some((above, name)) => {
                    let inner = Table::from_iter([(name.to_owned(), forms.clone())]);
                    table.insert(above.to_owned(), Value::Table(inner));
                }
            }
            let mut whole = PATTERN.clone();
            merge(&mut whole, table);
            let is_taken = whole.try_into::<Words>().is_ok();
            assert_eq!(is_taken, NUMBERED.contains(&&*path), "{path}");
        }
    }
}
