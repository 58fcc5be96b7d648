//! Tests of a database that several processes share: a holder is taken over, and connections break.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::sync::mpsc;

use tidings_core::Day;
use tidings_loopback::Postgres as Server;
use tidings_store::lease::{Leases as _, Member, NodeId, NodeToken, Role};
use tidings_store::{
    Commit, Error, Expected, Partition, PostgresLeases, PostgresStore, Store, StoreId, Write,
};

#[path = "../server/mod.rs"]
mod server;

mod proxy;
mod shares;
mod tls;

use proxy::Proxy;
use server::{OnServer, has_server};

/// The store of a test, made where there is none.
const NEW_STORE: Expected = Expected::OrNew(StoreId([0; 16]));

const DAY: Partition = Partition::Day(Day(19_700));

fn put(partition: Partition, key: u8, value: u8) -> Commit {
    vec![Write { partition, key: vec![key], value: Some(vec![value]) }].into()
}

fn get(store: &dyn Store, partition: Partition, key: u8) -> Option<u8> {
    let view = store.snapshot().unwrap();
    let value = view.get(partition, &[key]).unwrap();
    value.map(|value| value[0])
}

#[test]
fn a_holder_that_was_taken_over_neither_writes_nor_reads() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let place = server.place();
    let before = PostgresStore::open(&place, NEW_STORE).unwrap();
    before.commit(put(Partition::Base, 1, 1)).unwrap();
    before.commit(put(DAY, 1, 1)).unwrap();
    let view = before.snapshot().unwrap();
    let after = PostgresStore::open(&place, NEW_STORE).unwrap();
    after.commit(put(Partition::Base, 1, 2)).unwrap();
    // Neither what the new holder wrote is read, nor what it has replaced.
    assert!(matches!(view.get(Partition::Base, &[1]), Err(Error::Fenced)));
    assert!(matches!(view.get(DAY, &[1]), Err(Error::Fenced)));
    let forgotten = before.forget(Day(19_700));
    assert!(matches!(forgotten, Err(Error::Fenced)), "{forgotten:?}");
    let written = before.commit(put(DAY, 2, 2));
    assert!(matches!(written, Err(Error::Fenced)), "{written:?}");
    assert!(matches!(before.snapshot().err(), Some(Error::Fenced)));
    assert_eq!(get(&after, Partition::Base, 1), Some(2));
    assert_eq!(get(&after, DAY, 1), Some(1));
    assert_eq!(get(&after, DAY, 2), None);
}

#[test]
fn the_database_refuses_a_commit_of_an_old_epoch() {
    if !has_server() {
        return;
    }
    // The holder does not know yet: its commit is the first that it hears of.
    let server = OnServer::default();
    let place = server.place();
    let before = PostgresStore::open(&place, NEW_STORE).unwrap();
    let after = PostgresStore::open(&place, NEW_STORE).unwrap();
    let written = before.commit(put(DAY, 1, 1));
    assert!(matches!(written, Err(Error::Fenced)), "{written:?}");
    assert_eq!(after.days().unwrap(), []);
    after.commit(put(DAY, 1, 2)).unwrap();
    assert_eq!(get(&after, DAY, 1), Some(2));
}

#[test]
fn a_commit_whose_answer_is_lost_is_done_once() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let proxy = Proxy::start(&server.place());
    let store = PostgresStore::open(proxy.url(), NEW_STORE).unwrap();
    store.commit(put(Partition::Base, 1, 1)).unwrap();
    let earlier = store.snapshot().unwrap();
    proxy.lose_next_answer();
    store.commit(put(Partition::Base, 1, 2)).unwrap();
    assert!(proxy.has_lost());
    // What it replaced was lost with the answer: who needs that must not be told anything else.
    assert!(matches!(earlier.get(Partition::Base, &[1]), Err(Error::Unavailable(_))));
    drop(earlier);
    assert_eq!(get(&store, Partition::Base, 1), Some(2));
    store.commit(put(Partition::Base, 1, 3)).unwrap();
    assert_eq!(get(&store, Partition::Base, 1), Some(3));
}

#[test]
fn a_commit_that_never_arrived_is_sent_again() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let proxy = Proxy::start(&server.place());
    let store = PostgresStore::open(proxy.url(), NEW_STORE).unwrap();
    store.commit(put(Partition::Base, 1, 1)).unwrap();
    let earlier = store.snapshot().unwrap();
    proxy.lose_next_request();
    store.commit(put(Partition::Base, 1, 2)).unwrap();
    assert!(proxy.has_lost());
    assert_eq!(earlier.get(Partition::Base, &[1]).unwrap(), Some(vec![1]));
    assert_eq!(get(&store, Partition::Base, 1), Some(2));
}

#[test]
fn a_restart_of_the_server_is_waited_for() {
    if !has_server() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path(), &[]).unwrap();
    let store = PostgresStore::open(&server.url("postgres"), NEW_STORE).unwrap();
    store.commit(put(DAY, 1, 1)).unwrap();
    assert_eq!(get(&store, DAY, 1), Some(1));
    server.stop();
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| tell.send(store.commit(put(DAY, 1, 2))).unwrap());
        server.resume().unwrap();
        told.recv().unwrap().unwrap();
    });
    assert_eq!(get(&store, DAY, 1), Some(2));
}

#[test]
fn tables_of_another_format_and_wrong_addresses_are_refused() {
    for wrong in ["", "here", "postgres://", "postgres://me@localhost"] {
        let opened = PostgresStore::open(wrong, NEW_STORE);
        assert!(matches!(opened.err(), Some(Error::Unusable(_))), "{wrong}");
    }
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let place = server.place();
    PostgresStore::open(&place, NEW_STORE).unwrap();
    server.run("UPDATE store_0.tidings_format SET format = 99");
    assert!(matches!(PostgresStore::open(&place, NEW_STORE).err(), Some(Error::Format(_))));
    let nowhere = place.replace("/postgres?", "/nowhere?");
    assert!(matches!(PostgresStore::open(&nowhere, NEW_STORE).err(), Some(Error::Unusable(_))));
}

#[test]
fn a_table_that_no_commit_lists_is_dropped_by_the_next_holder() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let place = server.place();
    let store = PostgresStore::open(&place, NEW_STORE).unwrap();
    store.commit(put(DAY, 1, 1)).unwrap();
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'store_0' AND \
                  tablename LIKE 'tidings_rows_%'";
    server.run("CREATE TABLE store_0.tidings_rows_99 (key bytea, value bytea)");
    // A forgotten day stays while a snapshot sees it, and goes with a commit after that.
    let view = store.snapshot().unwrap();
    store.forget(Day(19_700)).unwrap();
    assert_eq!(server.run(tables), "2");
    drop(view);
    store.commit(put(Partition::Base, 1, 1)).unwrap();
    assert_eq!(server.run(tables), "1");
    drop(store);
    PostgresStore::open(&place, NEW_STORE).unwrap();
    assert_eq!(server.run(tables), "0");
}

#[test]
fn a4_only_who_may_make_a_store_in_a_database_makes_one() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let place = server.place();
    let id = StoreId([7; 16]);
    for expected in [Expected::Existing, Expected::Same(id)] {
        let store = PostgresStore::open(&place, expected);
        assert!(matches!(store.err(), Some(Error::Missing(_))), "{expected:?}");
        let leases = PostgresLeases::open(&place, expected);
        assert!(matches!(leases.err(), Some(Error::Missing(_))), "{expected:?}");
        assert!(!PostgresStore::is_in(&place).unwrap(), "{expected:?}");
    }
    let leases = PostgresLeases::open(&place, Expected::OrNew(id)).unwrap();
    assert_eq!((leases.id(), leases.is_new()), (id, true));
    // Of nodes that start at the same time the first makes it.
    let second = PostgresLeases::open(&place, Expected::OrNew(StoreId([8; 16]))).unwrap();
    assert_eq!((second.id(), second.is_new()), (id, false));
    let other = PostgresStore::open(&place, Expected::Same(StoreId([8; 16])));
    assert!(matches!(other.err(), Some(Error::Missing(_))));
    let store = PostgresStore::open(&place, Expected::Same(id)).unwrap();
    assert_eq!((store.id(), store.is_new()), (Some(id), false));
}

#[test]
fn a4_a_database_that_is_made_anew_is_not_gone_on_with() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let place = server.place();
    let member = Member {
        id: NodeId(1),
        name: "a".to_owned(),
        address: "http://127.0.0.1:1".to_owned(),
        token: NodeToken::default(),
        heartbeat: 1,
        unanswered: false,
        role: Role::Standby,
        lag_ms: 0,
        config: String::new(),
    };
    let leases = PostgresLeases::open(&place, NEW_STORE).unwrap();
    let epoch =
        leases.acquire(leases.membership().unwrap().lease, None, NodeId(1)).unwrap().unwrap();
    let store = leases.open(epoch).unwrap();
    store.commit(put(Partition::Base, 1, 1)).unwrap();
    // Its tables go away under connections that live on, and are not made again.
    server.run("ALTER SCHEMA store_0 RENAME TO away; CREATE SCHEMA store_0");
    assert!(store.commit(put(Partition::Base, 1, 2)).is_err());
    assert!(leases.heartbeat(&member).is_err());
    assert!(leases.membership().is_err());
    assert!(leases.open(epoch).is_err());
    assert!(!PostgresStore::is_in(&place).unwrap(), "nothing was made");
    // Somebody makes another store there, whose epoch is the same.
    let other = PostgresLeases::open(&place, Expected::OrNew(StoreId([8; 16]))).unwrap();
    let seen = other.membership().unwrap().lease;
    assert_eq!(other.acquire(seen, None, NodeId(2)).unwrap(), Some(epoch));
    assert!(leases.heartbeat(&member).is_err());
    assert!(leases.membership().is_err());
    assert!(leases.open(epoch).is_err());
    assert!(store.commit(put(Partition::Base, 1, 3)).is_err());
    let theirs = other.open(epoch).unwrap();
    assert_eq!(get(&*theirs, Partition::Base, 1), None, "nothing came in");
    drop(theirs);
    // The right one is back.
    server.run("DROP SCHEMA store_0 CASCADE; ALTER SCHEMA away RENAME TO store_0");
    leases.heartbeat(&Member { heartbeat: 2, ..member }).unwrap();
    let store = leases.open(epoch).unwrap();
    assert_eq!(get(&*store, Partition::Base, 1), Some(1));
}
