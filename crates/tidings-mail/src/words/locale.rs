//! Languages of messages, and texts in several languages.

use std::collections::BTreeMap;
use std::convert::Infallible;

use tidings_core::presentation::{Address, Texts};

use crate::words::format::Reader;
use crate::words::tag::{canonical_locale, is_right_to_left, tags, written};
use crate::words::{Words, books};

/// The language of a message, of a page, or of a text.
#[derive(Clone, Debug)]
pub(crate) struct Language {
    /// The tags under which its texts may stand, its own first.
    pub(crate) tags: Vec<String>,
    /// The product's words in it; English ones where there are none.
    pub(crate) words: &'static Words,
    /// True if there are words of its own.
    pub(crate) has_words: bool,
    /// The way in which it speaks to people; `None` for the usual one.
    address: Option<Address>,
    /// The reader of what is in it.
    pub(crate) reader: Reader,
}

impl Language {
    pub(crate) fn of(locale: &str) -> Self {
        Self::addressing(locale, None)
    }

    /// The same that speaks to people in some way.
    pub(crate) fn addressing(locale: &str, address: Option<Address>) -> Self {
        let tags = tags(locale);
        let words = books::of(&tags, address);
        Self {
            words: words.unwrap_or_else(|| {
                books::english(tags.first().is_some_and(|tag| is_right_to_left(tag)))
            }),
            has_words: words.is_some(),
            tags,
            address,
            reader: Reader::new(locale, "UTC"),
        }
    }

    /// Another language that speaks to people in the same way.
    pub(crate) fn alike(&self, locale: &str) -> Self {
        Self::addressing(locale, self.address)
    }

    /// The same for a reader.
    pub(crate) fn read_by(self, reader: Reader) -> Self {
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

/// The language of a locale if it has all that is needed, else the default one.
pub(crate) fn first_whole(
    locale: &str,
    usual: &Language,
    has_all: impl FnOnce(&Language) -> bool,
) -> Language {
    let language = usual.alike(locale);
    if has_all(&language) { language } else { usual.clone() }
}

/// Returns true if messages have words of the product's own for a locale.
#[must_use]
pub fn has_words(locale: &str) -> bool {
    books::of(&tags(locale), None).is_some()
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
