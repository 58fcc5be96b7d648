//! Messages for one address that takes none, more than memory has room for: those for others leave all the same.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tidings_core::Command;
use tidings_core::model::HOUR_MS;
use tidings_node::channel::{Channel, Outcome, Receipt, Rendered};
use tidings_node::{Handle, Runtime};

use crate::in_memory;
use crate::world::*;

/// More messages than those of a channel that may wait in memory.
const MESSAGES: usize = 9_000;

/// A channel that hands nothing to some recipients, as long as it is told so, and notes what it hands over.
struct Choosy {
    takes_all: AtomicBool,
    is_refused: fn(&Rendered) -> bool,
    delivered: Mutex<Vec<String>>,
}

impl Choosy {
    fn new(is_refused: fn(&Rendered) -> bool) -> Arc<Self> {
        Arc::new(Self {
            takes_all: AtomicBool::new(false),
            is_refused,
            delivered: Mutex::default(),
        })
    }

    fn delivered(&self) -> Vec<String> {
        self.delivered.lock().unwrap().clone()
    }
}

impl Channel for Choosy {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        if (self.is_refused)(message) && !self.takes_all.load(Ordering::SeqCst) {
            return Outcome::Retry { why: "450 4.7.1 try again later".to_owned(), after_ms: None };
        }
        let id = message.head.id.clone();
        self.delivered.lock().unwrap().push(id);
        Outcome::Sent(Receipt::default())
    }

    fn answers_for_all(&self) -> bool {
        false
    }
}

/// A node with messages to this number of recipients of one domain.
fn crowded(channel: &Arc<Choosy>, recipients: usize) -> (Runtime, Arc<tidings_node::VirtualClock>) {
    let clock = clock(MONDAY);
    let mail = plain(Arc::clone(channel)).on_threads(8);
    let runtime = start(over(&in_memory()), mail, &clock, settings());
    let handle = runtime.handle();
    let names: Vec<String> = (0..recipients).map(|number| format!("p{number}")).collect();
    let people = names.iter().map(|name| person(name));
    handle.submit(people.collect()).unwrap();
    for round in 0..MESSAGES / recipients {
        // Those of one instant would be one message.
        clock.set(MONDAY.plus_ms(round as i64));
        for some in names.chunks(500) {
            let bill = |name: &String| publish(&format!("e{round}-{name}"), "bill", name);
            handle.submit(some.iter().map(bill).collect()).unwrap();
        }
    }
    (runtime, clock)
}

/// Has a message sent to somebody of another domain, and waits for it.
fn sends_to_others(channel: &Choosy, handle: &Handle) {
    let before = channel.delivered().len();
    let Command::Recipient(mut ann) = person("ann") else { unreachable!() };
    ann.addresses.values_mut().for_each(|all| *all = vec!["ann@well.example".into()]);
    let bill = publish("urgent", "bill", "ann");
    handle.submit(vec![Command::Recipient(ann), bill]).unwrap();
    while channel.delivered().len() == before {
        std::thread::yield_now();
    }
}

/// Has everything taken from now on, and counts what arrives until nothing waits.
fn drains(channel: &Choosy, runtime: &Runtime, clock: &tidings_node::VirtualClock) -> usize {
    let handle = runtime.handle();
    channel.takes_all.store(true, Ordering::SeqCst);
    let mut now = MONDAY;
    while handle.look(|node| node.books().unwrap().pending).unwrap() > 0 {
        now = now.plus_ms(HOUR_MS);
        clock.set(now);
        handle.wake().unwrap();
        round(&handle);
    }
    let delivered = channel.delivered();
    let different: BTreeSet<&String> = delivered.iter().collect();
    assert_eq!(different.len(), delivered.len(), "one arrived twice");
    assert_eq!(handle.vitals().kept_aside(), 0);
    delivered.len()
}

#[test]
fn b1_messages_for_a_domain_that_takes_none_leave_room_for_others() {
    let channel = Choosy::new(|message| !message.head.destinations[0].starts_with("well."));
    let (runtime, clock) = crowded(&channel, MESSAGES);
    sends_to_others(&channel, &runtime.handle());
    assert_eq!(drains(&channel, &runtime, &clock), MESSAGES + 1);
    runtime.stop().unwrap();
}

#[test]
fn b1_messages_for_recipients_who_get_none_leave_room_for_others() {
    let channel = Choosy::new(|message| {
        message.head.recipient.as_ref().is_none_or(|who| who.as_str() != "ann")
    });
    let (runtime, clock) = crowded(&channel, 60);
    sends_to_others(&channel, &runtime.handle());
    assert_eq!(drains(&channel, &runtime, &clock), MESSAGES + 1);
    runtime.stop().unwrap();
}
