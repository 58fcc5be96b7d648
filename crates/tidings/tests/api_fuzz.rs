//! The served API against its own document, by a tool that makes up requests: valid ones must be
//! answered as documented, invalid ones refused as documented, and none may make the server fail.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::path::Path;
use std::process::Command;

mod serving;

use serving::{Server, can_run};

/// Rules that the tool does not know by itself: how lines are written, and that a stream or an array with a bad
/// item is taken and the item refused in the answer, so that any item will do.
const LINES: &str = r#"
import json
import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return (json.dumps(value) + "\n").encode()


@schemathesis.hook
def before_load_schema(context, document):
    for path in document["paths"].values():
        for operation in path.values():
            parameters = operation.get("parameters", [])
            names = [p.get("name", p.get("$ref", "").rsplit("/", 1)[-1]) for p in parameters]
            if "dry" in names and "Idempotency-Key" in names:
                # A dry run does not look at the key, whatever it is.
                free = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}
                parameters[names.index("Idempotency-Key")] = free
            content = operation.get("requestBody", {}).get("content", {})
            if "application/x-ndjson" in content:
                content["application/x-ndjson"]["schema"] = {}
                if "items" in content["application/json"]["schema"]:
                    content["application/json"]["schema"]["items"] = {}
    document["components"]["schemas"]["PublishBody"]["oneOf"][1]["items"] = {}
"#;

#[test]
fn schemathesis_finds_nothing() {
    if !can_run("schemathesis") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (config, data) = (directory.path().join("t.toml"), directory.path().join("data"));
    let rules = include_str!("../../../examples/first/tidings.toml");
    let mails = format!("file://{}", directory.path().join("mail").display());
    let rules = rules.replace("file://mail", &mails);
    let users = "\n[users]\ntopics = [\"artist/\"]\n";
    std::fs::write(&config, format!("{rules}{users}")).unwrap();
    let hooks = directory.path().join("lines.py");
    std::fs::write(&hooks, LINES).unwrap();
    let server = Server::start_with_keys(&config, &data);
    // The run may revoke every key, but not the token.
    let key = std::fs::read_to_string(data.join("token")).unwrap();
    // Whom no example names.
    let people = directory.path().join("people.csv");
    std::fs::write(&people, "id\npat\n").unwrap();
    let tidings = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
        let output = command.args(arguments).arg("--data").arg(&data).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    tidings(&["import", people.to_str().unwrap(), "--kind", "recipients"]);
    let token = tidings(&["token", "pat", "--for", "1h"]);
    // A stream does not end, and the tool waits for the end of each answer.
    for (secret, which) in [(&token, MINE), (&key, OTHERS)] {
        run(directory.path(), &server, secret.trim(), which);
    }
}

/// The calls of end users, and all the others; without streams.
const MINE: &[&str] = &["--include-path-regex", "^/v1/me/", "--exclude-path-regex", "/live$"];
const OTHERS: &[&str] = &["--exclude-path-regex", "^/v1/me/|/live$"];

/// Makes up requests to some calls.
fn run(directory: &Path, server: &Server, secret: &str, which: &[&str]) {
    let seed = std::env::var("TIDINGS_SEED").unwrap_or_else(|_| "1".to_owned());
    let examples = std::env::var("TIDINGS_RUNS").unwrap_or_else(|_| "12".to_owned());
    let output = Command::new("schemathesis")
        .current_dir(directory)
        .env("SCHEMATHESIS_HOOKS", directory.join("lines.py"))
        // What the server serves; end users don't get it there.
        .args(["run", concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json")])
        .args(["--url", &server.url])
        .args(["--header", &format!("Authorization: Bearer {secret}")])
        .args(which)
        .args(["--checks", "all", "--mode", "all", "--seed", &seed])
        // What is valid depends on the configuration and on what exists, which no schema tells.
        .args(["--exclude-checks", "positive_data_acceptance"])
        .args(["--max-examples", &examples, "--no-color"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{which:?}, seed {seed}\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
