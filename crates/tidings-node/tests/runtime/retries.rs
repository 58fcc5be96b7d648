//! Attempts survive a restart: their number, the wait until the next one, and doubt.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::TryRecvError;
use std::time::Duration;

use tidings_core::Instant;
use tidings_core::engine::{MessageInRetry, MessagesInRetry, Options};
use tidings_core::model::EMAIL;
use tidings_node::channel::Outcome;
use tidings_node::{Delivery, Retries, Runtime, Settings, VirtualClock};
use tidings_store::{MemoryStore, Store};

use crate::world::*;

/// A store and a clock that outlive a node.
struct Place {
    store: Arc<dyn Store>,
    clock: Arc<VirtualClock>,
    options: Options,
}

impl Place {
    fn new() -> Self {
        Self {
            store: Arc::new(MemoryStore::new()),
            clock: clock(MONDAY),
            options: Options::default(),
        }
    }

    fn begin(&self, attempts_max: u32) -> (Runtime, AnswerRecorder) {
        let (gate, keeper) = Gate::new();
        let channels = BTreeMap::from([(EMAIL.to_owned(), plain(gate))]);
        let retries = Retries { attempts_max, ..Retries::default() };
        let delivery = Delivery::new(channels, retries);
        let settings = Settings { options: self.options, ..settings() };
        let clock = Arc::clone(&self.clock);
        let opened = Runtime::start(over(&self.store), rules(), delivery, clock, settings);
        (opened.unwrap(), keeper)
    }

    /// A node on which the first attempt of a bill for `ann` was answered and noted, and then stopped.
    fn tried_once(&self, answer: Outcome) {
        let (runtime, keeper) = self.begin(2);
        let handle = runtime.handle();
        let commands = vec![person("ann"), publish("e1", "bill", "ann")];
        handle.submit(commands).unwrap();
        keeper.next();
        keeper.answer(answer);
        while retrying(&handle, None).count == 0 {
            std::thread::yield_now();
        }
        runtime.stop().unwrap();
    }

    fn pass_ms(&self, ms: i64) {
        self.clock.set(MONDAY.plus_ms(ms));
    }
}

fn later() -> Outcome {
    Outcome::Retry { why: "busy".to_owned(), after_ms: None }
}

fn dropped() -> Outcome {
    Outcome::Unknown { why: "the line dropped".to_owned() }
}

fn attempts(message: &MessageInRetry) -> u32 {
    message.summary.tried.unwrap().count
}

/// Asserts that one message waits after its first attempt, for 30 seconds and up to a tenth more.
fn assert_waits(found: &MessagesInRetry) -> Instant {
    let [message] = found.messages.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(message.summary.recipient, Some(id("ann")));
    assert_eq!((attempts(message), message.last.is_some()), (1, true));
    let next = message.summary.tried.unwrap().until;
    let wait_ms = next.0 - MONDAY.0;
    assert!((30_000..=33_000).contains(&wait_ms), "{wait_ms}");
    next
}

#[test]
fn a_message_waits_for_what_is_left_of_its_wait() {
    for checkpoint_after in [Options::default().checkpoint_after, 1] {
        let mut place = Place::new();
        place.options.checkpoint_after = checkpoint_after;
        place.tried_once(later());
        place.pass_ms(29_000);
        let (runtime, keeper) = place.begin(2);
        let handle = runtime.handle();
        round(&handle);
        let next = assert_waits(&retrying(&handle, None));
        assert!(matches!(keeper.handed.try_recv(), Err(TryRecvError::Empty)));
        place.clock.set(next);
        handle.wake().unwrap();
        keeper.next();
        keeper.pass();
        let books = settled(&handle);
        assert_eq!((books.delivered, books.resent), (1, 0), "surely once");
        runtime.stop().unwrap();
    }
}

#[test]
fn attempts_count_across_a_restart() {
    let place = Place::new();
    place.tried_once(later());
    place.pass_ms(20_000);
    let (runtime, keeper) = place.begin(2);
    let handle = runtime.handle();
    place.clock.set(assert_waits(&retrying(&handle, None)));
    handle.wake().unwrap();
    keeper.next();
    keeper.later();
    let books = settled(&handle);
    assert_eq!((books.failed, books.unknown), (1, 0));
    runtime.stop().unwrap();
}

#[test]
fn what_its_type_gives_up_after_a_time_is_not_tried_after_it() {
    let mut rules = rules();
    for kind in rules.types.values_mut() {
        kind.give_up_after_ms = Some(600_000);
    }
    for (answer, failed, unknown) in [(later(), 1, 0), (dropped(), 0, 1)] {
        let place = Place::new();
        let (gate, keeper) = Gate::new();
        let clock = &place.clock;
        let over = over(&place.store);
        let runtime = start_under(rules.clone(), over, plain(gate), clock, settings());
        let handle = runtime.handle();
        let commands = vec![person("ann"), publish("e1", "bill", "ann")];
        handle.submit(commands).unwrap();
        keeper.next();
        keeper.answer(answer);
        while retrying(&handle, None).count == 0 {
            std::thread::yield_now();
        }
        // It was due at the beginning; nobody was awake when it was to be tried again.
        place.pass_ms(600_001);
        handle.wake().unwrap();
        let books = settled(&handle);
        assert_eq!((books.failed, books.unknown), (failed, unknown));
        assert!(keeper.handed.try_recv().is_err(), "it was tried again");
        runtime.stop().unwrap();
    }
}

#[test]
fn a_second_doubt_after_a_restart_ends_as_unknown() {
    let place = Place::new();
    place.tried_once(dropped());
    place.pass_ms(20_000);
    let (runtime, keeper) = place.begin(9);
    let handle = runtime.handle();
    place.clock.set(assert_waits(&retrying(&handle, None)));
    handle.wake().unwrap();
    keeper.next();
    keeper.answer(dropped());
    let books = settled(&handle);
    assert_eq!((books.unknown, books.resent), (1, 1));
    runtime.stop().unwrap();
    assert!(keeper.handed.try_recv().is_err(), "a third time");
}

/// Ends a process while a channel has its message, as a crash does: nobody hears the answer.
fn ended_while_sending(place: &Place) {
    let (runtime, keeper) = place.begin(9);
    keeper.next();
    runtime.stop_within(Duration::ZERO).unwrap();
    drop(keeper);
}

#[test]
fn a_message_is_handed_over_twice_at_most_however_often_processes_end() {
    let place = Place::new();
    let (runtime, keeper) = place.begin(9);
    let commands = vec![person("ann"), publish("e1", "bill", "ann")];
    runtime.handle().submit(commands).unwrap();
    keeper.next();
    runtime.stop_within(Duration::ZERO).unwrap();
    ended_while_sending(&place);

    let (runtime, third) = place.begin(9);
    third.pass();
    let books = settled(&runtime.handle());
    assert_eq!((books.unknown, books.resent), (1, 1));
    runtime.stop().unwrap();
    assert!(third.handed.try_recv().is_err(), "a third time");
}

#[test]
fn an_unknown_outcome_after_a_process_ended_is_the_second_doubt() {
    let place = Place::new();
    let (runtime, keeper) = place.begin(9);
    let commands = vec![person("ann"), publish("e1", "bill", "ann")];
    runtime.handle().submit(commands).unwrap();
    keeper.next();
    runtime.stop_within(Duration::ZERO).unwrap();

    let (runtime, second) = place.begin(9);
    let handle = runtime.handle();
    second.next();
    second.answer(dropped());
    while handle.look(|node| node.books().unwrap()).unwrap().unknown == 0 {
        assert_eq!(retrying(&handle, None).count, 0, "a third attempt is to come");
    }
    runtime.stop().unwrap();
}

#[test]
fn a_second_attempt_that_was_surely_none_leaves_one_to_make() {
    let place = Place::new();
    place.tried_once(dropped());
    let (runtime, keeper) = place.begin(9);
    let handle = runtime.handle();
    place.clock.set(assert_waits(&retrying(&handle, None)));
    handle.wake().unwrap();
    keeper.next();
    keeper.later();
    while retrying(&handle, None).messages.iter().all(|one| attempts(one) < 2) {
        std::thread::yield_now();
    }
    runtime.stop().unwrap();
    // However long nobody ran: that it goes again would be on record.
    place.pass_ms(86_400_000);
    let (runtime, keeper) = place.begin(9);
    keeper.next();
    keeper.pass();
    let books = settled(&runtime.handle());
    assert_eq!((books.delivered, books.unknown), (1, 0));
    runtime.stop().unwrap();
}

#[test]
fn a_stop_after_the_next_attempt_was_due_leaves_doubt() {
    let place = Place::new();
    place.tried_once(later());
    place.pass_ms(34_000);
    let (runtime, keeper) = place.begin(2);
    keeper.next();
    keeper.pass();
    let books = settled(&runtime.handle());
    assert_eq!((books.delivered, books.resent), (1, 1));
    runtime.stop().unwrap();
}

#[test]
fn what_waits_is_seen_without_a_node_that_sends() {
    let place = Place::new();
    place.tried_once(later());
    let looking = Runtime::look(Arc::clone(&place.store), place.options).unwrap();
    assert_waits(&retrying(&looking.handle(), None));
    looking.stop().unwrap();
}
