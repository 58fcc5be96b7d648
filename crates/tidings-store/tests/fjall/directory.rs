//! Whose directory it is, and what is said when it is not ours to open.

use std::fs;
use std::path::Path;

use tempfile::tempdir;
use tidings_core::Day;
use tidings_store::{Error, Expected, FjallStore, Options, Partition, Store, StoreId};

use crate::{commit, get, on, open, put};

#[test]
fn a_store_is_open_once() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    let store = open(&path).unwrap();
    store.commit(commit([put(Partition::Base, b"a", b"1")])).unwrap();
    let Err(Error::Locked(text)) = open(&path) else { panic!("two have it open") };
    assert!(text.contains(&std::process::id().to_string()), "{text}");
    let view = store.snapshot().unwrap();
    drop(store);
    assert!(matches!(open(&path), Err(Error::Locked(_))), "a snapshot is still held");
    assert_eq!(view.get(Partition::Base, b"a").unwrap().as_deref(), Some(b"1".as_slice()));
    drop(view);
    let store = open(&path).unwrap();
    assert_eq!(get(&store, Partition::Base, b"a").as_deref(), Some(b"1".as_slice()));
}

#[test]
fn a_directory_of_others_is_left_alone() {
    let directory = tempdir().unwrap();
    fs::write(directory.path().join("letter.txt"), "mine").unwrap();
    let Err(Error::Format(text)) = open(directory.path()) else { panic!("it was taken") };
    assert!(text.contains("letter.txt"), "{text}");
    let names: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing was put there");
}

#[test]
fn an_unknown_format_is_refused() {
    let directory = tempdir().unwrap();
    open(directory.path()).unwrap();
    let marker = directory.path().join("TIDINGS");
    let ours = fs::read(&marker).unwrap();
    for (text, said) in [
        ("format = 99\n", "format 99"),
        ("format = 6\n", "names no store"),
        ("format = 6\nstore = here\n", "names no store"),
        ("format = 4294967296\n", "names no format"),
        ("", "names no format"),
        ("form", "names no format"),
        ("\u{0}\u{0}", "names no format"),
    ] {
        fs::write(&marker, text).unwrap();
        let Err(Error::Format(fault)) = open(directory.path()) else { panic!("{text:?}") };
        assert!(fault.contains(said), "{fault}");
    }
    fs::remove_file(&marker).unwrap();
    assert!(matches!(open(directory.path()), Err(Error::Format(_))));
    fs::write(&marker, ours).unwrap();
    open(directory.path()).unwrap();
}

#[test]
fn a_place_that_can_not_be_used_is_named() {
    let directory = tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    for (path, said) in [
        (file.clone(), "is a file"),
        (file.join("below"), "file"),
        (directory.path().join("missing").join("data"), "parent"),
    ] {
        let Err(Error::Unusable(text)) = open(&path) else { panic!("{path:?} was taken") };
        assert!(text.contains(said) && text.contains(path.to_str().unwrap()), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_directory_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let directory = tempdir().unwrap();
    let allow = |mode| fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode));
    allow(0o555).unwrap();
    if fs::write(directory.path().join("probe"), "").is_err() {
        assert!(matches!(open(directory.path()), Err(Error::Unusable(_))));
    } else {
        without_privileges("directory::a_read_only_directory_is_refused");
    }
    allow(0o755).unwrap();
}

/// Set for a test that runs once more without what root may do.
const UNPRIVILEGED: &str = "TIDINGS_STORE_TEST_UNPRIVILEGED";

/// Runs a test in a process that permissions bind: those of root don't.
fn without_privileges(test: &str) {
    assert!(std::env::var_os(UNPRIVILEGED).is_none(), "still privileged");
    let ended = std::process::Command::new("setpriv")
        .args(["--bounding-set=-all", "--inh-caps=-all"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(UNPRIVILEGED, "1")
        .status();
    match ended {
        Ok(ended) => assert!(ended.success()),
        Err(_) => tidings_loopback::skip("`setpriv` is not installed"),
    }
}

#[test]
fn a_store_that_was_never_finished_is_begun_again() {
    let directory = tempdir().unwrap();
    fs::create_dir(directory.path().join("lost+found")).unwrap();
    fs::create_dir(directory.path().join("engine.new")).unwrap();
    fs::write(directory.path().join("TIDINGS.new"), "for").unwrap();
    open(directory.path()).unwrap();
    // With the marker, and the engine half made.
    fs::remove_dir_all(directory.path().join("engine")).unwrap();
    fs::create_dir(directory.path().join("engine.new")).unwrap();
    fs::write(directory.path().join("engine.new").join("0.jnl"), "half").unwrap();
    let store = open(directory.path()).unwrap();
    store.commit(commit([put(on(1), b"a", b"1")])).unwrap();
    assert_eq!(store.days().unwrap(), [Day(1)]);
}

#[test]
fn a_store_that_lost_its_data_is_damaged_not_new() {
    let directory = tempdir().unwrap();
    open(directory.path()).unwrap();
    fs::remove_dir_all(directory.path().join("engine")).unwrap();
    assert!(matches!(open(directory.path()), Err(Error::Corrupt(_))));
}

#[test]
fn below_the_floor_only_forgetting_is_allowed() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    store.commit(commit([put(on(1), b"a", b"1"), put(on(2), b"a", b"1")])).unwrap();
    drop(store);
    let options = Options { floor_bytes: u64::MAX, ..Options::default() };
    let store = FjallStore::open(directory.path(), crate::NEW_STORE, options).unwrap();
    for _ in 0..2 {
        let refused = store.commit(commit([put(on(2), b"a", b"2"), put(on(3), b"a", b"2")]));
        assert!(matches!(refused, Err(Error::Full(_))), "{refused:?}");
        assert_eq!(get(&store, on(2), b"a").as_deref(), Some(b"1".as_slice()));
    }
    store.forget(Day(1)).unwrap();
    assert_eq!(store.days().unwrap(), [Day(2)]);
    drop(store);
    let store = open(directory.path()).unwrap();
    store.commit(commit([put(on(2), b"a", b"2")])).unwrap();
    assert_eq!(store.days().unwrap(), [Day(2)]);
}

#[test]
fn after_a_failed_write_nothing_is_answered_until_it_is_opened_again() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    store.commit(commit([put(Partition::Base, b"a", b"1"), put(on(1), b"a", b"1")])).unwrap();
    // A new day needs a directory in `keyspaces`; there is a file in its place.
    let keyspaces = directory.path().join("engine").join("keyspaces");
    let away = directory.path().join("engine").join("away");
    fs::rename(&keyspaces, &away).unwrap();
    fs::write(&keyspaces, "").unwrap();
    let failed = store.commit(commit([put(Partition::Base, b"b", b"1"), put(on(2), b"a", b"1")]));
    assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}");
    fs::remove_file(&keyspaces).unwrap();
    fs::rename(&away, &keyspaces).unwrap();
    let failed = store.commit(commit([put(Partition::Base, b"c", b"1")]));
    assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}");
    assert!(matches!(store.forget(Day(1)), Err(Error::Unavailable(_))));
    assert!(matches!(store.days(), Err(Error::Unavailable(_))));
    assert!(matches!(store.snapshot().map(|_| ()), Err(Error::Unavailable(_))));
    drop(store);
    let store = open(directory.path()).unwrap();
    assert_eq!(get(&store, Partition::Base, b"a").as_deref(), Some(b"1".as_slice()));
    assert_eq!(get(&store, Partition::Base, b"b"), None);
    assert_eq!(get(&store, Partition::Base, b"c"), None);
    store.commit(commit([put(on(2), b"a", b"1")])).unwrap();
}

fn fill(store: &dyn Store) -> Result<(), Error> {
    store.commit(commit([put(Partition::Base, b"a", b"1"), put(on(3), b"b", b"2")]))
}

#[test]
fn what_is_restored_is_a_store() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    FjallStore::restore(&path, StoreId([9; 16]), Options::default(), fill).unwrap();
    let store = open(&path).unwrap();
    assert_eq!(get(&store, Partition::Base, b"a").as_deref(), Some(b"1".as_slice()));
    assert_eq!(store.days().unwrap(), [Day(3)]);
    assert_eq!(store.snapshot().unwrap().days().unwrap(), [Day(3)]);
    assert_eq!(get(&store, on(3), b"b").as_deref(), Some(b"2".as_slice()));
}

#[test]
fn while_it_is_restored_nobody_opens_it() {
    let directory = tempdir().unwrap();
    let path = directory.path();
    let restored = FjallStore::restore(path, StoreId([9; 16]), Options::default(), |store| {
        fill(store)?;
        assert!(matches!(open(path), Err(Error::Format(_))));
        let second = FjallStore::restore(path, StoreId([9; 16]), Options::default(), fill);
        assert!(matches!(second, Err(Error::Locked(_))));
        Ok(())
    });
    restored.unwrap_or_else(|fault: Error| panic!("{fault}"));
    assert!(open(path).is_ok());
}

#[test]
fn what_fails_to_be_restored_is_no_store_and_can_be_tried_again() {
    let directory = tempdir().unwrap();
    let path = directory.path();
    let failed = FjallStore::restore(path, StoreId([9; 16]), Options::default(), |store| {
        fill(store)?;
        Err(Error::Corrupt("the backup ends early".to_owned()))
    });
    assert!(matches!(failed, Err(Error::Corrupt(_))));
    // What a process leaves that dies in the middle.
    fs::create_dir_all(path.join("engine.new/half")).unwrap();
    assert!(matches!(open(path), Err(Error::Format(_))));
    FjallStore::restore(path, StoreId([9; 16]), Options::default(), fill).unwrap();
    assert!(open(path).is_ok());
}

#[test]
fn f17_a_restore_that_fails_leaves_what_was_there_before() {
    let directory = tempdir().unwrap();
    let fails = |path: &Path| {
        let failed = FjallStore::restore(path, StoreId([9; 16]), Options::default(), |store| {
            fill(store)?;
            Err(Error::Corrupt("the backup ends early".to_owned()))
        });
        assert!(matches!(failed, Err(Error::Corrupt(_))));
    };
    fails(directory.path());
    assert_eq!(entries(directory.path()), 0, "it was empty");
    let absent = directory.path().join("data");
    fails(&absent);
    assert!(!absent.exists());
}

#[test]
fn a_directory_that_holds_something_is_not_restored_into() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    open(&path).unwrap();
    let refused = FjallStore::restore(&path, StoreId([9; 16]), Options::default(), fill);
    let Err(Error::Unusable(text)) = refused else { panic!("it was overwritten") };
    assert!(text.contains("is not empty"), "{text}");
    fs::write(directory.path().join("letter.txt"), "mine").unwrap();
    let refused = FjallStore::restore(directory.path(), StoreId([9; 16]), Options::default(), fill);
    assert!(matches!(refused, Err(Error::Unusable(_))));
    assert!(!directory.path().join("LOCK").exists());
}

/// Opens a store as it is opened again after a failure.
fn again(path: &Path, id: StoreId) -> Result<FjallStore, Error> {
    FjallStore::open(path, Expected::Same(id), Options::default())
}

fn entries(path: &Path) -> usize {
    fs::read_dir(path).map_or(0, Iterator::count)
}

#[test]
fn a4_only_who_may_make_a_store_makes_one() {
    let directory = tempdir().unwrap();
    let (absent, empty) = (directory.path().join("absent"), directory.path().join("empty"));
    let begun = directory.path().join("begun");
    fs::create_dir(&empty).unwrap();
    fs::create_dir(&begun).unwrap();
    fs::create_dir(begun.join("engine.new")).unwrap();
    let id = StoreId([7; 16]);
    for (path, holds) in [(&absent, 0), (&empty, 0), (&begun, 1)] {
        for expected in [Expected::Existing, Expected::Same(id)] {
            let refused = FjallStore::open(path, expected, Options::default());
            assert!(matches!(refused.err(), Some(Error::Missing(_))), "{path:?} {expected:?}");
            assert_eq!(entries(path), holds, "{path:?}: nothing was put there");
        }
    }
    assert!(!absent.exists());
    for path in [absent, empty, begun] {
        let made = FjallStore::open(&path, Expected::OrNew(id), Options::default()).unwrap();
        assert_eq!((made.id(), made.is_new()), (id, true));
        drop(made);
        let found = FjallStore::open(&path, Expected::Existing, Options::default()).unwrap();
        assert_eq!((found.id(), found.is_new()), (id, false));
        drop(found);
        // It is not made a second time, nor does it change.
        let other = Expected::OrNew(StoreId([8; 16]));
        let found = FjallStore::open(&path, other, Options::default()).unwrap();
        assert_eq!((found.id(), found.is_new()), (id, false));
    }
}

#[test]
fn a4_a_store_whose_making_was_interrupted_is_not_made_by_opening_it_again() {
    let directory = tempdir().unwrap();
    let path = directory.path();
    let id = open(path).unwrap().id();
    fs::rename(path.join("engine"), path.join("engine.new")).unwrap();
    for expected in [Expected::Existing, Expected::Same(id)] {
        let refused = FjallStore::open(path, expected, Options::default());
        assert!(matches!(refused.err(), Some(Error::Missing(_))), "{expected:?}");
        assert!(path.join("engine.new").join("keyspaces").exists());
    }
}

#[test]
fn a4_another_store_is_refused_until_the_right_one_is_back() {
    let directory = tempdir().unwrap();
    let (path, away) = (directory.path().join("data"), directory.path().join("away"));
    let store = open(&path).unwrap();
    let id = store.id();
    store.commit(commit([put(Partition::Base, b"a", b"1")])).unwrap();
    drop(store);
    fs::rename(&path, &away).unwrap();
    let other = Expected::OrNew(StoreId([5; 16]));
    FjallStore::open(&path, other, Options::default()).unwrap();
    let Err(Error::Missing(text)) = again(&path, id) else {
        panic!("another store was taken for it")
    };
    assert!(text.contains("another store"), "{text}");
    fs::remove_dir_all(&path).unwrap();
    assert!(matches!(again(&path, id), Err(Error::Missing(_))));
    fs::rename(&away, &path).unwrap();
    let store = again(&path, id).unwrap();
    assert_eq!(get(&store, Partition::Base, b"a").as_deref(), Some(b"1".as_slice()));
}

/// The thing at the path of a store that went away.
#[derive(Clone, Copy, Debug)]
enum InPlace {
    Nothing,
    AnEmptyDirectory,
    AnotherStore,
}

#[cfg(unix)]
#[test]
fn a4_a_store_that_went_away_takes_nothing_and_touches_nothing_in_its_place() {
    for in_place in [InPlace::Nothing, InPlace::AnEmptyDirectory, InPlace::AnotherStore] {
        let directory = tempdir().unwrap();
        let (path, away) = (directory.path().join("data"), directory.path().join("away"));
        let store = open(&path).unwrap();
        let id = store.id();
        store.commit(commit([put(on(1), b"a", b"1")])).unwrap();
        fs::rename(&path, &away).unwrap();
        match in_place {
            InPlace::Nothing => {}
            InPlace::AnEmptyDirectory => fs::create_dir(&path).unwrap(),
            InPlace::AnotherStore => {
                let other = Expected::OrNew(StoreId([5; 16]));
                FjallStore::open(&path, other, Options::default()).unwrap();
            }
        }
        let before = entries(&path);
        assert!(matches!(store.ensure_room(), Err(Error::Unavailable(_))), "{in_place:?}");
        let failed = store.commit(commit([put(on(1), b"b", b"1")]));
        assert!(matches!(failed, Err(Error::Unavailable(_))), "{in_place:?}: {failed:?}");
        // Neither does its end note anything there.
        drop(store);
        assert_eq!(entries(&path), before, "{in_place:?}");
        assert!(matches!(again(&path, id), Err(Error::Missing(_))), "{in_place:?}");
        if path.exists() {
            fs::remove_dir_all(&path).unwrap();
        }
        fs::rename(&away, &path).unwrap();
        let store = again(&path, id).unwrap();
        assert_eq!(get(&store, on(1), b"a").as_deref(), Some(b"1".as_slice()));
        store.commit(commit([put(on(1), b"b", b"1")])).unwrap();
    }
}

#[test]
fn a4_a_restored_store_is_another_and_a_copy_is_the_same() {
    let directory = tempdir().unwrap();
    let (path, copy) = (directory.path().join("data"), directory.path().join("copy"));
    let id = open(&path).unwrap().id();
    FjallStore::restore(&copy, StoreId([9; 16]), Options::default(), fill).unwrap();
    assert!(matches!(again(&copy, id), Err(Error::Missing(_))));
    assert_eq!(again(&copy, StoreId([9; 16])).unwrap().id(), StoreId([9; 16]));
    fs::rename(&path, directory.path().join("moved")).unwrap();
    assert_eq!(again(&directory.path().join("moved"), id).unwrap().id(), id);
}

#[cfg(unix)]
#[test]
fn a11_a_store_is_for_its_user_alone_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }
    let directory = tempdir().unwrap();
    let made = directory.path().join("made");
    // As an operator makes it, open for all to look into.
    let given = directory.path().join("given");
    fs::create_dir(&given).unwrap();
    fs::set_permissions(&given, fs::Permissions::from_mode(0o755)).unwrap();
    let restored = directory.path().join("restored");
    FjallStore::restore(&restored, StoreId([9; 16]), Options::default(), fill).unwrap();
    for path in [&made, &given, &restored] {
        let store = open(path).unwrap();
        fill(&store).unwrap();
        drop(store);
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path) & 0o077, 0, "{path:?} {:o}", mode(&path));
        }
    }
    assert_eq!((mode(&made), mode(&restored)), (0o700, 0o700));
    assert_eq!(mode(&given), 0o755, "an operator's directory stays as it is");
}
