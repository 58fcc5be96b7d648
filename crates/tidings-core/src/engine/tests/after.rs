//! Channels that come after the inbox: an event enters lanes at several instants.

use std::ops::ControlFlow;

use super::bounds::{World, person};
use crate::engine::tests::*;
use crate::model::recipient::RecipientState;
use crate::model::time::{DAY_MS, MINUTE_MS};

/// Number of rows of events on a day.
fn rows(world: &World, day: Day) -> usize {
    let prefix = Key::of(Owner::Intake, Table::Events).done();
    let mut rows = 0;
    let count = |_: &[u8], lines: &[u8]| {
        rows += lines.split(|byte| *byte == b'\n').count();
        Ok(())
    };
    each(&world.stored, Partition::Day(day), &prefix, count).unwrap();
    rows
}

#[test]
fn an_event_has_one_row_on_each_day_on_which_it_enters() {
    let options = Options::default();
    let mut world = World::new(options);
    let mut rules = world.engine.rules().unwrap().clone();
    let email = Route { after_ms: Some(30 * MINUTE_MS), ..Route::of(Policy::Now) };
    let kind = rules.types.get_mut("told").unwrap();
    kind.channels = [("inbox", Route::of(Policy::Now)), ("email", email)]
        .map(|(name, route)| (name.to_owned(), route))
        .into();
    let step = world.engine.set_rules(&world.stored, &Reach::new(), Instant(0), rules);
    world.stored.commit(step.unwrap().writes);
    world.play(Instant(0), &[person("a", RecipientState::Active), event(0)]);
    world.play(Instant(30 * MINUTE_MS), &[]);
    assert_eq!(rows(&world, Day(0)), 1);
    let late = Instant(DAY_MS - MINUTE_MS);
    world.play(late, &[event(1)]);
    world.play(late.plus_ms(MINUTE_MS), &[]);
    world.play(late.plus_ms(30 * MINUTE_MS), &[]);
    assert_eq!((rows(&world, Day(0)), rows(&world, Day(1))), (2, 1));
    world.check(options);
    let books = world.engine.reader(&world.stored).walk().unwrap().books;
    assert_eq!((books.notifications, books.entries), (2, 4));
    assert_eq!((books.delivered, books.pending), (4, 0));
    let exported = |from| {
        let mut events = Vec::new();
        let visit = &mut |at, event: Event| {
            events.push((at, event.id));
            ControlFlow::Continue(())
        };
        let read = world.engine.reader(&world.stored).each_event(from, visit);
        read.unwrap();
        events
    };
    let ids = [event(0), event(1)].map(|command| match command {
        Command::Publish(event) => event.id,
        other => panic!("{other:?} is no event"),
    });
    let [first, second] = ids;
    assert_eq!(exported(Day(0)), [(Instant(0), first), (late, second)]);
    // Nothing but a later channel is of that day.
    assert_eq!(exported(Day(1)), []);
}
