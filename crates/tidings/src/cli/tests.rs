//! Commands run in the process, with a player that tells one message for each object it is given.

use std::collections::BTreeMap;
use std::path::Path;

use tidings_core::content::{Item, Message, SkippedEntry, Totals};
use tidings_core::engine::LedgerRow;
use tidings_core::model::{BatchKey, Reason, Timed};
use tidings_core::{Command, Id, Instant};
use tidings_store::StorePlace;
use tidings_trial::simulate::PlaySink;

use super::*;
use crate::client::{CallTarget, Request, ServerOptions};

/// Tells each `object` command as one message by mail and one in the inbox, at once.
#[derive(Default)]
struct Echo {
    books: Totals,
}

impl CommandPlayer for Echo {
    fn play(&mut self, line: u64, timed: Timed, sink: &mut dyn PlaySink) -> Result<(), PlayError> {
        let Command::Object(object) = timed.command else {
            let (reason, hint) = ("unknown recipient `r`".to_owned(), "create it first".to_owned());
            return Err(PlayError::Refused { line, reason, hint });
        };
        for channel in ["email", "inbox"] {
            sink.message(&message(timed.at, channel, &object.id));
            self.books.messages += 1;
        }
        Ok(())
    }

    fn take_in(&mut self) -> Result<(), PlayError> {
        Ok(())
    }

    fn finish(&mut self, _: Option<Instant>, _: &mut dyn PlaySink) -> Result<Totals, PlayError> {
        Ok(self.books)
    }

    fn ledger(&self) -> BTreeMap<&'static str, LedgerRow> {
        BTreeMap::new()
    }
}

fn message(at: Instant, channel: &str, object: &Id) -> Message {
    let id = |text: &str| Id::new(text).unwrap();
    let item = Item {
        event: id("e"),
        event_type: id("work"),
        object: object.clone(),
        t: at,
        reasons: vec!["everyone".to_owned(), "topic:x".to_owned()],
    };
    Message {
        tenant: None,
        at,
        recipient: id("r"),
        channel: channel.to_owned(),
        lane: "now".to_owned(),
        key: BatchKey::EMPTY,
        items: vec![item],
        skipped: vec![SkippedEntry { event: id("f"), reason: Reason::Stale }],
    }
}

fn echo(_: Rules) -> Result<Box<dyn CommandPlayer>, PlayError> {
    Ok(Box::new(Echo::default()))
}

fn tidings(arguments: &[&str]) -> (Status, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { out: &mut out, err: &mut err, progress: Progress::Hidden };
    let status = run(["tidings"].iter().chain(arguments), &echo, &mut streams);
    (status, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn file(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Runs `simulate` over a timeline with an empty configuration.
fn simulate(timeline: &str, more: &[&str]) -> (Status, String, String) {
    let directory = tempfile::tempdir().unwrap();
    let config = file(directory.path(), "c.toml", "");
    let timeline = file(directory.path(), "t.ndjson", timeline);
    let fixed = ["simulate", "--config", &config, "--timeline", &timeline];
    let arguments: Vec<&str> = fixed.iter().chain(more).copied().collect();
    tidings(&arguments)
}

const LINE: &str = "{\"at\":\"2024-01-01T00:00:00.0019Z\",\"op\":\"object\",\"id\":\"o\"}\n";

#[test]
fn json_is_printed_to_the_letter() {
    let (status, out, err) = simulate(LINE, &["--json"]);
    let item = r#"{"event":"e","type":"work","object":"o","t":"2024-01-01T00:00:00.001Z","reasons":["everyone","topic:x"]}"#;
    let message = |channel: &str| {
        format!(
            r#"{{"at":"2024-01-01T00:00:00.001Z","recipient":"r","channel":"{channel}","lane":"now","items":[{item}],"skipped":[{{"event":"f","reason":"stale"}}]}}"#
        )
    };
    let summary = r#"{"summary":{"events":0,"republished":0,"notifications":0,"entries":0,"messages":2,"delivered":0,"cancelled":0,"skipped":0,"expired":0,"failed":0,"unknown":0,"pending":0,"lost":0,"duplicates":0,"resent":0,"suppressed":0,"warnings":0}}"#;
    assert_eq!(out, format!("{}\n{}\n{summary}\n", message("email"), message("inbox")));
    assert_eq!((status, err.as_str()), (Status::Done, ""));
}

#[test]
fn a_channel_leaves_lines_out_and_not_counts() {
    let (_, out, _) = simulate(LINE, &["--json", "--channel", "inbox"]);
    assert_eq!(out.lines().count(), 2);
    assert!(!out.contains(r#""channel":"email""#));
    assert!(out.contains(r#""messages":2"#));
}

#[test]
fn people_get_a_table() {
    let (_, out, _) = simulate(LINE, &[]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("AT "), "{out}");
    assert!(lines[1].ends_with("1: work o (1 left out)"), "{out}");
    assert_eq!(lines[3], "");
    assert!(lines[8].starts_with("messages") && lines[8].ends_with(" 2"), "{out}");
}

#[test]
fn a_faulty_line_stops_the_run_without_a_summary() {
    let timeline = format!("{LINE}\n{}", LINE.replace("object", "objekt"));
    let (status, out, err) = simulate(&timeline, &["--json"]);
    assert_eq!(status, Status::Failed);
    assert_eq!(out.lines().count(), 2);
    assert!(!out.contains("summary"));
    assert_eq!(err, "error: line 3: unknown op `objekt`\n  = help: did you mean `object`?\n");
    let refused = LINE.replace("object", "retract");
    let (status, out, err) = simulate(&refused, &[]);
    assert_eq!((status, out.as_str()), (Status::Failed, ""));
    assert_eq!(err, "error: line 1: unknown recipient `r`\n  = help: create it first\n");
}

#[test]
fn sorted_and_bounded_runs_are_asked_for() {
    let later = LINE.replace("2024", "2025");
    let timeline = format!("{later}{LINE}");
    assert_eq!(simulate(&timeline, &[]).0, Status::Failed);
    let (status, out, _) = simulate(&timeline, &["--sort", "--json"]);
    assert_eq!((status, out.lines().count()), (Status::Done, 5));
    assert!(out.starts_with(r#"{"at":"2024"#));
    let (_, out, _) = simulate(&timeline, &["--sort", "--json", "--until", "2024-06-01T00:00:00Z"]);
    assert_eq!(out.lines().count(), 3);
}

#[test]
fn wrong_use_and_wrong_configurations_are_told_apart_from_failures() {
    for more in [
        &["--until", "tomorrow"][..],
        &["--channel", "pigeon"],
        &["--unknown"],
        &["--timeline", "/"],
    ] {
        let (status, out, err) = simulate(LINE, more);
        assert_eq!((status, out.as_str()), (Status::Wrong, ""), "{more:?}");
        assert!(err.starts_with("error: "), "{err}");
    }
    let directory = tempfile::tempdir().unwrap();
    let config = file(directory.path(), "c.toml", "typo = 1");
    let (status, _, err) = tidings(&["simulate", "--config", &config, "--timeline", "none"]);
    assert_eq!(status, Status::Wrong);
    assert!(err.contains("unknown key `typo`"), "{err}");
    let config = file(directory.path(), "c.toml", "");
    let (status, _, err) = tidings(&["simulate", "--config", &config, "--timeline", "none"]);
    assert_eq!(status, Status::Wrong);
    assert!(err.starts_with("error: cannot open none"), "{err}");
    assert_eq!(tidings(&["simulate"]).0, Status::Wrong);
    assert_eq!(tidings(&[]).0, Status::Wrong);
    assert_eq!(tidings(&["--help"]).0, Status::Done);
    assert_eq!(tidings(&["--version"]).1, format!("tidings {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_printed_configuration_passes_the_check() {
    let (status, text, _) = tidings(&["config"]);
    assert_eq!(status, Status::Done);
    let directory = tempfile::tempdir().unwrap();
    let config = file(directory.path(), "tidings.toml", &text);
    let (status, out, err) = tidings(&["check", &config]);
    assert_eq!((status, err.as_str()), (Status::Done, ""));
    assert!(out.contains("ok, 5 types, 2 categories, 3 digests; days are kept for 35d"), "{out}");
    let (status, out, _) = tidings(&["check", &config, "--json"]);
    assert_eq!(status, Status::Done);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&json["ok"], &json["types"]), (&true.into(), &5.into()));
}

#[test]
fn faults_of_a_configuration_are_told_as_json_too() {
    let directory = tempfile::tempdir().unwrap();
    let config = file(directory.path(), "c.toml", "\n typo = 1");
    let (status, out, err) = tidings(&["check", &config, "--json"]);
    assert_eq!((status, err.as_str()), (Status::Wrong, ""));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["ok"], false);
    assert_eq!(json["faults"][0]["line"], 2);
    assert_eq!(json["faults"][0]["column"], 2);
    let (status, out, _) = tidings(&["check", "none.toml", "--json"]);
    assert_eq!(status, Status::Wrong);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["faults"][0]["line"], serde_json::Value::Null);
}

/// A stream that nobody reads.
struct Closed(io::ErrorKind);

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_ends_quietly_and_a_full_disk_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let config = file(directory.path(), "c.toml", "");
    let timeline = file(directory.path(), "t.ndjson", &LINE.repeat(10));
    let arguments = ["tidings", "simulate", "--config", &config, "--timeline", &timeline];
    for (kind, status, silent) in [
        (io::ErrorKind::BrokenPipe, Status::Done, true),
        (io::ErrorKind::StorageFull, Status::Failed, false),
    ] {
        for form in ["--json", "--sort"] {
            let (mut out, mut err) = (Closed(kind), Vec::new());
            let mut streams = Streams { out: &mut out, err: &mut err, progress: Progress::Hidden };
            let ended = run(arguments.iter().copied().chain([form]), &echo, &mut streams);
            assert_eq!((ended, err.is_empty()), (status, silent));
        }
    }
}

#[test]
fn an_address_to_listen_on_may_be_a_name_or_a_port() {
    let address = |text: &str| serve::address(text).map(|address| address.to_string());
    assert_eq!(address("127.0.0.1:8990").as_deref(), Ok("127.0.0.1:8990"));
    assert_eq!(address("localhost:8990").as_deref(), Ok("127.0.0.1:8990"));
    assert_eq!(address(":8990").as_deref(), Ok("0.0.0.0:8990"));
    assert_eq!(address("[::1]:0").as_deref(), Ok("[::1]:0"));
    for odd in ["8990", "localhost", ":http", "localhost:99999", ""] {
        assert!(address(odd).is_err_and(|fault| fault.contains("HOST:PORT")), "{odd}");
    }
}

const CONFIG_WITH_A_TYPE: &str = "[categories.c]\n[types.work]\ncategory = \"c\"\ntitle = \"New works\"\n\
                                  channels = { email = { policy = \"now\" } }\n";

#[test]
fn field_12_the_preview_of_a_type_shows_its_text_message_and_the_number_of_parts() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("tidings.toml").display().to_string();
    let out = dir.path().join("out").display().to_string();
    let preview = |title: &str, channels: &str| {
        let toml = format!(
            "[categories.c]\n[types.work]\ncategory = \"c\"\ntitle = \"{title}\"\nchannels = {{ {channels} }}\n"
        );
        std::fs::write(&config, toml).unwrap();
        let arguments = ["preview", "work", "--config", &config, "--out", &out];
        let (status, printed, err) = tidings(&arguments);
        assert_eq!(status, Status::Done, "{err}");
        printed
    };
    let both = "email = { policy = \"now\" }, sms = { policy = \"now\" }";
    let printed = preview("New works", both);
    let (_, text) = printed.split_once("sms, 1 part:\n").unwrap();
    assert!(text.contains("The first example"), "{printed}");
    // One sign that is not in the alphabet makes it longer.
    let printed = preview(&"\u{65b0}".repeat(80), both);
    assert!(printed.contains("sms, 3 parts:\n"), "{printed}");
    let printed = preview("New works", "email = { policy = \"now\" }");
    assert!(!printed.contains("sms"), "{printed}");
}

#[test]
fn a_mail_is_previewed_with_the_templates_that_were_written_and_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (config, out) = (path("tidings.toml"), path("out"));
    std::fs::write(&config, CONFIG_WITH_A_TYPE).unwrap();
    let (status, printed, _) = tidings(&["template", "--config", &config]);
    assert_eq!((status, printed.lines().count()), (Status::Done, 5));
    let (status, _, err) = tidings(&["template", "--config", &config]);
    assert_eq!(status, Status::Wrong);
    assert!(err.contains("exists"), "{err}");
    let work = path("templates/email/work.html");
    std::fs::write(&work, "<b>{{ item.title }}</b>").unwrap();
    let preview = |kind: &str| {
        tidings(&[
            "preview", kind, "--config", &config, "--out", &out, "--items", "3", "--locale", "de",
        ])
    };
    let (status, printed, err) = preview("work");
    assert_eq!(status, Status::Done, "{err}");
    assert!(printed.contains("3 New works"), "{printed}");
    let html = std::fs::read_to_string(path("out/message.html")).unwrap();
    assert!(html.contains("<b>The first example</b>") && html.contains("lang=\"de\""), "{html}");
    for name in ["out/message.txt", "out/message.eml"] {
        assert!(std::fs::metadata(path(name)).unwrap().len() > 0);
    }
    let (status, _, err) = preview("wrok");
    assert_eq!(status, Status::Wrong);
    assert!(err.contains("`work`"), "{err}");
    std::fs::write(&work, "{{ item.titel }}").unwrap();
    for arguments in [vec!["check", &config], vec!["preview", "work", "--config", &config]] {
        let (status, _, err) = tidings(&arguments);
        assert_eq!(status, Status::Wrong);
        assert!(err.contains("there is no `item.titel`"), "{err}");
    }
    std::fs::write(&work, "").unwrap();
    std::fs::write(path("templates/email/wrok.html"), "").unwrap();
    let (_, _, err) = tidings(&["check", &config]);
    assert!(err.contains("wrok.html: is no template") && err.contains("`work`"), "{err}");
}

const CONFIG_IN_LANGUAGES: &str = r#"
[categories.c]
[digests.daily]
every = "day"
[types.work]
category = "c"
title = "New works"
sentence = { en = "{actor} made {object}", de = "{actor} hat {object} gemacht", he = "{actor} יצר את {object}" }
[types.work.channels]
email = { policy = "digest", digest = "daily" }
"#;

#[test]
fn preview_shows_a_message_in_several_locales_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    let config = file(dir.path(), "tidings.toml", CONFIG_IN_LANGUAGES);
    let out = dir.path().join("out");
    let shown = |what: &str, locales: &str| {
        let out = out.display().to_string();
        tidings(&["preview", what, "--config", &config, "--out", &out, "--locales", locales])
    };
    let (status, printed, err) = shown("work", "de-AT,he,ja");
    assert_eq!(status, Status::Done, "{err}");
    let lines: Vec<&str> = printed.lines().collect();
    assert!(
        lines[0].starts_with("de-AT  Ana Ruiz hat ") && lines[0].ends_with("(in de)"),
        "{printed}"
    );
    assert!(lines[1].starts_with("he     ") && !lines[1].contains("(in"), "{printed}");
    // Japanese has no sentence, so that all of it is English.
    assert!(
        lines[2].starts_with("ja     Ana Ruiz made ") && lines[2].ends_with("(in en)"),
        "{printed}"
    );
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    for locale in ["de-AT", "he", "ja"] {
        assert!(page.contains(&format!("src=\"{locale}/message.html\"")), "{page}");
        for name in ["message.html", "message.txt", "message.eml"] {
            assert!(out.join(locale).join(name).metadata().unwrap().len() > 0);
        }
    }
    let hebrew = std::fs::read_to_string(out.join("he/message.html")).unwrap();
    assert!(hebrew.contains("<html lang=\"he\" dir=\"rtl\""), "{hebrew}");
    // A digest has an item of each of its types.
    let (status, printed, err) = shown("daily", "en,de");
    assert_eq!((status, printed.lines().count()), (Status::Done, 3), "{err}");
    for (what, locales, fault) in
        [("work", "de_AT", "did you mean `de-AT`?"), ("dayly", "de", "`daily`")]
    {
        let (status, _, err) = shown(what, locales);
        assert_eq!(status, Status::Wrong);
        assert!(err.contains(fault), "{err}");
    }
}

#[test]
fn t42_preview_shows_a_message_in_the_brand_of_a_tenant() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("[tenants]\non = true\n{CONFIG_IN_LANGUAGES}");
    let config = file(dir.path(), "tidings.toml", &text);
    let (data, out) = (dir.path().join("data"), dir.path().join("out"));
    let (data, out_dir) = (data.display().to_string(), out.display().to_string());
    let people = file(dir.path(), "people.ndjson", "{\"id\": \"ann\"}\n");
    let made =
        tidings(&["import", &people, "--kind", "recipients", "--data", &data, "--config", &config]);
    assert_eq!(made.0, Status::Done, "{}", made.2);
    let tenant = serde_json::json!({
        "name": "Acme", "locale": "de", "from_name": "Acme Team",
        "brand": {"name": "Acme Shop", "color": "#cc0044", "address": "familiar"},
    });
    let request = Request::put("/v1/tenants/acme".to_owned()).json(&tenant);
    let place = ServerOptions {
        url: None,
        key: None,
        store: Some(StorePlace::Directory(data.clone().into())),
        config: config.clone().into(),
    };
    let mut reach = CallTarget::find(&place, request.purpose()).unwrap();
    reach.ask(&request).unwrap().success().unwrap();
    reach.close().unwrap();
    let shown = |more: &[&str]| {
        let fixed = ["preview", "work", "--config", &config, "--out", &out_dir, "--data", &data];
        tidings(&fixed.iter().chain(more).copied().collect::<Vec<_>>())
    };
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    // The locale is the tenant's, and the way in which it speaks to people.
    let (status, printed, err) = shown(&["--tenant", "acme"]);
    assert_eq!(status, Status::Done, "{err}");
    assert!(printed.contains("gemacht"), "{printed}");
    let html = read("message.html");
    for own in ["Acme Shop", "#cc0044", "Du erhältst"] {
        assert!(html.contains(own), "{own} in {html}");
    }
    assert!(read("message.eml").contains("From: \"Acme Team\""), "{}", read("message.eml"));
    let (status, printed, err) = shown(&["--tenant", "acme", "--locales", "de,he,ja"]);
    assert_eq!((status, printed.lines().count()), (Status::Done, 4), "{err}");
    assert!(read("he/message.html").contains("Acme Shop"));
    let (status, ..) = shown(&[]);
    assert_eq!(status, Status::Done);
    assert!(!read("message.html").contains("Acme"));
    let (status, _, err) = shown(&["--tenant", "acne"]);
    assert_ne!(status, Status::Done);
    assert!(err.contains("acne"), "{err}");
}

#[test]
fn situation_9_check_lists_what_the_locales_of_recipients_lack() {
    let dir = tempfile::tempdir().unwrap();
    let config = file(dir.path(), "tidings.toml", CONFIG_IN_LANGUAGES);
    let data = dir.path().join("data").display().to_string();
    let people = [
        ("ann", r#""de-AT""#),
        ("bea", r#""DE-at""#),
        ("cy", "null"),
        ("dov", r#""pl""#),
        ("eve", r#""xx""#),
    ];
    let lines = people.map(|(id, locale)| format!("{{\"id\": \"{id}\", \"locale\": {locale}}}\n"));
    let people = file(dir.path(), "people.ndjson", &lines.concat());
    let (status, _, err) =
        tidings(&["import", &people, "--kind", "recipients", "--data", &data, "--config", &config]);
    assert_eq!(status, Status::Done, "{err}");
    let check = |more: &[&str]| {
        let fixed = ["check", &config, "--locales", "--data", &data];
        tidings(&fixed.iter().chain(more).copied().collect::<Vec<_>>())
    };
    let (status, out, err) = check(&["--json"]);
    assert_eq!(status.code(), 1, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let rows = json["locales"].as_array().unwrap().iter();
    let rows: Vec<String> = rows
        .map(|row| {
            let texts = row["texts"].as_array().unwrap().iter();
            let texts: Vec<&str> = texts.map(|text| text["text"].as_str().unwrap()).collect();
            let texts = texts.join(" ");
            format!(
                "{} {} {} {} {}",
                row["locale"], row["recipients"], row["ok"], texts, row["words"]
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            r#""DE-at" 2 true  []"#,
            r#""en" 1 true  []"#,
            r#""pl" 1 false types.work.sentence []"#,
            r#""xx" 1 false types.work.sentence "all""#,
        ]
    );
    let (status, out, _) = check(&[]);
    assert_eq!(status.code(), 1);
    assert!(out.contains("`types.work.sentence` (") && out.contains(":8)"), "{out}");
    assert!(out.contains("tidings' own words"), "{out}");
    // A text for all languages, and words for the unknown one: nothing is missing.
    let whole =
        CONFIG_IN_LANGUAGES.replace("sentence = {", "sentence = \"{actor} made {object}\" #");
    file(dir.path(), "tidings.toml", &whole);
    std::fs::create_dir(dir.path().join("locales")).unwrap();
    // CLDR lacks it, so that its words have one form.
    let words = include_str!("../../../tidings-mail/locales/en.toml");
    let words = words.replace("[\"{n} other\", \"{n} others\"]", "\"{n} others\"");
    file(&dir.path().join("locales"), "xx.toml", &words);
    let (status, out, err) = check(&[]);
    assert_eq!(status, Status::Done, "{out}{err}");
    assert_eq!(out.matches("nothing").count(), 4, "{out}");
    let (status, _, err) = tidings(&["check", &config, "--data", &data]);
    assert_eq!(status, Status::Wrong);
    assert!(err.contains("--locales"), "{err}");
}
