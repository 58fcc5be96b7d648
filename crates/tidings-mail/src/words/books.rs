//! The books of words, by the tags of their languages. They are data: a file of `locales` for each language.

use std::sync::LazyLock;

use tidings_core::presentation::Address;
use toml::{Table, Value};

use crate::words::Words;
use crate::words::plural::Plurals;
use crate::words::tag::{canonical_locale, is_right_to_left};

/// The books of tags.
macro_rules! books {
    ($($tag:literal),+) => {
        [$(($tag, include_str!(concat!("../../locales/", $tag, ".toml")))),+]
    };
}

/// The books: the tags and the texts of their files.
const BOOKS: [(&str, &str); 24] = books![
    "en", "de", "fr", "he", "ja", "es", "pt", "it", "nl", "pl", "ru", "uk", "cs", "sv", "da", "fi",
    "nb", "tr", "ar", "fa", "zh-Hans", "zh-Hant", "ko", "hi"
];

static USUAL: LazyLock<Vec<Words>> = LazyLock::new(|| all(None));
static FAMILIAR: LazyLock<Vec<Words>> = LazyLock::new(|| all(Some(Address::Familiar)));
static FORMAL: LazyLock<Vec<Words>> = LazyLock::new(|| all(Some(Address::Formal)));
/// English among texts that run from right to left.
static AMONG_RIGHT_TO_LEFT: LazyLock<Words> =
    LazyLock::new(|| Words { is_right_to_left: true, ..USUAL[0].clone() });

#[expect(clippy::expect_used, reason = "the books are a part of the binary, and a test reads each")]
fn all(address: Option<Address>) -> Vec<Words> {
    let book = |(tag, text)| read(tag, text, address).expect("a book of this binary");
    BOOKS.map(book).into()
}

/// Reads a book, with the table of the phrases that speak to people in some way laid over it.
///
/// # Errors
/// The text is no TOML, lacks a phrase, or has one too many.
fn read(tag: &str, text: &str, address: Option<Address>) -> Result<Words, toml::de::Error> {
    let mut book: Table = toml::from_str(text)?;
    for of in Address::ALL {
        match book.remove(of.word()) {
            Some(Value::Table(phrases)) if address == Some(of) => lay_over(&mut book, phrases),
            Some(Value::Table(_)) | None => {}
            // Refused as a phrase too many.
            Some(other) => {
                book.insert(of.word().to_owned(), other);
            }
        }
    }
    let words: Words = book.try_into()?;
    Ok(Words {
        tag: tag.to_owned(),
        is_right_to_left: is_right_to_left(&canonical_locale(tag)),
        plurals: Plurals::of(tag),
        ..words
    })
}

/// Puts phrases in the place of others, table by table.
fn lay_over(book: &mut Table, phrases: Table) {
    for (key, phrase) in phrases {
        match (book.get_mut(&key), phrase) {
            (Some(Value::Table(under)), Value::Table(over)) => lay_over(under, over),
            (_, phrase) => {
                book.insert(key, phrase);
            }
        }
    }
}

/// The book that stands in for every other language, among texts of one direction or the other.
pub(crate) fn english(is_right_to_left: bool) -> &'static Words {
    if is_right_to_left { &AMONG_RIGHT_TO_LEFT } else { &USUAL[0] }
}

/// The words under the first of some tags that has any, which speak to people in some way.
pub(crate) fn of(tags: &[String], address: Option<Address>) -> Option<&'static Words> {
    let books = match address {
        None => &USUAL,
        Some(Address::Familiar) => &FAMILIAR,
        Some(Address::Formal) => &FORMAL,
    };
    let book = |tag: &String| books.iter().find(|words| words.tag.eq_ignore_ascii_case(tag));
    tags.iter().find_map(book)
}

/// The tags of the languages that have a book.
#[cfg(test)]
pub(crate) const TAGS: [&str; 24] = {
    let mut tags = [""; 24];
    let mut at = 0;
    while at < tags.len() {
        tags[at] = BOOKS[at].0;
        at += 1;
    }
    tags
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::locale::Language;

    /// The phrases of a table by their paths, each as its forms.
    fn phrases(table: &Table, path: &str, into: &mut Vec<(String, Vec<String>)>) {
        for (key, value) in table {
            let path = format!("{path}{key}");
            match value {
                Value::Table(table) => phrases(table, &format!("{path}."), into),
                Value::String(text) => into.push((path, vec![text.clone()])),
                Value::Array(texts) => {
                    let text = |text: &Value| text.as_str().unwrap().to_owned();
                    into.push((path, texts.iter().map(text).collect()));
                }
                _ => {}
            }
        }
    }

    fn phrases_of(text: &str) -> Vec<(String, Vec<String>)> {
        let mut found = Vec::new();
        phrases(&toml::from_str(text).unwrap(), "", &mut found);
        found
    }

    /// The names in braces of a text, sorted.
    fn places(text: &str) -> Vec<String> {
        let names = text.split('{').skip(1).map(|rest| rest.split('}').next().unwrap());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names
    }

    #[test]
    fn each_book_has_the_forms_of_its_language() {
        for words in [&USUAL, &FAMILIAR, &FORMAL].into_iter().flat_map(|books| books.iter()) {
            for phrase in [
                &words.others,
                &words.other_people,
                &words.count_of,
                &words.new,
                &words.new_for_you,
                &words.new_of_kind,
                &words.more,
                &words.site.rest,
                &words.site.hours,
            ] {
                let forms = phrase.forms();
                assert!(
                    forms.len() == 1 || words.plurals.fit(forms.len()),
                    "{}: {forms:?}",
                    words.tag
                );
                // Small numbers may be words, large ones never are.
                assert!(forms.last().unwrap().contains("{n}"), "{}: {forms:?}", words.tag);
            }
        }
    }

    #[test]
    fn each_phrase_has_the_places_that_it_has_in_english() {
        let english = phrases_of(BOOKS[0].1);
        for (tag, text) in BOOKS {
            for (path, forms) in phrases_of(text) {
                let own = ["familiar.", "formal."].iter().find_map(|of| path.strip_prefix(of));
                let path = own.unwrap_or(&path);
                if path == "and_others" {
                    continue;
                }
                let of_path = english.iter().find(|(known, _)| known == path);
                let (_, expected) = of_path.unwrap_or_else(|| panic!("{tag}: {path}"));
                let expected = places(&expected[0]);
                for (at, form) in forms.iter().enumerate() {
                    let mut found = places(form);
                    let is_last = at + 1 == forms.len();
                    if !is_last && !found.contains(&"n".to_owned()) && forms.len() > 1 {
                        found.push("n".to_owned());
                        found.retain(|name| expected.contains(name));
                        found.sort();
                    }
                    assert_eq!(found, expected, "{tag}: {path}: {form}");
                    let is_clean = !form.contains("  ") && !form.contains(['\t', '\n']);
                    assert!(is_clean, "{tag}: {path}: {form:?}");
                }
            }
        }
    }

    #[test]
    fn a_book_with_a_phrase_too_few_or_too_many_is_refused() {
        let (tag, text) = BOOKS[0];
        let lacks = text.replacen("colon = ", "# colon = ", 1);
        assert!(read(tag, &lacks, None).is_err());
        assert!(read(tag, &format!("column = ''\n{text}"), None).is_err());
        assert!(read(tag, &format!("familiar = ''\n{text}"), None).is_err());
        let over = format!("{text}\n[formal.site]\nstart = ''\n");
        assert!(read(tag, &over, Some(Address::Formal)).is_err());
    }

    #[test]
    fn a_language_speaks_to_people_as_the_brand_does() {
        let lead = |locale: &str, address: Option<Address>| {
            Language::addressing(locale, address).words.site.lead.split('.').next().unwrap()
        };
        let (familiar, formal) = (Some(Address::Familiar), Some(Address::Formal));
        let german = "Wählen Sie aus, was Sie per E-Mail bekommen";
        assert_eq!(lead("de-AT", None), german);
        assert_eq!(lead("de-AT", formal), german);
        assert_eq!(lead("de-AT", familiar), "Wähle aus, was du per E-Mail bekommst");
        let spanish = "Elige qué quieres recibir por correo electrónico";
        assert_eq!(lead("es-MX", familiar), spanish);
        assert_eq!(lead("es-MX", formal), "Elija qué quiere recibir por correo electrónico");
        for address in [None, familiar, formal] {
            assert_eq!(lead("en", address), "Choose what you get by e-mail");
        }
        // What a table lacks is that of the book.
        let italian = Language::addressing("it", formal).words;
        assert_eq!(italian.site.undo, "Annulla");
        assert_eq!(italian.near.note, "vicino a Lei");
    }

    #[test]
    fn phrases_about_numbers_are_right_for_each() {
        for (locale, told) in [
            ("en", ["1 new", "2 new", "5 new", "21 new"]),
            ("es", ["1 novedad", "2 novedades", "5 novedades", "21 novedades"]),
            ("pl", ["1 nowe", "2 nowe", "5 nowych", "21 nowych"]),
            ("ru", ["1 новое", "2 новых", "5 новых", "21 новое"]),
            ("uk", ["1 нове", "2 нові", "5 нових", "21 нове"]),
            ("cs", ["1 nové", "2 nová", "5 nových", "21 nových"]),
            ("fi", ["1 uusi", "2 uutta", "5 uutta", "21 uutta"]),
            ("ar", ["إشعار جديد", "إشعاران جديدان", "5 إشعارات جديدة", "21 إشعارًا جديدًا"]),
            ("fa", ["۱ مورد جدید", "۲ مورد جدید", "۵ مورد جدید", "۲۱ مورد جدید"]),
            ("zh-TW", ["1 則新動態", "2 則新動態", "5 則新動態", "21 則新動態"]),
        ] {
            let words = Language::of(locale).words;
            let found = [1, 2, 5, 21].map(|count| words.counted(&words.new, count));
            assert_eq!(found, told, "{locale}");
        }
    }

    #[test]
    fn lists_count_people_as_each_language_does() {
        let names = ["A", "B", "C", "D", "E"].map(str::to_owned);
        for (locale, list) in [
            ("es", "A, B y 3 personas más"),
            ("pl", "A, B i 3 inne osoby"),
            ("ru", "A, B и ещё 3 человека"),
            ("cs", "A, B a 3 další"),
            ("nb", "A, B og 3 andre"),
            ("tr", "A, B ve 3 kişi daha"),
            ("ar", "A وB و3 أشخاص آخرين"),
            ("fa", "A، B و ۳ نفر دیگر"),
            ("zh-CN", "A、B和另外 3 人"),
            ("ko", "A, B 외 3명"),
            ("hi", "A, B और 3 अन्य"),
        ] {
            assert_eq!(Language::of(locale).words.listed_people(&names, 0), list, "{locale}");
        }
        assert_eq!(Language::of("ko").words.listed(&names[..2], 0), "A, B");
    }

    #[test]
    fn turkish_makes_letters_small_with_its_own_dots() {
        let titles = ["İndirimler", "Işıklar", "Yeni eserler"];
        let small = titles.map(|title| Language::of("tr").words.in_a_phrase(title));
        assert_eq!(small, ["indirimler", "ışıklar", "yeni eserler"]);
        assert_eq!(Language::of("en").words.in_a_phrase("Invoices"), "invoices");
    }
}
