//! Commands of hosts and operators while messages are on their way: cancel, pause, erase.

use std::sync::Arc;
use std::sync::mpsc::TryRecvError;

use tidings_core::Command;
use tidings_core::engine::{Reply, TakenBackEntries};
use tidings_core::model::{
    Cancelled, EMAIL, HOUR_MS, Mode, PauseSubject, Paused, PreferenceScope, Reason,
};
use tidings_node::channel::{Channels, Outcome};
use tidings_node::{DurableSnapshot, Handle, Runtime, VirtualClock};
use tidings_store::{MemoryStore, Store};

use crate::world::*;

/// A runtime of one sender behind a gate, with four recipients.
fn gated(store: &Arc<dyn Store>, clock: &Arc<VirtualClock>) -> (Runtime, AnswerRecorder) {
    let (gate, keeper) = Gate::new();
    let runtime = start(over(store), plain(gate), clock, settings());
    let people = ["ann", "ben", "cid", "dan"].map(person).to_vec();
    runtime.handle().submit(people).unwrap();
    (runtime, keeper)
}

fn in_memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Lets hours pass until nothing is pending.
fn by_the_hour(handle: &Handle, clock: &VirtualClock, each: impl Fn()) {
    let mut hours = 0;
    while handle.look(|node| node.books().unwrap().pending).unwrap() > 0 {
        hours += 1;
        clock.set(MONDAY.plus_ms(hours * HOUR_MS));
        handle.wake().unwrap();
        // What goes again is on record before.
        round(handle);
        each();
    }
}

fn cancel(handle: &Handle, event: &str) -> TakenBackEntries {
    let command = Command::Cancel { what: Cancelled::Event(id(event)), tenant: None };
    match handle.submit(vec![command]).unwrap().pop() {
        Some(Ok(Reply::Cancelled(taken))) => taken,
        other => panic!("{other:?}"),
    }
}

fn taken(cancelled: u64, removed_from_batch: u64, too_late: u64) -> TakenBackEntries {
    TakenBackEntries {
        cancelled,
        removed_from_batch,
        too_late,
        events: 1,
        ..TakenBackEntries::default()
    }
}

/// Acceptance T26, P3: what waits is cancelled; what stands in a message that was not handed over is
/// taken out of it, and the rest of the message goes; for what is on its way it is too late.
#[test]
fn t26_a_cancel_takes_out_of_a_message_what_was_not_handed_over() {
    let (runtime, keeper) = gated(&in_memory(), &clock(MONDAY));
    let handle = runtime.handle();
    handle.submit(vec![publish("e0", "bill", "ann")]).unwrap();
    assert_eq!(keeper.next().recipient, Some(id("ann")), "the only sender is busy");
    handle
        .submit(vec![
            publish("e1", "bill", "ben"),
            publish("e2", "bill", "ben"),
            publish("e3", "bill", "cid"),
            publish("n1", "note", "dan"),
        ])
        .unwrap();
    round(&handle);

    assert_eq!(cancel(&handle, "e1"), taken(0, 1, 0));
    assert_eq!(cancel(&handle, "e3"), taken(0, 1, 0));
    assert_eq!(cancel(&handle, "n1"), taken(1, 0, 0));
    assert_eq!(cancel(&handle, "e0"), taken(0, 0, 1));
    for event in ["e1", "e3", "n1"] {
        assert_eq!(cancel(&handle, event), taken(0, 0, 0), "{event} once more");
    }
    let remembered = TakenBackEntries { remembered: true, ..TakenBackEntries::default() };
    assert_eq!(cancel(&handle, "nothing"), remembered);

    keeper.pass();
    let rest = keeper.handed.recv().unwrap();
    assert_eq!((&rest.head.recipient, rest.head.entries), (&Some(id("ben")), 1));
    let content = String::from_utf8(rest.bytes).unwrap();
    for (event, is_told) in [("e1", false), ("e2", true), ("e3", false)] {
        let object = format!("object-of-{event}");
        assert_eq!(content.contains(&object), is_told, "{event}: {content}");
    }
    keeper.pass();
    let books = settled(&handle);
    assert_eq!((books.messages, books.delivered, books.cancelled), (2, 2, 3));
    runtime.stop().unwrap();
    assert!(keeper.handed.try_recv().is_err());
}

/// Messages that surely were not sent and wait for a retry can be taken back; what may have been sent
/// can't.
#[test]
fn t26_doubt_makes_it_too_late() {
    for sure in [true, false] {
        let clock = clock(MONDAY);
        let (runtime, keeper) = gated(&in_memory(), &clock);
        let handle = runtime.handle();
        handle.submit(vec![publish("e0", "bill", "ann")]).unwrap();
        keeper.next();
        if sure {
            keeper.later();
            // The answer may still be on its way to the loop.
            while cancel(&handle, "e0") != taken(0, 1, 0) {
                std::thread::yield_now();
            }
        } else {
            keeper.answer(Outcome::Unknown { why: "the line dropped".to_owned() });
            let mut again = 0;
            while keeper.handed.try_recv().is_err() {
                again += 1;
                clock.set(MONDAY.plus_ms(again * HOUR_MS));
                assert_eq!(cancel(&handle, "e0"), taken(0, 0, 1));
            }
            keeper.pass();
        }
        let books = settled(&handle);
        assert_eq!(books.delivered, u64::from(!sure));
        assert_eq!(books.cancelled, u64::from(sure));
        assert_eq!(books.messages, u64::from(!sure));
        runtime.stop().unwrap();
    }
}

/// A message of which a day was forgotten before it was handed over is not sent any more: all that it tells
/// has expired.
#[test]
fn a_message_that_was_forgotten_in_shard_expires() {
    let clock = clock(MONDAY);
    let (runtime, keeper) = gated(&in_memory(), &clock);
    let handle = runtime.handle();
    clock.set(MONDAY.plus_ms(10 * HOUR_MS));
    handle.submit(vec![publish("n1", "note", "ben")]).unwrap();
    let tuesday = MONDAY.plus_ms(24 * HOUR_MS);
    clock.set(tuesday);
    handle
        .submit(vec![
            publish("e0", "bill", "ann"),
            publish("n2", "note", "ben"),
            publish("n3", "note", "ben"),
        ])
        .unwrap();
    assert_eq!(keeper.next().recipient, Some(id("ann")), "the sender is busy");
    clock.set(tuesday.plus_ms(9 * HOUR_MS));
    handle.wake().unwrap();
    round(&handle);
    let before = tuesday.day();
    handle.submit(vec![Command::Forget { before }]).unwrap();
    let expired = handle.look(|node| node.books().unwrap().expired);
    assert_eq!(expired.unwrap(), 3);
    assert_eq!(cancel(&handle, "n3"), taken(0, 0, 1));

    keeper.pass();
    let books = settled(&handle);
    assert_eq!((books.delivered, books.expired), (1, 3));
    runtime.stop().unwrap();
    assert!(keeper.handed.try_recv().is_err());
}

/// A message that may have arrived at one attempt is not called failed because no later one came through.
#[test]
fn doubt_is_not_forgotten_when_the_provider_stays_away() {
    let clock = clock(MONDAY);
    let (runtime, keeper) = gated(&in_memory(), &clock);
    let handle = runtime.handle();
    handle.submit(vec![publish("e0", "bill", "ann")]).unwrap();
    keeper.next();
    keeper.answer(Outcome::Unknown { why: "the line dropped".to_owned() });
    by_the_hour(&handle, &clock, || {
        if keeper.handed.try_recv().is_ok() {
            keeper.later();
        }
    });
    let books = settled(&handle);
    assert_eq!((books.unknown, books.failed), (1, 0));
    runtime.stop().unwrap();
}

/// Acceptance H19: who never wants to hear of a type again hears nothing of it, not even by a message
/// that was made and waits. The rest of such a message goes.
#[test]
fn h19_never_takes_out_of_a_message_what_was_not_handed_over() {
    let (runtime, keeper) = gated(&in_memory(), &clock(MONDAY));
    let handle = runtime.handle();
    handle.submit(vec![publish("e0", "bill", "ann")]).unwrap();
    keeper.next();
    handle.submit(vec![publish("e1", "bill", "ben"), publish("e2", "bill", "cid")]).unwrap();
    round(&handle);
    for (who, kind) in [("ann", "bill"), ("ben", "bill"), ("cid", "note")] {
        let never = Command::Preference {
            tenant: None,
            recipient: id(who),
            scope: PreferenceScope::Type(kind.to_owned()),
            channel: EMAIL.to_owned(),
            mode: Mode::Never,
            by: tidings_core::model::ChangedBy::Key,
        };
        handle.submit(vec![never]).unwrap();
    }
    let told = |event: &'static str| {
        let fate = move |node: &DurableSnapshot| {
            let (engine, view) = (node.engine(), node.view());
            let trace = engine.reader(view).trace(&id(event)).unwrap().unwrap();
            trace.report(view).unwrap().channels.remove(EMAIL).unwrap()
        };
        handle.look(fate).unwrap()
    };
    assert_eq!(told("e1").reasons, [(Reason::Preference, 1)].into());
    assert_eq!((told("e0").pending, told("e2").pending), (1, 1));
    keeper.pass();
    assert_eq!(keeper.next().recipient, Some(id("cid")));
    keeper.pass();
    let books = settled(&handle);
    assert_eq!((books.messages, books.delivered, books.cancelled), (2, 2, 1));
    runtime.stop().unwrap();
    assert!(keeper.handed.try_recv().is_err());
}

/// While a channel or a type is paused nothing of it is handed over, not even what was made; after a
/// restart it is still so. Then everything goes, once.
#[test]
fn what_is_paused_holds_what_was_made() {
    for what in [PauseSubject::Channel(EMAIL.to_owned()), PauseSubject::Type(id("bill"))] {
        holds_what_was_made(&what);
    }
}

fn holds_what_was_made(what: &PauseSubject) {
    let (store, clock) = (in_memory(), clock(MONDAY));
    let (runtime, keeper) = gated(&store, &clock);
    let handle = runtime.handle();
    handle.submit(vec![publish("e0", "bill", "ann")]).unwrap();
    keeper.next();
    handle.submit(vec![publish("e1", "bill", "ben")]).unwrap();
    round(&handle);
    handle.submit(vec![Command::Pause(what.clone())]).unwrap();
    handle.submit(vec![publish("e2", "bill", "cid")]).unwrap();
    keeper.pass();
    while handle.look(|node| node.books().unwrap().delivered).unwrap() == 0 {
        std::thread::yield_now();
    }
    clock.set(MONDAY.plus_ms(HOUR_MS));
    handle.wake().unwrap();
    round(&handle);
    assert_eq!(keeper.handed.try_recv().unwrap_err(), TryRecvError::Empty);
    runtime.stop().unwrap();

    let (runtime, keeper) = gated(&store, &clock);
    let handle = runtime.handle();
    round(&handle);
    assert_eq!(keeper.handed.try_recv().unwrap_err(), TryRecvError::Empty);
    assert!(handle.look(|node| *node.engine().paused() != Paused::default()).unwrap());
    handle.submit(vec![Command::Resume(what.clone())]).unwrap();
    let mut told = Vec::new();
    for _ in 0..2 {
        told.push(keeper.next().recipient);
        keeper.pass();
    }
    told.sort();
    assert_eq!(told, ["ben", "cid"].map(|who| Some(id(who))));
    let books = settled(&handle);
    // Nothing says after a stop that what was made was not handed over.
    assert_eq!((books.messages, books.delivered, books.resent), (3, 3, 1));
    runtime.stop().unwrap();
}

/// A message on its way when a configuration is put in force ends with the channel that has it; what
/// waits in the queue then leaves by the new one.
#[test]
fn a_new_configuration_brings_its_channels() {
    let (runtime, old) = gated(&in_memory(), &clock(MONDAY));
    let handle = runtime.handle();
    handle.submit(vec![publish("e0", "bill", "ann")]).unwrap();
    assert_eq!(old.next().recipient, Some(id("ann")));
    handle.submit(vec![publish("e1", "bill", "ben")]).unwrap();
    round(&handle);
    let (gate, new) = Gate::new();
    let channels = Channels::from([(EMAIL.to_owned(), plain(gate))]);
    handle.configure(rules(), channels).unwrap();
    old.pass();
    assert_eq!(new.next().recipient, Some(id("ben")));
    new.pass();
    let books = settled(&handle);
    assert_eq!((books.messages, books.delivered, books.resent), (2, 2, 0));
    runtime.stop().unwrap();
    assert!(old.handed.try_recv().is_err());
}

/// No attempt is made to somebody who was erased, not even where somebody else has their id now: what
/// was not handed over ends as cancelled.
#[test]
fn nothing_is_sent_to_somebody_who_was_erased() {
    let clock = clock(MONDAY);
    let (runtime, keeper) = gated(&in_memory(), &clock);
    let handle = runtime.handle();
    handle.submit(vec![publish("e0", "bill", "ann")]).unwrap();
    keeper.next();
    handle.submit(vec![publish("e1", "bill", "ben")]).unwrap();
    round(&handle);
    for name in ["ann", "ben"] {
        let recipient = id(name);
        handle.submit(vec![Command::Erase { recipient }]).unwrap();
    }
    handle.submit(vec![person("ann")]).unwrap();
    // It was handed over before, and is not tried again.
    keeper.later();
    by_the_hour(&handle, &clock, || ());
    let books = settled(&handle);
    assert_eq!((books.delivered, books.cancelled), (0, 2));
    runtime.stop().unwrap();
    assert!(keeper.handed.try_recv().is_err());
}
