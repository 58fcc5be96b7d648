//! Costs that must not grow: with days, with what others do, or with the square of what one does. Work is counted.

use std::sync::atomic::{AtomicU64, Ordering};

use super::bounds::{World, person};
use crate::engine::InboxQuery;
use crate::engine::replies::reply::PublishedAs;
use crate::engine::tests::*;
use crate::model::command::{MarkKind, Marked};
use crate::model::limits::Bound;
use crate::model::recipient::RecipientState;
use crate::model::tenant::View;
use crate::model::time::{DAY_MS, HOUR_MS};

/// A view that counts what is read.
struct Counted<'s> {
    stored: &'s Stored,
    reads: AtomicU64,
}

fn about(name: &str, object: &str) -> Command {
    let Command::Publish(mut event) = event(0) else { unreachable!("an event is published") };
    event.id = id(name);
    event.object.id = id(object);
    Command::Publish(event)
}

/// Number of rows of objects there are, of whatever table.
fn object_rows(stored: &Stored) -> usize {
    let tables = [Table::Objects, Table::ObjectDays, Table::Withdrawn];
    let keys = stored
        .0
        .keys()
        .filter(|(at, _)| *at == Partition::Base)
        .filter(|(_, key)| tables.iter().any(|table| key[2] == *table as u8));
    keys.count()
}

#[test]
fn objects_are_forgotten_with_the_newest_day_that_names_them() {
    let options = Options::default();
    let mut world = World::new(options);
    let mut rules = world.engine.rules().unwrap().clone();
    rules.store.keep_ms = 3 * DAY_MS;
    let step = world.engine.set_rules(&world.stored, &Reach::new(), Instant(0), rules).unwrap();
    world.stored.commit(step.writes);
    world.play(Instant(0), &[person("a", RecipientState::Active)]);
    let mut rows = Vec::new();
    for day in 0..20 {
        let start = day * DAY_MS;
        world.play(Instant(start), &[]);
        let mut commands = vec![about(&format!("always{day}"), "always")];
        for at in 0..40 {
            let object = format!("o{day}-{at}");
            commands.push(about(&format!("e{object}"), &object));
            if at % 4 == 0 {
                commands.push(Command::Retract { object: id(&object) });
            }
            commands.push(Command::Retract { object: id(&format!("unknown{day}-{at}")) });
        }
        let put = Object { notifiable: Some(false), ..Object::bare(id(&format!("put{day}"))) };
        commands.push(Command::Object(put));
        world.play(Instant(start + HOUR_MS), &commands);
        for hour in 2..24 {
            world.play(Instant(start + hour * HOUR_MS), &[]);
        }
        rows.push((object_rows(&world.stored), world.engine.intake.objects.withdrawn.len()));
        if day % 7 == 3 {
            world.check(options);
        }
    }
    // Three days before the day that goes on: 41 objects each with an index, 11 of them withdrawn. Of each earlier day the
    // withdrawn one that the host put.
    let level = |day: usize| (4 * (41 * 2 + 11) + 2 + 2 * (day - 3), 4 * 11 + day - 3);
    assert_eq!(rows[0], (41 * 2 + 11 + 2, 11), "what is unknown needs no row to be retracted");
    for (day, rows) in rows.iter().enumerate().skip(4) {
        assert_eq!(*rows, level(day), "day {day}");
    }
    let knows = |world: &World, object: &str| {
        let known = world.engine.reader(&world.stored).knows_object(&id(object));
        known.unwrap()
    };
    assert!(knows(&world, "always"));
    assert!(!knows(&world, "o3-1"));
    assert_eq!(world.engine.reader(&world.stored).kept_objects(), 20);
    // Deleted, they go as the others do.
    let retract = |day: i64| Command::Retract { object: id(&format!("put{day}")) };
    world.play(Instant(20 * DAY_MS), &(0..20).map(retract).collect::<Vec<_>>());
    assert_eq!(world.engine.reader(&world.stored).kept_objects(), 0);
    world.check(options);
    for day in 21..25 {
        world.play(Instant(day * DAY_MS), &[]);
    }
    assert_eq!(object_rows(&world.stored), 0);
}

#[test]
fn what_the_host_said_of_objects_is_bounded_and_survives_a_restart() {
    let options = Options::default();
    let mut world = World::new(options);
    let mut rules = world.engine.rules().unwrap().clone();
    rules.limits = rules.limits.with(Bound::Objects, 2);
    let step = world.engine.set_rules(&world.stored, &Reach::new(), Instant(0), rules).unwrap();
    world.stored.commit(step.writes);
    let put = |name: &str| {
        Command::Object(Object { title: Some("A title".into()), ..Object::bare(id(name)) })
    };
    let bare = Command::Object(Object::bare(id("bare")));
    let resolved = |name: &str| match put(name) {
        Command::Object(object) => Command::Resolved(object),
        other => other,
    };
    let commands = [
        put("a"),
        put("b"),
        put("a"),
        bare,
        resolved("c"),
        about("e", "d"),
        put("e"),
        Command::Retract { object: id("a") },
        put("e"),
    ];
    let step = world.engine.step(&world.stored, &Reach::new(), Instant(1), &commands).unwrap();
    world.stored.commit(step.writes);
    let refused: Vec<usize> =
        (0..).zip(&step.replies).filter_map(|(at, reply)| reply.is_err().then_some(at)).collect();
    assert_eq!(refused, [6]);
    let hint = step.replies[6].as_ref().unwrap_err().to_string();
    assert_eq!(hint, "the store would keep 3 objects, more than 2");
    world.check(options);
    assert_eq!(world.engine.reader(&world.stored).kept_objects(), 2);
}

#[test]
fn marks_on_what_nothing_names_are_not_kept() {
    let mut world = World::new(Options::default());
    world.play(Instant(0), &[person("a", RecipientState::Active), about("e", "o")]);
    let seen = |object: &str| Command::Mark {
        recipient: id("a"),
        what: Marked::Object(id(object)),
        kind: MarkKind::Seen,
        view: View::All,
    };
    let marks: Vec<Command> = (0..1000).map(|at| seen(&format!("x{at}"))).collect();
    let marks = [marks, vec![seen("o")]].concat();
    let before = world.stored.0.len();
    world.play(Instant(1), &marks);
    assert!(world.stored.0.len() < before + 10);
    let page = world.engine.reader(&world.stored).inbox(&id("a"), &InboxQuery::newest(9)).unwrap();
    assert!(page.groups[0].seen);
}

#[test]
fn an_id_that_came_before_is_a_duplicate_whatever_its_type_is_now() {
    let mut world = World::new(Options::default());
    world.play(Instant(0), &[person("a", RecipientState::Active), about("e", "o")]);
    let mut rules = world.engine.rules().unwrap().clone();
    rules.types.clear();
    let step = world.engine.set_rules(&world.stored, &Reach::new(), Instant(1), rules).unwrap();
    world.stored.commit(step.writes);
    let commands = [about("e", "o"), about("f", "o")];
    let step = world.engine.step(&world.stored, &Reach::new(), Instant(2), &commands).unwrap();
    let [Ok(Reply::Published(again)), Err(Refused::UnknownType { .. })] = &step.replies[..] else {
        panic!("{:?}", step.replies)
    };
    assert_eq!(again.status, PublishedAs::Duplicate);
}

impl ReadView for Counted<'_> {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.stored.get(partition, key)
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        self.stored.scan(partition, from, until, &mut |key, value| {
            self.reads.fetch_add(1, Ordering::Relaxed);
            visit(key, value)
        })
    }
}

#[test]
fn what_is_scheduled_for_others_is_not_read() {
    let mut world = World::new(Options { buckets: 1, ..Options::default() });
    world.play(
        Instant(0),
        &[person("a", RecipientState::Active), person("b", RecipientState::Active)],
    );
    let events: Vec<Command> = (0..500)
        .map(|at| {
            let Command::Publish(mut event) = about(&format!("e{at}"), "o") else {
                unreachable!("an event is published")
            };
            let who = if at % 100 == 0 { "a" } else { "b" };
            event.to = Audience { recipients: vec![id(who)], ..Audience::default() };
            event.deliver_at = Some(Instant(HOUR_MS + at));
            Command::Publish(event)
        })
        .collect();
    world.play(Instant(1), &events);
    for reopened in [false, true] {
        if reopened {
            world.check(Options::default());
        }
        let view = Counted { stored: &world.stored, reads: AtomicU64::new(0) };
        let scheduled = world.engine.reader(&view).scheduled(&id("a")).unwrap();
        let names: Vec<&str> = scheduled.iter().map(|entry| entry.event.as_str()).collect();
        assert_eq!(names, ["e0", "e100", "e200", "e300", "e400"]);
        assert_eq!(view.reads.into_inner(), 5, "a read for each of theirs");
    }
}

/// The cost of telling one recipient of so many events, each of which was marked or not: reads of the
/// view while messages are planned and inbox and badge are looked at.
fn cost(events: usize) -> u64 {
    let mut world = World::new(Options { buckets: 1, ..Options::default() });
    world.play(Instant(0), &[person("a", RecipientState::Active)]);
    let names: Vec<usize> = (0..events).collect();
    for (at, names) in (1..).zip(names.chunks(500)) {
        let events = names.iter().map(|n| about(&format!("e{n}"), &format!("o{n}")));
        world.play(Instant(at), &events.collect::<Vec<_>>());
    }
    let marks = names.iter().map(|n| Command::Mark {
        recipient: id("a"),
        what: if n % 2 == 0 {
            Marked::Object(id(&format!("o{n}")))
        } else {
            Marked::Event(id(&format!("e{n}")))
        },
        kind: MarkKind::Seen,
        view: View::All,
    });
    world.play(Instant(HOUR_MS), &marks.collect::<Vec<_>>());
    let now = Instant(DAY_MS);
    let step = world.engine.fall_due(&world.stored, now).unwrap();
    world.stored.commit(step.writes);
    let view = Counted { stored: &world.stored, reads: AtomicU64::new(0) };
    let mut planned = 0;
    for closing in world.engine.open_closings().unmade() {
        let plan = world.engine.planner(&view).plan(closing, 100).unwrap().unwrap();
        planned += plan.entries();
    }
    assert_eq!(planned, events);
    let page = world.engine.reader(&view).inbox(&id("a"), &InboxQuery::newest(50)).unwrap();
    assert!(page.groups.iter().all(|group| group.seen));
    view.reads.into_inner()
}

#[test]
fn p12_a_message_of_very_many_with_marks_costs_each_the_same() {
    let (few, many) = (cost(500), cost(4_000));
    assert!(many <= 10 * few, "{few} reads for 500 events, {many} for 4,000");
}
