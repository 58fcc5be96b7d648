//! Values of `data` and words that go with numbers, in everything that a recipient reads.

use std::sync::Arc;

use serde_json::{Value, json};
use tidings_core::Rules;
use tidings_core::content::Batch;
use tidings_core::rules::{Texts, Wording};
use tidings_mail::{Design, content, sample, short};

use super::fixture::*;
use super::*;

const KIND: &str = "artwork_published";

fn texts(texts: &[(&str, &str)]) -> Texts {
    Texts(texts.iter().map(|(tag, text)| ((*tag).to_owned(), (*text).to_owned())).collect())
}

fn rules(sentence: &[(&str, &str)]) -> Rules {
    let mut rules = Rules::default();
    let wording = Wording {
        sentence: texts(sentence),
        subject: texts(sentence),
        notice: texts(sentence),
        ..Wording::default()
    };
    rules.presentation.types.insert(KIND.to_owned(), wording);
    rules
}

fn design(sentence: &[(&str, &str)]) -> Design {
    Design::new(sender(), &rules(sentence)).unwrap()
}

fn message(locale: &str, lines: Vec<Line>) -> Batch {
    let mut batch = batch(vec![group(Pivot::Object, None, lines)]);
    locale.clone_into(&mut batch.locale);
    batch
}

fn about(name: &str, data: &Value) -> Line {
    Line { data: data.as_object().cloned().map(Arc::new), ..line(object(name, name), &["named"]) }
}

/// The sentence of a group in an inbox.
fn in_inbox(batch: &Batch, design: &Design) -> String {
    design.row_text(&batch.groups, &[&batch.locale], &batch.tz).text
}

/// The sentence of a message wherever it stands: in its bodies, in a few words, in the inbox; the subject.
fn everywhere(batch: &Batch, design: &Design) -> Vec<String> {
    let (subject, bodies) = content(batch, design).unwrap();
    let short = short(batch, design).unwrap();
    let inbox = in_inbox(batch, design);
    assert!(bodies.text.starts_with(&format!("{subject}\n")), "{}", bodies.text);
    assert!(bodies.text.contains(&format!("\n\n{subject}\n")), "{}", bodies.text);
    let html = bodies.html.replace("<bdi>", "").replace("</bdi>", "");
    assert!(html.matches(&subject.replace('\'', "&#39;")).count() >= 2, "{subject}: {html}");
    vec![subject, short.title, inbox]
}

#[test]
fn i42_values_are_told_alike_in_mails_inboxes_and_short_messages() {
    let sentences = [
        (
            "en",
            "Due {data.due|date}, {data.at|datetime}: {data.sum|money(data.unit)} of {data.n|number}",
        ),
        (
            "de",
            "Am {data.due|date}, {data.at|datetime}: {data.sum|money(data.unit)} von {data.n|number}",
        ),
        ("fa", "{data.due|date}، {data.at|time}"),
    ];
    let design = design(&sentences);
    let data = json!({
        "due": "2024-03-31", "at": "2024-03-04T23:30:00Z", "sum": "1234.50", "unit": "EUR", "n": 12_345.5,
    });
    for (locale, shown) in [
        ("en", "Due Mar 31, 2024, Mar 5, 2024, 12:30 AM: €1,234.50 of 12,345.5"),
        ("en-GB", "Due 31 Mar 2024, 5 Mar 2024, 00:30: €1,234.50 of 12,345.5"),
        ("de-CH", "Am 31.03.2024, 05.03.2024, 00:30: EUR 1'234.50 von 12'345.5"),
        // Not in the language of the text: as the text's own.
        ("ja", "Due Mar 31, 2024, Mar 5, 2024, 12:30 AM: €1,234.50 of 12,345.5"),
        ("fa", "\u{2068}۱۲ فروردین ۱۴۰۳\u{2069}، \u{2068}۰:۳۰\u{2069}"),
    ] {
        for told in everywhere(&message(locale, vec![about("i", &data)]), &design) {
            assert_eq!(told.replace(['\u{a0}', '\u{202f}'], " "), shown, "{locale}");
        }
    }
}

#[test]
fn i42_of_several_events_values_are_told_where_all_say_the_same() {
    let design = design(&[("en", "{count}: {data.sum|money(data.unit)} on {data.at|date}")]);
    let told = |values: &[Value]| {
        let lines = values.iter().enumerate();
        let lines = lines.map(|(at, data)| about(&format!("o{at}"), data)).collect();
        in_inbox(&message("en", lines), &design)
    };
    let of = |sum: f64, unit: &str, at: &str| json!({"sum": sum, "unit": unit, "at": at});
    let one = of(12.5, "EUR", "2024-03-04");
    assert_eq!(told(&[one.clone(), one.clone()]), "2: €12.50 on Mar 4, 2024");
    for other in [
        of(13.0, "EUR", "2024-03-04"),
        of(12.5, "USD", "2024-03-04"),
        of(12.5, "EUR", "2024-03-05"),
    ] {
        assert!(!told(&[one.clone(), other.clone()]).contains("12.5"), "{other}");
    }
    // The same day at two instants is not the same value.
    let late = of(12.5, "EUR", "2024-03-04T23:00");
    assert!(!told(&[one, late]).contains("Mar"));
}

const NUMBERS: [usize; 8] = [0, 1, 2, 3, 5, 11, 22, 100];

const POLISH: [&str; 3] = ["komentarz", "komentarze", "komentarzy"];
const ARABIC: [&str; 6] = ["لا تعليقات", "تعليق واحد", "تعليقان", "تعليقات", "تعليقًا", "تعليق"];
/// The forms that go with 0, 1, 2, 3, 5, 11, 22 and 100.
const OF_POLISH: [usize; 8] = [2, 0, 1, 1, 2, 2, 1, 2];
const OF_ARABIC: [usize; 8] = [0, 1, 2, 3, 3, 4, 4, 5];

#[test]
fn i42_words_of_polish_and_arabic_follow_the_number_of_events() {
    let polish = format!("{{count}} {{count|{}}}", POLISH.join("|"));
    let arabic = format!("{{count}} {{count|{}}}", ARABIC.join("|"));
    let rules = rules(&[("pl", &polish), ("ar", &arabic)]);
    let design = Design::new(sender(), &rules).unwrap();
    for (locale, forms, of) in [("pl", &POLISH[..], OF_POLISH), ("ar", &ARABIC[..], OF_ARABIC)] {
        for (count, form) in NUMBERS.into_iter().zip(of) {
            let line = Line { entries: count, ..about("o", &json!({})) };
            let words = format!("{count} {}", forms[form]);
            assert_eq!(in_inbox(&message(locale, vec![line]), &design), words, "{locale}");
            // A preview has something to show.
            if count > 0 {
                let preview = sample(&id(KIND), &rules, locale, count);
                assert_eq!(content(&preview, &design).unwrap().0, words, "{locale}");
            }
        }
    }
}

#[test]
fn i42_words_of_polish_and_arabic_follow_the_number_of_actors() {
    let design = design(&[
        ("pl", "{object}: {actors|dodała|dodały|dodało}"),
        ("ar", "{object}: {actors|لا|أضاف|أضافا|أضافوا|أضافت|أضافن}"),
    ]);
    let polish = ["dodała", "dodały", "dodało"];
    let arabic = ["لا", "أضاف", "أضافا", "أضافوا", "أضافت", "أضافن"];
    for (locale, forms, of) in [("pl", &polish[..], OF_POLISH), ("ar", &arabic[..], OF_ARABIC)] {
        for (count, form) in NUMBERS.into_iter().zip(of).skip(1) {
            let actors = (0..count).map(|n| role(&format!("a{n}"), "Ann")).collect();
            let line = Line { actors, ..about("o", &json!({})) };
            let told = in_inbox(&message(locale, vec![line]), &design);
            assert_eq!(told.split(": ").last(), Some(forms[form]), "{locale} {count}");
        }
        // Nobody did it: no form is true.
        let nobody = in_inbox(&message(locale, vec![about("o", &json!({}))]), &design);
        assert!(forms.iter().all(|form| !nobody.contains(form)), "{nobody}");
    }
}

#[test]
fn i42_each_value_is_isolated_in_texts_of_the_other_direction() {
    let design = design(&[
        ("en", "{actor}: {data.note}, {data.place} ({object})"),
        ("he", "{actor}: {data.note}, {data.place} ({object})"),
    ]);
    let isolated = |text: &str| format!("\u{2068}{text}\u{2069}");
    let told = |locale: &str, actors: &[&str], note: &str, place: &str, title: &str| {
        let actors = actors.iter().enumerate();
        let line = Line {
            actors: actors.map(|(n, name)| role(&format!("a{n}"), name)).collect(),
            object: Arc::new(object("o", title)),
            ..about("o", &json!({"note": note, "place": place}))
        };
        everywhere(&message(locale, vec![line]), &design)
    };
    let (arabic, hebrew) = ("سارة (2)", "דב אדלר");
    for (locale, shown, expected) in [
        (
            "en",
            told("en", &[arabic, hebrew, "Ann"], hebrew, "Haifa", arabic),
            format!(
                "{}, {} and Ann: {}, Haifa ({})",
                isolated(arabic),
                isolated(hebrew),
                isolated(hebrew),
                isolated(arabic)
            ),
        ),
        (
            "he",
            told("he", &["Ann", hebrew], "C++ (1)", arabic, "Rain"),
            // Digits in brackets would change places in Hebrew.
            format!(
                "{} ו{}: {}, {} ({})",
                isolated("Ann"),
                hebrew,
                isolated("C++ (1)"),
                isolated(arabic),
                isolated("Rain")
            ),
        ),
        // Controls end with their value, closed or not, and those that close what they didn't open close nothing.
        (
            "en",
            told(
                "en",
                &["\u{202e}Ann"],
                "\u{2067}a\u{202b}b",
                "c\u{2069}\u{202c}",
                "\u{2068}דב\u{2066}",
            ),
            format!("Ann: ab, c ({})", isolated("דב")),
        ),
    ] {
        for shown in shown {
            assert_eq!(shown, expected, "{locale}");
        }
    }
}

#[test]
fn i42_controls_in_data_end_in_templates_of_the_host() {
    let mut rules = rules(&[("en", "{actor} {object}")]);
    let template = "{{ item.data.note }}!{{ item.data.all.0 }}!{{ item.data.of.it }}!";
    rules.presentation.templates.insert(format!("email/{KIND}.txt"), template.to_owned());
    let design = Design::new(sender(), &rules).unwrap();
    let note = "\u{202e}a\nb\u{2067}";
    let data = json!({"note": note, "all": [note], "of": {"it": "\u{200f}דב"}});
    let (_, bodies) = content(&message("en", vec![about("o", &data)]), &design).unwrap();
    assert!(bodies.text.starts_with("a\nb!a\nb!\u{200f}דב!"), "{:?}", bodies.text);
}
