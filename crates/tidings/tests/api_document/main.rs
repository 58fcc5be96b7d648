//! The document of the API as others use it: validators accept it, and its examples fit their schemas. And the tools of
//! assistants, as the official SDKs of their protocol call them.
//!
//! The clients that are made from it have tests of their own: `cargo xtask clients`.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../serving/mod.rs"]
mod serving;
mod tools;

use serving::{can_run, skip};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

fn document() -> PathBuf {
    root().join("docs/openapi.json")
}

fn here(name: &str) -> PathBuf {
    root().join("crates/tidings/tests/api_document").join(name)
}

/// A file that is beside the programs of a directory of the PATH, or among them.
fn found(path: &str) -> Option<PathBuf> {
    let directories = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&directories).map(|directory| directory.join(path));
    found.find(|path| path.exists()).map(|path| path.canonicalize().unwrap())
}

/// A script of this folder in one of its own, where it finds packages of npm.
struct ScriptWithPackages {
    path: PathBuf,
    _directory: tempfile::TempDir,
}

impl ScriptWithPackages {
    fn new(name: &str, packages: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(packages, directory.path().join("node_modules")).unwrap();
        let path = directory.path().join(name);
        std::fs::copy(here(name), &path).unwrap();
        Self { path, _directory: directory }
    }
}

/// Runs a command, which must succeed.
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|out| String::from_utf8(out).unwrap());
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
}

#[test]
fn two_validators_accept_the_document() {
    if can_run("openapi-spec-validator") {
        run(Command::new("openapi-spec-validator").arg(document()));
    }
    // Packages of npm have their programs in a folder among them.
    if let Some(packages) = found("../@apidevtools") {
        let script = ScriptWithPackages::new("validate.mjs", packages.parent().unwrap());
        run(Command::new("node").arg(&script.path).arg(document()));
    } else {
        skip("@apidevtools/swagger-parser is not installed");
    }
}

#[test]
fn each_call_is_described_and_each_example_fits_its_schema() {
    if can_run("openapi-spec-validator") {
        // The Python that the validator runs on has what this needs.
        let validator = found("openapi-spec-validator").unwrap();
        let python = validator.parent().unwrap().join("python3");
        run(Command::new(python).arg(here("examples.py")).arg(document()));
    }
}
