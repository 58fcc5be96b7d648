//! Sessions of the console: they last through a restart, end by time and with their key, and are known to all nodes.

use std::sync::Arc;
use std::sync::mpsc::channel;

use tidings_core::Instant;
use tidings_core::model::{HOUR_MS, MINUTE_MS};
use tidings_node::{
    ApiKey, Handle, IdempotencyHit, KeyChange, KeyHash, Role, Runtime, SESSION_IDLE_MS, SESSION_MS,
    Session, SignedIn,
};
use tidings_store::{InjectedFault, MemoryStore, Store};

use crate::failing;
use crate::shards::{made, some};
use crate::world::*;

fn hash(number: u8) -> KeyHash {
    KeyHash([number; 32])
}

fn session(number: u8, by: SignedIn, begun: Instant) -> Session {
    Session {
        hash: hash(number),
        id: format!("s{number}"),
        by,
        role: Role::Operate,
        groups: vec!["desk".to_owned()],
        begun,
        used: begun,
        until: begun.plus_ms(SESSION_MS),
    }
}

fn person_in(number: u8, begun: Instant) -> Session {
    session(number, SignedIn::Person("mara@example.org".to_owned()), begun)
}

fn of_key(number: u8, key: &str) -> Session {
    session(number, SignedIn::Key(key.to_owned()), MONDAY)
}

fn key(id: &str) -> ApiKey {
    ApiKey {
        hash: KeyHash([id.as_bytes()[0]; 32]),
        id: id.to_owned(),
        name: String::new(),
        made: MONDAY,
        role: Role::Admin,
    }
}

/// Changes something at an instant; false = there is nothing of it.
fn change_at(handle: &Handle, at: Instant, change: KeyChange) -> bool {
    let (tell, told) = channel();
    handle.change_keys(at, change, None, move |done| tell.send(done).unwrap()).unwrap();
    match told.recv().unwrap().unwrap() {
        None => false,
        Some(IdempotencyHit::Fresh) => true,
        other => panic!("{other:?}"),
    }
}

fn change(handle: &Handle, change: KeyChange) -> bool {
    change_at(handle, MONDAY, change)
}

fn begin(handle: &Handle, session: Session) -> bool {
    change_at(handle, session.begun, KeyChange::BeginSession(session))
}

fn end(handle: &Handle, id: &str) -> bool {
    change(handle, KeyChange::EndSession(id.to_owned()))
}

fn ids(handle: &Handle, now: Instant) -> Vec<String> {
    handle.sessions(now).into_iter().map(|session| session.id).collect()
}

fn served(store: &Arc<dyn Store>) -> Runtime {
    let mail = plain(Arc::new(Counter::default()));
    start(over(store), mail, &clock(MONDAY), settings())
}

#[test]
fn a_session_is_in_force_at_once_and_after_a_restart() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = served(&store);
    let handle = runtime.handle();
    assert_eq!(handle.session(&hash(1), MONDAY), None);
    let (one, other) = (person_in(1, MONDAY), person_in(2, MONDAY.plus_ms(1)));
    assert!(begin(&handle, one.clone()) && begin(&handle, other.clone()));
    assert_eq!(handle.session(&hash(1), MONDAY), Some(one.clone()));
    // Newest first.
    assert_eq!(handle.sessions(MONDAY), [other, one.clone()]);
    assert!(end(&handle, "s2") && !end(&handle, "s2"));
    assert_eq!(handle.session(&hash(2), MONDAY), None);
    runtime.stop().unwrap();

    let runtime = served(&store);
    assert_eq!(runtime.handle().sessions(MONDAY), [one]);
    runtime.stop().unwrap();
}

#[test]
fn a_session_ends_after_two_hours_without_use_and_after_twelve_with() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = served(&store);
    let handle = runtime.handle();
    begin(&handle, person_in(1, MONDAY));
    begin(&handle, person_in(2, MONDAY));
    let mut now = MONDAY;
    for hours in 1..12 {
        now = MONDAY.plus_ms(hours * HOUR_MS);
        assert_eq!(handle.use_session(&hash(1), now).unwrap().used, now);
    }
    assert_eq!(ids(&handle, now), ["s1"]);
    let idle = MONDAY.plus_ms(SESSION_IDLE_MS);
    assert!(handle.session(&hash(2), idle.plus_ms(-1)).is_some());
    assert_eq!(handle.use_session(&hash(2), idle), None);
    // One that has ended is not ended once more.
    assert!(!change_at(&handle, idle, KeyChange::EndSession("s2".to_owned())));
    let last = MONDAY.plus_ms(SESSION_MS);
    assert!(handle.session(&hash(1), last.plus_ms(-1)).is_some());
    assert_eq!(handle.session(&hash(1), last), None);
    runtime.stop().unwrap();
}

#[test]
fn the_last_use_lasts_through_a_restart_to_the_minute() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = served(&store);
    let handle = runtime.handle();
    begin(&handle, person_in(1, MONDAY));
    let at = |minutes: i64| MONDAY.plus_ms(minutes * MINUTE_MS);
    let seconds_after = |at: Instant, s: i64| at.plus_ms(s * 1_000);
    for used in [seconds_after(at(0), 30), at(90), seconds_after(at(90), 59)] {
        assert_eq!(handle.use_session(&hash(1), used).unwrap().used, used);
    }
    // What is asked later is done later.
    assert!(!end(&handle, "nobody"));
    runtime.stop().unwrap();

    let runtime = served(&store);
    let handle = runtime.handle();
    assert_eq!(handle.session(&hash(1), at(91)).unwrap().used, at(90));
    assert!(handle.session(&hash(1), at(209)).is_some());
    assert_eq!(handle.session(&hash(1), at(210)), None);
    runtime.stop().unwrap();
}

#[test]
fn rows_of_sessions_that_have_ended_leave_with_the_next_that_begins() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = served(&store);
    let handle = runtime.handle();
    begin(&handle, person_in(1, MONDAY));
    begin(&handle, person_in(2, MONDAY));
    let later = MONDAY.plus_ms(SESSION_IDLE_MS - 1);
    handle.use_session(&hash(2), later).unwrap();
    begin(&handle, person_in(3, later.plus_ms(1)));
    runtime.stop().unwrap();
    let runtime = served(&store);
    // As of an instant at which the first one would be in force, if it were there.
    assert_eq!(ids(&runtime.handle(), later), ["s3", "s2"]);
    runtime.stop().unwrap();
}

#[test]
fn a_revoked_key_ends_its_sessions_and_begins_none() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = served(&store);
    let handle = runtime.handle();
    change(&handle, KeyChange::Make(key("a")));
    change(&handle, KeyChange::Make(key("b")));
    for session in [of_key(1, "a"), of_key(2, "b"), of_key(3, "a"), person_in(4, MONDAY)] {
        assert!(begin(&handle, session));
    }
    assert!(change(&handle, KeyChange::Revoke("a".to_owned())));
    assert_eq!(ids(&handle, MONDAY), ["s2", "s4"]);
    // Its holder may have shown it before it was revoked.
    assert!(!begin(&handle, of_key(5, "a")));
    // A person is no key.
    assert!(!begin(&handle, of_key(6, "mara@example.org")));
    runtime.stop().unwrap();
    let runtime = served(&store);
    assert_eq!(ids(&runtime.handle(), MONDAY), ["s2", "s4"]);
    runtime.stop().unwrap();
}

/// Nobody knows what became of a change during which the store failed, until it is opened again.
#[test]
fn after_a_failure_the_sessions_are_those_of_the_store() {
    for (fault, is_kept) in [(InjectedFault::FailedLost, false), (InjectedFault::FailedKept, true)]
    {
        let (_, faults, open) = failing();
        let mail = plain(Arc::new(Counter::default()));
        let runtime = start(open, mail, &clock(MONDAY), settings());
        let handle = runtime.handle();
        change(&handle, KeyChange::Make(key("a")));
        begin(&handle, of_key(1, "a"));
        faults.lock().unwrap().push_back(fault);
        let (tell, told) = channel();
        let revoke = KeyChange::Revoke("a".to_owned());
        handle.change_keys(MONDAY, revoke, None, move |done| tell.send(done).unwrap()).unwrap();
        assert!(told.recv().unwrap().is_err());
        while handle.look(|_| ()).is_err() {}
        assert_eq!(handle.sessions(MONDAY).is_empty(), is_kept, "{fault:?}");
        assert_eq!(handle.keys().is_empty(), is_kept, "{fault:?}");
        runtime.stop().unwrap();
    }
}

#[test]
fn a_session_is_known_to_all_nodes_and_its_end_too() {
    let (store, clock) = made();
    let (first, second) = (some(&store, &clock, &[0, 3]), some(&store, &clock, &[1, 2]));
    let there = second.handle();
    // As a follower asks for it, again and again.
    let wait_until = |is_so: &dyn Fn() -> bool| {
        while !is_so() {
            there.read_keys().unwrap();
            std::thread::yield_now();
        }
    };
    begin(&first.handle(), person_in(1, MONDAY));
    wait_until(&|| there.session(&hash(1), MONDAY).is_some());
    // A use that the node knows and does not write is not forgotten when it reads the sessions again.
    let later = MONDAY.plus_ms(HOUR_MS);
    assert_eq!(there.use_session(&hash(1), later).unwrap().used, later);
    begin(&first.handle(), person_in(2, MONDAY));
    wait_until(&|| there.session(&hash(2), MONDAY).is_some());
    assert_eq!(there.session(&hash(1), later).unwrap().used, later);
    assert!(end(&first.handle(), "s1"));
    wait_until(&|| there.session(&hash(1), MONDAY).is_none());
    assert_eq!(there.use_session(&hash(1), MONDAY), None);
    second.stop().unwrap();
    first.stop().unwrap();
    // The other node wrote nothing of it.
    let whole = some(&store, &clock, &[0, 1, 2, 3]);
    assert_eq!(whole.handle().sessions(MONDAY), [person_in(2, MONDAY)]);
    whole.stop().unwrap();
}
