//! Backups of a running server, and what is refused in their place.

use super::*;

#[test]
fn a_backup_under_load_is_a_moment_of_the_server_and_comes_back() {
    let mut world = World::served().with_people();
    let api = Api::new(&world.server.as_ref().unwrap().url);
    let publish = |api: &Api, number: u32| {
        let event = json!({
            "id": format!("e{number}"),
            "type": "note",
            "object": {"id": "o"},
            "to": {"everyone": true},
        });
        api.post("/v1/events", &event).unwrap().1
    };
    (0..50).for_each(|number| drop(publish(&api, number)));
    let file = world.path("backup");
    let stop = std::sync::atomic::AtomicBool::new(false);
    let told = std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let numbers = 50..;
            let going = numbers.take_while(|_| !stop.load(std::sync::atomic::Ordering::SeqCst));
            going.for_each(|number| drop(publish(&api, number)));
        });
        let ran = world.run(&["backup", "--to", file.to_str().unwrap(), "--json"]).done();
        stop.store(true, std::sync::atomic::Ordering::SeqCst);
        load.join().unwrap();
        ran.json()
    });
    assert!(told["rows"].as_u64().unwrap() > 50, "{told}");
    let before = world.run(&["status", "--json"]).done().json();
    world.server.take().unwrap().kill();

    let other = World::new();
    let (from, data) = (file.to_str().unwrap(), other.path("data"));
    let restore = ["restore", "--from", from, "--data", data.to_str().unwrap()];
    assert!(ran(&restore).done().out.contains("Restored"));
    let status = other.run(&["status", "--json"]).done().json();
    let all = |status: &Value| status["entries"]["all"].as_u64().unwrap();
    assert!((200..=all(&before)).contains(&all(&status)), "{status} {before}");
    let sum: u64 = status["entries"]["outcomes"]
        .as_object()
        .unwrap()
        .values()
        .map(|count| count.as_u64().unwrap())
        .sum();
    let pending = status["entries"]["pending"].as_u64().unwrap();
    assert_eq!(sum + pending, all(&status), "the books of the moment balance: {status}");

    // P10: what was acknowledged before is known there, and is not told again.
    let again = ["publish", "--type", "note", "--object", "o", "--everyone", "--id", "e7"];
    assert!(other.run(&again).done().out.contains("1 duplicate"));
    let second = ran(&restore);
    assert_eq!(second.code, 3, "{}", second.err);
    assert!(second.err.contains("not empty"), "{}", second.err);
}

/// A restored store lets in whom the backed up one let in at that moment.
#[test]
fn a_backup_has_the_keys() {
    let world = World::new();
    let (file, data) = (world.path("backup"), world.path("data"));
    let (file, data) = (file.to_str().unwrap(), data.to_str().unwrap());
    let key = |action: &[&str], data: &str| {
        let arguments = [&["key"], action, &["--data", data]].concat();
        ran(&arguments).done().out
    };
    let site = key(&["new", "--name", "site"], data);
    let revoked = key(&["new", "--json"], data);
    let revoked: Value = serde_json::from_str(&revoked).unwrap();
    key(&["revoke", revoked["id"].as_str().unwrap()], data);
    let listed = key(&["list"], data);
    ran(&["backup", "--to", file, "--data", data]).done();
    key(&["new", "--name", "later"], data);

    let other = World::new();
    let data = other.path("data");
    let text = data.to_str().unwrap();
    ran(&["restore", "--from", file, "--data", text]).done();
    assert_eq!(key(&["list"], text), listed);
    let server = Server::start_with_keys(&other.path("tidings.toml"), &data);
    let status = |key: &str| ran(&["status", "--url", &server.url, "--key", key]);
    status(site.trim()).done();
    assert_eq!(status(revoked["key"].as_str().unwrap()).code, 2);
}

#[test]
fn a_backup_that_is_damaged_is_refused_whole() {
    let world = World::new().with_people();
    let file = world.path("backup");
    world.run(&["backup", "--to", file.to_str().unwrap()]).done();
    assert!(!world.path("backup.partial").exists());
    let bytes = fs::read(&file).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 4;
    let data = world.path("other");
    let cases: [(&[u8], &str); 3] = [
        (&bytes[..bytes.len() - 9], "cut off"),
        (&flipped, "damaged"),
        (b"id,email\nann,a@example.org\n", "not a backup of tidings"),
    ];
    for (bytes, said) in cases {
        fs::write(&file, bytes).unwrap();
        let (from, to) = (file.to_str().unwrap(), data.to_str().unwrap());
        let refused = ran(&["restore", "--from", from, "--data", to]);
        assert_eq!(refused.code, 1);
        assert!(refused.err.contains(said), "{said}: {}", refused.err);
        assert!(!data.exists(), "f17: {said}");
    }
}

#[test]
fn f17_one_command_resumes_what_a_restore_paused() {
    let world = World::new().with_people();
    let file = world.path("backup").display().to_string();
    world.run(&["pause", "type", "note"]).done();
    world.run(&["backup", "--to", &file]).done();
    fs::remove_dir_all(world.path("data")).unwrap();
    let data = world.path("data").display().to_string();
    let restored = ran(&["restore", "--from", &file, "--data", &data]).done();
    assert_eq!(restored.err.matches("tidings resume").count(), 1);

    let paused = || world.run(&["status", "--json"]).done().json()["paused"].clone();
    let channels = paused()["channels"].clone();
    assert!(channels.as_array().unwrap().len() > 1, "{channels}");
    let resumed = world.run(&["resume", "channel", "--all", "--json"]).done();
    assert_eq!(resumed.json(), json!({"types": [], "channels": channels}));
    assert_eq!(paused(), json!({"types": ["note"], "channels": []}));
    let resumed = world.run(&["resume", "--all"]).done();
    assert_eq!(resumed.out, "Resumed type note. A running server sends what is due\n");
    assert_eq!(paused(), json!({"types": [], "channels": []}));
    let again = world.run(&["resume", "--all"]).done();
    assert_eq!(again.out, "Nothing is paused\n");
}
