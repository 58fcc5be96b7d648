//! `tidings messages`: the messages of a server, which fail since their channel has no provider, and those of a directory,
//! which nobody builds.

use std::fs;

use serde_json::{Value, json};

use super::serving::{Api, Server};
use super::{CONFIG, World, ran};

/// Publishes an event to `ann` and has its message go.
fn sent(world: &World, event: &str) {
    let object = format!("works/{event}");
    let publish = ["publish", "--type", "note", "--object", &object];
    let to = ["--id", event, "--topic", "artist/1"];
    world.run(&[&publish[..], &to].concat()).done();
    world.run(&["flush", "ann", "--channel", "email"]).done();
}

/// The ids of the messages in a state.
fn ids(world: &World, state: &str) -> Vec<String> {
    let listed = world.run(&["messages", "--state", state, "--json"]).done().json();
    let messages = listed["messages"].as_array().unwrap().iter();
    let id = |message: &Value| message["id"].as_str().unwrap().to_owned();
    messages.map(id).collect()
}

/// The ids once there are so many: a server sends in its own time.
fn awaited(world: &World, state: &str, count: usize) -> Vec<String> {
    for _ in 0..1_000 {
        let found = ids(world, state);
        if found.len() == count {
            return found;
        }
    }
    panic!("{}", world.run(&["messages"]).out);
}

#[test]
fn addresses_are_suppressed_listed_and_freed() {
    let world = World::served().with_people();
    let add = ["suppressions", "add", "Ann@example.org"];
    let more = ["--reason", "complaint", "--expires-at", "2100-01-01T00:00:00Z"];
    world.run(&[&add[..], &more].concat()).done();
    let sms = ["suppressions", "add", "+12025550123", "--channel", "sms"];
    world.run(&sms).done();
    let listed = world.run(&["suppressions"]).done().out;
    for told in ["ann@example.org", "complaint", "2100-01-01", "+12025550123"] {
        assert!(listed.contains(told), "{told}: {listed}");
    }
    let one = ["suppressions", "list", "--channel", "sms", "--json"];
    let one = world.run(&one).done().json();
    assert_eq!(one["suppressions"].as_array().unwrap().len(), 1);
    let remove = ["suppressions", "remove", "+12025550123", "--channel", "sms"];
    world.run(&remove).done();
    let one = ["suppressions", "list", "--channel", "sms"];
    let none = world.run(&one).done().out;
    assert!(none.contains("No suppressed addresses"), "{none}");
    let bad = world.run(&["suppressions", "add", "ann"]);
    assert!(bad.err.contains("local@domain"), "{}", bad.err);
}

#[test]
fn t15_failed_messages_are_listed_shown_and_retried() {
    let world = World::served().with_people();
    sent(&world, "e1");
    awaited(&world, "failed", 1);
    sent(&world, "e2");
    let failed = awaited(&world, "failed", 2);
    let listed = world.run(&["messages", "list", "--recipient", "ann"]).done();
    assert!(listed.out.contains("refused") && listed.out.contains("digest:daily"));
    assert!(listed.out.contains(&failed[0]), "{}", listed.out);
    let shown = world.run(&["messages", "show", &failed[0]]).done();
    for told in ["failed (refused)", "works/e1", "built with 1 entry", "no provider"] {
        assert!(shown.out.contains(told), "{told}: {}", shown.out);
    }
    let one = world.run(&["messages", "retry", &failed[0]]).done();
    assert!(one.out.contains("Queued"), "{}", one.out);
    awaited(&world, "failed", 2);
    let all = world.run(&["messages", "retry", "--failed", "--json"]).done().json();
    assert_eq!((&all["accepted"], &all["refused"]), (&2.into(), &0.into()));
    awaited(&world, "failed", 2);
    let later = ["messages", "retry", "--failed", "--since", "2999-01-01"];
    let none = world.run(&later).done();
    assert!(none.out.starts_with("0 failed messages"), "{}", none.out);
    let late = world.run(&["messages", "cancel", &failed[0]]);
    assert_eq!(late.code, 1);
    assert!(late.out.contains("Nothing is left"), "{}", late.out);
    let again = world.run(&["messages", "resend", &failed[0]]).done();
    assert!(again.out.contains("Queued"), "{}", again.out);
    let unknown = world.run(&["messages", "show", "none"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("tidings messages"), "{}", unknown.err);
    assert_eq!(world.run(&["messages", "retry"]).code, 2);
    assert_eq!(world.run(&["messages", "--state", "gone"]).code, 2);
}

/// A template that `check` can't fault, over data for which it fails.
#[test]
fn f18_a_message_whose_template_fails_was_not_refused() {
    let world = World::new().with_people();
    let mail = format!(
        "{CONFIG}\n[channels.email]\nprovider = \"file://{}\"\nfrom = \"News <news@example.org>\"\n",
        world.path("mail").display()
    );
    let config = world.file("tidings.toml", &mail);
    fs::create_dir_all(world.path("templates/email")).unwrap();
    let template = "{% if item.data.size == 'XL' %}{{ item.data.size - 1 }}{% endif %}";
    world.file("templates/email/note.html", template);
    ran(&["check", &config]).done();
    let server = Server::start(&world.path("tidings.toml"), &world.path("data"));
    let event = json!({
        "id": "e1", "type": "note", "object": {"id": "o"}, "data": {"size": "XL"}, "to": {"recipients": ["ann"]},
    });
    Api::new(&server.url).post("/v1/events", &event).unwrap();
    world.run(&["flush", "ann", "--channel", "email"]).done();
    let failed = awaited(&world, "failed", 1);
    let shown = world.run(&["messages", "show", &failed[0]]).done();
    assert!(shown.out.contains("failed (template)"), "{}", shown.out);
    assert!(!shown.out.contains("refused"), "{}", shown.out);
    let event = world.run(&["event", "e1", "--json"]).done().json();
    assert_eq!(event["channels"]["email"]["reasons"], json!({"template": 1}));
    let why = world.run(&["explain", "e1", "ann"]).done();
    assert!(why.out.contains("a template failed"), "{}", why.out);

    world.file("templates/email/note.html", "{{ item.data.size }}");
    drop(server);
    let _server = Server::start(&world.path("tidings.toml"), &world.path("data"));
    world.run(&["messages", "retry", "--failed"]).done();
    awaited(&world, "sent", 1);
}

#[test]
fn what_a_directory_has_not_built_is_planned_and_can_be_cancelled() {
    let world = World::new().with_people();
    sent(&world, "e1");
    let planned = ids(&world, "planned");
    assert_eq!(planned.len(), 1);
    let shown = world.run(&["messages", "show", &planned[0]]).done();
    assert!(shown.out.contains("planned"), "{}", shown.out);
    assert!(shown.out.contains("works/e1"), "{}", shown.out);
    let cancelled = world.run(&["messages", "cancel", &planned[0]]).done();
    let told = "Cancelled, with 1 notifications";
    assert!(cancelled.out.contains(told), "{}", cancelled.out);
    let refused = world.run(&["messages", "retry", &planned[0]]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("`planned`"), "{}", refused.err);
}
