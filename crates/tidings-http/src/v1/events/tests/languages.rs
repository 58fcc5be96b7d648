//! Titles and bodies by locale, from their publish to the inbox.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Rig, event, person, publish};

fn read(rig: &Rig, path: &str) -> Value {
    let answer = rig.call(Method::GET, path, &Value::Null);
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.json());
    answer.json()
}

fn by_locale() -> Value {
    let mut event = event(Some("e1"), "ann");
    event["object"]["title"] = json!({"fr": "Nymphéas", "en": "Water Lilies", "zh-TW": "睡蓮"});
    event["body"] = json!({"en": "Well done", "de": "Gut gemacht"});
    event
}

#[test]
fn titles_and_bodies_by_locale_are_in_the_readers_language_and_kept_as_given() {
    let rig = Rig::new();
    person(&rig, "ann");
    assert_eq!(publish(&rig, &by_locale()).status, StatusCode::ACCEPTED);
    let shown = |rig: &Rig, locale: &str| {
        rig.call(Method::PATCH, "/v1/recipients/ann", &json!({ "locale": locale }));
        let page = read(rig, "/v1/recipients/ann/inbox");
        let item = page["groups"][0]["items"][0].clone();
        [&item["object"]["title"], &item["body"], &item["lang"]]
            .map(|text| text.as_str().unwrap().to_owned())
    };
    let check = |rig: &Rig| {
        for (locale, expected) in [
            ("fr-CA", ["Nymphéas", "Well done", "fr"]),
            ("de-AT", ["Water Lilies", "Gut gemacht", "de"]),
            ("ZH-hk", ["Water Lilies", "Well done", "zh-Hant"]),
            ("zh-tw", ["睡蓮", "Well done", "zh-Hant"]),
            ("xx", ["Water Lilies", "Well done", "en"]),
        ] {
            assert_eq!(shown(rig, locale), expected, "{locale}");
        }
        let event = read(rig, "/v1/events/e1")["event"].clone();
        assert_eq!(event["object"]["title"], by_locale()["object"]["title"]);
        assert_eq!(event["body"], by_locale()["body"]);
    };
    check(&rig);
    let rig = rig.restart();
    check(&rig);
    let export = rig.call(Method::GET, "/v1/export?days=1", &Value::Null);
    let text = String::from_utf8(export.bytes).unwrap();
    assert!(text.contains(r#""body":{"en":"Well done","de":"Gut gemacht"}"#), "{text}");
    // A title alone takes the place of all of them.
    let object = by_locale()["object"]["id"].as_str().unwrap().replace('/', "%2F");
    let path = format!("/v1/objects/{object}");
    rig.call(Method::PUT, &path, &json!({"title": "Lilies"}));
    assert_eq!(shown(&rig, "fr")[0], "Lilies");
}

#[test]
fn a_faulty_text_by_locale_is_refused_with_a_hint() {
    let rig = Rig::new();
    person(&rig, "ann");
    for (title, detail, hint) in [
        (json!({"de_AT": "x"}), "has `de_AT`, which is not a locale", "did you mean `de-AT`?"),
        (json!({"de": "x", "DE": "y"}), "has two texts in `DE`", "keep one"),
        (json!({"zh-TW": "x", "zh-Hant-TW": "y"}), "has two texts in `zh-Hant-TW`", "keep one"),
        (json!({}), "has no text in any locale", "at least one"),
        (json!({"de": 3}), "must be a string, got a number", ""),
        (
            json!(["x"]),
            "must be a string, or an object of strings by locale, got an array",
            "Example",
        ),
        (json!({"de": "x".repeat(1025)}), "has 1025 bytes, more than 1024", "shorter"),
    ] {
        let mut event = by_locale();
        event["object"]["title"] = title.clone();
        let refused = publish(&rig, &event);
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{title}");
        let problem = refused.json();
        let [told, help] = ["detail", "hint"].map(|of| problem[of].as_str().unwrap_or_default());
        assert!(told.contains(detail) && help.contains(hint), "{title}: {problem}");
    }
    let mut many = serde_json::Map::new();
    for letter in 'a'..='z' {
        many.insert(format!("x{letter}"), json!("x".repeat(700)));
    }
    let refused = rig.call(Method::PUT, "/v1/objects/o", &json!({"title": many}));
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.json()["detail"].as_str().unwrap().contains("in all its locales"));
    let locale = rig.call(Method::PATCH, "/v1/recipients/ann", &json!({"locale": "de_AT"}));
    assert_eq!(locale.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(locale.json()["hint"].as_str().unwrap().contains("did you mean `de-AT`?"));
}
