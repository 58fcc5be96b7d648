//! Decisions while the commit before it is being written.

use std::sync::Arc;

use tidings_core::Command;
use tidings_core::engine::{Published, PublishedAs, Refused, Reply};
use tidings_node::{Handle, OpenStore, Runtime, RuntimeError};
use tidings_store::{InjectedFault, Store};

use super::world::*;
use super::{Counter, failing};

/// The number of commands that are decided ahead, and are a step of their own.
const MANY: usize = 2048;

fn notes(name: &str) -> Vec<Command> {
    let note = |number| publish(&format!("{name}-{number}"), "note", "ann");
    (0..MANY).map(note).collect()
}

/// Asks for two steps: the second is decided while the first is being written. `then` says what
/// happens before that is let through. What both were answered.
fn two_steps(
    then: InjectedFault,
    first: Vec<Command>,
    second: Vec<Command>,
) -> (Answers, Answers, Runtime) {
    let (store, faults, mut open) = failing();
    let held = Arc::new(Held::over(store));
    let opened = Arc::clone(&held);
    let open: OpenStore = Box::new(move || {
        open()?;
        Ok(Arc::clone(&opened) as Arc<dyn Store>)
    });
    let mail = Arc::new(Counter::default());
    let runtime = start(open, plain(mail), &clock(MONDAY), settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    let (arrived, release) = held.hold();
    let first = ask(&handle, first);
    arrived.recv().unwrap();
    let second = ask(&handle, second);
    // It has been taken out of the queue: it is being decided, or waits to be written.
    while handle.waiting() > 0 {
        std::thread::yield_now();
    }
    assert!(first.try_recv().is_err() && second.try_recv().is_err());
    faults.lock().unwrap().push_back(then);
    drop(release);
    let (first, second) = (first.recv().unwrap(), second.recv().unwrap());
    (first, second, runtime)
}

/// Number of events that are stored, once the store is open again.
fn events(handle: &Handle) -> u64 {
    loop {
        match handle.look(|node| node.books().unwrap().events) {
            Ok(events) => return events,
            Err(RuntimeError::Unavailable(_)) => std::thread::yield_now(),
            Err(fault) => panic!("{fault}"),
        }
    }
}

fn statuses(answers: &Answers) -> Vec<PublishedAs> {
    let status = |reply: &Result<Reply, Refused>| match reply {
        Ok(Reply::Published(Published { status, .. })) => *status,
        other => panic!("{other:?}"),
    };
    answers.as_ref().unwrap().iter().map(status).collect()
}

#[test]
fn a_step_knows_what_the_one_before_it_is_about_to_store() {
    let mut second = notes("second");
    second.extend(notes("first"));
    let (first, second, runtime) = two_steps(InjectedFault::None, notes("first"), second);
    assert!(statuses(&first).iter().all(|status| *status == PublishedAs::Accepted));
    let (fresh, known) = (&statuses(&second)[..MANY], &statuses(&second)[MANY..]);
    assert!(fresh.iter().all(|status| *status == PublishedAs::Accepted));
    assert!(known.iter().all(|status| *status == PublishedAs::Duplicate));
    assert_eq!(events(&runtime.handle()), 2 * MANY as u64);
    runtime.stop().unwrap();
}

#[test]
fn where_a_commit_fails_nothing_is_kept_or_told_of_what_was_decided_on_it() {
    for (fault, left) in [
        (InjectedFault::FailedLost, 0),
        (InjectedFault::FailedKept, MANY),
        (InjectedFault::Full, 0),
    ] {
        let (first, second, runtime) = two_steps(fault, notes("first"), notes("second"));
        assert!(first.is_err(), "{fault:?}");
        assert!(second.is_err(), "{fault:?}");
        let handle = runtime.handle();
        assert_eq!(events(&handle), left as u64, "{fault:?}");
        let again = handle.submit(notes("second"));
        assert!(statuses(&again).iter().all(|status| *status == PublishedAs::Accepted));
        runtime.stop().unwrap();
    }
}
