//! The first faulty line ends `simulate`, whether it can't be read or the engine refuses it.

use super::{World, ran};

fn line(time: &str, rest: &str) -> String {
    format!("{{\"at\":\"2024-01-01T{time}:00Z\",{rest}}}\n")
}

fn publish(time: &str, event: &str, to: &str) -> String {
    let rest = format!(
        r#""op":"publish","id":"{event}","type":"note","object":{{"id":"{event}"}},"to":{{"recipients":[{to}]}}"#
    );
    line(time, &rest)
}

/// Three lines that are right, the second of which is told at once; the third has a warning.
fn right() -> String {
    line("10:00", r#""op":"recipient","id":"ann""#)
        + &publish("10:00", "e1", r#""ann""#)
        + &publish("11:00", "e2", r#""ann","nobody""#)
}

#[test]
fn o10_the_first_refused_line_is_named_whatever_comes_after_it() {
    let world = World::new();
    let config = world.path("tidings.toml").display().to_string();
    let refused = line("11:00", r#""op":"subscribe","recipient":"ghost","topic":"t""#);
    let (at_once, later) = (publish("11:00", "e3", r#""ann""#), publish("12:00", "e4", r#""ann""#));
    let back = line("09:00", r#""op":"recipient","id":"bob""#);
    for (after, more) in [
        (String::new(), &[][..]),
        (at_once.clone(), &[]),
        (later.clone(), &[]),
        (later.clone(), &["--until", "2024-01-01T11:00:00Z"]),
        ("no JSON\n".to_owned(), &[]),
        (at_once + "no JSON\n", &[]),
        (back.clone(), &[]),
        (refused.clone() + &later, &[]),
        (later + &back, &["--sort"]),
    ] {
        let timeline = world.file("timeline.ndjson", &(right() + &refused + &after));
        let simulate = ["simulate", "--config", &config, "--timeline", &timeline];
        let ran = ran(&[&simulate[..], &["--json"], more].concat());
        assert_eq!(ran.code, 1, "{}", ran.err);
        let expected = "error: line 4: unknown recipient `ghost`\n  = help: add a `recipient` line \
                        before the first line that names the recipient\n";
        assert_eq!(ran.err, expected, "{after}");
        let told: Vec<_> =
            ran.lines().into_iter().map(|line| line["items"][0]["event"].clone()).collect();
        assert_eq!(told, ["e1"], "{after}");
    }
}

#[test]
fn o10_a_line_that_cannot_be_read_is_named_before_those_that_would_be_refused_after_it() {
    let world = World::new();
    let config = world.path("tidings.toml").display().to_string();
    let refused = line("11:00", r#""op":"flush","recipient":"ghost""#);
    let timeline = right() + "no JSON\n" + &refused;
    let timeline = world.file("timeline.ndjson", &timeline);
    let ran = ran(&["simulate", "--config", &config, "--timeline", &timeline, "--json"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.starts_with("error: line 4, column 2: "), "{}", ran.err);
    let told: Vec<_> =
        ran.lines().into_iter().map(|line| line["items"][0]["event"].clone()).collect();
    assert_eq!(told, ["e1"]);
}

#[test]
fn o10_the_refused_line_is_named_among_thousands_of_one_instant() {
    let world = World::new();
    let config = world.path("tidings.toml").display().to_string();
    let many: String = (0..9_000)
        .map(|n| line("11:00", &format!(r#""op":"subscribe","recipient":"ann","topic":"t{n}""#)))
        .collect();
    let refused = line("11:00", r#""op":"flush","recipient":"ghost""#);
    let timeline = world.file("timeline.ndjson", &(right() + &many + &refused + &many));
    let ran = ran(&["simulate", "--config", &config, "--timeline", &timeline, "--json"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("error: line 9004: "), "{}", ran.err);
}
