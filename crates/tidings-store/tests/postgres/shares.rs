//! Shares in the database: ended with the store that is taken over, and with tables that others drop.

use std::sync::Arc;

use tidings_core::Day;
use tidings_store::lease::{Epoch, Leases as _, NodeId, TermNo};
use tidings_store::{Error, Partition, PostgresLeases, PostgresStore, Store};

use crate::proxy::Proxy;
use crate::server::{OnServer, has_server};
use crate::{DAY, put};

const TABLES: &str = "SELECT count(*) FROM pg_tables WHERE schemaname = 'store_0' AND tablename LIKE 'tidings_rows_%'";

/// The leases of a database with a holder, and the term of a share.
fn shared(url: &str) -> (PostgresLeases, Epoch, TermNo) {
    let leases = PostgresLeases::open(url, crate::NEW_STORE).unwrap();
    let seen = leases.membership().unwrap().lease;
    let epoch = leases.acquire(seen, None, NodeId(1)).unwrap().unwrap();
    let term = leases.grant(epoch, NodeId(2), &[0], 1).unwrap().unwrap();
    (leases, epoch, term)
}

#[test]
fn who_takes_the_whole_store_over_ends_shares() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let place = server.place();
    let (leases, epoch, term) = shared(&place);
    let node = leases.open_share(term).unwrap();
    node.commit(put(Partition::Base, 1, 1)).unwrap();
    node.commit(put(DAY, 1, 1)).unwrap();
    let view = node.snapshot().unwrap();
    let whole = PostgresStore::open(&place, crate::NEW_STORE).unwrap();
    assert_eq!(leases.membership().unwrap().shares, []);
    assert!(matches!(leases.open(epoch).err(), Some(Error::Fenced)));
    assert!(matches!(leases.open_share(term).err(), Some(Error::Fenced)));
    // Nor are earlier snapshots read any more.
    for partition in [Partition::Base, DAY] {
        let read = view.get(partition, &[1]);
        assert!(matches!(read, Err(Error::Fenced)), "{read:?}");
        let written = node.commit(put(partition, 1, 2));
        assert!(matches!(written, Err(Error::Fenced)), "{written:?}");
        assert_eq!(crate::get(&whole, partition, 1), Some(1));
    }
}

#[test]
fn who_opens_the_store_again_ends_what_the_same_holder_opened_before() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let (leases, epoch, term) = shared(&server.place());
    let of_lease = || leases.open(epoch).unwrap();
    let of_share = || leases.open_share(term).unwrap();
    let both: [&dyn Fn() -> Arc<dyn Store>; 2] = [&of_lease, &of_share];
    for open in both {
        let before = open();
        before.commit(put(Partition::Base, 1, 1)).unwrap();
        let view = before.snapshot().unwrap();
        let after = open();
        let written = before.commit(put(Partition::Base, 1, 2));
        assert!(matches!(written, Err(Error::Fenced)), "{written:?}");
        let read = view.get(Partition::Base, &[1]);
        assert!(matches!(read, Err(Error::Fenced)), "{read:?}");
        assert_eq!(crate::get(&*after, Partition::Base, 1), Some(1));
        after.commit(put(Partition::Base, 1, 3)).unwrap();
    }
}

#[test]
fn a_node_hears_that_it_was_fenced_where_its_table_is_gone() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let place = server.place();
    let (leases, epoch, term) = shared(&place);
    let node = leases.open_share(term).unwrap();
    node.commit(put(DAY, 1, 1)).unwrap();
    let view = node.snapshot().unwrap();
    leases.revoke(epoch, term, None).unwrap();
    leases.open(epoch).unwrap().forget(Day(19_700)).unwrap();
    assert_eq!(server.run(TABLES), "0");
    assert!(matches!(view.get(DAY, &[1]), Err(Error::Fenced)));
    let written = node.commit(put(DAY, 1, 2));
    assert!(matches!(written, Err(Error::Fenced)), "{written:?}");
}

#[test]
fn a_table_that_is_dropped_before_its_commit_is_made_again() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let place = server.place();
    let (leases, _, term) = shared(&place);
    let node = leases.open_share(term).unwrap();
    // Somebody who opens the store finds the first table that nobody lists yet.
    server.run(
        "CREATE SEQUENCE store_0.made;
         CREATE FUNCTION store_0.drop_first() RETURNS event_trigger LANGUAGE plpgsql AS $$
         DECLARE made record;
         BEGIN
             FOR made IN SELECT object_identity AS name FROM pg_event_trigger_ddl_commands() LOOP
                 IF nextval('store_0.made') = 1 THEN EXECUTE 'DROP TABLE ' || made.name; END IF;
             END LOOP;
         END $$;
         CREATE EVENT TRIGGER opens ON ddl_command_end WHEN TAG IN ('ALTER TABLE')
             EXECUTE FUNCTION store_0.drop_first();",
    );
    node.commit(put(DAY, 1, 1)).unwrap();
    assert_eq!(server.run("SELECT last_value FROM store_0.made"), "2");
    assert_eq!(server.run(TABLES), "1");
    let view = node.snapshot().unwrap();
    assert_eq!(view.get(DAY, &[1]).unwrap(), Some(vec![1]));
}

#[test]
fn a_days_table_that_lost_the_race_is_dropped() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let place = server.place();
    let (leases, epoch, term) = shared(&place);
    let node = leases.open_share(term).unwrap();
    let holder = leases.open(epoch).unwrap();
    for day in 0..10 {
        let day = Partition::Day(Day(day));
        let barrier = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for (key, store) in [(1, &node), (2, &holder)] {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    store.commit(put(day, key, key)).unwrap();
                });
            }
        });
    }
    assert_eq!(server.run(TABLES), "10");
    // Another holder drops nothing that is listed.
    leases.open(epoch).unwrap();
    assert_eq!(server.run(TABLES), "10");
}

#[test]
fn a_share_goes_on_after_a_lost_answer() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let place = server.place();
    let proxy = Proxy::start(&place);
    let (leases, _, term) = shared(proxy.url());
    let node = leases.open_share(term).unwrap();
    node.commit(put(DAY, 1, 1)).unwrap();
    proxy.lose_next_answer();
    node.commit(put(DAY, 1, 2)).unwrap();
    assert!(proxy.has_lost());
    node.commit(put(DAY, 2, 3)).unwrap();
    let view = node.snapshot().unwrap();
    let read = view.get_many(DAY, &[&[1], &[2]]).unwrap();
    assert_eq!(read, [Some(vec![2]), Some(vec![3])]);
}
