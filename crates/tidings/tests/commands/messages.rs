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
    let mails = ["suppressions", "list", "--channel", "email", "--json"];
    let one = world.run(&mails).done().json();
    assert_eq!(one["suppressions"].as_array().unwrap().len(), 1);
    for remove in [&["+12025550123", "--channel", "sms"][..], &["ann@example.org"]] {
        world.run(&[&["suppressions", "remove"], remove].concat()).done();
    }
    let none = world.run(&["suppressions"]).done().out;
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
    // The newest is listed first.
    let failed: Vec<String> = awaited(&world, "failed", 2).into_iter().rev().collect();
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

/// Waits until a job is done.
fn awaited_job(world: &World, job: &str) -> serde_json::Value {
    loop {
        let shown = world.run(&["jobs", "show", job, "--json"]).done().json();
        if shown["state"] == "done" {
            return shown;
        }
        std::thread::yield_now();
    }
}

#[test]
fn bulk_jobs_are_made_listed_shown_and_stopped() {
    let world = World::served().with_people();
    for event in ["e1", "e2"] {
        sent(&world, event);
    }
    awaited(&world, "failed", 2);
    let filter = r#"{"state": "failed", "channel": "email"}"#;
    let dry = world.run(&["messages", "retry", "--filter", filter, "--dry"]).done();
    assert!(dry.out.contains("2 messages match"), "{}", dry.out);
    assert!(dry.out.contains("would concern 1 people, 2 entries, 2 messages"), "{}", dry.out);
    assert!(world.run(&["jobs"]).done().out.contains("No jobs"));
    let unbounded = world.run(&["messages", "retry", "--filter", filter]);
    assert!(unbounded.code == 1 && unbounded.err.contains("expect"), "{}", unbounded.err);

    let of = |verb, more: &[&str]| {
        let arguments = ["messages", verb, "--filter", filter, "--expect", "1", "--json"];
        let made = world.run(&[&arguments, more].concat()).done().json();
        assert_eq!(made["of"], 2);
        made["job"].as_str().unwrap().to_owned()
    };
    let waiting = of("resend", &[]);
    let stopped = world.run(&["jobs", "stop", &waiting, "--json"]).done().json();
    assert_eq!((&stopped["state"], &stopped["done"]), (&"stopped".into(), &0.into()));
    let job = of("retry", &["--now"]);
    let done = awaited_job(&world, &job);
    assert_eq!((&done["done"], &done["verb"]), (&2.into(), &"retry".into()));
    awaited(&world, "failed", 2);
    let nothing = awaited_job(&world, &of("cancel", &["--now"]));
    assert_eq!(nothing["left_out"], serde_json::json!({"nothing_left": 2}));
    let listed = world.run(&["jobs"]).done().out;
    assert!(listed.contains(&waiting) && listed.contains("stopped"), "{listed}");
    assert_eq!(world.run(&["messages", "retry", "m", "--filter", filter]).code, 2);
    assert_eq!(world.run(&["jobs", "show", "7"]).code, 1);
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
    let looks = world.run(&["messages", "preview", &planned[0]]).done();
    assert!(looks.out.contains("nothing to compare"), "{}", looks.out);
    let looks = ["messages", "preview", &planned[0], "--json"];
    let built = world.run(&looks).done().json();
    assert!(built["html"].is_string() && built["same"].is_null(), "{built}");
    let cancelled = world.run(&["messages", "cancel", &planned[0]]).done();
    let told = "Cancelled, with 1 notifications";
    assert!(cancelled.out.contains(told), "{}", cancelled.out);
    let refused = world.run(&["messages", "retry", &planned[0]]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("`planned`"), "{}", refused.err);
    let nothing = json!({"channel": "email", "same": null});
    assert_eq!(world.run(&looks).done().json(), nothing);
}

#[test]
fn the_next_message_of_a_channel_is_printed() {
    let world = World::new();
    let sms = "sms = { policy = \"digest\", digest = \"daily\" }, email = ";
    world.file("tidings.toml", &CONFIG.replace("email = ", sms));
    let ann =
        json!({"id": "ann", "email": "ann@example.org", "addresses": {"sms": "+12025550123"}});
    let people = world.file("people.ndjson", &ann.to_string());
    world.run(&["import", &people, "--kind", "recipients"]).done();
    let preview = ["preview", "--recipient", "ann", "--channel", "sms"];
    let none = world.run(&preview).done().out;
    assert!(none.contains("nothing waits that will become a message"), "{none}");
    let publish = ["publish", "--type", "note", "--object", "o", "--recipient", "ann"];
    world.run(&publish).done();
    let next = world.run(&preview).done().out;
    assert!(next.contains("digest:daily") && next.ends_with("1 part\n"), "{next}");
    let (out, mail) =
        (world.path("out").display().to_string(), [&preview[..4], &["email"]].concat());
    let written = world.run(&[&mail[..], &["--out", &out]].concat()).done().out;
    assert!(written.contains("message.eml"), "{written}");
    let unknown = world.run(&[&preview[..4], &["pigeon"]].concat());
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("pigeon"), "{}", unknown.err);
}
