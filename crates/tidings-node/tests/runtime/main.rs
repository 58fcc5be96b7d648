//! The node in real time, on a clock that stands where it is put.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod ahead;
mod broken;
mod chores;
mod clock;
mod closed;
mod crowded;
mod fair;
mod hooks;
mod keys;
mod late;
mod reach;
mod reads;
mod required;
mod resolving;
mod retries;
mod sessions;
mod shards;
mod slow;
mod steer;
mod tenants;
mod turns;
mod world;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{TryRecvError, channel};
use std::sync::{Arc, Mutex};

use tidings_core::Command;
use tidings_core::engine::{Options, PublishedAs};
use tidings_core::model::HOUR_MS;
use tidings_node::{Handle, Node, OpenStore, RuntimeError, Settings};
use tidings_store::{FaultStore, InjectedFault, MemoryStore, Store};
use world::*;

fn in_memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Faults that are still to come; nothing fails once they are used up.
type Faults = Arc<Mutex<VecDeque<InjectedFault>>>;

fn failing() -> (Arc<FaultStore>, Faults, OpenStore) {
    let faults = Faults::default();
    let script = Arc::clone(&faults);
    let next = move |_: u64| script.lock().unwrap().pop_front().unwrap_or_default();
    let store = Arc::new(FaultStore::new(next));
    let opened = Arc::clone(&store);
    let open = Box::new(move || {
        opened.restart();
        Ok(Arc::clone(&opened) as Arc<dyn Store>)
    });
    (store, faults, open)
}

/// Keeps the loop from going on until the sender that it gives back is dropped.
fn hold(handle: &Handle) -> std::sync::mpsc::Sender<()> {
    let ((release, held), (entered, inside)) = (channel::<()>(), channel());
    let rest = move |_| {
        entered.send(()).unwrap();
        let _released = held.recv();
    };
    handle.submit_then(Vec::new(), rest).unwrap();
    inside.recv().unwrap();
    release
}

#[test]
fn an_answer_means_that_it_is_durable() {
    let store = in_memory();
    let mail = Arc::new(Counter::default());
    let runtime = start(over(&store), plain(mail), &clock(MONDAY), settings());
    let handle = runtime.handle();
    for (number, command) in [person("ann"), publish("e1", "note", "ann")].into_iter().enumerate() {
        handle.submit(vec![command]).unwrap();
        let other = Node::open(Arc::clone(&store), Options::default()).unwrap();
        assert_eq!(other.engine().recipients(), 1);
        assert_eq!(other.books().unwrap().events, number as u64);
    }
    runtime.stop().unwrap();
}

/// Whichever write fails, and however: the publish counts once, and its mail leaves once.
#[test]
fn a_failing_store_is_opened_again_and_nothing_is_lost_or_told_twice() {
    for fault in [InjectedFault::FailedLost, InjectedFault::FailedKept, InjectedFault::Full] {
        // The publish with its message, and the outcome.
        for number in 0..2 {
            let mail = Arc::new(Counter::default());
            let (_, faults, open) = failing();
            let channel = plain(Arc::clone(&mail));
            let runtime = start(open, channel, &clock(MONDAY), settings());
            let handle = runtime.handle();
            handle.submit(vec![person("ann")]).unwrap();
            let mut script = vec![InjectedFault::None; number];
            script.push(fault);
            faults.lock().unwrap().extend(script);

            let answer = handle.submit(vec![publish("e1", "bill", "ann")]);
            match (number, fault) {
                (0, InjectedFault::Full) => {
                    assert!(matches!(answer, Err(RuntimeError::Full(_))), "{answer:?}");
                }
                (0, _) => assert!(matches!(answer, Err(RuntimeError::Unknown(_))), "{answer:?}"),
                _ => assert_eq!(published(&answer.unwrap()), PublishedAs::Accepted),
            }
            let again = loop {
                match handle.submit(vec![publish("e1", "bill", "ann")]) {
                    Err(
                        RuntimeError::Unavailable(_)
                        | RuntimeError::Unknown(_)
                        | RuntimeError::Full(_),
                    ) => {}
                    answer => break published(&answer.unwrap()),
                }
            };
            let expected = if number == 0 && fault != InjectedFault::FailedKept {
                PublishedAs::Accepted
            } else {
                PublishedAs::Duplicate
            };
            assert_eq!(again, expected, "{fault:?} {number}");
            // Where the outcome shares a commit with that, the fault comes with the next one.
            while !faults.lock().unwrap().is_empty() {
                let _ = handle.submit(vec![publish("e1", "bill", "ann")]);
            }
            let books = settled(&handle);
            assert_eq!((books.events, books.messages, books.delivered), (1, 1, 1));
            runtime.stop().unwrap();
            assert_eq!(mail.0.load(Ordering::SeqCst), 1, "{fault:?} {number}");
            assert!(faults.lock().unwrap().is_empty(), "the fault never came");
        }
    }
}

/// A message that is being sent while the store fails is not sent again by the node that goes on.
#[test]
fn a_message_on_its_way_is_not_taken_up_again() {
    let (gate, keeper) = Gate::new();
    let (_, faults, open) = failing();
    let runtime = start(open, plain(gate), &clock(MONDAY), settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann"), publish("e1", "bill", "ann")]).unwrap();
    keeper.next();
    faults.lock().unwrap().push_back(InjectedFault::FailedLost);
    let lost = handle.submit(vec![publish("e2", "note", "ann")]);
    assert!(matches!(lost, Err(RuntimeError::Unknown(_))), "{lost:?}");
    round(&handle);
    keeper.pass();
    assert_eq!(settled(&handle).delivered, 1);
    let AnswerRecorder { handed, answers } = keeper;
    drop(answers);
    runtime.stop().unwrap();
    assert!(handed.recv().is_err(), "handed over again");
}

#[test]
fn requests_that_wait_together_are_one_commit() {
    let (store, _, open) = failing();
    let mail = Arc::new(Counter::default());
    let runtime = start(open, plain(mail), &clock(MONDAY), settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    let release = hold(&handle);
    let before = store.writes();
    let asking: Vec<_> = (0..10)
        .map(|number| {
            let handle = handle.clone();
            std::thread::spawn(move || {
                handle.submit(vec![publish(&format!("e{number}"), "note", "ann")])
            })
        })
        .collect();
    while handle.waiting() < 10 {
        std::thread::yield_now();
    }
    drop(release);
    for asked in asking {
        assert_eq!(published(&asked.join().unwrap().unwrap()), PublishedAs::Accepted);
    }
    assert_eq!(store.writes(), before + 1);
    runtime.stop().unwrap();
}

#[test]
fn a_full_queue_answers_busy_and_nothing_is_done() {
    let settings = Settings { requests_max: 2, ..settings() };
    let store = in_memory();
    let mail = Arc::new(Counter::default());
    let runtime = start(over(&store), plain(mail), &clock(MONDAY), settings);
    let handle = runtime.handle();
    let release = hold(&handle);
    handle.wake().unwrap();
    handle.wake().unwrap();
    let refused = handle.submit(vec![person("ann")]);
    assert!(matches!(refused, Err(RuntimeError::Busy)), "{refused:?}");
    drop(release);
    while handle.waiting() > 0 {
        std::thread::yield_now();
    }
    let recipients = handle.look(|node| node.engine().recipients()).unwrap();
    assert_eq!(recipients, 0);
    handle.submit(vec![person("ann")]).unwrap();
    runtime.stop().unwrap();
}

#[test]
fn a_stop_waits_for_messages_on_their_way() {
    let store = in_memory();
    let (gate, keeper) = Gate::new();
    let channel = plain(Arc::clone(&gate));
    let runtime = start(over(&store), channel, &clock(MONDAY), settings());
    let handle = runtime.handle();
    for name in ["ann", "bob"] {
        handle.submit(vec![person(name), publish(name, "bill", name)]).unwrap();
    }
    round(&handle);
    keeper.next();
    let stopping = std::thread::spawn(move || {
        runtime.stop().unwrap();
        gate.answered.load(Ordering::SeqCst)
    });
    keeper.pass();
    keeper.next();
    keeper.pass();
    assert_eq!(stopping.join().unwrap(), 2);
    assert!(matches!(handle.wake(), Err(RuntimeError::Stopped)));
    let books = Node::open(store, Options::default()).unwrap().books().unwrap();
    assert_eq!((books.delivered, books.pending), (2, 0));
}

/// More digests than the senders have room for: what leaves at once is made all the same, and goes
/// before those that wait.
#[test]
fn urgent_goes_before_patient() {
    let crowd = 70;
    let clock = clock(MONDAY);
    let (gate, keeper) = Gate::new();
    let runtime = start(over(&in_memory()), plain(gate), &clock, settings());
    let handle = runtime.handle();
    let people = (0..crowd).flat_map(|number| {
        let name = format!("p{number}");
        [person(&name), publish(&format!("e{number}"), "note", &name)]
    });
    handle.submit(people.collect()).unwrap();
    handle.submit(vec![person("ann"), publish("first", "bill", "ann")]).unwrap();
    assert_eq!(keeper.next().lane, "now");
    clock.set(MONDAY.plus_ms(9 * HOUR_MS));
    handle.wake().unwrap();
    round(&handle);
    handle.submit(vec![publish("urgent", "bill", "ann")]).unwrap();
    round(&handle);
    keeper.pass();
    assert_eq!(keeper.next().lane, "now");
    keeper.pass();
    for _ in 0..crowd {
        assert_eq!(keeper.next().lane, "digest:daily");
        keeper.pass();
    }
    assert_eq!(settled(&handle).delivered, crowd + 2);
    runtime.stop().unwrap();
}

#[test]
fn a_temporary_failure_is_tried_again_at_its_time() {
    let clock = clock(MONDAY);
    let (gate, keeper) = Gate::new();
    let runtime = start(over(&in_memory()), plain(gate), &clock, settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann"), publish("e1", "bill", "ann")]).unwrap();
    let first = keeper.next();
    keeper.later();
    let quiet = |at_ms| {
        clock.set(MONDAY.plus_ms(at_ms));
        handle.wake().unwrap();
        for _ in 0..100 {
            round(&handle);
            assert!(matches!(keeper.handed.try_recv(), Err(TryRecvError::Empty)));
        }
    };
    // The first wait is 30 seconds and up to a tenth more.
    quiet(0);
    quiet(29_000);
    // The wait counts from when the answer came in, and that may be now: the clock goes on until the
    // message is handed over again.
    let mut at_ms = 29_000;
    let again = loop {
        at_ms += 33_000;
        clock.set(MONDAY.plus_ms(at_ms));
        handle.wake().unwrap();
        round(&handle);
        std::thread::yield_now();
        if let Ok(again) = keeper.handed.try_recv() {
            break again;
        }
    };
    assert_eq!(again.head.id, first.id);
    keeper.pass();
    let books = settled(&handle);
    assert_eq!((books.messages, books.delivered, books.resent), (1, 1, 0));
    runtime.stop().unwrap();
}

#[test]
fn a_runtime_that_nobody_can_ask_any_more_ends() {
    let store = in_memory();
    let watch = Arc::downgrade(&store);
    let mail = Arc::new(Counter::default());
    start(over(&store), plain(mail), &clock(MONDAY), settings());
    drop(store);
    while watch.strong_count() > 0 {
        std::thread::yield_now();
    }
}

/// Opening folds all that is stored: it is not done for each of those who ask meanwhile.
#[test]
fn a_store_that_stays_away_is_not_opened_for_every_request() {
    let store = Arc::new(FaultStore::new(|write: u64| match write {
        1 => InjectedFault::None,
        _ => InjectedFault::FailedLost,
    }));
    let opened = Arc::new(AtomicUsize::new(0));
    let (mut first, count) = (Some(store as Arc<dyn Store>), Arc::clone(&opened));
    let open: OpenStore = Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
        let gone = || tidings_store::Error::Unavailable("the disk is away".to_owned());
        first.take().ok_or_else(gone)
    });
    let settings = Settings { reopen_ms: 3_600_000, ..settings() };
    let mail = Arc::new(Counter::default());
    let runtime = start(open, plain(mail), &clock(MONDAY), settings);
    let handle = runtime.handle();
    for _ in 0..100 {
        handle.submit(vec![person("ann")]).unwrap_err();
    }
    // At the start, and once after the failure.
    assert_eq!(opened.load(Ordering::SeqCst), 2);
    assert!(matches!(runtime.stop(), Err(RuntimeError::Unavailable(_))));
}

/// A stop is answered also where the store is gone for good.
#[test]
fn a_stop_without_a_store_says_so() {
    let store = Arc::new(FaultStore::new(|write: u64| match write {
        1 => InjectedFault::None,
        _ => InjectedFault::FailedLost,
    }));
    let mut first = Some(store as Arc<dyn Store>);
    let open: OpenStore = Box::new(move || {
        let gone = || tidings_store::Error::Unusable("the disk is gone".to_owned());
        first.take().ok_or_else(gone)
    });
    let mail = Arc::new(Counter::default());
    let runtime = start(open, plain(mail), &clock(MONDAY), settings());
    let handle = runtime.handle();
    let unknown = handle.submit(vec![person("ann")]);
    assert!(matches!(unknown, Err(RuntimeError::Unknown(_))), "{unknown:?}");
    let refused = handle.submit(vec![person("ann")]);
    assert!(matches!(refused, Err(RuntimeError::Unavailable(_))), "{refused:?}");
    let seen = handle.look(|_| ());
    assert!(matches!(seen, Err(RuntimeError::Unavailable(_))), "{seen:?}");
    assert!(matches!(runtime.stop(), Err(RuntimeError::Unavailable(_))));
}

/// Acceptance A19: made and not sent when the process ends; sent by the next one, as one mail.
#[test]
fn a19_messages_that_were_made_go_on_after_a_restart() {
    let (data, mail) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let clock = clock(MONDAY);
    let (gate, keeper) = Gate::new();
    let runtime = start(on_disk(data.path()), plain(gate), &clock, settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann"), publish("e1", "bill", "ann")]).unwrap();
    let batch = keeper.next();
    keeper.later();
    runtime.stop().unwrap();
    // The next attempt comes half a minute after the first, or some seconds later.
    clock.set(MONDAY.plus_ms(34_000));
    for _ in 0..2 {
        let channel = maildir(mail.path());
        let runtime = start(on_disk(data.path()), channel, &clock, settings());
        let books = settled(&runtime.handle());
        assert_eq!((books.messages, books.delivered), (1, 1));
        runtime.stop().unwrap();
        let mails = mails(mail.path());
        assert_eq!(mails.len(), 1);
        let text = String::from_utf8(mails[0].clone()).unwrap();
        assert!(text.contains(&batch.id), "{text}");
    }
}

/// Acceptance A19: the process dies after the hand-off and before the outcome is durable. The next one
/// hands it over again, under the same id: one mail.
#[test]
fn a19_a_crash_after_the_hand_off_leaves_one_mail() {
    let mail = tempfile::tempdir().unwrap();
    let clock = clock(MONDAY);
    let store = Arc::new(FaultStore::new(|write: u64| {
        // The rules, ann, the publish with its message: the outcome is lost.
        if write == 4 { InjectedFault::CrashBefore } else { InjectedFault::None }
    }));
    let opened = Arc::clone(&store);
    let open = move || -> OpenStore {
        let opened = Arc::clone(&opened);
        Box::new(move || {
            // Until it is started again by hand the process is dead.
            if opened.crashed() {
                return Err(tidings_store::Error::Unavailable("dead".to_owned()));
            }
            Ok(Arc::clone(&opened) as Arc<dyn Store>)
        })
    };
    let runtime = start(open(), maildir(mail.path()), &clock, settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    handle.submit(vec![publish("e1", "bill", "ann")]).unwrap();
    while !store.crashed() {
        std::thread::yield_now();
    }
    assert_eq!(mails(mail.path()).len(), 1);
    assert!(matches!(runtime.stop(), Err(RuntimeError::Unavailable(_))));
    store.restart();
    let runtime = start(open(), maildir(mail.path()), &clock, settings());
    let books = settled(&runtime.handle());
    assert_eq!((books.messages, books.delivered), (1, 1));
    runtime.stop().unwrap();
    assert_eq!(mails(mail.path()).len(), 1);
}

/// A recipient is erased while a message is on its way: nobody knows whether it was sent, and no book stays
/// open for it.
#[test]
fn a_message_to_somebody_erased_ends_as_unknown() {
    let store = in_memory();
    let clock = clock(MONDAY);
    let (gate, keeper) = Gate::new();
    let runtime = start(over(&store), plain(gate), &clock, settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann"), publish("e1", "bill", "ann")]).unwrap();
    keeper.next();
    handle.submit(vec![Command::Erase { recipient: id("ann") }]).unwrap();
    keeper.later();
    runtime.stop().unwrap();
    let mail = Arc::new(Counter::default());
    let channel = plain(Arc::clone(&mail));
    let runtime = start(over(&store), channel, &clock, settings());
    let books = settled(&runtime.handle());
    assert_eq!((books.messages, books.unknown), (1, 1));
    runtime.stop().unwrap();
    assert_eq!(mail.0.load(Ordering::SeqCst), 0);
}

/// From a publish to a mail that can be read: store on disk, Maildir on disk.
#[test]
fn from_a_publish_to_a_mail() {
    let (data, mail) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let clock = clock(MONDAY);
    let runtime = start(on_disk(data.path()), maildir(mail.path()), &clock, settings());
    let handle = runtime.handle();
    let answer = handle.submit(vec![
        person("ann"),
        publish("e1", "note", "ann"),
        publish("e2", "note", "ann"),
    ]);
    assert_eq!(answer.unwrap().len(), 3);
    assert!(mails(mail.path()).is_empty());
    clock.set(MONDAY.plus_ms(9 * HOUR_MS));
    handle.wake().unwrap();
    assert_eq!(settled(&handle).delivered, 2);
    let mails = mails(mail.path());
    let [bytes] = &mails[..] else { panic!("{} mails", mails.len()) };
    let mail = mail_parser::MessageParser::default().parse(bytes).unwrap();
    let to = mail.to().and_then(|to| to.first()).and_then(|to| to.address());
    assert_eq!(to, Some("ann@example.org"));
    let from = mail.from().and_then(|from| from.first()).and_then(|from| from.address());
    assert_eq!(from, Some("art@example.org"));
    assert!(mail.message_id().unwrap().ends_with("@example.org"));
    let (text, html) = (mail.body_text(0).unwrap(), mail.body_html(0).unwrap());
    for message in [text, html] {
        for event in ["e1", "e2"] {
            assert!(message.contains(&format!("About {event}")), "{message}");
            assert!(message.contains(&format!("https://example.org/{event}")), "{message}");
        }
    }
    assert!(mail.subject().unwrap().contains("About"), "{:?}", mail.subject());
    runtime.stop().unwrap();
}
