//! Tests of commits: atomic, read back as written, refused as a whole.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    DAY, Harness, all, answered, commit, delete, get, put, range, snapshot, write, writes,
};
use crate::{Commit, Error, KEY_BYTES_MAX, Partition, Store};
use tidings_core::Day;

const BASE: Partition = Partition::Base;

pub(super) fn a_commit_is_read(harness: &dyn Harness) {
    let fixture = harness.fresh();
    let store = fixture.store();
    assert_eq!(get(store, BASE, b"a"), None);
    commit(store, [put(BASE, b"a", b"1"), put(DAY, b"b", b"2")]);
    assert_eq!(get(store, BASE, b"a").as_deref(), Some(b"1".as_slice()));
    assert_eq!(get(store, DAY, b"b").as_deref(), Some(b"2".as_slice()));
    assert_eq!(get(store, BASE, b"c"), None);
    commit(store, [put(BASE, b"a", b"3")]);
    assert_eq!(get(store, BASE, b"a").as_deref(), Some(b"3".as_slice()));
}

pub(super) fn an_empty_commit_does_nothing(harness: &dyn Harness) {
    let fixture = harness.fresh();
    answered(fixture.store().commit(Commit::default()));
    assert_eq!(all(&*snapshot(fixture.store()), BASE), []);
    assert_eq!(answered(fixture.store().days()), []);
}

pub(super) fn the_last_write_of_a_key_holds(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    let store = fixture.store();
    commit(store, [put(BASE, b"a", b"1"), put(BASE, b"a", b"3"), put(BASE, b"a", b"2")]);
    commit(store, [put(BASE, b"b", b"1"), delete(BASE, b"b")]);
    commit(store, [delete(DAY, b"c"), put(DAY, b"c", b"1")]);
    for _ in 0..2 {
        let store = fixture.store();
        assert_eq!(get(store, BASE, b"a").as_deref(), Some(b"2".as_slice()));
        assert_eq!(get(store, BASE, b"b"), None);
        assert_eq!(get(store, DAY, b"c").as_deref(), Some(b"1".as_slice()));
        fixture.reopen();
    }
}

pub(super) fn a_value_may_be_empty(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    commit(fixture.store(), [put(BASE, b"a", b"")]);
    fixture.reopen();
    assert_eq!(get(fixture.store(), BASE, b"a").as_deref(), Some(b"".as_slice()));
    assert_eq!(get(fixture.store(), BASE, b"b"), None);
}

pub(super) fn keys_are_bytes(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    let keys: Vec<Vec<u8>> = (0..=255).flat_map(|byte| [vec![byte], vec![byte, 0]]).collect();
    commit(fixture.store(), keys.iter().map(|key| put(DAY, key, key)));
    fixture.reopen();
    let rows = all(&*snapshot(fixture.store()), DAY);
    assert_eq!(rows, keys.into_iter().map(|key| (key.clone(), key)).collect::<Vec<_>>());
}

pub(super) fn a_key_has_bounds(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    let longest = vec![7; KEY_BYTES_MAX];
    commit(fixture.store(), [put(BASE, &longest, b"1"), put(BASE, b"a", b"2")]);
    let too_long = vec![7; KEY_BYTES_MAX + 1];
    for key in [b"".as_slice(), &too_long] {
        let refused = fixture.store().commit(writes([put(BASE, b"b", b"1"), put(BASE, key, b"1")]));
        assert!(matches!(refused, Err(Error::Invalid(_))), "{} bytes", key.len());
        assert_eq!(get(fixture.store(), BASE, key), None, "{} bytes", key.len());
    }
    let view = snapshot(fixture.store());
    for (from, until, found) in [
        (b"".as_slice(), Some(too_long.as_slice()), 1),
        (&longest, Some(&too_long), 1),
        (&longest, Some(&longest), 0),
        (&too_long, None, 1),
    ] {
        let rows = range(&*view, BASE, from, until);
        assert_eq!(rows.len(), found, "{} bytes to {:?}", from.len(), until.map(<[u8]>::len));
    }
    drop(view);
    fixture.reopen();
    assert_eq!(get(fixture.store(), BASE, &longest).as_deref(), Some(b"1".as_slice()));
    assert_eq!(get(fixture.store(), BASE, b"b"), None);
}

pub(super) fn a_delete_takes_away(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    commit(fixture.store(), [put(BASE, b"a", b"1"), put(DAY, b"a", b"2"), put(DAY, b"b", b"3")]);
    commit(fixture.store(), [delete(BASE, b"a"), delete(DAY, b"a"), delete(BASE, b"never")]);
    for _ in 0..2 {
        assert_eq!(get(fixture.store(), BASE, b"a"), None);
        assert_eq!(get(fixture.store(), DAY, b"a"), None);
        assert_eq!(get(fixture.store(), DAY, b"b").as_deref(), Some(b"3".as_slice()));
        fixture.reopen();
    }
}

pub(super) fn partitions_are_apart(harness: &dyn Harness) {
    let fixture = harness.fresh();
    let places = [BASE, Partition::Day(Day(-1)), Partition::Day(Day(0)), Partition::Day(Day(1))];
    for (number, place) in (0_u8..).zip(places) {
        commit(fixture.store(), [put(place, b"k", &[number])]);
    }
    commit(fixture.store(), [delete(Partition::Day(Day(0)), b"k")]);
    let found: Vec<_> = places.iter().map(|place| get(fixture.store(), *place, b"k")).collect();
    assert_eq!(found, [Some(vec![0]), Some(vec![1]), None, Some(vec![3])]);
    assert_eq!(get(fixture.store(), Partition::Day(Day(2)), b"k"), None);
}

pub(super) fn a_refused_commit_writes_nothing(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    commit(fixture.store(), [put(BASE, b"a", b"1"), put(DAY, b"a", b"1")]);
    let new_day = Partition::Day(Day(5));
    let refused = writes([
        put(BASE, b"a", b"2"),
        delete(DAY, b"a"),
        put(DAY, b"b", b"2"),
        put(new_day, b"a", b"2"),
        put(new_day, b"", b"2"),
    ]);
    assert!(matches!(fixture.store().commit(refused), Err(Error::Invalid(_))));
    for _ in 0..2 {
        let view = snapshot(fixture.store());
        assert_eq!(all(&*view, BASE), [(b"a".to_vec(), b"1".to_vec())]);
        assert_eq!(all(&*view, DAY), [(b"a".to_vec(), b"1".to_vec())]);
        assert_eq!(all(&*view, new_day), []);
        assert_eq!(answered(fixture.store().days()).len(), 1);
        drop(view);
        fixture.reopen();
    }
}

pub(super) fn commits_that_race_are_whole(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    let store = fixture.store();
    std::thread::scope(|scope| {
        for racer in 0..4_u8 {
            scope.spawn(move || {
                for round in 0..10 {
                    let own = [racer, round];
                    let shared = [BASE, DAY].map(|place| put(place, b"last", &own));
                    commit(store, shared.into_iter().chain([put(DAY, &own, b"")]));
                }
            });
        }
    });
    for _ in 0..2 {
        let view = snapshot(fixture.store());
        let last = answered(view.get(BASE, b"last"));
        assert_eq!(last, answered(view.get(DAY, b"last")));
        assert_eq!(last.map(|own| own[1]), Some(9));
        assert_eq!(all(&*view, DAY).len(), 41);
        drop(view);
        fixture.reopen();
    }
}

/// Reads while another thread commits, until that is done; each view must be consistent.
fn read_meanwhile(store: &dyn Store, commits: Vec<Commit>, look: &(dyn Fn() + Sync)) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                look();
            }
        });
        for commit in commits {
            answered(store.commit(commit));
        }
        done.store(true, Ordering::Relaxed);
        assert!(reader.join().is_ok(), "the reader saw half a commit");
    });
    look();
}

pub(super) fn a_snapshot_sees_commits_whole(harness: &dyn Harness) {
    let fixture = harness.fresh();
    let store = fixture.store();
    let places = [(BASE, b"x"), (BASE, b"y"), (DAY, b"x"), (DAY, b"z")];
    // Enough that an engine with background work has some to do meanwhile.
    let filler = vec![7; 300_000];
    let step = |number: u8| {
        let rows = places.map(|(place, key)| put(place, key, &[number]));
        let ballast = [BASE, DAY].map(|place| put(place, &[number], &filler));
        writes(rows.into_iter().chain(ballast))
    };
    read_meanwhile(store, (1..90).map(step).collect(), &|| {
        let view = snapshot(store);
        let found = places.map(|(place, key)| answered(view.get(place, key)));
        assert!(found.iter().all(|value| *value == found[0]), "{found:?}");
    });
}

pub(super) fn a_new_day_is_seen_with_its_commit(harness: &dyn Harness) {
    let fixture = harness.fresh();
    let store = fixture.store();
    let place = |number: u8| Partition::Day(Day(i32::from(number)));
    let step =
        |number: u8| writes([put(BASE, b"n", &[number]), put(place(number), b"n", &[number])]);
    read_meanwhile(store, (1..12).map(step).collect(), &|| {
        let view = snapshot(store);
        if let Some(number) = answered(view.get(BASE, b"n")) {
            let same = answered(view.get(place(number[0]), b"n"));
            assert_eq!(same.as_ref(), Some(&number));
            assert_eq!(answered(view.get(place(number[0] + 1), b"n")), None);
        }
    });
}

pub(super) fn a_snapshot_stays_as_it_was(harness: &dyn Harness) {
    let fixture = harness.fresh();
    let store = fixture.store();
    commit(store, [put(BASE, b"a", b"1"), put(BASE, b"b", b"1"), put(DAY, b"a", b"1")]);
    let earlier = snapshot(store);
    let new_day = Partition::Day(Day(9));
    commit(store, [put(BASE, b"a", b"2"), delete(BASE, b"b"), put(new_day, b"c", b"2")]);
    for number in 0..500_u16 {
        commit(store, [put(DAY, &number.to_be_bytes(), b"2"), put(DAY, b"a", b"2")]);
        if number % 100 == 0 {
            let mut seen = 0;
            answered(earlier.scan(DAY, &[], None, &mut |_, _| {
                seen += 1;
                ControlFlow::Continue(())
            }));
            assert_eq!(seen, 1);
        }
    }
    let one = |key: &[u8]| (key.to_vec(), b"1".to_vec());
    assert_eq!(all(&*earlier, BASE), [one(b"a"), one(b"b")]);
    assert_eq!(all(&*earlier, DAY), [one(b"a")]);
    assert_eq!(all(&*earlier, new_day), []);
    assert_eq!(answered(earlier.get(BASE, b"a")).as_deref(), Some(b"1".as_slice()));
    assert_eq!(answered(earlier.get(new_day, b"c")), None);
    assert_eq!(all(&*snapshot(store), DAY).len(), 501);
}

pub(super) fn reopening_keeps_everything(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    let mut rows = Vec::new();
    for round in 0..5_u8 {
        for number in 0..20_u8 {
            let key = [round, number];
            commit(fixture.store(), [put(BASE, &key, &key), write(DAY, &key, Some(&[number]))]);
            rows.push((key.to_vec(), key.to_vec()));
        }
        fixture.reopen();
        let view = snapshot(fixture.store());
        assert_eq!(all(&*view, BASE), rows);
        assert_eq!(all(&*view, DAY).len(), rows.len());
        assert_eq!(answered(fixture.store().days()), [Day(19_700)]);
    }
}

pub(super) fn many_keys_are_read_as_each_is(harness: &dyn Harness) {
    let fixture = harness.fresh();
    let store = fixture.store();
    let keys: Vec<Vec<u8>> = (0..100_u8).map(|number| vec![number, 0]).collect();
    let written = keys.iter().step_by(2);
    commit(store, written.map(|key| put(DAY, key, key)));
    let before = snapshot(store);
    // What is replaced, deleted and new later is none of an older view's concern.
    commit(store, [put(DAY, &keys[0], b"new"), delete(DAY, &keys[2]), put(DAY, &keys[1], b"new")]);
    let after = snapshot(store);
    let queried: Vec<&[u8]> = keys.iter().rev().map(Vec::as_slice).collect();
    for view in [&before, &after] {
        for partition in [DAY, Partition::Base, Partition::Day(Day(1))] {
            let many = answered(view.get_many(partition, &queried));
            let each: Vec<_> =
                queried.iter().map(|key| answered(view.get(partition, key))).collect();
            assert_eq!(many, each);
        }
        assert_eq!(answered(view.get_many(DAY, &[])), [] as [Option<Vec<u8>>; 0]);
    }
    assert_eq!(answered(before.get_many(DAY, &[&keys[0]])), [Some(keys[0].clone())]);
    assert_eq!(answered(after.get_many(DAY, &[&keys[0]])), [Some(b"new".to_vec())]);
}
