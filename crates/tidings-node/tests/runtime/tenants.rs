//! Tenants on two nodes that share the shards of a store, of which the second hears nothing from the first.

use std::collections::BTreeMap;

use tidings_core::engine::{HeldShards, Refused, Reply, TenantDirectory};
use tidings_core::model::{RecipientChange, TenantChange};
use tidings_core::rules::{TenantRules, UnknownTenant};
use tidings_core::{Id, Rules};
use tidings_node::{Delivery, Retries, Runtime, VirtualClock};

use super::*;

const SHARDS: u16 = 4;

/// A node with these shards, the first of them with the intake; none = all.
fn some(store: &Arc<dyn Store>, clock: &Arc<VirtualClock>, shards: &[u16]) -> Runtime {
    let held = HeldShards { intake: shards.contains(&0), shards: shards.iter().copied().collect() };
    let held = Some(held).filter(|_| !shards.is_empty());
    let tenants = Some(TenantRules { unknown: UnknownTenant::Refuse });
    let settings = Settings {
        options: Options { shards: SHARDS, ..Options::default() },
        ..Settings::default()
    };
    let delivery = Delivery::new(BTreeMap::new(), Retries::default());
    let (rules, clock) = (Rules { tenants, ..rules() }, Arc::clone(clock));
    Runtime::start_held(over(store), held, rules, delivery, clock, settings).unwrap()
}

/// A store of four shards, and a clock.
fn made() -> (Arc<dyn Store>, Arc<VirtualClock>) {
    let (store, clock) = (in_memory(), clock(MONDAY));
    some(&store, &clock, &[]).stop().unwrap();
    (store, clock)
}

/// The first recipients of a node, of so many names.
fn homes(node: &Runtime, names: usize) -> Vec<Id> {
    let all = (0..names).map(|number| id(&format!("person-{number}")));
    let find = |node: &tidings_node::DurableSnapshot| -> Vec<Id> {
        all.filter(|id| node.engine().replica().has_home_of(id)).collect()
    };
    node.handle().look(find).unwrap()
}

fn make(node: &Runtime, tenant: &str) {
    let change = Box::new(TenantChange::default());
    let made = node.handle().submit(vec![Command::Tenant { tenant: id(tenant), change }]);
    assert_eq!(made.unwrap(), [Ok(Reply::Done)]);
}

fn member(recipient: &Id, tenant: &str) -> Command {
    let tenants = Some(vec![id(tenant)]);
    let change = RecipientChange { tenants, ..RecipientChange::nothing(recipient.clone()) };
    Command::Recipient(Box::new(change))
}

fn memberships(node: &Runtime) -> u64 {
    node.handle().look(|node| TenantDirectory::of(node.engine()).memberships().0).unwrap()
}

#[test]
fn a_node_reads_the_log_to_its_end_before_it_refuses_a_tenant() {
    let (store, clock) = made();
    let (first, second) = (some(&store, &clock, &[0, 3]), some(&store, &clock, &[1, 2]));
    let who = homes(&second, 40).swap_remove(0);
    make(&first, "acme");
    let joined = second.handle().submit(vec![member(&who, "acme")]).unwrap();
    assert_eq!(joined, [Ok(Reply::Done)]);
    assert_eq!(memberships(&second), 1);
    let refused = second.handle().submit(vec![member(&who, "acne")]).unwrap();
    assert!(matches!(refused[..], [Err(Refused::UnknownTenant { .. })]), "{refused:?}");
    // Readers get there, too.
    make(&first, "bolt");
    let knows = |tenant: &str| {
        let of = id(tenant);
        let known = second.handle().look(|node| TenantDirectory::of(node.engine()).number(&of));
        known.unwrap().is_some()
    };
    assert!(!knows("bolt"));
    let (tell, told) = channel();
    second.handle().catch_up_then(move |done| tell.send(done.is_ok()).unwrap()).unwrap();
    assert!(told.recv().unwrap());
    assert!(knows("bolt"));
    // What came of the acts is reported with the next ones.
    let report = second.handle().apply_log(false).unwrap();
    let newest = first.handle().look(|node| node.engine().replica().newest()).unwrap();
    assert_eq!(report.progress.applied, newest);
    assert_eq!(report.answers.last().unwrap().0, newest);
}

#[test]
fn a_node_that_is_far_behind_turns_away_what_names_a_tenant_and_catches_up() {
    let (store, clock) = made();
    let (first, second) = (some(&store, &clock, &[0, 3]), some(&store, &clock, &[1, 2]));
    let who = homes(&second, 40).swap_remove(0);
    let hurried = first.handle().without_waiting();
    for number in 0..1_100 {
        let change = Box::new(TenantChange::default());
        let tenant = id(&format!("t{number}"));
        hurried.submit(vec![Command::Tenant { tenant, change }]).unwrap();
    }
    let busy = second.handle().submit(vec![member(&who, "t1099")]);
    assert!(matches!(busy, Err(RuntimeError::Busy)), "{busy:?}");
    let joined = second.handle().submit(vec![member(&who, "t1099")]).unwrap();
    assert_eq!(joined, [Ok(Reply::Done)]);
}

#[test]
fn what_is_left_of_a_deleted_tenant_leaves_at_the_node_that_takes_its_shards_over() {
    let (store, clock) = made();
    let (first, second) = (some(&store, &clock, &[0, 3]), some(&store, &clock, &[1, 2]));
    make(&first, "acme");
    let theirs = homes(&second, 6_000);
    let members = theirs.iter().map(|who| member(who, "acme")).collect();
    second.handle().submit(members).unwrap();
    assert_eq!(memberships(&second), theirs.len() as u64);
    let deleted = first.handle().submit(vec![Command::DeleteTenant { tenant: id("acme") }]);
    assert_eq!(deleted.unwrap(), [Ok(Reply::Done)]);
    // It hears of it, and stops in the midst: its loop does no more than a slice of each shard a turn.
    second.handle().apply_log(false).unwrap();
    second.stop().unwrap();
    let third = some(&store, &clock, &[1, 2]);
    // Nobody asks it for anything.
    while memberships(&third) > 0 {
        std::thread::yield_now();
    }
    third.stop().unwrap();
    let again = some(&store, &clock, &[1, 2]);
    assert_eq!(memberships(&again), 0);
}
