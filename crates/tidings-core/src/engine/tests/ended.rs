//! Entries that ended by themselves are in memory for as long as somebody may ask for it.

use crate::engine::tests::*;
use crate::model::channel::EMAIL_NO;
use crate::model::command::{Cancelled, PauseSubject};
use crate::model::number::Seq;

const SECOND: i64 = 1_000;

fn cancel(name: usize) -> Command {
    Command::Cancel { what: Cancelled::Event(id(&format!("e{name}"))), tenant: None }
}

/// An engine in which mails go out when it was quiet for a second, with one recipient.
pub(super) fn with_mail(options: Options) -> (Stored, Engine) {
    let mut rules = rules();
    let quiet = Policy::Cooldown { quiet_ms: SECOND, max_wait_ms: Some(10 * SECOND) };
    let route = Route::of(quiet);
    let kind = rules.types.get_mut("told").unwrap();
    kind.channels.insert("email".to_owned(), route);
    let mut stored = Stored::default();
    let mut engine = Engine::open(&stored, &[], options).unwrap();
    let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules).unwrap();
    stored.commit(step.writes);
    let Command::Recipient(mut change) = recipient() else {
        unreachable!("that is what it makes");
    };
    change.addresses = [(EMAIL_NO, vec!["a@example.org".into()])].into();
    let step =
        engine.step(&stored, &Reach::new(), Instant(0), &[Command::Recipient(change)]).unwrap();
    stored.commit(step.writes);
    (stored, engine)
}

fn rest(stored: &mut Stored, engine: &mut Engine) {
    while let Some(writes) = engine.chore(stored).unwrap() {
        stored.commit(writes);
    }
}

/// The counts of a cancel of these events: how many entries it ends, and how many are out of reach.
fn cancelled(
    stored: &mut Stored,
    engine: &mut Engine,
    at: i64,
    names: std::ops::Range<usize>,
) -> (u64, u64) {
    let commands: Vec<Command> = names.map(cancel).collect();
    let step = engine.step(stored, &Reach::new(), Instant(at), &commands).unwrap();
    stored.commit(step.writes);
    let mut sum = (0, 0);
    for reply in step.replies {
        let Ok(Reply::Cancelled(back)) = reply else {
            panic!("{reply:?}");
        };
        sum.0 += back.cancelled;
        sum.1 += back.too_late;
    }
    sum
}

#[test]
fn what_ended_is_let_go_once_its_window_is_closed_and_made() {
    let options =
        Options { buckets: 1, index_after: Some(0), checkpoint_after: 0, ..Options::default() };
    let (mut stored, mut engine) = with_mail(options);
    let remembered = |engine: &Engine| {
        let events = |seq| engine.shards.bucket(BucketNo(0)).ended.of(seq, EMAIL_NO).is_some();
        (0..engine.shards.bucket(BucketNo(0)).next_seq.0)
            .map(Seq)
            .filter(|seq| events(*seq))
            .count()
    };
    for (window, names) in (1..).zip([0..100, 100..200]) {
        let at = window * 60 * SECOND;
        let commands: Vec<Command> = names.clone().map(event).collect();
        let step = engine.step(&stored, &Reach::new(), Instant(at), &commands).unwrap();
        stored.commit(step.writes);
        // The mail's entries end, it is too late for the inbox's; the second time for all.
        let ended = cancelled(&mut stored, &mut engine, at + 1, names.clone());
        assert_eq!(ended, (100, 100));
        rest(&mut stored, &mut engine);
        assert_eq!(remembered(&engine), 100, "the window {window} is open");
        let step = engine.fall_due(&stored, Instant(at + 2 * SECOND)).unwrap();
        stored.commit(step.writes);
        let closed = engine.open_closings().unmade();
        assert_eq!(closed.len(), 1);
        for closing in closed {
            let now = Instant(at + 2 * SECOND);
            let plan = engine.planner(&stored).plan(closing, 10).unwrap();
            let step = engine.made(&stored, now, &[plan.unwrap()]).unwrap();
            stored.commit(step.writes);
        }
    }
    rest(&mut stored, &mut engine);
    let rows = rows_of(&stored, Owner::Bucket(BucketNo(0)), Table::Ended);
    assert_eq!(rows, remembered(&engine), "the store lets go as memory does");
    let again = cancelled(&mut stored, &mut engine, 600 * SECOND, 0..200);
    assert_eq!(again, (0, 200), "the journal knows that the mail's had ended");
    let mut again = Engine::open(&stored, &[Day(0)], options).unwrap();
    assert_eq!(remembered(&again), remembered(&engine));
    assert_eq!(cancelled(&mut stored, &mut again, 601 * SECOND, 0..200), (0, 200));
}

#[test]
fn a_pause_holds_the_inbox_entry_of_who_was_erased_at_its_instant() {
    let (mut stored, mut engine) = with_recipient(Options::default());
    let erase = Command::Erase { recipient: id("a") };
    let pause = Command::Pause(PauseSubject::Channel("inbox".to_owned()));
    let commands = [event(0), erase, pause];
    let step = engine.step(&stored, &Reach::new(), Instant(1), &commands).unwrap();
    stored.commit(step.writes);
    let books = engine.reader(&stored).walk().unwrap().books;
    assert_eq!((books.pending, books.cancelled), (1, 0), "{books:?}");
}

#[test]
fn a_pause_of_a_type_holds_nothing_of_who_was_erased_at_its_instant() {
    let (mut stored, mut engine) = with_recipient(Options::default());
    let erase = Command::Erase { recipient: id("a") };
    let pause = Command::Pause(PauseSubject::Type(id("told")));
    let commands = [event(0), erase, pause];
    let step = engine.step(&stored, &Reach::new(), Instant(1), &commands).unwrap();
    stored.commit(step.writes);
    let books = engine.reader(&stored).walk().unwrap().books;
    assert_eq!((books.pending, books.cancelled), (0, 1), "{books:?}");
}
