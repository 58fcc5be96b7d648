//! A PostgreSQL server of the tests.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;
use tidings_loopback::Postgres as Server;

/// A server on loopback, started for the first test that needs it; each store has a database of its own.
#[derive(Default)]
pub(crate) struct OnServer {
    server: Mutex<Option<(Server, TempDir)>>,
    /// Number of places that are there, and of those that tests have.
    ready: AtomicU32,
    made: AtomicU32,
}

impl OnServer {
    /// Makes places in advance. A process that another test starts meanwhile inherits the lock of a directory for a
    /// moment, which that test can't open again then.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub(crate) fn prepare(&self, places: u32) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let (server, _) = server.get_or_insert_with(start);
        let schemas = (0..places).map(|number| format!("CREATE SCHEMA store_{number};"));
        let made = server.run("postgres", &schemas.collect::<String>());
        made.expect("schemas can be made");
        self.ready.store(places, Ordering::Relaxed);
    }

    /// Takes a place for a store: its address.
    pub(crate) fn place(&self) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let (server, _) = server.get_or_insert_with(start);
        if number >= self.ready.load(Ordering::Relaxed) {
            let made = server.run("postgres", &format!("CREATE SCHEMA store_{number}"));
            made.expect("a schema can be made");
        }
        format!("{}?options=-csearch_path%3Dstore_{number}", server.url("postgres"))
    }

    /// Has a statement done.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub(crate) fn run(&self, statement: &str) -> String {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let (server, _) = server.as_ref().expect("a place was made before");
        server.run("postgres", statement).expect("it is accepted")
    }

    /// Stops the server.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub(crate) fn stop(&self) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.take();
    }
}

fn start() -> (Server, TempDir) {
    let directory = tempfile::tempdir().expect("the system has room for a directory");
    // Nothing here is to outlive the machine.
    let settings = ["fsync=off", "max_connections=200"];
    let server = Server::start(directory.path(), &settings).expect("it starts");
    (server, directory)
}

/// Returns true if a server can be started here. Where all have to be, its absence is a failure of the tests.
pub(crate) fn has_server() -> bool {
    let is_needed = std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_some();
    let has = Server::is_installed() || is_needed;
    if !has {
        eprintln!("PostgreSQL is not installed: its tests are skipped");
    }
    has
}
