//! A turn of the loop is one commit, and everything that follows it waits until it is durable.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use tidings_core::Command;
use tidings_core::engine::Reply;
use tidings_core::model::{Cancelled, EMAIL};
use tidings_node::{ApiKey, Delivery, Handle, KeyChange, KeyHash, Retries, Role, SteppedLoop};
use tidings_store::{FaultStore, InjectedFault};

use crate::world::*;
use crate::{Faults, failing};

/// A loop that the test drives, of which `ann` is a recipient.
struct Driven {
    process: SteppedLoop,
    store: Arc<FaultStore>,
    faults: Faults,
    mail: Arc<Counter>,
}

impl Driven {
    fn new() -> Self {
        let (store, faults, open) = failing();
        let mail = Arc::new(Counter::default());
        let channels = BTreeMap::from([(EMAIL.to_owned(), plain(Arc::clone(&mail)))]);
        let delivery = Delivery::new(channels, Retries::default());
        let process =
            SteppedLoop::open(open, None, rules(), delivery, clock(MONDAY), settings()).unwrap();
        let mut driven = Self { process, store, faults, mail };
        let answer = driven.ask(vec![person("ann")]);
        driven.rest();
        answer.recv().unwrap().unwrap();
        driven
    }

    fn handle(&self) -> &Handle {
        self.process.handle()
    }

    fn ask(&self, commands: Vec<Command>) -> Receiver<Answers> {
        ask(self.handle(), commands)
    }

    /// Goes on until there is nothing to do.
    fn rest(&mut self) {
        loop {
            self.process.turn();
            let goes_on = self.process.write() | self.process.send();
            let waits = self.process.has_work() || self.process.has_answers();
            if self.process.node().is_some() && !goes_on && !waits {
                return;
            }
        }
    }

    fn sent(&self) -> usize {
        self.mail.0.load(Ordering::SeqCst)
    }

    fn delivered(&self) -> (u64, u64) {
        let books = self.process.node().unwrap().books().unwrap();
        (books.delivered, books.resent)
    }
}

fn bill(name: &str) -> Vec<Command> {
    vec![publish(name, "bill", "ann")]
}

#[test]
fn a_turn_is_one_commit_and_what_follows_it_waits_for_it() {
    let mut driven = Driven::new();
    let first = driven.ask(bill("e1"));
    driven.process.turn();
    assert!(driven.process.write());
    driven.process.turn();
    assert!(driven.process.send());
    first.recv().unwrap().unwrap();

    // An outcome, commands of two requests, a key, and a message that is due and built.
    let before = driven.store.writes();
    let (second, third) = (driven.ask(bill("e2")), driven.ask(bill("e3")));
    let (tell, told) = channel();
    let key = ApiKey {
        hash: KeyHash([1; 32]),
        id: "k1".to_owned(),
        name: "one".to_owned(),
        made: MONDAY,
        role: Role::Admin,
    };
    let then = move |done| drop(tell.send(done));
    let change = KeyChange::Make(key);
    let asked = driven.handle().change_keys(MONDAY, change, None, then);
    asked.unwrap();
    driven.process.turn();
    assert_eq!(driven.store.writes(), before);
    assert!(!driven.process.send() && driven.handle().keys().is_empty());
    assert!(matches!(second.try_recv(), Err(TryRecvError::Empty)));
    assert!(matches!(told.try_recv(), Err(TryRecvError::Empty)));

    assert!(driven.process.write() && driven.process.has_work());
    assert_eq!(driven.store.writes(), before + 1);
    assert!(!driven.process.send());
    driven.process.turn();
    assert!(driven.process.send());
    second.recv().unwrap().unwrap();
    third.recv().unwrap().unwrap();
    told.recv().unwrap().unwrap();
    assert_eq!(driven.handle().keys().len(), 1);
    assert_eq!(driven.store.writes(), before + 1);
    driven.rest();
    assert_eq!((driven.sent(), driven.delivered()), (2, (3, 0)));
}

#[test]
fn an_answer_of_a_channel_outlives_the_commit_that_was_to_record_it() {
    let mut driven = Driven::new();
    let _first = driven.ask(bill("e1"));
    driven.process.turn();
    driven.process.write();
    driven.process.turn();
    assert!(driven.process.send());
    // The turn that records it also takes a request in; what it decides is lost.
    let second = driven.ask(bill("e2"));
    driven.process.turn();
    driven.faults.lock().unwrap().push_back(InjectedFault::FailedLost);
    driven.rest();
    assert!(second.recv().unwrap().is_err());
    assert_eq!((driven.sent(), driven.delivered()), (1, (1, 0)));
}

#[test]
fn a_cancel_reaches_a_message_that_waits_for_its_commit() {
    let mut driven = Driven::new();
    let _first = driven.ask(bill("e1"));
    driven.process.turn();
    let cancel =
        driven.ask(vec![Command::Cancel { what: Cancelled::Event(id("e1")), tenant: None }]);
    driven.rest();
    let answer = cancel.recv().unwrap().unwrap();
    let Some(Ok(Reply::Cancelled(taken))) = answer.first() else {
        panic!("{answer:?}");
    };
    assert_eq!((taken.removed_from_batch, driven.sent()), (1, 0));
}
