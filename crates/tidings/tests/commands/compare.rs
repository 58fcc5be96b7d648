//! Configurations side by side, over one timeline.

use serde_json::json;

use super::{World, both, ran};

/// Two configurations that differ in how long a mail waits.
fn config(email: &str) -> String {
    format!(
        "[categories.news]\n[digests.daily]\nevery = \"day\"\n[types.note]\ncategory = \"news\"\n\
         channels = {{ inbox = {{ policy = \"now\" }}, email = {email} }}\n"
    )
}

const COOLDOWN: &str = r#"{ policy = "cooldown", quiet = "4m", max_wait = "15m" }"#;
const DIGEST: &str = r#"{ policy = "digest", digest = "daily" }"#;

/// Ann gets three notes on one day and one on the next; Bob has no address.
const TIMELINE: &str = r#"{"at":"2024-01-01T08:00:00Z","op":"recipient","id":"ann","email":"ann@example.org"}
{"at":"2024-01-01T08:00:00Z","op":"recipient","id":"bob"}
{"at":"2024-01-01T10:00:00Z","op":"publish","type":"note","object":{"id":"a"},"to":{"everyone":true}}
{"at":"2024-01-01T10:02:00Z","op":"publish","type":"note","object":{"id":"b"},"to":{"recipients":["ann"]}}
{"at":"2024-01-01T12:00:00Z","op":"publish","type":"note","object":{"id":"c"},"to":{"recipients":["ann"]}}
{"at":"2024-01-02T12:00:00Z","op":"publish","type":"note","object":{"id":"d"},"to":{"recipients":["ann"]}}
"#;

struct Files {
    world: World,
    timeline: String,
}

impl Files {
    fn new() -> Self {
        let world = World::new();
        world.file("cooldown.toml", &config(COOLDOWN));
        world.file("digest.toml", &config(DIGEST));
        let timeline = world.file("timeline.ndjson", TIMELINE);
        Self { world, timeline }
    }

    fn path(&self, name: &str) -> String {
        self.world.path(name).display().to_string()
    }

    fn compare(&self, more: &[&str]) -> super::Ran {
        let (cooldown, digest) = (self.path("cooldown.toml"), self.path("digest.toml"));
        let fixed = ["simulate", "--timeline", &self.timeline];
        let configs = ["--compare", &cooldown, &digest];
        ran(&[&fixed, &configs, more].concat())
    }
}

#[test]
fn each_configuration_has_a_column() {
    let files = Files::new();
    let compared = files.compare(&[]).done();
    let said = compared.out;
    let rows: Vec<Vec<&str>> = said
        .lines()
        .map(|line| line.trim().split("  ").map(str::trim))
        .map(|cells| cells.filter(|cell| !cell.is_empty()).collect())
        .collect();
    let expected: [&[&str]; 19] = [
        &["cooldown", "digest"],
        &["messages", "3", "2"],
        &["recipients with a message", "1", "1"],
        &["messages a recipient and day: mean", "1.00", "0.67"],
        &["p50", "1", "1"],
        &["p95", "2", "1"],
        &["max", "2", "1"],
        &["delay from event to message: p50", "4m", "21h"],
        &["p95", "6m", "23h"],
        &["max", "6m", "23h"],
        &["items a message: mean", "1.33", "2.00"],
        &["p50", "1", "1"],
        &["p95", "2", "3"],
        &["max", "2", "3"],
        &["left out: no_address", "1", "1"],
        &[],
        &["3 days of recipients: UTC days on which something happened to one of them"],
        &[],
        &[],
    ];
    let expected: Vec<_> = expected[..rows.len()].to_vec();
    assert_eq!(rows, expected, "{said}");
}

#[test]
fn json_has_a_line_for_each() {
    let files = Files::new();
    let lines = files.compare(&["--json"]).done().lines();
    assert_eq!(lines.len(), 2);
    let digest = json!({
        "config": files.path("digest.toml"),
        "messages": 2,
        "recipients": 1,
        "recipient_days": 3,
        "messages_per_day": {"mean": 0.667, "p50": 1, "p95": 1, "max": 1},
        "delay_ms": {"mean": 79_170_000.0, "p50": 75_600_000, "p95": 82_800_000, "max": 82_800_000},
        "items_per_message": {"mean": 2.0, "p50": 1, "p95": 3, "max": 3},
        "pending": 0,
        "suppressed": 0,
        "left_out": {"no_address": 1},
    });
    assert_eq!(lines[1], digest);
    // On the inbox everything is there at once, under either.
    let inbox = files.compare(&["--json", "--channel", "inbox"]).done().lines();
    assert_eq!(inbox[0]["messages"], 5);
    assert_eq!(inbox[1]["delay_ms"]["max"], 0);
}

#[test]
fn what_cannot_be_compared_says_where_it_fails() {
    let files = Files::new();
    let (first, timeline) = (files.path("cooldown.toml"), files.timeline.clone());
    let alone = ran(&["simulate", "--timeline", &timeline, "--compare", &first]);
    assert_eq!(alone.code, 2, "{}", alone.err);
    let neither = ran(&["simulate", "--timeline", &timeline]);
    assert_eq!(neither.code, 2);
    assert!(neither.err.contains("--config"), "{}", neither.err);
    let other = files.world.file("other.toml", "[categories.news]\n");
    let unlike = ["simulate", "--timeline", &timeline, "--compare", &first, &other];
    let unlike = ran(&unlike);
    assert_eq!((unlike.code, unlike.out.as_str()), (1, ""));
    assert!(unlike.err.contains("other.toml: line 3: unknown type"), "{}", unlike.err);
}

#[test]
fn a_page_is_written_and_shows_whom_one_asks_for() {
    let files = Files::new();
    let page = files.path("page.html");
    let compared = files.compare(&["--html", &page, "--recipient", "ann"]).done();
    assert!(compared.out.contains("messages a recipient and day"));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!doctype html>"));
    assert!(html.contains("What <b>ann</b> gets of 2 events on 2024-01-01, 10:00 to 10:02 UTC"));
    // The same input gives the same page; without a name it is about the only one with messages.
    files.compare(&["--html", &page]).done();
    assert_eq!(std::fs::read_to_string(&page).unwrap(), html);
    let unknown = files.compare(&["--html", &page, "--recipient", "bob"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("`bob` gets no message"), "{}", unknown.err);
    let alone = ran(&["simulate", "--config", "c", "--timeline", "t", "--html", &page]);
    assert_eq!(alone.code, 2);
}

#[test]
fn a_cooldown_is_tuned_for_a_goal() {
    let files = Files::new();
    let config = files.path("cooldown.toml");
    let tune = |goal: &[&str]| {
        let fixed = ["tune", "--config", &config, "--timeline", &files.timeline];
        let grid = ["--quiet", "1m,5m", "--max-wait", "3m,3h"];
        ran(&[&fixed[..], &grid, goal].concat())
    };
    let tuned = tune(&["--max-per-day", "2", "--p95-delay", "10m"]).done();
    let lines: Vec<&str> = tuned.out.lines().collect();
    assert!(lines[0].starts_with("COOL-DOWN"), "{}", tuned.out);
    assert!(lines[1].starts_with("as configured"), "{}", tuned.out);
    // Quiet of five minutes needs a longer wait than three.
    assert_eq!(lines.len(), 1 + 4 + 2);
    let proposal = "Proposal: quiet = \"5m\", max_wait = \"3h\"";
    assert_eq!(lines[6], proposal, "{}", tuned.out);
    // Where only messages are bounded, the soonest is the best.
    let tuned = tune(&["--max-per-day", "3"]).done();
    assert!(tuned.out.ends_with("Proposal: quiet = \"1m\", max_wait = \"3m\"\n"), "{}", tuned.out);
    let tuned = tune(&["--max-per-day", "1", "--json"]).done().lines();
    assert_eq!(tuned.len(), 5);
    assert_eq!((&tuned[0]["quiet_ms"], &tuned[0]["meets_goal"]), (&json!(null), &json!(false)));
    let proposal = json!({"quiet_ms": 300_000, "max_wait_ms": 10_800_000, "meets_goal": false});
    assert_eq!(tuned[4], json!({"proposal": proposal}));
    let none = tune(&[]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("--p95-delay"), "{}", none.err);
    let digest = files.path("digest.toml");
    let fixed = ["tune", "--config", &digest, "--timeline", &files.timeline];
    let nothing = ran(&[&fixed[..], &["--max-per-day", "1"]].concat());
    assert_eq!(nothing.code, 2);
    assert!(nothing.err.contains("no type has a cool-down"), "{}", nothing.err);
}

#[test]
fn the_last_days_of_a_store_are_a_timeline() {
    both(|world| {
        let world = world.with_people();
        let event = ["publish", "--type", "note", "--object", "works/1"];
        let to = ["--topic", "artist/1", "--id", "e-1", "--delay", "1h"];
        world.run(&[&event[..], &to].concat()).done();
        let to = ["--recipient", "b/ob", "--id", "e-2", "--title", "Lilies"];
        world.run(&[&event[..], &to].concat()).done();
        let exported = world.run(&["export", "--days", "2"]).done();
        let ops: Vec<String> =
            exported.lines().iter().map(|line| line["op"].as_str().unwrap().to_owned()).collect();
        // What is still scheduled is not in it yet.
        assert_eq!(ops, ["recipient", "recipient", "subscribe", "publish"]);
        let lines = exported.lines();
        assert_eq!(lines[0]["tz"], "Europe/Paris");
        assert_eq!(lines[2]["topic"], "artist/1");
        assert_eq!(lines[3]["object"]["title"], "Lilies");
        let timeline = world.file("exported.ndjson", &exported.out);
        let config = world.path("tidings.toml").display().to_string();
        let data = world.path("data").display().to_string();
        let simulate = |more: &[&str]| {
            let fixed = ["simulate", "--config", &config, "--json"];
            ran(&[&fixed[..], more].concat()).done().out
        };
        let played = simulate(&["--timeline", &timeline]);
        assert!(played.contains("\"recipient\":\"b/ob\""), "{played}");
        assert_eq!(simulate(&["--data", &data, "--days", "2"]), played);
        let compare = ["simulate", "--data", &data, "--compare", &config, &config];
        let compared =
            ran(&[&compare[..], &["--json", "--channel", "inbox"]].concat()).done().lines();
        assert_eq!((&compared[0], compared.len()), (&compared[1], 2));
        assert_eq!(compared[0]["messages"], 1);
    });
    let neither = ran(&["simulate", "--config", "c"]);
    assert_eq!(neither.code, 2);
    let two = ["simulate", "--config", "c", "--timeline", "t", "--data", "d"];
    assert_eq!(ran(&two).code, 2);
    let nowhere = ["simulate", "--config", "tests/commands/none.toml", "--data", "none"];
    assert_eq!(ran(&nowhere).code, 2);
}
