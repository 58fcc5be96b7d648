//! No room: a commit is refused before anything is written, what forgets may use what is kept back,
//! and a disk that fills up in the middle of a write loses nothing that was acknowledged.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::tempdir;
use tidings_core::Day;
use tidings_store::{Error, FjallStore, Options, Partition, Store};

use crate::{commit, get, noise, on, open, put};
use tidings_loopback::skip;

#[test]
fn what_frees_room_may_use_what_is_kept_back() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    store.ensure_room().unwrap();
    store.commit(commit([put(on(1), b"a", b"1")])).unwrap();
    drop(store);
    let nothing_is_free = Options { floor_bytes: u64::MAX / 2, ..Options::default() };
    let store = FjallStore::open(directory.path(), crate::NEW_STORE, nothing_is_free).unwrap();
    assert!(matches!(store.ensure_room(), Err(Error::Full(_))));
    let row = || commit([put(Partition::Base, b"forgotten", b"1")]);
    assert!(matches!(store.commit(row()), Err(Error::Full(_))));
    assert_eq!(get(&store, Partition::Base, b"forgotten"), None);
    // Packing takes as much again before it gives anything back.
    assert!(matches!(store.compact(Day(1)), Err(Error::Full(_))));
    store.commit_to_free(row()).unwrap();
    store.forget(Day(1)).unwrap();
    assert!(get(&store, Partition::Base, b"forgotten").is_some());
    assert_eq!(store.days().unwrap(), []);
}

/// Tells the child which directory to write to.
const DIRECTORY: &str = "TIDINGS_STORE_TEST_FULL_DIRECTORY";
/// From this number on the child can't make files longer.
const LIMITED_FROM: u64 = 10;
const ROW_BYTES: usize = 100_000;

#[test]
#[ignore = "the child of `a_disk_that_fills_up_loses_nothing_acknowledged`"]
fn child_that_writes_until_the_disk_is_full() {
    let Ok(path) = std::env::var(DIRECTORY) else {
        return;
    };
    let store = open(Path::new(&path)).unwrap();
    let mut out = std::io::stdout();
    let row = |number: u64| put(on(1), &number.to_be_bytes(), &noise(number, ROW_BYTES));
    let fault = (1..1_000).find_map(|number| {
        if number == LIMITED_FROM {
            let limit = format!("--fsize={}", 2 << 20);
            let pid = format!("--pid={}", std::process::id());
            let limited = Command::new("prlimit").args([pid, limit]).status();
            assert!(limited.unwrap().success());
        }
        let answer = store.commit(commit([row(number)]));
        if answer.is_ok() {
            writeln!(out, "acknowledged {number}").unwrap();
            out.flush().unwrap();
        }
        answer.err()
    });
    assert!(matches!(fault, Some(Error::Unavailable(_))), "{fault:?}");
    assert!(matches!(store.commit(commit([row(1)])), Err(Error::Unavailable(_))));
    assert!(matches!(store.snapshot(), Err(Error::Unavailable(_))));
    writeln!(out, "told").unwrap();
}

/// A limit on the length of files stands for the disk: it needs no rights and no mount, and a write
/// that goes beyond it is cut short just as one is for which there is no block left.
#[test]
fn a_disk_that_fills_up_loses_nothing_acknowledged() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        return skip("`prlimit` is not installed");
    }
    let directory = tempdir().unwrap();
    let path = directory.path().join("store");
    // A process is not to die of the signal that tells of the limit.
    let shell = "trap '' XFSZ; exec \"$0\" --exact full::child_that_writes_until_the_disk_is_full \
                 --ignored --nocapture";
    let mut child = Command::new("sh")
        .args(["-c", shell])
        .arg(std::env::current_exe().unwrap())
        .env(DIRECTORY, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut acknowledged, mut told) = (0, false);
    for line in lines.map_while(Result::ok) {
        if let Some(number) = line.split("acknowledged ").nth(1) {
            acknowledged = number.parse().unwrap();
        }
        told |= line.ends_with("told");
    }
    assert!(child.wait().unwrap().success() && told);
    assert!(acknowledged >= LIMITED_FROM, "{acknowledged} acknowledged");
    let store = open(&path).unwrap();
    for number in 1..=acknowledged {
        let value = get(&store, on(1), &number.to_be_bytes());
        assert!(value == Some(noise(number, ROW_BYTES)), "{number} is gone");
    }
    assert_eq!(get(&store, on(1), &(acknowledged + 2).to_be_bytes()), None);
    store.commit(commit([put(on(1), b"room", b"1")])).unwrap();
}
