//! The look and the words of messages: `[brand]`, the words of types, what digests show.

use tidings_core::model::{EMAIL, Pivot};
use tidings_core::rules::{
    Brand, ChoiceOrder, FormOfAddress, Presentation, Quota, Share, Texts, Wording,
};
use tidings_mail::{Sentence, is_color, web_address};

use super::brand::is_of_this_machine;
use super::channels::mailbox::mailbox;
use super::texts::{self, LocalizedText, TEXT_BYTES_MAX};
use super::walk::{ConfigReader, Section};
use crate::wording::quoted;

/// The keys of a type that are texts by locale.
pub(super) const TEXT_KEYS: [&str; 6] =
    ["title", "sentence", "subject", "body", "action", "notice"];
/// The keys of a digest that say what it shows.
pub(super) const QUOTA_KEYS: [&str; 2] = ["show", "show_per"];

/// The most lines that a message is asked to show.
const SHOW_MAX: i128 = 1_000;
/// The most bytes of the public address: with a token it has to fit a line of a header.
const URL_BYTES_MAX: usize = 256;

pub(super) fn presentation(
    walk: &mut ConfigReader,
    root: &Section<'_>,
    usual_locale: &str,
) -> Presentation {
    // Values that are no tables are reported by the readers of their other keys.
    let named = |key: &str| ConfigReader::default().named(root, key, "");
    let mut shown = Presentation { brand: brand(walk, root), ..Presentation::default() };
    for (name, section) in named("categories") {
        if let Some(mailbox) = mailbox(walk, &section, "reply_to") {
            shown.category_reply_to.insert(name.to_owned(), mailbox);
        }
    }
    let email = ConfigReader::default()
        .section(root, "channels", "")
        .and_then(|channels| ConfigReader::default().section(&channels, EMAIL, ""));
    shown.reply_to = email.and_then(|section| mailbox(walk, &section, "reply_to"));
    for (name, section) in named("types") {
        let mut texts = |key: &str| {
            let wanted = LocalizedText { key, usual_locale, faults: sentence_faults };
            texts::texts(walk, &section, &wanted)
        };
        let wording = Wording {
            title: texts("title"),
            sentence: texts("sentence"),
            subject: texts("subject"),
            body: texts("body"),
            action: texts("action"),
            notice: texts("notice"),
            reply_to: mailbox(walk, &section, "reply_to"),
        };
        if wording != Wording::default() {
            shown.types.insert(name.to_owned(), wording);
        }
    }
    for (name, section) in named("digests") {
        let quota = quota(walk, &section);
        if quota != Quota::default() {
            shown.digests.insert(name.to_owned(), quota);
        }
        let wanted = LocalizedText { key: "title", usual_locale, faults: texts::length_faults };
        let title = texts::texts(walk, &section, &wanted);
        if title != Texts::default() {
            shown.digest_titles.insert(name.to_owned(), title);
        }
    }
    // Tables come sorted by name; their places give the order of the file.
    let in_order = |key: &str| {
        let mut found = named(key);
        found.sort_by_key(|(_, section)| section.header.start);
        found.into_iter().map(|(name, _)| name.to_owned()).collect()
    };
    shown.order = ChoiceOrder { categories: in_order("categories"), types: in_order("types") };
    shown
}

fn brand(walk: &mut ConfigReader, root: &Section<'_>) -> Brand {
    let Some(section) = walk.section(root, "brand", "write `[brand]`") else {
        return Brand::default();
    };
    let known =
        ["name", "logo", "logo_dark", "color", "footer", "postal_address", "url", "address"];
    walk.only(&section, &known);
    let address = walk.word(&section, "address", &FormOfAddress::ALL.map(FormOfAddress::word));
    Brand {
        name: shown(walk, &section, "name"),
        logo: checked(walk, &section, "logo", LOGO, is_logo),
        logo_dark: checked(walk, &section, "logo_dark", LOGO, is_logo),
        color: checked(walk, &section, "color", COLOR, is_color),
        footer: shown(walk, &section, "footer"),
        postal_address: shown(walk, &section, "postal_address"),
        url: checked(walk, &section, "url", URL, is_public_address)
            .map(|url| url.trim_end_matches('/').to_owned()),
        address: address
            .and_then(|word| FormOfAddress::ALL.into_iter().find(|one| one.word() == word)),
    }
}

/// The requirement of a key of a tenant's brand that a text doesn't meet.
#[must_use]
pub fn brand_check(key: &str, text: &str) -> Option<String> {
    let (is_fine, what) = match key {
        "logo" | "logo_dark" => (is_logo(text), LOGO.to_owned()),
        "color" => (is_color(text), COLOR.to_owned()),
        "url" => (is_site(text), SITE.to_owned()),
        _ => (is_shown(text), text_to_show()),
    };
    (!is_fine).then_some(what)
}

const COLOR: &str = "a colour, such as `\"#0b57a4\"`";
const LOGO: &str = "an https address of a picture, with quotes and the like percent-encoded";
const SITE: &str =
    "an https address without `?`, `#` and quotes, such as `\"https://example.org\"`";
const URL: &str = "an https address without `?`, `#` and quotes, such as `\"https://example.org\"`, or `\"http://127.0.0.1:8990\"` in development";

fn text_to_show() -> String {
    format!("a text of 1 to {TEXT_BYTES_MAX} bytes")
}

fn is_shown(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= TEXT_BYTES_MAX
}

/// Returns true if an address stands in pages and headers as it is written, since no character needs an escape.
fn is_plain_https(text: &str) -> bool {
    text.starts_with("https://") && is_plain_web(text)
}

fn is_plain_web(text: &str) -> bool {
    !text.contains('\'') && web_address(text).is_some_and(|link| link == text)
}

/// Returns true if a text is the address of a logo. The pages behind links load pictures over https alone.
fn is_logo(text: &str) -> bool {
    is_plain_https(text)
}

/// Returns true if links in mails can begin with an address, in headers, too.
fn is_site(text: &str) -> bool {
    is_plain_https(text) && is_base(text)
}

/// The same, or the address of this machine, where a developer tries things.
fn is_public_address(text: &str) -> bool {
    is_base(text) && (is_plain_https(text) || is_of_this_machine(text) && is_plain_web(text))
}

fn is_base(text: &str) -> bool {
    !text.contains(['?', '#']) && text.len() <= URL_BYTES_MAX
}

/// A text that is shown.
fn shown(walk: &mut ConfigReader, section: &Section<'_>, key: &str) -> Option<String> {
    checked(walk, section, key, &text_to_show(), is_shown)
}

/// A text that a check accepts.
fn checked(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    key: &str,
    what: &str,
    check: impl FnOnce(&str) -> bool,
) -> Option<String> {
    let hint = format!("write {what}");
    let text = walk.text(section, key, &hint)?;
    if check(text.value) {
        return Some(text.value.to_owned());
    }
    let path = section.below(key);
    let reason = format!("{} cannot be {}", quoted(&path), quoted(text.value));
    walk.bad(&text.span, reason, hint);
    None
}

/// The faults of a text of a type.
fn sentence_faults(key: &str, text: &str, locale: &str) -> Vec<String> {
    let fault = texts::length_faults(key, text, locale);
    if !fault.is_empty() {
        return fault;
    }
    match Sentence::parse(text, locale) {
        Ok(sentence) if key == "title" && !sentence.is_title() => vec![
            "`title` heads several events, so it has no {placeholders} of one: write text, and {count|work|works} for the form of a word"
                .to_owned(),
        ],
        Ok(_) if key == "action" && has_place(text) => vec![
            "`action` is the label of a button and has no {placeholders}: write plain text, such as \"Reply\""
                .to_owned(),
        ],
        Ok(_) => Vec::new(),
        Err(_) => {
            let faults = Sentence::faults(text, locale);
            faults.iter().map(ToString::to_string).collect()
        }
    }
}

/// Returns true if a sentence without faults has a place for a value.
fn has_place(sentence: &str) -> bool {
    sentence.replace("{{", "").contains('{')
}

fn quota(walk: &mut ConfigReader, section: &Section<'_>) -> Quota {
    let mut quota = Quota::default();
    if let Some(show) = lines(walk, section, "show") {
        quota.show = show;
    }
    let hint = "write a table, such as `show_per = { actor = 2 }`";
    let Some(per) = walk.section(section, "show_per", hint) else {
        return quota;
    };
    walk.only(&per, &["actor", "object", "target", "type"]);
    for (key, share) in [
        ("actor", Share::Role(Pivot::Actor)),
        ("object", Share::Role(Pivot::Object)),
        ("target", Share::Role(Pivot::Target)),
        ("type", Share::Type),
    ] {
        if let Some(most) = lines(walk, &per, key) {
            quota.show_per.push((share, most));
        }
    }
    quota
}

/// A number of lines.
fn lines(walk: &mut ConfigReader, section: &Section<'_>, key: &str) -> Option<usize> {
    let hint = format!("write a whole number from 1 to {SHOW_MAX}");
    let found = walk.whole(section, key, &hint)?;
    match usize::try_from(found.value) {
        Ok(lines) if (1..=SHOW_MAX).contains(&found.value) => Some(lines),
        _ => {
            let path = section.below(key);
            let reason = format!("{} cannot be {}", quoted(&path), found.value);
            walk.bad(&found.span, reason, hint);
            None
        }
    }
}
