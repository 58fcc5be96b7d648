//! Languages of messages, and texts in several languages.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use tidings_core::rules::Texts;

use crate::words::Words;
use crate::words::books::{Books, WordBook};
use crate::words::format::{self, ReaderLocale};
use crate::words::tag::{canonical_locale, is_right_to_left, tags, written};

/// The language of a message, of a page, or of a text.
#[derive(Clone, Debug)]
pub(crate) struct Language {
    /// The tags under which its texts may stand, its own first.
    pub(crate) tags: Vec<String>,
    /// The tags of the reader's further locales, for what may be in another language.
    pub(crate) further: Vec<String>,
    /// The product's words in it; English ones where there are none.
    pub(crate) words: Arc<Words>,
    /// True if no word is missing in it.
    pub(crate) has_words: bool,
    books: Books,
    /// The reader, for values.
    pub(crate) reader: ReaderLocale,
}

impl Language {
    /// The language of a locale with tidings' own words.
    #[cfg(test)]
    pub(crate) fn of(locale: &str) -> Self {
        Self::with_books(&Books::built_in(None), locale)
    }

    /// The language of a locale with the words of some books.
    pub(crate) fn with_books(books: &Books, locale: &str) -> Self {
        let tags = tags(locale);
        let book = books.find(&tags);
        let english = || books.english(tags.first().is_some_and(|tag| is_right_to_left(tag)));
        Self {
            words: book.map_or_else(english, |book| &book.words).clone(),
            has_words: book.is_some_and(WordBook::is_whole),
            books: books.clone(),
            tags,
            further: Vec::new(),
            reader: ReaderLocale::new(locale, "UTC"),
        }
    }

    /// The language of another locale, with the same books.
    pub(crate) fn with_locale(&self, locale: &str) -> Self {
        Self::with_books(&self.books, locale)
    }

    /// The language for a reader, whose locale formats numbers if they read this language.
    pub(crate) fn for_reader(mut self, reader: ReaderLocale) -> Self {
        const TELLING: usize = 1_234_567;
        let usual = &self.words.numbers;
        let own = reader.locale_in(usual);
        if own != usual && format::count(TELLING, own) != format::count(TELLING, usual) {
            let words = Words { numbers: own.clone(), ..Words::clone(&self.words) };
            self.words = Arc::new(words);
        }
        Self { reader, ..self }
    }

    /// The tag as documents name their language.
    pub(crate) fn tag(&self) -> String {
        if self.has_words {
            return self.words.tag.clone();
        }
        let tag = self.tags.first().map_or("", String::as_str);
        written(tag).unwrap_or_else(|| self.words.tag.clone())
    }
}

/// A text in several languages, by canonical tag, or one for all of them under the empty tag.
#[derive(Clone, Debug)]
pub struct Localised<T>(BTreeMap<String, T>);

impl<T> Localised<T> {
    /// The texts of a configuration, each read with the locale whose text it is; one without a locale is of the
    /// default one.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn read<E>(
        texts: &Texts,
        usual_locale: &str,
        read: impl Fn(&str, &str) -> Result<T, E>,
    ) -> Result<Self, E> {
        let is_alone = texts.0.len() == 1;
        let of = |(locale, text): (&String, &String)| match locale.as_str() {
            "" if is_alone => Ok((String::new(), read(text, usual_locale)?)),
            "" => Ok((canonical_locale(usual_locale), read(text, usual_locale)?)),
            locale => Ok((canonical_locale(locale), read(text, locale)?)),
        };
        texts.0.iter().map(of).collect::<Result<_, E>>().map(Self)
    }

    /// The text for a locale.
    #[must_use]
    pub fn for_locale(&self, locale: &str) -> Option<&T> {
        self.at(&tags(locale))
    }

    pub(crate) fn get(&self, language: &Language) -> Option<&T> {
        self.at(&language.tags)
    }

    /// Returns true if a message in a language has this text: it is there, or was given in no language.
    pub(crate) fn serves(&self, language: &Language) -> bool {
        self.0.is_empty() || self.get(language).is_some()
    }

    fn at(&self, tags: &[String]) -> Option<&T> {
        let for_all = self.0.get("");
        for_all.or_else(|| tags.iter().find_map(|tag| self.0.get(tag)))
    }
}

impl Localised<String> {
    /// The texts of a configuration as they are.
    #[must_use]
    pub fn plain(texts: &Texts, usual_locale: &str) -> Self {
        let read = |text: &str, _: &str| Ok::<_, Infallible>(text.to_owned());
        let Ok(texts) = Self::read(texts, usual_locale, read);
        texts
    }
}

/// The first language of some locales that has all needed texts, else the default one.
pub(crate) fn first_whole<'l>(
    locales: impl IntoIterator<Item = &'l str>,
    usual: &Language,
    has_all: impl Fn(&Language) -> bool,
) -> Language {
    let mut locales = locales.into_iter();
    while let Some(locale) = locales.next() {
        let language = usual.with_locale(locale);
        if has_all(&language) {
            return Language { further: locales.flat_map(tags).collect(), ..language };
        }
    }
    usual.clone()
}

/// Returns true if a text with these tags (canonical ones) is there for a locale.
pub fn is_given<'t>(locale: &str, mut given: impl Iterator<Item = &'t str>) -> bool {
    let tags = tags(locale);
    given.any(|tag| tags.iter().any(|of| of == tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_locale_serves_all_if_it_is_alone() {
        let texts = |texts: &[(&str, &str)]| {
            let texts = texts.iter().map(|(of, text)| ((*of).to_owned(), (*text).to_owned()));
            let read = |text: &str, locale: &str| Ok::<_, ()>(format!("{text} ({locale})"));
            Localised::read(&Texts(texts.collect()), "en-GB", read).unwrap()
        };
        let alone = texts(&[("", "works")]);
        assert_eq!(alone.for_locale("fr").unwrap(), "works (en-GB)");
        let several = texts(&[("", "works"), ("de", "Werke"), ("zh-TW", "作品")]);
        for (locale, expected) in [
            ("en-GB", Some("works (en-GB)")),
            ("EN-gb", Some("works (en-GB)")),
            ("en", None),
            ("de-CH", Some("Werke (de)")),
            ("fr", None),
            ("zh-Hant-TW", Some("作品 (zh-TW)")),
            ("zh-CN", None),
        ] {
            assert_eq!(several.for_locale(locale).map(String::as_str), expected, "{locale}");
        }
    }

    #[test]
    fn languages_have_a_tag_and_a_direction() {
        for (locale, tag, direction) in [
            ("de-AT", "de", "ltr"),
            ("iw-IL", "he", "rtl"),
            ("pt-br", "pt", "ltr"),
            ("el-gr", "el-GR", "ltr"),
            ("zh-TW", "zh-Hant", "ltr"),
            ("ar", "ar", "rtl"),
            ("ur-Latn", "ur-Latn", "ltr"),
            ("he-1996", "he", "rtl"),
            ("pnb-PK", "pnb-PK", "rtl"),
            ("pa-Arab-PK", "pa-Arab-PK", "rtl"),
            ("?", "en", "ltr"),
        ] {
            let language = Language::of(locale);
            assert_eq!(
                (&*language.tag(), language.words.direction()),
                (tag, direction),
                "{locale}"
            );
        }
    }
}
