//! The checks that have to pass before a change is merged, in the order of the time that they take to fail.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Failure, cargo, output, tidy};

/// Everything that the README promises. A run goes on after a failed binary, and lists all that failed at its end. Tests
/// of real data print that they are skipped where the data is not there.
///
/// All of them together share what the README's first command has built. Some of them, chosen by arguments, are built in
/// `dev`, where a change compiles in less time.
pub(crate) fn test(arguments: &[String]) -> Result<(), Failure> {
    let mut command = cargo();
    command.args(["test", "--no-fail-fast"]);
    if arguments.iter().all(|argument| argument == "--locked") {
        command.args(["--workspace", "--release"]);
    }
    pass_with_failures_last(command.args(arguments))
}

/// The crash test of the whole process, as long as one likes.
pub(crate) fn crash(kills: &str) -> Result<(), Failure> {
    pass(optimised("crash").env("TIDINGS_KILLS", kills))
}

/// The soak of the whole process, and of a year of days on a virtual clock.
pub(crate) fn soak(minutes: &str) -> Result<(), Failure> {
    pass(optimised("soak").env("TIDINGS_SOAK_MINUTES", minutes))?;
    pass(optimised("retention").env("TIDINGS_SOAK_DAYS", "365"))
}

/// One test file of the optimised binary, with what it prints.
fn optimised(test: &str) -> Command {
    let mut command = cargo();
    command.args(["test", "--release", "-p", "tidings", "--test", test]);
    command.args(["--", "--nocapture"]);
    command
}

/// All checks; the first that fails ends them.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    step("format");
    pass(cargo().args(["fmt", "--all", "--check"]))?;
    step("tidy");
    tidy::run(root)?;
    step("lints");
    let lints = "clippy --release --locked --workspace --all-targets --features tidings/bench -- -D warnings";
    pass(cargo().args(lints.split(' ')))?;
    step("lints without features");
    lean()?;
    step("lock file of the fuzz targets");
    fuzz_lock(root)?;
    step("documentation");
    let documentation = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
    pass(cargo().args(documentation).env("RUSTDOCFLAGS", "-D warnings"))?;
    step("licences and sources");
    deny()?;
    step("tests");
    test(&["--locked".to_owned()])?;
    step("demo");
    demo()
}

fn step(name: &str) {
    println!("== {name}");
}

/// Runs a command to its end, with our own streams.
pub(crate) fn pass(command: &mut Command) -> Result<(), Failure> {
    let status =
        command.status().map_err(|fault| format!("cannot run {}: {fault}", said(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", said(command))) }
}

/// Runs tests as [`pass`] runs a command, and prints at the end once more what failed: logs are read from there, and
/// some of them are kept only in part.
fn pass_with_failures_last(command: &mut Command) -> Result<(), Failure> {
    let cannot =
        |command: &Command, fault: std::io::Error| format!("cannot run {}: {fault}", said(command));
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|fault| cannot(command, fault))?;
    let mut failures = Failures::default();
    for line in BufReader::new(child.stdout.take().expect("it is piped")).split(b'\n') {
        let line = line.map_err(|fault| cannot(command, fault))?;
        let line = String::from_utf8_lossy(&line);
        // A closed output is no reason to stop the tests.
        let _ = writeln!(std::io::stdout(), "{line}");
        failures.add(&line);
    }
    let status = child.wait().map_err(|fault| cannot(command, fault))?;
    if status.success() {
        return Ok(());
    }
    println!("\n== what failed, once more\n{}", failures.lines.join("\n"));
    Err(format!("{} ended with {status}", said(command)))
}

/// The lines about failures in the output of tests.
#[derive(Default)]
struct Failures {
    lines: Vec<String>,
    /// True between `failures:` and the result of a binary.
    is_within: bool,
}

impl Failures {
    /// The most lines that are kept.
    const LINES_MAX: usize = 300;

    fn add(&mut self, line: &str) {
        self.is_within |= line == "failures:";
        if self.is_within && self.lines.len() < Self::LINES_MAX {
            self.lines.push(line.to_owned());
        }
        self.is_within &= !line.starts_with("test result:");
    }
}

fn said(command: &Command) -> String {
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    let program =
        Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
    format!("{program} {}", words.collect::<Vec<_>>().join(" "))
}

/// The build without optional features compiles, without warnings.
pub(crate) fn lean() -> Result<(), Failure> {
    let lints = "clippy --release --locked --package tidings --no-default-features -- -D warnings";
    pass(cargo().args(lints.split(' ')))
}

/// The fuzz targets can be built as they are: theirs is a lock file of its own, which no other build reads.
fn fuzz_lock(root: &Path) -> Result<(), Failure> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--locked", "--format-version", "1", "--manifest-path"]);
    output(metadata.arg(root.join("fuzz/Cargo.toml"))).map(drop)
}

/// Licences, sources and barred crates. Advisories are a download, so whoever wants them runs `cargo deny check`.
pub(crate) fn deny() -> Result<(), Failure> {
    let version = output(cargo().args(["deny", "--version"]));
    if version.is_err() {
        let cure = "`cargo install --locked cargo-deny`, or have `.ci/run` install it";
        return Err(format!("cargo-deny is not installed: {cure}"));
    }
    pass(cargo().args(["deny", "check", "bans", "licenses", "sources"]))
}

/// Plays the demo without its page; it fails if its books don't balance.
fn demo() -> Result<(), Failure> {
    let run = ["run", "--release", "--locked", "--", "demo", "--headless"];
    pass(cargo().args(run).arg("--json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_the_lines_up_to_the_result_of_their_binary() {
        let mut failures = Failures::default();
        for line in [
            "test a ... ok",
            "failures:",
            "---- b stdout ----",
            "test result: FAILED. 1 passed; 1 failed",
            "test c ... ok",
            "test result: ok. 1 passed",
        ] {
            failures.add(line);
        }
        let expected =
            ["failures:", "---- b stdout ----", "test result: FAILED. 1 passed; 1 failed"];
        assert_eq!(failures.lines, expected);
    }
}
