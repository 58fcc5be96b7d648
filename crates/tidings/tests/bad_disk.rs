//! The real process on a disk that fills up, and in a directory that turns read-only: nothing
//! acknowledged is lost, what can't be done is refused with its reason, and it goes on by itself when
//! there is room again.
//!
//! A small file system is mounted for it, which takes root and Linux; elsewhere the tests say that they
//! are skipped, and fail where `TIDINGS_REQUIRE_SERVERS` is set.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

mod serving;

use serving::{Api, Patience, Server, skip};

const CONFIG: &str = r#"
[categories.news]

[types.note]
category = "news"
[types.note.channels]
inbox = { policy = "now" }
"#;

/// A file system of its own, of some MiB; unmounted when it is dropped.
struct Disk {
    path: PathBuf,
    _directory: tempfile::TempDir,
}

impl Disk {
    fn mount(mib: u64) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("disk");
        fs::create_dir(&path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "none"])
            .arg(&path)
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            skip("a file system can't be mounted here: that takes root");
            return None;
        }
        Some(Self { path, _directory: directory })
    }

    /// Takes all room but so many bytes.
    fn fill(&self, but_bytes: u64) {
        let mut filler = File::create(self.path.join("filler")).unwrap();
        let block = vec![1_u8; 1 << 20];
        while free_bytes(&self.path) >= but_bytes + (1 << 20) {
            if filler.write_all(&block).is_err() {
                break;
            }
        }
        if but_bytes == 0 {
            while filler.write_all(&block[..4096]).is_ok() {}
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.path.join("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a process that a failing test left may still have it open.
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}

fn free_bytes(path: &Path) -> u64 {
    let output =
        Command::new("stat").args(["--file-system", "--format=%a %S"]).arg(path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().map(|number| number.parse::<u64>().unwrap()).product()
}

/// Publishes to `ana` under this number; whether it was acknowledged, or with which code refused.
fn publish(api: &Api, number: u64) -> Result<(), String> {
    let event = json!({
        "id": format!("e{number}"),
        "type": "note",
        "object": {"id": format!("o{number}")},
        "data": {"filler": "x".repeat(10_000)},
        "to": {"recipients": ["ana"]},
    });
    match api.post("/v1/events", &event) {
        Ok((202, _)) => Ok(()),
        Ok((503, problem)) => Err(problem["code"].as_str().unwrap().to_owned()),
        other => panic!("{other:?}"),
    }
}

fn in_inbox(api: &Api) -> Vec<String> {
    api.inbox_events("ana")
}

/// Publishes the next numbers until one is acknowledged again.
fn until_acknowledged(api: &Api, next: &mut u64, acknowledged: &mut BTreeSet<String>) {
    let patience = Patience::new();
    loop {
        *next += 1;
        match publish(api, *next) {
            Ok(()) => break,
            Err(code) => patience.wait(|| format!("still {code}, although there is room")),
        }
    }
    acknowledged.insert(format!("e{next}"));
}

fn begin(data: &Path, config: &Path) -> (Server, Api) {
    fs::write(config, CONFIG).unwrap();
    let server = Server::start(config, data);
    let api = Api::new(&server.url);
    let (status, answer) = api.put("/v1/recipients/ana", &json!({})).unwrap();
    assert!(status < 300, "{answer}");
    (server, api)
}

#[test]
fn a_disk_that_fills_up_refuses_and_goes_on_when_there_is_room() {
    let Some(disk) = Disk::mount(320) else { return };
    let (data, config) = (disk.path.join("data"), disk.path.join("tidings.toml"));
    let (server, api) = begin(&data, &config);
    let mut acknowledged = BTreeSet::new();
    let mut next = 0;
    for _ in 0..20 {
        until_acknowledged(&api, &mut next, &mut acknowledged);
    }
    // Below the floor: refused before anything can go wrong.
    disk.fill(32 << 20);
    next += 1;
    assert_eq!(publish(&api, next), Err("store_full".to_owned()));
    assert_eq!(in_inbox(&api).len(), acknowledged.len());
    disk.make_room();
    until_acknowledged(&api, &mut next, &mut acknowledged);
    // Somebody else takes even what the floor has kept: writes fail wherever they are.
    disk.fill(0);
    for _ in 0..20 {
        next += 1;
        if publish(&api, next).is_ok() {
            acknowledged.insert(format!("e{next}"));
        }
    }
    disk.make_room();
    until_acknowledged(&api, &mut next, &mut acknowledged);
    has_all(&api, &acknowledged);
    server.kill();
    // A start below the floor, with something to be written at once.
    disk.fill(32 << 20);
    fs::write(&config, format!("{CONFIG}[categories.more]\n")).unwrap();
    let server = Server::start(&config, &data);
    let api = Api::new(&server.url);
    next += 1;
    assert_eq!(publish(&api, next), Err("store_full".to_owned()));
    has_all(&api, &acknowledged);
    disk.make_room();
    until_acknowledged(&api, &mut next, &mut acknowledged);
    has_all(&api, &acknowledged);
}

fn has_all(api: &Api, acknowledged: &BTreeSet<String>) {
    let told = in_inbox(api);
    let once: BTreeSet<String> = told.iter().cloned().collect();
    assert_eq!(told.len(), once.len(), "told twice");
    let lost: Vec<&String> = acknowledged.difference(&once).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
}

fn allow(path: &Path, write: bool) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            allow(&path, write);
        } else {
            set_mode(&path, if write { 0o600 } else { 0o400 });
        }
    }
    set_mode(path, if write { 0o700 } else { 0o500 });
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_directory_that_turns_read_only_loses_nothing_and_says_why_it_does_not_start() {
    if Command::new("id").arg("-u").output().unwrap().stdout != b"0\n" {
        return skip("it takes root to run the server as somebody else");
    }
    let directory = tempfile::tempdir().unwrap();
    set_mode(directory.path(), 0o777);
    let (data, config) = (directory.path().join("data"), directory.path().join("t.toml"));
    fs::write(&config, CONFIG).unwrap();
    let server = Server::start_as_nobody(&config, &data);
    let api = Api::new(&server.url);
    let (status, answer) = api.put("/v1/recipients/ana", &json!({})).unwrap();
    assert!(status < 300, "{answer}");
    let mut acknowledged = BTreeSet::new();
    let mut next = 0;
    for _ in 0..5 {
        until_acknowledged(&api, &mut next, &mut acknowledged);
    }
    allow(&data, false);
    // Files that are open can still be written: both answers are right, as long as they are kept.
    for _ in 0..5 {
        next += 1;
        if publish(&api, next).is_ok() {
            acknowledged.insert(format!("e{next}"));
        }
    }
    server.kill();
    let (code, said) = Server::refused_as_nobody(&config, &data);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("ermission") || said.contains("read-only"), "{said}");
    allow(&data, true);
    let server = Server::start_as_nobody(&config, &data);
    let api = Api::new(&server.url);
    has_all(&api, &acknowledged);
    until_acknowledged(&api, &mut next, &mut acknowledged);
}

/// A directory of which nothing can be written any more, not even by root and through files that are
/// open, as after a file system has turned itself read-only; writable again when it is dropped.
struct Frozen<'a>(&'a Path);

impl<'a> Frozen<'a> {
    /// `None` where the file system or the machine's rules don't have this.
    fn freeze(path: &'a Path) -> Option<Self> {
        let (marker, there) = (path.join("TIDINGS"), fs::read(path.join("TIDINGS")).unwrap());
        let open = File::options().write(true).open(marker).unwrap();
        let is_set = change_attribute("+i", path);
        let frozen = Self(path);
        // Some file systems know the attribute and still let open files be written.
        let is_kept = is_set && open.write_at(&there, 0).is_err();
        is_kept.then_some(frozen)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        change_attribute("-i", self.0);
    }
}

fn change_attribute(how: &str, path: &Path) -> bool {
    let changed = Command::new("chattr").args(["-R", "-f", how]).arg(path).status();
    changed.is_ok_and(|status| status.success())
}

#[test]
fn a_disk_that_turns_read_only_refuses_and_goes_on_once_it_can_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let (data, config) = (directory.path().join("data"), directory.path().join("tidings.toml"));
    let (server, api) = begin(&data, &config);
    let mut acknowledged = BTreeSet::new();
    let mut next = 0;
    for _ in 0..20 {
        until_acknowledged(&api, &mut next, &mut acknowledged);
    }
    let Some(frozen) = Frozen::freeze(&data) else {
        return skip("files can't be made immutable here: that takes root and such a file system");
    };
    // Nothing is durable now, so nothing may be acknowledged.
    for _ in 0..20 {
        next += 1;
        let code = publish(&api, next).unwrap_err();
        let is_known = matches!(code.as_str(), "outcome_unknown" | "unavailable" | "starting");
        assert!(is_known, "{code}");
    }
    let (status, problem) = api.get("/readyz").unwrap();
    assert_eq!(status, 503, "{problem}");
    assert_eq!(api.get("/healthz").unwrap().0, 200);
    drop(frozen);
    until_acknowledged(&api, &mut next, &mut acknowledged);
    has_all(&api, &acknowledged);
    assert_eq!(api.get("/readyz").unwrap().0, 200);
    server.kill();
    let server = Server::start(&config, &data);
    has_all(&Api::new(&server.url), &acknowledged);
}

/// The status of `/readyz`, and what it says.
fn readiness(api: &Api) -> (u16, String) {
    let (status, answer) = api.get("/readyz").unwrap();
    (status, answer["detail"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a4_a_data_directory_that_goes_away_is_waited_for_and_never_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let (data, away, config) = (at("data"), at("away"), at("tidings.toml"));
    let (_server, api) = begin(&data, &config);
    let (mut acknowledged, mut next) = (BTreeSet::new(), 0);
    until_acknowledged(&api, &mut next, &mut acknowledged);
    // Nothing is left of it, or the empty place of a volume.
    for leaves_a_place in [false, true] {
        fs::rename(&data, &away).unwrap();
        if leaves_a_place {
            fs::create_dir(&data).unwrap();
        }
        let patience = Patience::new();
        loop {
            next += 1;
            publish(&api, next).unwrap_err();
            let (status, said) = readiness(&api);
            if status == 503 && said.contains("is not there") {
                break;
            }
            patience.wait(|| format!("{status} {said}"));
        }
        for _ in 0..20 {
            next += 1;
            assert_eq!(publish(&api, next), Err("unavailable".to_owned()));
        }
        let left = fs::read_dir(&data).map_or(0, Iterator::count);
        assert_eq!(left, 0, "nothing was made in its place");
        if leaves_a_place {
            fs::remove_dir(&data).unwrap();
        }
        fs::rename(&away, &data).unwrap();
        until_acknowledged(&api, &mut next, &mut acknowledged);
        assert_eq!(readiness(&api).0, 200);
        has_all(&api, &acknowledged);
    }
}

#[test]
fn a4_a_start_that_requires_a_store_makes_none_and_one_that_makes_it_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let (data, config, log) = (at("data"), at("tidings.toml"), at("log"));
    fs::write(&config, CONFIG).unwrap();
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
        command.args(["serve", "--require-store", "--listen", "127.0.0.1:0"]);
        command.arg("--config").arg(&config).arg("--data").arg(&data);
        command.output().unwrap()
    };
    for is_there in [false, true] {
        if is_there {
            fs::create_dir(&data).unwrap();
        }
        let refused = start();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(3), "{said}");
        assert!(said.contains("the store is not there"), "{said}");
        assert_eq!(fs::read_dir(&data).map_or(0, Iterator::count), 0);
    }
    Server::start_logging(&config, &data, File::create(&log).unwrap());
    let said = fs::read_to_string(&log).unwrap();
    assert!(said.contains("made a new store"), "{said}");
    Server::start_logging(&config, &data, File::create(&log).unwrap());
    let said = fs::read_to_string(&log).unwrap();
    assert!(!said.contains("made a new store"), "{said}");
}
