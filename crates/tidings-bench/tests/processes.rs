//! Some benchmarks start the program that they are part of as a server, and measure it.
//!
//! This test has a `main` of its own, which is that program: called with a command of it, it does that.

use std::process::ExitCode;

use clap::Parser;
use serde_json::Value;
use tidings::cli::{self, Progress, Status, Streams};
use tidings_bench::{Host, RULES, command};
use tidings_loopback::{Postgres, skip};

#[derive(Parser)]
struct Bench {
    #[command(flatten)]
    arguments: command::BenchArguments,
}

fn main() -> ExitCode {
    if matches!(std::env::args().nth(1).as_deref(), Some("serve" | "outbox")) {
        let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
        let mut streams = Streams { out: &mut out, err: &mut err, progress: Progress::Hidden };
        let status = cli::run(std::env::args(), &tidings_trial::player, &mut streams);
        return if status == Status::Done { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    one_user_who_takes_all_that_a_token_can_is_refused_alone();
    an_operator_reads_searches_and_retries_many_messages();
    if Postgres::is_installed() {
        outbox_measures_from_the_commit_until_a_row_is_accepted();
    } else {
        skip("PostgreSQL is not installed");
    }
    ExitCode::SUCCESS
}

/// Runs a benchmark in a directory of its own. Returns what it measured.
fn measured(arguments: &str) -> Vec<Value> {
    let dir = tempfile::tempdir().expect("a directory can be made");
    let dir = dir.path().to_str().expect("its name is text");
    let arguments =
        ["bench"].into_iter().chain(arguments.split(' ')).chain(["--json", "--dir", dir]);
    let host = Host {
        rules: tidings_config::parse(RULES, "rules").expect("the rules have no fault"),
        router: &|_, _, _| unreachable!("the server is a process of its own"),
    };
    let mut out = Vec::new();
    let arguments = Bench::parse_from(arguments).arguments;
    command::run(&arguments, host, &mut out, &mut Vec::new()).expect("it is measured");
    let lines = String::from_utf8(out).expect("the output is text");
    lines.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

fn metric<'a>(measured: &'a [Value], name: &str) -> &'a Value {
    measured.iter().find(|one| one["metric"] == name).expect("each metric is measured")
}

fn outbox_measures_from_the_commit_until_a_row_is_accepted() {
    let measured = measured("outbox --rate 500 --seconds 2 --clients 2 --recipients 20");
    let took = metric(&measured, "commit_to_accepted");
    assert_eq!((&took["runs"], &took["unit"]), (&1_000.into(), &"ms".into()));
    assert!(took["p99"].as_f64() >= took["median"].as_f64(), "{took}");
    assert!(metric(&measured, "accepted_rate")["median"].as_f64() > Some(0.0));
}

fn one_user_who_takes_all_that_a_token_can_is_refused_alone() {
    let world = "--readers 5 --entries 10 --hoard 300 --rounds 1 --seconds 3 --connections 12";
    let measured = measured(&format!("shares {world}"));
    let median = |name| metric(&measured, name)["median"].as_f64().expect("it is a number");
    assert_eq!(median("refused_to_others").to_bits(), 0_f64.to_bits(), "{measured:?}");
    // They go on meanwhile: each publish, page and hook that is counted was answered.
    for of_others in ["publish", "read", "hook"] {
        assert!(metric(&measured, of_others)["runs"].as_u64() > Some(0), "{of_others}");
    }
    assert!(median("refused_to_the_one") > 0.0 && median("answered_to_the_one") > 0.0);
    assert!(median("streams_of_the_one") <= 64.0, "{measured:?}");
}

fn an_operator_reads_searches_and_retries_many_messages() {
    let store = "--entries 400 --audience 20 --bulk 300 --seconds 1 --runs 2 --days 3 --types 4";
    let measured = measured(&format!("operate {store}"));
    for with_bar in ["messages_rare_failed", "search_address", "explain_answered"] {
        assert!(metric(&measured, with_bar)["versus"]["bar"].as_f64() > Some(0.0), "{with_bar}");
    }
    // All failed messages of the type were retried, not faster than a job may.
    let rate = metric(&measured, "bulk_rate")["median"].as_f64().expect("it is a number");
    assert!(rate > 0.0 && rate <= 1_050.0, "{rate}");
    for of_days in ["figures_by_day", "figures_by_type_and_channel"] {
        assert_eq!(metric(&measured, of_days)["runs"], 2, "{of_days}");
    }
    assert!(metric(&measured, "publish_p99_ratio")["median"].as_f64() > Some(0.0));
}
