//! Commands that still reach a message that a thread has taken: everything up to the point of no return.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tidings_core::Command;
use tidings_core::engine::{Reply, TakenBackEntries};
use tidings_core::model::{Cancelled, EMAIL, PauseSubject};
use tidings_node::channel::{Channel, MessageHead, Outcome, Receipt, Rendered};
use tidings_node::{Handle, Runtime};
use tidings_store::{MemoryStore, Store};

use crate::world::*;

/// A channel that says what it has taken, and asks for leave to hand it over when it is told to.
struct Begun {
    begun: Mutex<Sender<MessageHead>>,
    ask: Mutex<Receiver<()>>,
    went: Mutex<Sender<bool>>,
}

/// The other side of it.
struct Threshold {
    begun: Receiver<MessageHead>,
    ask: Sender<()>,
    went: Receiver<bool>,
}

impl Threshold {
    /// Lets the oldest message ask; returns whether it was handed over.
    fn goes(&self) -> bool {
        self.ask.send(()).unwrap();
        self.went.recv().unwrap()
    }
}

impl Channel for Begun {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        let head = MessageHead::clone(&message.head);
        // A test that has seen enough listens no more.
        let _heard = self.begun.lock().unwrap().send(head);
        let _asked = self.ask.lock().unwrap().recv();
        let goes = go();
        let _heard = self.went.lock().unwrap().send(goes);
        if goes { Outcome::Sent(Receipt::default()) } else { Outcome::Withheld }
    }
}

/// A node with two recipients whose only sender has taken a bill for the first.
fn begun(events: &[&str]) -> (Runtime, Threshold, MessageHead) {
    let ((begin, begun), (ask, asked), (tell, went)) = (channel(), channel(), channel());
    let mail = Begun { begun: Mutex::new(begin), ask: Mutex::new(asked), went: Mutex::new(tell) };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mail = plain(Arc::new(mail));
    let runtime = start(over(&store), mail, &clock(MONDAY), settings());
    let handle = runtime.handle();
    let mut commands = vec![person("ann"), person("ben")];
    commands.extend(events.iter().map(|event| publish(event, "bill", "ann")));
    handle.submit(commands).unwrap();
    let threshold = Threshold { begun, ask, went };
    let head = threshold.begun.recv().unwrap();
    assert_eq!(head.entries, events.len());
    (runtime, threshold, head)
}

fn cancel(handle: &Handle, event: &str) -> TakenBackEntries {
    let command = Command::Cancel { what: Cancelled::Event(id(event)), tenant: None };
    match handle.submit(vec![command]).unwrap().pop() {
        Some(Ok(Reply::Cancelled(taken))) => taken,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cancel_reaches_a_message_that_a_thread_has_taken() {
    let (runtime, threshold, _) = begun(&["e1"]);
    let handle = runtime.handle();
    assert_eq!(cancel(&handle, "e1").removed_from_batch, 1);
    assert!(!threshold.goes());
    let books = settled(&handle);
    assert_eq!((books.messages, books.cancelled), (0, 1));
    runtime.stop().unwrap();
}

#[test]
fn the_rest_of_a_message_that_a_thread_has_taken_goes() {
    let (runtime, threshold, first) = begun(&["e1", "e2"]);
    let handle = runtime.handle();
    assert_eq!(cancel(&handle, "e2").removed_from_batch, 1);
    assert!(!threshold.goes());
    let rest = threshold.begun.recv().unwrap();
    assert_eq!((rest.id, rest.entries), (first.id, 1));
    assert!(threshold.goes());
    let books = settled(&handle);
    let told = (books.delivered, books.cancelled, books.resent);
    assert_eq!(told, (1, 1, 0));
    assert_eq!(cancel(&handle, "e1").too_late, 1);
    runtime.stop().unwrap();
}

#[test]
fn an_erasure_reaches_a_message_that_a_thread_has_taken() {
    let (runtime, threshold, _) = begun(&["e1"]);
    let handle = runtime.handle();
    let recipient = id("ann");
    handle.submit(vec![Command::Erase { recipient }]).unwrap();
    assert!(!threshold.goes());
    let books = settled(&handle);
    assert_eq!((books.delivered, books.cancelled), (0, 1));
    runtime.stop().unwrap();
}

#[test]
fn a_pause_reaches_a_message_that_a_thread_has_taken() {
    let (runtime, threshold, _) = begun(&["e1"]);
    let handle = runtime.handle();
    let email = || PauseSubject::Channel(EMAIL.to_owned());
    handle.submit(vec![Command::Pause(email())]).unwrap();
    round(&handle);
    assert!(!threshold.goes());
    handle.submit(vec![Command::Resume(email())]).unwrap();
    threshold.begun.recv().unwrap();
    assert!(threshold.goes());
    let books = settled(&handle);
    assert_eq!((books.delivered, books.resent), (1, 0));
    runtime.stop().unwrap();
}

#[test]
fn nothing_is_handed_over_after_a_stop() {
    let (runtime, threshold, _) = begun(&["e1"]);
    runtime.stop_within(Duration::ZERO).unwrap();
    assert!(!threshold.goes());
}
