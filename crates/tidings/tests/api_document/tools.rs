//! The tools of assistants of a real server, called by the official SDKs in both generations of the protocol.

use std::fs;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::serving::{Api, Server, skip};
use crate::{ScriptWithPackages, found, here, run};

const CONFIG: &str = r#"
[categories.news]
[types.note]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "cooldown", quiet = "4m" } }
[channels.email]
provider = "caught://"
from = "News <news@example.org>"
"#;

/// A developer's server with a person for whom something waits.
struct WaitingServer {
    server: Server,
    _directory: TempDir,
}

impl WaitingServer {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = directory.path().join("tidings.toml");
        fs::write(&config, CONFIG).unwrap();
        let server = Server::start(&config, &directory.path().join("data"));
        let api = Api::new(&server.url);
        let ada = json!({"name": "Ada", "email": "ada@example.org"});
        let event = json!({
            "id": "e1", "type": "note", "object": {"id": "a"}, "to": {"recipients": ["ada"]},
        });
        assert!(api.put("/v1/recipients/ada", &ada).unwrap().0 < 300);
        assert!(api.post("/v1/events", &event).unwrap().0 < 300);
        Self { server, _directory: directory }
    }

    fn url(&self) -> String {
        format!("{}/mcp", self.server.url)
    }
}

#[test]
fn the_sdk_of_typescript_calls_each_tool() {
    let Some(packages) = found("../@modelcontextprotocol") else {
        return skip("@modelcontextprotocol/client is not installed");
    };
    let script = ScriptWithPackages::new("tools.mjs", packages.parent().unwrap());
    let server = WaitingServer::start();
    run(Command::new("node").arg(&script.path).arg(server.url()).arg(here("tools.json")));
}

#[test]
fn the_sdk_of_python_calls_each_tool() {
    // The packages of pip are installed together.
    let python = found("openapi-spec-validator").map(|program| program.with_file_name("python3"));
    let has_sdk = |python: &std::path::PathBuf| {
        let import = Command::new(python).args(["-c", "import mcp"]).output();
        import.is_ok_and(|import| import.status.success())
    };
    let Some(python) = python.filter(has_sdk) else {
        return skip("the package mcp of pip is not installed");
    };
    let server = WaitingServer::start();
    run(Command::new(python).arg(here("tools.py")).arg(server.url()).arg(here("tools.json")));
}
