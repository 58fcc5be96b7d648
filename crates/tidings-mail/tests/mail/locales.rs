//! The order in which languages are asked, and what a message needs of them.

use tidings_core::Rules;
use tidings_core::content::Batch;
use tidings_core::model::HostText;
use tidings_core::rules::{Texts, Wording};
use tidings_mail::{Choices, Design, NoticePage, canonical_locale, short};

use super::*;

fn texts(all: &[(&str, &str)]) -> Texts {
    let all = all.iter().map(|(locale, text)| (canonical_locale(locale), (*text).to_owned()));
    Texts(all.collect())
}

fn rules(wording: Wording) -> Rules {
    let mut rules = Rules::default();
    rules.presentation.types.insert("artwork_published".to_owned(), wording);
    rules
}

fn designed(rules: &Rules) -> Design {
    Design::new(sender(), rules).unwrap()
}

fn by_locale(all: &[(&str, &str)]) -> Option<HostText> {
    let all = all.iter().map(|(locale, text)| ((*locale).to_owned(), (*text).to_owned()));
    HostText::by_locale(all.collect())
}

/// A message about one object, with so many notifications.
fn one(entries: usize, locale: &str) -> Batch {
    let told =
        Line { actors: vec![role("ann", "Ann")], entries, ..line(object("w", "Work"), &["named"]) };
    let mut batch = batch(vec![group(Pivot::Object, None, vec![told])]);
    locale.clone_into(&mut batch.locale);
    batch
}

fn told(batch: &Batch, design: &Design) -> (String, String, String) {
    let (subject, bodies) = tidings_mail::content(batch, design).unwrap();
    (subject, bodies.text, bodies.html)
}

#[test]
fn situation_9_forms_are_right_in_mail_inbox_and_push() {
    const COUNTS: [usize; 4] = [1, 2, 5, 22];
    let rules = rules(Wording {
        sentence: texts(&[
            ("en", "{actor}: {count} {count|comment|comments}"),
            ("pl", "{actor}: {count} {count|komentarz|komentarze|komentarzy}"),
            ("ru", "{actor}: {count} {count|комментарий|комментария|комментариев}"),
            ("cs", "{actor}: {count} {count|komentář|komentáře|komentářů}"),
            ("ar", "{actor}: {count} {count|تعليق|تعليق واحد|تعليقان|تعليقات|تعليقًا|تعليق}"),
            ("de", "{actor}: {count} {count|Kommentar|Kommentare}"),
        ]),
        ..Wording::default()
    });
    let mail = designed(&rules);
    let push = Design::short("fcm", &rules).unwrap();
    for (locale, lang, forms) in [
        ("pl", "pl", ["komentarz", "komentarze", "komentarzy", "komentarze"]),
        ("ru", "ru", ["комментарий", "комментария", "комментариев", "комментария"]),
        ("ar", "ar", ["تعليق واحد", "تعليقان", "تعليقات", "تعليقًا"]),
        ("cs", "cs", ["komentář", "komentáře", "komentářů", "komentářů"]),
        ("de-AT", "de", ["Kommentar", "Kommentare", "Kommentare", "Kommentare"]),
        ("xx", "en", ["comment", "comments", "comments", "comments"]),
    ] {
        for (count, form) in COUNTS.into_iter().zip(forms) {
            let expected = format!("{count} {form}");
            let batch = one(count, locale);
            let (subject, _, html) = told(&batch, &mail);
            let row = mail.row_text(&batch.groups, &[locale], "UTC");
            let note = short(&Batch { channel: "fcm".to_owned(), ..batch }, &push).unwrap();
            for text in [subject, row.text, note.title] {
                assert!(text.ends_with(&expected), "{locale}: {text} should say {expected}");
            }
            assert_eq!(row.lang, lang);
            assert!(html.contains(&format!("<html lang=\"{lang}\"")), "{html}");
        }
    }
}

#[test]
fn the_first_of_a_readers_locales_that_is_whole_is_the_language() {
    let design = designed(&rules(Wording {
        sentence: texts(&[("en", "{actor} made it"), ("de", "{actor} hat es gemacht")]),
        ..Wording::default()
    }));
    let groups = one(1, "en").groups;
    for (locales, lang) in [
        (&["de", "fr"][..], "de"),
        // Italian lacks the sentence, and tidings has no words of an unknown language.
        (&["it", "xx", "DE-at", "en"], "de"),
        (&["it", "fr"], "en"),
        (&[], "en"),
    ] {
        assert_eq!(design.row_text(&groups, locales, "UTC").lang, lang, "{locales:?}");
    }
    for (locales, lang) in [(&["xx", "it"][..], "it"), (&["xx"], "en")] {
        let tag = format!("<html lang=\"{lang}\"");
        assert!(design.notice(locales, NoticePage::Busy).unwrap().contains(&tag), "{locales:?}");
        let page = design.choices(locales, &Choices::default()).unwrap();
        assert!(page.contains(&tag), "{locales:?}");
    }
}

#[test]
fn what_a_mail_with_one_item_shows_is_needed_too() {
    let both = [("en", "one"), ("de", "eins"), ("fr", "un")];
    let lacking = [("en", "Not you?"), ("de", "Nicht Sie?")];
    let wording = |key: &str| {
        let texts_of = |of: &str| if key == of { texts(&lacking) } else { Texts::default() };
        Wording {
            sentence: texts(&both),
            body: texts_of("body"),
            action: texts_of("action"),
            notice: texts_of("notice"),
            ..Wording::default()
        }
    };
    for key in ["body", "action", "notice"] {
        let design = designed(&rules(wording(key)));
        let language = |batch: &Batch| design.lang(batch);
        assert_eq!([language(&one(1, "fr")), language(&one(1, "de"))], ["en", "de"], "{key}");
        let mut several = one(1, "fr");
        let second =
            Line { object: role("v", "Other"), order: 1, ..several.groups[0].lines[0].clone() };
        several.groups[0].lines.push(second);
        assert_eq!(language(&several), if key == "body" { "en" } else { "fr" }, "{key}");
        // What a person wrote stands in its place.
        let mut written = one(1, "fr");
        written.groups[0].lines[0].body = Some("Bravo".into());
        assert_eq!(language(&written), if key == "body" { "fr" } else { "en" }, "{key}");
        let push = Batch { channel: "fcm".to_owned(), ..one(1, "fr") };
        assert_eq!(language(&push), if key == "body" { "en" } else { "fr" }, "{key}");
    }
}

#[test]
fn titles_and_bodies_by_locale_are_in_the_language_of_the_message_and_never_needed() {
    let design = designed(&rules(Wording {
        sentence: texts(&[
            ("en", "{actor} made {object} in {target}"),
            ("fr", "{actor} a fait {object} à {target}"),
            ("de", "{actor} hat {object} in {target} gemacht"),
        ]),
        ..Wording::default()
    }));
    let message = |locale: &str| {
        let mut batch = one(1, locale);
        let told = &mut batch.groups[0].lines[0];
        let title = by_locale(&[("fr", "Nymphéas"), ("en", "Water Lilies"), ("de-AT", "Seerosen")]);
        told.object = std::sync::Arc::new(Object { title, ..object("w", "") });
        let place = by_locale(&[("ja", "ジヴェルニー")]);
        told.target = Some(std::sync::Arc::new(Object { title: place, ..object("g", "") }));
        told.body = by_locale(&[("en", "Well done"), ("fr", "Bravo")]);
        batch
    };
    for (locale, subject, body) in [
        ("fr-CA", "Ann a fait Nymphéas à ジヴェルニー", "Bravo"),
        ("de", "Ann hat Water Lilies in ジヴェルニー gemacht", "Well done"),
        ("de-at", "Ann hat Seerosen in ジヴェルニー gemacht", "Well done"),
        // The whole message is English, as its sentence is.
        ("he", "Ann made Water Lilies in ジヴェルニー", "Well done"),
    ] {
        let batch = message(locale);
        let (told_subject, text, _) = told(&batch, &design);
        assert_eq!(told_subject, subject, "{locale}");
        assert!(text.contains(body), "{locale}: {text}");
        let note = short(&Batch { channel: "fcm".to_owned(), ..batch.clone() }, &design).unwrap();
        assert_eq!((&*note.title, &*note.text), (subject, body));
        let row = design.row_text(&batch.groups, &[locale], "UTC");
        assert_eq!(row.text, subject);
        let line = &batch.groups[0].lines[0];
        assert_eq!(row.localised(line.body.as_ref().unwrap()), body);
    }
    // Where there is one text for all nothing is copied.
    let plain = one(1, "de");
    assert!(matches!(design.localised(&plain), std::borrow::Cow::Borrowed(_)));
    assert!(matches!(design.localised(&message("de")), std::borrow::Cow::Owned(_)));
}

/// A message about an object with a page, to which a button leads.
fn linked(locale: &str) -> Batch {
    let mut batch = one(1, locale);
    let told = &mut batch.groups[0].lines[0];
    let url = Some("https://example.org/w".to_owned());
    told.object = std::sync::Arc::new(Object { url, ..object("w", "Work") });
    batch
}

#[test]
fn a_host_lays_words_over_those_of_tidings_and_adds_languages() {
    let mut rules = Rules::default();
    let words = &mut rules.presentation.words;
    words.insert("de".to_owned(), "take_a_look = 'Zeig her'\n[site]\nbusy = 'Gleich'".to_owned());
    let greek = include_str!("../../locales/en.toml").replace("Take a look", "Δείτε το");
    words.insert("el".to_owned(), greek.replace("Too busy", "Πολύς κόσμος"));
    words.insert("ka".to_owned(), "take_a_look = 'ნახვა'".to_owned());
    let design = designed(&rules);
    for (locale, button, lang) in [
        ("de-CH", "Zeig her", "de"),
        ("el-GR", "Δείτε το", "el"),
        ("fr", "Voir", "fr"),
        // Of Georgian there is a part alone.
        ("ka", "Take a look", "en"),
    ] {
        let (_, text, html) = told(&linked(locale), &design);
        assert!(html.contains(button), "{locale}: {text}\n{html}");
        assert!(html.contains(&format!("<html lang=\"{lang}\"")), "{html}");
    }
    assert!(design.notice(&["de"], NoticePage::Busy).unwrap().contains("Gleich"));
    assert!(design.notice(&["el"], NoticePage::Busy).unwrap().contains("Πολύς κόσμος"));
    rules.defaults.locale = "ka".to_owned();
    let (_, _, html) = told(&linked("ka"), &designed(&rules));
    assert!(html.contains("ნახვა") && html.contains("<html lang=\"ka\""), "{html}");
}
