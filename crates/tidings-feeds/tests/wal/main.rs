//! The reader of the log, over a real database and a sink that remembers what it was given.
//!
//! They take PostgreSQL. Without it the tests say that they are skipped, but with `TIDINGS_REQUIRE_SERVERS` set they
//! fail.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod host;
mod killed;
mod situation_11;

use std::sync::atomic::Ordering;

use host::Host;
use tidings_feeds::{OnRefusal, RowNo, State};
use tidings_loopback::Postgres;
use tidings_tls::postgres::Database;

#[test]
fn rows_of_before_the_slot_are_taken_once() {
    let Some(host) = Host::start(&[]) else { return };
    for word in ["a", "b", "c"] {
        host.insert(word);
    }
    let feed = host.reading();
    host.insert("d");
    host.until_told(&["a", "b", "c", "d"]);
    host.until_none_waits();
    host.end(feed);
    host.insert("e");
    let feed = host.reading();
    host.until_told(&["a", "b", "c", "d", "e"]);
    host.until_none_waits();
    assert_eq!(host.sink.given_most(), 1);
    let status = feed.status();
    assert_eq!((status.state, status.newest.as_deref()), (State::Running, Some("5")));
    assert_eq!((status.taken, status.parked, status.fault), (1, 0, None));
}

#[test]
fn rows_and_messages_come_in_the_order_of_commits() {
    let Some(host) = Host::start(&[]) else { return };
    let _feed = host.reading();
    let late = host.tokio.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(&host.database.url("postgres"), tokio_postgres::NoTls)
                .await
                .unwrap();
        tokio::spawn(connection);
        let begin = "BEGIN; INSERT INTO shop.outbox (payload) VALUES ('{\"type\": \"late\"}'); \
                     SELECT pg_logical_emit_message(true, 'tidings', '{\"type\": \"message\"}')";
        client.batch_execute(begin).await.unwrap();
        client
    });
    host.insert("early");
    // What was rolled back, is of no transaction, or of others.
    host.sql("BEGIN; INSERT INTO shop.outbox (payload) VALUES ('{}'); ROLLBACK");
    host.sql("BEGIN; SELECT pg_logical_emit_message(true, 'tidings', '{}'); ROLLBACK");
    host.sql("SELECT pg_logical_emit_message(false, 'tidings', '{}')");
    host.sql("SELECT pg_logical_emit_message(true, 'others', '{}')");
    host.until_told(&["early"]);
    host.tokio.block_on(late.batch_execute("COMMIT")).unwrap();
    host.insert("last");
    host.until_told(&["early", "late", "message", "last"]);
    let numbers: Vec<RowNo> = host.sink.effects().iter().map(|effect| effect.no).collect();
    assert!(matches!(
        numbers[..],
        [RowNo::Row(2), RowNo::Row(1), RowNo::Message(1..), RowNo::Row(4)]
    ));
}

#[test]
fn what_is_refused_is_parked_and_taken_once_it_is_mended() {
    let Some(host) = Host::start(&[]) else { return };
    let feed = host.reading();
    host.insert("bad 1");
    host.emit("bad 2");
    // A payload so large that the log leaves it out of an update.
    host.sql(
        "INSERT INTO shop.outbox (payload) SELECT jsonb_build_object('type', 'bad 3', 'data', \
         string_agg(md5(i::text), '')) FROM generate_series(1, 3000) AS i",
    );
    host.insert("good");
    host.until_told(&["good"]);
    let parked = "SELECT count(*) FROM shop.outbox \
                  WHERE refused->>'detail' = 'it is bad' AND payload->>'type' LIKE 'bad _'";
    host.until("three are parked", || host.sql(parked) == "3");
    host.until("others see it", || feed.status().parked == 3);
    host.end(feed);
    let feed = host.reading();
    host.insert("good 2");
    host.until_told(&["good", "good 2"]);
    assert_eq!(host.sql(parked), "3");
    host.sink.takes_all.store(true, Ordering::SeqCst);
    host.sql("UPDATE shop.outbox SET refused = NULL WHERE refused IS NOT NULL");
    host.until_none_waits();
    assert_eq!(host.sink.told().len(), 5);
    assert!(host.sink.told().iter().any(|told| told.len() > 90_000));
    host.until("none is parked", || feed.status().parked == 0);
}

#[test]
fn a_feed_stops_before_what_is_refused() {
    let Some(mut host) = Host::start(&[]) else { return };
    host.settings.refused = OnRefusal::Stop;
    let feed = host.reading();
    host.sql(
        "BEGIN; INSERT INTO shop.outbox (payload) VALUES ('{\"type\": \"a\"}'), ('{\"type\": \"bad\"}'); \
         SELECT pg_logical_emit_message(true, 'tidings', '{\"type\": \"bad message\"}'); \
         INSERT INTO shop.outbox (payload) VALUES ('{\"type\": \"c\"}'); COMMIT",
    );
    host.insert("d");
    let fault = host.until_stopped(&feed);
    assert!(fault.contains("row 2 is refused: it is bad"), "{fault}");
    host.until_told(&["a"]);
    host.end(feed);
    let feed = host.feed();
    let fault = host.until_stopped(&feed);
    assert!(fault.contains("row 2"), "{fault}");
    host.until_told(&["a"]);
    host.sql("UPDATE shop.outbox SET payload = '{\"type\": \"b\"}', refused = NULL WHERE id = 2");
    // The message is parked as a row of its own.
    host.until("it stops before the message", || {
        feed.status().fault.is_some_and(|fault| fault.contains("row 5 is refused"))
    });
    host.until_told(&["a", "b"]);
    host.end(feed);
    let feed = host.feed();
    host.until_stopped(&feed);
    assert_eq!(
        host.sql("SELECT count(*) FROM shop.outbox WHERE payload->>'type' = 'bad message'"),
        "1"
    );
    host.sql("UPDATE shop.outbox SET payload = '{\"type\": \"m\"}', refused = NULL WHERE id = 5");
    host.until_told(&["a", "b", "m", "c", "d"]);
    host.until("it reads again", || feed.status().state == State::Running);
    assert_eq!(feed.status().fault, None);
}

#[test]
fn what_nobody_else_sees_is_not_taken() {
    let Some(host) = Host::start(&["synchronous_commit=local"]) else { return };
    let _feed = host.reading();
    host.sql("ALTER SYSTEM SET synchronous_standby_names = 'away'");
    host.sql("SELECT pg_reload_conf()");
    let url = host.database.url("postgres");
    let writing = host.tokio.spawn(async move {
        let (client, connection) =
            tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let insert = "SET synchronous_commit = on; \
                      INSERT INTO shop.outbox (payload) VALUES ('{\"type\": \"a\"}')";
        client.batch_execute(insert).await.unwrap();
    });
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    host.until("the commit waits for a standby", || host.sql(waits) != "0");
    host.rest(500);
    assert!(host.sink.told().is_empty() && !writing.is_finished());
    host.sql("ALTER SYSTEM RESET synchronous_standby_names");
    host.sql("SELECT pg_reload_conf()");
    host.until_told(&["a"]);
    host.until_none_waits();
    host.tokio.block_on(writing).unwrap();
}

#[test]
fn a_row_that_the_log_never_told_is_found() {
    let Some(host) = Host::start(&[]) else { return };
    let _feed = host.reading();
    host.sql("ALTER PUBLICATION tidings_app DROP TABLE shop.outbox");
    host.insert("untold");
    host.sql("ALTER PUBLICATION tidings_app ADD TABLE shop.outbox");
    host.insert("told");
    host.until("both are told", || host.sink.told().len() == 2);
    assert!(host.sink.told()[1].contains("untold"));
}

#[test]
fn a_database_that_cannot_be_read_is_named_with_a_hint() {
    let Some(mut host) = Host::start(&[]) else { return };
    let fault = |host: &Host, words: &[&str]| {
        let feed = host.feed();
        host.until(&format!("it says {words:?}"), || {
            let fault = feed.status().fault.unwrap_or_default();
            words.iter().all(|word| fault.contains(word))
        });
    };
    host.sql("CREATE ROLE reader LOGIN");
    let url = host.database.url("postgres").replace(host.database.user(), "reader");
    host.settings.database = Database::of(&url).unwrap();
    host.sql("GRANT USAGE ON SCHEMA shop TO reader");
    fault(&host, &["permission denied", "grant SELECT"]);
    host.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA shop TO reader");
    fault(&host, &["ALTER ROLE … REPLICATION"]);
    host.sql("ALTER ROLE reader REPLICATION");
    host.sql("ALTER PUBLICATION tidings_app DROP TABLE shop.outbox");
    fault(&host, &["ALTER PUBLICATION \"tidings_app\" ADD TABLE"]);
    host.sql("ALTER PUBLICATION tidings_app ADD TABLE shop.outbox");
    host.insert("a");
    let _feed = host.feed();
    host.until_told(&["a"]);
}

#[test]
fn a_log_of_the_wrong_level_is_named_with_a_hint() {
    let Some(host) = Host::bare(&[]) else { return };
    host.sql("CREATE SCHEMA shop");
    host.sql(&tidings_feeds::migration(&host.settings));
    let feed = host.feed();
    host.until("it says what to set", || {
        feed.status().fault.is_some_and(|fault| fault.contains("set `wal_level = logical`"))
    });
    assert_eq!(feed.status().state, State::Running);
}

#[test]
fn the_log_comes_encrypted_to_who_has_the_password() {
    let Some(mut host) = Host::bare(&["wal_level=logical"]) else { return };
    host.database.stop();
    let folder = host.directory.path().join("encrypted");
    std::fs::create_dir(&folder).unwrap();
    open_to_all(&folder);
    host.database = Postgres::start_encrypted(&folder).unwrap();
    host.sql("ALTER SYSTEM SET wal_level = 'logical'");
    host.database.stop();
    host.database.resume().unwrap();
    host.sql("CREATE SCHEMA shop");
    host.sql(&tidings_feeds::migration(&host.settings));
    host.sql("CREATE ROLE reader LOGIN REPLICATION PASSWORD 'secret'");
    host.sql("GRANT USAGE ON SCHEMA shop TO reader");
    host.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA shop TO reader");
    let (port, roots) = (host.database.port(), host.database.authority());
    let url = |password: &str| {
        format!(
            "postgres://reader:{password}@localhost:{port}/postgres?hostaddr=127.0.0.1&sslrootcert={}",
            roots.display()
        )
    };
    host.settings.database = Database::of(&url("secret")).unwrap();
    let _feed = host.reading();
    host.insert("a");
    host.until_told(&["a"]);
    let encrypted =
        "SELECT count(*) FROM pg_stat_replication r JOIN pg_stat_ssl s USING (pid) WHERE s.ssl";
    assert_eq!(host.sql(encrypted), "1");
}

/// The server runs as a user of its own, who has to pass through the folder.
fn open_to_all(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}
