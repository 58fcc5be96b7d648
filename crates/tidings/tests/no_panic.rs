//! Whatever comes in, the parsers answer: with a value, or with faults that can be printed.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use proptest::prelude::*;
use proptest::sample::Index;
use tidings::config;
use tidings_api::timeline::read_line;

const LINES: [&str; 8] = [
    r#"{"at":"2024-01-01T00:00:00Z","op":"recipient","id":"r","email":"a@b","tz":"Europe/Paris","lat":48.8,"lon":2.3,"state":"active"}"#,
    r#"{"at":"2024-01-01T00:00:00.5+01:00","op":"publish","type":"comment","actor":"é","object":{"id":"o","title":"\u00e9"},"to":{"recipients":["r"],"topics":["a/b"],"near":{"lat":1,"lon":2,"km":3},"everyone":true},"data":{"a":[1,{"b":null}]},"channels":["email"]}"#,
    r#"{"at":"2024-01-01T00:00:00Z","op":"preference","recipient":"r","category":"following","channel":"email","mode":"weekly"}"#,
    r#"{"at":"2024-01-01T00:00:00Z","op":"seen","recipient":"r","up_to":"2024-01-01T00:00:00Z"}"#,
    r#"{"at":"2024-01-01T00:00:00Z","op":"forget","before":"2024-01-01"}"#,
    r#"{"at":"2024-01-01T00:00:00Z","op":"cancel","cancellation_key":"k"}"#,
    r#"{"at":"2024-01-01T00:00:00Z","op":"flush","recipient":"r","lane":"digest:weekly"}"#,
    r#"{"at":"2024-01-01T00:00:00Z","op":"object","id":"o","notifiable":false}"#,
];

/// Words that make more of an input parse than bytes drawn at random would.
const PIECES: [&str; 24] = [
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "=",
    "\n",
    "null",
    "-1e308",
    "9e999",
    "\\ud800",
    "'''",
    "\"\"\"",
    "[[types]]",
    "types.a.",
    "P1Y",
    "\u{202e}",
    "é",
    "0x",
    "1979-05-27",
    "#",
    "true",
];

/// One change of a text: some bytes go, others come.
#[derive(Clone, Debug)]
struct Edit {
    at: Index,
    gone: usize,
    come: Vec<u8>,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let come = prop_oneof![
        proptest::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    let edit =
        (any::<Index>(), 0..12_usize, come).prop_map(|(at, gone, come)| Edit { at, gone, come });
    proptest::collection::vec(edit, 0..6)
}

fn edited(text: &str, edits: &[Edit]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for edit in edits {
        let start = edit.at.index(bytes.len() + 1);
        let end = (start + edit.gone).min(bytes.len());
        bytes.splice(start..end, edit.come.iter().copied());
    }
    bytes
}

/// Reads a configuration and prints whatever is wrong with it.
fn answer_config(text: &str) {
    match config::parse(text, "t.toml") {
        Ok(rules) => assert!(rules.store.keep_ms > 0 && config::warnings(&rules).len() < 1000),
        Err(faults) => {
            assert!(!faults.list.is_empty());
            assert!(!faults.to_string().is_empty() && faults.to_json().is_array());
            for fault in &faults.list {
                let place = fault.place.as_ref().unwrap();
                assert!(place.line <= text.split('\n').count(), "{place:?}");
                assert!(!fault.hint.is_empty(), "{fault:?}");
            }
        }
    }
}

fn answer_line(bytes: &[u8]) {
    let rules = config::parse(config::DEFAULT, "t.toml").unwrap();
    if let Err(fault) = read_line(&rules, 1, bytes) {
        assert_eq!(fault.line, Some(1));
        assert!(!fault.reason.is_empty() && !fault.hint.is_empty(), "{fault:?}");
        assert!(!fault.to_string().contains('\u{1b}'), "{fault}");
    }
}

#[test]
fn the_lines_that_are_edited_below_are_good_ones() {
    let rules = config::parse(config::DEFAULT, "t.toml").unwrap();
    for line in LINES {
        let read = read_line(&rules, 1, line.as_bytes());
        assert!(read.is_ok(), "{line}: {read:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_answered_as_a_configuration(text in any::<String>()) {
        answer_config(&text);
    }

    #[test]
    fn an_edited_configuration_is_answered(edits in edits()) {
        answer_config(&String::from_utf8_lossy(&edited(config::DEFAULT, &edits)));
    }

    #[test]
    fn any_bytes_are_answered_as_a_line(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        answer_line(&bytes);
    }

    #[test]
    fn an_edited_line_is_answered(which in 0..LINES.len(), edits in edits()) {
        answer_line(&edited(LINES[which], &edits));
    }
}
