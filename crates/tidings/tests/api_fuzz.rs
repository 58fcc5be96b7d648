//! The served API against its own document, by a tool that makes up requests: valid ones must be
//! answered as documented, invalid ones refused as documented, and none may make the server fail.

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
    std::fs::write(&config, rules.replace("file://mail", &mails)).unwrap();
    let hooks = directory.path().join("lines.py");
    std::fs::write(&hooks, LINES).unwrap();
    let server = Server::start_with_keys(&config, &data);
    // The run may revoke every key, but not the token.
    let key = std::fs::read_to_string(data.join("token")).unwrap();
    let seed = std::env::var("TIDINGS_SEED").unwrap_or_else(|_| "1".to_owned());
    let examples = std::env::var("TIDINGS_RUNS").unwrap_or_else(|_| "40".to_owned());
    let output = Command::new("schemathesis")
        .current_dir(directory.path())
        .env("SCHEMATHESIS_HOOKS", &hooks)
        .args(["run", &format!("{}/v1/openapi.json", server.url)])
        .args(["--header", &format!("Authorization: Bearer {}", key.trim())])
        .args(["--checks", "all", "--mode", "all", "--seed", &seed])
        // What is valid depends on the configuration and on what exists, which no schema tells.
        .args(["--exclude-checks", "positive_data_acceptance"])
        // A stream does not end, and the tool waits for the end of each answer.
        .args(["--exclude-path-regex", "/live$"])
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
