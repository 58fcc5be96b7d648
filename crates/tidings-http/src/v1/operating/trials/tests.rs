//! Edits of the configuration, tried over HTTP as operators try them.

use std::process::Command;
use std::sync::Arc;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_config::ConfigSource;
use tidings_trial::compare::{self, Channels, CountFilter, NamedRules, Population};
use tidings_trial::player;
use tidings_trial::simulate::{LineOrder, Run};

use crate::tests::rig::{CONFIG, Rig};

fn check(rig: &Rig, edits: &Value) -> Value {
    let answer = rig.call(Method::POST, "/v1/admin/check", &json!({ "edits": edits }));
    assert_eq!(answer.status, StatusCode::OK, "{edits}: {}", answer.json());
    answer.json()
}

fn refused(rig: &Rig, path: &str, body: &Value) -> (u16, String, String) {
    let answer = rig.call(Method::POST, path, body);
    let problem = answer.json();
    let text = |field: &str| problem[field].as_str().unwrap().to_owned();
    (answer.status.as_u16(), text("code"), text("detail"))
}

fn quiet(value: &str) -> Value {
    json!([{ "key": "types.note.channels.email.quiet", "value": value }])
}

#[test]
fn a14_a_check_answers_the_faults_that_the_file_would_have() {
    let rig = Rig::new();
    assert_eq!(check(&rig, &quiet("10m"))["faults"], json!([]));
    for (key, value, reason) in [
        ("types.note.channels.email.quiet", json!("ten"), "duration"),
        ("types.note.channels.email.quiett", json!("10m"), "quiett"),
        ("types.note.category", json!("none"), "none"),
        ("types.weekly.channels.email.digest", json!(null), "digest"),
        ("digests.daily", json!(null), "daily"),
    ] {
        let answer = check(&rig, &json!([{ "key": key, "value": value }]));
        let faults = answer["faults"].as_array().unwrap();
        assert!(!faults.is_empty(), "{key}");
        // As `tidings check --json` has them of the file with the edits.
        let text = patched(CONFIG, answer["diff"].as_str().unwrap());
        let source = ConfigSource { file: "tidings.toml".into(), text };
        assert_eq!(answer["faults"], source.check().unwrap_err().to_json(), "{key}");
        let said = |fault: &Value| fault["reason"].as_str().unwrap().contains(reason);
        assert!(faults.iter().any(said), "{key}: {faults:?}");
        let fault = &faults[0];
        assert_eq!(fault["file"], "tidings.toml");
        assert!(fault["line"].is_u64() && fault["hint"].is_string(), "{fault}");
    }
}

#[test]
fn a14_the_diff_applies_to_the_file_and_is_the_edits() {
    let rig = Rig::new();
    let edits = json!([
        { "key": "types.note.channels.email.quiet", "value": "10m" },
        { "key": "types.note.urgent", "value": true },
        { "key": "caps.0", "value": { "channel": "email", "max": 3, "per": "24h" } },
        { "key": "digests.weekly", "value": { "every": "week", "on": "mon" } },
        { "key": "types.weekly.channels.email", "value": { "policy": "digest", "digest": "weekly" } },
        { "key": "digests.daily", "value": null },
    ]);
    let answer = check(&rig, &edits);
    let text = patched(CONFIG, answer["diff"].as_str().unwrap());
    let by_hand = CONFIG
        .replace("quiet = \"4m\"", "quiet = \"10m\"")
        .replace("[types.note]\n", "[types.note]\nurgent = true\n")
        .replace("digest = \"daily\"", "digest = \"weekly\"")
        .replace("daily]\nevery = \"day\"", "weekly]\nevery = \"week\"\non = \"mon\"\n[[caps]]\nchannel = \"email\"\nmax = 3\nper = \"24h\"");
    let rules = |text: &str| tidings_config::parse(text, "tidings.toml").unwrap();
    assert_eq!(rules(&text).digest(), rules(&by_hand).digest());
    assert_ne!(rules(&text).digest(), rules(CONFIG).digest());
    // Nothing is in force by that, and nothing changes twice.
    assert!(check(&rig, &quiet("10m"))["diff"].as_str().unwrap().contains("-channels"));
    assert_eq!(check(&rig, &quiet("4m"))["diff"], "");
}

/// The text of a file after `git apply`.
fn patched(text: &str, diff: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tidings.toml");
    std::fs::write(&file, text).unwrap();
    std::fs::write(directory.path().join("edits.patch"), diff).unwrap();
    let git = Command::new("git")
        .args(["apply", "--unidiff-zero", "edits.patch"])
        .current_dir(directory.path())
        .output()
        .expect("git, which everybody has who has this repository");
    assert!(git.status.success(), "{}\n{diff}", String::from_utf8_lossy(&git.stderr));
    std::fs::read_to_string(&file).unwrap()
}

#[test]
fn keys_of_other_sections_are_refused() {
    let rig = Rig::new();
    for key in ["store.keep", "channels.email.provider", "hooks", "limits", "\"types.note\".urgent"]
    {
        let body = json!({ "edits": [{ "key": key, "value": "x" }] });
        let (status, code, detail) = refused(&rig, "/v1/admin/check", &body);
        assert_eq!((status, &*code), (422, "key_not_editable"), "{key}");
        assert!(detail.contains(key), "{detail}");
    }
    for body in [
        json!({ "edits": [] }),
        json!({ "edits": [{ "key": "types.note.urgent" }] }),
        json!({ "edits": [{ "key": "types..urgent", "value": true }] }),
        json!({ "edits": [{ "key": "types.note.category.x", "value": true }] }),
        json!({ "edits": [{ "key": "types.note.x", "value": [null] }] }),
        json!({ "edits": [{ "key": "x".repeat(513), "value": 1 }] }),
        json!({ "edits": vec![json!({ "key": "types.note.urgent", "value": true }); 101] }),
        json!({ "edits": quiet("1m"), "days": 7 }),
    ] {
        let (status, code, _) = refused(&rig, "/v1/admin/check", &body);
        assert_eq!((status, &*code), (422, "invalid_body"), "{body}");
    }
    let body = json!({ "edits": quiet("1m") });
    assert_eq!(refused(&rig, "/v1/admin/check?dry=true", &body).1, "invalid_query");
}

#[test]
fn edits_begin_from_the_configuration_that_is_in_force() {
    let rig = Rig::new();
    let reloaded = format!("# Reloaded.\n{}", CONFIG.replace("quiet = \"4m\"", "quiet = \"9m\""));
    rig.service.trials.set_source(ConfigSource { file: "etc/my file.toml".into(), text: reloaded });
    let diff = check(&rig, &quiet("10m"))["diff"].as_str().unwrap().to_owned();
    assert!(
        diff.starts_with("--- a/my file.toml\t\n+++ b/my file.toml\t\n@@ -8 +8 @@\n"),
        "{diff}"
    );
    assert!(diff.contains("quiet = \"9m\""), "{diff}");
    assert_eq!(check(&rig, &quiet("9m"))["diff"], "");
}

/// A server with mails of an afternoon.
fn afternoon() -> Rig {
    let rig = Rig::new();
    let done = rig.call(Method::PUT, "/v1/recipients/ann", &json!({ "email": "a@example.org" }));
    assert!(done.status.is_success(), "{done:?}");
    for (minute, kind) in [(1, "note"), (7, "note"), (13, "weekly"), (19, "note")] {
        rig.at(&format!("2024-01-01T13:{minute:02}:00Z"));
        let event = json!({
            "type": kind, "object": { "id": "works/1" }, "to": { "recipients": ["ann"] },
        });
        let done = rig.call(Method::POST, "/v1/events", &event);
        assert!(done.status.is_success(), "{done:?}");
    }
    rig
}

fn begin(rig: &Rig, body: &Value) -> String {
    let answer = rig.call(Method::POST, "/v1/admin/compare", body);
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{body}: {}", answer.json());
    answer.json()["job"].as_str().unwrap().to_owned()
}

fn job(rig: &Rig, id: &str) -> Value {
    let answer = rig.call(Method::GET, &format!("/v1/admin/jobs/{id}"), &Value::Null);
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    answer.json()
}

/// The job once it runs no more.
fn ended(rig: &Rig, id: &str) -> Value {
    loop {
        let job = job(rig, id);
        if job["state"] != "running" {
            return job;
        }
        std::thread::yield_now();
    }
}

/// The figures of `simulate --compare --json`, of two files and the timeline of a server.
fn simulated(rig: &Rig, days: u16, texts: [&str; 2], channel: Option<&str>) -> Value {
    let path = format!("/v1/export?days={days}");
    let timeline = rig.call(Method::GET, &path, &Value::Null).bytes;
    let mut population = Population::default();
    let runs = texts.into_iter().zip(["current", "proposed"]).map(|(text, name)| {
        let rules = tidings_config::parse(text, "tidings.toml").unwrap();
        let config = NamedRules { name: name.to_owned(), title: String::new(), rules };
        let (timeline, order) = (&*timeline, LineOrder::AsGiven);
        let run = Run { rules: &config.rules, timeline, order, until: None };
        let mut player = player(config.rules.clone()).unwrap();
        let wanted = CountFilter { channels: Channels(channel), places: None, story: false };
        compare::play(&config, run, &mut *player, wanted, &mut population).unwrap()
    });
    let runs: Vec<_> = runs.collect();
    serde_json::to_value(compare::figures(&runs, &population)).unwrap()
}

#[test]
fn a14_a_comparison_has_the_figures_of_simulate() {
    let rig = afternoon();
    let proposed = CONFIG.replace("quiet = \"4m\"", "quiet = \"10m\"");
    let id = begin(&rig, &json!({ "edits": quiet("10m"), "days": 1 }));
    let job = ended(&rig, &id);
    assert_eq!(job["state"], "done", "{job}");
    assert_eq!(job["result"], simulated(&rig, 1, [CONFIG, &proposed], None));
    assert_eq!(
        (&job["result"][0]["messages"], &job["result"][1]["messages"]),
        (&json!(4), &json!(3))
    );
    let lines = job["of"].as_u64().unwrap();
    assert!(lines > 8 && job["done"] == lines && job["left_out"] == json!({}), "{job}");
    assert_eq!((&job["verb"], &job["by"]["id"]), (&json!("compare"), &json!("dev")));
    assert!(
        job.get("filter").is_none() && job.get("problem").is_none() && job["ended"].is_string()
    );
    // One channel alone.
    rig.at("2024-01-01T13:20:00Z");
    let body = json!({ "edits": quiet("10m"), "days": 28, "channel": "inbox" });
    let of_inbox = ended(&rig, &begin(&rig, &body));
    assert_eq!(of_inbox["result"], simulated(&rig, 28, [CONFIG, &proposed], Some("inbox")));
    // Both are in the list, the newest first.
    let listed = rig.call(Method::GET, "/v1/admin/jobs", &Value::Null).json();
    assert_eq!(listed["jobs"], json!([of_inbox, job]));
    let first = rig.call(Method::GET, "/v1/admin/jobs?limit=1", &Value::Null).json();
    let cursor = first["next"].as_str().unwrap();
    let path = format!("/v1/admin/jobs?limit=1&cursor={cursor}");
    let second = rig.call(Method::GET, &path, &Value::Null).json();
    assert_eq!((&first["jobs"], &second["jobs"]), (&json!([of_inbox]), &json!([job])));
    assert_eq!(second["next"], Value::Null);
}

#[test]
fn a_comparison_begins_from_what_is_in_force_then() {
    let rig = afternoon();
    let edits = json!([{ "key": "types.note.channels.email.max_wait", "value": "12m" }]);
    assert_eq!(check(&rig, &edits)["faults"], json!([]));
    let text = CONFIG.replace("quiet = \"4m\"", "quiet = \"7m\"");
    rig.service.trials.set_source(ConfigSource { file: "tidings.toml".into(), text: text.clone() });
    let job = ended(&rig, &begin(&rig, &json!({ "edits": edits, "days": 1 })));
    let proposed = text.replace("quiet = \"7m\"", "quiet = \"7m\", max_wait = \"12m\"");
    assert_eq!(job["result"], simulated(&rig, 1, [&text, &proposed], None));
}

#[test]
fn a_comparison_that_can_not_be_made_is_refused_or_says_why() {
    let rig = afternoon();
    let refused = |body: Value| refused(&rig, "/v1/admin/compare", &body);
    for days in [json!(0), json!(29), json!(-1), json!("7"), json!(1.5), json!(70_000), json!(null)]
    {
        let (status, code, _) = refused(json!({ "edits": quiet("1m"), "days": days }));
        assert_eq!((status, &*code), (422, "invalid_body"), "{days}");
    }
    assert_eq!(refused(json!({ "edits": quiet("1m") })).1, "invalid_body");
    let (status, code, detail) = refused(json!({ "edits": quiet("ten"), "days": 1 }));
    assert_eq!((status, &*code), (422, "config_faults"));
    assert!(detail.contains("the proposed configuration"), "{detail}");
    let other = json!([{ "key": "store.keep", "value": "1d" }]);
    assert_eq!(refused(json!({ "edits": other, "days": 1 })).1, "key_not_editable");
    let body = json!({ "edits": quiet("1m"), "days": 1, "channel": "none" });
    assert_eq!(refused(body).1, "unknown_channel");
    // A type that events have is gone.
    let gone = json!([{ "key": "types.note", "value": null }]);
    let job = ended(&rig, &begin(&rig, &json!({ "edits": gone, "days": 1 })));
    assert_eq!((&job["state"], job.get("result")), (&json!("stopped"), None));
    let problem = job["problem"].as_str().unwrap();
    assert!(
        problem.starts_with("under proposed: line ") && problem.contains("`note`"),
        "{problem}"
    );
}

#[test]
fn one_comparison_runs_at_a_time_until_it_is_stopped() {
    let rig = afternoon();
    let gate = Arc::clone(&rig.service.trials.comparisons.gate);
    let held = gate.lock().unwrap();
    let body = json!({ "edits": quiet("10m"), "days": 1 });
    let id = begin(&rig, &body);
    assert_eq!(job(&rig, &id)["state"], "running");
    let second = rig.call(Method::POST, "/v1/admin/compare", &body);
    assert_eq!(second.status.as_u16(), 429);
    assert_eq!(second.json()["code"], "too_busy");
    assert!(second.headers.contains_key("retry-after"));
    // Edits are checked meanwhile.
    assert_ne!(check(&rig, &quiet("10m"))["diff"], "");
    let path = format!("/v1/admin/jobs/{id}");
    let stopped = rig.call(Method::DELETE, &path, &Value::Null);
    assert_eq!((stopped.status, &stopped.json()["state"]), (StatusCode::OK, &json!("stopped")));
    let again = rig.call(Method::DELETE, &path, &Value::Null);
    assert_eq!((again.status, again.json()), (StatusCode::OK, stopped.json()));
    drop(held);
    // Its thread ends soon.
    let next = loop {
        let next = rig.call(Method::POST, "/v1/admin/compare", &body);
        match next.status {
            StatusCode::ACCEPTED => break next.json()["job"].as_str().unwrap().to_owned(),
            status => assert_eq!(status.as_u16(), 429),
        }
    };
    assert_eq!(ended(&rig, &next)["state"], "done");
    assert_eq!(job(&rig, &id), stopped.json());
    assert_ne!(id, next);
    let unknown = rig.call(Method::GET, "/v1/admin/jobs/compare-1", &Value::Null);
    assert_eq!((unknown.status.as_u16(), &unknown.json()["code"]), (404, &json!("job_not_found")));
    let lines = |action: &str| {
        let log = rig.call(Method::GET, &format!("/v1/admin/log?action={action}"), &Value::Null);
        let lines = log.json()["log"].as_array().unwrap().clone();
        lines
            .iter()
            .map(|line| line["subject"]["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(lines("job.begun"), [&*next, &*id]);
    while lines("job.ended").len() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(lines("job.ended").len(), 2);
}

#[test]
fn a_restart_stops_a_comparison() {
    let rig = afternoon();
    let body = json!({ "edits": quiet("10m"), "days": 1 });
    let done = begin(&rig, &body);
    ended(&rig, &done);
    let log =
        |rig: &Rig| rig.call(Method::GET, "/v1/admin/log?action=job.ended", &Value::Null).json();
    while log(&rig)["log"] == json!([]) {
        std::thread::yield_now();
    }
    let gate = Arc::clone(&rig.service.trials.comparisons.gate);
    let held = gate.lock().unwrap();
    let id = begin(&rig, &body);
    let rig = rig.restart();
    let stopped = job(&rig, &id);
    assert_eq!((&stopped["state"], stopped.get("result")), (&json!("stopped"), None));
    assert_eq!(stopped["problem"], "the server ended before it");
    let of_before = job(&rig, &done);
    assert_eq!((&of_before["state"], of_before.get("result")), (&json!("done"), None));
    assert!(of_before["problem"].is_string(), "{of_before}");
    let listed = rig.call(Method::GET, "/v1/admin/jobs", &Value::Null).json();
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 2);
    drop(held);
    // Others can be made, under ids of their own.
    let next = begin(&rig, &body);
    assert!(next != id && next != done);
    assert_eq!(ended(&rig, &next)["state"], "done");
    assert_eq!(job(&rig, &id)["state"], "stopped");
}
