//! A store that hangs, and one that breaks by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tidings_core::time::Day;
use tidings_node::{OpenStore, RuntimeError};
use tidings_store::{Commit, MemoryStore, Snapshot, Store};

use crate::world::*;

/// A store in which writes hang, or that breaks between two of them, once that is asked for.
struct Hanging {
    store: MemoryStore,
    hangs: AtomicBool,
    broken: AtomicBool,
}

impl Store for Hanging {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, tidings_store::Error> {
        self.store.snapshot()
    }

    fn commit(&self, commit: Commit) -> Result<(), tidings_store::Error> {
        if self.hangs.load(Ordering::SeqCst) {
            return Err(tidings_store::Error::Hung(30));
        }
        self.store.commit(commit)
    }

    fn ensure_room(&self) -> Result<(), tidings_store::Error> {
        match self.broken.load(Ordering::SeqCst) {
            true => Err(tidings_store::Error::Unavailable("it broke".to_owned())),
            false => Ok(()),
        }
    }

    fn days(&self) -> Result<Vec<Day>, tidings_store::Error> {
        self.store.days()
    }

    fn forget(&self, day: Day) -> Result<(), tidings_store::Error> {
        self.store.forget(day)
    }
}

/// A write that hangs keeps the store for as long as the process lives: nothing is tried any more, and
/// whoever runs the node hears that it has ended.
#[test]
fn a_node_ends_where_a_write_hangs() {
    let store = Arc::new(Hanging {
        store: MemoryStore::new(),
        hangs: AtomicBool::new(false),
        broken: AtomicBool::new(false),
    });
    let opened = Arc::new(AtomicUsize::new(0));
    let (shared, count) = (Arc::clone(&store), Arc::clone(&opened));
    let open: OpenStore = Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(Arc::clone(&shared) as Arc<dyn Store>)
    });
    let mail = Arc::new(Counter::default());
    let runtime = start(open, mail, &clock(MONDAY), settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    store.hangs.store(true, Ordering::SeqCst);
    let unknown = handle.submit(vec![person("ben")]);
    assert!(
        matches!(unknown, Err(RuntimeError::Unknown(_))),
        "{unknown:?}"
    );
    runtime.ended().wait();
    let refused = handle.submit(vec![person("cid")]);
    assert!(matches!(refused, Err(RuntimeError::Stopped)), "{refused:?}");
    assert!(matches!(runtime.stop(), Err(RuntimeError::Stopped)));
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}

/// A store that broke between two writes is opened again; it is not taken for a full one.
#[test]
fn a_store_that_broke_by_itself_is_opened_again() {
    let store = Arc::new(Hanging {
        store: MemoryStore::new(),
        hangs: AtomicBool::new(false),
        broken: AtomicBool::new(false),
    });
    let shared = Arc::clone(&store);
    let open: OpenStore = Box::new(move || {
        shared.broken.store(false, Ordering::SeqCst);
        Ok(Arc::clone(&shared) as Arc<dyn Store>)
    });
    let mail = Arc::new(Counter::default());
    let runtime = start(open, mail, &clock(MONDAY), settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    store.broken.store(true, Ordering::SeqCst);
    let refused = handle.submit(vec![person("ben")]);
    assert!(
        !matches!(refused, Err(RuntimeError::Full(_))),
        "{refused:?}"
    );
    while handle.submit(vec![person("ben")]).is_err() {
        std::thread::yield_now();
    }
    runtime.stop().unwrap();
}
