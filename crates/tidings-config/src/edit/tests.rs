//! Edits in every layout that TOML has for a table, and their diffs.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::*;

fn source(text: &str) -> ConfigSource {
    ConfigSource { file: "tidings.toml".into(), text: text.to_owned() }
}

fn edit(key: &str, value: Value) -> Edit {
    Edit { key: key.to_owned(), value }
}

fn edited(text: &str, key: &str, value: Value) -> String {
    source(text).edited(&[edit(key, value)]).unwrap().text
}

const HEADERS: &str = "\
# What we send.
[categories.news]

# Words below a picture.
[types.note]
category = \"news\"   # the only one
look_back = \"14d\"

[types.note.channels.email]
policy = \"cooldown\"
quiet = \"4m\"  # not 3
";

#[test]
fn a_value_is_written_over_the_old_one() {
    let text = edited(HEADERS, "types.note.channels.email.quiet", json!("10m"));
    assert_eq!(text, HEADERS.replace("\"4m\"", "\"10m\""));
    let inline = "[types.note]\nchannels = { inbox = { policy = \"now\" }, email = { policy = 'cooldown', quiet = '4m' } } # all\n";
    let text = edited(inline, "types.note.channels.email.quiet", json!("10m"));
    assert_eq!(text, inline.replace("'4m'", "\"10m\""));
    let dotted = "types.note.channels.email.policy = \"now\"\n";
    let text = edited(dotted, "types.note.channels.email.policy", json!("never"));
    assert_eq!(text, dotted.replace("now", "never"));
    let several = "[types.note]\nsamples = [\n  1, # one\n  2,\n]\nurgent = true";
    let text = edited(several, "types.note.urgent", json!(false));
    assert_eq!(text, several.replace("true", "false"));
}

#[test]
fn a_new_key_stands_in_the_table_of_its_neighbours() {
    let text = edited(HEADERS, "types.note.channels.email.max_wait", json!("1h"));
    assert_eq!(text, HEADERS.replace("# not 3\n", "# not 3\nmax_wait = \"1h\"\n"));
    let text = edited(HEADERS, "types.note.urgent", json!(true));
    assert_eq!(text, HEADERS.replace("\"14d\"\n", "\"14d\"\nurgent = true\n"));
    let text = edited(HEADERS, "categories.news.title", json!("News \"now\"\n"));
    assert_eq!(text, HEADERS.replace(".news]\n", ".news]\ntitle = \"News \\\"now\\\"\\n\"\n"));
    let inline = "[types]\n  note = { channels = { email = { policy = \"now\" } } }\n";
    let text = edited(inline, "types.note.channels.email.lane", json!("x"));
    assert_eq!(text, inline.replace("\"now\" }", "\"now\", lane = \"x\" }"));
    let text = edited(inline, "types.note.category", json!("c"));
    assert_eq!(text, inline.replace(" } } }", " } }, category = \"c\" }"));
    let text = edited(inline, "types.b", json!({ "category": "c" }));
    assert_eq!(text, format!("{inline}  b = {{ category = \"c\" }}\n"));
    let empty = "[types]\nnote = {}";
    assert_eq!(edited(empty, "types.note.urgent", json!(1)), "[types]\nnote = { urgent = 1 }");
    let dotted = "[types.note]\nchannels.email.policy = \"cooldown\"\ncategory = \"c\"\r\n";
    let text = edited(dotted, "types.note.channels.email.quiet", json!("1m"));
    assert_eq!(text, dotted.replace("n\"\nca", "n\"\nchannels.email.quiet = \"1m\"\nca"));
}

#[test]
fn a_new_table_has_a_header_where_its_neighbours_have_one() {
    let push = json!({ "policy": "now" });
    let text = edited(HEADERS, "types.note.channels.push", push);
    assert_eq!(
        text,
        format!("{}\n\n[types.note.channels.push]\npolicy = \"now\"\n", HEADERS.trim_end())
    );
    let text = edited(HEADERS, "types.b.category", json!("news"));
    assert_eq!(text, format!("{}\n\n[types.b]\ncategory = \"news\"\n", HEADERS.trim_end()));
    let text = edited(HEADERS, "digests.d.every", json!("day"));
    assert_eq!(text, format!("{HEADERS}\n[digests.d]\nevery = \"day\"\n"));
    assert_eq!(edited("", "digests.d.every", json!("day")), "[digests.d]\nevery = \"day\"\n");
    let above = "# Of all.\n[types.note.channels]\ninbox = { policy = \"now\" }\n";
    let text = edited(above, "types.note.category", json!("c"));
    assert_eq!(text, format!("[types.note]\ncategory = \"c\"\n\n{above}"));
}

#[test]
fn null_removes_a_key_and_leaves_the_rest() {
    let text = edited(HEADERS, "types.note.channels.email.quiet", json!(null));
    assert_eq!(text, HEADERS.replace("quiet = \"4m\"  # not 3\n", ""));
    let text = edited(HEADERS, "types.note.channels", json!(null));
    assert_eq!(text.trim_end(), HEADERS.split("\n\n[types.note.ch").next().unwrap());
    let text = edited(HEADERS, "types.note", json!(null));
    assert_eq!(text, "# What we send.\n[categories.news]\n\n# Words below a picture.\n\n");
    assert_eq!(edited(HEADERS, "types.note.urgent", json!(null)), HEADERS);
    let inline =
        "[types.note]\nchannels = { inbox = { policy = \"now\" }, email = { lane = \"x\" } }\n";
    let text = edited(inline, "types.note.channels.inbox", json!(null));
    assert_eq!(text, "[types.note]\nchannels = { email = { lane = \"x\" } }\n");
    let text = edited(inline, "types.note.channels.email", json!(null));
    assert_eq!(text, "[types.note]\nchannels = { inbox = { policy = \"now\" } }\n");
    let text = edited(inline, "types.note.channels.email.lane", json!(null));
    assert_eq!(text, inline.replace("{ lane = \"x\" }", "{}"));
    // A table that is there by its last key alone stays, since it may declare something.
    let dotted = "[categories]\nnews.title = \"News\"\n";
    let text = edited(dotted, "categories.news.title", json!(null));
    assert_eq!(text, "[categories]\nnews = {}\n");
    let by_header = "[types.note.channels.email]\npolicy = \"now\"\n";
    let text = edited(by_header, "types.note.channels.email", json!(null));
    assert_eq!(text, "[types.note.channels]\n");
}

#[test]
fn an_object_over_a_table_changes_its_fields_one_by_one() {
    let email = json!({ "policy": "cooldown", "quiet": "10m", "max_wait": "1h" });
    let text = edited(HEADERS, "types.note.channels.email", email);
    let expected = "quiet = \"10m\"  # not 3\nmax_wait = \"1h\"\n";
    assert_eq!(text.replace(expected, ""), HEADERS.replace("quiet = \"4m\"  # not 3\n", ""));
    let text = edited(HEADERS, "types.note.channels.email", json!("never"));
    assert!(text.contains("channels.email = \"never\"") && !text.contains("quiet"), "{text}");
}

#[test]
fn lines_of_an_inline_table_stay_lines() {
    let text = "[types.note.channels]\nemail = {\n  policy = \"cooldown\", # waits\n  quiet = \"4m\",\n}\n";
    let more = edited(text, "types.note.channels.email.max_wait", json!("1h"));
    assert_eq!(more, text.replace("\"4m\",", "\"4m\",\n  max_wait = \"1h\","));
    let less = edited(text, "types.note.channels.email.quiet", json!(null));
    assert_eq!(less, text.replace("  quiet = \"4m\",\n", ""));
    let less = edited(text, "types.note.channels.email.policy", json!(null));
    assert_eq!(less, text.replace("  policy = \"cooldown\", # waits\n", ""));
}

#[test]
fn every_value_of_json_has_one_of_toml_but_null() {
    let odd =
        json!({ "a b": [1, -2.5, 1e300, true, "x\u{7f}\u{1f600}"], "": {}, "é": { "c": [] } });
    let text = edited("", "types.x", odd.clone());
    let read: toml::Table = text.parse().unwrap();
    let read = serde_json::to_value(&read["types"]["x"]).unwrap();
    assert_eq!(read, odd, "{text}");
    for (value, reason) in [(json!([null]), "null"), (json!({ "a": u64::MAX }), "too large")] {
        let fault = source("").edited(&[edit("types.x", value)]).unwrap_err();
        assert!(fault.to_string().contains(reason), "{fault}");
    }
}

#[test]
fn a_key_is_one_of_the_sections_that_can_be_edited() {
    let fault = |key: &str| source(HEADERS).edited(&[edit(key, json!(1))]).unwrap_err();
    for key in [
        "",
        ".",
        "types.",
        "types..a",
        "types.a = 1\n[x]\ny",
        "types.\"\"\"a\"\"\"",
        "types.a b",
        "types.a#",
    ] {
        assert_eq!(fault(key), EditError::Key(key.to_owned()), "{key}");
    }
    for key in ["store", "store.keep", "channels.email.provider", "\"types.note\".a"] {
        assert_eq!(fault(key), EditError::NotEditable(key.to_owned()), "{key}");
    }
    assert_eq!(
        fault("types.note.category.x"),
        EditError::NoTable("types.note.category".to_owned())
    );
    let text = edited(HEADERS, "types.\"a.b\".category", json!("news"));
    assert!(text.ends_with("\n[types.\"a.b\"]\ncategory = \"news\"\n"), "{text}");
}

#[test]
fn items_of_arrays_have_an_index() {
    let caps = "[[caps]]\nchannel = \"email\"\nmax = 3 # a day\n\n[[caps]]\nmax = 9\n\n[types.a]\n";
    assert_eq!(edited(caps, "caps.0.max", json!(4)), caps.replace('3', "4"));
    assert_eq!(
        edited(caps, "caps.1.per", json!("1h")),
        caps.replace("= 9\n", "= 9\nper = \"1h\"\n")
    );
    assert_eq!(edited(caps, "caps.0", json!(null)), caps.split_once("\n\n").unwrap().1);
    let cap = json!({ "max": 1 });
    assert_eq!(
        edited(caps, "caps.2", cap.clone()),
        caps.replace("9\n", "9\n\n[[caps]]\nmax = 1\n")
    );
    assert_eq!(edited(caps, "caps", json!(null)), "[types.a]\n");
    let two = edited(caps, "caps", json!([cap, cap]));
    assert_eq!(two, "[types.a]\n\n[[caps]]\nmax = 1\n\n[[caps]]\nmax = 1\n");
    let inline = "caps = [{ max = 3 }] # all\n";
    assert_eq!(edited(inline, "caps.0.max", json!(4)), inline.replace('3', "4"));
    assert_eq!(edited(inline, "caps", json!([])), "caps = [] # all\n");
    assert_eq!(edited("", "caps.0", cap.clone()), "[[caps]]\nmax = 1\n");
    for key in ["caps.3", "caps.x", "caps.2.max"] {
        let fault = source(caps).edited(&[edit(key, cap.clone())]).unwrap_err();
        assert_eq!(fault, EditError::NoTable("caps".to_owned()), "{key}");
    }
}

#[test]
fn edits_are_made_one_after_the_other() {
    let edits = [
        edit("types.b", json!({ "category": "news" })),
        edit("types.b.category", json!("old")),
        edit("types.note", json!(null)),
    ];
    let text = source(HEADERS).edited(&edits).unwrap().text;
    assert!(text.contains("[types.b]\ncategory = \"old\"\n") && !text.contains("note"), "{text}");
}

#[test]
fn line_ends_and_a_missing_last_one_stay() {
    let text = HEADERS.trim_end().replace('\n', "\r\n");
    let changed = edited(&text, "types.note.channels.email.max_wait", json!("1h"));
    assert_eq!(changed, format!("{text}\r\nmax_wait = \"1h\""));
    let changed = edited(&text, "digests.d.day", json!(1));
    assert_eq!(changed, format!("{text}\r\n\r\n[digests.d]\r\nday = 1\r\n"));
}

#[test]
fn a_diff_has_the_changed_lines_alone() {
    assert_eq!(unified("a.toml", "a\nb\n", "a\nb\n"), "");
    let diff = unified("a.toml", "a\nb\nc\nd", "a\nB\nc\nd\ne\n");
    let expected = "--- a/a.toml\n+++ b/a.toml\n@@ -2 +2 @@\n-b\n+B\n@@ -4 +4,2 @@\n-d\n\\ No newline at end of file\n+d\n+e\n";
    assert_eq!(diff, expected);
    assert_eq!(unified("a b", "", "x\n"), "--- a/a b\t\n+++ b/a b\t\n@@ -0,0 +1 @@\n+x\n");
}

/// A text of some of a few lines, by a number.
fn some_lines(mut seed: u64) -> String {
    let mut text = String::new();
    while seed > 1 {
        text.push_str(["a\n", "b\n", "c\n", "[x]\n"][usize::try_from(seed % 4).unwrap()]);
        seed /= 4;
    }
    text
}

#[test]
fn every_diff_leads_from_one_text_to_the_other() {
    let mut seed = 1_u64;
    for _ in 0..2_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (before, after) = (some_lines(seed >> 40), some_lines(seed >> 44 ^ seed >> 33));
        assert_eq!(applied(&before, &unified("t", &before, &after)), after, "{before}\n{after}");
    }
    // Too many changes for the shortest difference: it is still one.
    let (before, after) = ("a\n".repeat(2_000), "b\n".repeat(2_000));
    assert_eq!(applied(&before, &unified("t", &before, &after)), after);
}

/// Applies a diff to a text with line breaks at its end, as its headers say.
fn applied(text: &str, diff: &str) -> String {
    let old: Vec<&str> = text.lines().collect();
    let (mut new, mut at) = (Vec::new(), 0);
    for line in diff.lines().skip(2) {
        if let Some(header) = line.strip_prefix("@@ -") {
            let mut numbers = header.split([',', ' ']);
            let first: usize = numbers.next().unwrap().parse().unwrap();
            let none = header.split(' ').next().unwrap().ends_with(",0");
            let until = if none { first } else { first - 1 };
            new.extend(&old[at..until]);
            at = until;
        } else if let Some(removed) = line.strip_prefix('-') {
            assert_eq!(old[at], removed);
            at += 1;
        } else {
            new.push(line.strip_prefix('+').unwrap());
        }
    }
    new.extend(&old[at..]);
    new.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn git_applies_a_diff_to_the_file() {
    let Ok(_) = Command::new("git").arg("--version").output() else {
        eprintln!("skipped: there is no git");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let crlf = HEADERS.replace('\n', "\r\n");
    for text in [HEADERS, HEADERS.trim_end(), &crlf] {
        for edits in [
            vec![edit("types.note.channels.email.quiet", json!("10m"))],
            vec![edit("types.note", json!(null)), edit("digests.d.day", json!(2))],
            vec![edit("types.note.urgent", json!(true)), edit("categories.b", json!({}))],
        ] {
            let after = source(text).edited(&edits).unwrap().text;
            let file = directory.path().join("tidings.toml");
            std::fs::write(&file, text).unwrap();
            apply(directory.path(), &unified("tidings.toml", text, &after));
            assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
        }
    }
}

fn apply(directory: &Path, diff: &str) {
    std::fs::write(directory.join("edits.patch"), diff).unwrap();
    let git = Command::new("git")
        .args(["apply", "--unidiff-zero", "--whitespace=nowarn", "edits.patch"])
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(git.status.success(), "{}\n{diff}", String::from_utf8_lossy(&git.stderr));
}
