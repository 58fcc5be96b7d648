//! Reads beside the loop: of the last durable commit, whatever the loop does meanwhile.

use std::sync::Arc;
use std::sync::mpsc::channel;

use tidings_core::engine::StepError;
use tidings_node::channel::Channels;
use tidings_node::{Delivery, DurableSnapshot, Handle, Retries, SteppedLoop};
use tidings_store::{FaultStore, MemoryStore, NoFaults, Store};

use super::world::*;
use super::{Counter, hold};

/// The events that wait in a recipient's lanes.
fn pending(node: &DurableSnapshot, who: &str) -> Result<Vec<String>, StepError> {
    let lanes = node.engine().reader(node.view()).open_lanes(&id(who))?;
    let entries = lanes.into_iter().flat_map(|lane| lane.entries);
    Ok(entries.map(|entry| entry.event.to_string()).collect())
}

#[test]
fn a_read_is_answered_from_before_while_a_commit_hangs() {
    let held = Arc::new(Held::over(Arc::new(FaultStore::new(NoFaults))));
    let opened = Arc::clone(&held);
    let open = Box::new(move || Ok(Arc::clone(&opened) as Arc<dyn Store>));
    let mail = plain(Arc::new(Counter::default()));
    let runtime = start(open, mail, &clock(MONDAY), settings());
    let handle = runtime.handle();
    let first = vec![person("ann"), publish("e1", "note", "ann")];
    handle.submit(first).unwrap();
    let seen = || handle.look(|node| pending(node, "ann")).unwrap().unwrap();
    assert_eq!(seen(), ["e1"]);
    let (arrived, release) = held.hold();
    let answer = ask(&handle, vec![publish("e2", "note", "ann")]);
    arrived.recv().unwrap();
    assert_eq!(seen(), ["e1"], "nobody sees what is not durable");
    assert!(answer.try_recv().is_err());
    drop(release);
    answer.recv().unwrap().unwrap();
    assert_eq!(seen(), ["e1", "e2"], "what was answered is in the next read");
    runtime.stop().unwrap();
}

#[test]
fn a_read_does_not_wait_for_a_loop_that_is_held() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mail = plain(Arc::new(Counter::default()));
    let runtime = start(over(&store), mail, &clock(MONDAY), settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    let held = hold(&handle);
    assert_eq!(handle.look(|node| node.engine().recipients()).unwrap(), 1);
    drop(held);
    runtime.stop().unwrap();
}

/// A caller that was answered reads its change, even from within the answer.
#[test]
fn what_was_answered_is_read_at_once_and_nothing_before_that() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let delivery = Delivery::new(Channels::new(), Retries::default());
    let mut stepped =
        SteppedLoop::open(over(&store), None, rules(), delivery, clock(MONDAY), settings())
            .unwrap();
    let handle = stepped.handle().clone();
    let known = move |handle: &Handle| {
        let known = |node: &DurableSnapshot| node.engine().recipient(&id("ann")).is_some();
        handle.look(known).unwrap()
    };
    let (answer, answered) = channel();
    let asked = handle.clone();
    let then = move |_| answer.send(known(&asked)).unwrap();
    handle.submit_then(vec![person("ann")], then).unwrap();
    stepped.turn();
    assert!(!known(&handle), "it is decided, and not written");
    assert!(stepped.write());
    assert!(!known(&handle), "it is written, and nobody has been told");
    stepped.turn();
    assert!(answered.try_recv().unwrap());
    assert!(known(&handle));
    let before = handle.durable().unwrap();
    stepped.crash();
    assert!(handle.durable().is_err(), "there is no store any more");
    assert!(before.engine().recipient(&id("ann")).is_some());
}
