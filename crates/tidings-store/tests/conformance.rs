//! Runs the conformance suite on the engines of this crate.

use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;
use tidings_store::conformance::{Fixture, Harness, TESTS};
use tidings_store::lease::{self, MemoryLeases};
use tidings_store::{
    FaultStore, FjallStore, MemoryStore, NoFaults, Options, PostgresLeases, PostgresStore, Store,
};

mod server;

use server::{OnServer, has_server};

struct Memory;

impl Harness for Memory {
    fn fresh(&self) -> Box<dyn Fixture> {
        Box::new(InMemory(MemoryStore::new()))
    }
}

struct InMemory(MemoryStore);

impl Fixture for InMemory {
    fn store(&self) -> &dyn Store {
        &self.0
    }

    fn reopen(&mut self) {
        self.0 = self.0.clone();
    }
}

struct Faultless;

impl Harness for Faultless {
    fn fresh(&self) -> Box<dyn Fixture> {
        Box::new(Restarted(FaultStore::new(NoFaults)))
    }
}

struct Restarted(FaultStore);

impl Fixture for Restarted {
    fn store(&self) -> &dyn Store {
        &self.0
    }

    fn reopen(&mut self) {
        self.0.restart();
    }
}

struct Fjall;

impl Harness for Fjall {
    fn fresh(&self) -> Box<dyn Fixture> {
        let directory = tempfile::tempdir().expect("the system has room for a directory");
        let store = Some(open(&directory));
        Box::new(OnDisk { store, directory })
    }
}

struct OnDisk {
    // Before the directory, so that it is closed before its files go. `None` only between two.
    store: Option<FjallStore>,
    directory: TempDir,
}

fn open(directory: &TempDir) -> FjallStore {
    FjallStore::open(directory.path().join("data"), Options::default()).expect("it opens")
}

impl Fixture for OnDisk {
    fn store(&self) -> &dyn Store {
        self.store.as_ref().expect("it is open between two calls")
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(open(&self.directory));
    }
}

impl Harness for OnServer {
    fn fresh(&self) -> Box<dyn Fixture> {
        let url = self.place();
        let store = Some(PostgresStore::open(&url).expect("it opens"));
        Box::new(InDatabase { store, url })
    }
}

struct InDatabase {
    store: Option<PostgresStore>,
    url: String,
}

impl Fixture for InDatabase {
    fn store(&self) -> &dyn Store {
        self.store.as_ref().expect("it is open between two calls")
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(PostgresStore::open(&self.url).expect("it opens"));
    }
}

/// More places in the database than tests take.
const PLACES: u32 = 400;

fn main() {
    let arguments = Arguments::from_args();
    let postgres = Arc::new(OnServer::default());
    let mut engines: Vec<(&str, Arc<dyn Harness>)> = vec![
        ("memory", Arc::new(Memory)),
        ("fault", Arc::new(Faultless)),
        ("fjall", Arc::new(Fjall)),
    ];
    if has_server() {
        engines.push(("postgres", Arc::clone(&postgres) as Arc<dyn Harness>));
    }
    let mut trials = Vec::new();
    for (engine, harness) in engines {
        for (name, test) in TESTS {
            let harness = Arc::clone(&harness);
            trials.push(Trial::test(format!("{engine}::{name}"), move || {
                test(&*harness);
                Ok(())
            }));
        }
    }
    for (name, test) in lease::conformance::TESTS {
        trials.push(Trial::test(format!("memory::leases::{name}"), move || {
            test(&|| Arc::new(MemoryLeases::new()));
            Ok(())
        }));
        if has_server() {
            let postgres = Arc::clone(&postgres);
            trials.push(Trial::test(
                format!("postgres::leases::{name}"),
                move || {
                    test(&|| Arc::new(PostgresLeases::open(&postgres.place()).expect("it opens")));
                    Ok(())
                },
            ));
        }
    }
    if has_server() && !arguments.list {
        postgres.prepare(PLACES);
    }
    let ended = libtest_mimic::run(&arguments, trials);
    // Leaving the process would leave the server behind.
    postgres.stop();
    ended.exit();
}
