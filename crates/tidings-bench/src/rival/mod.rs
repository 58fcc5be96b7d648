//! Other servers to compare with, started for one benchmark and removed with it: on loopback, with their
//! data in the benchmark's own directory.
//!
//! Settings are the servers' own but for those that are said ([`Rival::settings`]). Where two ways are
//! fair, the one that is faster for the rival is taken.

use std::ffi::OsStr;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use super::Fault;
use super::stopwatch::Stopwatch;

pub(crate) mod postgres;
pub(crate) mod redis;

/// A server that tidings is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Rival {
    /// Redis: a list for each inbox and each mail lane
    Redis,
    /// PostgreSQL: a table of notifications with two indexes
    Postgres,
}

impl Rival {
    /// Its name in what is measured.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::Postgres => "postgres",
        }
    }

    /// The settings under which it is run.
    #[must_use]
    pub(crate) fn settings(self) -> &'static str {
        match self {
            Self::Redis => redis::SETTINGS,
            Self::Postgres => postgres::SETTINGS,
        }
    }

    /// Refuses a comparison with a rival that did not do the same work.
    pub(crate) fn expect(self, held: u64, expected: u64) -> Result<(), Fault> {
        if held == expected {
            return Ok(());
        }
        Err(self.fault(format!(
            "it holds {held} notifications, {expected} were made"
        )))
    }

    fn fault(self, why: impl std::fmt::Display) -> Fault {
        Fault::Rival(self.name(), why.to_string())
    }

    /// Finds a program of it.
    fn program(self, name: &str) -> Result<PathBuf, Fault> {
        let package = match self {
            Self::Redis => "redis-server",
            Self::Postgres => "postgresql",
        };
        find(name).ok_or_else(|| {
            self.fault(format!(
                "`{name}` is not installed; on Debian: apt-get install {package}"
            ))
        })
    }
}

/// Time that a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks for a program on the path, and where Debian keeps those of PostgreSQL.
fn find(program: &str) -> Option<PathBuf> {
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

/// A port of loopback that nobody listens on now.
fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// A process that is killed when this goes.
struct Server(Child);

impl Server {
    fn start(mut command: Command, log: &Path) -> io::Result<Self> {
        let log = std::fs::File::create(log)?;
        let errors = log.try_clone()?;
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        command.spawn().map(Self)
    }

    /// Tries again and again until it succeeds, the process has ended, or patience has.
    fn until<T>(
        &mut self,
        log: &Path,
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Result<T, String> {
        let watch = Stopwatch::start();
        loop {
            if let Some(done) = attempt() {
                return Ok(done);
            }
            let ended = self.0.try_wait().ok().flatten().is_some();
            if ended || watch.elapsed() > PATIENCE {
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
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Runs a program to its end; what it complained of where it failed.
fn run(mut command: Command) -> Result<Output, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|fault| format!("{}: {fault}", command.get_program().display()))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

/// Whom a server runs as that refuses root.
#[derive(Clone, Debug)]
enum As {
    /// Whoever runs the benchmark.
    Self_,
    /// Another user, because this one is root.
    User(String),
}

impl As {
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
                command
                    .args(["--reuid", user, "--regid", user, "--clear-groups"])
                    .arg(program);
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
