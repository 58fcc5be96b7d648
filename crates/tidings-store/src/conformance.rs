//! Conformance tests: the contract of [`Store`] in a form that every engine can run.
//!
//! An engine's crate hands in a [`Harness`] and runs every entry of [`TESTS`]; a test panics where
//! the engine is wrong. There are no flags that leave tests out.

mod commits;
mod days;
mod random;
mod scans;

use std::ops::ControlFlow;

use crate::{Commit, Error, Partition, Snapshot, Store, Write};
use tidings_core::Day;

/// A factory of stores of one engine, for the tests.
pub trait Harness: Send + Sync {
    /// Creates an empty store, which no other test sees.
    fn fresh(&self) -> Box<dyn Fixture>;
}

/// A store of a test, which can be closed and opened again.
pub trait Fixture {
    /// The open store.
    fn store(&self) -> &dyn Store;

    /// Closes the store and opens it again. Everything acknowledged must be there, so an engine that
    /// lasts only as long as its process hands back the same data.
    fn reopen(&mut self);
}

/// A test, to be called with the harness of an engine.
pub type StoreTest = fn(&dyn Harness);

/// Every test and its name.
pub const TESTS: &[(&str, StoreTest)] = &[
    ("a_commit_is_read", commits::a_commit_is_read),
    ("an_empty_commit_does_nothing", commits::an_empty_commit_does_nothing),
    ("the_last_write_of_a_key_holds", commits::the_last_write_of_a_key_holds),
    ("many_keys_are_read_as_each_is", commits::many_keys_are_read_as_each_is),
    ("a_value_may_be_empty", commits::a_value_may_be_empty),
    ("keys_are_bytes", commits::keys_are_bytes),
    ("a_key_has_bounds", commits::a_key_has_bounds),
    ("a_delete_takes_away", commits::a_delete_takes_away),
    ("partitions_are_apart", commits::partitions_are_apart),
    ("a_refused_commit_writes_nothing", commits::a_refused_commit_writes_nothing),
    ("commits_that_race_are_whole", commits::commits_that_race_are_whole),
    ("a_snapshot_sees_commits_whole", commits::a_snapshot_sees_commits_whole),
    ("a_new_day_is_seen_with_its_commit", commits::a_new_day_is_seen_with_its_commit),
    ("a_snapshot_stays_as_it_was", commits::a_snapshot_stays_as_it_was),
    ("reopening_keeps_everything", commits::reopening_keeps_everything),
    ("a_scan_keeps_to_its_bounds", scans::a_scan_keeps_to_its_bounds),
    ("a_scan_of_nothing_visits_nothing", scans::a_scan_of_nothing_visits_nothing),
    ("a_scan_ends_when_told", scans::a_scan_ends_early),
    ("a_scan_passes_over_deletes", scans::a_scan_passes_over_deletes),
    ("large_values_come_back_whole", scans::large_values_come_back_whole),
    ("many_keys_come_in_order", scans::many_keys_come_in_order),
    ("days_come_with_their_first_write", days::days_come_with_their_first_write),
    ("a_day_outlives_its_last_key", days::a_day_outlives_its_last_key),
    ("days_are_in_order", days::days_are_in_order),
    ("forgetting_drops_one_day", days::forgetting_drops_one_day),
    ("forgetting_what_is_absent_is_no_fault", days::forgetting_what_is_absent_is_no_fault),
    ("a_forgotten_day_begins_anew", days::a_forgotten_day_begins_anew),
    ("a_snapshot_outlives_forgetting", days::a_snapshot_outlives_forgetting),
    ("forgetting_is_durable", days::forgetting_is_durable),
    ("random_steps_agree_with_a_map", random::random_steps_agree_with_a_map),
];

/// A UTC day of the tests.
const DAY: Partition = Partition::Day(Day(19_700));

fn write(partition: Partition, key: &[u8], value: Option<&[u8]>) -> Write {
    Write { partition, key: key.to_vec(), value: value.map(<[u8]>::to_vec) }
}

fn put(partition: Partition, key: &[u8], value: &[u8]) -> Write {
    write(partition, key, Some(value))
}

fn delete(partition: Partition, key: &[u8]) -> Write {
    write(partition, key, None)
}

fn writes(writes: impl IntoIterator<Item = Write>) -> Commit {
    writes.into_iter().collect::<Vec<_>>().into()
}

/// Commits writes that must succeed.
#[track_caller]
fn commit(store: &dyn Store, list: impl IntoIterator<Item = Write>) {
    if let Err(fault) = store.commit(writes(list)) {
        panic!("the commit failed: {fault}");
    }
}

/// The answer of a call that must succeed.
#[track_caller]
fn answered<T>(answer: Result<T, Error>) -> T {
    match answer {
        Ok(value) => value,
        Err(fault) => panic!("the call failed: {fault}"),
    }
}

#[track_caller]
fn snapshot(store: &dyn Store) -> Box<dyn Snapshot> {
    answered(store.snapshot())
}

/// Reads a key from a new snapshot.
#[track_caller]
fn get(store: &dyn Store, partition: Partition, key: &[u8]) -> Option<Vec<u8>> {
    answered(snapshot(store).get(partition, key))
}

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// All rows of a range.
#[track_caller]
fn range(view: &dyn Snapshot, partition: Partition, from: &[u8], until: Option<&[u8]>) -> Rows {
    let mut rows = Rows::new();
    answered(view.scan(partition, from, until, &mut |key, value| {
        rows.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    }));
    rows
}

/// All rows of a partition.
#[track_caller]
fn all(view: &dyn Snapshot, partition: Partition) -> Rows {
    range(view, partition, &[], None)
}
