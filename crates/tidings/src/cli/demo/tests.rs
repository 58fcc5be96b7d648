use std::path::Path;

use tidings_core::Day;
use tidings_core::content::Totals;

use super::*;

/// Ten days and the first 300 people.
fn short() -> Scenario {
    tidings_demo::scenario().excerpt(300, Day::parse("1967-12-13").unwrap())
}

fn arguments(data: Option<&Path>, json: bool) -> DemoArguments {
    let listen = "127.0.0.1:0".parse().unwrap();
    DemoArguments { headless: true, json, data: data.map(Path::to_owned), listen }
}

fn demo(arguments: &DemoArguments) -> (Status, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { out: &mut out, err: &mut err, progress: Progress::Plain };
    let status = run(arguments, &short(), &mut streams).unwrap();
    (status, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[test]
fn one_object_with_the_counters_and_the_times_is_printed() {
    let (status, out, err) = demo(&arguments(None, true));
    assert_eq!(status, Status::Done, "{err}");
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&out).unwrap();
    let names: Vec<&str> = object.keys().map(String::as_str).collect();
    let counters = serde_json::to_value(Totals::default()).unwrap();
    let mut expected: Vec<&str> =
        counters.as_object().unwrap().keys().map(String::as_str).collect();
    expected.extend(["largest_audience", "largest_audience_ms", "seconds"]);
    expected.extend(["warhol_followers", "warhol_ms"]);
    assert_eq!(names, expected);
    assert!(object.values().all(serde_json::Value::is_number), "{out}");
    assert!(object["messages"].as_u64().unwrap() > 0, "{out}");
    assert!(object["largest_audience"].as_u64().unwrap() > 0, "{out}");
    assert!(err.contains("December 1967"), "{err}");
}

#[test]
fn people_are_shown_books_that_balance_and_where_things_are() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    let (status, out, err) = demo(&arguments(Some(&data), false));
    assert_eq!(status, Status::Done, "{err}");
    assert!(out.contains("The books balance"), "{out}");
    assert!(out.contains(&data.join("mail").display().to_string()), "{out}");
    assert!(data.join("store").is_dir(), "what was asked for is kept");

    let (status, out, err) = demo(&arguments(Some(&data), true));
    assert_eq!((status, out.as_str()), (Status::Wrong, ""));
    assert!(err.contains("not empty"), "{err}");
}

#[test]
fn a_port_that_is_taken_is_told_before_anything_is_played() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    let (status, out, err) =
        demo(&DemoArguments { headless: false, listen, ..arguments(None, false) });
    assert_eq!((status, out.as_str()), (Status::Failed, ""));
    assert!(err.contains("--listen") && err.contains(&listen.to_string()), "{err}");
    assert!(!err.contains("mails"), "{err}");
    // The pages need no key: others than this machine may not reach them.
    let listen = "0.0.0.0:0".parse().unwrap();
    let (status, out, err) =
        demo(&DemoArguments { headless: false, listen, ..arguments(None, false) });
    assert_eq!((status, out.as_str()), (Status::Wrong, ""));
    assert!(err.contains("127.0.0.1"), "{err}");
}

#[test]
fn faults_end_with_their_codes() {
    use tidings_store::Error as Store;
    let dir = || PathBuf::from("d");
    for (fault, code) in [
        (play::PlayFault::Occupied(dir()), 2),
        (play::PlayFault::Store(Store::Locked(String::new())), 3),
        (play::PlayFault::Store(Store::Format(String::new())), 3),
        (play::PlayFault::Store(Store::Full(String::new())), 1),
        (play::PlayFault::Stopped, 1),
    ] {
        let fault = DemoFault::Play(fault);
        assert_eq!(status_of(&fault).code(), code, "{fault}");
    }
}

/// The variable that makes [`demo_process`] play.
#[cfg(unix)]
const PLAYS: &str = "TIDINGS_TEST_DEMO";

/// The process of [`f16_a_demo_that_is_terminated_leaves_nothing_behind`].
#[cfg(unix)]
#[test]
fn demo_process() {
    if std::env::var_os(PLAYS).is_none() {
        return;
    }
    let mut streams =
        Streams { out: &mut io::stdout(), err: &mut io::stderr(), progress: Progress::Plain };
    let arguments = DemoArguments { headless: false, ..arguments(None, true) };
    run(&arguments, &short(), &mut streams).unwrap();
}

#[cfg(unix)]
#[test]
fn f16_a_demo_that_is_terminated_leaves_nothing_behind() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    // While it plays, and while it serves.
    for line in ["December 1967", "Look around"] {
        let parent = tempfile::tempdir().unwrap();
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "cli::demo::tests::demo_process"])
            .env(PLAYS, "1")
            .env("TMPDIR", parent.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let reached = lines.any(|said| said.unwrap().contains(line));
        let left = || std::fs::read_dir(parent.path()).unwrap().count();
        let during = left();
        let id = process.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &id]).status();
        let status = process.wait().unwrap();
        assert!(reached && killed.unwrap().success(), "{line}: {status}");
        assert_eq!((during, left()), (1, 0), "{line}: {status}");
    }
}

#[test]
fn f11_books_that_do_not_balance_are_a_failure() {
    let books = Totals { entries: 1, ..Totals::default() };
    assert!(!books.balance());
    assert_eq!(status_of(&DemoFault::Books), Status::Failed);
}
