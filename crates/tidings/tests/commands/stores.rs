//! No command makes a store, writes to one or sends from one unless it says so.

use std::fs;

use serde_json::{Value, json};
use tidings_core::model::sending_channels;

use super::serving::{Patience, Server};
use super::{CONFIG, Ran, World, ran};

/// Everything that is stored, as a backup has it.
fn stored(world: &World) -> Vec<u8> {
    let file = world.path("look.backup");
    world.run(&["backup", "--to", file.to_str().unwrap()]).done();
    fs::read(file).unwrap()
}

/// With mails into a Maildir, and a type that is sent at once.
fn mailing() -> World {
    let world = World::new();
    let mail = world.path("mail");
    let text = format!(
        r#"{CONFIG}
[types.bill]
category = "news"
channels = {{ inbox = {{ policy = "now" }}, email = {{ policy = "now" }} }}
[channels.email]
provider = "file://{}"
from = "News <news@example.org>"
"#,
        mail.display()
    );
    fs::write(world.path("tidings.toml"), text).unwrap();
    world.with_people()
}

/// The mails that were sent.
fn mails(world: &World) -> usize {
    fs::read_dir(world.path("mail/new")).map_or(0, Iterator::count)
}

fn bill(world: &World, id: &str) -> Ran {
    let event = ["publish", "--type", "bill", "--object", "o", "--id", id];
    world.run(&[&event[..], &["--recipient", "ann"]].concat())
}

/// Every command that asks or changes something, without where.
const COMMANDS: [&[&str]; 22] = [
    &["backup", "--to", "FILE"],
    &["cancel", "e"],
    &["cancel", "--cancellation-key", "k"],
    &["due"],
    &["event", "e"],
    &["flush", "ann"],
    &["forget", "--yes", "--before", "2024-01-01"],
    &["inbox", "ann"],
    &["pause", "channel", "email"],
    &["pause", "type", "note"],
    &["pending", "ann"],
    &["publish", "--type", "note", "--object", "o", "--everyone"],
    &["recipient", "ann"],
    &["resume", "channel", "email"],
    &["resume", "type", "note"],
    &["status"],
    &["key", "list"],
    &["key", "revoke", "abc"],
    &["signing-key", "new"],
    &["signing-key", "list"],
    &["signing-key", "revoke", "abc"],
    &["token", "ann"],
];

#[test]
fn only_what_makes_a_store_makes_one() {
    let world = World::new();
    let (config, file) = (world.path("tidings.toml"), world.path("file"));
    let before: Vec<_> = entries(&world);
    let other = world.path("other");
    fs::create_dir(&other).unwrap();
    let data = [
        world.path("typo").display().to_string(),
        // As it was taken for the event.
        world.path(r#"{"x":1}"#).display().to_string(),
        other.display().to_string(),
    ];
    for data in &data {
        for command in COMMANDS {
            let mut arguments: Vec<&str> = command.to_vec();
            for argument in &mut arguments {
                if *argument == "FILE" {
                    *argument = file.to_str().unwrap();
                }
            }
            arguments.extend(["--data", data, "--config", config.to_str().unwrap()]);
            let refused = ran(&arguments);
            assert_eq!(refused.code, 3, "{arguments:?}: {}", refused.err);
            let said = format!("no tidings store at {data}");
            assert!(refused.err.contains(&said), "{arguments:?}: {}", refused.err);
            assert!(refused.out.is_empty(), "{arguments:?}: {}", refused.out);
        }
    }
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    fs::remove_dir(&other).unwrap();
    assert_eq!(entries(&world), before, "nothing was made");

    let absent = world.path("absent.csv").display().to_string();
    let refused = world.run(&["import", &absent, "--kind", "recipients"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert_eq!(entries(&world), before, "nor for a file that is not there");
}

fn entries(world: &World) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(world.path("")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn a_command_that_looks_neither_sends_nor_writes() {
    let world = mailing();
    let published = bill(&world, "e1").done();
    assert!(published.out.contains("1 event accepted"), "{}", published.out);
    assert_eq!(mails(&world), 0, "what is due waits for a server");
    let due = world.run(&["due", "--json"]).done().json();
    assert_eq!((&due["unmade"], &due["sending"]), (&json!(1), &json!(0)));

    let before = stored(&world);
    // By another configuration what waits would go elsewhere.
    let config = fs::read_to_string(world.path("tidings.toml")).unwrap();
    let other = config.replace("policy = \"now\"", "policy = \"never\"");
    fs::write(world.path("tidings.toml"), other).unwrap();
    let looks: [&[&str]; 6] = [
        &["status"],
        &["inbox", "ann"],
        &["pending", "ann"],
        &["recipient", "ann"],
        &["event", "e1"],
        &["due"],
    ];
    for look in looks {
        let ran = world.run(look).done();
        assert!(!ran.out.is_empty(), "{look:?}");
    }
    assert!(stored(&world) == before, "a look changes nothing");
    assert_eq!(mails(&world), 0);

    fs::write(world.path("tidings.toml"), config).unwrap();
    let _server = Server::start(&world.path("tidings.toml"), &world.path("data"));
    let patience = Patience::new();
    while mails(&world) == 0 {
        patience.wait(|| "what was due goes out when a server runs".to_owned());
    }
    assert_eq!(mails(&world), 1);
}

#[test]
fn commands_that_change_send_nothing_without_a_server() {
    let world = mailing();
    bill(&world, "e1").done();
    let note = ["publish", "--type", "note", "--object", "o", "--everyone"];
    world.run(&note).done();
    world.run(&["flush", "ann"]).done();
    world.run(&["pause", "channel", "email"]).done();
    world.run(&["resume", "channel", "email"]).done();
    world.run(&["cancel", "e1"]).done();
    world.run(&["pause", "type", "note"]).done();
    world.run(&["resume", "type", "note"]).done();
    world.bring_people();
    assert_eq!(mails(&world), 0);
    let waits = world.run(&["due", "--json"]).done().json();
    assert_eq!(waits["sending"], 0, "{waits}");
}

/// The original may still send: nothing leaves the copy before it is asked to.
#[test]
fn a_restored_copy_sends_nothing_before_it_is_resumed() {
    let world = mailing();
    bill(&world, "e1").done();
    let file = world.path("backup").display().to_string();
    world.run(&["backup", "--to", &file]).done();
    fs::remove_dir_all(world.path("data")).unwrap();
    let data = world.path("data").display().to_string();
    let restored = ran(&["restore", "--from", &file, "--data", &data]).done();
    let resume_all = format!("`tidings resume channel --all --data {data}`");
    assert!(restored.err.contains(&resume_all), "{}", restored.err);
    let resume = "tidings resume channel email";
    let status = world.run(&["status", "--json"]).done().json();
    let all: Vec<&str> = sending_channels().map(|channel| channel.name).collect();
    assert_eq!(status["paused"]["channels"], json!(all));
    let status = world.run(&["status"]).done();
    assert!(status.out.contains(resume), "{}", status.out);
    bill(&world, "e2").done();

    let log = world.path("log");
    let server = Server::start_logging(
        &world.path("tidings.toml"),
        &world.path("data"),
        fs::File::create(&log).unwrap(),
    );
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains(resume), "{log}");
    let waits = |key: &str| -> Value {
        let due = world.run(&["due", "--json"]).done().json();
        due[key].clone()
    };
    assert_eq!(waits("sending"), 0);
    assert_eq!(mails(&world), 0);
    world.run(&["resume", "channel", "email"]).done();
    let patience = Patience::new();
    while waits("sending") != 0 || waits("unmade") != 0 || mails(&world) == 0 {
        patience.wait(|| "what waited goes out".to_owned());
    }
    drop(server);
}
