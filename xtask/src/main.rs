//! `cargo xtask`: the commands behind the promises of the README and the rules of the house.
//!
//! It depends on the standard library alone, so that it is built in a moment on a fresh machine, and
//! it knows the workspace only from outside: by running cargo and by reading files.

mod ci;
mod package;
mod source;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask COMMAND

  test [ARGUMENTS]  run every test of the workspace; arguments go to `cargo test`
  crash [KILLS]     kill the server under load so often (500), and count what was told
  soak [MINUTES]    mixed load for so long (60): nothing may creep; then a year of days
  package           build the archive for download, with checksums, in target/package
  tidy              check the rules that no compiler checks
  ci                format, lints, tests, documentation, tidy, licences, the demo's books";

/// Why a command did not end well: a sentence for whoever ran it.
type Failure = String;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let ended = match (command.as_deref(), rest.as_slice()) {
        (Some("test"), rest) => ci::test(rest),
        (Some("crash"), [] | [_]) => ci::crash(rest.first().map_or("500", String::as_str)),
        (Some("soak"), [] | [_]) => ci::soak(rest.first().map_or("60", String::as_str)),
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

/// The cargo that runs this.
fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root());
    command
}
