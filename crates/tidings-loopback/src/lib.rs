//! Servers of others on loopback, with their data in a directory of the caller: tests and benchmarks start
//! them, and they end with the value that stands for them.
//!
//! This is a crate of its own so that benchmarks and tests of several crates share it, and no package has it.

use std::ffi::OsStr;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

mod certificate;
mod pgbouncer;
mod postgres;

pub use certificate::certify;
pub use pgbouncer::PgBouncer;
pub use postgres::Postgres;

/// Time that a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(300);

/// Skips a test for which this machine lacks something.
///
/// # Panics
/// If `TIDINGS_REQUIRE_SERVERS` is set: the test fails then.
pub fn skip(lack: &str) {
    let is_required = std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_some();
    assert!(!is_required, "{lack}");
    println!("skipped: {lack}");
}

/// Finds a program on the path, and where Debian keeps those of PostgreSQL.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .collect();
    // The newest first; names of two digits sort as numbers do.
    versions.sort_unstable_by(|a, b| b.cmp(a));
    std::env::split_paths(&path)
        .chain(versions)
        .map(|directory| directory.join(program))
        .find(|path| path.is_file())
}

/// Finds a port of loopback that nobody listens on now.
///
/// # Errors
/// The system's.
pub fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// A process that is killed when this goes.
pub struct Server(Child);

impl Server {
    /// Starts a program that writes what it says into a file.
    ///
    /// # Errors
    /// The system's.
    pub fn start(mut command: Command, log: &Path) -> io::Result<Self> {
        let log = std::fs::File::options().create(true).append(true).open(log)?;
        let errors = log.try_clone()?;
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        command.spawn().map(Self)
    }

    /// Tries again and again until it succeeds, the process has ended, or patience has.
    ///
    /// # Errors
    /// The last line that the process wrote.
    #[expect(
        clippy::disallowed_methods,
        reason = "it waits for a process, which no clock of the caller drives"
    )]
    pub fn until<T>(
        &mut self,
        log: &Path,
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Result<T, String> {
        let begun = Instant::now();
        loop {
            if let Some(done) = attempt() {
                return Ok(done);
            }
            let ended = self.0.try_wait().ok().flatten().is_some();
            if ended || begun.elapsed() > PATIENCE {
                let said = std::fs::read_to_string(log).unwrap_or_default();
                let last = said.trim().lines().last().unwrap_or_default().to_owned();
                return Err(format!("it does not start: {last}"));
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; there is nobody to tell.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program to its end.
///
/// # Errors
/// The text that it wrote on its standard error where it failed.
pub fn run(mut command: Command) -> Result<Output, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|fault| format!("{}: {fault}", command.get_program().display()))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

/// The user as whom a server runs that refuses root.
#[derive(Clone, Debug)]
enum ServerUser {
    /// The user of this process.
    Self_,
    /// Another user, because this one is root.
    User(String),
}

impl ServerUser {
    /// The first of these users that exists, where this process is root's.
    fn not_root(users: &[&str]) -> Self {
        let id = |arguments: &[&str]| {
            let mut command = Command::new("id");
            command.args(arguments);
            run(command).ok()
        };
        let root = id(&["-u"]).is_some_and(|output| output.stdout.trim_ascii() == b"0");
        let user = users.iter().find(|user| id(&["-u", user]).is_some());
        match user {
            Some(user) if root => Self::User((*user).to_owned()),
            _ => Self::Self_,
        }
    }

    /// A command that is run by that user. The process is the program's own, not one in between.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        match self {
            Self::Self_ => Command::new(program),
            Self::User(user) => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", user, "--regid", user, "--clear-groups"]).arg(program);
                command
            }
        }
    }

    /// Makes a directory that belongs to that user, and lets them come there.
    fn directory(&self, directory: &Path) -> Result<(), String> {
        std::fs::create_dir(directory).map_err(|fault| fault.to_string())?;
        let Self::User(user) = self else {
            return Ok(());
        };
        let mut own = Command::new("chown");
        own.arg(user).arg(directory);
        run(own)?;
        if let Some(parent) = directory.parent() {
            let mut pass = Command::new("chmod");
            pass.arg("a+x").arg(parent);
            run(pass)?;
        }
        Ok(())
    }
}
