//! The served API against its own document, by a tool that makes up requests: valid ones must be
//! answered as documented, invalid ones refused as documented, and none may make the server fail.

use std::process::Command;

mod serving;

use serving::{Server, can_run};

#[test]
fn schemathesis_finds_nothing() {
    if !can_run("schemathesis") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("tidings.toml");
    std::fs::write(
        &config,
        include_str!("../../../examples/first/tidings.toml"),
    )
    .unwrap();
    let server = Server::start(&config, &directory.path().join("data"));
    let seed = std::env::var("TIDINGS_SEED").unwrap_or_else(|_| "1".to_owned());
    let examples = std::env::var("TIDINGS_RUNS").unwrap_or_else(|_| "40".to_owned());
    let output = Command::new("schemathesis")
        .current_dir(directory.path())
        .args(["run", &format!("{}/v1/openapi.json", server.url)])
        .args(["--checks", "all", "--mode", "all", "--seed", &seed])
        .args(["--max-examples", &examples, "--no-color"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "seed {seed}\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
