//! Tests of days: created by their first write, deleted as a whole.

use super::{Harness, all, answered, commit, delete, get, put, snapshot};
use crate::Partition;
use tidings_core::Day;

const BASE: Partition = Partition::Base;

fn on(day: i32) -> Partition {
    Partition::Day(Day(day))
}

pub(super) fn days_come_with_their_first_write(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    commit(fixture.store(), [put(BASE, b"a", b"1"), delete(on(1), b"a")]);
    assert_eq!(answered(fixture.store().days()), [], "neither the base nor a delete makes a day");
    commit(fixture.store(), [put(on(1), b"a", b"1")]);
    assert_eq!(answered(fixture.store().days()), [Day(1)]);
    commit(fixture.store(), [put(on(1), b"b", b"1"), put(on(2), b"b", b"1")]);
    fixture.reopen();
    assert_eq!(answered(fixture.store().days()), [Day(1), Day(2)]);
}

pub(super) fn a_day_outlives_its_last_key(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    commit(fixture.store(), [put(on(1), b"a", b"1")]);
    commit(fixture.store(), [delete(on(1), b"a")]);
    commit(fixture.store(), [put(on(2), b"a", b"1"), delete(on(2), b"a"), put(on(3), b"a", b"1")]);
    fixture.reopen();
    let days = answered(fixture.store().days());
    assert!(days.contains(&Day(1)) && days.contains(&Day(3)), "{days:?}");
    assert_eq!(all(&*snapshot(fixture.store()), on(1)), []);
}

pub(super) fn days_are_in_order(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    let mut numbers = [20_000, -5, 7, 0, i32::MAX, 19_999, -1, i32::MIN];
    for number in numbers {
        commit(fixture.store(), [put(on(number), b"a", b"1")]);
    }
    numbers.sort_unstable();
    for _ in 0..2 {
        assert_eq!(answered(fixture.store().days()), numbers.map(Day));
        fixture.reopen();
    }
}

pub(super) fn forgetting_drops_one_day(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    commit(fixture.store(), [BASE, on(1), on(2), on(3)].map(|place| put(place, b"a", b"1")));
    answered(fixture.store().forget(Day(2)));
    for _ in 0..2 {
        let store = fixture.store();
        assert_eq!(answered(store.days()), [Day(1), Day(3)]);
        assert_eq!(get(store, on(2), b"a"), None);
        assert_eq!(all(&*snapshot(store), on(2)), []);
        for place in [BASE, on(1), on(3)] {
            assert!(get(store, place, b"a").is_some(), "{place:?}");
        }
        fixture.reopen();
    }
}

pub(super) fn forgetting_what_is_absent_is_no_fault(harness: &dyn Harness) {
    let fixture = harness.fresh();
    answered(fixture.store().forget(Day(1)));
    commit(fixture.store(), [put(on(1), b"a", b"1")]);
    answered(fixture.store().forget(Day(2)));
    answered(fixture.store().forget(Day(1)));
    answered(fixture.store().forget(Day(1)));
    assert_eq!(answered(fixture.store().days()), []);
}

pub(super) fn a_forgotten_day_begins_anew(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    for round in 0..4_u8 {
        let store = fixture.store();
        commit(store, [put(on(1), &[round], &[round]), put(on(1), b"same", &[round])]);
        let rows = all(&*snapshot(store), on(1));
        assert_eq!(rows, [(vec![round], vec![round]), (b"same".to_vec(), vec![round])]);
        if round % 2 == 0 {
            fixture.reopen();
        }
        answered(fixture.store().forget(Day(1)));
        assert_eq!(get(fixture.store(), on(1), b"same"), None);
        commit(fixture.store(), [delete(on(1), b"same")]);
        assert_eq!(answered(fixture.store().days()), []);
    }
}

pub(super) fn a_snapshot_outlives_forgetting(harness: &dyn Harness) {
    let fixture = harness.fresh();
    let store = fixture.store();
    commit(store, (0..100_u8).map(|number| put(on(1), &[number], b"old")));
    let earlier = snapshot(store);
    answered(store.forget(Day(1)));
    let between = snapshot(store);
    commit(store, [put(on(1), &[3], b"new")]);
    assert_eq!(all(&*earlier, on(1)).len(), 100);
    assert_eq!(answered(earlier.get(on(1), &[3])).as_deref(), Some(b"old".as_slice()));
    assert_eq!(answered(earlier.days()), [Day(1)]);
    assert_eq!(answered(between.days()), []);
    assert_eq!(all(&*between, on(1)), []);
    assert_eq!(all(&*snapshot(store), on(1)), [(vec![3], b"new".to_vec())]);
}

pub(super) fn forgetting_is_durable(harness: &dyn Harness) {
    let mut fixture = harness.fresh();
    for day in 0..6 {
        commit(fixture.store(), [put(on(day), b"a", b"1"), put(BASE, &[1], b"1")]);
        if day >= 2 {
            answered(fixture.store().forget(Day(day - 2)));
        }
        fixture.reopen();
        let days: Vec<Day> = (0.max(day - 1)..=day).map(Day).collect();
        assert_eq!(answered(fixture.store().days()), days);
    }
}
