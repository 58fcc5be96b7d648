//! Bytes that went wrong: a store is refused, or it holds what was committed up to some moment. It
//! never panics, and never shows half.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::tempdir;
use tidings_store::{Error, FjallStore, Options, Partition, Store, StoreId};

use crate::{Rows, commit, noise, on, open, put, rows};

const PLACES: [Partition; 4] = [Partition::Base, on_day(1), on_day(2), on_day(3)];

const fn on_day(day: i32) -> Partition {
    Partition::Day(tidings_core::Day(day))
}

type State = Vec<Rows>;

/// Makes a store with tables and journal; answers what it held after each commit.
fn make(path: &Path) -> Vec<State> {
    let mut model: BTreeMap<Partition, BTreeMap<Vec<u8>, Vec<u8>>> = BTreeMap::new();
    let mut states = vec![state(&model)];
    // The last round begins no day: what it writes stays in the journal.
    for round in 0..4 {
        let store = open(path).unwrap();
        for number in round * 10..round * 10 + 10_u64 {
            let day = i32::try_from(number / 12).unwrap().min(2) + 1;
            let writes = [
                put(Partition::Base, b"count", &number.to_be_bytes()),
                put(Partition::Base, &number.to_be_bytes(), &noise(number, 300)),
                put(on(day), &number.to_be_bytes(), &noise(number, 6_000)),
                put(on(1), &[7], &number.to_be_bytes()),
            ];
            for write in &writes {
                let table = model.entry(write.partition).or_default();
                table.insert(write.key.clone(), write.value.clone().unwrap());
            }
            store.commit(commit(writes)).unwrap();
            states.push(state(&model));
        }
    }
    // Opened once more, the journal is cut to what was written: 64 MiB less to copy.
    open(path).unwrap();
    states
}

fn state(model: &BTreeMap<Partition, BTreeMap<Vec<u8>, Vec<u8>>>) -> State {
    let table = |place| model.get(place).into_iter().flatten();
    PLACES
        .iter()
        .map(|place| table(place).map(|(key, value)| (key.clone(), value.clone())).collect())
        .collect()
}

fn read(path: &Path) -> Result<State, Error> {
    let store = open(path)?;
    PLACES.iter().map(|place| rows(&store, *place)).collect()
}

fn files(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    Flip(usize, u8),
    Cut(usize),
    Zero(usize),
    Remove,
}

fn apply(damage: Damage, file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    match damage {
        Damage::Flip(at, bit) => bytes[at] ^= bit,
        Damage::Cut(length) => bytes.truncate(length),
        Damage::Zero(from) => bytes[from..].fill(0),
        Damage::Remove => return fs::remove_file(file).unwrap(),
    }
    fs::write(file, bytes).unwrap();
}

/// Damages of a file: at its ends, and at places drawn by a seed.
fn damages(length: usize, steps: usize, seed: u64) -> Vec<Damage> {
    let mut damages = vec![Damage::Remove, Damage::Cut(0), Damage::Zero(0)];
    if length > 0 {
        for drawn in noise(seed, steps * 4).as_chunks::<4>().0 {
            let at = u32::from_le_bytes(*drawn) as usize % length;
            let bit = 1 << (drawn[0] % 8);
            damages.extend([Damage::Flip(at, bit), Damage::Cut(at), Damage::Zero(at)]);
        }
        damages.push(Damage::Flip(length - 1, 128));
    }
    damages
}

/// As a crash leaves it just before the newest commits are noted.
fn without_note(path: &Path) {
    fs::remove_file(path.join("NEWEST")).unwrap();
}

#[test]
fn damage_is_refused_or_does_no_harm() {
    let number = |name: &str, usual: u64| {
        std::env::var(name).map_or(usual, |number| number.parse().unwrap())
    };
    let steps = usize::try_from(number("TIDINGS_DAMAGE_STEPS", 4)).unwrap();
    let seed = number("TIDINGS_SEED", 1);
    let directory = tempdir().unwrap();
    let whole = directory.path().join("whole");
    let states = make(&whole);
    assert_eq!(read(&whole).unwrap(), *states.last().unwrap());
    let (mut refused, mut unharmed) = (0, 0);
    for (file, at) in files(&whole).into_iter().zip(0_u64..) {
        let name = file.strip_prefix(&whole).unwrap();
        let length = usize::try_from(fs::metadata(&file).unwrap().len()).unwrap();
        for damage in damages(length, steps, seed * 1_000 + at) {
            let damaged = directory.path().join("damaged");
            copy(&whole, &damaged);
            apply(damage, &damaged.join(name));
            match read(&damaged) {
                Err(Error::Corrupt(_) | Error::Format(_)) => refused += 1,
                Err(other) => panic!("seed {seed}: {} {damage:?}: {other:?}", name.display()),
                Ok(found) => {
                    let is_whole = found == *states.last().unwrap();
                    assert!(is_whole, "{} {damage:?}: not whole", name.display());
                    unharmed += 1;
                }
            }
            fs::remove_dir_all(&damaged).unwrap();
        }
    }
    println!("{refused} refused, {unharmed} did no harm");
    assert!(refused > 20, "{refused} refused");
}

fn journal(path: &Path) -> PathBuf {
    let is_journal = |file: &PathBuf| file.extension().is_some_and(|ext| ext == "jnl");
    let mut journals = files(path).into_iter().filter(is_journal);
    let journal = journals.next().unwrap();
    assert_eq!(journals.next(), None, "there is one");
    journal
}

fn cut(journal: &Path, bytes: u64) {
    let file = fs::File::options().write(true).open(journal).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length - bytes).unwrap();
}

#[test]
fn a_journal_that_is_cut_within_its_last_commits_is_refused_until_the_loss_is_accepted() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    let states = make(&path);
    cut(&journal(&path), 10_000);
    for _ in 0..2 {
        let Err(Error::Corrupt(said)) = read(&path) else { panic!("opened") };
        assert!(said.contains("newest commits are gone"), "{said}");
        assert!(said.contains("--accept-loss"), "{said}");
    }
    let accepting = Options { accept_loss: true, ..Options::default() };
    FjallStore::open(&path, crate::NEW_STORE, accepting).unwrap();
    let found = read(&path).unwrap();
    assert!(states.contains(&found) && found != *states.last().unwrap());
}

/// A crash may leave a journal without the end of what was not synced, and so was not noted.
#[test]
fn a_journal_that_a_crash_cut_short_is_opened_as_it_was_before() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    let states = make(&path);
    without_note(&path);
    for _ in 0..8 {
        cut(&journal(&path), 2_500);
        assert!(states.contains(&read(&path).unwrap()), "half");
    }
}

#[test]
fn the_table_that_tells_the_days_is_refused_wherever_a_bit_of_it_is_flipped() {
    // It is read before all others, and whole: the engine answers a block that can't be read with the
    // same error for ever.
    let directory = tempdir().unwrap();
    let whole = directory.path().join("whole");
    // A restore ends with all of it in tables. Closing a store does not wait for those that the engine is asked for.
    restore(&whole);
    let expected = read(&whole).unwrap();
    let tables = Path::new("engine/keyspaces/1/tables");
    let mut refused = 0;
    for file in files(&whole.join(tables)) {
        let name = file.strip_prefix(&whole).unwrap();
        for at in (0..fs::read(&file).unwrap().len()).step_by(8) {
            let damaged = directory.path().join("damaged");
            copy(&whole, &damaged);
            apply(Damage::Flip(at, 16), &damaged.join(name));
            match read(&damaged) {
                Err(Error::Corrupt(_)) => refused += 1,
                Ok(found) if found == expected => {}
                other => panic!("{} at {at}: {other:?}", name.display()),
            }
            fs::remove_dir_all(&damaged).unwrap();
        }
    }
    assert!(refused > 50, "{refused} refused");
}

#[test]
fn a_last_commit_with_a_hole_is_cut_off() {
    // What a power failure leaves if the pages of a commit reached the disk in another order.
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    let states = make(&path);
    without_note(&path);
    let journal = journal(&path);
    let mut bytes = fs::read(&journal).unwrap();
    let end = bytes.len();
    bytes[end - 3_000..end - 2_000].fill(0);
    fs::write(&journal, bytes).unwrap();
    assert!(read(&path).unwrap() == states[states.len() - 2]);
    let store = open(&path).unwrap();
    store.commit(commit([put(on(2), b"a", b"1")])).unwrap();
    drop(store);
    assert_eq!(rows(&open(&path).unwrap(), on(2)).unwrap().last().unwrap().0, b"a");
}

fn restore(path: &Path) {
    FjallStore::restore(path, StoreId([9; 16]), Options::default(), |store| {
        (0..10_u64).try_for_each(|number| {
            let day = i32::try_from(number % 3).unwrap() + 1;
            let key = number.to_be_bytes();
            let rows = [
                put(Partition::Base, &key, &noise(number, 300)),
                put(on(day), &key, &noise(number, 6_000)),
            ];
            store.commit(commit(rows))
        })
    })
    .unwrap();
}

/// The commits in which a restore puts its rows are no states that a store was ever in.
#[test]
fn a_restored_store_is_whole_or_refused_however_its_journal_is_cut() {
    let directory = tempdir().unwrap();
    let (whole, broken) = (directory.path().join("w"), directory.path().join("b"));
    restore(&whole);
    let restored = read(&whole).unwrap();
    assert_eq!(restored[0].len(), 10);
    let journals: Vec<PathBuf> = files(&whole)
        .into_iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "jnl"))
        .collect();
    assert!(!journals.is_empty());
    let mut refused = 0;
    for journal in journals {
        let length = fs::metadata(&journal).unwrap().len();
        for tenth in 0..10 {
            copy(&whole, &broken);
            let file = broken.join(journal.strip_prefix(&whole).unwrap());
            let file = fs::File::options().write(true).open(file).unwrap();
            file.set_len(length * tenth / 10).unwrap();
            match read(&broken) {
                Ok(state) => assert_eq!(state, restored),
                Err(Error::Corrupt(_)) => refused += 1,
                Err(fault) => panic!("{fault}"),
            }
            fs::remove_dir_all(&broken).unwrap();
        }
    }
    println!("{refused} cuts were refused");
}

#[test]
fn a_block_that_can_not_be_read_is_told_with_its_day_and_its_files() {
    let directory = tempdir().unwrap();
    let (whole, broken) = (directory.path().join("w"), directory.path().join("b"));
    FjallStore::restore(&whole, StoreId([9; 16]), Options::default(), |store| {
        let rows =
            (0..100_u64).map(|number| put(on(1), &number.to_be_bytes(), &noise(number, 6_000)));
        store.commit(commit(rows))
    })
    .unwrap();
    let tables = files(&whole)
        .into_iter()
        .filter(|file| file.components().any(|shard| shard.as_os_str() == "tables"));
    let mut said = Vec::new();
    for table in tables {
        copy(&whole, &broken);
        let length = usize::try_from(fs::metadata(&table).unwrap().len()).unwrap();
        let table = broken.join(table.strip_prefix(&whole).unwrap());
        apply(Damage::Flip(length / 2, 1), &table);
        if let Ok(store) = open(&broken)
            && let Err(fault) = rows(&store, on(1))
        {
            said.push(fault.to_string());
        }
        fs::remove_dir_all(&broken).unwrap();
    }
    let is_placed =
        |text: &String| text.contains("the day 1970-01-02, in") && text.contains("keyspaces");
    assert!(said.iter().any(is_placed), "{said:?}");
}
