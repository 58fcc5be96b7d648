//! The end of a large tenant where nodes share the shards of a store.

use super::replica::{Nodes, options};
use crate::engine::tests::*;
use crate::model::tenant::TenantChange;
use crate::rules::{TenantRules, UnknownTenant};

const SHARDS: u16 = 6;

/// Nodes with the tenant `acme`.
fn nodes(count: u16) -> Nodes {
    let mut stored = Stored::default();
    let mut engine = Engine::open(&stored, &[], options(SHARDS)).unwrap();
    let tenants = Some(TenantRules { unknown: UnknownTenant::Refuse });
    let step = engine.set_rules(&stored, &Reach::new(), Instant(0), Rules { tenants, ..rules() });
    stored.commit(step.unwrap().writes);
    let mut nodes = Nodes::open(stored, count, SHARDS);
    let make = Command::Tenant { tenant: id("acme"), change: Box::default() };
    assert_eq!(nodes.take_in(Instant(1), &make), [Ok(Reply::Done)]);
    nodes
}

#[test]
fn the_end_of_a_large_tenant_goes_on_where_its_shards_have_moved() {
    let mut nodes = nodes(2);
    let mut changes: Vec<Vec<Command>> = vec![Vec::new(), Vec::new()];
    for name in 0..9_000 {
        let change = RecipientChange {
            tenants: Some(vec![id("acme")]),
            ..RecipientChange::nothing(id(&format!("p{name}")))
        };
        let has = |engine: &Engine| engine.replica().has_home_of(&change.id);
        let home = nodes.engines.iter().position(has).unwrap();
        changes[home].push(Command::Recipient(Box::new(change)));
    }
    for (engine, changes) in nodes.engines.iter_mut().zip(changes) {
        let step = engine.take_in(&nodes.stored, &Reach::new(), Instant(1), &changes).unwrap();
        nodes.stored.commit(step.writes);
    }
    let members = |engine: &Engine| TenantDirectory::of(engine).memberships().0;
    let there = members(&nodes.engines[1]);
    assert!(there > 4_000, "{there}");
    nodes.take_in(Instant(2), &Command::DeleteTenant { tenant: id("acme") });
    let follower = &mut nodes.engines[1];
    let step = follower.step(&nodes.stored, &Reach::new(), Instant(2), &[]).unwrap();
    nodes.stored.commit(step.writes);
    let left = members(&nodes.engines[1]);
    assert!(0 < left && left < there, "{left} of {there}");
    // Another node takes its shards over, and makes a tenant of the same id meanwhile.
    let again = TenantChange::default();
    nodes.take_in(Instant(3), &Command::Tenant { tenant: id("acme"), change: Box::new(again) });
    let held = HeldShards { intake: false, shards: [1, 3, 5].into() };
    let days: Vec<Day> = nodes.stored.days().into_iter().collect();
    let mut next = Engine::open_held(&nodes.stored, &days, options(SHARDS), Some(&held)).unwrap();
    assert_eq!(members(&next), left);
    while TenantDirectory::of(&next).are_ending() {
        let step = next.step(&nodes.stored, &Reach::new(), Instant(3), &[]).unwrap();
        nodes.stored.commit(step.writes);
    }
    assert_eq!(members(&next), 0);
    // What is stored says the same.
    let next = Engine::open_held(&nodes.stored, &days, options(SHARDS), Some(&held)).unwrap();
    assert_eq!(members(&next), 0);
}
