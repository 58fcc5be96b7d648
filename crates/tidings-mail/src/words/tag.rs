//! Tags of languages (BCP 47), and the order in which texts are looked up by them (RFC 4647).

use icu_locale_core::Locale;

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
const RIGHT_TO_LEFT: [&str; 24] = [
    "ar", "arc", "bal", "bgn", "ckb", "dv", "fa", "glk", "he", "ks", "lrc", "mzn", "nqo", "pnb",
    "ps", "rhg", "sd", "sdh", "skr", "syr", "trw", "ug", "ur", "yi",
];
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
/// Unknown languages are accepted: their readers get texts of the default locale. A full name is no language, although
/// RFC 5646 allows languages of five to eight letters: none was ever registered.
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
pub(crate) fn written(tag: &str) -> Option<String> {
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
                Some(next) if is_script(next) => "zh",
                Some("tw" | "hk" | "mo") => "zh-hant",
                _ => "zh-hans",
            }
        }
        other => other,
    };
    rest.map_or_else(|| language.to_owned(), |rest| format!("{language}-{rest}"))
}

/// Returns true if a part of a tag names a script; four characters that begin with a digit are a variant.
fn is_script(part: &str) -> bool {
    part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// The tags under which a text for a locale may stand: its own, then cut part by part (RFC 4647, section 3.4).
pub(crate) fn tags(locale: &str) -> Vec<String> {
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

/// Returns true if a canonical tag's language is written from right to left.
pub(crate) fn is_right_to_left(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    match parts.next() {
        Some(script) if is_script(script) => RIGHT_TO_LEFT_SCRIPTS.contains(&script),
        _ => RIGHT_TO_LEFT.contains(&language),
    }
}

/// Parses a tag for CLDR lookups; returns the locale without a language if it is invalid.
pub(crate) fn parsed(tag: &str) -> Locale {
    Locale::try_from_str(&canonical_locale(tag)).unwrap_or(Locale::UNKNOWN)
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
            ("zh-1996", &["zh-hans-1996", "zh-hans", "zh"]),
            ("no-NO", &["nb-no", "nb"]),
            ("iw", &["he"]),
            ("", &[]),
        ] {
            assert_eq!(tags(locale), expected, "{locale}");
        }
    }
}
