//! Tenants where nodes share the shards of a store: the limit of a day, and the end of a large one.

use super::replica::{Nodes, options};
use crate::engine::tests::*;
use crate::model::tenant::TenantChange;
use crate::model::time::DAY_MS;
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
    limit(&mut nodes, None);
    nodes
}

fn limit(nodes: &mut Nodes, notifications_per_day: Option<u64>) {
    let change = TenantChange {
        notifications_per_day: Some(notifications_per_day),
        ..TenantChange::default()
    };
    let change = Command::Tenant { tenant: id("acme"), change: Box::new(change) };
    assert_eq!(nodes.take_in(Instant(1), &change), [Ok(Reply::Done)]);
}

fn people(nodes: &mut Nodes, count: usize) {
    for name in 0..count {
        let change = RecipientChange {
            tenants: Some(vec![id("acme")]),
            ..RecipientChange::nothing(id(&format!("p{name}")))
        };
        let made = nodes.take_in(Instant(1), &Command::Recipient(Box::new(change)));
        assert_eq!(made, [Ok(Reply::Done)]);
    }
}

/// An event to all members.
fn to_members(name: usize) -> Command {
    let to = Audience { everyone: true, ..Audience::default() };
    let event = Event::new(id(&format!("e{name}")), id("told"), Object::bare(id("o")), to);
    Command::Publish(Box::new(Event { tenant: Some(id("acme")), ..event }))
}

/// The notifications on all nodes.
fn notified(nodes: &Nodes) -> u64 {
    let days = nodes.stored.days().into_iter().collect::<Vec<_>>();
    let whole = Engine::open(&nodes.stored, &days, options(SHARDS)).unwrap();
    whole.reader(&nodes.stored).walk().unwrap().books.notifications
}

/// The first node accepts an event; the others hear of it later.
fn accept(nodes: &mut Nodes, command: Command) {
    let leader = &mut nodes.engines[0];
    let step = leader.take_in(&nodes.stored, &Reach::new(), Instant(2), &[command]);
    nodes.stored.commit(step.unwrap().writes);
}

/// A node applies what it has not applied.
fn arrive(nodes: &mut Nodes, node: usize) {
    let stored = nodes.stored.clone();
    apply(nodes, node, &stored);
}

/// A node applies what it has not applied, and reads the store as it was at some time.
fn apply(nodes: &mut Nodes, node: usize, stored: &Stored) {
    let engine = &mut nodes.engines[node];
    let told = read_log(stored, engine.replica().applied(), usize::MAX).unwrap();
    let step = engine.apply_log(stored, &Reach::new(), Instant(2), &told).unwrap();
    nodes.stored.commit(step.writes);
}

#[test]
fn a_limit_is_kept_where_nodes_apply_one_after_the_other_though_no_answer_comes() {
    let mut nodes = nodes(3);
    people(&mut nodes, 60);
    limit(&mut nodes, Some(100));
    // Nobody concludes the commands: what other nodes have counted is read in the store.
    for name in 0..5 {
        accept(&mut nodes, to_members(name));
        for node in [1, 2] {
            arrive(&mut nodes, node);
        }
        let expected = [60, 100][usize::from(name > 0)];
        assert_eq!(notified(&nodes), expected, "event {name}");
    }
    // Who takes shards over goes on counting where the node before was.
    let mut nodes = Nodes::open(nodes.stored, 2, SHARDS);
    nodes.take_in(Instant(3), &to_members(5));
    assert_eq!(notified(&nodes), 100);
    limit(&mut nodes, Some(101));
    nodes.take_in(Instant(3), &to_members(6));
    assert_eq!(notified(&nodes), 101);
    // And the next day begins anew.
    nodes.take_in(Instant(DAY_MS), &to_members(7));
    assert_eq!(notified(&nodes), 101 + 60);
}

#[test]
fn a_limit_is_passed_by_no_more_than_what_was_left_for_each_further_node_that_applies_meanwhile() {
    let mut nodes = nodes(3);
    people(&mut nodes, 60);
    let each: Vec<u64> = nodes.engines.iter().map(Engine::recipients).collect();
    assert!(each.iter().all(|count| *count > 5), "{each:?}");
    let (most, left) = (65, 5);
    limit(&mut nodes, Some(most));
    nodes.take_in(Instant(2), &to_members(0));
    assert_eq!(notified(&nodes), 60);
    for name in 1..4 {
        accept(&mut nodes, to_members(name));
    }
    // The first node has taken what was left, and the others read that.
    assert_eq!(notified(&nodes), most);
    for node in [1, 2] {
        arrive(&mut nodes, node);
    }
    assert_eq!(notified(&nodes), most);

    // Two nodes that apply at once don't see each other.
    limit(&mut nodes, Some(most + left));
    let theirs = to_those_of(&nodes, &[1, 2], 4);
    accept(&mut nodes, theirs);
    let before = nodes.stored.clone();
    for node in [1, 2] {
        apply(&mut nodes, node, &before);
    }
    assert_eq!(notified(&nodes), most + 2 * left);
    // From then on they do.
    nodes.take_in(Instant(2), &to_members(9));
    assert_eq!(notified(&nodes), most + 2 * left);
}

/// An event that names the recipients of some nodes.
fn to_those_of(nodes: &Nodes, of: &[usize], name: usize) -> Command {
    let everybody = (0..60).map(|name| id(&format!("p{name}")));
    let is_theirs =
        |who: &Id| of.iter().any(|node| nodes.engines[*node].replica().has_home_of(who));
    let to = Audience { recipients: everybody.filter(is_theirs).collect(), ..Audience::default() };
    let event = Event::new(id(&format!("e{name}")), id("told"), Object::bare(id("o")), to);
    Command::Publish(Box::new(Event { tenant: Some(id("acme")), ..event }))
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
    let held = Held { intake: false, shards: [1, 3, 5].into() };
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
