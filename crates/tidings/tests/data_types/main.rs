//! `tidings types`: what it writes for each language, to the letter, and that compilers take it.
//!
//! Run with `UPDATE_GOLDEN=1` to write the expected outputs anew; read the difference before keeping it.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

/// The types for Rust as they are written.
#[allow(clippy::all, unreachable_pub, missing_docs, dead_code, reason = "nobody edits it")]
mod types {
    include!("types.rs.txt");
}

use types::{EventData, MeasuredData, OrderPaidData, ThreadData};

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data_types").join(name)
}

fn written(language: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .args(["types", "--lang", language, "--config"])
        .arg(here("tidings.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns true if a program is there. CI has all of them.
fn can_run(program: &str) -> bool {
    let can_run = Command::new(program).arg("--version").output().is_ok();
    let is_required = std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_some();
    assert!(can_run || !is_required, "{program} is missing");
    if !can_run {
        eprintln!("skipped: {program} is missing");
    }
    can_run
}

fn passes(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let said = format!("{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{said}");
}

#[test]
fn each_language_is_written_as_it_stands_beside_it() {
    for (language, name) in [("ts", "types.ts"), ("python", "types.py"), ("rust", "types.rs.txt")] {
        let told = written(language);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(here(name), &told).unwrap();
        }
        assert_eq!(told, fs::read_to_string(here(name)).unwrap(), "{name}");
    }
}

#[test]
fn a_faulty_configuration_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .args(["types", "--lang", "ts", "--config"])
        .arg(here("types.py"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

#[test]
fn what_is_written_for_rust_reads_and_writes_data() {
    let data = json!({
        "order": "1",
        "total": { "amount": 9.5, "currency": "EUR" },
        "items": [{ "name": "cup", "count": 2 }, { "name": "lid" }],
        "status": "part-paid",
        "gift-wrapped": true,
        "type": "order",
        "note": "for Ann",
        "reference": "A7",
        "tags": { "shop": "south" },
        "more": [1],
    });
    let paid: OrderPaidData = serde_json::from_value(data.clone()).unwrap();
    assert_eq!(paid.total.amount.to_string(), "9.5");
    assert_eq!(serde_json::to_value(&paid).unwrap(), data);
    assert_eq!(OrderPaidData::TYPE, "order_paid");
    let thread = json!({ "text": "a", "replies": [{ "text": "b" }], "parent": { "text": "c" } });
    let read: ThreadData = serde_json::from_value(thread.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), thread);
    assert_eq!(MeasuredData::TYPE, "measured");
    // What lacks a field is refused.
    assert!(serde_json::from_value::<OrderPaidData>(json!({ "order": "1" })).is_err());
}

#[test]
fn the_compiler_of_typescript_takes_what_is_written() {
    if !can_run("tsc") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for name in ["types.ts", "program.ts"] {
        fs::copy(here(name), directory.path().join(name)).unwrap();
    }
    let strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck"];
    passes(Command::new("tsc").args(strict).arg("program.ts").current_dir(directory.path()));
}

#[test]
fn mypy_takes_what_is_written() {
    if !can_run("mypy") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    fs::copy(here("types.py"), directory.path().join("types_of_data.py")).unwrap();
    fs::copy(here("program.py"), directory.path().join("program.py")).unwrap();
    let strict = ["--strict", "--warn-unused-ignores", "--python-version", "3.10"];
    let mut mypy = Command::new("mypy");
    passes(mypy.args(strict).arg("program.py").current_dir(directory.path()));
    // It runs, too.
    passes(Command::new("python3").arg("program.py").current_dir(directory.path()));
}
