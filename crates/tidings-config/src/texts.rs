//! Texts in several languages, and what is missing of them.

pub(super) mod words;

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::Rules;
use tidings_core::rules::Texts;
use tidings_mail::{Books, OwnWords, canonical_locale, check_locale, is_given};

use super::fault::SourceSpan;
use super::walk::{ByteSpan, ConfigReader, PlacedValue, Section};
use crate::wording::quoted;

/// The most bytes of a text.
pub(super) const TEXT_BYTES_MAX: usize = 1 << 10;

/// A text of a configuration with its place.
#[derive(Clone, Debug)]
pub(super) struct ConfigText {
    /// Its name, such as `types.comment.subject`.
    path: String,
    /// Its canonical locale; empty for one without.
    locale: String,
    span: ByteSpan,
}

/// A text that may be there in several languages.
pub(super) struct LocalizedText<'a> {
    pub(super) key: &'a str,
    /// The locale of a text without one.
    pub(super) usual_locale: &'a str,
    /// The faults of a text in a locale: what is wrong, a colon, how to mend it.
    pub(super) faults: fn(key: &str, text: &str, locale: &str) -> Vec<String>,
}

/// The keys of a section that give a text for a locale in quotes, such as `"sentence.de"`.
pub(super) fn quoted_keys<'t>(section: &Section<'t>, names: &[&str]) -> Vec<&'t str> {
    let is_text = |key: &&str| {
        let (name, _) = key.split_once('.').unwrap_or_default();
        names.contains(&name)
    };
    section.keys().map(|key| key.value).filter(is_text).collect()
}

/// Reads a text by locale: `key = "…"`, `key.de = "…"`, or `"key.de" = "…"` beside the first.
pub(super) fn texts(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    wanted: &LocalizedText<'_>,
) -> Texts {
    let key = wanted.key;
    let hint = format!("write `{key} = \"…\"`, or `{key}.de = \"…\"` for a locale");
    let mut texts = Texts::default();
    if section.is_table(key) {
        if let Some(by_locale) = walk.section(section, key, &hint) {
            for locale in by_locale.keys() {
                let text = walk.text(&by_locale, locale.value, &hint);
                put(walk, section, &mut texts, wanted, Some(&locale), text);
            }
        }
    } else {
        let text = walk.text(section, key, &hint);
        put(walk, section, &mut texts, wanted, None, text);
    }
    for name in section.keys() {
        let Some((_, locale)) = name.value.split_once('.').filter(|(of, _)| *of == key) else {
            continue;
        };
        let text = walk.text(section, name.value, &hint);
        let locale = PlacedValue { value: locale, span: name.span };
        put(walk, section, &mut texts, wanted, Some(&locale), text);
    }
    texts
}

fn put(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    texts: &mut Texts,
    wanted: &LocalizedText<'_>,
    locale: Option<&PlacedValue<&str>>,
    text: Option<PlacedValue<&str>>,
) {
    if let Some(locale) = locale
        && let Err(fault) = check_locale(locale.value)
    {
        let reason = format!("{} is not a locale", quoted(locale.value));
        walk.bad(&locale.span, reason, fault.to_string());
        return;
    }
    let Some(text) = text else { return };
    let of = locale.map_or(wanted.usual_locale, |locale| locale.value);
    let faults = (wanted.faults)(wanted.key, text.value, of);
    for fault in &faults {
        let (reason, hint) = fault.split_once(": ").unwrap_or((fault, ""));
        walk.bad(&text.span, reason.to_owned(), hint.to_owned());
    }
    if !faults.is_empty() {
        return;
    }
    let path = section.below(wanted.key);
    let of = canonical_locale(of);
    let usual = canonical_locale(wanted.usual_locale);
    let is_second = |given: &str| given == of || (given.is_empty() && of == usual);
    if texts.0.keys().any(|given| is_second(given)) {
        let reason = format!("{} has two texts in {}", quoted(&path), quoted(&of));
        let hint = "keep one of the two; one without a locale is in that of [defaults]";
        walk.bad(&text.span, reason, hint);
        return;
    }
    let locale = locale.map_or_else(String::new, |_| of);
    walk.texts.push(ConfigText { path, locale: locale.clone(), span: text.span });
    texts.0.insert(locale, text.value.to_owned());
}

/// The faults of a text that is shown as it is.
pub(super) fn length_faults(key: &str, text: &str, _: &str) -> Vec<String> {
    if text.trim().is_empty() {
        return vec![format!("the `{key}` is empty: write some text, or remove it")];
    }
    if text.len() > TEXT_BYTES_MAX {
        return vec![format!("a `{key}` has at most {TEXT_BYTES_MAX} bytes: write a shorter one")];
    }
    Vec::new()
}

/// The languages of a configuration's texts and of tidings' own words.
#[derive(Clone, Debug)]
pub struct Languages {
    usual: String,
    /// The canonical locales of the host's texts and words, and the default one.
    used: BTreeSet<String>,
    /// Locales with a layout of the host, which replaces tidings' own words.
    layouts: Vec<String>,
    books: Books,
    texts: Vec<LocatedText>,
}

/// A text with the locales in which it exists.
#[derive(Clone, Debug)]
struct LocatedText {
    path: String,
    line: usize,
    locales: Vec<String>,
}

/// The texts that are missing in a locale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingTexts {
    /// Paths of texts that exist in other locales only, with their lines.
    pub texts: Vec<(String, usize)>,
    /// The words of tidings' own.
    pub words: OwnWords,
}

impl MissingTexts {
    /// Returns true if nothing is missing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.texts.is_empty() && self.words == OwnWords::All
    }

    /// Lists what is missing; texts with their lines in a file.
    #[must_use]
    pub fn in_words(&self, file_name: &str) -> Vec<String> {
        let words = match &self.words {
            OwnWords::All => None,
            OwnWords::None => Some("tidings' own words".to_owned()),
            OwnWords::Without(phrases) => {
                Some(format!("tidings' own words {}", first_few(phrases)))
            }
        };
        let texts = self.texts.iter().map(|(path, line)| format!("`{path}` ({file_name}:{line})"));
        words.into_iter().chain(texts).collect()
    }
}

/// The first few phrases of a list.
fn first_few(phrases: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut shown: Vec<String> =
        phrases.iter().take(SHOWN).map(|phrase| format!("`{phrase}`")).collect();
    if phrases.len() > SHOWN {
        shown.push(format!("{} more", phrases.len() - SHOWN));
    }
    shown.join(", ")
}

impl Languages {
    pub(super) fn of(texts: &[ConfigText], rules: &Rules, source: &str) -> Self {
        let usual = canonical_locale(&rules.defaults.locale);
        let layouts = rules.presentation.templates.keys().filter_map(|name| {
            let name = name.strip_prefix("email/layout.")?;
            let (locale, _) = name.rsplit_once('.')?;
            Some(canonical_locale(locale))
        });
        let mut of_path: BTreeMap<&str, Vec<&ConfigText>> = BTreeMap::new();
        for text in texts {
            of_path.entry(&text.path).or_default().push(text);
        }
        // One alone without a locale serves all languages.
        of_path.retain(|_, texts| texts.iter().any(|text| !text.locale.is_empty()));
        let locale_of = |text: &&ConfigText| match text.locale.as_str() {
            "" => usual.clone(),
            locale => locale.to_owned(),
        };
        let of = |(path, texts): (&str, Vec<&ConfigText>)| {
            let lines = texts.iter().map(|text| SourceSpan::of(source, &text.span).line);
            LocatedText {
                path: path.to_owned(),
                line: lines.min().unwrap_or_default(),
                locales: texts.iter().map(locale_of).collect(),
            }
        };
        let texts: Vec<LocatedText> = of_path.into_iter().map(of).collect();
        let mut used: BTreeSet<String> =
            texts.iter().flat_map(|text| text.locales.iter().cloned()).collect();
        used.extend(rules.presentation.words.keys().cloned());
        used.insert(usual);
        Self {
            usual: rules.defaults.locale.clone(),
            used,
            layouts: layouts.collect(),
            books: Books::of(&rules.presentation),
            texts,
        }
    }

    /// Finds the texts that are missing in a locale. A message that needs one of them is in another language.
    #[must_use]
    pub fn missing(&self, locale: &str) -> MissingTexts {
        let has_layout = is_given(locale, self.layouts.iter().map(String::as_str));
        let lacking = self
            .texts
            .iter()
            .filter(|text| !is_given(locale, text.locales.iter().map(String::as_str)));
        MissingTexts {
            texts: lacking.map(|text| (text.path.clone(), text.line)).collect(),
            words: if has_layout { OwnWords::All } else { self.books.words_of(locale) },
        }
    }

    /// Warnings about locales that have some texts and lack others, one for each locale.
    pub(super) fn warnings(&self, file_name: &str) -> Vec<String> {
        let usual = canonical_locale(&self.usual);
        let mut warnings = Vec::new();
        for locale in &self.used {
            let mut missing = self.missing(locale);
            let is_usual = *locale == usual;
            if is_usual {
                match std::mem::replace(&mut missing.words, OwnWords::All) {
                    OwnWords::All => {}
                    OwnWords::None => warnings.push(format!(
                        "tidings has no words of its own in the default locale `{locale}`: its dates, lists and pages \
                         are in English; write the words to `locales/{locale}.toml`"
                    )),
                    OwnWords::Without(phrases) => warnings.push(format!(
                        "the default locale `{locale}` lacks tidings' own words {}: they are in English",
                        first_few(&phrases)
                    )),
                }
            }
            if missing.is_nothing() {
                continue;
            }
            let effect = if is_usual {
                "messages omit them, because it is the default locale".to_owned()
            } else {
                format!("messages that need them are in `{}`, the default locale", self.usual)
            };
            let lacking = missing.in_words(file_name).join(", ");
            warnings.push(format!("the locale `{locale}` lacks {lacking}: {effect}"));
        }
        warnings
    }
}
