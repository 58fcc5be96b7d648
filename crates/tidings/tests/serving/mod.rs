//! The real process, `tidings serve`, and a client of it, for tests that want it whole.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test takes what it needs, and ends where something is not as it should be"
)]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::Value;

pub(crate) use tidings_loopback::skip;

pub(crate) mod judge;
pub(crate) mod mail;
pub(crate) mod wire;

/// A server that runs until it is dropped, and is killed then.
pub(crate) struct Server {
    child: Child,
    /// Kept open: a process whose output nobody takes would stop at a full pipe.
    _out: BufReader<ChildStdout>,
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: String,
}

impl Server {
    /// Starts `serve --dev` on a free port and waits until it says where it listens.
    ///
    /// # Panics
    /// If the process ends before it has said so.
    pub(crate) fn start(config: &Path, data: &Path) -> Self {
        Self::spawn(Command::new(TIDINGS), config, data)
    }

    /// Starts `serve --dev` on an address with a port, to which its mails lead then.
    pub(crate) fn start_at(address: &str, config: &Path, data: &Path) -> Self {
        let mut command = Command::new(TIDINGS);
        command.args(["serve", "--dev", "--listen", address, "--config"]).arg(config);
        command.arg("--data").arg(data).stdin(Stdio::null());
        Self::spawn_as(command)
    }

    /// Starts it as [`Server::start_busy`] does and kills it after so many milliseconds, wherever it is then.
    pub(crate) fn start_and_kill(config: &Path, data: &Path, ahead_ms: i64, after_ms: u64) {
        let mut command = busy(config, data, ahead_ms);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("the binary can be run");
        // What is tested is that the moment does not matter, so there is nothing to wait for.
        std::thread::park_timeout(std::time::Duration::from_millis(after_ms));
        child.kill().expect("it is our child");
        child.wait().expect("it is our child");
    }

    /// As [`Server::start`], with a variable in its environment.
    pub(crate) fn start_with(config: &Path, data: &Path, name: &str, value: &str) -> Self {
        let mut command = Command::new(TIDINGS);
        command.env(name, value);
        Self::spawn(command, config, data)
    }

    /// As [`Server::start`], with its log in a file.
    pub(crate) fn start_logging(config: &Path, data: &Path, log: File) -> Self {
        let mut command = Command::new(TIDINGS);
        command.stderr(log);
        Self::spawn(command, config, data)
    }

    /// As [`Server::start_logging`], to wait so long for what is under way when it stops.
    pub(crate) fn start_with_drain(config: &Path, data: &Path, drain: &str, log: File) -> Self {
        let mut command = arguments(Command::new(TIDINGS), config, data);
        command.args(["--drain", drain]).stderr(log);
        Self::spawn_as(command)
    }

    /// As [`Server::start`], on a clock that is so many milliseconds ahead.
    pub(crate) fn start_ahead(config: &Path, data: &Path, ahead_ms: i64) -> Self {
        Self::spawn_as(ahead(config, data, ahead_ms))
    }

    /// As [`Server::start`], on a clock that is so many milliseconds ahead, and with chores after so few
    /// records that they are met.
    pub(crate) fn start_busy(config: &Path, data: &Path, ahead_ms: i64) -> Self {
        Self::spawn_as(busy(config, data, ahead_ms))
    }

    /// As [`Server::start`], with what it reads, writes and syncs noted in a file by `strace`, which
    /// ends with it.
    pub(crate) fn start_traced(config: &Path, data: &Path, log: &Path) -> Self {
        let mut command = Command::new("strace");
        let calls = "trace=recvfrom,read,sendto,sendmsg,write,writev,fsync,fdatasync";
        command.args(["-D", "-f", "-s", "32", "-e", calls, "-o"]);
        command.arg(log).arg(TIDINGS);
        Self::spawn(command, config, data)
    }

    /// As [`Server::start`], without `--dev`: who calls needs a key.
    pub(crate) fn start_with_keys(config: &Path, data: &Path) -> Self {
        let mut command = Command::new(TIDINGS);
        command.arg("serve");
        Self::spawn_as(addressed(command, config, data))
    }

    /// As [`Server::start_with_keys`]; what it says goes into a file.
    pub(crate) fn start_with_keys_logging(config: &Path, data: &Path, log: File) -> Self {
        let mut command = Command::new(TIDINGS);
        command.arg("serve").stderr(log);
        Self::spawn_as(addressed(command, config, data))
    }

    /// Starts a node of a cluster, `serve --dev --store`, with its log in a file. Others reach it at a port of loopback.
    pub(crate) fn start_node(config: &Path, store: &str, name: &str, port: u16, log: File) -> Self {
        let mut command = node(config, store, name, log);
        command.args(["--dev", "--drain", "10s", "--chores-after", "8"]);
        command.args(["--advertise", &format!("127.0.0.1:{port}")]);
        Self::spawn_as(command)
    }

    /// As [`Server::start_node`], at its own address, and with chores when they are usual.
    pub(crate) fn start_plain_node(config: &Path, store: &str, name: &str, log: File) -> Self {
        let mut command = node(config, store, name, log);
        command.arg("--dev");
        Self::spawn_as(command)
    }

    /// As [`Server::start_node`], without `--dev`: who calls needs a key.
    pub(crate) fn start_node_with_keys(config: &Path, store: &str, name: &str, log: File) -> Self {
        Self::spawn_as(node(config, store, name, log))
    }

    /// As [`Server::start`], by a user whom permissions bind, which root's are not. Takes root.
    pub(crate) fn start_as_nobody(config: &Path, data: &Path) -> Self {
        Self::spawn(as_nobody(), config, data)
    }

    /// Starts it where it must not start: the exit code, and what it says.
    pub(crate) fn refused_as_nobody(config: &Path, data: &Path) -> (i32, String) {
        let output = arguments(as_nobody(), config, data).output().expect("the binary can be run");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap_or(-1), said)
    }

    fn spawn(command: Command, config: &Path, data: &Path) -> Self {
        Self::spawn_as(arguments(command, config, data))
    }

    fn spawn_as(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary can be run");
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let url = read_url(&mut out);
        let ended = url.is_none().then(|| child.wait());
        Self {
            child,
            _out: out,
            url: url.unwrap_or_else(|| panic!("serve ended at once: {ended:?}")),
        }
    }

    /// The port that it listens on.
    pub(crate) fn port(&self) -> u16 {
        let port = self.url.rsplit(':').next();
        port.and_then(|port| port.parse().ok()).expect("the address has a port")
    }

    /// The id of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by its name, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let process = self.process().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &process]).status();
        assert!(sent.expect("`kill` can be run").success());
    }

    /// Waits until the process has ended by itself.
    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().expect("it is our child")
    }

    /// Kills the process as a failing machine would (SIGKILL).
    pub(crate) fn kill(mut self) -> ExitStatus {
        self.child.kill().expect("it is our child");
        self.child.wait().expect("it is our child")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, and a test that fails should tell of its own fault.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const TIDINGS: &str = env!("CARGO_BIN_EXE_tidings");

fn as_nobody() -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", TIDINGS]);
    command
}

fn arguments(mut command: Command, config: &Path, data: &Path) -> Command {
    command.args(["serve", "--dev"]);
    addressed(command, config, data)
}

fn node(config: &Path, store: &str, name: &str, log: File) -> Command {
    let mut command = Command::new(TIDINGS);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--node", name])
        .args(["--store", store, "--config"])
        .arg(config)
        .stdin(Stdio::null())
        .stderr(log);
    command
}

fn ahead(config: &Path, data: &Path, ahead_ms: i64) -> Command {
    let mut command = arguments(Command::new(TIDINGS), config, data);
    command.arg("--clock-ahead").arg(ahead_ms.to_string());
    command
}

fn busy(config: &Path, data: &Path, ahead_ms: i64) -> Command {
    let mut command = ahead(config, data, ahead_ms);
    command.args(["--chores-after", "8"]);
    command
}

fn addressed(mut command: Command, config: &Path, data: &Path) -> Command {
    command
        .args(["--listen", "127.0.0.1:0", "--config"])
        .arg(config)
        .arg("--data")
        .arg(data)
        .stdin(Stdio::null());
    command
}

fn read_url(out: &mut BufReader<ChildStdout>) -> Option<String> {
    let mut line = String::new();
    loop {
        line.clear();
        if out.read_line(&mut line).expect("the output is text") == 0 {
            return None;
        }
        if let Some(url) = line.trim().strip_prefix("listening on ") {
            return Some(url.to_owned());
        }
    }
}

/// Time that a test waits for another process before it gives up.
pub(crate) struct Patience(std::time::Instant);

impl Patience {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "another process has a clock of its own")]
    pub(crate) fn new() -> Self {
        Self(std::time::Instant::now())
    }

    /// Lets others work. Fails the test where this has gone on for five minutes: a busy machine takes long.
    pub(crate) fn wait(&self, why: impl FnOnce() -> String) {
        assert!(self.0.elapsed().as_secs() < 300, "{}", why());
        std::thread::yield_now();
    }
}

/// Returns true if a program that a test needs can be run. Where it is not installed the test is skipped and
/// says so, but with `TIDINGS_REQUIRE_SERVERS` set it fails: so nothing is skipped unseen by the
/// machine that decides about changes.
///
/// # Panics
/// If the program is required and can't be run.
pub(crate) fn can_run(program: &str) -> bool {
    let ran =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if ran.is_err() {
        skip(&format!("{program} is not installed"));
    }
    ran.is_ok()
}

/// A client of the API. Cheap to clone; a clone shares its connections.
#[derive(Clone)]
pub(crate) struct Api {
    agent: ureq::Agent,
    url: String,
    /// True if reads that are answered 503 are made again.
    insists: bool,
}

/// A status and its JSON (null where there is none); a fault = there was no whole answer.
pub(crate) type Answer = Result<(u16, Value), ureq::Error>;

impl Api {
    pub(crate) fn new(url: &str) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        Self { agent: config.build().into(), url: url.to_owned(), insists: false }
    }

    /// As [`Api::new`], for a server that may stop answering.
    pub(crate) fn patient(url: &str) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let bound = std::time::Duration::from_secs(3);
        Self {
            agent: config.timeout_global(Some(bound)).build().into(),
            url: url.to_owned(),
            insists: false,
        }
    }

    /// The same, which makes reads again that are answered 503, as `Retry-After` asks for.
    pub(crate) fn insisting(self) -> Self {
        Self { insists: true, ..self }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let patience = Patience::new();
        loop {
            let answer = self.agent.get(format!("{}{path}", self.url)).call()?;
            if !self.insists || answer.status() != 503 {
                return read(answer);
            }
            patience.wait(|| format!("{path} is unavailable"));
        }
    }

    /// A number of `/metrics`.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        self.find_metric(name).unwrap()
    }

    /// As [`Api::metric`]; `None` where a node has nothing of that.
    pub(crate) fn find_metric(&self, name: &str) -> Option<u64> {
        let answer = self.agent.get(format!("{}/metrics", self.url)).call();
        let text = answer.unwrap().body_mut().read_to_string().unwrap();
        let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok();
        text.lines().find_map(value)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let request = self.agent.post(format!("{}{path}", self.url));
        read(request.send_json(body)?)
    }

    /// Null = no body.
    pub(crate) fn put(&self, path: &str, body: &Value) -> Answer {
        let request = self.agent.put(format!("{}{path}", self.url));
        read(match body {
            Value::Null => request.send_empty()?,
            body => request.send_json(body)?,
        })
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        read(self.agent.delete(format!("{}{path}", self.url)).call()?)
    }

    /// The events of an inbox, page by page.
    pub(crate) fn inbox_events(&self, recipient: &str) -> Vec<String> {
        let mut events = Vec::new();
        let mut cursor = String::new();
        loop {
            let path = format!("/v1/recipients/{recipient}/inbox?limit=50{cursor}");
            let (status, page) = self.get(&path).unwrap();
            assert_eq!(status, 200, "{page}");
            for group in page["groups"].as_array().unwrap() {
                for item in group["items"].as_array().unwrap() {
                    events.push(item["event"].as_str().unwrap().to_owned());
                }
            }
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return events,
            }
        }
    }

    /// Returns true if something of a recipient waits in a lane.
    pub(crate) fn waits(&self, recipient: &str) -> bool {
        let (status, pending) = self.get(&format!("/v1/recipients/{recipient}/pending")).unwrap();
        assert_eq!(status, 200, "{pending}");
        !pending["lanes"].as_array().unwrap().is_empty()
    }
}

fn read(mut answer: ureq::http::Response<ureq::Body>) -> Answer {
    let status = answer.status().as_u16();
    let text = answer.body_mut().read_to_string()?;
    Ok((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
}

/// Choices that a seed gives again.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`, which is more than 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64: every seed does, also 0.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// Other choices that follow from the same seed.
    pub(crate) fn branch(&mut self) -> Self {
        Self(self.below(u64::MAX))
    }
}
