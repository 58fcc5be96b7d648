//! Texts that hosts, people and providers wrote: they stand apart in answers, where no model takes them for its own or for
//! tidings' words, and without letters that nobody sees.

use serde_json::{Map, Value};

use crate::mask;

/// The field of an object that has its untrusted texts.
pub(super) const UNTRUSTED: &str = "untrusted";

/// Fields that the tools and the engine word themselves, beside those that the mask knows.
const OURS: [&str; 6] = ["verdict", "otherwise", "words", "looked_at", "faults", "confirm"];

/// Fields of which some values are words of the API, and others were written by providers.
const WORD_OR_QUOTE: [&str; 3] = ["reason", "answer", "source"];

/// Moves the untrusted texts of each object into its field [`UNTRUSTED`], and takes out of all texts what nobody sees.
pub(super) fn set_apart(value: &mut Value) {
    match value {
        Value::Object(fields) => object(fields),
        Value::Array(values) => values.iter_mut().for_each(set_apart),
        Value::String(text) => *text = cleaned(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn object(fields: &mut Map<String, Value>) {
    let mut trusted = Map::new();
    let mut untrusted = Map::new();
    // What a step about the delivery of a message looked at are the words of its provider.
    let is_delivery = fields.get("rule").is_some_and(|rule| rule == "delivery");
    for (name, mut value) in std::mem::take(fields) {
        let name = cleaned(&name);
        if is_untrusted(&name, &value) || is_delivery && name == "looked_at" {
            clean(&mut value);
            untrusted.insert(name, value);
        } else if name == "faults" {
            // Of edits that the caller made up: they quote nobody else.
            clean(&mut value);
            trusted.insert(name, value);
        } else {
            set_apart(&mut value);
            trusted.insert(name, value);
        }
    }
    if !untrusted.is_empty() {
        trusted.insert(UNTRUSTED.to_owned(), Value::Object(untrusted));
    }
    *fields = trusted;
}

/// Returns true if a field has texts that others wrote. What nobody has decided about is theirs.
fn is_untrusted(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => false,
        // Whole objects of others, whose names are theirs as well.
        _ if ["data", "addresses"].contains(&name) => true,
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
        Value::Array(values) => values.iter().any(|value| is_untrusted(name, value)),
        Value::String(text) if WORD_OR_QUOTE.contains(&name) => !mask::is_word(text),
        Value::String(_) => !OURS.contains(&name) && !mask::is_shown(name),
    }
}

fn clean(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let all = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                clean(&mut value);
                (cleaned(&name), value)
            });
            *fields = all.collect();
        }
        Value::Array(values) => values.iter_mut().for_each(clean),
        Value::String(text) => *text = cleaned(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text without letters that a person does not see and a model reads: controls, marks of direction, tags, and others
/// that have no shape.
pub(super) fn cleaned(text: &str) -> String {
    text.chars()
        .filter_map(|letter| match letter {
            '\n' | '\t' => Some(' '),
            letter if is_unseen(letter) => None,
            letter => Some(letter),
        })
        .collect()
}

fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            // Marks of direction.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Tags, and selectors of variants that no script has.
            | '\u{e0000}'..='\u{e0fff}'
            // Spaces without width, separators, operators and fillers without a shape. The joiners of scripts stay.
            | '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{115f}' | '\u{1160}'
            | '\u{3164}' | '\u{ffa0}'
        )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_wrote_stands_apart_in_each_object() {
        let mut answer = json!({
            "verdict": "Failed.", "id": "m", "name": "A•• R•••", "email": null,
            "data": {"plan": "gold", "deep": {"x": 1}},
            "actor": {"id": "ana", "title": "A••"},
            "attempts": [{"provider": "smtp", "answer": "retry", "reply": "451 later"}],
            "held": {"until": "T", "reason": "connect: refused"},
            "timeline": [{"rule": "delivery", "looked_at": "smtp: 451 later"}, {"rule": "lane", "looked_at": "now"}],
            "reason": "refused", "new_field": "•••", "actors": ["A••"],
        });
        set_apart(&mut answer);
        let expected = json!({
            "verdict": "Failed.", "id": "m", "email": null,
            "actor": {"id": "ana", "untrusted": {"title": "A••"}},
            "attempts": [{"provider": "smtp", "answer": "retry", "untrusted": {"reply": "451 later"}}],
            "held": {"until": "T", "untrusted": {"reason": "connect: refused"}},
            "timeline": [
                {"rule": "delivery", "untrusted": {"looked_at": "smtp: 451 later"}},
                {"rule": "lane", "looked_at": "now"},
            ],
            "reason": "refused",
            "untrusted": {
                "name": "A•• R•••", "data": {"plan": "gold", "deep": {"x": 1}}, "new_field": "•••",
                "actors": ["A••"],
            },
        });
        assert_eq!(answer, expected);
    }

    #[test]
    fn letters_that_nobody_sees_are_taken_out_everywhere() {
        let hostile = "a\u{202e}b\u{0}c\u{1b}[31m\u{e0041}\u{e007f}d\u{2066}\u{200f}\u{61c}\ne";
        assert_eq!(cleaned(hostile), "abc[31md e");
        assert_eq!(cleaned("Åsa 日本 👩\u{200d}🔬 שלום"), "Åsa 日本 👩\u{200d}🔬 שלום");
        let mut answer = json!({"id": hostile, "data": {hostile: [hostile]}});
        set_apart(&mut answer);
        let clean = cleaned(hostile);
        assert_eq!(answer, json!({"id": clean, "untrusted": {"data": {clean.clone(): [clean]}}}));
    }
}
