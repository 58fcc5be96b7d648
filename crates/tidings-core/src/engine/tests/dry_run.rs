//! Dry runs: what a command would be answered and whom it would touch, and nothing changes.

use super::ended::with_mail;
use crate::engine::tests::*;
use crate::model::command::Cancelled;
use crate::model::occurrence::ChangedBy;
use crate::model::time::DAY_MS;

const OPTIONS: Options = Options {
    buckets: 4,
    shards: 2,
    index_after: None,
    checkpoint_after: 64,
    slice_bytes: 1 << 20,
    row_bytes: 1 << 20,
    fresh_key: [0; 16],
};

/// An engine over its store, with recipients `a` to `e`, of whom all but `e` have a mail address.
struct World {
    stored: Stored,
    engine: Engine,
    now: Instant,
}

impl World {
    fn new() -> Self {
        let (stored, engine) = with_mail(OPTIONS);
        let mut world = Self { stored, engine, now: Instant(0) };
        for name in ["b", "c", "d", "e"] {
            let change = RecipientChange::nothing(id(name));
            world.act(&Command::Recipient(Box::new(change)));
        }
        world
    }

    /// Does a command after a dry run, which must have answered the same and changed nothing; returns what it counted.
    fn act(&mut self, command: &Command) -> CommandConcerns {
        let mut again = Engine::open(&self.stored, &[Day(0), Day(1)], OPTIONS).unwrap();
        let reach = Reach::new();
        let dry = self.engine.dry_run(&self.stored, &reach, self.now, command).unwrap();
        let commands = slice::from_ref(command);
        let step = self.engine.step(&self.stored, &reach, self.now, commands).unwrap();
        assert_eq!(step.replies, [dry.reply]);
        let undisturbed = again.step(&self.stored, &reach, self.now, commands).unwrap();
        assert_eq!(step.writes, undisturbed.writes, "{command:?}");
        self.stored.commit(step.writes);
        dry.concerns
    }

    fn pending(&self) -> u64 {
        let walk = self.engine.reader(&self.stored).walk().unwrap();
        assert_eq!(walk.disagreements, Vec::<String>::new());
        walk.books.pending
    }
}

fn of(people: u64, entries: u64, messages: u64) -> CommandConcerns {
    CommandConcerns { people, entries, messages }
}

fn published(name: &str, change: impl FnOnce(&mut Event)) -> Command {
    let Command::Publish(mut of) = event(0) else { unreachable!("that is what it makes") };
    of.id = id(name);
    change(&mut of);
    Command::Publish(of)
}

fn cancel(name: &str) -> Command {
    Command::Cancel { what: Cancelled::Event(id(name)), tenant: None }
}

fn flush(name: &str) -> Command {
    let recipient = id(name);
    Command::Flush { recipient, channel: None, lane: None, key: None, view: View::All }
}

#[test]
fn a_publish_concerns_those_who_get_an_entry_and_a_cancel_those_who_lose_one() {
    let mut world = World::new();
    let never = Command::Preference {
        recipient: id("e"),
        scope: PreferenceScope::Type("told".to_owned()),
        channel: "email".to_owned(),
        mode: Mode::Never,
        tenant: None,
        by: ChangedBy::Key,
    };
    world.act(&never);
    assert_eq!(world.act(&published("e1", |_| {})), of(5, 9, 0));
    assert_eq!(world.act(&published("e1", |_| {})), of(0, 0, 0), "it is known");
    let one = |event: &mut Event| event.to.except = [id("a"), id("b")].into();
    assert_eq!(world.act(&published("e2", one)), of(3, 5, 0));
    assert_eq!(world.pending(), 6);
    let withdraw = Command::Withdraw { what: Cancelled::Event(id("e2")), tenant: None };
    assert_eq!(world.act(&cancel("e1")), of(4, 4, 0));
    assert_eq!(world.act(&withdraw), of(3, 5, 0), "two that wait, three in inboxes");
    assert_eq!(world.act(&withdraw), of(0, 0, 0));
    assert_eq!(world.pending(), 0);
    assert_eq!(world.act(&cancel("e3")), of(0, 0, 0), "it is remembered");
    assert_eq!(world.act(&published("e3", |_| {})), of(0, 0, 0), "it was cancelled ahead");
}

#[test]
fn what_waits_for_its_time_counts_as_what_waits_in_a_lane() {
    let mut world = World::new();
    let later = |event: &mut Event| event.deliver_at = Some(Instant(DAY_MS));
    assert_eq!(world.act(&published("e1", later)), of(5, 10, 0));
    assert_eq!(world.act(&published("e2", |_| {})), of(5, 10, 0));
    let erase = Command::Erase { recipient: id("b") };
    assert_eq!(world.act(&erase), of(1, 3, 0), "two scheduled entries and a mail");
    assert_eq!(world.act(&erase), of(0, 0, 0), "refused");
    // Those of who was erased end with the others.
    assert_eq!(world.act(&cancel("e1")), of(5, 10, 0));
}

#[test]
fn a_flush_concerns_its_lanes_and_their_entries() {
    let mut world = World::new();
    assert_eq!(world.act(&flush("a")), of(0, 0, 0));
    for name in ["e1", "e2"] {
        world.act(&published(name, |_| {}));
    }
    assert_eq!(world.act(&flush("a")), of(1, 2, 1));
}

#[test]
fn what_is_due_at_the_instant_of_a_dry_run_is_none_of_its_effects() {
    let mut world = World::new();
    let later = |event: &mut Event| event.deliver_at = Some(Instant(1_000));
    world.act(&published("e1", later));
    world.now = Instant(1_000);
    assert_eq!(
        world.act(&published("e2", |event| event.to.except = [id("a")].into())),
        of(4, 8, 0)
    );
}

#[test]
fn a_dry_publish_leaves_no_event_in_caches_under_the_place_of_the_next() {
    let mut world = World::new();
    let (reach, now) = (Reach::new(), Instant(1));
    let supposed = published("supposed", |event| event.object = Object::bare(id("other")));
    world.engine.dry_run(&world.stored, &reach, now, &supposed).unwrap();
    world.now = now;
    world.act(&event(1));
    let step = world.engine.fall_due(&world.stored, Instant(5_000)).unwrap();
    world.stored.commit(step.writes);
    let closing = world.engine.open_closings().unmade()[0];
    let plan = world.engine.planner(&world.stored).plan(closing, 9).unwrap().unwrap();
    let message = world.engine.message(&plan, &plan.messages[0]);
    assert!(message.is_none_or(|message| message.items[0].event == id("e1")));
}

#[test]
fn a_supposed_event_is_told_over_its_audience_as_it_then_is() {
    let mut world = World::new();
    let never = |name: &str, channel: &str| Command::Preference {
        recipient: id(name),
        scope: PreferenceScope::Type("told".to_owned()),
        channel: channel.to_owned(),
        mode: Mode::Never,
        tenant: None,
        by: ChangedBy::Key,
    };
    for (name, channel) in [("e", "email"), ("d", "email"), ("d", "inbox")] {
        world.act(&never(name, channel));
    }
    let event = published("e1", |event| event.to.except = [id("a")].into());
    let Command::Publish(supposed) = event.clone() else { unreachable!("that is what it makes") };
    let explained = |world: &World, subject: ExplainSubject| {
        world.engine.reader(&world.stored).explain_audience(subject, world.now)
    };
    let told = explained(&world, ExplainSubject::Supposed(supposed)).unwrap();
    assert!(told.supposed);
    assert_eq!((told.concerned, told.notifications), (4, 3));
    let of = |channel: &str| {
        let ChannelReport { fate, left_out } = &told.channels[channel];
        (fate.entries, fate.pending, left_out.clone())
    };
    assert_eq!(of("inbox"), (3, 0, [("preference", 1)].into()), "told at once");
    assert_eq!(of("email"), (2, 2, [("preference", 2)].into()));
    let unknown = explained(&world, ExplainSubject::Event(id("e1")));
    assert_eq!(unknown, Err(ExplainError::UnknownEvent(id("e1"))));
    world.act(&event);
    let known = explained(&world, ExplainSubject::Event(id("e1"))).unwrap();
    assert_eq!(AudienceReport { supposed: true, ..known }, told);
}
