//! A store that hangs, one that breaks by itself, and one that is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tidings_core::Day;
use tidings_core::model::DAY_MS;
use tidings_node::{OpenStore, RuntimeError};
use tidings_store::{Commit, MemoryStore, Snapshot, Store};

use crate::world::*;

/// A store in which writes hang, that breaks between two of them, or that is full, once that is asked
/// for.
#[derive(Default)]
struct Broken {
    store: MemoryStore,
    hangs: AtomicBool,
    /// True once somebody knows how long to wait for the next write.
    stuck: AtomicBool,
    broken: AtomicBool,
    full: AtomicBool,
}

fn full() -> tidings_store::Error {
    tidings_store::Error::Full("nothing is free".to_owned())
}

/// Opens a store that others look at.
fn opened(store: &Arc<Broken>) -> OpenStore {
    let shared = Arc::clone(store);
    Box::new(move || Ok(Arc::clone(&shared) as Arc<dyn Store>))
}

impl Store for Broken {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, tidings_store::Error> {
        self.store.snapshot()
    }

    fn commit(&self, commit: Commit) -> Result<(), tidings_store::Error> {
        while self.stuck.load(Ordering::SeqCst) {
            std::thread::park();
        }
        if self.full.load(Ordering::SeqCst) {
            return Err(full());
        }
        self.store.commit(commit)
    }

    fn commit_to_free(&self, commit: Commit) -> Result<(), tidings_store::Error> {
        self.store.commit(commit)
    }

    fn patience(&self) -> Option<Duration> {
        let hangs = self.hangs.load(Ordering::SeqCst);
        self.stuck.store(hangs, Ordering::SeqCst);
        hangs.then_some(Duration::ZERO)
    }

    fn ensure_room(&self) -> Result<(), tidings_store::Error> {
        if self.full.load(Ordering::SeqCst) {
            return Err(full());
        }
        if self.broken.load(Ordering::SeqCst) {
            Err(tidings_store::Error::Unavailable("it broke".to_owned()))
        } else {
            Ok(())
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
    let store = Arc::new(Broken::default());
    let opened = Arc::new(AtomicUsize::new(0));
    let (shared, count) = (Arc::clone(&store), Arc::clone(&opened));
    let open: OpenStore = Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(Arc::clone(&shared) as Arc<dyn Store>)
    });
    let mail = Arc::new(Counter::default());
    let runtime = start(open, plain(mail), &clock(MONDAY), settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    store.hangs.store(true, Ordering::SeqCst);
    let unknown = handle.submit(vec![person("ben")]);
    assert!(matches!(unknown, Err(RuntimeError::Unknown(_))), "{unknown:?}");
    runtime.ended().wait();
    let refused = handle.submit(vec![person("cid")]);
    assert!(matches!(refused, Err(RuntimeError::Stopped)), "{refused:?}");
    assert!(matches!(runtime.stop(), Err(RuntimeError::Stopped)));
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}

/// A store that broke between two writes is opened again; it is not taken for a full one.
#[test]
fn a_store_that_broke_by_itself_is_opened_again() {
    let store = Arc::new(Broken::default());
    let shared = Arc::clone(&store);
    let open: OpenStore = Box::new(move || {
        shared.broken.store(false, Ordering::SeqCst);
        Ok(Arc::clone(&shared) as Arc<dyn Store>)
    });
    let mail = Arc::new(Counter::default());
    let runtime = start(open, plain(mail), &clock(MONDAY), settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    store.broken.store(true, Ordering::SeqCst);
    let refused = handle.submit(vec![person("ben")]);
    assert!(!matches!(refused, Err(RuntimeError::Full(_))), "{refused:?}");
    while handle.submit(vec![person("ben")]).is_err() {
        std::thread::yield_now();
    }
    runtime.stop().unwrap();
}

/// Messages sent before the disk was full are noted when the server stops, in what is kept back for that;
/// it does not wait for room. And it starts on a full disk, to forget days and to be read.
#[test]
fn a_node_stops_and_starts_on_a_full_disk() {
    let store = Arc::new(Broken::default());
    let (gate, keeper) = Gate::new();
    let runtime = start(opened(&store), plain(gate), &clock(MONDAY), settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    handle.submit(vec![publish("e1", "bill", "ann")]).unwrap();
    assert_eq!(keeper.next().recipient, Some(id("ann")));
    store.full.store(true, Ordering::SeqCst);
    keeper.pass();
    runtime.stop().unwrap();

    let mail = Arc::new(Counter::default());
    let runtime =
        start(opened(&store), plain(Arc::clone(&mail)), &clock(MONDAY.plus_ms(DAY_MS)), settings());
    let handle = runtime.handle();
    let refused = handle.submit(vec![person("ben")]);
    assert!(matches!(refused, Err(RuntimeError::Full(_))), "{refused:?}");
    store.full.store(false, Ordering::SeqCst);
    while handle.submit(vec![person("ben")]).is_err() {
        std::thread::yield_now();
    }
    runtime.stop().unwrap();
    assert_eq!(mail.0.load(Ordering::SeqCst), 0, "nothing is sent again");
}
