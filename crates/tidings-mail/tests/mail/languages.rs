//! The language of messages: one for all of a message, whatever of it was translated.

use std::collections::BTreeMap;

use tidings_core::Rules;
use tidings_core::content::Batch;
use tidings_core::rules::{Category, Texts, Wording};
use tidings_mail::{
    ChoiceName, Choices, PreferenceRow, SECRET_BYTES, SendingTime, TokenKey, canonical_locale,
    short,
};

use super::*;

const OWN: [&str; 5] = ["en", "de", "fr", "he", "ja"];

fn texts(all: &[(&str, &str)]) -> Texts {
    let all = all.iter().map(|(locale, text)| (canonical_locale(locale), (*text).to_owned()));
    Texts(all.collect())
}

fn wording(title: &[(&str, &str)], sentence: &[(&str, &str)], subject: &[(&str, &str)]) -> Wording {
    Wording {
        title: texts(title),
        sentence: texts(sentence),
        subject: texts(subject),
        ..Wording::default()
    }
}

fn rules(usual_locale: &str, wording: Wording) -> Rules {
    let mut rules = Rules::default();
    usual_locale.clone_into(&mut rules.defaults.locale);
    let types = &mut rules.presentation.types;
    types.insert("artwork_published".to_owned(), wording);
    rules
}

fn designed(rules: &Rules) -> Design {
    Design::new(sender(), rules).unwrap()
}

/// Works by some people, in a message to a locale.
fn works(count: usize, actors: &[&str], locale: &str) -> Batch {
    let lines = (0..count).map(|number| Line {
        actors: actors.iter().map(|name| role(name, name)).collect(),
        order: number,
        ..line(object(&format!("w{number}"), &format!("Work {number}")), &["named"])
    });
    let mut group = group(Pivot::Actor, Some(role("Ann", "Ann")), lines.collect());
    group.category = "art".to_owned();
    let mut batch = batch(vec![group]);
    locale.clone_into(&mut batch.locale);
    batch
}

/// The subject, and both bodies.
fn told(batch: &Batch, design: &Design) -> (String, String, String) {
    let (subject, bodies) = tidings_mail::content(batch, design).unwrap();
    (subject, bodies.text, bodies.html)
}

#[test]
fn f8_a_subject_that_lacks_a_language_takes_the_sentence_along() {
    let rules = rules(
        "en",
        wording(
            &[],
            &[
                ("", "{actor} made {object}"),
                ("fr", "{actor} a fait {object}"),
                ("de", "{actor} hat {object} gemacht"),
            ],
            &[("en", "News of {actor}"), ("de", "Neues von {actor}")],
        ),
    );
    let design = designed(&rules);
    let (subject, text, html) = told(&works(1, &["Ann"], "fr"), &design);
    assert_eq!(subject, "News of Ann");
    assert!(text.contains("made") && !text.contains("a fait"), "{text}");
    assert!(html.contains("<html lang=\"en\" dir=\"ltr\""), "{html}");
    let (subject, text, html) = told(&works(1, &["Ann"], "de-AT"), &design);
    assert_eq!(subject, "Neues von Ann");
    assert!(text.contains("gemacht"), "{text}");
    assert!(html.contains("<html lang=\"de\" dir=\"ltr\""), "{html}");
    // What has no subject doesn't need it.
    let design = Design::short("sms", &rules).unwrap();
    let mut batch = works(1, &["Ann"], "fr");
    "sms".clone_into(&mut batch.channel);
    assert!(short(&batch, &design).unwrap().title.contains("a fait"));
}

#[test]
fn f8_a_title_in_english_alone_makes_no_half_japanese_mail() {
    let rules =
        rules("en", wording(&[("en", "{count|Update|Updates} in your projects")], &[], &[]));
    let (subject, text, html) = told(&works(2, &["Ann"], "ja"), &designed(&rules));
    assert!(subject.contains("2 updates in your projects"), "{subject}");
    for own in ["件", "新着"] {
        assert!(!html.contains(own) && !text.contains(own), "{text}");
    }
    assert!(html.contains("<html lang=\"en\" dir=\"ltr\""), "{html}");
}

#[test]
fn f7_titles_of_categories_are_in_the_language_of_the_mail() {
    let mut rules = rules("en", Wording::default());
    let title = texts(&[("", "Art & more"), ("ja", "美術"), ("he", "אמנות")]);
    rules.categories.insert("art".to_owned(), Category { title });
    let design = designed(&rules);
    for (locale, title, tag) in [
        ("en", "Art &amp; more", "lang=\"en\" dir=\"ltr\""),
        ("ja-JP", "美術", "lang=\"ja\" dir=\"ltr\""),
        ("iw", "אמנות", "lang=\"he\" dir=\"rtl\""),
        // German has none: all of it is in English.
        ("de", "Art &amp; more", "lang=\"en\" dir=\"ltr\""),
    ] {
        let (_, _, html) = told(&works(2, &["Ann"], locale), &design);
        assert!(html.contains(title) && html.contains(tag), "{locale}: {html}");
    }
}

#[test]
fn f7_the_page_of_choices_has_one_language() {
    let titles = [("en", "Works of art"), ("ja", "美術")];
    let design = designed(&rules("en", wording(&titles, &[], &[])));
    let choices = Choices {
        types: vec![PreferenceRow {
            name: ChoiceName::Type(id("artwork_published")),
            pace: Some(SendingTime::AtOnce),
            offers: Vec::new(),
        }],
        ..Choices::default()
    };
    for (locale, title, tag) in [
        ("ja", "美術", "lang=\"ja\""),
        ("de", "Works of art", "lang=\"en\""),
        ("pl", "Works of art", "lang=\"en\""),
    ] {
        let page = design.choices(&[locale], &choices).unwrap();
        assert!(page.contains(title) && page.contains(tag), "{locale}: {page}");
    }
}

#[test]
fn a_subject_counts_people_as_people() {
    let sentences = ["en", "de", "ko", "tr", "zh-Hans"].map(|tag| (tag, "{actor}: {object}"));
    let design = designed(&rules("en", wording(&[], &sentences, &[])));
    for (locale, begin) in [
        ("en", "Ann, Ben and 2 others: "),
        ("de", "Ann, Ben und 2 weitere: "),
        ("ko", "Ann, Ben 외 2명: "),
        ("tr", "Ann, Ben ve 2 kişi daha: "),
        ("zh-CN", "Ann、Ben和另外 2 人："),
    ] {
        let mut batch = works(2, &["Ann", "Ben"], locale);
        batch.groups.extend(works(2, &["Cleo", "Dov"], locale).groups);
        let (subject, _, _) = told(&batch, &design);
        assert!(subject.starts_with(begin), "{subject}");
    }
}

#[test]
fn a_heading_without_a_number_is_in_the_nominative() {
    let titles = [
        ("en", "new {count|comment|comments}"),
        ("pl", "{count|nowy komentarz|nowe komentarze|nowych komentarzy}"),
        ("ru", "{count|новый комментарий|новых комментария|новых комментариев}"),
        ("fi", "{count|uusi kommentti|uutta kommenttia}"),
    ];
    let design = designed(&rules("en", wording(&titles, &[], &[])));
    let choices = Choices {
        types: vec![PreferenceRow {
            name: ChoiceName::Type(id("artwork_published")),
            pace: Some(SendingTime::AtOnce),
            offers: Vec::new(),
        }],
        ..Choices::default()
    };
    for (locale, heading) in [
        ("en", "New comments"),
        ("pl", "Nowe komentarze"),
        ("ru", "Новый комментарий"),
        ("fi", "Uusi kommentti"),
    ] {
        let page = design.choices(&[locale], &choices).unwrap();
        assert!(page.contains(&format!(">{heading}<")), "{page}");
    }
}

#[test]
fn field_11_forms_and_lists_are_those_of_the_sentences_language() {
    let polish = "{actor}: {count} {count|komentarz|komentarze|komentarzy}";
    let design = designed(&rules("pl", wording(&[], &[], &[("", polish)])));
    for (count, subject) in
        [(1, "1 komentarz"), (5, "5 komentarzy"), (22, "22 komentarze"), (25, "25 komentarzy")]
    {
        let (told, _, html) = told(&works(count, &["Ann"], "pl-PL"), &design);
        assert_eq!(told, format!("Ann: {subject}"));
        assert!(html.contains("<html lang=\"pl\" dir=\"ltr\""), "{html}");
    }
    // A sentence without a locale is of the default one, and lists names as that does, whoever reads it.
    let german = "{actor} {actors|hat|haben} {object} gezeigt";
    let design = designed(&rules("de", wording(&[], &[], &[("", german)])));
    for (actors, subject) in [
        (&["Ann"][..], "Ann hat Work 0 gezeigt"),
        (&["Ann", "Ben"], "Ann und Ben haben Work 0 gezeigt"),
        (&["Ann", "Ben", "Cleo", "Dov"], "Ann, Ben und 2 weitere haben Work 0 gezeigt"),
    ] {
        assert_eq!(told(&works(1, actors, "en"), &design).0, subject);
    }
}

#[test]
fn a_default_locale_without_words_of_our_own_has_the_hosts() {
    let design = designed(&rules("ur", wording(&[], &[("", "نشر {actor} {object}")], &[])));
    let (_, text, html) = told(&works(1, &["Ann"], "ur-PK"), &design);
    assert!(text.contains("نشر"), "{text}");
    assert!(html.contains("<html lang=\"ur\" dir=\"rtl\""), "{html}");
}

/// The locales of texts, of recipients, and of the configuration, with the languages that have words of our own.
const LOCALES: [&str; 8] = ["en", "de", "de-AT", "fr", "he", "ja", "el", "vi"];

fn language(locale: &str) -> &str {
    locale.split('-').next().unwrap()
}

/// The first locale that a text for this one has, by the rule.
fn found<'t>(text: &'t BTreeMap<String, String>, usual: &str, locale: &str) -> Option<&'t String> {
    if text.len() == 1 && text.contains_key("") {
        return text.get("");
    }
    let at = |tag: &str| {
        let own = text.get(&canonical_locale(tag));
        own.or_else(|| text.get("").filter(|_| tag == usual))
    };
    at(locale).or_else(|| at(language(locale)))
}

proptest! {
    /// All that a mail says is in one language, that of its document: the recipient's if nothing is missing in it,
    /// else the default one.
    #[test]
    fn f8_a_mail_is_in_one_language(
        given in prop::collection::vec(prop::collection::vec(any::<bool>(), LOCALES.len() + 1), 4),
        usual in prop::sample::select(&LOCALES[..]),
        locale in prop::sample::select(&LOCALES[..]),
        count in 1_usize..4,
    ) {
        let marked = |row: &[bool]| {
            let names = LOCALES.iter().copied().chain([""]);
            // A text for all is told apart from others by its mark.
            let is_alone = row.iter().filter(|is_given| **is_given).count() == 1;
            let given = names.zip(row).filter(|(of, is_given)| {
                // Two for one locale are refused by the configuration.
                **is_given && !(of.is_empty() && row[LOCALES.iter().position(|of| *of == usual).unwrap()])
            });
            let mark = |of: &str| match of {
                "" if is_alone => "⟦all⟧".to_owned(),
                "" => format!("⟦{}⟧", language(usual)),
                of => format!("⟦{}⟧", language(of)),
            };
            let texts = given.map(|(of, _)| (canonical_locale(of), mark(of)));
            Texts(texts.collect())
        };
        let [title, sentence, subject, category] = [0, 1, 2, 3].map(|at| marked(&given[at]));
        let all = [title.clone(), sentence.clone(), subject.clone(), category.clone()];
        let mut rules = rules(usual, Wording { title, sentence, subject, ..Wording::default() });
        rules.categories.insert("art".to_owned(), Category { title: category });
        let key = TokenKey::new(&[1; SECRET_BYTES]);
        let design = designed(&rules).linked(key);
        let (subject, text, html) = told(&works(count, &["Ann"], locale), &design);

        let is_whole = OWN.contains(&language(locale))
            && all.iter().all(|text| text.0.is_empty() || found(&text.0, usual, locale).is_some());
        let expected = language(if is_whole { locale } else { usual });
        let tag = format!("<html lang=\"{expected}");
        prop_assert!(html.contains(&tag), "not {}: {}", tag, html);
        for said in [subject, text, html] {
            for mark in said.split('⟦').skip(1) {
                let mark = mark.split('⟧').next().unwrap();
                prop_assert!(mark == expected || mark == "all", "{} in {}: {}", mark, expected, said);
            }
        }
    }
}

#[test]
fn rows_are_linked_whatever_their_sentence_names() {
    for (sentence, locale) in [
        ("{actor} sent you 5 euros", "en"),
        ("{actor} made {object}", "en"),
        ("{actor} sent you 5 euros", "he"),
        ("{actor} made {object}", "he"),
    ] {
        let rules = rules("en", wording(&[], &[("", sentence)], &[]));
        let mut message = works(2, &["Ann"], locale);
        let group = &mut message.groups[0];
        group.key = None;
        group.lines[1].actors = vec![role("Ben", "Ben")];
        for line in &mut group.lines {
            let object = std::sync::Arc::make_mut(&mut line.object);
            object.url = Some(format!("https://example.org/{}", object.id));
        }
        let (_, _, html) = told(&message, &designed(&rules));
        for work in ["w0", "w1"] {
            let link = format!("href=\"https://example.org/{work}\"");
            assert!(html.contains(&link), "{sentence} in {locale}:\n{html}");
        }
    }
}

#[test]
fn things_of_one_name_are_counted() {
    let rules = rules("en", wording(&[], &[("", "{actor} made {object}")], &[]));
    let mut message = works(5, &["Ann"], "en");
    for line in &mut message.groups[0].lines {
        std::sync::Arc::make_mut(&mut line.object).title = Some("Untitled".into());
    }
    message.groups[0].actors = message.groups[0].lines[0].actors.clone();
    let (subject, _, _) = told(&message, &designed(&rules));
    assert_eq!(subject, "Ann made Untitled and 4 others");
}

#[test]
fn a_verb_of_unknown_people_is_not_used() {
    let wording = wording(
        &[("", "{count|look|looks}")],
        &[("", "{actors|Somebody|Several people} looked")],
        &[],
    );
    let rules = rules("en", wording);
    for is_signed in [true, false] {
        let mut message = works(1, if is_signed { &["Ann"] } else { &[] }, "en");
        message.groups[0].lines[0].lacks_actor = !is_signed;
        let (_, text, _) = told(&message, &designed(&rules));
        assert_eq!(text.contains("Somebody looked"), is_signed, "{text}");
        assert!(!text.contains("Several people"), "{text}");
    }
}

#[test]
fn what_has_no_title_is_told_by_the_title_of_its_type() {
    let title = [("en", "Password changed"), ("de", "Passwort geändert")];
    let rules = rules("en", wording(&title, &[], &[]));
    for (locale, title) in title {
        let mut message = works(1, &[], locale);
        let line = &mut message.groups[0].lines[0];
        std::sync::Arc::make_mut(&mut line.object).title = None;
        let (subject, _, _) = told(&message, &designed(&rules));
        assert_eq!(subject, title);
        let short = short(&message, &designed(&rules)).unwrap();
        assert_eq!(short.title, title);
    }
}

#[test]
fn headings_count_no_thousand() {
    let title = [
        ("pl", "{count|Nowa opinia|Nowe opinie|Nowych opinii}"),
        ("ru", "{count|Новая работа|Новые работы|Новых работ}"),
    ];
    let rules = rules("pl", wording(&title, &[], &[]));
    for (locale, heading) in [("pl", "2 nowe opinie\n"), ("ru", "2 новые работы\n")] {
        let mut rules = rules.clone();
        locale.clone_into(&mut rules.defaults.locale);
        let (_, text, _) = told(&works(2, &["Ann"], locale), &designed(&rules));
        assert!(text.contains(heading), "{text}");
    }
}
