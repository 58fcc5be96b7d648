//! Tenants in the intake: made, disabled, deleted, made anew; the events that they end.

use super::ended::with_mail;
use crate::engine::tests::*;
use crate::model::command::Cancelled;
use crate::model::reason::Reason;
use crate::model::tenant::TenantChange;
use crate::rules::{TenantRules, UnknownTenant};

const SECOND: i64 = 1_000;

/// A world with a recipient, a mail lane, and the tenants `acme` and `bolt`.
pub(super) struct World {
    pub(super) stored: Stored,
    pub(super) engine: Engine,
    pub(super) now: i64,
}

impl World {
    pub(super) fn new(unknown: UnknownTenant) -> Self {
        let (mut stored, mut engine) = with_mail(Options { buckets: 2, ..Options::default() });
        let mut rules = engine.rules().unwrap().clone();
        rules.tenants = Some(TenantRules { unknown });
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules).unwrap();
        stored.commit(step.writes);
        let mut world = Self { stored, engine, now: 0 };
        world.run(&[change("acme", None), change("bolt", None)]);
        world
    }

    pub(super) fn run(&mut self, commands: &[Command]) -> Vec<Result<Reply, Refused>> {
        self.now += 1;
        let step = self.engine.step(&self.stored, &Reach::new(), Instant(self.now), commands);
        let step = step.unwrap();
        self.stored.commit(step.writes);
        for day in step.forgotten {
            self.stored.0.retain(|(partition, _), _| *partition != Partition::Day(day));
        }
        // What is stored says the same.
        let days: BTreeSet<Day> = self.stored.days();
        let days: Vec<Day> = days.into_iter().collect();
        let again = Engine::open(&self.stored, &days, Options::default()).unwrap();
        assert_eq!(books(&again, &self.stored), books(&self.engine, &self.stored));
        self.engine = again;
        step.replies
    }

    /// The reasons for which the entries of an event on a channel ended, with their number.
    fn ended(&self, event: &str, channel: &str) -> Vec<(Reason, u64)> {
        let trace = self.engine.reader(&self.stored).trace(&id(event)).unwrap();
        let report = trace.unwrap().report(&self.stored).unwrap();
        let reasons = report.channels.get(channel).map(|of| of.reasons.clone());
        reasons.into_iter().flatten().collect()
    }
}

fn books(engine: &Engine, stored: &Stored) -> crate::content::message::Totals {
    engine.reader(stored).walk().unwrap().books
}

pub(super) fn change(tenant: &str, disabled: Option<bool>) -> Command {
    let change = TenantChange { disabled, ..TenantChange::default() };
    Command::Tenant { tenant: id(tenant), change: Box::new(change) }
}

pub(super) fn delete(tenant: &str) -> Command {
    Command::DeleteTenant { tenant: id(tenant) }
}

/// An event that names the recipient.
fn event_of(name: &str, tenant: Option<&str>, delay_ms: Option<i64>) -> Command {
    let to = Audience { recipients: vec![id("a")], ..Audience::default() };
    let event = Event::new(id(name), id("told"), Object::bare(id("o")), to);
    let tenant = tenant.map(id);
    let cancellation_key = Some(id("key"));
    Command::Publish(Box::new(Event { tenant, delay_ms, cancellation_key, ..event }))
}

fn status(reply: &Result<Reply, Refused>) -> PublishedAs {
    match reply {
        Ok(Reply::Published(published)) => published.status,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_waits_of_a_tenant_that_is_disabled_ends_at_once_and_never_comes_back() {
    let mut world = World::new(UnknownTenant::Refuse);
    world.run(&[
        event_of("waits", Some("acme"), None),
        event_of("scheduled", Some("acme"), Some(60 * SECOND)),
        event_of("other", Some("bolt"), None),
        event_of("none", None, None),
    ]);
    world.run(&[change("acme", Some(true))]);
    for event in ["waits", "scheduled"] {
        assert_eq!(world.ended(event, "email"), [(Reason::TenantGone, 1)], "{event}");
    }
    for event in ["other", "none"] {
        assert_eq!(world.ended(event, "email"), [], "{event}");
    }
    let refused = world.run(&[event_of("later", Some("acme"), None)]);
    assert_eq!(refused, [Err(Refused::TenantGone(id("acme")))]);
    world.run(&[change("acme", Some(false))]);
    let again = world.run(&[event_of("later", Some("acme"), None)]);
    assert_eq!(status(&again[0]), PublishedAs::Accepted);
    let before = books(&world.engine, &world.stored);
    assert_eq!((before.pending, before.cancelled), (3, 3), "{before:?}");
    world.now = 120 * SECOND;
    world.run(&[]);
    assert_eq!(books(&world.engine, &world.stored).cancelled, 3);
}

#[test]
fn a_tenant_that_is_made_anew_is_another_one() {
    let mut world = World::new(UnknownTenant::Refuse);
    world.run(&[event_of("first", Some("acme"), None)]);
    let made = TenantDirectory::of(&world.engine).get(&id("acme")).unwrap().number;
    world.run(&[delete("acme")]);
    assert_eq!(world.ended("first", "email"), [(Reason::TenantGone, 1)]);
    assert_eq!(TenantDirectory::of(&world.engine).get(&id("acme")), None);
    assert_eq!(world.engine.intake.tenants.id(Some(made)), Some(&id("acme")), "its events name it");
    let near = vec!["bolt".to_owned()];
    let unknown = Refused::UnknownTenant { tenant: id("bold"), near };
    assert_eq!(world.run(&[event_of("second", Some("bold"), None)]), [Err(unknown)]);
    world.run(&[change("acme", None)]);
    assert_ne!(TenantDirectory::of(&world.engine).get(&id("acme")).unwrap().number, made);
    let published = world.run(&[event_of("second", Some("acme"), None)]);
    assert_eq!(status(&published[0]), PublishedAs::Accepted);
    assert_eq!(world.ended("second", "email"), []);
}

#[test]
fn an_event_makes_its_tenant_where_the_rules_say_so_and_nothing_else_does() {
    let mut world = World::new(UnknownTenant::Make);
    let published = world.run(&[event_of("e", Some("new"), None)]);
    assert_eq!(status(&published[0]), PublishedAs::Accepted);
    assert!(TenantDirectory::of(&world.engine).get(&id("new")).is_some());
    let refused = world.run(&[delete("nobody")]);
    assert!(matches!(&refused[0], Err(Refused::UnknownTenant { .. })), "{refused:?}");
}

#[test]
fn a_cancel_of_a_tenant_reaches_its_events_alone_also_ahead() {
    let mut world = World::new(UnknownTenant::Refuse);
    world.run(&[event_of("a1", Some("acme"), None), event_of("b1", Some("bolt"), None)]);
    let by_key = |tenant: Option<&str>| Command::Cancel {
        what: Cancelled::Key(id("key")),
        tenant: tenant.map(id),
    };
    world.run(&[by_key(Some("acme"))]);
    assert_eq!(world.ended("a1", "email"), [(Reason::Event, 1)]);
    assert_eq!(world.ended("b1", "email"), []);
    world.run(&[by_key(None)]);
    assert_eq!(world.ended("b1", "email"), [(Reason::Event, 1)]);

    let ahead = |event: &str, tenant: Option<&str>| Command::Cancel {
        what: Cancelled::Event(id(event)),
        tenant: tenant.map(id),
    };
    world.run(&[ahead("x", Some("acme")), ahead("y", Some("acme")), ahead("z", None)]);
    let replies = world.run(&[
        event_of("x", Some("acme"), None),
        event_of("y", Some("bolt"), None),
        event_of("z", Some("bolt"), None),
    ]);
    let statuses: Vec<_> = replies.iter().map(status).collect();
    let expected = [PublishedAs::Cancelled, PublishedAs::Accepted, PublishedAs::Cancelled];
    assert_eq!(statuses, expected);
}

#[test]
fn t42_what_once_ever_remembers_of_a_deleted_tenant_goes_also_after_crashes() {
    let mut world = World::new(UnknownTenant::Refuse);
    let mut rules = world.engine.rules().unwrap().clone();
    let told = rules.types.get_mut("told").unwrap();
    (told.admission, told.per) =
        (crate::rules::Admission::OnceEver, crate::rules::AdmissionKeyPart::Object);
    let now = Instant(world.now);
    let step = world.engine.set_rules(&world.stored, &Reach::new(), now, rules).unwrap();
    world.stored.commit(step.writes);
    let events: Vec<Command> = (0..2_500)
        .map(|number| {
            let to = Audience { recipients: vec![id("a")], ..Audience::default() };
            let object = Object::bare(id(&format!("o{number}")));
            let event = Event::new(id(&format!("e{number}")), id("told"), object, to);
            Command::Publish(Box::new(Event { tenant: Some(id("acme")), ..event }))
        })
        .collect();
    world.run(&events);
    let number = TenantDirectory::of(&world.engine).get(&id("acme")).unwrap().number;
    let left = |world: &World| {
        let of = |no| Key::of(Owner::Bucket(BucketNo(no)), Table::DeliveredOnce);
        let keys = [0, 1].map(|no| of(no).u32(number.0.get()).done());
        let rows = world.stored.0.keys().map(|(_, row)| row);
        rows.filter(|row| keys.iter().any(|key| row.starts_with(key))).count()
    };
    assert_eq!(left(&world), 2_500);
    // Each step is one after a crash.
    world.run(&[delete("acme")]);
    let mut known = 2_500;
    while left(&world) > 0 {
        assert!(left(&world) < known, "{known} are left for ever");
        known = left(&world);
        world.run(&[change("bolt", None)]);
    }
}

#[test]
fn tenants_are_refused_where_they_are_off() {
    let (stored, mut engine) = with_mail(Options::default());
    let commands = [change("acme", None), event_of("e", Some("acme"), None), delete("acme")];
    let step = engine.step(&stored, &Reach::new(), Instant(1), &commands).unwrap();
    assert_eq!(step.replies, vec![Err(Refused::TenantsOff); 3]);
}
