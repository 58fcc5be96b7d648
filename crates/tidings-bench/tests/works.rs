//! Every benchmark runs on a small world, and says what it measured in the form that scripts read.

use std::sync::{Arc, Mutex, PoisonError};

use clap::Parser;
use tidings_bench::{BenchFault, Host, RULES, command};
use tidings_http::{Access, Service};
use tidings_loopback::{Postgres, find, skip};

/// Taken by tests that start processes and by those that open a directory again: a process inherits the lock of a
/// directory for a moment.
static ALONE: Mutex<()> = Mutex::new(());

/// `tidings bench`, without the rest of the program.
#[derive(Parser)]
struct Bench {
    #[command(flatten)]
    arguments: command::BenchArguments,
}

fn run(arguments: &[&str], out: &mut Vec<u8>) -> Result<(), BenchFault> {
    let named = ["bench"].iter().chain(arguments).chain(&["--json"]);
    let host = Host {
        rules: tidings_config::parse(RULES, "rules").expect("the rules have no fault"),
        router: &|node, rules, clock| {
            let settings = tidings_http::Settings::default();
            let service = Service::new(node, rules, Access::Open, clock, settings);
            tidings_http::router(Arc::new(service))
        },
    };
    command::run(&Bench::parse_from(named).arguments, host, out, &mut Vec::new())
}

fn bench(arguments: &[&str]) -> Vec<serde_json::Value> {
    let mut out = Vec::new();
    run(arguments, &mut out).expect("it is measured");
    let lines = String::from_utf8(out).expect("the output is text");
    lines.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

fn metric<'a>(measured: &'a [serde_json::Value], name: &str) -> &'a serde_json::Value {
    measured.iter().find(|one| one["metric"] == name).expect("each metric is measured")
}

/// The ratio is that of the two medians, and both were measured.
fn held_against(measured: &serde_json::Value, other: &str) {
    let number = |value: &serde_json::Value| value.as_f64().expect("it is measured");
    let (ours, theirs) = (number(&measured["median"]), number(&measured["versus"][other]));
    assert!(ours > 0.0 && theirs > 0.0, "{measured}");
    let ratio = number(&measured["ratio"][other]);
    assert!((ratio * theirs - ours).abs() < ours * 1e-9, "{measured}");
}

#[test]
fn fanout_is_held_against_a_plain_write() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let world = ["--recipients", "300", "--followers", "20,300", "--events", "300", "--runs", "2"];
    let measured = bench(&[&["fanout", "--dir", dir], &world[..]].concat());
    let publish = metric(&measured, "publish");
    assert_eq!(publish["params"]["followers"], 20);
    assert_eq!(publish["runs"], 2);
    held_against(publish, "raw_write_and_sync");
    assert!(metric(&measured, "stored_per_notification")["median"].as_f64().unwrap() > 0.0);
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn t42_everyone_of_a_tenant_is_held_against_as_many_named() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let world = "--recipients 300 --followers 20 --events 0 --runs 2 --tenants 30";
    let arguments = ["fanout", "--dir", dir].into_iter().chain(world.split(' '));
    let measured = bench(&arguments.collect::<Vec<_>>());
    for name in ["everyone_of_tenant", "everyone_of_tenant_engine"] {
        let measured = metric(&measured, name);
        assert_eq!((&measured["params"]["members"], &measured["runs"]), (&10.into(), &2.into()));
        held_against(measured, "named");
        held_against(measured, "named_of_tenant");
    }
}

#[test]
fn t42_memory_counts_memberships() {
    let world = "memory --recipients 300 --tenants 30";
    let measured = bench(&world.split(' ').collect::<Vec<_>>());
    let each = metric(&measured, "counted_per_membership");
    assert!(each["median"].as_f64().unwrap() > 0.0, "{each}");
    // Every metric of it measures something.
    let is_nothing =
        |one: &serde_json::Value| one["params"].get("tenants").is_some() && one["median"] == 0.0;
    assert!(!measured.iter().any(is_nothing), "{measured:?}");
}

#[test]
fn quiet_is_held_against_a_store_without_rules() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let world = "--recipients 300 --hours 2 --events 2 --changes 2".split(' ');
    let measured = bench(&["quiet", "--dir", dir].into_iter().chain(world).collect::<Vec<_>>());
    held_against(metric(&measured, "publish"), "without");
    held_against(metric(&measured, "close"), "without");
    for change in ["set_preference", "set_mute", "set_quiet_hours"] {
        assert_eq!(metric(&measured, change)["runs"], 2);
    }
}

#[test]
fn scheduled_finds_few_and_many() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let world = "--recipients 50 --events 10000 --runs 2".split(' ');
    let measured = bench(&["scheduled", "--dir", dir].into_iter().chain(world).collect::<Vec<_>>());
    for name in ["publish_rate", "find_few_due", "find_many_due"] {
        assert!(metric(&measured, name)["median"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn plan_makes_a_message_of_all_entries_for_each() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let world = ["--recipients", "200", "--entries", "10", "--events", "40", "--runs", "1"];
    let measured = bench(&[&["plan", "--dir", dir], &world[..]].concat());
    assert_eq!(metric(&measured, "entries_per_message")["median"], 10.0);
    assert!(metric(&measured, "row_per_message")["median"].as_f64().unwrap() <= 120.0);
}

#[test]
#[cfg(target_os = "linux")]
fn memory_counts_what_recipients_take() {
    let measured = bench(&["memory", "--recipients", "2000"]);
    let counted = metric(&measured, "counted_per_recipient")["median"].as_f64().unwrap();
    assert!(counted >= 72.0, "a window and where another began: {counted}");
}

#[test]
fn what_makes_no_sense_is_wrong_use() {
    let mut out = Vec::new();
    let wrong = run(&["fanout", "--recipients", "3", "--followers", "4"], &mut out);
    assert!(matches!(wrong, Err(BenchFault::Wrong(_))) && out.is_empty(), "{wrong:?}");
}

#[test]
fn starts_forgetting_and_deadlines_are_timed() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let world = ["--recipients", "300", "--followers", "100", "--dir", dir];
    let small = ["--events", "20", "--runs", "1"];
    let start = bench(&[&["recovery", "--days", "2"], &world[..], &small[..]].concat());
    let notifications = metric(&start, "start")["params"]["notifications"].as_u64();
    assert!(notifications.unwrap() > 2_000, "{notifications:?}");
    let forget = bench(&[&["forget"], &world[..], &small[..]].concat());
    assert!(metric(&forget, "forget")["median"].as_f64().unwrap() > 0.0);
    let moved = bench(&["deadlines", "--recipients", "300", "--runs", "3"]);
    assert_eq!(metric(&moved, "move_all")["runs"], 3);
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn publish_is_measured_over_http() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let measured = bench(&[&["publish", "--dir", dir], &SMALL_LOAD[..]].concat());
    let rate = metric(&measured, "single_rate");
    assert!(rate["median"].as_f64().unwrap() > 0.0);
    assert_eq!(rate["params"]["together"], 1);
    assert_eq!(metric(&measured, "array_rate")["params"]["together"], 3);
    assert!(rate.get("versus").is_none());
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn reads_are_measured_alone_and_beside_what_is_published() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let world = [
        "--recipients",
        "50",
        "--entries",
        "3",
        "--pages",
        "20",
        "--clients",
        "2",
        "--together",
        "3",
        "--runs",
        "1",
    ];
    let measured = bench(&[&["reads", "--dir", dir], &world[..]].concat());
    let alone = metric(&measured, "page_alone");
    assert_eq!(alone["runs"], 40);
    assert!(alone["p99"].as_f64() >= alone["median"].as_f64());
    for (page, to_alone, rate) in [
        ("page_under_publish", "publish_p99_to_alone", "publish_rate"),
        ("page_under_arrays", "arrays_p99_to_alone", "array_rate"),
    ] {
        held_against(metric(&measured, page), "alone");
        for name in [to_alone, rate] {
            assert!(metric(&measured, name)["median"].as_f64() > Some(0.0));
        }
    }
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0, "nothing is left behind");
}

const SMALL_LOAD: [&str; 12] = [
    "--recipients",
    "50",
    "--clients",
    "4",
    "--singles",
    "5",
    "--arrays",
    "2",
    "--together",
    "3",
    "--runs",
    "1",
];

/// A rival that holds more or less than tidings made ends the benchmark with a fault.
#[test]
fn rivals_do_the_same_work_and_leave_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if find("redis-server").is_none() || !Postgres::is_installed() {
        return skip("Redis or PostgreSQL is not installed");
    }
    let dir = tempfile::tempdir().unwrap();
    // A user other than root has to come there.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let dir = dir.path().to_str().unwrap();
    let world = [
        "--recipients",
        "300",
        "--followers",
        "20,300",
        "--events",
        "0",
        "--runs",
        "2",
        "--rival-runs",
        "1",
        "--vs",
        "redis,postgres",
    ];
    let measured = bench(&[&["fanout", "--dir", dir], &world[..]].concat());
    for rate in measured.iter().filter(|one| one["metric"] == "publish_rate") {
        for rival in ["redis", "postgres"] {
            held_against(rate, rival);
        }
    }
    let load = [&SMALL_LOAD[..], &["--vs", "postgres"]].concat();
    let measured = bench(&[&["publish", "--dir", dir], &load[..]].concat());
    for name in ["single_rate", "array_latency"] {
        held_against(metric(&measured, name), "postgres");
    }
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_digest_becomes_mails_plain_and_signed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let world = "--recipients 50 --items 10 --events 40 --runs 1".split(' ');
    let measured = bench(&["digest", "--dir", dir].into_iter().chain(world).collect::<Vec<_>>());
    for name in ["rendered_rate", "rendered_rate_ed25519", "bytes_per_mail"] {
        let measured = metric(&measured, name);
        assert_eq!(measured["params"]["items"], 10);
        assert!(measured["median"].as_f64().unwrap() > 0.0, "{measured}");
    }
}

#[test]
fn a_store_in_a_database_is_measured_as_one_in_a_directory() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !Postgres::is_installed() {
        return skip("PostgreSQL is not installed");
    }
    let dir = tempfile::tempdir().unwrap();
    let database = Postgres::start(dir.path(), &["fsync=off"]).unwrap();
    let works = [
        ("publish", "single_rate", SMALL_LOAD.join(" ")),
        ("fanout", "publish", "--recipients 300 --followers 20 --events 0 --runs 2".to_owned()),
        (
            "feed",
            "page_cold",
            "--recipients 250 --events 50 --days 2 --groups 3 --runs 2".to_owned(),
        ),
        (
            "recovery",
            "start",
            "--recipients 300 --days 1 --events 3 --followers 20 --runs 2".to_owned(),
        ),
    ];
    for (work, name, world) in works {
        let made = format!("CREATE DATABASE {work}");
        database.run("postgres", &made).unwrap();
        let (place, url) = (dir.path().display().to_string(), database.url(work));
        let named = [work, "--dir", &place, "--store", &url];
        let arguments: Vec<&str> = named.into_iter().chain(world.split(' ')).collect();
        let measured = bench(&arguments);
        assert!(metric(&measured, name)["median"].as_f64().unwrap() > 0.0);
        // It was written there.
        let days = database.run(work, "SELECT count(*) FROM tidings_day");
        assert_ne!(days.as_deref(), Ok("0"), "{work}");
    }
}
