//! A channel that answers nothing: what it holds up, and what it does not.

use std::sync::Arc;
use std::time::Duration;

use tidings_core::Command;
use tidings_core::model::{EMAIL, HOUR_MS, PauseSubject};
use tidings_node::channel::Receipt;
use tidings_node::{Answered, Runtime};
use tidings_store::{MemoryStore, Store};

use crate::world::*;

/// Time that a mail is waited for that has to come.
const WAIT: Duration = Duration::from_secs(300);

/// A node with so many senders, all of which that take digests have one and get no answer.
fn stuck(
    store: &Arc<dyn Store>,
    senders: usize,
    digests: usize,
) -> (Runtime, AnswerRecorder, Arc<tidings_node::VirtualClock>) {
    let clock = clock(MONDAY);
    let (gate, keeper) = Gate::new();
    let mail = plain(gate).on_threads(senders);
    let runtime = start(over(store), mail, &clock, settings());
    let handle = runtime.handle();
    let people = (0..digests).flat_map(|number| {
        let name = format!("p{number}");
        [person(&name), publish(&format!("e{number}"), "note", &name)]
    });
    handle.submit(people.collect()).unwrap();
    clock.set(MONDAY.plus_ms(9 * HOUR_MS));
    handle.wake().unwrap();
    (runtime, keeper, clock)
}

#[test]
fn a_prompt_mail_leaves_while_all_digests_hang() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (runtime, keeper, _clock) = stuck(&store, 8, 100);
    let handle = runtime.handle();
    for _ in 0..6 {
        let digest = keeper.handed.recv_timeout(WAIT).unwrap().head;
        assert_eq!(digest.lane, "digest:daily");
    }
    handle.submit(vec![person("ann"), publish("urgent", "bill", "ann")]).unwrap();
    let interactive = keeper.handed.recv_timeout(WAIT).unwrap().head;
    assert_eq!((&interactive.recipient, &*interactive.lane), (&Some(id("ann")), "now"));
    drop(keeper);
    runtime.stop_within(Duration::ZERO).unwrap();
}

#[test]
fn a19_a_stop_ends_with_its_drain_and_what_was_under_way_goes_once_more() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (runtime, keeper, clock) = stuck(&store, 1, 3);
    let first = keeper.handed.recv_timeout(WAIT).unwrap().head;
    // The gate stays closed until the test is over.
    runtime.stop_within(Duration::ZERO).unwrap();

    let (gate, next) = Gate::new();
    let runtime = start(over(&store), plain(gate), &clock, settings());
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(next.handed.recv_timeout(WAIT).unwrap().head.id.clone());
        next.answer(tidings_node::channel::Outcome::Sent(Receipt::default()));
    }
    assert!(ids.contains(&first.id), "under the same name");
    let books = settled(&runtime.handle());
    assert_eq!((books.delivered, books.resent), (3, 3), "nobody knows which");
    runtime.stop().unwrap();
    drop(keeper);
}

#[test]
fn what_is_deferred_is_seen_with_its_last_answer_and_its_next_try() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clock = clock(MONDAY);
    let (gate, keeper) = Gate::new();
    let runtime = start(over(&store), plain(gate), &clock, settings());
    let handle = runtime.handle();
    let waits = |of: Option<&str>| retrying(&handle, of);
    for name in ["ann", "ben"] {
        handle.submit(vec![person(name), publish(name, "bill", name)]).unwrap();
        keeper.handed.recv_timeout(WAIT).unwrap();
        keeper.later();
    }
    while waits(None).count < 2 {
        std::thread::yield_now();
    }
    let found = waits(Some("ann"));
    assert_eq!((found.count, found.messages.len()), (1, 1));
    let message = &found.messages[0];
    let tried = message.summary.tried.unwrap();
    assert_eq!((tried.count, message.summary.entries), (1, Some(1)));
    let last = message.last.as_ref().unwrap();
    assert_eq!((last.answer, &*last.reply), (Answered::Retry, "busy"));
    let wait_ms = tried.until.0 - MONDAY.0;
    assert!((30_000..=33_000).contains(&wait_ms), "{wait_ms}");
    let email = PauseSubject::Channel(EMAIL.to_owned());
    handle.submit(vec![Command::Pause(email)]).unwrap();
    assert!(!message.is_held && waits(Some("ann")).messages[0].is_held);
    drop(keeper);
    runtime.stop().unwrap();
}
