//! Addresses of tenants: what they take, and their end.

use super::ended::with_mail;
use crate::bucket::Bucket;
use crate::engine::tests::*;
use crate::model::channel::EMAIL_NO;
use crate::model::reason::Reason;
use crate::model::recipient::GivenAddress;
use crate::model::tenant::{TenantChange, TenantNo};
use crate::rules::TenantRules;

const OPTIONS: fn() -> Options =
    || Options { buckets: 2, checkpoint_after: 4, ..Options::default() };

struct World {
    stored: Stored,
    engine: Engine,
    now: i64,
}

impl World {
    fn new() -> Self {
        let (mut stored, mut engine) = with_mail(OPTIONS());
        let mut rules = engine.rules().unwrap().clone();
        rules.tenants = Some(TenantRules::default());
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules).unwrap();
        stored.commit(step.writes);
        let mut world = Self { stored, engine, now: 0 };
        world.run(&[tenant("acme"), tenant("bolt")]);
        world
    }

    fn run(&mut self, commands: &[Command]) {
        self.now += 1;
        let step = self.engine.step(&self.stored, &Reach::new(), Instant(self.now), commands);
        let step = step.unwrap();
        self.stored.commit(step.writes);
        assert!(step.replies.iter().all(Result::is_ok), "{:?}", step.replies);
    }

    fn open_again(&mut self) {
        self.engine = Engine::open(&self.stored, &[Day(0)], OPTIONS()).unwrap();
    }

    /// The reasons why no mail of an event of a tenant, or of none, goes to everybody; the number of those to whom one goes.
    fn looked(&mut self, name: &str, tenant: Option<&str>) -> (Vec<Reason>, usize) {
        let to = Audience { everyone: tenant.is_none(), ..Audience::default() };
        let to = Audience { recipients: vec![id("a"), id("b")], ..to };
        let event = Event::new(id(name), id("told"), Object::bare(id("o")), to);
        self.run(&[Command::Publish(Box::new(Event { tenant: tenant.map(id), ..event }))]);
        self.now += 60_000;
        self.run(&[]);
        let (mut reasons, mut sent) = (Vec::new(), 0);
        for closing in self.engine.open_closings().unmade() {
            let plan =
                self.engine.planner(&self.stored).plan(closing, usize::MAX).unwrap().unwrap();
            for planned in &plan.messages {
                reasons.extend(planned.ended.iter().map(|(_, reason)| *reason));
                sent += usize::from(!planned.is_empty());
            }
            let step = self.engine.made(&self.stored, Instant(self.now), &[plan]).unwrap();
            self.stored.commit(step.writes);
        }
        (reasons, sent)
    }

    /// Number of recipients with addresses of a tenant, by its number.
    fn addressed(&self, tenant: u32) -> usize {
        let tenant = TenantNo::of_raw(tenant).unwrap();
        let of = |bucket: &Bucket| bucket.roster.addressed(tenant).count();
        self.engine.shards.buckets().map(of).sum()
    }
}

fn tenant(name: &str) -> Command {
    Command::Tenant { tenant: id(name), change: Box::new(TenantChange::default()) }
}

fn address(text: &str, tenant: Option<&str>) -> GivenAddress {
    GivenAddress { text: text.to_owned(), tenant: tenant.map(id) }
}

fn with_address(who: &str, tenant: Option<&str>) -> Command {
    let addresses = [(EMAIL_NO, vec![address(&format!("{who}@example.org"), tenant)])].into();
    Command::Recipient(Box::new(RecipientChange { addresses, ..RecipientChange::nothing(id(who)) }))
}

fn device(who: &str, text: &str, tenant: Option<&str>, joins: bool) -> Command {
    let address = address(text, tenant);
    Command::Device { recipient: id(who), channel: EMAIL_NO, address, joins }
}

#[test]
fn t42_a_message_goes_to_addresses_of_its_tenant_and_of_none() {
    let mut world = World::new();
    world.run(&[with_address("a", Some("acme")), with_address("b", Some("bolt"))]);
    assert_eq!(world.looked("e1", Some("acme")), (vec![Reason::NoAddress], 1));
    assert_eq!(world.looked("e2", Some("bolt")), (vec![Reason::NoAddress], 1));
    assert_eq!(world.looked("e3", None), (vec![], 2));
    world.open_again();
    world.run(&[device("a", "all@example.org", None, true)]);
    assert_eq!(world.looked("e4", Some("bolt")), (vec![], 2));
    // What leaves for a tenant stays for the others.
    world.run(&[device("a", "all@example.org", Some("bolt"), false)]);
    assert_eq!(world.looked("e5", Some("bolt")), (vec![], 2));
    world.run(&[device("a", "all@example.org", None, false)]);
    assert_eq!(world.looked("e6", Some("bolt")), (vec![Reason::NoAddress], 1));
    world.run(&[Command::Erase { recipient: id("a") }]);
    assert_eq!((world.addressed(1), world.addressed(2)), (0, 1));
}

/// More than three steps end.
const MANY: usize = 3_100;

#[test]
fn t42_addresses_of_a_deleted_tenant_take_nothing_from_then_on() {
    let mut world = World::new();
    let who: Vec<String> = (0..MANY).map(|number| format!("r{number}")).collect();
    let people: Vec<Command> = who.iter().map(|who| with_address(who, Some("acme"))).collect();
    world.run(&people);
    world.run(&[with_address("a", Some("bolt")), with_address("b", Some("bolt"))]);
    world.run(&[Command::DeleteTenant { tenant: id("acme") }]);
    assert_eq!(world.addressed(1), MANY - 1_000, "the first slice");
    world.open_again();
    assert_eq!(world.addressed(1), MANY - 1_000, "as stored");
    // The recipient of the world, who has an address, is the `a` that was given another.
    let (reasons, sent) = world.looked("e1", None);
    assert_eq!((reasons, sent), (vec![Reason::NoAddress; MANY], 2));
    assert_eq!(world.addressed(1), 100, "the last slice is still there, and takes nothing");
    world.run(&[]);
    assert_eq!(world.addressed(1), 0);
    world.run(&[tenant("acme")]);
    assert_eq!(world.looked("e2", Some("acme")), (vec![Reason::NoAddress; 2], 0), "made anew");
    world.run(&[device("a", "new@example.org", Some("acme"), true)]);
    assert_eq!(world.looked("e3", Some("acme")), (vec![Reason::NoAddress], 1));
}

#[test]
fn t42_a_device_that_cannot_join_changes_nothing() {
    let mut world = World::new();
    let commands = [
        device("nobody", "x@example.org", None, true),
        device("a", "x@example.org", Some("none"), true),
        device("a", "x@example.org", Some("none"), false),
    ];
    let step = world.engine.step(&world.stored, &Reach::new(), Instant(9), &commands).unwrap();
    assert_eq!(step.replies[0], Err(Refused::UnknownRecipient(id("nobody"))));
    for reply in &step.replies[1..] {
        assert!(matches!(reply, Err(Refused::UnknownTenant { .. })), "{reply:?}");
    }
    assert!(world.engine.recipient(&id("nobody")).is_none());
    let known = world.engine.recipient(&id("a")).unwrap();
    assert_eq!(known.addresses.of(EMAIL_NO).collect::<Vec<_>>(), ["a@example.org"]);
}
