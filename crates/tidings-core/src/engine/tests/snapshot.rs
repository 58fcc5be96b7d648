//! Snapshots cost a step what it touches: no roster, map or column is copied as a whole. Bytes are counted, but
//! for those of the sets, which have an eighth of a byte for each recipient.

use crate::engine::tests::*;
use crate::sets::shared::copied;

const MINUTE_MS: i64 = 60_000;

/// An engine of one bucket with recipients, all of whom wait for a mail.
struct World {
    stored: Stored,
    engine: Engine,
    recipients: usize,
    now: Instant,
}

fn person(number: usize) -> Command {
    let name = id(&format!("p{number}"));
    Command::Recipient(Box::new(RecipientChange::nothing(name)))
}

fn to_one(name: usize, number: usize) -> Command {
    let Command::Publish(mut event) = event(name) else { unreachable!("an event is published") };
    event.to = Audience { recipients: vec![id(&format!("p{number}"))], ..Audience::default() };
    Command::Publish(event)
}

impl World {
    fn new(recipients: usize) -> Self {
        let options = Options { buckets: 1, ..Options::default() };
        let (stored, now) = (Stored::default(), Instant(0));
        let engine = Engine::open(&stored, &[], options).unwrap();
        let mut world = Self { stored, engine, recipients, now };
        let mut rules = rules();
        let kind = rules.types.get_mut("told").unwrap();
        let route = Route::of(Policy::Cooldown { quiet_ms: 10 * MINUTE_MS, max_wait_ms: None });
        kind.channels.insert("email".to_owned(), route);
        let step = world.engine.set_rules(&world.stored, &Reach::new(), now, rules).unwrap();
        world.stored.commit(step.writes);
        let people: Vec<Command> = (0..recipients).map(person).collect();
        world.copied_by(&people);
        world.copied_by(&[event(0)]);
        world
    }

    /// The bytes that a step copies while a reader has what was before.
    fn copied_by(&mut self, commands: &[Command]) -> usize {
        let snapshot = self.engine.snapshot();
        self.now = self.now.plus_ms(1);
        copied::take();
        let step = self.engine.step(&self.stored, &Reach::new(), self.now, commands).unwrap();
        assert!(step.replies.iter().all(Result::is_ok));
        self.stored.commit(step.writes);
        drop(snapshot);
        copied::take()
    }
}

/// Asserts that as much is copied in a world as in one of twice its size.
fn same_in_both(what: impl Fn(&mut World) -> usize, most: usize) {
    let [small, large] = [20_000, 40_000].map(|recipients| what(&mut World::new(recipients)));
    assert!(small > 0 && large <= most, "{small} and {large} bytes");
    assert!(large <= small + small / 3, "{small} and {large} bytes");
}

#[test]
fn a_slice_of_an_import_copies_what_lies_beside_it() {
    let import = |world: &mut World| {
        let first = world.recipients;
        let people: Vec<Command> = (first..first + 100).map(person).collect();
        world.copied_by(&people)
    };
    same_in_both(import, 100 * 8 * 1024);
}

#[test]
fn events_to_one_each_copy_a_page_each() {
    let publish = |world: &mut World| {
        let distance = world.recipients / 50;
        let events = (0..50).map(|at| to_one(at + 1, at * distance));
        world.copied_by(&events.collect::<Vec<_>>())
    };
    same_in_both(publish, 50 * 32 * 1024);
}

#[test]
fn an_event_to_everybody_copies_their_windows_and_nothing_else() {
    let mut world = World::new(20_000);
    let windows = size_of::<crate::rules::deadline::Window>() * world.recipients;
    let copied = world.copied_by(&[event(1)]);
    assert!(copied >= windows, "each window moves: {copied} bytes");
    assert!(copied <= windows + 64 * 1024, "{copied} bytes of {windows}");
}

#[test]
fn nothing_is_copied_of_what_did_not_change() {
    let mut world = World::new(1000);
    let (first, second) = (world.engine.snapshot(), world.engine.snapshot());
    let bucket = |engine: &Engine| std::ptr::from_ref(engine.shards.bucket(BucketNo(0)));
    assert_eq!(bucket(&first), bucket(&second));
    assert_eq!(world.copied_by(&[]), 0);
}
