//! Messages of a command on wrong use, and its questions before it does something for good.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use serde_json::json;

use super::serving::{Server, skip};
use super::{CONFIG, TIDINGS, World, both, ran, ran_with};

#[test]
fn days_are_deleted_only_when_that_is_confirmed() {
    both(|world| {
        let world = world.with_people();
        let forget = ["forget", "--before", "2024-01-01"];
        let asked = world.run(&forget);
        assert_eq!(asked.code, 2, "{}", asked.err);
        assert!(asked.err.contains("--yes") && asked.err.contains("permanently"));
        let done = world.run(&[&forget[..], &["--yes"]].concat()).done();
        let said = "Deleted 0 days (0 pending notifications expired). Today is kept\n";
        assert_eq!(done.out, said);
        let json = world.run(&[&forget[..], &["--yes", "--json"]].concat());
        assert_eq!(json.done().json(), json!({"days": 0, "expired": 0}));
    });
}

#[test]
fn check_takes_the_configuration_as_other_commands_do_and_notes_what_serve_needs() {
    let world = World::new();
    let channel =
        "[channels.email]\nprovider = \"smtp://news:${NO_SUCH_SECRET}@mail.example.org\"\n";
    let text = format!("{CONFIG}{channel}from = \"News <news@example.org>\"\n");
    let config = world.file("mailing.toml", &text);
    let note = "note: channels.email.provider: the secret `NO_SUCH_SECRET` is not available: set \
                NO_SUCH_SECRET, or NO_SUCH_SECRET_FILE=/path/to/file";
    for arguments in [&["check", "--config", &config][..], &["check", &config]] {
        let checked = ran(arguments).done();
        assert!(checked.out.contains(note), "{}", checked.out);
    }
    let checked = ran(&["check", "--json", &config]).done().json();
    assert_eq!(checked["notes"].as_array().unwrap().len(), 1, "{checked}");
    let urgent = "[types.password]\ncategory = \"news\"\nurgent = true\n";
    let urgent = format!("{urgent}channels = {{ inbox = {{ policy = \"now\" }} }}\n");
    let file = world.file("urgent.toml", &format!("{CONFIG}{urgent}"));
    let noted = ran(&["check", &file]).done();
    assert!(noted.out.contains("note: the urgent type `password` leaves the actor out"));
    let both = ran(&["check", &config, "--config", &config]);
    assert_eq!(both.code, 2);
}

#[test]
fn field_4_check_fails_where_a_secret_is_set_and_can_not_be_used() {
    let world = World::new();
    let feed = "[feeds.app]\nurl = \"${NO_SUCH_SECRET}\"\ntable = \"outbox\"\n";
    let mail = "[channels.email]\nprovider = \"smtp://h:465\"\nfrom = \"a@example.org\"\n";
    let config = world.file("feeds.toml", &format!("{CONFIG}{feed}{mail}"));
    let arguments = ["check", &config];
    // Where it is not set, as where a configuration is written, that is a note.
    let unset = ran(&arguments).done();
    assert!(unset.out.contains("note: feeds.app.url: set NO_SUCH_SECRET"), "{}", unset.out);
    assert!(unset.out.contains("warning: channels.email.provider: port 465"), "{}", unset.out);
    assert!(unset.out.contains("time zones of 20"), "{}", unset.out);
    for (variable, value, said) in [
        ("NO_SUCH_SECRET_FILE", "/nowhere/secret", "/nowhere/secret"),
        ("NO_SUCH_SECRET", "postgres://u@h/d?pgbouncer=true", "`pgbouncer`"),
    ] {
        let broken = ran_with(&arguments, &[(variable, value)]);
        assert_eq!(broken.code, 1, "{}", broken.out);
        assert!(broken.err.contains("error: feeds.app.url: "), "{}", broken.err);
        assert!(broken.err.contains(said), "{}", broken.err);
        let json = ran_with(&["check", "--json", &config], &[(variable, value)]);
        let told: serde_json::Value = serde_json::from_str(&json.out).unwrap();
        assert_eq!((json.code, &told["ok"]), (1, &json!(false)));
        assert!(told["secrets"][0].as_str().unwrap().contains(said), "{told}");
    }
    let good = [("NO_SUCH_SECRET", "postgres://u@h/d")];
    assert_eq!(ran_with(&arguments, &good).code, 0);
}

#[test]
fn hints_name_commands() {
    let world = World::new();
    let data = world.path("data").display().to_string();
    ran(&["key", "new", "--data", &data, "--name", "ci"]).done();
    let made = ran(&["key", "new", "--data", &data]).done();
    let listed = ran(&["key", "list", "--data", &data]).done();
    let lines: Vec<Vec<&str>> =
        listed.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["ID", "CREATED", "ROLE", "NAME"]);
    assert_eq!((lines[1][3], lines[2][3]), ("ci", "-"));
    assert_eq!(lines[1][2], "admin");

    let server = Server::start_with_keys(&world.path("tidings.toml"), &world.path("data"));
    let without = ran(&["status", "--url", &server.url]);
    assert_eq!(without.code, 2);
    let said = "Set TIDINGS_KEY or pass --key. Create one: tidings key new --data DIR";
    assert!(without.err.contains(said), "{}", without.err);
    let key = made.out.trim();
    let ghost = world.run(&["inbox", "ghost", "--key", key]);
    assert_eq!(ghost.code, 1);
    assert!(!ghost.err.contains("PUT"), "{}", ghost.err);
    // Without --url or --data the environment says where.
    let by_environment = Command::new(TIDINGS)
        .args(["status", "--json"])
        .env_remove("TIDINGS_URL")
        .env("TIDINGS_DATA", &data)
        .env("TIDINGS_KEY", key)
        .output()
        .unwrap();
    assert!(by_environment.status.success());
    let status: serde_json::Value = serde_json::from_slice(&by_environment.stdout).unwrap();
    assert!(status["uptime_seconds"].is_u64(), "{status}");
    assert_eq!(status["channels"]["email"]["providers"], json!([]));
}

#[test]
fn https_to_a_server_without_tls_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut hello = [0; 5];
        stream.read_exact(&mut hello).unwrap();
        let answer = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(answer).unwrap();
    });
    let ran = ran(&["status", "--url", &url]);
    answering.join().unwrap();
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("is this plain http?"), "{}", ran.err);
}

#[test]
fn f37_a_server_is_called_whose_authority_the_machine_trusts() {
    let world = World::new();
    let Some(openssl) = tidings_loopback::find("openssl") else {
        return skip("openssl is not installed");
    };
    tidings_loopback::certify(world.dir.path()).unwrap();
    let port = tidings_loopback::free_port().unwrap().to_string();
    let mut serve = Command::new(openssl);
    serve.args(["s_server", "-quiet", "-www", "-accept", &port]);
    serve.args(["-cert", "cert.pem", "-key", "key.pem"]);
    serve.current_dir(world.dir.path());
    let log = world.path("log");
    let mut server = tidings_loopback::Server::start(serve, &log).unwrap();
    let reached = || TcpStream::connect(format!("127.0.0.1:{port}")).ok();
    server.until(&log, reached).unwrap();

    let url = format!("https://localhost:{port}");
    let unknown = ran(&["status", "--url", &url]);
    assert_eq!(unknown.code, 2, "{}", unknown.err);
    assert!(unknown.err.contains("`SSL_CERT_FILE`"), "{}", unknown.err);
    let mut trusting = Command::new(TIDINGS);
    trusting.args(["status", "--url", &url]);
    trusting.env("SSL_CERT_FILE", world.path("ca.pem"));
    let said = trusting.output().unwrap().stderr;
    // It is called, and its answer is a page.
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("cannot read the answer"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_directory_that_can_not_be_made_is_told_with_the_true_reason() {
    let world = World::new();
    let people = world.file("people.csv", "id\nann\n");
    let config = world.path("tidings.toml").display().to_string();
    let import = ["import", &people, "--kind", "recipients", "--config", &config];
    let refused = ran(&[&import[..], &["--data", "/proc/x"]].concat());
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(!refused.err.contains("parent"), "{}", refused.err);
    let absent = world.path("a/b").display().to_string();
    let refused = ran(&[&import[..], &["--data", &absent]].concat());
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("parent directory is missing"), "{}", refused.err);
}

/// Whatever is stored, a table of it can be printed.
#[test]
fn names_of_any_length_are_printed() {
    let world = World::new().with_people();
    let long = "x".repeat(70_000);
    let data = json!({long: 1, "水\u{202e}\u{1b}[2J": "\u{9b}31m"});
    let title = "水".repeat(300);
    let event = json!({
        "id": "e", "type": "note", "object": {"id": "o", "title": title},
        "to": {"recipients": ["ann"]}, "data": data,
    });
    let file = world.file("event.ndjson", &format!("{event}\n"));
    world.run(&["publish", &file]).done();
    for look in [&["event", "e"][..], &["inbox", "ann"], &["pending", "ann"], &["status"]] {
        let shown = world.run(look).done();
        let steers = |char: char| char != '\n' && (char.is_control() || char == '\u{202e}');
        assert!(!shown.out.contains(steers), "{look:?}: {}", shown.out);
    }
    let inbox = world.run(&["inbox", "ann"]).done();
    assert!(inbox.out.lines().all(|line| line.chars().count() < 200));
}

#[test]
fn s4_a_name_to_pause_needs_its_kind() {
    let said = |arguments: &[&str]| {
        let ran = ran(arguments);
        assert_eq!(ran.code, 2, "{}", ran.err);
        ran.err
    };
    let pause = said(&["pause", "email"]);
    assert!(pause.contains("`tidings pause channel email`"), "{pause}");
    let resume = said(&["resume", "note"]);
    assert!(resume.contains("`tidings resume type note`"), "{resume}");
    said(&["resume"]);
    said(&["resume", "channel"]);
    said(&["resume", "channel", "email", "--all"]);
}

#[test]
fn s4_arguments_that_are_missing_or_of_others_name_what_there_is() {
    let said = |arguments: &[&str], parts: &[&str]| {
        let ran = ran(arguments);
        assert_eq!(ran.code, 2, "{}", ran.err);
        for part in parts {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
    };
    said(&["preview"], &["TYPE", "--recipient <ID>"]);
    said(&["simulate"], &["--config <FILE>", "--compare <FILE>"]);
    let event = ["publish", "--type", "note", "--object", "o", "--to", "ann"];
    said(&event, &["--recipient ann", "--topic ann", "--everyone"]);
    said(&["publish", "--to", "ann"], &["--recipient ann"]);
}

#[test]
fn s4_events_may_be_an_array_or_stand_over_several_lines() {
    both(|world| {
        let world = world.with_people();
        let event = |id: &str, kind: &str| json!({"id": id, "type": kind, "object": {"id": "o"}, "to": {"recipients": ["ann"]}});
        let array = json!([event("a", "note"), event("b", "nope")]);
        let file = world.file("array.json", &array.to_string());
        let ran = world.run(&["publish", &file]);
        assert!(ran.err.contains("line 2: "), "{}", ran.err);
        assert!(ran.out.starts_with("1 event accepted, ") && ran.out.contains("; 1 rejected"));
        let pretty = [event("c", "note"), event("d", "nope")];
        let pretty = pretty.map(|event| serde_json::to_string_pretty(&event).unwrap());
        let second = 1 + pretty[0].lines().count();
        let file = world.file("pretty.json", &pretty.join("\n"));
        let ran = world.run(&["publish", &file]);
        assert!(ran.err.contains(&format!("line {second}: ")), "{}", ran.err);
        assert!(ran.out.starts_with("1 event accepted, ") && ran.out.contains("; 1 rejected"));
    });
}
