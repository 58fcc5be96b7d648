//! A server over a new store, from the binary that `TIDINGS_BIN` names.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tidings_client::{Builder, Client, SigningKey};

const CONFIG: &str = r#"
[users]
origins = ["https://app.example.org"]
topics = ["artist/"]

[categories.conversations]
title = "Conversations"

[types.comment]
category = "conversations"

[types.comment.channels]
inbox = { policy = "now" }

[types.mailed]
category = "conversations"

[types.mailed.channels]
email = { policy = "cooldown", quiet = "4m", max_wait = "15m" }

[channels.email]
provider = "file://mail"
from = "Art <art@example.org>"
"#;

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) signing_key: SigningKey,
    child: Child,
    _folder: TempDir,
}

impl Server {
    /// A server of its own; `None` = there is no binary, so that the test is skipped.
    pub(crate) fn start() -> Option<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let named = env::var_os("TIDINGS_BIN").map(PathBuf::from);
        let binary = named.unwrap_or_else(|| here.join("../../target/debug/tidings"));
        if !binary.exists() {
            let missing =
                format!("there is no {}: build it, or name one by TIDINGS_BIN", binary.display());
            assert!(env::var_os("TIDINGS_REQUIRE_SERVERS").is_none(), "{missing}");
            eprintln!("skipped: {missing}");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tidings.toml"), CONFIG).unwrap();
        let command = |words: &str| {
            let mut command = Command::new(&binary);
            command.args(words.split(' ')).current_dir(folder.path());
            command
        };
        let last_line = |words: &str| {
            let out = command(words).output().unwrap();
            assert!(out.status.success(), "{words}: {}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8(out.stdout).unwrap().trim().lines().last().unwrap().to_owned()
        };
        let key = last_line("key new --data data");
        let signing_key = SigningKey::new(&last_line("signing-key new --data data")).unwrap();
        let mut child = command("serve --config tidings.toml --data data --listen 127.0.0.1:0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url =
            lines.find_map(|line| Some(line.unwrap().strip_prefix("listening on ")?.to_owned()));
        Some(Self {
            url: url.expect("the server starts"),
            key,
            signing_key,
            child,
            _folder: folder,
        })
    }

    /// A client of it through something at another address. Its tries follow each other soon.
    pub(crate) fn through(&self, url: &str) -> Builder {
        let builder = Client::builder(url).key(&self.key).signing_key(self.signing_key.clone());
        builder.first_wait(Duration::from_millis(5))
    }

    pub(crate) fn client(&self) -> Client {
        self.through(&self.url).build().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
