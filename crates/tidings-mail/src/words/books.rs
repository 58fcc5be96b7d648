//! The books of words, by language tag: one file of `locales` for each language, with the host's books merged into them.
//!
//! The English book is the pattern: its names are the phrases that exist, the names in its braces their placeholders. A host's
//! incomplete book is no language, but for the default locale, whose gaps English fills.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use tidings_core::rules::{FormOfAddress, Presentation};
use toml::Table;

use crate::words::Words;
use crate::words::book::{self, merge, missing_phrases};
use crate::words::plural::Plurals;
use crate::words::tag::{canonical_locale, is_right_to_left, parsed, tags, written};

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

static USUAL: LazyLock<Books> = LazyLock::new(|| Books::load_built_in(None));
static FAMILIAR: LazyLock<Books> =
    LazyLock::new(|| Books::load_built_in(Some(FormOfAddress::Familiar)));
static FORMAL: LazyLock<Books> =
    LazyLock::new(|| Books::load_built_in(Some(FormOfAddress::Formal)));

/// The extent to which tidings has its own words in a locale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnWords {
    /// All words.
    All,
    /// All but these phrases, which the host's book lacks and which are in English.
    Without(Vec<String>),
    /// None: all are in English.
    None,
}

/// The books of words of a configuration.
#[derive(Clone, Debug)]
pub struct Books(Arc<All>);

#[derive(Debug)]
struct All {
    books: Vec<WordBook>,
    /// The English words for left-to-right and for right-to-left messages.
    english: [Arc<Words>; 2],
}

/// The words of a locale.
#[derive(Clone, Debug)]
pub(crate) struct WordBook {
    /// The canonical tag.
    tag: String,
    phrases: Table,
    pub(crate) words: Arc<Words>,
    /// The phrases that it lacks, which are in English.
    missing: Vec<String>,
}

impl WordBook {
    /// Builds the book of some phrases; English ones fill its gaps.
    fn new(tag: &str, phrases: Table) -> Self {
        let mut whole = book::english().clone();
        merge(&mut whole, phrases.clone());
        let words: Words = whole
            .try_into()
            .expect("the reader takes no phrase of another kind than the English one");
        let canonical = canonical_locale(tag);
        let words = Words {
            tag: written(tag).unwrap_or_else(|| tag.to_owned()),
            is_right_to_left: is_right_to_left(&canonical),
            plurals: Plurals::of(tag),
            numbers: parsed(tag),
            ..words
        };
        Self { tag: canonical, missing: missing_phrases(&phrases), phrases, words: Arc::new(words) }
    }

    /// Returns true if no phrase is missing.
    pub(crate) fn is_whole(&self) -> bool {
        self.missing.is_empty()
    }
}

impl Books {
    /// The books of a configuration: tidings' own, with the host's merged into them.
    #[must_use]
    pub fn of(presentation: &Presentation) -> Self {
        Self::with(&presentation.words, presentation.brand.address)
    }

    fn load_built_in(address: Option<FormOfAddress>) -> Self {
        let books = BOOKS.map(|(tag, text)| {
            let (phrases, _) = book::read(tag, text);
            WordBook::new(tag, phrases.with_address(address))
        });
        Self::all(books.into())
    }

    fn all(books: Vec<WordBook>) -> Self {
        let english = books.iter().find(|book| book.tag == "en");
        let english = english.map(|book| book.words.clone());
        let english = english.expect("English is among the books of this binary");
        let mirrored = Words { is_right_to_left: true, ..Words::clone(&english) };
        Self(Arc::new(All { books, english: [english, Arc::new(mirrored)] }))
    }

    /// tidings' own books for a form of address.
    pub(crate) fn built_in(address: Option<FormOfAddress>) -> Self {
        let books = match address {
            None => &USUAL,
            Some(FormOfAddress::Familiar) => &FAMILIAR,
            Some(FormOfAddress::Formal) => &FORMAL,
        };
        (*books).clone()
    }

    /// tidings' own books with a host's merged into them, by locale. A book takes the phrases that it lacks from the book of
    /// the nearest shorter tag.
    pub(crate) fn with(host: &BTreeMap<String, String>, address: Option<FormOfAddress>) -> Self {
        let own = Self::built_in(address);
        if host.is_empty() {
            return own;
        }
        let mut books = own.0.books.clone();
        // Shorter tags come first.
        for (tag, text) in host {
            let (phrases, _) = book::read(tag, text);
            let over = phrases.with_address(address);
            let under =
                tags(tag).into_iter().find_map(|tag| books.iter().find(|book| book.tag == tag));
            let mut phrases = under.map(|book| book.phrases.clone()).unwrap_or_default();
            merge(&mut phrases, over);
            let book = WordBook::new(tag, phrases);
            match books.iter_mut().find(|known| known.tag == book.tag) {
                Some(known) => *known = book,
                None => books.push(book),
            }
        }
        Self::all(books)
    }

    /// The extent to which the words exist in a locale.
    #[must_use]
    pub fn words_of(&self, locale: &str) -> OwnWords {
        match self.find(&tags(locale)) {
            None => OwnWords::None,
            Some(book) if book.is_whole() => OwnWords::All,
            Some(book) => OwnWords::Without(book.missing.clone()),
        }
    }

    /// The first book of some tags.
    pub(crate) fn find(&self, tags: &[String]) -> Option<&WordBook> {
        let book = |tag: &String| self.0.books.iter().find(|book| book.tag == *tag);
        tags.iter().find_map(book)
    }

    /// The English words, for messages of one direction.
    pub(crate) fn english(&self, is_right_to_left: bool) -> &Arc<Words> {
        &self.0.english[usize::from(is_right_to_left)]
    }
}

/// The built-in English words.
#[cfg(test)]
pub(crate) fn english() -> Arc<Words> {
    USUAL.0.english[0].clone()
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

    #[test]
    fn each_book_is_whole_and_has_no_fault() {
        for (tag, text) in BOOKS {
            assert_eq!(book::read(tag, text).1, [], "{tag}");
            for books in [&USUAL, &FAMILIAR, &FORMAL] {
                assert_eq!(books.words_of(tag), OwnWords::All, "{tag}");
            }
            let is_clean = |line: &str| !line.contains('\t') && !line.ends_with(' ');
            assert!(text.lines().all(is_clean), "{tag}");
        }
    }

    fn host(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let files = files.iter();
        files.map(|(locale, text)| (canonical_locale(locale), (*text).to_owned())).collect()
    }

    #[test]
    fn a_host_lays_phrases_over_those_of_tidings() {
        let files = host(&[
            (
                "de",
                "take_a_look = 'Zeigen'\n[formal]\ntake_a_look = 'Bitte ansehen'\n[site]\nstop = 'Aus'",
            ),
            ("de-AT", "[site]\nundo = 'Retour'"),
            ("no", "take_a_look = 'Titt'"),
            ("zh-TW", "take_a_look = '看'"),
        ]);
        let books = Books::with(&files, Some(FormOfAddress::Formal));
        let of = |locale: &str| Language::with_books(&books, locale);
        let words = |locale: &str| {
            let words = of(locale).words;
            [&words.take_a_look, &words.site.stop, &words.site.undo, &words.site.next]
                .map(ToOwned::to_owned)
        };
        assert_eq!(words("de-CH"), ["Bitte ansehen", "Aus", "Rückgängig machen", "Nächste Seite"]);
        assert_eq!(words("de-AT-1996"), ["Bitte ansehen", "Aus", "Retour", "Nächste Seite"]);
        assert_eq!(of("de-at").tag(), "de-AT");
        assert_eq!(words("nb-NO")[0], "Titt");
        assert_eq!(words("zh-Hant-TW")[0], "看");
        assert_ne!(words("zh-HK")[0], "看");
        assert_eq!(words("fr")[0], Language::of("fr").words.take_a_look);
        assert_eq!(books.words_of("de-AT"), OwnWords::All);
        let usual = Books::with(&files, None);
        assert_eq!(Language::with_books(&usual, "de").words.take_a_look, "Zeigen");
    }

    #[test]
    fn a_host_adds_a_language_and_what_it_lacks_is_english() {
        let some = "take_a_look = 'Δείτε'\nothers = ['{n} άλλος', '{n} άλλοι']";
        let books = Books::with(&host(&[("el", some)]), None);
        let greek = Language::with_books(&books, "el-GR");
        assert!(!greek.has_words);
        assert_eq!((&*greek.words.take_a_look, &*greek.words.details), ("Δείτε", "See details"));
        assert_eq!(greek.words.counted(&greek.words.others, 2), "2 άλλοι");
        let OwnWords::Without(missing) = books.words_of("el") else { panic!("some are there") };
        assert!(
            missing.contains(&"site.undo".to_owned()) && !missing.contains(&"others".to_owned())
        );
        assert_eq!(Books::built_in(None).words_of("el"), OwnWords::None);
        let whole = BOOKS[0].1;
        let books = Books::with(&host(&[("ur", whole)]), None);
        let urdu = Language::with_books(&books, "ur-PK");
        assert!(urdu.has_words && urdu.words.is_right_to_left);
        assert_eq!((urdu.tag(), books.words_of("ur")), ("ur".to_owned(), OwnWords::All));
    }

    #[test]
    fn a_language_speaks_to_people_as_the_brand_does() {
        let language =
            |locale: &str, address| Language::with_books(&Books::built_in(address), locale);
        let lead = |locale: &str, address: Option<FormOfAddress>| {
            language(locale, address).words.site.lead.split('.').next().unwrap().to_owned()
        };
        let (familiar, formal) = (Some(FormOfAddress::Familiar), Some(FormOfAddress::Formal));
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
        let italian = language("it", formal).words;
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
            ("nb", ["1 nytt", "2 nye", "5 nye", "21 nye"]),
            ("he", ["התראה חדשה", "2 התראות חדשות", "5 התראות חדשות", "21 התראות חדשות"]),
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
