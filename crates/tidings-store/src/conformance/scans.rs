//! Tests of scans: every key of a range, in order, once.

use std::ops::ControlFlow;

use super::{DAY, Harness, Rows, all, answered, commit, delete, get, put, range, snapshot};
use crate::Partition;
use tidings_core::Day;

const BASE: Partition = Partition::Base;

fn names(rows: &Rows) -> Vec<&str> {
    rows.iter().map(|(key, _)| std::str::from_utf8(key).unwrap_or("?")).collect()
}

pub(super) fn a_scan_keeps_to_its_bounds(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    let keys = ["b", "a", "c", "bb", "ba", "b\u{0}"];
    commit(fixture.store(), keys.iter().map(|key| put(DAY, key.as_bytes(), key.as_bytes())));
    for _ in 0..2 {
        let view = snapshot(fixture.store());
        for (from, until, expected) in [
            ("", None, vec!["a", "b", "b\u{0}", "ba", "bb", "c"]),
            ("a", None, vec!["a", "b", "b\u{0}", "ba", "bb", "c"]),
            ("b", None, vec!["b", "b\u{0}", "ba", "bb", "c"]),
            ("b", Some("c"), vec!["b", "b\u{0}", "ba", "bb"]),
            ("b", Some("bb"), vec!["b", "b\u{0}", "ba"]),
            ("b\u{1}", Some("ba"), vec![]),
            ("b\u{1}", Some("ba\u{0}"), vec!["ba"]),
            ("", Some("b"), vec!["a"]),
            ("c\u{0}", None, vec![]),
            ("", Some("z"), vec!["a", "b", "b\u{0}", "ba", "bb", "c"]),
        ] {
            let rows = range(&*view, DAY, from.as_bytes(), until.map(str::as_bytes));
            assert_eq!(names(&rows), expected, "{from:?} {until:?}");
            assert!(rows.iter().all(|(key, value)| key == value));
        }
        drop(view);
        fixture.reopen();
    }
}

pub(super) fn a_scan_of_nothing_visits_nothing(harness: &dyn Harness) {
    let fixture = harness.fresh();
    let view = snapshot(fixture.store());
    assert_eq!(all(&*view, BASE), []);
    assert_eq!(all(&*view, DAY), []);
    commit(fixture.store(), [put(BASE, b"a", b"1"), put(BASE, b"b", b"1")]);
    let view = snapshot(fixture.store());
    assert_eq!(all(&*view, DAY), []);
    assert_eq!(range(&*view, BASE, b"a", Some(b"a")), []);
    assert_eq!(range(&*view, BASE, b"b", Some(b"a")), []);
    assert_eq!(range(&*view, BASE, b"", Some(b"")), []);
}

pub(super) fn a_scan_ends_early(harness: &dyn Harness) {
    let fixture = harness.fresh();
    commit(fixture.store(), (0..50_u8).map(|number| put(DAY, &[number], b"1")));
    let view = snapshot(fixture.store());
    for wanted in 1..=3 {
        let mut seen = Vec::new();
        answered(view.scan(DAY, &[10], None, &mut |key, _| {
            seen.push(key[0]);
            if seen.len() == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }));
        assert_eq!(seen, (10..).take(wanted).collect::<Vec<u8>>());
    }
}

pub(super) fn a_scan_passes_over_deletes(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    commit(fixture.store(), (0..200_u8).map(|number| put(DAY, &[number], b"1")));
    commit(fixture.store(), (0..200_u8).filter(|n| n % 3 != 0).map(|n| delete(DAY, &[n])));
    commit(fixture.store(), [put(DAY, &[1], b"2"), delete(DAY, &[0])]);
    for _ in 0..2 {
        let rows = all(&*snapshot(fixture.store()), DAY);
        let keys: Vec<u8> = rows.iter().map(|(key, _)| key[0]).collect();
        let expected: Vec<u8> = (1..200).filter(|n| *n == 1 || n % 3 == 0).collect();
        assert_eq!(keys, expected);
        assert_eq!(rows[0].1, b"2");
        fixture.reopen();
    }
}

pub(super) fn large_values_come_back_whole(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    let value = |seed: u32| -> Vec<u8> {
        // An xorshift: bytes that do not compress.
        let mut state = seed;
        (0..1 << 18)
            .flat_map(|_| {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                state.to_le_bytes()
            })
            .collect()
    };
    for seed in 1..=12_u32 {
        commit(fixture.store(), [put(DAY, &seed.to_be_bytes(), &value(seed))]);
    }
    commit(fixture.store(), [put(BASE, b"same", &vec![42; 1 << 20])]);
    for _ in 0..2 {
        let rows = all(&*snapshot(fixture.store()), DAY);
        assert_eq!(rows.len(), 12);
        for (seed, (key, found)) in (1_u32..).zip(&rows) {
            assert!(key == &seed.to_be_bytes() && found == &value(seed), "value {seed}");
        }
        assert_eq!(get(fixture.store(), BASE, b"same"), Some(vec![42; 1 << 20]));
        fixture.reopen();
    }
}

pub(super) fn many_keys_come_in_order(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    // 7919 is prime to 10,000, so every key comes once, in no order.
    let keys: Vec<u32> = (0..10_000).map(|number| number * 7_919 % 10_000).collect();
    for chunk in keys.chunks(1_000) {
        let list = chunk.iter().map(|key| put(DAY, &key.to_be_bytes(), &key.to_le_bytes()));
        commit(fixture.store(), list);
    }
    let other = Partition::Day(Day(19_701));
    commit(fixture.store(), [put(other, b"x", b"1")]);
    for _ in 0..2 {
        let rows = all(&*snapshot(fixture.store()), DAY);
        assert_eq!(rows.len(), 10_000);
        for (number, (key, value)) in (0_u32..).zip(&rows) {
            assert_eq!(key, &number.to_be_bytes());
            assert_eq!(value, &number.to_le_bytes());
        }
        fixture.reopen();
    }
}
