//! Conformance tests of leases, which every engine of several machines passes.

mod shares;

use std::sync::Arc;

use super::{Epoch, Lease, Leases, Member, Membership, NodeId, Role};
use crate::{Error, Partition, Write};

/// A factory of leases of one engine: each is new, and no other test sees it.
pub type LeasesFactory<'f> = dyn Fn() -> Arc<dyn Leases> + Send + Sync + 'f;

/// A test, to be called with a factory.
pub type LeaseTest = fn(&LeasesFactory<'_>);

/// Every test and its name.
pub const TESTS: &[(&str, LeaseTest)] = &[
    ("a_heartbeat_shows_who_lives", a_heartbeat_shows_live_members),
    ("a_late_heartbeat_changes_nothing", a_late_heartbeat_changes_nothing),
    ("a_look_is_no_heartbeat", a_look_is_no_heartbeat),
    ("members_are_in_order", members_are_in_order),
    ("who_leaves_is_gone", a_member_that_leaves_is_gone),
    ("a_change_of_role_has_its_instant", a_change_of_role_has_its_instant),
    ("a_free_lease_is_acquired", a_free_lease_is_acquired),
    ("a_lease_is_acquired_once", a_lease_is_acquired_once),
    ("a_race_for_a_lease_has_one_winner", a_race_for_a_lease_has_one_winner),
    ("a_holder_with_heartbeats_keeps_its_lease", a_holder_with_heartbeats_keeps_its_lease),
    ("a_silent_holder_loses_its_lease", a_silent_holder_loses_its_lease),
    ("a_holder_may_acquire_again", a_holder_may_acquire_again),
    ("a_released_lease_is_free", a_released_lease_is_free),
    ("a_release_of_an_old_epoch_does_nothing", a_release_of_an_old_epoch_does_nothing),
    ("a_release_is_not_undone_by_the_epoch", a_release_is_not_undone_by_the_epoch),
    ("the_holder_before_is_fenced", the_holder_before_is_fenced),
    ("an_old_epoch_opens_nothing", an_old_epoch_opens_nothing),
    ("what_one_holder_wrote_the_next_reads", what_one_holder_wrote_the_next_reads),
    ("a_holder_writes_after_a_release", a_holder_writes_after_a_release),
    ("names_and_addresses_are_any_text", names_and_addresses_are_any_text),
    ("a_share_is_seen_by_all", shares::a_share_is_seen_by_all),
    ("parts_are_granted_once", shares::shards_are_granted_once),
    ("an_old_epoch_changes_no_share", shares::an_old_epoch_changes_no_share),
    ("a_recall_is_seen", shares::a_recall_is_seen),
    ("a_share_that_was_given_back_is_over", shares::a_share_that_was_given_back_is_over),
    ("a_share_is_revoked_from_who_is_silent", shares::a_share_is_revoked_from_a_silent_node),
    ("the_node_of_a_revoked_share_is_fenced", shares::the_node_of_a_revoked_share_is_fenced),
    (
        "a_revocation_comes_before_or_after_a_commit",
        shares::a_revocation_comes_before_or_after_a_commit,
    ),
    ("a_share_outlives_a_change_of_the_holder", shares::a_share_outlives_a_change_of_the_holder),
    ("a_share_is_opened_by_one", shares::a_share_is_opened_by_one),
    ("writers_commit_beside_each_other", shares::writers_commit_at_the_same_time),
    ("two_begin_a_day_at_once", shares::two_begin_a_day_at_once),
    ("a_day_that_another_begins_is_read", shares::a_day_that_another_begins_is_read),
    (
        "a_deletion_finds_a_day_that_another_has_begun",
        shares::a_deletion_finds_a_day_that_another_has_begun,
    ),
    ("a_day_that_another_forgets_is_gone", shares::a_day_that_another_forgets_is_gone),
    ("a_share_keeps_its_own_snapshots", shares::a_share_keeps_its_own_snapshots),
];

#[track_caller]
fn answered<T>(answer: Result<T, Error>) -> T {
    match answer {
        Ok(value) => value,
        Err(fault) => panic!("the call failed: {fault}"),
    }
}

fn member(id: i64, heartbeat: i64) -> Member {
    Member { heartbeat, ..Member::new(NodeId(id), &format!("node-{id}")) }
}

fn ids(view: &Membership) -> Vec<i64> {
    view.members.iter().map(|seen| seen.member.id.0).collect()
}

/// Acquires the lease as it is.
#[track_caller]
fn acquire(leases: &dyn Leases, id: i64) -> Epoch {
    let view = answered(leases.membership());
    let heartbeat = view.lease.holder.and_then(|id| Some(view.member(id)?.heartbeat));
    let acquired = answered(leases.acquire(view.lease, heartbeat, NodeId(id)));
    match acquired {
        Some(epoch) => epoch,
        None => panic!("the lease was not acquired"),
    }
}

fn put(value: u8) -> crate::Commit {
    vec![Write { partition: Partition::Base, key: vec![1], value: Some(vec![value]) }].into()
}

fn a_heartbeat_shows_live_members(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let me = member(1, 1);
    let view = answered(leases.heartbeat(&me));
    assert_eq!((view.lease.epoch, view.lease.holder), (Epoch(0), None));
    assert_eq!(view.member(NodeId(1)), Some(&me));
    let other = Member { role: Role::Draining, unanswered: true, ..member(2, 7) };
    let view = answered(leases.heartbeat(&other));
    assert_eq!(view.members.len(), 2);
    assert_eq!(view.member(NodeId(1)), Some(&me));
    assert_eq!(view.member(NodeId(2)), Some(&other));
    assert_eq!(view.member(NodeId(3)), None);
    assert!(view.members.iter().all(|seen| seen.silent_ms >= 0));
}

fn a_late_heartbeat_changes_nothing(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let newest = Member { role: Role::Holding, ..member(1, 5) };
    answered(leases.heartbeat(&member(1, 3)));
    answered(leases.heartbeat(&newest));
    for late in [4, 5, 1] {
        let view = answered(leases.heartbeat(&member(1, late)));
        assert_eq!(view.member(NodeId(1)), Some(&newest), "heartbeat {late}");
    }
}

fn a_look_is_no_heartbeat(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    assert_eq!(ids(&answered(leases.membership())), [] as [i64; 0]);
    answered(leases.heartbeat(&member(1, 1)));
    assert_eq!(answered(leases.membership()).member(NodeId(1)), Some(&member(1, 1)));
}

fn members_are_in_order(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    for id in [3, 1, -9, 2] {
        let name = format!("node-{}", 10 - id);
        let member = Member::new(NodeId(id), &name);
        answered(leases.heartbeat(&Member { heartbeat: 1, ..member }));
    }
    assert_eq!(ids(&answered(leases.membership())), [-9, 3, 2, 1]);
}

fn a_member_that_leaves_is_gone(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    answered(leases.heartbeat(&member(1, 1)));
    answered(leases.heartbeat(&member(2, 1)));
    answered(leases.leave(NodeId(1)));
    answered(leases.leave(NodeId(1)));
    assert_eq!(ids(&answered(leases.membership())), [2]);
}

fn a_change_of_role_has_its_instant(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let since = |view: Membership| view.members.first().map(|seen| seen.since_ms);
    let first = since(answered(leases.heartbeat(&member(1, 1))));
    assert!(first.is_some());
    assert_eq!(since(answered(leases.heartbeat(&member(1, 2)))), first);
    let holding = Member { role: Role::Holding, ..member(1, 3) };
    assert!(since(answered(leases.heartbeat(&holding))) >= first);
}

fn a_free_lease_is_acquired(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    assert_eq!(acquire(&*leases, 1), Epoch(1));
    let lease = Lease { epoch: Epoch(1), holder: Some(NodeId(1)) };
    assert_eq!(answered(leases.membership()).lease, lease);
}

fn a_lease_is_acquired_once(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let seen = answered(leases.membership()).lease;
    assert_eq!(answered(leases.acquire(seen, None, NodeId(1))), Some(Epoch(1)));
    // Doubled on its way, or by somebody who saw the same.
    for id in [1, 2] {
        assert_eq!(answered(leases.acquire(seen, None, NodeId(id))), None);
    }
    assert_eq!(answered(leases.membership()).lease.holder, Some(NodeId(1)));
}

fn a_race_for_a_lease_has_one_winner(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    for round in 1..=5 {
        let view = answered(leases.membership());
        let takers = std::thread::scope(|scope| {
            let take = |id| {
                let leases = &leases;
                scope.spawn(move || answered(leases.acquire(view.lease, None, NodeId(id))))
            };
            let takers: Vec<_> = (1..=4).map(take).collect();
            takers
                .into_iter()
                .filter_map(|taker| taker.join().ok().flatten())
                .collect::<Vec<Epoch>>()
        });
        assert_eq!(takers, [Epoch(round)]);
    }
}

fn a_holder_with_heartbeats_keeps_its_lease(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    answered(leases.heartbeat(&member(1, 1)));
    acquire(&*leases, 1);
    let seen = answered(leases.membership()).lease;
    answered(leases.heartbeat(&member(1, 2)));
    assert_eq!(answered(leases.acquire(seen, Some(1), NodeId(2))), None);
    assert_eq!(answered(leases.membership()).lease, seen);
}

fn a_silent_holder_loses_its_lease(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    answered(leases.heartbeat(&member(1, 4)));
    acquire(&*leases, 1);
    let seen = answered(leases.membership()).lease;
    assert_eq!(answered(leases.acquire(seen, Some(4), NodeId(2))), Some(Epoch(2)));
    // One that is not listed has no heartbeat at all.
    answered(leases.leave(NodeId(2)));
    let seen = answered(leases.membership()).lease;
    assert_eq!(answered(leases.acquire(seen, None, NodeId(3))), Some(Epoch(3)));
}

fn a_holder_may_acquire_again(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    answered(leases.heartbeat(&member(1, 1)));
    assert_eq!(acquire(&*leases, 1), Epoch(1));
    assert_eq!(acquire(&*leases, 1), Epoch(2));
    assert!(matches!(leases.open(Epoch(1)).err(), Some(Error::Fenced)));
    assert!(leases.open(Epoch(2)).is_ok());
}

fn a_released_lease_is_free(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    answered(leases.heartbeat(&member(1, 1)));
    let epoch = acquire(&*leases, 1);
    answered(leases.release(epoch));
    let lease = answered(leases.membership()).lease;
    assert_eq!((lease.epoch, lease.holder), (epoch, None));
    // Its further heartbeats do not keep it.
    answered(leases.heartbeat(&member(1, 2)));
    assert_eq!(answered(leases.acquire(lease, None, NodeId(2))), Some(Epoch(2)));
}

fn a_release_of_an_old_epoch_does_nothing(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let old = acquire(&*leases, 1);
    acquire(&*leases, 2);
    answered(leases.release(old));
    assert_eq!(answered(leases.membership()).lease.holder, Some(NodeId(2)));
}

fn a_release_is_not_undone_by_the_epoch(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let epoch = acquire(&*leases, 1);
    let held = answered(leases.membership()).lease;
    answered(leases.release(epoch));
    // Who saw it held does not take it as free.
    assert_eq!(answered(leases.acquire(held, None, NodeId(2))), None);
    assert_eq!(answered(leases.membership()).lease.holder, None);
}

fn the_holder_before_is_fenced(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let one = acquire(&*leases, 1);
    let before = answered(leases.open(one));
    answered(before.commit(put(1)));
    let view = answered(before.snapshot());
    acquire(&*leases, 2);
    assert!(matches!(before.commit(put(2)), Err(Error::Fenced)));
    assert!(matches!(before.snapshot().err(), Some(Error::Fenced)));
    drop(view);
}

fn an_old_epoch_opens_nothing(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let one = acquire(&*leases, 1);
    let two = acquire(&*leases, 2);
    assert!(matches!(leases.open(one).err(), Some(Error::Fenced)));
    assert!(leases.open(two).is_ok());
    assert!(matches!(leases.open(Epoch(9)).err(), Some(Error::Fenced)));
}

fn what_one_holder_wrote_the_next_reads(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    for id in 1..=3_u8 {
        let epoch = acquire(&*leases, i64::from(id));
        let store = answered(leases.open(epoch));
        let read = answered(answered(store.snapshot()).get(Partition::Base, &[1]));
        assert_eq!(read, (id > 1).then(|| vec![id - 1]));
        answered(store.commit(put(id)));
    }
}

fn a_holder_writes_after_a_release(fresh: &LeasesFactory<'_>) {
    // A release only says that nobody has to wait: the next taking fences.
    let leases = fresh();
    let epoch = acquire(&*leases, 1);
    let store = answered(leases.open(epoch));
    answered(leases.release(epoch));
    answered(store.commit(put(1)));
    acquire(&*leases, 2);
    assert!(matches!(store.commit(put(2)), Err(Error::Fenced)));
}

fn names_and_addresses_are_any_text(fresh: &LeasesFactory<'_>) {
    let leases = fresh();
    let odd = Member {
        name: "a'b\"; é\u{1f600}".to_owned(),
        address: "http://[::1]:8990".to_owned(),
        config: "0f".repeat(8),
        id: NodeId(i64::MIN),
        ..member(1, i64::MAX)
    };
    let view = answered(leases.heartbeat(&odd));
    assert_eq!(view.member(NodeId(i64::MIN)), Some(&odd));
}
