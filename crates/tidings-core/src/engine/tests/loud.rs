//! Of a type that waits in thousands, what is taken back or set apart is written in rows that can be read.

use super::ended::with_mail;
use crate::bucket::storage::recovery;
use crate::engine::tests::*;
use crate::journal::record::Record;
use crate::model::command::PauseSubject;

const EVENTS: usize = 20_000;
const SECOND: i64 = 1_000;

#[test]
fn what_goes_another_way_is_cut_into_rows_and_told_whole() {
    let options = Options { buckets: 1, ..Options::default() };
    let (mut stored, mut engine) = with_mail(options);
    let events: Vec<Command> = (0..EVENTS).map(event).collect();
    let step = engine.step(&stored, &Reach::new(), Instant(1), &events).unwrap();
    stored.commit(step.writes);
    let told = PauseSubject::Type(id("told"));
    for (at, command) in [(2, Command::Pause(told.clone())), (3, Command::Resume(told))] {
        let step = engine.step(&stored, &Reach::new(), Instant(at), &[command]).unwrap();
        let longest = step
            .writes
            .iter()
            .filter_map(|write| write.value.as_ref())
            .map(Vec::len)
            .max()
            .unwrap();
        assert!(longest <= 2 << 20, "a row of {longest} bytes");
        stored.commit(step.writes);
        engine = Engine::open(&stored, &[Day(0)], options).unwrap();
    }
    let records = recovery::records(BucketNo(0), &stored, Day(0)).unwrap();
    let moves = records.values().filter_map(|record| match record {
        Record::Move { arrivals, .. } => Some(arrivals.len()),
        _ => None,
    });
    let moves: Vec<usize> = moves.collect();
    assert!(moves.len() > 2, "{moves:?}");
    assert_eq!(moves.iter().sum::<usize>(), 2 * EVENTS);

    // The window kept its deadline, and who is told hears of everything, in order.
    let due = Instant(1 + SECOND);
    assert_eq!(engine.next_due(), Some(due));
    let step = engine.fall_due(&stored, due).unwrap();
    stored.commit(step.writes);
    let [closing] = engine.open_closings().unmade()[..] else {
        panic!("one window");
    };
    let plan = engine.planner(&stored).plan(closing, 10).unwrap().unwrap();
    let message = engine.message(&plan, &plan.messages[0]).unwrap();
    let heard = message.items.iter().map(|item| item.event.clone());
    assert!(heard.eq((0..EVENTS).map(|name| id(&format!("e{name}")))));
    let walk = engine.reader(&stored).walk().unwrap();
    assert_eq!(walk.books.entries, 2 * EVENTS as u64);
}
