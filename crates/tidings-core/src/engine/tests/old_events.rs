//! The list of events of a store of a version that had none: after the chores it shows what it would have shown.

use crate::engine::tests::*;
use crate::model::time::DAY_MS;

const EVENTS: usize = 240;

struct World {
    stored: Stored,
    engine: Engine,
    events: usize,
}

fn options() -> Options {
    Options { buckets: 4, shards: 2, ..Options::default() }
}

fn published(number: usize, now: Instant) -> Command {
    let object = Object::bare(id(&format!("o{}", number % 7)));
    let to = Audience { everyone: true, ..Audience::default() };
    let mut event = Event::new(id(&format!("e{number}")), id("told"), object, to);
    event.actor = (!number.is_multiple_of(3)).then(|| Object::bare(id("someone")));
    // The rows of what is scheduled are elsewhere: it enters on its own day, on the next one, or is still to come.
    let later = [None, Some(1_000), Some(DAY_MS), Some(40 * DAY_MS)][number % 4]
        .filter(|_| number < EVENTS);
    event.deliver_at = later.map(|ms| now.plus_ms(ms));
    Command::Publish(Box::new(event))
}

impl World {
    fn new() -> Self {
        let (stored, engine) = with_recipient(options());
        Self { stored, engine, events: 0 }
    }

    fn publish(&mut self, now: Instant, count: usize) {
        while let Some(due) = self.engine.next_due().filter(|due| *due < now) {
            let step = self.engine.step(&self.stored, &Reach::new(), due, &[]).unwrap();
            self.stored.commit(step.writes);
        }
        let commands: Vec<Command> =
            (self.events..self.events + count).map(|number| published(number, now)).collect();
        self.events += count;
        let step = self.engine.step(&self.stored, &Reach::new(), now, &commands).unwrap();
        self.stored.commit(step.writes);
    }

    fn reopen(&mut self) {
        let days: BTreeSet<Day> = self
            .stored
            .0
            .keys()
            .filter_map(|(partition, _)| match partition {
                Partition::Base => None,
                Partition::Day(day) => Some(*day),
            })
            .collect();
        let days: Vec<Day> = days.into_iter().collect();
        self.engine = Engine::open(&self.stored, &days, options()).unwrap();
    }

    /// Takes the store back to what a version before lists wrote.
    fn forget_lists(&mut self) {
        let tables = [Table::Arrived, Table::ArrivedIndex, Table::FiguresSince, Table::OldIndexed];
        self.stored.0.retain(|(_, key), _| !tables.iter().any(|table| key[2] == *table as u8));
        self.reopen();
    }

    /// Runs a slice of the chores; false = nothing is left to do.
    fn slice(&mut self) -> bool {
        let writes = self.engine.chore(&self.stored).unwrap();
        let had_work = writes.is_some();
        self.stored.commit(writes.unwrap_or_default());
        had_work
    }

    /// The ids of a list, page by page.
    fn list(&self, filter: &EventFilter) -> Vec<Id> {
        let (mut ids, mut after) = (Vec::new(), None);
        loop {
            let reader = self.engine.reader(&self.stored);
            let page = reader.events(filter, after, 500).unwrap();
            ids.extend(page.rows.into_iter().map(|row| row.id));
            match page.next {
                Some(next) => after = Some(next),
                None => return ids,
            }
        }
    }

    fn lists(&self) -> Vec<Vec<Id>> {
        let filters = [
            EventFilter::default(),
            EventFilter { object: Some(id("o3")), ..EventFilter::default() },
            EventFilter { actor: Some(id("someone")), ..EventFilter::default() },
            EventFilter { event_type: Some(id("told")), ..EventFilter::default() },
        ];
        filters.iter().map(|filter| self.list(filter)).collect()
    }
}

/// A world of three days, the last of which is today.
fn lived() -> World {
    let mut world = World::new();
    for turn in 0..30 {
        world.publish(Instant(turn * DAY_MS / 10 + 5), EVENTS / 30);
    }
    world
}

#[test]
fn events_of_an_earlier_version_are_listed_once_they_are_indexed() {
    let mut world = lived();
    let of_recipient = EventFilter { recipient: Some(id("a")), ..EventFilter::default() };
    let all = |world: &World| (world.lists(), world.list(&of_recipient));
    let expected = all(&world);
    assert_eq!((expected.0[0].len(), expected.1.len()), (EVENTS, EVENTS));
    world.forget_lists();
    assert!(world.list(&EventFilter::default()).is_empty(), "the rows are gone");
    assert_eq!(DaysToList::of(&world.engine).0, 3);
    let mut slices = 0;
    while world.slice() {
        slices += 1;
        // A restart between any two slices goes on.
        world.reopen();
    }
    assert!(slices > 5, "{slices}");
    assert_eq!(all(&world), expected);
    world.reopen();
    assert_eq!(DaysToList::of(&world.engine).0, 0, "it is done once");
}

#[test]
fn events_that_arrive_meanwhile_are_listed_once() {
    for (slices_between, reopens) in [(0, false), (1, true), (4, false)] {
        let (mut world, mut whole) = (lived(), lived());
        world.forget_lists();
        // Of the same day, in numbers that fill ranges of the index.
        for turn in 0..5 {
            let now = Instant(29 * DAY_MS / 10 + 6 + turn);
            world.publish(now, 1_100);
            whole.publish(now, 1_100);
            for _ in 0..slices_between {
                world.slice();
            }
            if reopens {
                world.reopen();
            }
        }
        while world.slice() {}
        assert_eq!(world.lists(), whole.lists(), "{slices_between} {reopens}");
    }
}
