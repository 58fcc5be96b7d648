//! Situation 11: an outbox that is idle beside a busy database, and a slot that is lost.

use crate::host::Host;

/// The most that an idle outbox may retain.
const RETAINED_MAX: u64 = 100_000_000;

/// Megabytes that are written beside it, 200 unless the environment says more.
fn megabytes() -> u64 {
    std::env::var("TIDINGS_WAL_MEGABYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

#[test]
fn situation_11_an_idle_outbox_retains_little_beside_other_writes() {
    let Some(host) = Host::start(&["max_wal_size=256MB"]) else { return };
    let feed = host.reading();
    host.insert("first");
    host.until_told(&["first"]);
    host.sql("CREATE TABLE other (text text)");
    host.sql("ALTER TABLE other ALTER COLUMN text SET STORAGE EXTERNAL");
    let begin = host.sql("SELECT pg_current_wal_lsn()");
    let mut most = 0;
    for _ in 0..megabytes() / 10 {
        host.sql("INSERT INTO other SELECT repeat('x', 100000) FROM generate_series(1, 100)");
        most = most.max(host.retained());
    }
    let written =
        host.sql(&format!("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '{begin}')::bigint"));
    assert!(written.parse::<u64>().unwrap() > megabytes() * 1_000_000, "{written}");
    // It moves on with the next of the points that PostgreSQL writes each 15 s and at checkpoints.
    host.until("little is retained", || host.retained() < RETAINED_MAX);
    host.until("others see it", || {
        feed.status().retained_bytes.is_some_and(|bytes| bytes < RETAINED_MAX)
    });
    eprintln!("{written} bytes were written, at most {most} retained, {} now", host.retained());
    host.insert("last");
    host.until_told(&["first", "last"]);
}

/// What the hint of a fault has one run.
fn mend(host: &Host, fault: &str) {
    let sql = fault.split('`').find(|part| part.starts_with("SELECT")).unwrap();
    for statement in sql.split(';').filter(|one| !one.trim().is_empty()) {
        host.sql(statement);
    }
}

#[test]
fn situation_11_a_slot_that_was_dropped_is_refused_and_passes_nothing_over() {
    let Some(host) = Host::start(&[]) else { return };
    let feed = host.reading();
    host.insert("first");
    host.until_told(&["first"]);
    host.until_none_waits();
    for is_made_anew in [false, true] {
        feed.pause();
        host.until("the slot is left", || {
            host.sql("SELECT count(*) FROM pg_replication_slots WHERE active") == "0"
        });
        host.sql("SELECT pg_drop_replication_slot('tidings_app')");
        host.insert("between");
        if is_made_anew {
            host.sql("SELECT pg_create_logical_replication_slot('tidings_app', 'pgoutput')");
        }
        host.insert("after");
        feed.resume();
        let fault = host.until_stopped(&feed);
        let why = if is_made_anew { "was made anew" } else { "is gone" };
        assert!(fault.contains("the slot tidings_app") && fault.contains(why), "{fault}");
        assert!(fault.contains("`tidings resume feed app`"), "{fault}");
        // It goes on for nobody who only starts again.
        let again = host.feed();
        host.until_stopped(&again);
        drop(again);
        assert_eq!(host.waiting(), "2");
        if is_made_anew {
            host.until("what the slot retains is seen", || feed.status().retained_bytes.is_some());
            assert!(feed.status().fault.is_some_and(|fault| fault.contains(why)));
        }
        mend(&host, &fault);
        feed.resume();
        host.until_none_waits();
    }
    host.until_told(&["first", "between", "after", "between", "after"]);
    host.emit("message");
    host.until_told(&["first", "between", "after", "between", "after", "message"]);
    assert_eq!(host.sink.given_most(), 1);
}

#[test]
fn situation_11_a_slot_that_is_lost_is_refused() {
    let Some(host) = Host::start(&["max_slot_wal_keep_size=1MB", "max_wal_size=32MB"]) else {
        return;
    };
    let feed = host.reading();
    host.insert("first");
    host.until_told(&["first"]);
    host.until_none_waits();
    host.end(feed);
    host.insert("between");
    host.sql("CREATE TABLE other (text text)");
    host.until("the slot is lost", || {
        host.sql("INSERT INTO other SELECT repeat('x', 1000) FROM generate_series(1, 20000)");
        host.sql("CHECKPOINT");
        host.sql("SELECT wal_status FROM pg_replication_slots") == "lost"
    });
    let feed = host.feed();
    let fault = host.until_stopped(&feed);
    assert!(fault.contains("is lost"), "{fault}");
    assert_eq!(host.waiting(), "1");
    mend(&host, &fault);
    feed.resume();
    host.until_told(&["first", "between"]);
}
