//! Languages: their tags (BCP 47), the order in which texts are looked up (RFC 4647), and texts in several languages.

use std::collections::BTreeMap;
use std::convert::Infallible;

use icu_locale_core::Locale;
use tidings_core::presentation::Texts;

use crate::words::{self, Words};

/// The longest tag (RFC 5646, section 4.4.1), in bytes.
const TAG_BYTES_MAX: usize = 35;

/// Names that stand where a tag should, in lower case, and the tag.
const NAMES: [(&str, &str); 30] = [
    ("arabic", "ar"),
    ("chinese", "zh"),
    ("czech", "cs"),
    ("danish", "da"),
    ("dansk", "da"),
    ("deutsch", "de"),
    ("dutch", "nl"),
    ("english", "en"),
    ("español", "es"),
    ("finnish", "fi"),
    ("français", "fr"),
    ("french", "fr"),
    ("german", "de"),
    ("greek", "el"),
    ("hebrew", "he"),
    ("hindi", "hi"),
    ("italian", "it"),
    ("italiano", "it"),
    ("japanese", "ja"),
    ("korean", "ko"),
    ("norwegian", "nb"),
    ("persian", "fa"),
    ("polish", "pl"),
    ("polski", "pl"),
    ("portuguese", "pt"),
    ("russian", "ru"),
    ("spanish", "es"),
    ("swedish", "sv"),
    ("turkish", "tr"),
    ("ukrainian", "uk"),
];

/// Languages that are written from right to left where their tags name no script.
const RIGHT_TO_LEFT: [&str; 14] =
    ["ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"];
const RIGHT_TO_LEFT_SCRIPTS: [&str; 7] = ["adlm", "arab", "hebr", "nkoo", "rohg", "syrc", "thaa"];

/// The fault of a text that is no tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocaleError {
    /// A tag that was probably meant is known.
    #[error("did you mean `{0}`?")]
    Near(String),
    /// None is.
    #[error("write a BCP 47 tag, such as `en` or `pt-BR`")]
    Unknown,
}

/// Checks that a text is the tag of a language, whatever the case of its letters.
///
/// Languages that nobody has heard of are accepted: their readers get texts of the default locale. A name in full is
/// none, although RFC 5646 keeps room for languages of five to eight letters: none was ever registered.
///
/// # Errors
/// [`LocaleError`], with the tag that was probably meant.
///
/// # Examples
/// ```
/// use tidings_mail::check_locale;
///
/// assert_eq!(check_locale("pt-br"), Ok(()));
/// assert_eq!(check_locale("de_AT").unwrap_err().to_string(), "did you mean `de-AT`?");
/// assert_eq!(check_locale("german").unwrap_err().to_string(), "did you mean `de`?");
/// ```
pub fn check_locale(text: &str) -> Result<(), LocaleError> {
    if written(text).is_some() {
        return Ok(());
    }
    let lower = text.trim().to_lowercase();
    if let Some((_, tag)) = NAMES.iter().find(|(name, _)| *name == lower) {
        return Err(LocaleError::Near((*tag).to_owned()));
    }
    // As POSIX writes it: `de_AT.UTF-8`.
    let tag = text.trim().split(['.', '@']).next().unwrap_or_default();
    let near = written(&tag.replace('_', "-"));
    Err(near.map_or(LocaleError::Unknown, LocaleError::Near))
}

/// A tag in its usual case; `None` if it is none.
fn written(tag: &str) -> Option<String> {
    const LANGUAGE_BYTES_MAX: usize = 3;
    if tag.len() > TAG_BYTES_MAX {
        return None;
    }
    let locale = Locale::try_from_str(tag).ok()?;
    let is_short = locale.id.language.as_str().len() <= LANGUAGE_BYTES_MAX;
    is_short.then(|| locale.to_string())
}

/// The tag by which texts of a locale are found: in lower case, by the language's present name, Chinese with its script.
///
/// # Examples
/// ```
/// use tidings_mail::canonical_locale;
///
/// assert_eq!(canonical_locale("de-AT"), "de-at");
/// assert_eq!(canonical_locale("zh-TW"), "zh-hant-tw");
/// ```
#[must_use]
pub fn canonical_locale(tag: &str) -> String {
    let tag = tag.to_ascii_lowercase();
    let (language, rest) = match tag.split_once('-') {
        Some((language, rest)) => (language, Some(rest)),
        None => (&*tag, None),
    };
    let language = match language {
        "no" => "nb",
        "iw" => "he",
        "zh" => {
            let next = rest.and_then(|rest| rest.split('-').next());
            match next {
                Some(script) if script.len() == 4 => "zh",
                Some("tw" | "hk" | "mo") => "zh-hant",
                _ => "zh-hans",
            }
        }
        other => other,
    };
    rest.map_or_else(|| language.to_owned(), |rest| format!("{language}-{rest}"))
}

/// The tags under which a text for a locale may stand: its own, then cut part by part (RFC 4647, section 3.4).
fn tags(locale: &str) -> Vec<String> {
    let mut tag = canonical_locale(locale);
    let mut tags = Vec::new();
    while !tag.is_empty() {
        tags.push(tag.clone());
        tag.truncate(tag.rfind('-').unwrap_or(0));
        // What introduces an extension goes with it.
        while tag.rfind('-').is_some_and(|at| tag.len() - at == 2) {
            tag.truncate(tag.len() - 2);
        }
    }
    tags
}

/// The language of a message, of a page, or of a text.
#[derive(Clone, Debug)]
pub(crate) struct Language {
    /// The tags under which its texts may stand, its own first.
    pub(crate) tags: Vec<String>,
    /// The product's words in it; English ones where there are none.
    pub(crate) words: &'static Words,
    /// True if there are words of its own.
    pub(crate) has_words: bool,
}

impl Language {
    pub(crate) fn of(locale: &str) -> Self {
        let tags = tags(locale);
        let words = words::of(&tags);
        Self {
            words: words.unwrap_or_else(|| {
                words::english(tags.first().is_some_and(|tag| is_right_to_left(tag)))
            }),
            has_words: words.is_some(),
            tags,
        }
    }

    /// The tag as documents name their language.
    pub(crate) fn tag(&self) -> String {
        if self.has_words {
            return self.words.tag.to_owned();
        }
        let tag = self.tags.first().map_or("", String::as_str);
        written(tag).unwrap_or_else(|| self.words.tag.to_owned())
    }
}

/// Returns true if a canonical tag's language is written from right to left.
fn is_right_to_left(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    match parts.next() {
        Some(script) if script.len() == 4 => RIGHT_TO_LEFT_SCRIPTS.contains(&script),
        _ => RIGHT_TO_LEFT.contains(&language),
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
    let language = Language::of(locale);
    if has_all(&language) { language } else { usual.clone() }
}

/// Returns true if messages have words of the product's own for a locale.
#[must_use]
pub fn has_words(locale: &str) -> bool {
    words::of(&tags(locale)).is_some()
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
    fn tags_are_bcp_47() {
        for tag in [
            "en",
            "DE",
            "pt-BR",
            "pt-br",
            "zh-Hant-TW",
            "es-419",
            "sr-Latn",
            "tlh",
            "xx",
            "de-1996",
            "sl-rozaj-biske",
            "ar-u-nu-latn",
            "yue",
        ] {
            assert_eq!(check_locale(tag), Ok(()), "{tag}");
        }
        for (text, near) in [
            ("de_AT", Some("de-AT")),
            ("PT_br", Some("pt-BR")),
            ("zh_hant_tw", Some("zh-Hant-TW")),
            ("de_DE.UTF-8", Some("de-DE")),
            ("sr_RS@latin", Some("sr-RS")),
            (" en ", Some("en")),
            ("german", Some("de")),
            ("Français", Some("fr")),
            ("klingon", None),
            ("", None),
            ("e", None),
            ("-en", None),
            ("en-", None),
            ("en--GB", None),
            ("12", None),
            ("en GB", None),
            ("en-x", None),
            ("日本", None),
            ("de-a-very-long-tag-that-nobody-would-ever-write", None),
        ] {
            let near = near.map_or(LocaleError::Unknown, |near| LocaleError::Near(near.to_owned()));
            assert_eq!(check_locale(text), Err(near), "{text}");
        }
    }

    #[test]
    fn texts_are_looked_up_part_by_part() {
        for (locale, expected) in [
            ("de-AT", &["de-at", "de"][..]),
            ("en-a-bbb-x-c", &["en-a-bbb-x-c", "en-a-bbb", "en"]),
            ("zh-TW", &["zh-hant-tw", "zh-hant", "zh"]),
            ("zh-HK", &["zh-hant-hk", "zh-hant", "zh"]),
            ("zh-mo", &["zh-hant-mo", "zh-hant", "zh"]),
            ("zh", &["zh-hans", "zh"]),
            ("zh-CN", &["zh-hans-cn", "zh-hans", "zh"]),
            ("zh-Hant-TW", &["zh-hant-tw", "zh-hant", "zh"]),
            ("no-NO", &["nb-no", "nb"]),
            ("iw", &["he"]),
            ("", &[]),
        ] {
            assert_eq!(tags(locale), expected, "{locale}");
        }
    }

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
            ("pt-br", "pt-BR", "ltr"),
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
