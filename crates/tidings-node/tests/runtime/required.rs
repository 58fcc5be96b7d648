//! Stores of versions in which required types shared their lanes with other types.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tidings_core::model::{HOUR_MS, MINUTE_MS};
use tidings_core::rules::{Policy, Route, TypeRules};
use tidings_core::{Command, Rules};
use tidings_node::channel::{Channel, Outcome, Receipt, Rendered};
use tidings_node::{Delivery, Retries, SteppedLoop, VirtualClock};
use tidings_store::Store;

use crate::in_memory;
use crate::world::*;

/// A channel that notes lane and number of entries of each message.
#[derive(Default)]
struct Noted(Mutex<Vec<(String, usize)>>);

impl Channel for Noted {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let head = &message.head;
        self.0.lock().unwrap().push((head.lane.clone(), head.entries));
        Outcome::Sent(Receipt::default())
    }
}

/// Two types with each of three policies, one of which is required.
fn both_kinds() -> Rules {
    let quiet_ms = 10 * MINUTE_MS;
    let policies = [
        ("now", Policy::Now),
        ("soon", Policy::Cooldown { quiet_ms, max_wait_ms: Some(4 * quiet_ms) }),
        ("daily", Policy::Digest { digest: "daily".to_owned() }),
    ];
    let mut rules = rules();
    for (name, policy) in policies {
        for required in [false, true] {
            let kind = TypeRules {
                category: "all".to_owned(),
                channels: [("email".to_owned(), Route::of(policy.clone()))].into(),
                required,
                ..TypeRules::default()
            };
            rules.types.insert(format!("{name}-{required}"), kind);
        }
    }
    rules
}

fn open(
    store: &Arc<dyn Store>,
    rules: Rules,
    mail: &Arc<Noted>,
    clock: &Arc<VirtualClock>,
) -> SteppedLoop {
    let channels = BTreeMap::from([("email".to_owned(), plain(Arc::clone(mail)))]);
    let delivery = Delivery::new(channels, Retries::default());
    let clock: Arc<VirtualClock> = Arc::clone(clock);
    SteppedLoop::open(over(store), None, rules, delivery, clock, settings()).unwrap()
}

/// Publishes an event of each type with these policies.
fn publish_all(process: &mut SteppedLoop, policies: &[&str], round: u32) {
    let types = policies.iter().flat_map(|name| ["false", "true"].map(|of| format!("{name}-{of}")));
    let all: Vec<Command> =
        types.map(|kind| publish(&format!("{kind}-{round}"), &kind, "ann")).collect();
    let answer = ask(process.handle(), [vec![person("ann")], all].concat());
    loop {
        process.turn();
        if !process.write() && !process.has_work() {
            break;
        }
    }
    answer.recv().unwrap().unwrap();
}

fn rest(process: &mut SteppedLoop) {
    loop {
        process.turn();
        let goes_on = process.write() | process.send();
        if !goes_on && !process.has_work() && !process.has_answers() {
            return;
        }
    }
}

#[test]
fn rules_that_were_stored_without_the_key_share_lanes() {
    let mut stored = serde_json::to_value(rules()).unwrap();
    stored.as_object_mut().unwrap().remove("required_shares_lanes").unwrap();
    let read: Rules = serde_json::from_value(stored).unwrap();
    assert!(read.required_shares_lanes && !rules().required_shares_lanes);
}

#[test]
fn open_lanes_of_an_earlier_version_end_once_and_at_their_time() {
    let (store, clock, mail) = (in_memory(), clock(MONDAY), Arc::new(Noted::default()));
    let before = Rules { required_shares_lanes: true, ..both_kinds() };
    let mut process = open(&store, before, &mail, &clock);
    // What is due at once is made, and the process ends before it is sent.
    publish_all(&mut process, &["now", "soon", "daily"], 1);
    process.crash();
    let mut process = open(&store, both_kinds(), &mail, &clock);
    let sent_at = |process: &mut SteppedLoop, minutes: i64| {
        clock.set(MONDAY.plus_ms(minutes * MINUTE_MS));
        process.handle().wake().unwrap();
        rest(process);
        let mut sent = std::mem::take(&mut *mail.0.lock().unwrap());
        sent.sort();
        sent
    };
    let sent = |all: &[(&str, usize)]| -> Vec<(String, usize)> {
        all.iter().map(|(lane, entries)| ((*lane).to_owned(), *entries)).collect()
    };
    // A message that was made stays as it is.
    assert_eq!(sent_at(&mut process, 1), sent(&[("now", 2)]));
    clock.set(MONDAY.plus_ms(5 * MINUTE_MS));
    publish_all(&mut process, &["daily"], 2);
    assert_eq!(sent_at(&mut process, 9), []);
    let soon = [("cooldown", 1), ("cooldown:required", 1)];
    assert_eq!(sent_at(&mut process, 10), sent(&soon));
    let daily = [("digest:daily", 2), ("digest:daily:required", 2)];
    assert_eq!(sent_at(&mut process, 9 * 60), sent(&daily));
    let books = settled(process.handle());
    assert_eq!((books.delivered, books.entries), (8, 8));
    clock.set(MONDAY.plus_ms(40 * HOUR_MS));
    process.handle().wake().unwrap();
    rest(&mut process);
    assert_eq!(*mail.0.lock().unwrap(), []);
}
