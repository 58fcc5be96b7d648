//! Members and subscriptions of tenants: whom an event reaches, who joins and leaves, what is stored.

use proptest::prelude::*;

use super::ended::with_mail;
use crate::engine::explain::ExplainSubject;
use crate::engine::tests::*;
use crate::model::event::GeoCircle;
use crate::model::tenant::{TenantChange, TenantNo};
use crate::rules::{Admission, AdmissionKeyPart, TenantRules, UnknownTenant};

const PEOPLE: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const TENANTS: [&str; 3] = ["acme", "bolt", "core"];

/// A world with some recipients, a mail lane and tenants.
struct World {
    options: Options,
    stored: Stored,
    engine: Engine,
    now: i64,
}

impl World {
    fn new() -> Self {
        let options = Options { buckets: 2, checkpoint_after: 4, ..Options::default() };
        let (stored, engine) = with_mail(options);
        let mut world = Self { options, stored, engine, now: 0 };
        world.change_rules(|_| {});
        world.run(&PEOPLE.map(|who| recipient_with(who, None)));
        world.run(&TENANTS.map(tenant));
        world
    }

    fn change_rules(&mut self, change: impl FnOnce(&mut Rules)) {
        let mut rules = self.engine.rules().unwrap().clone();
        rules.tenants = Some(TenantRules { unknown: UnknownTenant::Refuse });
        change(&mut rules);
        let now = Instant(self.now);
        let step = self.engine.set_rules(&self.stored, &Reach::new(), now, rules).unwrap();
        self.stored.commit(step.writes);
    }

    fn run(&mut self, commands: &[Command]) -> Vec<Result<Reply, Refused>> {
        self.now += 1;
        let step = self.engine.step(&self.stored, &Reach::new(), Instant(self.now), commands);
        let step = step.unwrap();
        self.stored.commit(step.writes);
        step.replies
    }

    fn done(&mut self, commands: &[Command]) {
        for reply in self.run(commands) {
            reply.unwrap();
        }
    }

    /// Publishes an event; who waits for a mail about it, and the warnings.
    fn reached(&mut self, event: Event) -> (Vec<&'static str>, Vec<Warning>) {
        let name = event.id.clone();
        let replies = self.run(&[Command::Publish(Box::new(event))]);
        let [Ok(Reply::Published(published))] = &replies[..] else {
            panic!("{replies:?}");
        };
        let reader = self.engine.reader(&self.stored);
        let waits = |who: &&str| {
            // One who was erased has no lanes.
            let lanes = reader.open_lanes(&id(who)).unwrap_or_default();
            lanes.iter().flat_map(|lane| &lane.entries).any(|entry| entry.event == name)
        };
        let who: Vec<_> = PEOPLE.into_iter().filter(waits).collect();
        assert_eq!(who.len() as u64, published.notifications);
        (who, published.warnings.clone())
    }

    fn members(&self, tenant: &str) -> Vec<String> {
        let members = TenantDirectory::of(&self.engine).members(&id(tenant), None, 100).unwrap();
        members.into_iter().map(|profile| profile.id.as_str().to_owned()).collect()
    }

    fn rest(&mut self) {
        while let Some(writes) = self.engine.chore(&self.stored).unwrap() {
            self.stored.commit(writes);
        }
    }

    fn open_again(&mut self) {
        self.engine = Engine::open(&self.stored, &[Day(0)], self.options).unwrap();
    }
}

fn recipient_with(who: &str, tenants: Option<&[&str]>) -> Command {
    let tenants = tenants.map(|tenants| tenants.iter().map(|tenant| id(tenant)).collect());
    Command::Recipient(Box::new(RecipientChange { tenants, ..RecipientChange::nothing(id(who)) }))
}

fn tenant(name: &str) -> Command {
    Command::Tenant { tenant: id(name), change: Box::new(TenantChange::default()) }
}

fn join(who: &str, tenant: &str) -> Command {
    Command::Join { recipient: id(who), tenant: id(tenant) }
}

fn leave(who: &str, tenant: &str) -> Command {
    Command::Leave { recipient: id(who), tenant: id(tenant) }
}

fn follow(who: &str, topic: &str, tenant: Option<&str>) -> Command {
    Command::Subscribe { recipient: id(who), topic: id(topic), tenant: tenant.map(id) }
}

fn event_to(name: &str, tenant: Option<&str>, to: Audience) -> Event {
    let event = Event::new(id(name), id("told"), Object::bare(id("o")), to);
    Event { tenant: tenant.map(id), ..event }
}

fn everyone() -> Audience {
    Audience { everyone: true, ..Audience::default() }
}

fn to_topic(topic: &str) -> Audience {
    Audience { topics: vec![id(topic)], ..Audience::default() }
}

#[test]
fn t42_an_event_of_a_tenant_reaches_its_own_alone() {
    let mut world = World::new();
    world.done(&[join("a", "acme"), join("b", "acme"), join("b", "bolt"), join("c", "bolt")]);
    let placed = ["a", "b", "c"].map(|who| {
        let place = RecipientChange {
            lat: Some(Some(48.0)),
            lon: Some(Some(11.0)),
            ..RecipientChange::nothing(id(who))
        };
        Command::Recipient(Box::new(place))
    });
    world.done(&placed);
    world.done(&[
        follow("c", "works", Some("acme")),
        follow("d", "works", Some("bolt")),
        follow("a", "works/7", Some("acme")),
    ]);
    world.done(&[follow("e", "works", None), follow("c", "works", None)]);
    for again in [false, true] {
        if again {
            world.rest();
            world.open_again();
        }
        let mut reach = |number: usize, tenant: Option<&str>, to: Audience| {
            let name = format!("e{number}{again}");
            world.reached(event_to(&name, tenant, to))
        };
        let near = || {
            let near = GeoCircle { lat: 48.0, lon: 11.0, km: 5.0 };
            Audience { near: vec![near], ..Audience::default() }
        };
        let named = Audience { recipients: vec![id("a"), id("f")], ..Audience::default() };
        assert_eq!(reach(1, Some("acme"), everyone()).0, ["a", "b"]);
        assert_eq!(reach(2, Some("bolt"), everyone()).0, ["b", "c"]);
        assert_eq!(reach(3, None, everyone()).0, PEOPLE);
        assert_eq!(reach(4, Some("bolt"), near()).0, ["b", "c"]);
        assert_eq!(reach(5, None, near()).0, ["a", "b", "c"]);
        assert_eq!(reach(6, Some("bolt"), named).0, ["a", "f"]);
        assert_eq!(reach(7, Some("acme"), to_topic("works/7")).0, ["a", "c"]);
        assert_eq!(reach(8, Some("bolt"), to_topic("works/7")).0, ["d"]);
        assert_eq!(reach(9, None, to_topic("works/7")).0, ["c", "e"]);

        let (who, warnings) = reach(10, Some("core"), everyone());
        assert_eq!((who, warnings), (vec![], vec![Warning::NobodyConcerned]));
        let (who, warnings) = reach(11, Some("core"), to_topic("works"));
        assert_eq!((who, warnings), (vec![], vec![Warning::NoFollowers(vec![id("works")])]));
        let (who, warnings) = reach(12, Some("core"), near());
        assert!(who.is_empty() && matches!(warnings[..], [Warning::NobodyNear(_)]), "{warnings:?}");
    }
}

#[test]
fn t42_who_leaves_a_tenant_loses_its_subscriptions_and_nothing_else() {
    let mut world = World::new();
    world.done(&[join("a", "acme"), join("a", "bolt"), join("b", "acme")]);
    world.done(&[
        follow("a", "x", Some("acme")),
        follow("a", "y", Some("acme")),
        follow("a", "x", Some("bolt")),
        follow("a", "x", None),
        follow("b", "x", Some("acme")),
        follow("c", "x", Some("acme")),
    ]);
    let waits = world.reached(event_to("waits", Some("acme"), everyone()));
    assert_eq!(waits.0, ["a", "b"]);
    // Of who is no member nothing ceases.
    world.done(&[leave("a", "acme"), leave("c", "acme"), leave("a", "acme")]);
    let topics = |world: &World, who: &str| topics(&world.engine, &world.stored, who).unwrap();
    assert_eq!(topics(&world, "a"), ["x", "bolt:x"]);
    assert_eq!(
        (topics(&world, "b"), topics(&world, "c")),
        (vec!["acme:x".to_owned()], vec!["acme:x".to_owned()])
    );
    assert_eq!(world.members("acme"), ["b"]);
    let lanes = world.engine.reader(&world.stored).open_lanes(&id("a")).unwrap();
    assert_eq!(lanes.len(), 1, "what waits stays: {lanes:?}");
    let reached = world.reached(event_to("later", Some("acme"), to_topic("x")));
    assert_eq!(reached.0, ["b", "c"]);
    // So does a list of tenants without it, also in a step that subscribes.
    world.done(&[follow("b", "y", Some("acme")), recipient_with("b", Some(&["core"]))]);
    assert_eq!(topics(&world, "b"), [""; 0]);
    assert_eq!((world.members("acme"), world.members("core")), (vec![], vec!["b".to_owned()]));
    world.done(&[recipient_with("b", None)]);
    assert_eq!(world.members("core"), ["b"]);
    world.open_again();
    assert_eq!(
        (topics(&world, "a"), topics(&world, "b")),
        (vec!["x".to_owned(), "bolt:x".to_owned()], vec![])
    );
    assert_eq!((world.members("acme"), world.members("core")), (vec![], vec!["b".to_owned()]));
}

#[test]
fn t42_a_list_with_an_unknown_tenant_changes_nothing() {
    let mut world = World::new();
    let change = RecipientChange {
        name: Some(Some("New".to_owned())),
        tenants: Some(vec![id("acme"), id("nobody")]),
        ..RecipientChange::nothing(id("a"))
    };
    let commands = [
        Command::Recipient(Box::new(change.clone())),
        join("a", "nobody"),
        leave("a", "nobody"),
        follow("a", "x", Some("nobody")),
        join("nobody", "acme"),
        Command::Unsubscribe { recipient: id("a"), topic: id("x"), tenant: Some(id("nobody")) },
    ];
    let refused = world.run(&commands);
    let is_unknown = |reply: &Result<Reply, Refused>| matches!(reply, Err(Refused::UnknownTenant { tenant, .. }) if *tenant == id("nobody"));
    for (at, reply) in refused.iter().enumerate() {
        match at {
            4 => assert_eq!(*reply, Err(Refused::UnknownRecipient(id("nobody")))),
            _ => assert!(is_unknown(reply), "{at}: {reply:?}"),
        }
    }
    assert_eq!(world.engine.recipient(&id("a")).unwrap().name, None);
    assert!(world.members("acme").is_empty());
    // In an event the profiles are refused with it.
    let to = Audience {
        recipients: vec![id("a")],
        profiles: vec![change.clone()],
        ..Audience::default()
    };
    let refused = world.run(&[Command::Publish(Box::new(event_to("e", Some("acme"), to)))]);
    assert!(is_unknown(&refused[0]), "{refused:?}");
    assert_eq!(world.engine.recipient(&id("a")).unwrap().name, None);
    let to = Audience {
        recipients: vec![id("a")],
        profiles: vec![RecipientChange { tenants: Some(vec![id("bolt")]), ..change }],
        ..Audience::default()
    };
    let publish = Command::Publish(Box::new(event_to("e", Some("acme"), to)));
    world.done(std::slice::from_ref(&publish));
    assert_eq!(world.members("bolt"), ["a"]);
    // The retry of an accepted event is a duplicate, even if a tenant that it names is gone.
    world.done(&[Command::DeleteTenant { tenant: id("bolt") }]);
    let again = world.run(&[publish]).remove(0);
    let is_duplicate = |published: &Published| published.status == PublishedAs::Duplicate;
    assert!(matches!(&again, Ok(Reply::Published(one)) if is_duplicate(one)), "{again:?}");
}

#[test]
fn t42_tenants_are_refused_where_they_are_off() {
    let (stored, mut engine) = with_mail(Options::default());
    let commands = [
        join("a", "acme"),
        leave("a", "acme"),
        follow("a", "x", Some("acme")),
        recipient_with("a", Some(&["acme"])),
    ];
    let step = engine.step(&stored, &Reach::new(), Instant(1), &commands).unwrap();
    assert_eq!(step.replies, vec![Err(Refused::TenantsOff); 4]);
}

#[test]
fn t42_joins_of_one_step_are_one_record() {
    let mut world = World::new();
    let records = |world: &World| -> usize {
        let of = |no| recovery::records(BucketNo(no), &world.stored, Day(0)).unwrap().len();
        of(0) + of(1)
    };
    let before = records(&world);
    let all: Vec<Command> =
        PEOPLE.iter().flat_map(|who| TENANTS.map(|tenant| join(who, tenant))).collect();
    world.done(&all);
    assert_eq!(records(&world), before + 2, "one a bucket");
    world.done(&all);
    assert_eq!(records(&world), before + 2, "nothing changes");
    assert_eq!(world.members("bolt"), PEOPLE);
}

#[test]
fn t42_admission_knows_the_tenant() {
    for (admission, per) in [
        (Admission::OncePending, AdmissionKeyPart::Object),
        (Admission::OncePending, AdmissionKeyPart::Type),
        (Admission::OnceEver, AdmissionKeyPart::Target),
        (Admission::OnceEver, AdmissionKeyPart::Object),
    ] {
        let mut world = World::new();
        world.change_rules(|rules| {
            let told = rules.types.get_mut("told").unwrap();
            (told.admission, told.per) = (admission, per);
        });
        let named = || Audience { recipients: vec![id("a")], ..Audience::default() };
        let mut count = 0;
        let mut admits = |world: &mut World, tenant: Option<&str>| {
            count += 1;
            let event = Event {
                target: Some(Object::bare(id("t"))),
                ..event_to(&format!("e{count}"), tenant, named())
            };
            let replies = world.run(&[Command::Publish(Box::new(event))]);
            let [Ok(Reply::Published(published))] = &replies[..] else {
                panic!("{replies:?}");
            };
            published.notifications == 1
        };
        for tenant in [Some("acme"), None, Some("bolt")] {
            assert!(admits(&mut world, tenant), "{tenant:?} {admission:?}");
            assert!(!admits(&mut world, tenant), "{tenant:?} {admission:?}");
        }
        world.open_again();
        for tenant in [Some("acme"), None, Some("bolt")] {
            assert!(!admits(&mut world, tenant), "{tenant:?} {admission:?}");
        }
        let supposed = |world: &World, tenant: &str| {
            let event = event_to("s", Some(tenant), named());
            let event = Event { target: Some(Object::bare(id("t"))), ..event };
            let subject = ExplainSubject::Supposed(Box::new(event));
            let reader = world.engine.reader(&world.stored);
            let explained = reader.explain(subject, &id("a"), Instant(world.now)).unwrap();
            !explained.channels.is_empty()
        };
        assert!(!supposed(&world, "acme") && supposed(&world, "core"));
        // One that is made anew is another.
        world.done(&[Command::DeleteTenant { tenant: id("acme") }, tenant("acme")]);
        assert!(admits(&mut world, Some("acme")));
    }
}

#[test]
fn t42_explanations_tell_of_tenants() {
    let mut world = World::new();
    world.done(&[join("a", "acme"), join("b", "bolt")]);
    world.reached(event_to("e", Some("acme"), everyone()));
    let explain = |subject: ExplainSubject, who: &str| {
        let reader = world.engine.reader(&world.stored);
        reader.explain(subject, &id(who), Instant(world.now))
    };
    let explained = explain(ExplainSubject::Event(id("e")), "a").unwrap();
    assert_eq!(explained.tenant, Some(id("acme")));
    let text = |steps: &[crate::model::explanation::ExplanationStep]| -> Vec<(String, String)> {
        steps.iter().map(|step| (step.looked_at.clone(), step.result.clone())).collect()
    };
    let told = text(&explained.steps);
    let audience = ("everyone, of tenant `acme`".to_owned(), "reached: everyone".to_owned());
    assert!(told.contains(&audience), "{told:?}");
    let lanes: Vec<_> = explained.channels.iter().flat_map(|of| text(&of.steps)).collect();
    let names = |(looked_at, result): &(String, String)| {
        format!("{looked_at} {result}").contains("tenant `acme`")
    };
    assert!(lanes.iter().any(names), "{lanes:?}");
    let other = explain(ExplainSubject::Event(id("e")), "b").unwrap();
    let (_, result) = text(&other.steps).pop().unwrap();
    assert_eq!(result, "not in the audience, and not a member of the tenant, as it is now");
    let supposed = |tenant: &str| {
        let event = Box::new(event_to("s", Some(tenant), everyone()));
        explain(ExplainSubject::Supposed(event), "b")
    };
    assert_eq!(supposed("nobody").unwrap_err().to_string(), "unknown tenant `nobody`");
    assert!(supposed("bolt").unwrap().steps.iter().all(|step| !step.ends));
}

/// The numbers of the members and subscriptions that there are of a tenant.
fn left_of(world: &World, number: TenantNo) -> (u64, u64) {
    let (mut members, mut followers) = (0, 0);
    for bucket in world.engine.shards.buckets() {
        members += bucket.members.of(number).len();
        followers += bucket.followers.of_tenant(number).map(|who| who.len()).sum::<u64>();
    }
    (members, followers)
}

#[test]
fn t42_a_deleted_tenant_leaves_nothing_behind() {
    let mut world = World::new();
    world.change_rules(|rules| {
        rules.types.get_mut("told").unwrap().admission = Admission::OnceEver;
    });
    world.done(&PEOPLE.map(|who| join(who, "acme")));
    world.done(&PEOPLE.map(|who| join(who, "bolt")));
    world.done(&[leave("f", "acme"), follow("f", "x", Some("acme"))]);
    world.done(&PEOPLE.map(|who| follow(who, "y", Some("acme"))));
    world.done(&[follow("a", "x", Some("acme")), follow("a", "x", None)]);
    world.reached(event_to("e", Some("acme"), everyone()));
    let number = TenantDirectory::of(&world.engine).get(&id("acme")).unwrap().number;
    assert_eq!(left_of(&world, number), (5, 8));
    let once = |world: &World| {
        let of = |no| Key::of(Owner::Bucket(BucketNo(no)), Table::DeliveredOnce);
        let keys = [0, 1].map(|no| of(no).u32(number.0.get()).done());
        let rows = world.stored.0.keys().map(|(_, row)| row);
        rows.filter(|row| keys.iter().any(|key| row.starts_with(key))).count()
    };
    assert!(once(&world) > 0);
    world.done(&[Command::DeleteTenant { tenant: id("acme") }]);
    for again in [false, true] {
        if again {
            world.open_again();
        }
        assert_eq!((left_of(&world, number), once(&world)), ((0, 0), 0));
        assert_eq!(world.members("bolt"), PEOPLE);
        assert_eq!(topics(&world.engine, &world.stored, "a").unwrap(), ["x"]);
        assert_eq!(topics(&world.engine, &world.stored, "f").unwrap(), [""; 0]);
    }
}

#[test]
fn t42_a_large_tenant_is_deleted_in_slices_that_go_on_after_a_crash() {
    let mut world = World::new();
    let people: Vec<String> = (0..5_000).map(|number| format!("p{number}")).collect();
    let each = |make: &dyn Fn(&str) -> Command| -> Vec<Command> {
        people.iter().map(|who| make(who)).collect()
    };
    world.done(&each(&|who| recipient_with(who, None)));
    world.done(&each(&|who| join(who, "acme")));
    world.done(&each(&|who| follow(who, "x", Some("acme"))));
    let number = TenantDirectory::of(&world.engine).get(&id("acme")).unwrap().number;
    world.done(&[Command::DeleteTenant { tenant: id("acme") }]);
    let (mut before, mut steps) = (left_of(&world, number), 1);
    assert!(before.0 >= 4_000, "{before:?}");
    let is_of_it = |world: &World| -> bool {
        let reader = world.engine.reader(&world.stored);
        let tenants = TenantDirectory::of(&world.engine).tenants_of(&id("p4999")).unwrap();
        !tenants.is_empty() || !reader.following(&id("p4999")).unwrap().is_empty()
    };
    while before != (0, 0) {
        assert!(!is_of_it(&world), "nobody sees what is left");
        if steps % 2 == 0 {
            world.open_again();
        }
        world.run(&[]);
        steps += 1;
        let after = left_of(&world, number);
        assert!(after < before && before.0 - after.0 <= 1_000, "{before:?} {after:?}");
        before = after;
    }
    assert!(steps > 3);
}

#[derive(Clone, Debug)]
enum Op {
    Do(Command),
    Erase(&'static str),
    Rest,
    Open,
}

fn op() -> impl Strategy<Value = Op> {
    let who = || prop::sample::select(&PEOPLE[..]);
    let tenant = || prop::sample::select(&TENANTS[..]);
    let tenants = || prop::sample::subsequence(&TENANTS[..], 0..=3);
    let topic = || prop::sample::select(vec!["x", "y"]);
    let some = || prop::option::of(tenant());
    prop_oneof![
        6 => (who(), tenant()).prop_map(|(who, tenant)| Op::Do(join(who, tenant))),
        3 => (who(), tenant()).prop_map(|(who, tenant)| Op::Do(leave(who, tenant))),
        3 => (who(), prop::option::of(tenants())).prop_map(|(who, tenants)| {
            Op::Do(recipient_with(who, tenants.as_deref()))
        }),
        5 => (who(), topic(), some()).prop_map(|(who, topic, tenant)| Op::Do(follow(who, topic, tenant))),
        2 => (who(), topic(), some()).prop_map(|(who, topic, tenant)| {
            let tenant = tenant.map(id);
            Op::Do(Command::Unsubscribe { recipient: id(who), topic: id(topic), tenant })
        }),
        1 => who().prop_map(Op::Erase),
        1 => Just(Op::Rest),
        1 => Just(Op::Open),
    ]
}

/// The rules of memberships, as plain as they are written.
#[derive(Default)]
struct Plain {
    members: BTreeSet<(Id, Id)>,
    follows: BTreeSet<(Id, Id, Option<Id>)>,
    gone: BTreeSet<Id>,
}

impl Plain {
    fn leave(&mut self, who: &Id, tenant: &Id) {
        if self.members.remove(&(tenant.clone(), who.clone())) {
            self.follows.retain(|(of, _, from)| of != who || from.as_ref() != Some(tenant));
        }
    }

    fn run(&mut self, command: &Command) {
        if command.recipient().is_some_and(|who| self.gone.contains(who))
            && !matches!(command, Command::Recipient(_))
        {
            return;
        }
        match command {
            Command::Join { recipient, tenant } => {
                self.members.insert((tenant.clone(), recipient.clone()));
            }
            Command::Leave { recipient, tenant } => self.leave(recipient, tenant),
            Command::Recipient(change) => {
                self.gone.remove(&change.id);
                let Some(tenants) = &change.tenants else {
                    return;
                };
                for tenant in TENANTS.map(id) {
                    if tenants.contains(&tenant) {
                        self.members.insert((tenant, change.id.clone()));
                    } else {
                        self.leave(&change.id, &tenant);
                    }
                }
            }
            Command::Subscribe { recipient, topic, tenant } => {
                self.follows.insert((recipient.clone(), topic.clone(), tenant.clone()));
            }
            Command::Unsubscribe { recipient, topic, tenant } => {
                self.follows.remove(&(recipient.clone(), topic.clone(), tenant.clone()));
            }
            Command::Erase { recipient } => {
                self.gone.insert(recipient.clone());
                self.members.retain(|(_, who)| who != recipient);
                self.follows.retain(|(who, ..)| who != recipient);
            }
            _ => unreachable!("no other is made"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn t42_members_and_subscriptions_are_those_of_the_plain_rules(
        steps in prop::collection::vec(prop::collection::vec(op(), 1..6), 1..24),
    ) {
        let (mut world, mut plain) = (World::new(), Plain::default());
        for ops in steps {
            let mut commands = Vec::new();
            for op in ops {
                match op {
                    Op::Do(command) => commands.push(command),
                    Op::Erase(who) => commands.push(Command::Erase { recipient: id(who) }),
                    Op::Rest => world.rest(),
                    Op::Open => world.open_again(),
                }
            }
            world.run(&commands);
            commands.iter().for_each(|command| plain.run(command));
            for tenant in TENANTS {
                let members = plain.members.iter().filter(|(of, _)| *of == id(tenant));
                let members: Vec<String> = members.map(|(_, who)| who.as_str().to_owned()).collect();
                prop_assert_eq!(world.members(tenant), members);
            }
            let reader = world.engine.reader(&world.stored);
            for who in PEOPLE.map(id).iter().filter(|who| !plain.gone.contains(*who)) {
                let tenants = plain.members.iter().filter(|(_, of)| of == who);
                let tenants: Vec<Id> = tenants.map(|(tenant, _)| tenant.clone()).collect();
                let known = TenantDirectory::of(&world.engine).tenants_of(who).unwrap();
                prop_assert_eq!(known, tenants);
                let follows = plain.follows.iter().filter(|(of, ..)| of == who);
                let follows: Vec<FollowedTopic> = follows
                    .map(|(_, topic, tenant)| FollowedTopic { topic: topic.clone(), tenant: tenant.clone() })
                    .collect();
                prop_assert_eq!(reader.following(who).unwrap(), follows);
            }
        }
        for (no, tenant) in TENANTS.iter().enumerate() {
            for topic in ["x", "y"] {
                let event = event_to(&format!("e{no}{topic}"), Some(tenant), to_topic(topic));
                let follows = |who: &&str| plain.follows.contains(&(id(who), id(topic), Some(id(tenant))));
                let expected: Vec<&str> = PEOPLE.into_iter().filter(follows).collect();
                prop_assert_eq!(world.reached(event).0, expected);
            }
            let event = event_to(&format!("e{no}"), Some(tenant), everyone());
            let is_member = |who: &&str| plain.members.contains(&(id(tenant), id(who)));
            let expected: Vec<&str> = PEOPLE.into_iter().filter(is_member).collect();
            prop_assert_eq!(world.reached(event).0, expected);
        }
    }
}
