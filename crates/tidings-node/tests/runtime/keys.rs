//! API keys: what is answered is durable and in force, and what is in force is what the store has.

use std::sync::Arc;
use std::sync::mpsc::channel;

use tidings_core::engine::Options;
use tidings_core::{Command, Instant};
use tidings_node::{
    ApiKey, Handle, IdempotencyHit, KeptAnswer, KeyChange, KeyHash, Node, Once, Role, Runtime,
    RuntimeError, SigningKey, SigningSecret,
};
use tidings_store::{InjectedFault, MemoryStore, Store};

use crate::failing;
use crate::world::*;

fn key(number: u8) -> ApiKey {
    ApiKey {
        hash: KeyHash([number; 32]),
        id: format!("k{number}"),
        name: format!("née {number}"),
        made: MONDAY.plus_ms(-i64::from(number)),
        role: Role::Admin,
    }
}

fn revoke(number: u8) -> KeyChange {
    KeyChange::Revoke(key(number).id)
}

/// A request with an `Idempotency-Key`.
fn once(request: u8) -> KeptAnswer {
    KeptAnswer { once: Once { key: [1; 16], request: [request; 16] }, answer: b"made".to_vec() }
}

fn change_at(
    handle: &Handle,
    at: Instant,
    change: KeyChange,
    kept: Option<KeptAnswer>,
) -> Result<Option<IdempotencyHit>, RuntimeError> {
    let (tell, told) = channel();
    let then = move |done| tell.send(done).unwrap();
    handle.change_keys(at, change, kept, then)?;
    told.recv().unwrap()
}

fn change(handle: &Handle, change: KeyChange) -> Result<Option<IdempotencyHit>, RuntimeError> {
    change_at(handle, MONDAY, change, None)
}

fn served(store: &Arc<dyn Store>) -> Runtime {
    let mail = plain(Arc::new(Counter::default()));
    start(over(store), mail, &clock(MONDAY), settings())
}

#[test]
fn keys_are_in_force_at_once_and_after_a_restart() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = served(&store);
    let handle = runtime.handle();
    assert!(handle.keys().is_empty());
    for number in [1, 2, 3] {
        let made = change(&handle, KeyChange::Make(key(number)));
        assert_eq!(made.unwrap(), Some(IdempotencyHit::Fresh));
    }
    // By when they were made.
    assert_eq!(*handle.keys(), [key(3), key(2), key(1)]);
    assert_eq!(change(&handle, revoke(2)).unwrap(), Some(IdempotencyHit::Fresh));
    assert_eq!(*handle.keys(), [key(3), key(1)]);
    assert_eq!(change(&handle, revoke(2)).unwrap(), None);
    runtime.stop().unwrap();

    let runtime = served(&store);
    assert_eq!(*runtime.handle().keys(), [key(3), key(1)]);
    runtime.stop().unwrap();
}

#[test]
fn a_change_that_is_asked_for_twice_is_made_once() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = served(&store);
    let handle = runtime.handle();
    let ask = |number, request| {
        let make = KeyChange::Make(key(number));
        change_at(&handle, MONDAY, make, Some(once(request))).unwrap()
    };
    assert_eq!(ask(1, 1), Some(IdempotencyHit::Fresh));
    assert_eq!(ask(2, 1), Some(IdempotencyHit::Replayed(b"made".to_vec())));
    assert_eq!(ask(3, 2), Some(IdempotencyHit::Mismatch));
    assert_eq!(*handle.keys(), [key(1)]);
    runtime.stop().unwrap();

    // A key that is gone was revoked, whoever asks again.
    let runtime = served(&store);
    let handle = runtime.handle();
    let ask = || {
        let kept = KeptAnswer { once: Once { key: [2; 16], request: [3; 16] }, answer: Vec::new() };
        change_at(&handle, MONDAY, revoke(1), Some(kept)).unwrap()
    };
    assert_eq!(ask(), Some(IdempotencyHit::Fresh));
    assert_eq!(ask(), Some(IdempotencyHit::Replayed(Vec::new())));
    runtime.stop().unwrap();
}

/// Nobody knows what became of a change during which the store failed, until it is opened again.
#[test]
fn after_a_failure_the_keys_are_those_of_the_store() {
    for (fault, is_kept) in [(InjectedFault::FailedLost, false), (InjectedFault::FailedKept, true)]
    {
        let (_, faults, open) = failing();
        let mail = plain(Arc::new(Counter::default()));
        let runtime = start(open, mail, &clock(MONDAY), settings());
        let handle = runtime.handle();
        change(&handle, KeyChange::Make(key(1))).unwrap();
        faults.lock().unwrap().push_back(fault);
        let answer = change(&handle, revoke(1));
        assert!(matches!(answer, Err(RuntimeError::Unknown(_))), "{answer:?}");
        while handle.look(|_| ()).is_err() {}
        assert_eq!(handle.keys().is_empty(), is_kept, "{fault:?}");
        runtime.stop().unwrap();
    }
}

/// The command that makes the first key of a directory has no configuration.
#[test]
fn keys_change_beside_an_engine_that_stands_still() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let look = Runtime::look(Arc::clone(&store), Options::default()).unwrap();
    change(&look.handle(), KeyChange::Make(key(1))).unwrap();
    assert_eq!(*look.handle().keys(), [key(1)]);
    look.stop().unwrap();

    let runtime = served(&store);
    let handle = runtime.handle();
    assert_eq!(*handle.keys(), [key(1)]);
    let ann = [person("ann"), publish("e1", "note", "ann")];
    handle.submit(ann.to_vec()).unwrap();
    change(&handle, revoke(1)).unwrap();
    runtime.stop().unwrap();
    let node = Node::open(store, Options::default()).unwrap();
    assert_eq!(node.engine().recipients(), 1);
    assert_eq!(node.books().unwrap().events, 1);
}

fn signing(id: &str, secret: SigningSecret, scope: Option<&str>) -> SigningKey {
    SigningKey {
        id: id.to_owned(),
        name: format!("née {id}"),
        made: MONDAY,
        scope: scope.map(str::to_owned),
        tenant: None,
        secret,
    }
}

#[test]
fn signing_keys_and_roles_are_in_force_at_once_and_after_a_restart() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = served(&store);
    let handle = runtime.handle();
    let secret = || SigningSecret::Hs256("tsk_a_1".to_owned());
    let keys = [
        signing("a", secret(), None),
        signing("b", secret(), Some("")),
        signing("c", SigningSecret::Ed25519([7; 32]), Some("inbox push")),
    ];
    for key in &keys {
        change(&handle, KeyChange::MakeSigning(key.clone())).unwrap();
    }
    let reads = ApiKey { role: Role::Read, ..key(9) };
    change(&handle, KeyChange::Make(reads.clone())).unwrap();
    assert_eq!(*handle.signing_keys(), keys);
    let revoke = |id: &str| change(&handle, KeyChange::RevokeSigning(id.to_owned())).unwrap();
    assert_eq!((revoke("b"), revoke("b")), (Some(IdempotencyHit::Fresh), None));
    assert!(!format!("{:?}", handle.signing_keys()).contains("tsk_"));
    runtime.stop().unwrap();

    let runtime = served(&store);
    assert_eq!(*runtime.handle().signing_keys(), [keys[0].clone(), keys[2].clone()]);
    assert_eq!(*runtime.handle().keys(), [reads]);
    runtime.stop().unwrap();
}

#[test]
fn tokens_that_are_revoked_or_whose_recipient_is_erased_stay_so() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let runtime = served(&store);
    let handle = runtime.handle();
    handle.submit(vec![person("ann"), person("bob")]).unwrap();
    let later = MONDAY.plus_ms(1_500);
    change(&handle, KeyChange::RevokeTokens(id("ann"), later)).unwrap();
    change(&handle, KeyChange::RevokeTokens(id("ann"), MONDAY)).unwrap();
    let erase = |who: &str| Command::Erase { recipient: id(who) };
    let replies = handle.submit(vec![erase("bob"), erase("nobody")]).unwrap();
    assert!(replies[0].is_ok() && replies[1].is_err(), "{replies:?}");
    let revoked =
        |handle: &Handle| ["ann", "bob", "nobody"].map(|who| handle.revoked_tokens(&id(who)));
    let expected = [Some(later), Some(MONDAY), None];
    assert_eq!(revoked(&handle), expected);
    runtime.stop().unwrap();
    let runtime = served(&store);
    assert_eq!(revoked(&runtime.handle()), expected);
    runtime.stop().unwrap();
}
