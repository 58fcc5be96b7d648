//! Figures over divisions of a store, deleted days and stores of earlier versions.

use crate::engine::figures::key::{FigureSource, day_key, since_key};
use crate::engine::tests::*;
use crate::model::command::Cancelled;
use crate::model::time::DAY_MS;

/// An engine of so many shards over a store in memory.
struct World {
    stored: Stored,
    engine: Engine,
}

impl World {
    /// Ten people, who are told in their inbox at once and by mail in ten days.
    fn new(shards: u16) -> Self {
        let mut stored = Stored::default();
        let options = Options { shards, ..Options::default() };
        let mut engine = Engine::open(&stored, &[], options).unwrap();
        let mut rules = rules();
        let late = Policy::FirstEvent { hold_ms: 10 * DAY_MS, decide: crate::rules::Decide::First };
        let told = rules.types.get_mut("told").unwrap();
        told.channels.insert("email".to_owned(), Route::of(late));
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules).unwrap();
        stored.commit(step.writes);
        let mut world = Self { stored, engine };
        let person = |number| RecipientChange::nothing(id(&format!("r{number}")));
        let people: Vec<_> =
            (0..10).map(|number| Command::Recipient(Box::new(person(number)))).collect();
        world.step(0, &people);
        world
    }

    fn step(&mut self, at: i64, commands: &[Command]) {
        let step = self.engine.step(&self.stored, &Reach::new(), Instant(at), commands).unwrap();
        assert!(step.replies.iter().all(Result::is_ok), "{:?}", step.replies);
        let forgotten = step.forgotten.clone();
        self.stored.commit(step.writes);
        self.stored.0.retain(|(at, _), _| forgotten.iter().all(|day| *at != Partition::Day(*day)));
    }

    fn chores(&mut self) {
        while let Some(writes) = self.engine.chore(&self.stored).unwrap() {
            self.stored.commit(writes);
        }
    }

    /// The same store with another number of shards.
    fn divided(self, shards: u16) -> Self {
        let days: BTreeSet<Day> = self
            .stored
            .0
            .keys()
            .filter_map(|(at, _)| match at {
                Partition::Base => None,
                Partition::Day(day) => Some(*day),
            })
            .collect();
        let days: Vec<Day> = days.into_iter().collect();
        let options = Options { shards, ..Options::default() };
        let engine = Engine::open(&self.stored, &days, options).unwrap();
        Self { engine, ..self }
    }

    /// The figures by day, type and channel, which are those of the ledger.
    fn figures(&self) -> FiguresReport {
        let reader = self.engine.reader(&self.stored);
        assert_eq!(reader.walk().unwrap().disagreements, [""; 0]);
        let today = self.engine.newest_step().day();
        reader.figures(&FiguresQuery::of_days(Day(0)..Day(today.0 + 1)), today).unwrap()
    }

    /// A count of mails of the first day.
    fn mails(&self, measure: Measure, word: &str) -> u64 {
        let row = FigureRow {
            of: ["1970-01-01", "told", "email"].map(|of| Some(of.to_owned())).into(),
            values: Vec::new(),
        };
        let rows = self.figures().rows;
        let row = rows.iter().find(|known| known.of == row.of).unwrap();
        let value = row.values.iter().find(|(of, _)| *of == measure);
        match value.and_then(|(_, value)| value.clone()).unwrap() {
            FigureValues::Count(count) => count,
            FigureValues::Counts(counts) => {
                counts.iter().find(|(of, _)| *of == word).map_or(0, |(_, count)| *count)
            }
            FigureValues::Delays(delays) => delays.n,
        }
    }
}

#[test]
fn what_one_shard_counted_another_ends_after_the_division_changed() {
    let mut world = World::new(7);
    world.step(5, &[event(1), event(2)]);
    assert_eq!(world.mails(Measure::Entries, ""), 20);
    for shards in [2, 5] {
        world = world.divided(shards);
        assert_eq!(world.mails(Measure::Entries, ""), 20);
    }
    let cancel = Command::Cancel { what: Cancelled::Event(id("e1")), tenant: None };
    world.step(9, &[cancel]);
    assert_eq!(world.mails(Measure::Ended, "cancelled"), 10);
    world = world.divided(3);
    world.step(2 * DAY_MS, &[Command::Forget { before: Day(1) }]);
    assert_eq!(world.mails(Measure::Ended, "expired"), 10);
    assert_eq!(world.mails(Measure::Reasons, "forgotten"), 10);
    world.chores();
    assert_eq!(world.mails(Measure::Ended, "cancelled"), 10);
    assert_eq!(world.mails(Measure::Ended, "expired"), 10);
}

#[test]
fn a_deleted_day_becomes_one_row_and_goes_when_its_time_is_over() {
    let mut world = World::new(1);
    world.step(5, &[event(1)]);
    let before = world.figures().rows;
    let rows = |world: &World, table| {
        let prefix = FigureSource::Shard(0).table(table).day(Day(0)).done();
        let mut rows = 0;
        each(&world.stored, Partition::Base, &prefix, |_, _| {
            rows += 1;
            Ok(())
        })
        .unwrap();
        rows
    };
    assert!(rows(&world, Table::Figures) > 1 && rows(&world, Table::HourFigures) > 1);
    world.step(8 * DAY_MS, &[Command::Forget { before: Day(1) }]);
    let forgotten = world.figures().rows;
    world.chores();
    assert_eq!(world.figures().rows, forgotten);
    assert_ne!(forgotten, before, "what waited has expired");
    assert_eq!((rows(&world, Table::Figures), rows(&world, Table::HourFigures)), (0, 0));
    let key = day_key(FigureSource::Shard(0), Day(0));
    assert!(world.stored.0.contains_key(&(Partition::Base, key.clone())));
    world.step(801 * DAY_MS, &[event(2)]);
    world.chores();
    assert!(!world.stored.0.contains_key(&(Partition::Base, key)));
    assert_eq!(world.figures().days_without, [Day(0)]);
}

#[test]
fn a_store_that_did_not_count_begins_with_the_day_after() {
    let mut world = World::new(1);
    world.step(5, &[event(1)]);
    // As an earlier version left it.
    let is_figures = |key: &[u8]| {
        let tables = [Table::HourFigures, Table::Figures, Table::TenantFigures, Table::DayFigures];
        key == since_key() || tables.iter().any(|table| key.get(2) == Some(&(*table as u8)))
    };
    world.stored.0.retain(|(_, key), _| !is_figures(key));
    world = world.divided(1);
    world.step(DAY_MS / 2, &[event(2)]);
    let report = world.figures();
    assert_eq!((report.days_without, report.rows), (vec![Day(0)], Vec::new()));
    world.step(DAY_MS, &[event(3)]);
    world = world.divided(1);
    let report = world.figures();
    assert_eq!(report.days_without, [Day(0)]);
    assert!(report.rows.iter().all(|row| row.of[0].as_deref() == Some("1970-01-02")));
    assert!(!report.rows.is_empty());
}

#[test]
fn an_answer_with_more_rows_than_are_allowed_is_refused_whole() {
    let mut world = World::new(1);
    for at in [0, DAY_MS] {
        world.step(at, &[event(usize::try_from(at).unwrap() + 1)]);
    }
    let report = |rows_max| {
        let query = FiguresQuery {
            by: vec![GroupBy::Day],
            rows_max,
            ..FiguresQuery::of_days(Day(0)..Day(9))
        };
        world.engine.reader(&world.stored).figures(&query, Day(1)).unwrap()
    };
    assert!(!report(2).is_too_large && report(2).rows.len() == 2);
    assert!(report(1).is_too_large && report(1).rows.is_empty());
}
