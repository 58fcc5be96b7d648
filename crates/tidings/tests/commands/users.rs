//! Signing keys, tokens and roles by commands, with and without a server.

use std::process::Command;

use super::*;

const USERS: &str = "[users]\norigins = [\"https://app.example.org\"]\n";

fn world(config: &str) -> World {
    let world = World::new();
    world.file("tidings.toml", config);
    world
}

/// Calls with a bearer; returns the status and the code.
pub(crate) fn call(server: &Server, path: &str, bearer: &str) -> (u16, String) {
    let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
    let bearer = format!("Bearer {bearer}");
    let url = format!("{}{path}", server.url);
    let mut answer = agent.get(url).header("authorization", bearer).call().unwrap();
    let body = answer.body_mut().read_to_string().unwrap();
    let body: Value = serde_json::from_str(&body).unwrap_or_default();
    (answer.status().as_u16(), body["code"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_token_is_printed_and_opens_the_inbox_until_its_key_is_revoked() {
    let world = world(&format!("{CONFIG}{USERS}"));
    let (config, data) = (world.path("tidings.toml"), world.path("data"));
    drop(Server::start(&config, &data));
    // Without a server, too.
    let before = world.run(&["token", "ann", "--for", "10m"]).done();
    let log = fs::File::create(world.path("log")).unwrap();
    let server = Server::start_with_keys_logging(&config, &data, log);
    let token = world.run(&["token", "ann", "--scope", "inbox:read"]).done();
    let keys = world.run(&["signing-key", "list", "--json"]).done().lines();
    assert_eq!((keys.len(), &keys[0]["name"]), (1, &json!("development")));
    for token in [&before, &token] {
        assert_eq!(call(&server, "/v1/me/inbox", token.out.trim()).0, 200);
    }
    let preferences = call(&server, "/v1/me/preferences", token.out.trim());
    assert_eq!(preferences, (403, "scope".to_owned()));
    let long = world.run(&["token", "ann", "--for", "2h"]);
    assert_eq!(long.code, 1);
    assert!(long.err.contains("1h"), "{}", long.err);
    world.run(&["signing-key", "revoke", keys[0]["id"].as_str().unwrap()]).done();
    let refused = call(&server, "/v1/me/inbox", token.out.trim());
    assert_eq!(refused, (401, "token_key".to_owned()));
    drop(server);
    let log = fs::read_to_string(world.path("log")).unwrap();
    for secret in [&before, &token] {
        let signature = secret.out.trim().rsplit('.').next().unwrap();
        assert!(!log.contains(signature), "{log}");
    }
}

#[test]
fn p3_a_token_of_a_store_that_no_server_has_served_goes_by_the_configuration_given() {
    let world = world(&format!("{CONFIG}{USERS}"));
    world.run(&["key", "new"]).done();
    let token = world.run(&["token", "ann"]).done();
    assert_eq!(token.out.trim().split('.').count(), 3, "{}", token.out);
    // The configuration that is given has no `[users]`, whatever the store knows.
    fs::write(world.path("tidings.toml"), CONFIG).unwrap();
    let refused = world.run(&["token", "ann"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("[users]"), "{}", refused.err);
}

#[test]
fn why_there_is_no_token_is_told() {
    let world = World::served();
    let refused = world.run(&["token", "ann"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("[users]"), "{}", refused.err);
    let odd = world.run(&["token", "ann", "--scope", "inbix"]);
    assert_eq!(odd.code, 2);
    assert!(odd.err.contains("did you mean `inbox`"), "{}", odd.err);
}

#[test]
fn a_signing_key_is_printed_once_and_a_public_one_signs_nothing_here() {
    let world = World::served();
    let made = world.run(&["signing-key", "new", "--name", "app", "--scope", "inbox"]).done();
    let secret = made.out.trim();
    let id = secret.strip_prefix("tsk_").unwrap().split('_').next().unwrap();
    assert!(made.err.contains(id), "{}", made.err);
    let pem = "-----BEGIN PUBLIC KEY-----\n\
               MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
               -----END PUBLIC KEY-----\n";
    let file = world.file("public.pem", pem);
    let public = world.run(&["signing-key", "new", "--public", &file]).done();
    let listed = world.run(&["signing-key", "list"]).done();
    let rows: Vec<Vec<&str>> =
        listed.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["ID", "CREATED", "ALG", "SCOPE", "NAME"]);
    assert_eq!((rows[1][0], &rows[1][2..]), (id, &["HS256", "inbox", "app"][..]));
    assert_eq!((rows[2][0], &rows[2][2..]), (public.out.trim(), &["EdDSA", "all", "-"][..]));
    assert!(!listed.out.contains("tsk_"));
    let wrong = world.file("private.pem", &pem.replace("PUBLIC", "PRIVATE"));
    let refused = world.run(&["signing-key", "new", "--public", &wrong]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("private"), "{}", refused.err);
    let missing = world.run(&["signing-key", "new", "--public", "none.pem"]);
    assert_eq!(missing.code, 2);
}

#[test]
fn a_key_has_the_role_that_was_asked_for() {
    let world = World::new();
    let made = world.run(&["key", "new", "--role", "read"]).done();
    let odd = world.run(&["key", "new", "--role", "reader"]);
    assert_eq!(odd.code, 2);
    let data = world.path("data");
    let server = Server::start_with_keys(&world.path("tidings.toml"), &data);
    let with = |arguments: &[&str]| {
        let output = Command::new(TIDINGS)
            .args(arguments)
            .args(["--url", &server.url, "--key", made.out.trim()])
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(with(&["status"]).0, 0);
    let (code, err) = with(&["pause", "channel", "email"]);
    assert!(code != 0 && err.contains("`operate` or `admin`"), "{code}: {err}");
}
