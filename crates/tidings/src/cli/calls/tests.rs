use serde_json::json;

use super::*;

fn given(arguments: &[&str]) -> (&'static CommandRow, GivenArguments) {
    let words = ["tidings"].into_iter().chain(arguments.iter().copied());
    let matches = crate::cli::command().try_get_matches_from(words).unwrap();
    let (name, mut matches) = matches.subcommand().unwrap();
    let mut name = name.to_owned();
    if let Some((word, of_word)) = matches.subcommand() {
        name = format!("{name} {word}");
        matches = of_word;
    }
    let to = TargetArguments::from_arg_matches(matches).unwrap();
    (TABLE.row(&name).unwrap(), GivenArguments { matches: matches.clone(), to })
}

fn written(arguments: &[&str], answer: &Value) -> String {
    let (row, given) = given(arguments);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let progress = super::super::Progress::Hidden;
    let mut streams = Streams { out: &mut out, err: &mut err, progress };
    row.show
        .write(&ShownAnswer { value: answer, given: &given, has_server: true }, &mut streams)
        .unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn each_default_and_each_path_of_the_table_is_there() {
    for (name, group) in &TABLE.groups {
        assert!(
            group.default.as_ref().is_none_or(|default| TABLE.row(default).is_some()),
            "{name}"
        );
    }
    let mut command = crate::cli::command();
    let tenant = command.find_subcommand_mut("tenant").unwrap();
    assert!(tenant.get_about().unwrap().to_string().starts_with("Make, change, list"));
    let list = tenant.find_subcommand("list").unwrap();
    assert_eq!(list.get_about().unwrap().to_string(), "List tenants");
    assert!(list.get_long_about().is_none());
    command.debug_assert();
    let request = |arguments: &[&str]| {
        let (row, given) = given(arguments);
        format!("{:?}", row.request(&given))
    };
    let cancel = request(&["cancel", "a/b", "--tenant", "t"]);
    assert!(cancel.contains("/v1/events/a%2Fb/cancel"), "{cancel}");
    assert!(request(&["cancel", "--cancellation-key", "k"]).contains("/v1/cancel\""));
    let messages = request(&["messages", "list", "--channel", "email"]);
    assert!(messages.contains("/v1/messages?channel=email&limit=50"), "{messages}");
}

#[test]
fn a_search_has_its_text_in_the_body_and_in_no_path() {
    let (row, arguments) = given(&["search", "Ada@example.org"]);
    let request = format!("{:?}", row.request(&arguments));
    assert!(request.contains("/v1/search\""), "{request}");
    let found = json!({"hits": [{"kind": "recipient", "id": "ada", "matched": "former_address"}]});
    let shown = written(&["search", "a"], &found);
    assert_eq!(shown, "KIND       ID   MATCHED\nrecipient  ada  former_address\n");
    let shown = written(&["search", "a"], &json!({"hits": [], "nearest": []}));
    assert!(shown.starts_with("Nothing has this id"), "{shown}");
}

#[test]
fn f15_a_fault_is_shown_whole_below_the_table() {
    let fault = "PostgreSQL: permission denied for table tidings_outbox (SQLSTATE 42501); grant SELECT, UPDATE \
                 and DELETE on the table to the user of the feed's `url`";
    let feeds = json!([
        {"name": "app", "state": "failing", "newest": null, "lag_ms": null, "taken": 0, "parked": 0, "fault": fault},
        {"name": "shop", "state": "running", "newest": "7", "lag_ms": 3000, "taken": 7, "parked": 0},
    ]);
    let out = written(&["feeds"], &feeds);
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["app", "failing", "?", "0", "0"], "{out}");
    assert!(lines[2].contains(&"running") && lines[2].contains(&"3"), "{out}");
    assert!(out.ends_with(&format!("\napp is failing: {fault}\n")), "{out}");
}

#[test]
fn a_column_that_no_row_has_is_left_out() {
    let key = json!({"id": "k", "made": "2024-01-01T00:00:00Z", "alg": "HS256", "scope": null, "name": ""});
    let list = written(&["signing-key", "list"], &json!({"keys": [key]}));
    assert!(!list.contains("TENANT") && list.contains("HS256  all    -"), "{list}");
    let mut of_tenant = key;
    of_tenant["tenant"] = json!("acme");
    let list = written(&["signing-key", "list"], &json!({"keys": [of_tenant]}));
    assert!(list.contains("TENANT") && list.contains("acme"), "{list}");
}

#[test]
fn a_message_is_shown_as_it_looks_and_whether_it_looked_the_same() {
    let shown = |answer: Value| written(&["messages", "preview", "m1"], &answer);
    let (row, given) = given(&["messages", "preview", "2024-03-07.3.12.77"]);
    let request = format!("{:?}", row.request(&given));
    assert!(request.contains("/v1/messages/2024-03-07.3.12.77/preview"), "{request}");
    let mail = json!({"channel": "email", "subject": "Flowers", "html": "<p>", "text": "Ben asks\nabout it\n", "same": true});
    assert_eq!(
        shown(mail),
        "email, built again now: it looked the same when it was sent\n\nFlowers\n\nBen asks\nabout it\n"
    );
    let sms = json!({"channel": "sms", "text": "Ben asks", "parts": 2, "same": false});
    assert_eq!(
        shown(sms),
        "sms, built again now: it looked different when it was sent\n\nBen asks\n\n2 parts\n"
    );
    let nothing = json!({"channel": "sms", "same": null});
    assert_eq!(shown(nothing), "sms, built again now: there is nothing to compare it with\n");
}
