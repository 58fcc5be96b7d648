//! A clock that was ahead and is put right (A7): what waits is due by it again, also after a restart.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tidings_core::model::{DAY_MS, EMAIL, HOUR_MS, MINUTE_MS};
use tidings_core::rules::{Policy, Route};
use tidings_core::{Instant, Rules};
use tidings_node::channel::{MessageHead, Outcome, Scope};
use tidings_node::{Delivery, Handle, Retries, Runtime, VirtualClock};
use tidings_store::{MemoryStore, Store};

use crate::world::*;

const AHEAD: [i64; 3] = [HOUR_MS, 3 * DAY_MS, 400 * DAY_MS];

/// Ten o'clock, when the clock is ahead by so much; and six seconds later.
const RIGHT: Instant = Instant(MONDAY.0 + 10 * HOUR_MS);
const LATER: Instant = Instant(RIGHT.0 + 6_000);

/// [`rules`] with `news` on a cool-down of four minutes.
fn with_news() -> Rules {
    let mut rules = rules();
    let mut kind = rules.types["bill"].clone();
    let policy = Policy::Cooldown { quiet_ms: 4 * MINUTE_MS, max_wait_ms: None };
    kind.channels = BTreeMap::from([(EMAIL.to_owned(), Route::of(policy))]);
    rules.types.insert("news".to_owned(), kind);
    rules
}

fn begin(store: &Arc<dyn Store>, clock: &Arc<VirtualClock>) -> (Runtime, AnswerRecorder) {
    let (gate, keeper) = Gate::new();
    let channels = BTreeMap::from([(EMAIL.to_owned(), plain(gate))]);
    let delivery = Delivery::new(channels, Retries::default());
    let clock = Arc::clone(clock);
    let opened = Runtime::start(over(store), with_news(), delivery, clock, settings());
    (opened.unwrap(), keeper)
}

fn set(handle: &Handle, clock: &VirtualClock, now: Instant) {
    clock.set(now);
    handle.wake().unwrap();
    round(handle);
}

/// The message that is handed over next. A test fails where none is within five minutes.
fn next(keeper: &AnswerRecorder) -> MessageHead {
    let next = keeper.handed.recv_timeout(Duration::from_secs(300));
    Arc::unwrap_or_clone(next.expect("nothing is handed over").head)
}

#[test]
fn a7_what_is_due_by_the_right_clock_goes_also_after_a_restart() {
    for ahead_ms in AHEAD {
        for restarts in [false, true] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let clock = clock(RIGHT.plus_ms(ahead_ms));
            let (mut runtime, mut keeper) = begin(&store, &clock);
            let commands =
                vec![person("ann"), publish("e1", "news", "ann"), publish("e2", "note", "ann")];
            runtime.handle().submit(commands).unwrap();
            if restarts {
                runtime.stop().unwrap();
                clock.set(LATER);
                (runtime, keeper) = begin(&store, &clock);
            }
            let handle = runtime.handle();
            set(&handle, &clock, LATER);
            let waits = |handle: &Handle| handle.look(|node| node.books().unwrap().pending);
            assert_eq!(waits(&handle).unwrap(), 2);
            set(&handle, &clock, LATER.plus_ms(4 * MINUTE_MS - 1));
            assert!(keeper.handed.try_recv().is_err(), "too early");
            let due = LATER.plus_ms(4 * MINUTE_MS);
            set(&handle, &clock, due);
            let head = next(&keeper);
            assert_eq!((&*head.lane, head.at), ("cooldown", due));
            // It is not of a time to come: who looks sees since when it waits.
            let oldest = handle.look(|node| node.engine().open_closings().oldest_due()).unwrap();
            assert_eq!(oldest, Some(due));
            keeper.pass();
            let slot = MONDAY.plus_ms(DAY_MS + 9 * HOUR_MS);
            set(&handle, &clock, slot);
            assert_eq!(next(&keeper).at, slot);
            keeper.pass();
            assert_eq!(settled(&handle).delivered, 2);
            // Also once the clock is where it was, nothing goes again.
            set(&handle, &clock, RIGHT.plus_ms(ahead_ms + 2 * DAY_MS));
            handle.submit(vec![publish("e1", "news", "ann")]).unwrap();
            assert_eq!(settled(&handle).messages, 2);
            runtime.stop().unwrap();
            assert!(keeper.handed.try_recv().is_err(), "handed over again");
        }
    }
}

#[test]
fn a7_a_retry_waits_from_now_also_after_a_restart() {
    for ahead_ms in AHEAD {
        for restarts in [false, true] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let clock = clock(RIGHT.plus_ms(ahead_ms));
            let (mut runtime, mut keeper) = begin(&store, &clock);
            let mut handle = runtime.handle();
            handle.submit(vec![person("ann"), publish("e1", "bill", "ann")]).unwrap();
            let first = next(&keeper);
            keeper.later();
            while retrying(&handle, None).count == 0 {
                std::thread::yield_now();
            }
            if restarts {
                runtime.stop().unwrap();
                clock.set(LATER);
                (runtime, keeper) = begin(&store, &clock);
                handle = runtime.handle();
            }
            set(&handle, &clock, LATER);
            let waits = retrying(&handle, None);
            let again = waits.messages[0].summary.tried.unwrap().until;
            // Half a minute, and up to a tenth more.
            assert!((LATER..=LATER.plus_ms(33_000)).contains(&again), "{again}");
            assert!(keeper.handed.try_recv().is_err(), "too early");
            set(&handle, &clock, again);
            assert_eq!(next(&keeper).id, first.id);
            keeper.pass();
            let books = settled(&handle);
            assert_eq!((books.messages, books.delivered, books.resent), (1, 1, 0));
            runtime.stop().unwrap();
        }
    }
}

#[test]
fn a7_a_provider_that_was_left_alone_is_asked_again() {
    for ahead_ms in AHEAD {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let clock = clock(RIGHT.plus_ms(ahead_ms));
        let (runtime, keeper) = begin(&store, &clock);
        let handle = runtime.handle();
        handle.submit(vec![person("ann"), publish("e1", "bill", "ann")]).unwrap();
        next(&keeper);
        keeper.answer(Outcome::Away {
            scope: Scope::Provider,
            why: "busy".to_owned(),
            after_ms: Some(MINUTE_MS),
        });
        while retrying(&handle, None).count == 0 {
            std::thread::yield_now();
        }
        handle.submit(vec![publish("e2", "bill", "ann")]).unwrap();
        round(&handle);
        assert!(keeper.handed.try_recv().is_err(), "it is left alone");
        set(&handle, &clock, LATER);
        next(&keeper);
        keeper.pass();
        set(&handle, &clock, LATER.plus_ms(2 * MINUTE_MS));
        next(&keeper);
        keeper.pass();
        assert_eq!(settled(&handle).delivered, 2);
        runtime.stop().unwrap();
    }
}

#[test]
fn a7_a_step_back_of_a_minute_is_waited_for() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clock = clock(RIGHT);
    let (runtime, keeper) = begin(&store, &clock);
    let handle = runtime.handle();
    handle.submit(vec![person("ann"), publish("e1", "news", "ann")]).unwrap();
    set(&handle, &clock, RIGHT.plus_ms(-MINUTE_MS));
    let now = handle.look(|node| node.engine().now()).unwrap();
    assert_eq!(now, RIGHT);
    set(&handle, &clock, RIGHT.plus_ms(4 * MINUTE_MS - 1));
    assert!(keeper.handed.try_recv().is_err(), "too early");
    set(&handle, &clock, RIGHT.plus_ms(4 * MINUTE_MS));
    assert_eq!(next(&keeper).at, RIGHT.plus_ms(4 * MINUTE_MS));
    keeper.pass();
    assert_eq!(settled(&handle).delivered, 1);
    runtime.stop().unwrap();
}
