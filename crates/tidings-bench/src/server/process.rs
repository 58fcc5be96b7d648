//! A server as a process of its own, and what it takes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tokio::runtime::Builder;

use super::broken;
use crate::{BenchFault, number, world};

/// Measures something of a server: a process under these rules and with these secrets, over a new store that is deleted
/// when the measurement ends.
pub(crate) fn measure<T>(
    place: &Path,
    rules: &str,
    secrets: &[(&str, &str)],
    measure: impl AsyncFnOnce(&Process) -> Result<T, BenchFault>,
) -> Result<T, BenchFault> {
    let directory = world::directory(place)?;
    let config = directory.path().join("tidings.toml");
    fs::write(&config, rules).map_err(|fault| BenchFault::Directory(config.clone(), fault))?;
    let server = Process::serve(&config, &directory.path().join("data"), secrets)?;
    let tokio = Builder::new_multi_thread().enable_all().build().map_err(broken)?;
    let measured = tokio.block_on(measure(&server));
    tokio.shutdown_background();
    measured
}

/// A process that serves, until it is dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Process {
    /// Starts this program as a server over a directory, on loopback, with these secrets.
    pub(crate) fn serve(
        config: &Path,
        data: &Path,
        secrets: &[(&str, &str)],
    ) -> Result<Self, BenchFault> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve", "--dev", "--listen", "127.0.0.1:0", "--config"]).arg(config);
        command.arg("--data").arg(data).envs(secrets.iter().copied()).stderr(Stdio::null());
        Self::start(command)
    }

    /// Starts a process, and waits until it prints its address.
    pub(crate) fn start(mut command: Command) -> Result<Self, BenchFault> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let address = line.trim().rsplit('/').next().unwrap_or_default().parse();
        match address {
            Ok(address) => Ok(Self { child, address }),
            Err(_) => {
                // One that has ended already needs no end.
                let _ended = child.kill();
                let _reaped = child.wait();
                let detail = format!("a server did not say where it listens: {line:?}");
                Err(BenchFault::Http(detail))
            }
        }
    }

    /// The processor time that it has taken so far, in seconds.
    pub(crate) fn cpu_seconds(&self) -> Result<f64, BenchFault> {
        let unknown = || BenchFault::Unknown("how much processor time a process has taken");
        let text =
            fs::read_to_string(format!("/proc/{}/stat", self.child.id())).map_err(|_| unknown())?;
        // The name before them may hold anything but ends with the last parenthesis.
        let (_, fields) = text.rsplit_once(')').ok_or_else(unknown)?;
        let ticks =
            |index: usize| -> Option<u64> { fields.split_whitespace().nth(index)?.parse().ok() };
        let (user, system) = ticks(11).zip(ticks(12)).ok_or_else(unknown)?;
        // The kernel tells it in hundredths of a second, on every architecture that it runs on today.
        Ok(number(user + system) / 100.0)
    }

    /// The bytes of it that are in memory.
    pub(crate) fn resident_bytes(&self) -> Result<u64, BenchFault> {
        resident_bytes(&self.child.id().to_string())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended already needs no end.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Bytes of a process, by its name under /proc, that are in memory.
pub(crate) fn resident_bytes(process: &str) -> Result<u64, BenchFault> {
    let unknown = || BenchFault::Unknown("how much memory a process takes (/proc/PID/status)");
    let status = fs::read_to_string(format!("/proc/{process}/status")).map_err(|_| unknown())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or_else(unknown)?;
    let kib = line.trim().trim_end_matches("kB").trim().parse::<u64>().map_err(|_| unknown())?;
    Ok(kib * 1024)
}
