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
    assert!(twice.out.contains("1 duplicates"), "{}", twice.out);
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
