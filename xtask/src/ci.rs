//! The checks that have to pass before a change is merged, in the order of the time that they take to fail.

use std::path::Path;
use std::process::Command;

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
    pass(command.args(arguments))
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
