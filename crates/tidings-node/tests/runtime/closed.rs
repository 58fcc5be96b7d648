//! A store without a server: it is looked at, or takes something in, and nothing leaves.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tidings_core::Command;
use tidings_core::engine::{Options, Reply};
use tidings_core::model::{Cancelled, DAY_MS, EMAIL, HOUR_MS, PauseSubject, sending_channels};
use tidings_node::{Clock as _, DurableSnapshot, Runtime, RuntimeError, Settings, pause_restored};
use tidings_store::{MemoryStore, Partition, Store, Write};

use crate::world::*;

/// Everything that is stored.
fn rows(store: &dyn Store) -> Vec<Write> {
    let snapshot = store.snapshot().unwrap();
    let days = snapshot.days().unwrap().into_iter().map(Partition::Day);
    let mut rows = Vec::new();
    for partition in [Partition::Base].into_iter().chain(days) {
        let mut visit = |key: &[u8], value: &[u8]| {
            rows.push(Write { partition, key: key.to_vec(), value: Some(value.to_vec()) });
            ControlFlow::Continue(())
        };
        snapshot.scan(partition, &[], None, &mut visit).unwrap();
    }
    rows
}

fn without_sending() -> Settings {
    Settings { sends: false, ..settings() }
}

#[test]
fn what_is_due_without_a_server_waits_for_one() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (clock, mail) = (clock(MONDAY), Arc::new(Counter::default()));
    let channel = || plain(Arc::clone(&mail));
    let closed = start(over(&store), channel(), &clock, without_sending());
    let handle = closed.handle();
    handle.submit(vec![person("ann"), person("ben")]).unwrap();
    handle.submit(vec![publish("e1", "bill", "ann")]).unwrap();
    handle.submit(vec![publish("e2", "note", "ben")]).unwrap();
    clock.set(MONDAY.plus_ms(10 * HOUR_MS));
    handle.wake().unwrap();
    round(&handle);
    let agenda = |node: &DurableSnapshot| node.engine().reader(node.view()).agenda(0).unwrap();
    let agenda = handle.look(agenda).unwrap();
    assert_eq!((agenda.unmade, agenda.sending), (2, 0), "both are due");
    closed.stop().unwrap();
    assert_eq!(mail.0.load(Ordering::SeqCst), 0);

    // What is stored, and nothing else, is seen, whenever that is.
    let stored = rows(&*store);
    let look = Runtime::look(Arc::clone(&store), Options::default()).unwrap();
    let seen = look.handle().look(|node| node.books().unwrap()).unwrap();
    assert_eq!((seen.entries, seen.pending), (2, 2));
    let refused = look.handle().submit(vec![person("cid")]);
    assert!(matches!(refused, Err(RuntimeError::Unavailable(_))));
    look.stop().unwrap();
    assert!(rows(&*store) == stored, "a look changes nothing");

    let served = start(over(&store), channel(), &clock, settings());
    let books = settled(&served.handle());
    assert_eq!((books.delivered, books.messages), (2, 2));
    served.stop().unwrap();
    assert_eq!(mail.0.load(Ordering::SeqCst), 2);
}

#[test]
fn a_look_does_not_close_what_came_due() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (clock, mail) = (clock(MONDAY), Arc::new(Counter::default()));
    let served = start(over(&store), plain(mail), &clock, settings());
    let handle = served.handle();
    handle.submit(vec![person("ann"), publish("e1", "note", "ann")]).unwrap();
    served.stop().unwrap();
    let stored = rows(&*store);
    let look = Runtime::look(Arc::clone(&store), Options::default()).unwrap();
    let pending = look.handle().look(|node| node.books().unwrap().pending);
    assert_eq!(pending.unwrap(), 1);
    look.stop().unwrap();
    assert!(rows(&*store) == stored);
}

/// Returns true if a message left before its server stopped, nobody who was not there can tell, unless its next attempt
/// is still to come.
#[test]
fn t26_without_a_server_it_is_too_late_for_what_was_made() {
    for (passed_ms, removed, too_late) in [(29_000, 1, 0), (34_000, 0, 1)] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (clock, (gate, keeper)) = (clock(MONDAY), Gate::new());
        let served = start(over(&store), plain(gate), &clock, settings());
        let handle = served.handle();
        handle.submit(vec![person("ann"), publish("e1", "bill", "ann")]).unwrap();
        keeper.next();
        keeper.later();
        served.stop().unwrap();

        clock.set(MONDAY.plus_ms(passed_ms));
        let closed =
            start(over(&store), plain(Arc::new(Counter::default())), &clock, without_sending());
        let command = Command::Cancel { what: Cancelled::Event(id("e1")), tenant: None };
        let reply = closed.handle().submit(vec![command]).unwrap().pop();
        let Some(Ok(Reply::Cancelled(taken))) = reply else {
            panic!("{reply:?}");
        };
        let books = closed.handle().look(|node| node.books().unwrap()).unwrap();
        closed.stop().unwrap();
        let told = (taken.removed_from_batch, taken.too_late);
        assert_eq!(told, (removed, too_late));
        assert_eq!((books.pending, books.delivered), (too_late, 0));
    }
}

/// A copy sends nothing that was due in the original before an operator resumes it.
#[test]
fn a_restored_store_sends_nothing_until_its_channels_are_resumed() {
    let original: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (clock, mail) = (clock(MONDAY), Arc::new(Counter::default()));
    let channel = || plain(Arc::clone(&mail));
    let closed = start(over(&original), channel(), &clock, without_sending());
    let commands = vec![
        person("ann"),
        person("ben"),
        publish("e1", "bill", "ann"),
        publish("e2", "note", "ben"),
    ];
    closed.handle().submit(commands).unwrap();
    closed.stop().unwrap();

    let copy: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let writes = rows(&*original);
    copy.commit(writes.into()).unwrap();
    clock.set(MONDAY.plus_ms(DAY_MS));
    pause_restored(&*copy, clock.now()).unwrap();
    let served = start(over(&copy), channel(), &clock, settings());
    let handle = served.handle();
    round(&handle);
    let paused = |node: &DurableSnapshot| node.engine().paused().channels().collect::<Vec<_>>();
    let all: Vec<&str> = sending_channels().map(|channel| channel.name).collect();
    assert_eq!(handle.look(paused).unwrap(), all);
    assert_eq!(mail.0.load(Ordering::SeqCst), 0);
    let resume = Command::Resume(PauseSubject::Channel(EMAIL.to_owned()));
    handle.submit(vec![resume]).unwrap();
    assert_eq!(settled(&handle).delivered, 2);
    served.stop().unwrap();
    assert_eq!(mail.0.load(Ordering::SeqCst), 2);
}

#[test]
fn a_store_of_nothing_is_paused_as_well() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    pause_restored(&*store, MONDAY).unwrap();
    assert_eq!(store.days().unwrap(), [MONDAY.day()]);
    let clock = clock(MONDAY);
    let served = start(over(&store), plain(Arc::new(Counter::default())), &clock, settings());
    let handle = served.handle();
    let commands = vec![person("ann"), publish("e1", "bill", "ann")];
    handle.submit(commands).unwrap();
    round(&handle);
    let books = handle.look(|node| node.books().unwrap()).unwrap();
    assert_eq!((books.pending, books.delivered), (1, 0));
    served.stop().unwrap();
}
