//! Texts in several languages, and what is missing of them.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::Rules;
use tidings_core::presentation::Texts;
use tidings_mail::{canonical_locale, check_locale, has_words, is_given};

use super::fault::Place;
use super::walk::{Found, Section, Span, Walk};
use crate::wording::quoted;

/// The most bytes of a text.
pub(super) const TEXT_BYTES_MAX: usize = 1 << 10;

/// A text of a configuration with its place.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// Its name, such as `types.comment.subject`.
    path: String,
    /// Its canonical locale; empty for one without.
    locale: String,
    span: Span,
}

/// A text that may be there in several languages.
pub(super) struct Wanted<'a> {
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
pub(super) fn texts(walk: &mut Walk, section: &Section<'_>, wanted: &Wanted<'_>) -> Texts {
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
        let locale = Found { value: locale, span: name.span };
        put(walk, section, &mut texts, wanted, Some(&locale), text);
    }
    texts
}

fn put(
    walk: &mut Walk,
    section: &Section<'_>,
    texts: &mut Texts,
    wanted: &Wanted<'_>,
    locale: Option<&Found<&str>>,
    text: Option<Found<&str>>,
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
    walk.texts.push(Placed { path, locale: locale.clone(), span: text.span });
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

/// Warnings about the languages that some texts are in and others are not, one for each.
pub(super) fn untranslated(
    texts: &[Placed],
    rules: &Rules,
    source: &str,
    file_name: &str,
) -> Vec<String> {
    let usual_locale = &rules.defaults.locale;
    let usual = canonical_locale(usual_locale);
    // A layout of the host's has words of its own.
    let layouts = rules.presentation.templates.keys().filter_map(|name| {
        let name = name.strip_prefix("email/layout.")?;
        let (locale, _) = name.rsplit_once('.')?;
        Some(canonical_locale(locale))
    });
    let layouts: Vec<String> = layouts.collect();
    let mut of_path: BTreeMap<&str, Vec<&Placed>> = BTreeMap::new();
    for text in texts {
        of_path.entry(&text.path).or_default().push(text);
    }
    // One alone without a locale serves all languages.
    of_path.retain(|_, texts| texts.iter().any(|text| !text.locale.is_empty()));
    let locale_of = |text: &&Placed| match text.locale.as_str() {
        "" => usual.clone(),
        locale => locale.to_owned(),
    };
    let mut used: BTreeSet<String> = of_path.values().flatten().map(locale_of).collect();
    used.insert(usual.clone());
    let mut warnings = Vec::new();
    for locale in used {
        let is_usual = locale == usual;
        let mut lacking = Vec::new();
        let has_layout = is_given(&locale, layouts.iter().map(String::as_str));
        if !has_layout && !has_words(&locale) {
            if is_usual {
                warnings.push(format!(
                    "tidings has no words of its own in the default locale `{locale}`: dates, lists and pages are in \
                     English there"
                ));
            } else {
                lacking.push("the words of tidings' own".to_owned());
            }
        }
        for (path, texts) in &of_path {
            let given: Vec<String> = texts.iter().map(locale_of).collect();
            if !is_given(&locale, given.iter().map(String::as_str)) {
                let line = texts
                    .iter()
                    .map(|text| Place::of(source, &text.span).line)
                    .min()
                    .unwrap_or_default();
                lacking.push(format!("`{path}` ({file_name}:{line})"));
            }
        }
        if lacking.is_empty() {
            continue;
        }
        let effect = if is_usual {
            "messages in it, the default locale, go out without".to_owned()
        } else {
            format!("messages that need what is missing go out in `{usual_locale}`, the default")
        };
        warnings.push(format!("the locale `{locale}` lacks {}: {effect}", lacking.join(", ")));
    }
    warnings
}
