//! The check of the elements of pages. It needs Node and Chromium, which no other check does.
//!
//! Types, the committed files as they are built anew, the core on a virtual clock, and a browser: against a model of the
//! server, which can misbehave, and against a server. The screens of the console are played over servers of their own.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::build;
use crate::ci::pass;
use crate::{Failure, output};

/// The port of a host's pages, which the server has to know.
const PAGES_PORT: u16 = 8087;

/// The port of the page of `examples/inbox`.
const EXAMPLE_PORT: u16 = 8088;

pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let npm = |arguments: &[&str]| {
        let mut command = Command::new("npm");
        command.args(arguments).current_dir(root.join("ui"));
        command
    };
    pass(&mut npm(&["ci", "--no-audit", "--no-fund"]))?;
    pass(&mut npm(&["run", "check"]))?;
    pass(&mut npm(&["run", "build", "--", "--check"]))?;
    pass(&mut npm(&["test"]))?;
    pass(npm(&["run", "test:browser"]).env("TIDINGS_MOCK", "alone"))?;
    let server = Server::start(root)?;
    pass(npm(&["run", "test:browser"]).envs(server.environment()))
}

/// A server over a new store, which ends when it is dropped.
struct Server {
    process: Child,
    /// The binary, of which the tests of the console start servers of their own.
    program: String,
    url: String,
    key: String,
    signing_key: String,
}

impl Server {
    fn start(root: &Path) -> Result<Self, Failure> {
        let program = build::program(root)?;
        let dir = root.join("target/ui");
        configure(root, &dir)
            .map_err(|fault| format!("cannot write {}: {fault}", dir.display()))?;
        let tidings = |arguments: &[&str]| {
            let mut command = Command::new(&program);
            command.args(arguments).current_dir(&dir);
            command
        };
        let last = |text: String| text.lines().last().unwrap_or_default().to_owned();
        let key = output(&mut tidings(&["key", "new", "--data", "data"])).map(last)?;
        let signing_key = output(&mut tidings(&["signing-key", "new", "--data", "data"]))?;
        let serve =
            ["serve", "--config", "tidings.toml", "--data", "data", "--listen", "127.0.0.1:0"];
        let process = tidings(&serve).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = process.map_err(|fault| format!("cannot start a server: {fault}"))?;
        let mut lines =
            process.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines());
        let url = lines.find_map(|line| Some(line.ok()?.strip_prefix("listening on ")?.to_owned()));
        let url = url.ok_or("the server did not start")?;
        let program = program.display().to_string();
        Ok(Self { process, program, url, key, signing_key: last(signing_key) })
    }

    fn environment(&self) -> [(&str, String); 6] {
        [
            ("TIDINGS_PROGRAM", self.program.clone()),
            ("TIDINGS_URL", self.url.clone()),
            ("TIDINGS_KEY", self.key.clone()),
            ("TIDINGS_SIGNING_KEY", self.signing_key.clone()),
            ("TIDINGS_PORT", PAGES_PORT.to_string()),
            ("TIDINGS_EXAMPLE_PORT", EXAMPLE_PORT.to_string()),
        ]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Writes the configuration of the first example, open to the pages of a host, with tenants, and with a digest whose
/// times may be chosen.
fn configure(root: &Path, dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(fault),
        _ => {}
    }
    fs::create_dir_all(dir)?;
    let first = fs::read_to_string(root.join("examples/first/tidings.toml"))?;
    let users = format!(
        "\n[users]\norigins = [\"http://localhost:{PAGES_PORT}\", \"http://127.0.0.1:{EXAMPLE_PORT}\"]\n\
         topics = [\"artist/\"]\n\n[tenants]\non = true\n"
    );
    let weekly = "[digests.weekly]\n";
    let open = first.replace(weekly, &format!("{weekly}choose = [\"on\", \"at\"]\n"));
    fs::write(dir.join("tidings.toml"), open + &users)
}
