//! Accepted commands can be stored: no value passes 1 MiB and no key 1 KiB, whatever commands leave behind
//! (`Stored::commit` looks at each).

use proptest::prelude::*;

use crate::engine::tests::*;
use crate::engine::{ClosingResults, InboxQuery};
use crate::model::channel::EMAIL_NO;
use crate::model::command::{Cancelled, MarkKind, Marked};
use crate::model::occurrence::ChangedBy;
use crate::model::recipient::RecipientState;
use crate::model::tenant::View;
use crate::model::time::{DAY_MS, HOUR_MS};
use crate::rules::{Digest, Every};

/// A text of 256 bytes that begins with a name.
fn long(name: &str) -> String {
    format!("{name}{}", "x".repeat(256 - name.len()))
}

/// The deepest topic of a name, 256 bytes long: what lies above it is nearly as long.
fn deepest(name: usize) -> String {
    let levels = "/x".repeat(15);
    format!("{}{levels}", &long(&format!("{name}-"))[..256 - levels.len()])
}

pub(super) fn person(name: &str, state: RecipientState) -> Command {
    Command::Recipient(Box::new(RecipientChange {
        addresses: [(EMAIL_NO, vec!["a@example.org".into()])].into(),
        state: Some(state),
        ..RecipientChange::nothing(id(name))
    }))
}

fn told(name: &str, to: Audience) -> Event {
    let Command::Publish(event) = event(0) else { unreachable!("an event is published") };
    Event { id: id(&long(name)), to, ..*event }
}

fn with_mail() -> Rules {
    let mut rules = rules();
    let digest = Digest::new(Every::Day, 0);
    rules.digests.insert("daily".to_owned(), digest);
    let route = Route::of;
    let policy = Policy::Digest { digest: "daily".to_owned() };
    let kind = rules.types.get_mut("told").unwrap();
    kind.channels.insert("email".to_owned(), route(policy));
    rules
}

/// An engine over what it has stored, each step of which is committed.
pub(super) struct World {
    pub(super) stored: Stored,
    pub(super) engine: Engine,
    now: Instant,
}

impl World {
    pub(super) fn new(options: Options) -> Self {
        let mut stored = Stored::default();
        let mut engine = Engine::open(&stored, &[], options).unwrap();
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), with_mail()).unwrap();
        stored.commit(step.writes);
        Self { stored, engine, now: Instant(0) }
    }

    /// Plays an instant: what is due, what comes in, the messages, the chores.
    pub(super) fn play(&mut self, now: Instant, commands: &[Command]) {
        self.now = now;
        let step = self.engine.fall_due(&self.stored, now).unwrap();
        self.stored.commit(step.writes);
        if now == now.day().start()
            && let Some(before) = self.engine.forgets_before(now)
        {
            let step = self.engine.forget_before(&self.stored, &Reach::new(), now, before).unwrap();
            self.stored.commit(step.writes);
            for day in step.forgotten {
                self.stored.0.retain(|(partition, _), _| *partition != Partition::Day(day));
            }
        }
        let step = self.engine.step(&self.stored, &Reach::new(), now, commands).unwrap();
        self.stored.commit(step.writes);
        for reply in step.replies {
            reply.unwrap();
        }
        for closing in self.engine.open_closings().unmade() {
            let plan = self.engine.planner(&self.stored).plan(closing, 10_000).unwrap().unwrap();
            let made = self.engine.made(&self.stored, now, slice::from_ref(&plan)).unwrap();
            self.stored.commit(made.writes);
            let settled = [ClosingResults::delivered(&plan)];
            let noted = self.engine.outcome(&self.stored, now, &settled).unwrap();
            self.stored.commit(noted.writes);
        }
        while let Some(writes) = self.engine.chore(&self.stored).unwrap() {
            self.stored.commit(writes);
        }
    }

    /// Opens the engine anew and holds what is stored against what was counted.
    pub(super) fn check(&mut self, options: Options) {
        let days: BTreeSet<Day> = self
            .stored
            .0
            .keys()
            .filter_map(|(partition, _)| match partition {
                Partition::Day(day) => Some(*day),
                Partition::Base => None,
            })
            .collect();
        let days: Vec<Day> = days.into_iter().collect();
        self.engine = Engine::open(&self.stored, &days, options).unwrap();
        let walk = self.engine.reader(&self.stored).walk().unwrap();
        assert_eq!((walk.books.lost, walk.books.duplicates), (0, 0));
        assert!(walk.disagreements.is_empty(), "{:?}", walk.disagreements);
    }
}

fn follow(recipient: &str, topic: &str) -> Command {
    Command::Subscribe { recipient: id(recipient), topic: id(topic), tenant: None }
}

#[test]
fn reasons_of_a_day_are_indexed_in_rows_that_can_be_stored() {
    let options = Options { buckets: 1, ..Options::default() };
    let mut world = World::new(options);
    let topics: Vec<String> = (0..100).map(deepest).collect();
    let all = topics.iter().flat_map(|topic| crate::model::topic::followed_paths(topic));
    let mut commands = vec![person("a", RecipientState::Active)];
    commands.extend(all.map(|topic| follow("a", topic)));
    world.play(Instant(0), &commands);
    let to = || Audience {
        topics: topics.iter().map(|topic| id(topic)).collect(),
        ..Audience::default()
    };
    for name in 0..24 {
        let event = told(&format!("e{name}-"), to());
        let at = Instant(HOUR_MS + i64::from(name));
        world.play(at, &[Command::Publish(Box::new(event))]);
    }
    // The day is over: its arrivals become segments.
    world.play(Instant(DAY_MS + HOUR_MS), &[person("b", RecipientState::Active)]);
    assert!(world.engine.shards.bucket(BucketNo(0)).index.days[&Day(0)].tail.is_empty());
    let page = world.engine.reader(&world.stored).inbox(&id("a"), &InboxQuery::newest(100));
    let groups = page.unwrap().groups;
    let reasons: Vec<usize> =
        groups.iter().flat_map(|group| &group.items).map(|item| item.reasons.len()).collect();
    assert_eq!(reasons, [1600; 24]);
    let report = world.engine.reader(&world.stored).trace(&id(&long("e7-"))).unwrap();
    assert!(report.is_some(), "an event within a row is found");
    world.check(options);
}

#[derive(Clone, Debug)]
struct Extreme {
    recipients: usize,
    topics: usize,
    events: usize,
    disabled: usize,
    later: bool,
    data: usize,
    together: bool,
    seed: u64,
}

fn extreme() -> impl Strategy<Value = Extreme> {
    (
        (1..300_usize, 1..100_usize, 1..8_usize, 0..3_usize),
        (any::<bool>(), 0..200_usize << 10, any::<bool>(), any::<u64>()),
    )
        .prop_map(|((recipients, topics, events, disabled), (later, data, together, seed))| {
            Extreme { recipients, topics, events, disabled, later, data, together, seed }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn no_accepted_command_leads_to_a_value_that_can_not_be_stored(world in extreme()) {
        let options = Options { buckets: 1, index_after: Some(1), ..Options::default() };
        let mut random = world.seed | 1;
        let mut chance = move || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random & 1 == 1
        };
        let topics: Vec<String> = (0..world.topics).map(deepest).collect();
        let heard: Vec<&str> = topics
            .iter()
            .flat_map(|topic| crate::model::topic::followed_paths(topic))
            .collect();
        let people: Vec<String> = (0..world.recipients).map(|n| long(&format!("r{n}-"))).collect();
        let mut commands = Vec::new();
        for (at, name) in people.iter().enumerate() {
            let state = if at % 3 < world.disabled { RecipientState::Disabled } else { RecipientState::Active };
            commands.push(person(name, state));
        }
        for name in &people {
            let some = heard.iter().filter(|_| chance());
            commands.extend(some.map(|topic| follow(name, topic)));
        }
        let mut played = World::new(options);
        played.play(Instant(0), &commands);
        let mut events = Vec::new();
        for name in 0..world.events {
            let to = Audience {
                recipients: people.iter().map(|name| id(name)).collect(),
                topics: topics.iter().map(|topic| id(topic)).collect(),
                ..Audience::default()
            };
            let mut event = told(&format!("e{name}-"), to);
            event.cancellation_key = Some(id(&long("k")));
            event.deliver_at = world.later.then_some(Instant(2 * HOUR_MS));
            let text = serde_json::Value::from("x".repeat(world.data));
            event.data = Some([("text".to_owned(), text)].into_iter().collect());
            if crate::model::limits::Limits::default().check_event(&event).is_err() {
                event.data = None;
            }
            events.push(Command::Publish(Box::new(event)));
        }
        if world.together { played.play(Instant(HOUR_MS), &events) } else { for (at, event) in (HOUR_MS..).zip(&events) {
                played.play(Instant(at), slice::from_ref(event));
            } }
        let mark = |what| Command::Mark {
            recipient: id(&people[0]),
            what,
            kind: MarkKind::Seen,
            view: View::All,
        };
        let choice = |mode| Command::Preference {
            recipient: id(&people[0]),
            scope: PreferenceScope::Type("told".to_owned()),
            channel: "email".to_owned(),
            mode,
            tenant: None,
            by: ChangedBy::Key,
        };
        played.play(Instant(3 * HOUR_MS), &[
            mark(Marked::UpTo(Instant(HOUR_MS))),
            mark(Marked::Object(id("o"))),
            mark(Marked::Event(id(&long("e0-")))),
            choice(Mode::Immediate),
            Command::Cancel { what: Cancelled::Event(id(&long("e1-"))), tenant: None },
        ]);
        played.play(Instant(DAY_MS), &[]);
        played.play(Instant(DAY_MS + HOUR_MS), &[choice(Mode::Never)]);
        played.check(options);
        played.play(Instant(2 * DAY_MS), &[]);
    }
}
