//! Commands on a store in a database, which nodes share.

use tidings_loopback::Postgres;

use super::serving::skip;
use super::*;

/// Content of the store in a status, wherever the store is.
fn content(status: &Value) -> Value {
    let mut status = status.clone();
    let gone = ["uptime_seconds", "paused", "channels", "now"];
    let keys = status.as_object_mut().unwrap();
    gone.iter().for_each(|key| drop(keys.remove(*key)));
    status
}

#[test]
fn a_store_moves_from_a_directory_to_a_database_and_back() {
    if !Postgres::is_installed() {
        return skip("PostgreSQL is not installed");
    }
    let world = World::new().with_people();
    let database = Postgres::start(world.dir.path(), &["fsync=off"]).unwrap();
    let store = database.url("postgres");
    let on_store = |arguments: &[&str]| ran(&[arguments, &["--store", &store]].concat());
    assert_eq!(on_store(&["status"]).code, 3, "there is no store yet");

    let publish = ["publish", "--type", "note", "--object", "o", "--everyone"];
    world.run(&[&publish[..], &["--id", "e1"]].concat()).done();
    let key = world.run(&["key", "new"]).done().out;
    let file = world.path("backup").display().to_string();
    world.run(&["backup", "--to", &file]).done();
    let before = world.run(&["status", "--json"]).done().json();

    // What is not whole does not become a store.
    let bytes = fs::read(&file).unwrap();
    let torn = world.path("torn").display().to_string();
    fs::write(&torn, &bytes[..bytes.len() - 9]).unwrap();
    assert_eq!(on_store(&["restore", "--from", &torn]).code, 1);
    assert_eq!(on_store(&["status"]).code, 3);

    let restore = ["restore", "--from", &file];
    on_store(&restore).done();
    let again = on_store(&restore);
    assert_eq!(again.code, 3, "{}", again.err);
    assert!(again.err.contains("has a store already"), "{}", again.err);
    let there = on_store(&["status", "--json"]).done().json();
    assert_eq!(content(&there), content(&before));

    // What an interrupted one left is replaced by the next.
    let mark = "UPDATE tidings_format SET format = 0";
    database.run("postgres", mark).unwrap();
    let unfinished = on_store(&["status"]);
    assert_eq!(unfinished.code, 3);
    assert!(unfinished.err.contains("did not finish"), "{}", unfinished.err);
    on_store(&restore).done();

    let log = fs::File::create(world.path("node.log")).unwrap();
    let server = Server::start_node_with_keys(&world.path("tidings.toml"), &store, "a", log);
    let patience = Patience::new();
    let holds = || {
        let nodes = on_store(&["nodes", "--json"]).done().json();
        (nodes[0]["state"] == "holding").then(|| nodes[0].clone())
    };
    let node = loop {
        match holds() {
            Some(node) => break node,
            None => patience.wait(|| "the node does not take the store".to_owned()),
        }
    };
    assert_eq!((&node["node"], &node["parts"]), (&json!("a"), &json!(null)));
    assert_eq!((&node["address"], &node["lag_ms"]), (&json!(server.url), &json!(0)));
    // The keys came along, and who reads the database needs none.
    let called = ["nodes", "--json", "--url", &server.url];
    assert_eq!(ran(&called).code, 2, "without a key");
    let with_key = [&called[..], &["--key", key.trim()]].concat();
    assert_eq!(ran(&with_key).done().json()[0]["node"], "a");
    on_store(&[&publish[..], &["--id", "e2"]].concat()).done();
    let twice = on_store(&[&publish[..], &["--id", "e1"]].concat()).done();
    assert!(twice.out.contains("1 duplicate"), "{}", twice.out);
    let served = on_store(&["status", "--json"]).done().json();
    on_store(&["backup", "--to", &file]).done();
    server.signal("TERM");
    assert!(server.wait().success());
    let gone = on_store(&["nodes", "--json"]).done();
    assert_eq!(gone.json(), json!([]));

    let other = World::new();
    let data = other.path("data").display().to_string();
    ran(&["restore", "--from", &file, "--data", &data]).done();
    let back = other.run(&["status", "--json"]).done().json();
    assert_eq!(content(&back), content(&served));
    assert_eq!(back["entries"]["all"], 8);
}

/// Keys reach every node, whichever of them made them, and a revocation counts at all of them at once.
#[test]
fn keys_and_revocations_are_those_of_all_nodes() {
    if !Postgres::is_installed() {
        return skip("PostgreSQL is not installed");
    }
    let world = World::new();
    let config = format!("{CONFIG}[store]\nparts = 2\n[users]\n");
    let config = world.file("tidings.toml", &config);
    let database = Postgres::start(world.dir.path(), &["fsync=off"]).unwrap();
    let store = database.url("postgres");
    let on_store = |arguments: &[&str]| ran(&[arguments, &["--store", &store]].concat());
    let nodes = ["a", "b"].map(|name| {
        let log = fs::File::create(world.path(&format!("{name}.log"))).unwrap();
        Server::start_node_with_keys(Path::new(&config), &store, name, log)
    });
    let patience = Patience::new();
    loop {
        let ran = on_store(&["nodes", "--json"]);
        let seen = if ran.code == 0 { ran.json() } else { Value::Null };
        let parts = |node: usize| seen[node]["parts"].as_array().map_or(0, Vec::len);
        if parts(0) == 1 && parts(1) == 1 {
            break;
        }
        patience.wait(|| format!("the parts are not spread: {seen}"));
    }
    let key = on_store(&["key", "new"]).done().out;
    let recipients: Vec<String> = (0..4).map(|n| format!("r{n}")).collect();
    let token = |of: &String| on_store(&["token", of]).done().out.trim().to_owned();
    let tokens: Vec<String> = recipients.iter().map(token).collect();
    let until = |node: &Server, token: &str, wanted: u16| {
        let patience = Patience::new();
        while users::call(node, "/v1/me/inbox", token).0 != wanted {
            patience.wait(|| format!("{}: not {wanted}", node.url));
        }
    };
    for node in &nodes {
        tokens.iter().for_each(|token| until(node, token, 200));
    }
    let revoke = |node: &Server, recipient: &str| {
        let url = format!("{}/v1/recipients/{recipient}/tokens/revoke", node.url);
        let key = format!("Bearer {}", key.trim());
        // A node that has not heard of the API key yet will.
        let patience = Patience::new();
        while ureq::post(&url).header("authorization", &key).send_empty().is_err() {
            patience.wait(|| format!("{url}: the key is unknown"));
        }
    };
    // Each at one node, and refused at both.
    for (at, (recipient, token)) in recipients.iter().zip(&tokens).enumerate().take(3) {
        revoke(&nodes[at % 2], recipient);
        for node in &nodes {
            let refused = users::call(node, "/v1/me/inbox", token);
            assert_eq!(refused, (401, "token_revoked".to_owned()), "{recipient}");
        }
    }
    let keys = on_store(&["signing-key", "list", "--json"]).done().lines();
    on_store(&["signing-key", "revoke", keys[0]["id"].as_str().unwrap()]).done();
    nodes.iter().for_each(|node| until(node, &tokens[3], 401));
}
