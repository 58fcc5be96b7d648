//! The commands as people run them, over a directory that nobody has open and over a server: each
//! says the same either way.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod backups;
mod channels;
mod compare;
#[cfg(feature = "postgres")]
mod databases;
mod explain;
mod figures;
mod messages;
mod moving;
mod refused_lines;
#[path = "../serving/mod.rs"]
mod serving;
mod stores;
mod tenants;
mod usage;
mod users;
mod warnings;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use serving::{Api, Patience, Server};
use tempfile::TempDir;

const CONFIG: &str = r#"
[categories.news]
[digests.daily]
every = "day"
[types.note]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "daily" } }
"#;

const TIDINGS: &str = env!("CARGO_BIN_EXE_tidings");

/// A directory with a configuration, and perhaps a server over its data.
struct World {
    dir: TempDir,
    server: Option<Server>,
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{}{}", self.out, self.err))
    }

    fn lines(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn done(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self
    }
}

fn ran(arguments: &[&str]) -> Ran {
    ran_with(arguments, &[])
}

/// The same with these variables.
fn ran_with(arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let output = Command::new(TIDINGS)
        .args(arguments)
        .envs(variables.iter().copied())
        .env_remove("TIDINGS_URL")
        .env_remove("TIDINGS_KEY")
        .env_remove("TIDINGS_DATA")
        .env_remove("TIDINGS_STORE")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("tidings.toml"), CONFIG).unwrap();
        Self { dir, server: None }
    }

    fn served() -> Self {
        let mut world = Self::new();
        world.server = Some(Server::start(&world.path("tidings.toml"), &world.path("data")));
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }

    /// Runs a command on the data directory, whoever has it open.
    fn run(&self, arguments: &[&str]) -> Ran {
        let (config, data) = (self.path("tidings.toml"), self.path("data"));
        let place = ["--config", config.to_str().unwrap(), "--data", data.to_str().unwrap()];
        ran(&[arguments, &place].concat())
    }

    /// With two people, of whom the first follows a topic.
    fn with_people(self) -> Self {
        self.bring_people();
        self
    }

    fn bring_people(&self) {
        let people = self.file(
            "people.csv",
            "id,email,tz,lat,lon\nann,ann@example.org,Europe/Paris,48.8,2.3\nb/ob,,,,\n",
        );
        let follows =
            self.file("follows.ndjson", "{\"recipient\":\"ann\",\"topic\":\"artist/1\"}\n");
        self.run(&["import", &people, "--kind", "recipients"]).done();
        self.run(&["import", &follows, "--kind", "subscriptions"]).done();
    }
}

fn both(test: impl Fn(World)) {
    test(World::new());
    test(World::served());
}

#[test]
fn people_come_in_and_are_shown() {
    both(|world| {
        let world = world.with_people();
        let ann = world.run(&["recipient", "ann", "--json"]).done().json();
        assert_eq!(ann["email"], "ann@example.org");
        assert_eq!(ann["lat"], 48.8);
        let bob = world.run(&["recipient", "b/ob"]).done();
        assert!(bob.out.contains("active"), "{}", bob.out);
        let unknown = world.run(&["recipient", "nobody"]);
        assert_eq!(unknown.code, 1);
        assert!(unknown.err.contains("nobody") && unknown.err.contains("help"), "{}", unknown.err);
        let status = world.run(&["status", "--json"]).done().json();
        assert_eq!(status["recipients"], 2);
    });
}

#[test]
fn an_event_is_published_waits_is_flushed_and_is_told() {
    both(|world| {
        let world = world.with_people();
        let one = ["publish", "--type", "note", "--object", "works/1", "--id", "e1"];
        let one = [&one[..], &["--topic", "artist/1", "--title", "Water Lilies"]].concat();
        let published = world.run(&[&one[..], &["--json"]].concat()).done().json();
        assert_eq!(published["status"], "accepted");
        assert_eq!(published["notifications"], 1);
        let inbox = world.run(&["inbox", "ann"]).done();
        assert!(inbox.out.contains("1 unseen, 1 unread"), "{}", inbox.out);
        assert!(inbox.out.contains("Water Lilies"), "{}", inbox.out);
        let again = world.run(&one).done();
        assert!(again.out.contains("1 duplicate"), "{}", again.out);
        let pending = world.run(&["pending", "ann"]).done();
        assert!(pending.out.contains("digest:daily") && pending.out.contains("e1"));
        let due = world.run(&["due", "--json"]).done().json();
        assert_eq!(due["lanes"][0]["recipients"], 1);
        assert!(world.run(&["due"]).done().out.contains("digest:daily"));
        let flushed = world.run(&["flush", "ann", "--channel", "email"]).done();
        assert!(flushed.out.starts_with("Sending 1 message to ann.\n"), "{}", flushed.out);
        assert!(world.run(&["pending", "ann"]).done().out.contains("No notifications waiting"));
        let event = world.run(&["event", "e1"]).done();
        assert!(event.out.contains("inbox") && event.out.contains("delivered 1"), "{}", event.out);
    });
}

#[test]
fn a_stream_of_events_is_answered_with_the_lines_it_has() {
    both(|world| {
        let world = world.with_people();
        let note = |id: &str| {
            format!(
                r#"{{"id":"{id}","type":"note","object":{{"id":"o"}},"to":{{"everyone":true}}}}"#
            )
        };
        let text = format!("{}\n\n{{\"type\":\"nope\"}}\n{}\n", note("a"), note("b"));
        let file = world.file("events.ndjson", &text);
        let ran = world.run(&["publish", &file]);
        assert_eq!(ran.code, 1);
        assert!(ran.err.contains("line 3:"), "{}", ran.err);
        assert!(ran.out.contains("2 events accepted, 4 notifications; 1 rejected"));
        let again = world.run(&["publish", &file, "--json"]);
        let lines = again.lines();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0]["status"], "duplicate");
        assert_eq!(lines[1]["line"], 3);
    });
}

#[test]
fn what_is_steered_stays_so() {
    both(|world| {
        let world = world.with_people();
        world.run(&["pause", "type", "note"]).done();
        let status = world.run(&["status", "--json"]).done().json();
        assert_eq!(status["paused"]["types"], json!(["note"]));
        world.run(&["resume", "type", "note"]).done();
        world.run(&["pause", "channel", "email"]).done();
        let status = world.run(&["status", "--json"]).done().json();
        assert_eq!(status["paused"], json!({"types": [], "channels": ["email"]}));
        let unknown = world.run(&["pause", "type", "nope"]);
        assert_eq!(unknown.code, 1, "{}", unknown.err);

        let event = ["publish", "--type", "note", "--object", "o", "--everyone"];
        let event = [&event[..], &["--id", "e", "--cancellation-key", "k"]].concat();
        world.run(&event).done();
        let answer = world.run(&["cancel", "--cancellation-key", "k", "--json"]).done();
        assert_eq!(answer.json()["cancelled"], 2, "{}", answer.out);
        let late = world.run(&["cancel", "e"]).done().out;
        assert_eq!(late, "Nothing cancelled: too late for 2 entries\n");
        let again = ["publish", "--type", "note", "--object", "o", "--everyone"];
        let again = [&again[..], &["--id", "m", "--channel", "email"]].concat();
        world.run(&again).done();
        world.run(&["cancel", "m"]).done();
        let again = world.run(&["cancel", "m"]);
        assert_eq!(again.code, 1);
        assert_eq!(again.out, "Nothing cancelled: nothing is left to cancel\n");
        let ahead = world.run(&["cancel", "nope"]).done().out;
        let said = "No such event yet: it will be cancelled if it is published within 24 hours\n";
        assert_eq!(ahead, said);
        let unknown = world.run(&["cancel", "--cancellation-key", "nope"]);
        assert_eq!(unknown.code, 1);
        assert!(unknown.out.starts_with("Nothing cancelled: "), "{}", unknown.out);
        world.run(&["forget", "--before", "2024-01-01", "--yes"]).done();
        let odd = world.run(&["forget", "--before", "yesterday"]);
        assert_eq!(odd.code, 2);
        assert!(odd.err.contains("--before"), "{}", odd.err);
    });
}

#[test]
fn a_command_says_what_it_would_do_before_it_does_it() {
    both(|world| {
        let world = world.with_people();
        let event = ["publish", "--type", "note", "--object", "o", "--everyone", "--id", "e"];
        let dry = world.run(&[&event[..], &["--dry"]].concat()).done();
        let said = "Dry run, nothing is done. It would concern 2 people, 4 entries, 0 messages\n";
        assert!(dry.out.starts_with(said), "{}", dry.out);
        assert_eq!(world.run(&["event", "e"]).code, 1, "it is not there");
        let grown = world.run(&[&event[..], &["--expect", "1"]].concat());
        assert_eq!(grown.code, 1);
        assert!(grown.err.contains("it would touch 2 people"), "{}", grown.err);
        world.run(&[&event[..], &["--expect", "2"]].concat()).done();
        let dry = world.run(&["cancel", "e", "--dry", "--json"]).done().json();
        let concerns = json!({"people": 2, "entries": 2, "messages": 0});
        assert_eq!((&dry["cancelled"], &dry["concerns"]), (&json!(2), &concerns));
        assert_eq!(world.run(&["cancel", "e", "--expect", "0"]).code, 1);
        let flush = world.run(&["flush", "ann", "--dry"]).done();
        assert!(flush.out.contains("1 people, 1 entries, 1 messages"), "{}", flush.out);
        world.run(&["cancel", "e", "--expect", "2"]).done();
        let many = ["messages", "retry", "--failed", "--dry"];
        assert_eq!(world.run(&many).code, 2, "it would be many calls");
    });
}

#[test]
fn bad_rows_stop_an_import_or_are_left_out_as_asked() {
    both(|world| {
        let people = "{\"id\":\"a\"}\n{\"id\":\"b\",\"tz\":\"Mars\"}\nnot json\n{\"id\":\"c\"}\n";
        let people = world.file("people.ndjson", people);
        let import = ["import", &people, "--kind", "recipients"];
        let stopped = world.run(&import);
        assert_eq!(stopped.code, 1);
        assert!(stopped.err.contains("line 2:") && stopped.err.contains("Mars"), "{}", stopped.err);
        assert!(!stopped.err.contains("line 3"), "{}", stopped.err);
        let all = world.run(&[&import[..], &["--skip-bad", "--json"]].concat()).done();
        assert_eq!((&all.json()["taken"], &all.json()["skipped"]), (&json!(2), &json!(2)));
        assert!(all.err.contains("line 2:") && all.err.contains("line 3"), "{}", all.err);
        let follows =
            "{\"recipient\":\"a\",\"topic\":\"t\"}\n{\"recipient\":\"x\",\"topic\":\"t\"}\n";
        let follows = world.file("follows.ndjson", follows);
        let refused = world.run(&["import", &follows, "--kind", "subscriptions"]);
        assert_eq!(refused.code, 1);
        assert!(refused.err.contains("line 2: unknown recipient"), "{}", refused.err);
        let objects = world.file("o.csv", "id,title,notifiable\no,\"Water, Lilies\",false\no2,x\n");
        let objects = world.run(&["import", &objects, "--kind", "objects", "--skip-bad"]).done();
        assert!(objects.out.contains("1 object imported, 1 skipped"), "{}", objects.out);
        assert!(objects.err.contains("line 3: 2 columns"), "{}", objects.err);
    });
}

#[test]
fn what_passes_a_bound_is_refused_by_its_line() {
    both(|world| {
        let config = format!("{CONFIG}[limits]\nsubscriptions = 2\nevent_topics = 1\n");
        let config = world.file("limits.toml", &config);
        let at = r#""at":"2024-01-01T00:00:00Z""#;
        let person = format!("{{{at},\"op\":\"recipient\",\"id\":\"a\"}}\n");
        let follow = |topic: &str| {
            format!("{{{at},\"op\":\"subscribe\",\"recipient\":\"a\",\"topic\":\"{topic}\"}}\n")
        };
        let timeline = [person, follow("t"), follow("t"), follow("u"), follow("v")].concat();
        let timeline = world.file("follows.ndjson", &timeline);
        let simulate = ["simulate", "--config", &config, "--timeline", &timeline];
        let refused = ran(&simulate);
        assert_eq!(refused.code, 1);
        assert!(refused.err.contains("line 5: "), "{}", refused.err);
        let hint = "`[limits] subscriptions` is 2, got 3";
        assert!(refused.err.contains(hint), "{}", refused.err);
        let deep = vec!["x"; 17].join("/");
        let row = |topic: &str| format!("{{\"recipient\":\"a\",\"topic\":\"{topic}\"}}\n");
        let people = world.file("people.ndjson", "{\"id\":\"a\"}\n");
        world.run(&["import", &people, "--kind", "recipients"]).done();
        let follows = world.file("follows.ndjson", &[row("t"), row(&deep)].concat());
        let refused = world.run(&["import", &follows, "--kind", "subscriptions"]);
        assert_eq!(refused.code, 1);
        let hint = "`[limits] topic_levels` is 16, got 17";
        assert!(refused.err.contains("line 2: ") && refused.err.contains(hint), "{}", refused.err);
    });
}

#[test]
fn f13_an_import_that_was_killed_is_run_again() {
    let world = World::new();
    const ROWS: usize = 300_000;
    let people: String = (0..ROWS).map(|row| format!("{{\"id\":\"p{row}\"}}\n")).collect();
    let people = world.file("people.ndjson", &people);
    let place = [world.path("tidings.toml"), world.path("data")];
    let mut child = Command::new(TIDINGS)
        .args(["import", &people, "--kind", "recipients", "--config"])
        .arg(&place[0])
        .arg("--data")
        .arg(&place[1])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let patience = Patience::new();
    while !world.path("data").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
        patience.wait(|| "it made no store".to_owned());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let import = ["import", &people, "--kind", "recipients", "--json"];
    let again = world.run(&import).done().json();
    assert_eq!(again["taken"], ROWS);
    let status = world.run(&["status", "--json"]).done().json();
    assert_eq!(status["recipients"], ROWS);
    let place = world.path("people.ndjson");
    let beside = std::fs::read_dir(place.parent().unwrap()).unwrap();
    let names = beside.map(|one| one.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.starts_with("people")).count(), 1);
}

#[test]
fn who_can_not_be_reached_is_told_apart() {
    let url = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", free.local_addr().unwrap())
    };
    let nobody = ran(&["status", "--url", &url]);
    assert_eq!(nobody.code, 1);
    assert!(nobody.err.contains("no server answers") && nobody.err.contains("tidings serve"));
    let odd = ran(&["status", "--url", "ftp://x"]);
    assert_eq!(odd.code, 2, "{}", odd.err);

    let world = World::new().with_people();
    let config = world.file("bad.toml", "[types.x]\nnope = 1\n");
    let data = world.path("data");
    let place = ["--data", data.to_str().unwrap(), "--config", &config];
    let bad = ran(&[&["flush", "ann"], &place[..]].concat());
    assert_eq!(bad.code, 2);
    assert!(bad.err.contains("bad.toml:2"), "{}", bad.err);
    ran(&[&["status"], &place[..]].concat()).done();
    fs::write(data.join("TIDINGS"), "format = 99\n").unwrap();
    let format = world.run(&["status"]);
    assert_eq!(format.code, 3);
    assert!(format.err.contains("format 99"), "{}", format.err);
}

#[test]
fn a_configuration_that_can_not_be_meant_ends_with_2_and_makes_no_store() {
    let world = World::new();
    let people = world.file("people.csv", "id\nann\n");
    let data = world.path("data");
    for (text, reason) in [("[types.x]\nnope = 1\n", "nope"), ("", "cannot read")] {
        let config = world.file("bad.toml", text);
        if text.is_empty() {
            fs::remove_file(&config).unwrap();
        }
        let import = ["import", &people, "--kind", "recipients", "--config", &config];
        let refused = ran(&[&import[..], &["--data", data.to_str().unwrap()]].concat());
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains(reason), "{}", refused.err);
        assert!(!data.exists());
    }
    // Without a server nothing is sent, so nothing that sending needs is asked for.
    let world = world.with_people();
    let channel =
        "[channels.email]\nprovider = \"smtp://news:${NO_SUCH_SECRET}@mail.example.org\"\n";
    fs::write(
        world.path("tidings.toml"),
        format!("{CONFIG}{channel}from = \"News <news@example.org>\"\n"),
    )
    .unwrap();
    world.run(&["status"]).done();
    world.run(&["flush", "ann"]).done();
    let secret = world.run(&["serve"]);
    assert_eq!(secret.code, 2, "{}", secret.err);
    assert!(secret.err.contains("NO_SUCH_SECRET"), "{}", secret.err);
}

/// A start that fails for a secret leaves nothing behind that a later one would take for its store.
#[test]
fn serve_without_a_secret_makes_no_store() {
    let mail = "from = \"News <news@example.org>\"\n";
    let mail = format!("[channels.email]\nprovider = \"smtp://u:${{NO_SUCH_SECRET}}@h\"\n{mail}");
    let feed = "[feeds.app]\nurl = \"${NO_SUCH_SECRET}\"\n".to_owned();
    let hook = "[[hooks]]\nurl = \"https://a.example.org\"\nsecret = \"${NO_SUCH_SECRET}\"\n\
                of = [\"message.sent\"]\n";
    let feedback = "[feedback]\npostmark = \"${NO_SUCH_SECRET}\"\n".to_owned();
    let resolver = "[resolver]\nurl = \"https://a.example.org\"\nsecret = \"${NO_SUCH_SECRET}\"\n";
    let world = World::new();
    let data = world.path("data");
    for text in [mail, feed, hook.to_owned(), feedback, resolver.to_owned()] {
        let config = world.file("secret.toml", &format!("{CONFIG}{text}"));
        let serve = ["serve", "--config", &config, "--listen", "127.0.0.1:0", "--data"];
        let refused = ran(&[&serve[..], &[data.to_str().unwrap()]].concat());
        assert_eq!(refused.code, 2, "{text}\n{}", refused.err);
        assert!(refused.err.contains("NO_SUCH_SECRET"), "{text}\n{}", refused.err);
        assert!(!data.exists(), "{text}");
    }
}

/// Has the directory open as another process would that is no server.
fn hold(data: &Path) -> tidings_store::FjallStore {
    tidings_store::FjallStore::open(
        data,
        tidings_store::Expected::OrNew(tidings_store::StoreId([0; 16])),
        tidings_store::Options::default(),
    )
    .unwrap()
}

#[test]
fn a_directory_that_another_process_holds_is_not_opened() {
    let world = World::new().with_people();
    let _held = hold(&world.path("data"));
    let locked = world.run(&["status"]);
    assert_eq!(locked.code, 3);
    assert!(locked.err.contains("open in process"), "{}", locked.err);
    assert!(locked.err.contains("--url"), "{}", locked.err);
}

#[test]
fn a_key_is_asked_for_and_taken_from_the_environment() {
    let world = World::new();
    let data = world.path("data");
    hold(&data);
    let made = ran(&["key", "new", "--data", data.to_str().unwrap()]).done();
    let key = made.out.split_whitespace().last().unwrap().to_owned();
    let config = world.path("tidings.toml");
    let server = Server::start_with_keys(&config, &data);
    let status = ["status", "--url", &server.url];
    let without = ran(&status);
    assert_eq!(without.code, 2, "{}{}", without.out, without.err);
    assert!(without.err.contains("key"), "{}", without.err);
    ran(&[&status[..], &["--key", &key]].concat()).done();
    let made = ran(&["key", "new", "--url", &server.url, "--key", &key]).done();
    ran(&[&status[..], &["--key", made.out.trim()]].concat()).done();
    world.run(&["status"]).done();
    let by_environment = Command::new(TIDINGS)
        .args(["status", "--url", &server.url])
        .env("TIDINGS_KEY", &key)
        .output()
        .unwrap();
    assert!(by_environment.status.success());
}

#[test]
fn manual_pages_are_written_for_all_commands() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("man1");
    ran(&["man", path.to_str().unwrap()]).done();
    for page in ["tidings.1", "tidings-serve.1", "tidings-pause.1"] {
        let page = std::fs::read_to_string(path.join(page)).unwrap();
        assert!(page.contains(".TH"), "{page}");
    }
}

#[test]
fn completions_are_made_for_the_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let script = ran(&["completions", shell]).done();
        assert!(script.out.contains("restore") && script.out.contains("skip-bad"));
    }
}
