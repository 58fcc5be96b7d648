//! Runs the conformance suite on the engines of this crate.

use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;
use tidings_store::conformance::{Fixture, Harness, TESTS};
use tidings_store::lease::{self, Epoch, Leases as _, MemoryLeases, NodeId, TermNo};
use tidings_store::{
    Expected, FaultStore, FjallStore, MemoryStore, NoFaults, Options, PostgresLeases,
    PostgresStore, Store, StoreId,
};

mod server;

use server::{OnServer, has_server};

/// The store of a test, made where there is none.
const NEW_STORE: Expected = Expected::OrNew(StoreId([0; 16]));

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
    FjallStore::open(directory.path().join("data"), NEW_STORE, Options::default())
        .expect("it opens")
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
        let store = Some(PostgresStore::open(&url, NEW_STORE).expect("it opens"));
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
        self.store = Some(PostgresStore::open(&self.url, NEW_STORE).expect("it opens"));
    }
}

/// A store which the holder of the lease writes beside the node of a share, or the other way round.
struct OfSeveral {
    server: Arc<OnServer>,
    writes_share: bool,
}

impl Harness for OfSeveral {
    fn fresh(&self) -> Box<dyn Fixture> {
        let leases = PostgresLeases::open(&self.server.place(), NEW_STORE).expect("it opens");
        let seen = leases.membership().expect("it is there").lease;
        let acquired = leases.acquire(seen, None, NodeId(1)).expect("it is free");
        let epoch = acquired.expect("nobody else wants it");
        let granted = leases.grant(epoch, NodeId(2), &[0], 1);
        let term = granted.expect("it answers").expect("nobody has the part");
        let mut fixture =
            Beside { leases, epoch, term: self.writes_share.then_some(term), store: None };
        fixture.reopen();
        Box::new(fixture)
    }
}

struct Beside {
    leases: PostgresLeases,
    epoch: Epoch,
    /// The share that is written; the lease's store if `None`.
    term: Option<TermNo>,
    store: Option<Arc<dyn Store>>,
}

impl Fixture for Beside {
    fn store(&self) -> &dyn Store {
        self.store.as_deref().expect("it is open between two calls")
    }

    fn reopen(&mut self) {
        self.store = None;
        let opened = match self.term {
            Some(term) => self.leases.open_share(term),
            None => self.leases.open(self.epoch),
        };
        self.store = Some(opened.expect("it opens"));
    }
}

/// More places in the database than tests take.
const PLACES: u32 = 600;

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
        for (engine, writes_share) in [("postgres::lease", false), ("postgres::share", true)] {
            let server = Arc::clone(&postgres);
            let several = OfSeveral { server, writes_share };
            engines.push((engine, Arc::new(several)));
        }
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
            trials.push(Trial::test(format!("postgres::leases::{name}"), move || {
                test(&|| {
                    Arc::new(PostgresLeases::open(&postgres.place(), NEW_STORE).expect("it opens"))
                });
                Ok(())
            }));
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
