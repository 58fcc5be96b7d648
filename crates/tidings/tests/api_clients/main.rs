//! The document of the API as others use it: validators accept it, its examples fit their schemas, and the
//! clients that are generated from it run the quick starts of `examples/clients` against the binary.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../serving/mod.rs"]
mod serving;

use serving::{Server, can_run};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

fn document() -> PathBuf {
    root().join("docs/openapi.json")
}

fn here(name: &str) -> PathBuf {
    root().join("crates/tidings/tests/api_clients").join(name)
}

/// The directory in which a program is installed.
fn directory_of(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut directories = std::env::split_paths(&path);
    let directory = directories.find(|directory| directory.join(program).exists());
    directory.unwrap().canonicalize().unwrap()
}

/// The Python that a tool runs on, which has what the tool needs.
fn python_of(program: &str) -> PathBuf {
    directory_of(program).join("python3")
}

/// Runs a command, which must succeed; returns what it printed.
fn ran(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|out| String::from_utf8(out).unwrap());
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out
}

/// A server with the first configuration, and a key for it.
fn server(directory: &Path) -> (Server, String) {
    let (config, data) = (directory.join("tidings.toml"), directory.join("data"));
    let rules = include_str!("../../../../examples/first/tidings.toml");
    let mails = format!("file://{}", directory.join("mail").display());
    std::fs::write(&config, rules.replace("file://mail", &mails)).unwrap();
    let mut key = Command::new(env!("CARGO_BIN_EXE_tidings"));
    let key = ran(key.args(["key", "new", "--data"]).arg(&data));
    let server = Server::start_with_keys(&config, &data);
    (server, key.trim().to_owned())
}

/// Runs a quick start and returns what it printed, against a server of its own.
fn started(command: &mut Command, directory: &Path) -> String {
    let (server, key) = server(directory);
    let command = command.current_dir(directory);
    ran(command.env("TIDINGS_URL", &server.url).env("TIDINGS_KEY", key))
}

#[test]
fn two_validators_accept_the_document() {
    if can_run("openapi-spec-validator") {
        ran(Command::new("openapi-spec-validator").arg(document()));
    }
    if can_run("openapi-typescript") {
        let directory = tempfile::tempdir().unwrap();
        with_packages(directory.path());
        let script = directory.path().join("validate.mjs");
        std::fs::copy(here("validate.mjs"), &script).unwrap();
        ran(Command::new("node").arg(script).arg(document()));
    }
}

#[test]
fn each_call_is_described_and_each_example_fits_its_schema() {
    if can_run("openapi-spec-validator") {
        let python = python_of("openapi-spec-validator");
        ran(Command::new(python).arg(here("examples.py")).arg(document()));
    }
}

#[test]
fn a_generated_python_client_runs_the_quick_start() {
    if !can_run("openapi-python-client") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let client = directory.path().join("tidings_client");
    let generated = Command::new("openapi-python-client")
        .args(["generate", "--meta", "none", "--path"])
        .arg(document())
        .arg("--output-path")
        .arg(&client)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&generated.stdout).into_owned();
    assert!(generated.status.success(), "{said}");
    assert!(!said.contains("will not be generated"), "{said}");
    let mut quick_start = Command::new(python_of("openapi-python-client"));
    quick_start
        .arg(root().join("examples/clients/quickstart.py"))
        .env("PYTHONPATH", directory.path());
    let said = started(&mut quick_start, directory.path());
    let expected =
        "published: accepted to 1\ninbox: Water Lilies unseen 1\nstate: {'email': 1, 'inbox': 0}\n";
    assert_eq!(said, expected);
}

#[test]
fn a_generated_typescript_client_runs_the_quick_start() {
    if !can_run("openapi-typescript") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    with_packages(directory.path());
    for name in ["package.json", "tsconfig.json", "quickstart.ts"] {
        let from = root().join("examples/clients").join(name);
        std::fs::copy(from, directory.path().join(name)).unwrap();
    }
    let mut types = Command::new("openapi-typescript");
    types.arg(document()).args(["--output", "api.d.ts"]);
    ran(types.current_dir(directory.path()));
    ran(Command::new("tsc").current_dir(directory.path()));
    let mut quick_start = Command::new("node");
    let said = started(quick_start.arg("out/quickstart.js"), directory.path());
    let expected =
        "published: accepted to 1\ninbox: Water Lilies unseen 1\nstate: [ 'email 1', 'inbox 0' ]\n";
    assert_eq!(said, expected);
}

/// Lets programs in a directory find the packages of npm.
fn with_packages(directory: &Path) {
    let bin = directory_of("openapi-typescript");
    let packages = bin.parent().unwrap();
    std::os::unix::fs::symlink(packages, directory.join("node_modules")).unwrap();
}
