//! The real process, `tidings serve`, for tests that want it whole.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

/// A server that runs until it is dropped, and is killed then.
pub struct Server {
    child: Child,
    /// Kept open: a process whose output nobody takes would stop at a full pipe.
    _out: BufReader<ChildStdout>,
    /// `http://127.0.0.1:PORT`.
    pub url: String,
}

impl Server {
    /// Starts `serve --dev` on a free port and waits until it says where it listens.
    ///
    /// # Panics
    /// Where the process ends before it has said so.
    pub fn start(config: &Path, data: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidings"))
            .args(["serve", "--dev", "--listen", "127.0.0.1:0", "--config"])
            .arg(config)
            .arg("--data")
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary can be run");
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        loop {
            line.clear();
            if out.read_line(&mut line).expect("the output is text") == 0 {
                panic!("serve ended at once: {:?}", child.wait());
            }
            if let Some(url) = line.trim().strip_prefix("listening on ") {
                let url = url.to_owned();
                return Self {
                    child,
                    _out: out,
                    url,
                };
            }
        }
    }

    /// Kills the process as a failing machine would (SIGKILL).
    pub fn kill(mut self) -> ExitStatus {
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

/// Whether a program that a test needs can be run. Where it is not installed the test is skipped and
/// says so, but with `TIDINGS_REQUIRE_SERVERS` set it fails: so nothing is skipped unseen by the
/// machine that decides about changes.
///
/// # Panics
/// Where the program is required and can't be run.
pub fn can_run(program: &str) -> bool {
    let ran = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if ran.is_ok() {
        return true;
    }
    assert!(
        std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_none(),
        "{program} is not installed"
    );
    println!("skipped: {program} is not installed");
    false
}
