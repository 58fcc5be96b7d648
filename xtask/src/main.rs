//! `cargo xtask`: the commands behind the promises of the README and the rules of the house.
//!
//! It depends on the standard library alone, so that it is built in a moment on a fresh machine, and
//! it knows the workspace only from outside: by running cargo and by reading files.

mod build;
mod ci;
mod clients;
mod fuzz;
mod notices;
mod package;
mod source;
mod tidy;
mod ui;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask COMMAND

  test [ARGUMENTS]  run every test of the workspace; arguments go to `cargo test`
  crash [KILLS]     kill the server under load that many times (500), and count what was sent
  soak [MINUTES]    mixed load for so long (60), then a year of days: nothing may grow
  deny              licences and sources of dependencies, and crates that are barred
  fuzz [--seconds N] [TARGET]...
                    try the readers that take any bytes, N seconds each (600): for the night
  lean              lints of the build without optional features
  ui                types, files and tests of the elements of pages (Node, Chromium)
  clients           types, tests and packages of the clients, and the outboxes (Node, Python, PostgreSQL)
  package           build the archive for download, with checksums, in target/package
  tidy              check the rules that no compiler checks
  ci                format, lints, tests, documentation, tidy, licences, the demo's books";

/// The reason why a command did not end well: a sentence for whoever ran it.
type Failure = String;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let ended = match (command.as_deref(), rest.as_slice()) {
        (Some("test"), rest) => ci::test(rest),
        (Some("crash"), [] | [_]) => ci::crash(rest.first().map_or("500", String::as_str)),
        (Some("soak"), [] | [_]) => ci::soak(rest.first().map_or("60", String::as_str)),
        (Some("lean"), []) => ci::lean(),
        (Some("ui"), []) => ui::run(&root()),
        (Some("clients"), []) => clients::run(&root()),
        (Some("deny"), []) => ci::deny(),
        (Some("fuzz"), rest) => fuzz::run(&root(), rest),
        (Some("package"), []) => package::run(&root()),
        (Some("tidy"), []) => tidy::run(&root()),
        (Some("ci"), []) => ci::run(&root()),
        (Some("help" | "--help" | "-h"), []) => {
            println!("{USAGE}");
            Ok(())
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The cargo that runs this, without the variables that it has set for this program: build scripts
/// look at them, and would compile anew what is compiled.
fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command and returns what it prints.
fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|fault| format!("cannot run {command:?}: {fault}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} ended with {}: {said}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|fault| format!("{command:?}: {fault}"))
}
