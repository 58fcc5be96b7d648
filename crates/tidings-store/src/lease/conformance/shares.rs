//! Tests of shares: granted, recalled, ended, and written beside the holder of the lease.

use std::sync::{Arc, Barrier};

use super::super::{Epoch, Leases, NodeId, Share, TermNo};
use super::{LeasesFactory, acquire, answered, member};
use crate::{Commit, Error, Partition, Store, Write};
use tidings_core::Day;

const BASE: Partition = Partition::Base;
const DAY: Partition = Partition::Day(Day(5));

/// The number of shards that the store has in these tests.
const OF: u16 = 8;

#[track_caller]
fn grant(leases: &dyn Leases, epoch: Epoch, node: i64, shards: &[u16]) -> TermNo {
    let granted = answered(leases.grant(epoch, NodeId(node), shards, OF));
    match granted {
        Some(term) => term,
        None => panic!("the parts were not granted"),
    }
}

fn refused(leases: &dyn Leases, epoch: Epoch, node: i64, shards: &[u16]) -> bool {
    answered(leases.grant(epoch, NodeId(node), shards, OF)).is_none()
}

fn shares(leases: &dyn Leases) -> Vec<Share> {
    answered(leases.membership()).shares
}

fn put(partition: Partition, key: u8, value: u8) -> Commit {
    vec![Write { partition, key: vec![key], value: Some(vec![value]) }].into()
}

/// A value as a new snapshot has it.
#[track_caller]
fn get(store: &dyn Store, partition: Partition, key: u8) -> Option<u8> {
    let view = answered(store.snapshot());
    let value = answered(view.get(partition, &[key]));
    value.and_then(|value| value.first().copied())
}

/// The keys of a partition as a new snapshot has them, by a scan.
#[track_caller]
fn keys(store: &dyn Store, partition: Partition) -> Vec<u8> {
    let view = answered(store.snapshot());
    let mut keys = Vec::new();
    answered(view.scan(partition, &[], None, &mut |key, _| {
        keys.extend(key);
        std::ops::ControlFlow::Continue(())
    }));
    keys
}

#[track_caller]
fn days(store: &dyn Store) -> Vec<Day> {
    let days = answered(store.days());
    assert_eq!(answered(answered(store.snapshot()).days()), days);
    days
}

fn is_fenced<T>(answer: &Result<T, Error>) -> bool {
    matches!(answer, Err(Error::Fenced))
}

/// The holder of the lease, and the nodes of two shares.
struct ShareWriters {
    leases: Arc<dyn Leases>,
    epoch: Epoch,
    terms: [TermNo; 2],
    holder: Arc<dyn Store>,
    nodes: [Arc<dyn Store>; 2],
}

fn writers(fresh: &LeasesFactory<'_>) -> ShareWriters {
    let leases = fresh();
    let epoch = acquire(&*leases, 1);
    let holder = answered(leases.open(epoch));
    let terms = [grant(&*leases, epoch, 2, &[0, 1]), grant(&*leases, epoch, 3, &[2, 3])];
    let nodes = terms.map(|term| answered(leases.open_share(term)));
    ShareWriters { leases, epoch, terms, holder, nodes }
}

impl ShareWriters {
    fn all(&self) -> [&dyn Store; 3] {
        let [one, two] = &self.nodes;
        [&*self.holder, &**one, &**two]
    }
}

pub(super) fn a_share_is_seen_by_all(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    assert_eq!(shares(&*leases), []);
    let epoch = acquire(&*leases, 1);
    let one = grant(&*leases, epoch, 2, &[7, 0, 3]);
    let other = grant(&*leases, epoch, i64::MIN, &[4]);
    assert!(one < other);
    let expected = [(one, 2, vec![7, 0, 3]), (other, i64::MIN, vec![4])];
    let expected = expected.map(|(term, node, shards)| Share {
        term,
        node: NodeId(node),
        shards,
        of: OF,
        ends: false,
    });
    assert_eq!(shares(&*leases), expected);
    let view = answered(leases.heartbeat(&member(2, 1)));
    assert_eq!(view.shares, expected);
    assert_eq!(view.members.len(), 1);
    assert_eq!(view.share_of(NodeId(2)), expected.first());
    assert_eq!(view.share_of(NodeId(1)), None);
}

pub(super) fn shards_are_granted_once(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let epoch = acquire(&*leases, 1);
    grant(&*leases, epoch, 2, &[1, 2]);
    for shards in [[2].as_slice(), &[1, 2], &[0, 1], &[5, 2, 6]] {
        assert!(refused(&*leases, epoch, 3, shards), "{shards:?}");
        assert!(refused(&*leases, epoch, 2, shards), "{shards:?}");
    }
    grant(&*leases, epoch, 3, &[0, 3, u16::MAX]);
    assert_eq!(shares(&*leases).len(), 2);
}

pub(super) fn an_old_epoch_changes_no_share(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let old = acquire(&*leases, 1);
    let term = grant(&*leases, old, 3, &[1]);
    acquire(&*leases, 2);
    let before = shares(&*leases);
    for epoch in [old, Epoch(99)] {
        assert!(refused(&*leases, epoch, 3, &[2]));
        answered(leases.recall(epoch, term));
        assert!(!answered(leases.revoke(epoch, term, Some(i64::MAX))));
    }
    assert_eq!(shares(&*leases), before);
}

pub(super) fn a_recall_is_seen(fresh: &LeasesFactory<'_>) {
    let ShareWriters { leases, epoch, terms: [one, _], nodes: [node, _], .. } = writers(fresh);
    answered(leases.recall(epoch, one));
    answered(leases.recall(epoch, one));
    let ends: Vec<bool> = shares(&*leases).iter().map(|share| share.ends).collect();
    assert_eq!(ends, [true, false]);
    // Its node writes until it gives the share back.
    answered(node.commit(put(BASE, 1, 1)));
    // One that is over is not there to be asked.
    answered(leases.give_back(one));
    answered(leases.recall(epoch, one));
    assert_eq!(shares(&*leases).len(), 1);
}

pub(super) fn a_share_that_was_given_back_is_over(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let epoch = acquire(&*leases, 1);
    let before = grant(&*leases, epoch, 2, &[1, 2]);
    let store = answered(leases.open_share(before));
    answered(store.commit(put(BASE, 1, 1)));
    answered(leases.give_back(before));
    answered(leases.give_back(before));
    assert_eq!(shares(&*leases), []);
    assert!(is_fenced(&leases.open_share(before)));
    let after = grant(&*leases, epoch, 3, &[2, 3]);
    assert!(after > before);
    // Late or doubled, it ends no other share.
    answered(leases.give_back(before));
    assert_eq!(shares(&*leases).len(), 1);
    assert!(is_fenced(&store.commit(put(BASE, 1, 2))));
    let store = answered(leases.open_share(after));
    assert_eq!(get(&*store, BASE, 1), Some(1));
}

pub(super) fn a_share_is_revoked_from_a_silent_node(fresh: &LeasesFactory<'_>) {
    let ShareWriters { leases, epoch, terms: [one, two], .. } = writers(fresh);
    answered(leases.heartbeat(&member(2, 4)));
    answered(leases.heartbeat(&member(2, 5)));
    for seen in [None, Some(4)] {
        assert!(!answered(leases.revoke(epoch, one, seen)));
    }
    assert_eq!(shares(&*leases).len(), 2);
    assert!(answered(leases.revoke(epoch, one, Some(5))));
    // It is over already, and one that is not listed has no heartbeat at all.
    assert!(answered(leases.revoke(epoch, one, None)));
    assert!(answered(leases.revoke(epoch, two, None)));
    assert_eq!(shares(&*leases), []);
}

pub(super) fn the_node_of_a_revoked_share_is_fenced(fresh: &LeasesFactory<'_>) {
    let writers = writers(fresh);
    let [term, _] = writers.terms;
    let [node, other] = &writers.nodes;
    answered(node.commit(put(BASE, 1, 1)));
    assert!(answered(writers.leases.revoke(writers.epoch, term, None)));
    assert!(is_fenced(&node.commit(put(BASE, 1, 2))));
    assert!(is_fenced(&node.snapshot()));
    assert!(is_fenced(&node.days()));
    assert!(is_fenced(&writers.leases.open_share(term)));
    for store in [&*writers.holder, &**other] {
        assert_eq!(get(store, BASE, 1), Some(1));
        answered(store.commit(put(BASE, 2, 2)));
    }
    // Also where a day is what it writes.
    let [_, term] = writers.terms;
    assert!(answered(writers.leases.revoke(writers.epoch, term, None)));
    assert!(is_fenced(&other.commit(put(DAY, 1, 2))));
    assert_eq!(days(&*writers.holder), []);
}

pub(super) fn a_revocation_comes_before_or_after_a_commit(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let epoch = acquire(&*leases, 1);
    let holder = answered(leases.open(epoch));
    for _ in 0..5 {
        let term = grant(&*leases, epoch, 2, &[1]);
        let store = answered(leases.open_share(term));
        let barrier = Barrier::new(2);
        let write = |value: u32| Write {
            partition: BASE,
            key: vec![1],
            value: Some(value.to_be_bytes().to_vec()),
        };
        let writing = || {
            // Whoever is never fenced does not write for ever.
            for value in 1..1_000_000 {
                match store.commit(vec![write(value)].into()) {
                    Ok(()) if value == 1 => {
                        barrier.wait();
                    }
                    Ok(()) => {}
                    Err(Error::Fenced) => return value - 1,
                    Err(fault) => panic!("the commit failed: {fault}"),
                }
            }
            panic!("the share is not over");
        };
        let (begun, last) = std::thread::scope(|scope| {
            let writer = scope.spawn(writing);
            barrier.wait();
            answered(leases.recall(epoch, term));
            assert!(answered(leases.revoke(epoch, term, None)));
            let read = answered(answered(holder.snapshot()).get(BASE, &[1]));
            let last = writer.join().ok();
            (read, last.map(|value| value.to_be_bytes().to_vec()))
        });
        assert_eq!(begun, last, "nothing was written after it");
    }
}

pub(super) fn a_share_outlives_a_change_of_the_holder(fresh: &LeasesFactory<'_>) {
    let ShareWriters { leases, holder: before, terms: [one, two], nodes: [node, _], .. } =
        writers(fresh);
    answered(node.commit(put(BASE, 1, 1)));
    let granted = shares(&*leases);
    let epoch = acquire(&*leases, 9);
    let holder = answered(leases.open(epoch));
    assert_eq!(shares(&*leases), granted);
    assert!(is_fenced(&before.commit(put(BASE, 3, 3))));
    answered(node.commit(put(DAY, 1, 2)));
    assert_eq!(get(&*holder, DAY, 1), Some(2));
    answered(holder.commit(put(DAY, 2, 3)));
    assert_eq!(get(&*node, DAY, 2), Some(3));
    // The shards are the new holder's to grant.
    assert!(refused(&*leases, epoch, 4, &[0]));
    assert!(answered(leases.revoke(epoch, one, None)));
    assert!(is_fenced(&node.commit(put(BASE, 1, 3))));
    grant(&*leases, epoch, 4, &[0]);
    assert!(answered(leases.open_share(two)).days().is_ok());
}

pub(super) fn a_share_is_opened_by_one(fresh: &LeasesFactory<'_>) {
    let ShareWriters { leases, terms: [term, _], nodes: [before, _], .. } = writers(fresh);
    answered(before.commit(put(BASE, 1, 1)));
    let after = answered(leases.open_share(term));
    answered(after.commit(put(BASE, 1, 2)));
    assert!(is_fenced(&before.commit(put(BASE, 1, 3))));
    assert!(is_fenced(&before.snapshot()));
    answered(after.commit(put(BASE, 2, 4)));
    assert_eq!(get(&*after, BASE, 1), Some(2));
}

pub(super) fn writers_commit_at_the_same_time(fresh: &LeasesFactory<'_>) {
    let writers = writers(fresh);
    for round in 0..3 {
        for (key, store) in (0..).zip(writers.all()) {
            answered(store.commit(put(BASE, key, round)));
            answered(store.commit(put(DAY, key, round)));
        }
        for store in writers.all() {
            for partition in [BASE, DAY] {
                let values = [0, 1, 2].map(|key| get(store, partition, key));
                assert_eq!(values, [Some(round); 3]);
                assert_eq!(keys(store, partition), [0, 1, 2]);
            }
        }
    }
    std::thread::scope(|scope| {
        for (key, store) in (0..).zip(writers.all()) {
            scope.spawn(move || {
                for value in 0..20 {
                    answered(store.commit(put(BASE, key, value)));
                    assert_eq!(get(store, BASE, key), Some(value));
                }
            });
        }
    });
    assert_eq!(keys(&*writers.holder, BASE), [0, 1, 2]);
}

pub(super) fn two_begin_a_day_at_once(fresh: &LeasesFactory<'_>) {
    let writers = writers(fresh);
    // None has seen what the others do.
    for (key, store) in (0..).zip(writers.all()) {
        answered(store.commit(put(DAY, key, key)));
    }
    for store in writers.all() {
        assert_eq!(keys(store, DAY), [0, 1, 2]);
        assert_eq!(days(store), [Day(5)]);
    }
    for day in 10..16 {
        let partition = Partition::Day(Day(day));
        let barrier = &Barrier::new(3);
        std::thread::scope(|scope| {
            for (key, store) in (0..).zip(writers.all()) {
                scope.spawn(move || {
                    barrier.wait();
                    answered(store.commit(put(partition, key, key)));
                });
            }
        });
        for store in writers.all() {
            assert_eq!(keys(store, partition), [0, 1, 2]);
        }
    }
}

pub(super) fn a_day_that_another_begins_is_read(fresh: &LeasesFactory<'_>) {
    let writers = writers(fresh);
    let [node, other] = &writers.nodes;
    for store in writers.all() {
        assert_eq!((get(store, DAY, 1), days(store)), (None, vec![]));
    }
    answered(node.commit(put(DAY, 1, 7)));
    for store in [&*writers.holder, &**other] {
        let view = answered(store.snapshot());
        assert_eq!(answered(view.days()), [Day(5)]);
        let read = answered(view.get_many(DAY, &[&[2], &[1]]));
        assert_eq!(read, [None, Some(vec![7])]);
        assert_eq!(keys(store, DAY), [1]);
        assert_eq!(days(store), [Day(5)]);
    }
    // One that begins later is found by the next snapshot, in whatever way it reads.
    answered(writers.holder.commit(put(Partition::Day(Day(6)), 1, 8)));
    assert_eq!(keys(&**node, Partition::Day(Day(6))), [1]);
    assert_eq!(get(&**other, Partition::Day(Day(6)), 1), Some(8));
    let later = answered(other.snapshot());
    let read = answered(later.get_many(Partition::Day(Day(6)), &[&[1]]));
    assert_eq!(read, [Some(vec![8])]);
    // A deletion makes no day, and finds one that another has begun.
    let delete = |day| Write { partition: Partition::Day(Day(day)), key: vec![1], value: None };
    answered(node.commit(vec![delete(4), delete(6)].into()));
    assert_eq!(days(&**other), [Day(5), Day(6)]);
}

pub(super) fn a_deletion_finds_a_day_that_another_has_begun(fresh: &LeasesFactory<'_>) {
    let writers = writers(fresh);
    let [node, other] = &writers.nodes;
    answered(node.commit(put(DAY, 1, 7)));
    // It has not read the day before.
    let delete = Write { partition: DAY, key: vec![1], value: None };
    answered(other.commit(vec![delete].into()));
    assert_eq!(get(&*writers.holder, DAY, 1), None);
    assert_eq!(days(&**node), [Day(5)]);
}

pub(super) fn a_day_that_another_forgets_is_gone(fresh: &LeasesFactory<'_>) {
    let writers = writers(fresh);
    let [node, other] = &writers.nodes;
    answered(node.commit(put(DAY, 1, 1)));
    assert_eq!(get(&**other, DAY, 1), Some(1));
    answered(writers.holder.forget(Day(5)));
    for store in writers.all() {
        let view = answered(store.snapshot());
        assert_eq!(answered(view.get(DAY, &[1])), None);
        assert_eq!(answered(view.get_many(DAY, &[&[1]])), [None]);
        assert_eq!(keys(store, DAY), [0_u8; 0]);
        assert_eq!(days(store), []);
    }
    // It begins anew for whoever writes into it.
    answered(other.commit(put(DAY, 2, 2)));
    answered(node.commit(put(DAY, 3, 3)));
    for store in writers.all() {
        assert_eq!(keys(store, DAY), [2, 3]);
        assert_eq!(days(store), [Day(5)]);
    }
    // Who does not know yet that it is gone writes it, too, and forgets one of which it never heard.
    answered(writers.holder.forget(Day(5)));
    answered(node.commit(put(DAY, 4, 4)));
    assert_eq!(keys(&**other, DAY), [4]);
    answered(node.commit(put(Partition::Day(Day(6)), 1, 1)));
    answered(other.forget(Day(6)));
    assert_eq!(days(&**node), [Day(5)]);
}

pub(super) fn a_share_keeps_its_own_snapshots(fresh: &LeasesFactory<'_>) {
    let writers = writers(fresh);
    let [node, other] = &writers.nodes;
    answered(other.commit(put(DAY, 9, 9)));
    answered(node.commit(put(BASE, 1, 1)));
    answered(node.commit(put(DAY, 1, 1)));
    let view = answered(node.snapshot());
    answered(node.commit(put(BASE, 1, 2)));
    answered(node.commit(put(DAY, 1, 2)));
    answered(node.commit(put(DAY, 2, 2)));
    answered(node.commit(put(Partition::Day(Day(6)), 1, 2)));
    for store in [&*writers.holder, &**other] {
        answered(store.commit(put(BASE, 7, 7)));
    }
    assert_eq!(answered(view.get(BASE, &[1])), Some(vec![1]));
    let read = answered(view.get_many(DAY, &[&[1], &[2]]));
    assert_eq!(read, [Some(vec![1]), None]);
    assert_eq!(answered(view.get(Partition::Day(Day(6)), &[1])), None);
    assert_eq!(answered(view.days()), [Day(5)]);
    // A day that it forgets itself stays for its own snapshots.
    answered(node.forget(Day(5)));
    assert_eq!(answered(view.days()), [Day(5)]);
    assert_eq!(answered(view.get(DAY, &[1])), Some(vec![1]));
    assert_eq!(days(&**node), [Day(6)]);
    drop(view);
    assert_eq!(get(&**node, BASE, 1), Some(2));
}
