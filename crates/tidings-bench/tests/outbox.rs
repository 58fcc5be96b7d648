//! `tidings bench outbox` starts the program that it is part of as a server, and measures it.
//!
//! This test has a `main` of its own, which is that program: called with `serve` it serves.

use std::process::ExitCode;

use clap::Parser;
use serde_json::Value;
use tidings::cli::{self, Progress, Status, Streams};
use tidings_bench::{Host, RULES, command};
use tidings_loopback::{Postgres, skip};

#[derive(Parser)]
struct Bench {
    #[command(flatten)]
    arguments: command::Arguments,
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
        let mut streams = Streams { out: &mut out, err: &mut err, progress: Progress::Hidden };
        let status = cli::run(std::env::args(), &tidings::app::player, &mut streams);
        return if status == Status::Done { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if Postgres::is_installed() {
        outbox_measures_from_the_commit_until_a_row_is_accepted();
    } else {
        skip("PostgreSQL is not installed");
    }
    ExitCode::SUCCESS
}

fn outbox_measures_from_the_commit_until_a_row_is_accepted() {
    let dir = tempfile::tempdir().expect("a directory can be made");
    let dir = dir.path().to_str().expect("its name is text");
    let arguments = "outbox --json --rate 500 --seconds 2 --clients 2 --recipients 20 --dir";
    let arguments = ["bench"].into_iter().chain(arguments.split(' ')).chain([dir]);
    let host = Host {
        rules: tidings::config::parse(RULES, "rules").expect("the rules have no fault"),
        router: &|_, _, _| unreachable!("the server is a process of its own"),
    };
    let mut out = Vec::new();
    let arguments = Bench::parse_from(arguments).arguments;
    command::run(&arguments, host, &mut out, &mut Vec::new()).expect("it is measured");
    let lines = String::from_utf8(out).expect("the output is text");
    let lines = lines.lines().map(|line| serde_json::from_str(line).expect("each line is JSON"));
    let measured: Vec<Value> = lines.collect();
    let metric = |name| {
        let found = measured.iter().find(|one| one["metric"] == name);
        found.expect("each metric is measured")
    };
    let took = metric("commit_to_accepted");
    assert_eq!((&took["runs"], &took["unit"]), (&1_000.into(), &"ms".into()));
    assert!(took["p99"].as_f64() >= took["median"].as_f64(), "{took}");
    assert!(metric("accepted_rate")["median"].as_f64() > Some(0.0));
}
