//! Expressions: their values, their faults, and their bounds.

use proptest::prelude::*;

use crate::cel::*;

fn event() -> Event {
    serde_json::from_str(
        r#"{"id": "e1", "type": "comment", "actor": {"id": "ada", "title": "Ada"},
            "object": {"id": "c7"}, "to": {"topics": ["doc/7"]},
            "body": {"fr": "Bonjour", "en": "Hello"},
            "data": {"n": 7, "x": 1.5, "whole": 3.0, "big": 18446744073709551615, "yes": true,
                     "none": null, "text": "é", "list": [1, 2, 3], "map": {"a": 1, "b": [2]}}}"#,
    )
    .unwrap()
}

/// The value of an expression as text, `?` where it has none, `!` where it fails.
fn value(text: &str) -> String {
    let event = event();
    let program =
        Program::compile(text, OF_EVENT).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    match program.value(&[("event", of_event(&event))]) {
        Ok(value) => value.as_text().unwrap_or("?".to_owned()),
        Err(_) => "!".to_owned(),
    }
}

#[test]
fn expressions_have_values() {
    for (text, expected) in [
        ("event.type + '/' + event.object.id", "comment/c7"),
        ("event['id']", "e1"),
        ("event.actor.title", "Ada"),
        // Of several languages the one that was given first.
        ("event.body", "Bonjour"),
        ("event.to.topics[0]", "doc/7"),
        ("event.data.n", "7"),
        ("event.data.whole", "3"),
        ("event.data.x", "1.5"),
        ("-0.0", "0"),
        ("1e3", "1000"),
        ("event.data.big", "18446744073709551615"),
        ("event.data.yes", "true"),
        ("event.data.none", "?"),
        ("event.data.none == null", "true"),
        ("event.data.missing", "!"),
        ("event.target.id", "!"),
        ("has(event.target)", "false"),
        ("has(event.actor) && has(event.data.map.a)", "true"),
        ("has(event.data.missing.x)", "!"),
        ("event.data.n > 6.5 && event.data.whole == 3", "true"),
        ("event.data.n / 2 + 10 % 4 - -1", "6"),
        ("2 * 3.0", "!"),
        ("double(2) * 3.0", "6"),
        ("1 / 0", "!"),
        ("9223372036854775807 + 1", "!"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("0xff", "255"),
        ("7u", "7"),
        ("!true || 1 < 2", "true"),
        // What decides makes up for what fails, on either side.
        ("event.data.missing || true", "true"),
        ("false && event.data.missing", "false"),
        ("event.data.missing == 1 && false", "false"),
        ("true && event.data.missing", "!"),
        ("event.data.n == 7 ? 'seven' : 'other'", "seven"),
        ("'x' == 1", "false"),
        ("'x' < 1", "!"),
        ("2 in event.data.list", "true"),
        ("'a' in event.data.map", "true"),
        ("event.data.list == [1, 2.0, 3u]", "true"),
        ("event.data.map == {'b': [2], 'a': 1}", "true"),
        ("size(event.data.list) + event.data.text.size()", "4"),
        ("event.data.list.all(x, x > 0)", "true"),
        ("event.data.list.exists(x, x == 'a' || x == 3)", "true"),
        ("event.data.list.exists_one(x, x > 1)", "false"),
        ("event.data.list.filter(x, x > 1).map(x, x * 2)[1]", "6"),
        ("event.data.list.map(x, x > 1, x * 2)[0]", "4"),
        ("event.data.map.all(key, key in ['a', 'b'])", "true"),
        ("[[1], [2]].map(x, x.map(y, y + 1))[1][0]", "3"),
        ("event.id.startsWith('e') && event.id.endsWith('1') && 'abc'.contains('b')", "true"),
        ("string(7) + string(1.5) + string(true)", "71.5true"),
        ("int('12') + int(3.9)", "15"),
        ("int('x')", "!"),
        ("type(1) == type(2) && type(1) != type('')", "true"),
        (
            "timestamp('2024-03-01T09:00:00Z') + duration('90m') > timestamp('2024-03-01T10:00:00Z')",
            "true",
        ),
        ("string(timestamp('2024-03-01T10:00:00Z') - timestamp('2024-03-01T09:00:00Z'))", "3600s"),
        ("timestamp('2024-03-03T23:30:00Z').getDayOfWeek()", "0"),
        ("timestamp('2024-03-03T23:30:00Z').getHours('Europe/Paris')", "0"),
        ("timestamp('2024-12-31T00:00:00Z').getDayOfYear()", "365"),
        ("timestamp('2024-12-31T00:00:00Z').getMonth()", "11"),
        (r#""a\tb\u00e9\x41" + r'\n' + '''it's'''"#, "a\tbéA\\nit's"),
        ("1 + // one\n 2", "3"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn faults_have_places() {
    for (text, at, part) in [
        ("", 0, "ends too early"),
        ("event.typ", 6, "unknown field `typ`"),
        ("event.actor.nme", 12, "unknown field `nme`"),
        ("has(event.actr)", 10, "unknown field `actr`"),
        ("evnt.id", 0, "unknown name `evnt`"),
        ("recipient.id", 0, "unknown name `recipient`"),
        ("1 + sise(event)", 4, "unknown function `sise`"),
        ("event.id.starts('x')", 9, "unknown function `starts`"),
        ("event.id.startsWith()", 9, "number of arguments"),
        ("event.id = 'x'", 9, "`=` has no meaning"),
        ("event.id ==", 11, "ends too early"),
        ("(1", 2, "ends too early"),
        ("1 2", 2, "a number"),
        ("'x", 0, "has no end"),
        ("'\\q'", 1, "escape"),
        ("b'x'", 0, "bytes"),
        ("99999999999999999999", 0, "too great"),
        ("9223372036854775808", 0, "a number"),
        ("has(1)", 4, "no field"),
        ("[1].map(x, y)", 11, "unknown name `y`"),
        ("import", 0, "reserved"),
    ] {
        let fault = Program::compile(text, OF_EVENT).expect_err(text);
        assert_eq!(fault.offset, at, "{text}: {fault}");
        assert!(fault.what.contains(part), "{text}: {fault}");
    }
}

#[test]
fn s4_regular_expressions_are_told_to_be_missing() {
    let fault = Program::compile("event.id.matches('^x')", OF_EVENT).expect_err("a fault");
    assert!(fault.help.contains("no regular expressions"), "{fault}");
}

#[test]
fn what_is_written_is_bounded() {
    let compile = |text: &str| Program::compile(text, OF_EVENT);
    let within =
        |open: &str, times, close: &str| format!("{}1{}", open.repeat(times), close.repeat(times));
    for (open, close) in
        [("(", ")"), ("[", "]"), ("!", ""), ("-", ""), ("{1: ", "}"), ("size(", ")")]
    {
        assert!(compile(&within(open, 20, close)).is_ok(), "{open}");
        for times in [100, 600] {
            let fault = compile(&within(open, times, close)).unwrap_err();
            assert!(fault.what.contains("too deep"), "{open}: {fault}");
        }
    }
    assert!(compile(&format!("1{}", " + 1".repeat(50))).is_ok());
    assert!(compile(&format!("1{}", " + 1".repeat(500))).is_err());
    assert!(compile(&format!("true{}", " && true".repeat(500))).is_ok());
    assert!(compile(&"1 ".repeat(3000)).is_err());
}

#[test]
fn what_is_computed_is_bounded() {
    let ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
    let mut text = "0".to_owned();
    for name in ["a", "b", "c", "d", "e", "f"] {
        text = format!("{ten}.map({name}, {text})");
    }
    assert_eq!(value(&text), "!");
    let doubled = "['x'].map(a, a + a)".to_owned() + &".map(a, a + a)".repeat(30);
    assert_eq!(value(&format!("{doubled}[0]")), "!");
}

#[test]
fn keys_are_short_texts() {
    let key = |text: &str| Program::compile(text, OF_EVENT).unwrap().key(&event());
    assert_eq!(key("event.data.n"), BatchKey::new("7"));
    assert_eq!(key("event.data.list"), Ok(BatchKey::EMPTY));
    assert_eq!(key("event.data.missing"), Ok(BatchKey::EMPTY));
    assert_eq!(key("1.0 / 0.0"), Ok(BatchKey::EMPTY));
    let long = |times: usize| format!("'{}'", "é".repeat(times));
    assert!(key(&long(128)).is_ok());
    assert_eq!(key(&long(129)), Err(BatchKeyTooLong(258)));
    assert_eq!(key("''"), Ok(BatchKey::EMPTY));
}

proptest! {
    /// Any text is refused or evaluated.
    #[test]
    fn nothing_panics(text in "[ -~é]{0,60}") {
        if let Ok(program) = Program::compile(&text, OF_EVENT) {
            let _ = program.key(&event());
        }
    }

    /// Texts that look like an expression are one, too.
    #[test]
    fn no_words_panic(words in proptest::collection::vec(0..40_usize, 0..30)) {
        const WORDS: [&str; 40] = [
            "event", ".", "data", "n", "x", "list", "map", "(", ")", "[", "]", "{", "}", ",", ":", "?",
            "+", "-", "*", "/", "%", "!", "&&", "||", "==", "<", "in", "has", "size", "all", "exists",
            "timestamp", "duration", "'1h'", "'2024-01-01T00:00:00Z'", "getHours", "1", "-1", "2.5",
            "9223372036854775808",
        ];
        let text: String = words.iter().map(|word| format!("{} ", WORDS[*word])).collect();
        if let Ok(program) = Program::compile(&text, OF_EVENT) {
            let _ = program.key(&event());
        }
    }
}
