//! A process that is killed in the middle: what it acknowledged is there, whole.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::tempdir;
use tidings_core::Day;
use tidings_store::{Error, FjallStore, Options, Partition, Store, Write};

use crate::{commit, get, noise, on, open, put, rows};

/// Tells the child which directory to write to.
const DIRECTORY: &str = "TIDINGS_STORE_TEST_DIRECTORY";
const COUNT: &[u8] = b"count";
const COMMITS_A_DAY: u64 = 25;
const DAYS_KEPT: i32 = 3;

fn day_of(number: u64) -> i32 {
    i32::try_from(number / COMMITS_A_DAY).unwrap()
}

fn row(number: u64, shard: u8) -> Write {
    let key = [number.to_be_bytes().as_slice(), &[shard]].concat();
    put(on(day_of(number)), &key, &noise(number * 64 + u64::from(shard), 4_000))
}

fn last(store: &FjallStore) -> u64 {
    get(store, Partition::Base, COUNT)
        .map_or(0, |value| u64::from_be_bytes(value.try_into().unwrap()))
}

#[test]
#[ignore = "the child of `killed_at_any_moment_nothing_acknowledged_is_lost`"]
fn child_that_writes_until_it_is_killed() {
    let Ok(path) = std::env::var(DIRECTORY) else {
        return;
    };
    // The newest commit is noted all the time: a kill must never make that go ahead of the journal.
    let options = Options { note_every: Duration::from_millis(1), ..Options::default() };
    let store = FjallStore::open(Path::new(&path), crate::NEW_STORE, options).unwrap();
    let mut out = std::io::stdout();
    for number in last(&store) + 1.. {
        let count = put(Partition::Base, COUNT, &number.to_be_bytes());
        let list = (0..30).map(|shard| row(number, shard)).chain([count]);
        store.commit(commit(list)).unwrap();
        writeln!(out, "acknowledged {number}").unwrap();
        out.flush().unwrap();
        if number % COMMITS_A_DAY == 0 {
            store.forget(Day(day_of(number) - DAYS_KEPT)).unwrap();
        }
    }
}

fn start(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child_that_writes_until_it_is_killed"])
        .args(["--ignored", "--nocapture"])
        .env(DIRECTORY, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills the child after so many acknowledgements; answers the last that was heard.
fn kill_after(mut child: Child, path: &Path, acknowledgements: usize) -> u64 {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut heard = 0;
    let mut count = 0;
    for line in lines {
        let line = line.unwrap();
        // The first may stand behind what the test harness prints.
        let Some((_, number)) = line.split_once("acknowledged ") else {
            continue;
        };
        heard = number.parse().unwrap();
        count += 1;
        if count == acknowledgements / 2 {
            let Err(Error::Locked(text)) = open(path) else { panic!("two have it open") };
            assert!(text.contains(&child.id().to_string()), "{text}");
        }
        if count == acknowledgements {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(count >= acknowledgements, "it ended by itself after {count}");
    heard
}

fn ensure_whole(path: &Path, heard: u64) {
    let store = open(path).unwrap();
    let last = last(&store);
    assert!(last >= heard, "{heard} was acknowledged, {last} is the last there");
    let newest = day_of(last);
    let kept = store.days().unwrap();
    assert!(kept.len() <= usize::try_from(DAYS_KEPT).unwrap() + 2, "{kept:?}");
    for day in (newest - DAYS_KEPT + 1).max(0)..=newest {
        let expected: Vec<_> = (1..=last)
            .filter(|number| day_of(*number) == day)
            .flat_map(|number| (0..30).map(move |shard| row(number, shard)))
            .map(|row| (row.key, row.value.unwrap()))
            .collect();
        assert!(rows(&store, on(day)).unwrap() == expected, "day {day} up to {last}");
    }
    assert!(rows(&store, on(newest + 1)).unwrap().is_empty());
}

#[test]
fn killed_at_any_moment_nothing_acknowledged_is_lost() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    for acknowledgements in [2, 7, 31, 3, 52, 24, 90, 5, 26, 11, 140, 48] {
        let heard = kill_after(start(&path), &path, acknowledgements);
        ensure_whole(&path, heard);
    }
}
