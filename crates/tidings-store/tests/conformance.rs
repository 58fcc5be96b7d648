//! Runs the conformance suite on the engines of this crate.

use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;
use tidings_store::conformance::{Fixture, Harness, TESTS};
use tidings_store::{FaultStore, FjallStore, MemoryStore, NoFaults, Options, Store};

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

fn main() {
    let arguments = Arguments::from_args();
    let engines: [(&str, Arc<dyn Harness>); 3] = [
        ("memory", Arc::new(Memory)),
        ("fault", Arc::new(Faultless)),
        ("fjall", Arc::new(Fjall)),
    ];
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
    libtest_mimic::run(&arguments, trials).exit();
}
