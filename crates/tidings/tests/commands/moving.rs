//! Moving in: people and preferences as Knock and Novu answer them.

use serde_json::json;

use super::{World, both};

#[test]
fn moving_people_and_what_they_switched_off_come_in() {
    both(|world| {
        let users = concat!(
            r#"{"__typename":"User","id":"ann","name":"Ann","email":"ann@example.org","plan":"pro","updated_at":"2024-05-01T09:00:00Z"}"#,
            "\n{\"__typename\":\"User\",\"name\":\"nobody\"}\n{\"id\":\"bob\"}\n"
        );
        let users = world.file("users.ndjson", users);
        let import = ["import", &users, "--kind", "recipients", "--from", "knock"];
        let stopped = world.run(&import);
        assert_eq!(stopped.code, 1);
        assert!(stopped.err.contains("line 2: `id` is missing"), "{}", stopped.err);
        let all = world.run(&[&import[..], &["--skip-bad", "--json"]].concat()).done().json();
        assert_eq!((&all["taken"], &all["skipped"]), (&json!(2), &json!(1)));
        let ann = world.run(&["recipient", "ann", "--json"]).done().json();
        assert_eq!((&ann["name"], &ann["data"]["plan"]), (&json!("Ann"), &json!("pro")));

        let chosen = concat!(
            r#"{"user_id":"ann","preferences":{"id":"default","workflows":{"note":{"channel_types":{"email":false}},"gone":false},"channel_types":{"sms":false}}}"#,
            "\n",
            r#"{"user_id":"nobody","preferences":{"id":"default","channel_types":{"email":false}}}"#,
            "\n",
            r#"{"user_id":"bob","preferences":{"id":"default"}}"#,
            "\n"
        );
        let chosen = world.file("preferences.ndjson", chosen);
        let import = ["import", &chosen, "--kind", "preferences", "--from", "knock"];
        let stopped = world.run(&import);
        assert_eq!(stopped.code, 1);
        assert!(stopped.err.contains("line 2: unknown recipient"), "{}", stopped.err);
        let all = world.run(&[&import[..], &["--skip-bad"]].concat()).done();
        assert!(all.out.contains("preferences of 2 recipients imported, 1 skipped"), "{}", all.out);
        assert!(all.err.contains("left out of 1 rows: the type `gone`"), "{}", all.err);

        let subscribers =
            world.file("subscribers.ndjson", "{\"subscriberId\":\"cy\",\"firstName\":\"Cy\"}\n");
        world.run(&["import", &subscribers, "--kind", "recipients", "--from", "novu"]).done();
        let off = r#"{"subscriberId":"cy","preferences":{"global":{"enabled":false,"channels":{}},"workflows":[]}}"#;
        let off = world.file("off.ndjson", off);
        world.run(&["import", &off, "--kind", "preferences", "--from", "novu"]).done();
        for (who, channels) in [("ann", 1), ("bob", 2), ("cy", 0)] {
            let event = format!(
                "{{\"id\":\"e-{who}\",\"type\":\"note\",\"object\":{{\"id\":\"o\"}},\"to\":{{\"recipients\":[\"{who}\"]}}}}\n"
            );
            let event = world.file("event.ndjson", &event);
            world.run(&["publish", &event]).done();
            let told = world.run(&["event", &format!("e-{who}"), "--json"]).done().json();
            let found = told["channels"].as_object().unwrap().len();
            assert_eq!(found, channels, "{who}: {told}");
        }
    });
}

#[test]
fn moving_says_what_goes_together() {
    let world = World::new();
    let rows = world.file("rows.ndjson", "{}\n");
    for arguments in [
        &["--kind", "preferences"][..],
        &["--kind", "objects", "--from", "knock"],
        &["--kind", "recipients", "--from", "knock", "--format", "csv"],
    ] {
        let refused = world.run(&[&["import", &rows][..], arguments].concat());
        assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.err);
        assert!(refused.err.contains("--from"), "{}", refused.err);
    }
    assert!(!world.path("data").exists());
}
