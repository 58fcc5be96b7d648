//! What the README prints is what happens: its first configuration, its timeline and their outcome.

#![allow(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it should be"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of the README that begin with this fence.
fn blocks(fence: &str) -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let opened = format!("\n```{fence}\n");
    let after = readme.split(&opened).skip(1);
    after
        .map(|rest| format!("{}\n", rest.split("\n```").next().unwrap()))
        .collect()
}

fn file(name: &str) -> String {
    fs::read_to_string(root().join("examples/first").join(name)).unwrap()
}

#[test]
fn the_first_files_are_those_that_are_printed() {
    assert_eq!(blocks("toml"), [file("tidings.toml")]);
    assert_eq!(blocks("json"), [file("timeline.ndjson")]);
}

#[test]
fn the_first_simulation_ends_as_printed() {
    let shown = blocks("sh");
    let command = shown
        .iter()
        .find(|block| block.contains("simulate"))
        .unwrap();
    let words = command.replace("\\\n", " ");
    let words = words.trim().strip_prefix("cargo run --release --").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .current_dir(root())
        .args(words.split_whitespace())
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(blocks("text"), [String::from_utf8(output.stdout).unwrap()]);
}

#[test]
fn there_are_exactly_two_commands_before_the_rest() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (start, _) = readme.split_once("\n## ").unwrap();
    let commands: Vec<&str> = start.split("```sh\n").skip(1).collect();
    let commands: Vec<&str> = commands
        .iter()
        .map(|block| block.split("\n```").next().unwrap())
        .collect();
    assert_eq!(
        commands,
        ["cargo run --release -- demo", "cargo xtask test"]
    );
}

#[test]
fn every_metric_is_told_to_operators() {
    let metrics = fs::read_to_string(root().join("crates/tidings/src/http/metrics.rs")).unwrap();
    let page = fs::read_to_string(root().join("docs/operating.md")).unwrap();
    let quoted = metrics
        .split('"')
        .filter(|text| text.starts_with("tidings_"));
    let names: std::collections::BTreeSet<&str> = quoted.collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("`{name}")), "{name}");
    }
}
