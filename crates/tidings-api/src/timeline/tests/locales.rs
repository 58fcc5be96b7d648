//! Titles and bodies by locale: kept as they are given, in their order.

use tidings_core::model::HostText;

use super::*;

fn by_locale(texts: &[(&str, &str)]) -> Option<HostText> {
    let texts = texts.iter().map(|(tag, text)| ((*tag).to_owned(), (*text).to_owned()));
    HostText::by_locale(texts.collect())
}

#[test]
fn t42_titles_and_bodies_by_locale_are_read_as_they_are_given() {
    let body = r#""id":"e","type":"work","to":{},"body":{"fr":"Bravo","en":"Well done"},
        "object":{"id":"o","title":{"de-AT":"Seerosen","en":"Water Lilies"}},
        "actor":{"id":"a","title":{"ja":"アン"}},"target":{"id":"t","title":"One for all"}"#;
    let Ok(Command::Publish(event)) = read("publish", body) else { panic!() };
    assert_eq!(event.body, by_locale(&[("fr", "Bravo"), ("en", "Well done")]));
    let seerosen = by_locale(&[("de-AT", "Seerosen"), ("en", "Water Lilies")]);
    assert_eq!(event.object.title, seerosen);
    assert_eq!(event.actor.unwrap().title, by_locale(&[("ja", "アン")]));
    assert_eq!(event.target.unwrap().title, Some("One for all".into()));
    let body = r#""id":"o","title":{"de-AT":"Seerosen","en":"Water Lilies"}"#;
    let Ok(Command::Object(object)) = read("object", body) else { panic!() };
    assert_eq!(object.title, seerosen);
}

#[test]
fn t42_texts_by_locale_that_are_none_are_refused_with_their_place() {
    let long = "x".repeat(1_025);
    let wide = |number: usize| format!(r#""{}":"{}""#, LOCALES[number], "y".repeat(1_000));
    let all: Vec<String> = (0..LOCALES.len()).map(wide).collect();
    for (title, reason, hint) in [
        ("{}".to_owned(), "`title` has no text in any locale", "write at least one"),
        (r#"{"de_AT":"x"}"#.to_owned(), "which is not a locale", "did you mean `de-AT`?"),
        (r#"{"":"x"}"#.to_owned(), "which is not a locale", "write a BCP 47 tag"),
        (r#"{"zh-TW":"x","zh-hant-tw":"y"}"#.to_owned(), "has two texts", "keep one of the two"),
        (r#"{"en":7}"#.to_owned(), "`title.en` must be a string", ""),
        (r#"["en"]"#.to_owned(), "`title`", ""),
        (format!(r#"{{"en":"{long}"}}"#), "`title`", ""),
        (format!("{{{}}}", all.join(",")), "bytes in all its locales", "give fewer of them"),
    ] {
        refused("object", &format!(r#""id":"o","title":{title}"#), reason, hint);
    }
}

/// So many locales that texts of 1,000 bytes in each are too much.
const LOCALES: [&str; 17] = [
    "ar", "cs", "da", "de", "en", "es", "fa", "fi", "fr", "he", "hi", "it", "ja", "ko", "nb", "nl",
    "pl",
];
