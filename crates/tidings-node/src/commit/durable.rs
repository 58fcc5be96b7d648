//! The state after the last durable commit, for readers: they never wait for what is being decided or written.
//!
//! The loop keeps a snapshot of the engine with each commit. Once the commit is durable, the snapshot becomes the
//! current one, together with a snapshot of the store, and only then the requests of the commit are answered: so
//! callers read their own writes. Readers take the current snapshot on threads of their own. It is freed once it has no
//! readers and a newer one is there.

use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use tidings_core::content::{Batch, Totals};
use tidings_core::engine::{Engine, EngineSnapshot, Plan, Presenter};
use tidings_store::Store;

use crate::commit::view::StoreView;
use crate::error::Error;
use crate::telemetry::vitals::Vitals;

/// A node as it was after a durable commit, for reading.
pub struct DurableSnapshot {
    engine: EngineSnapshot,
    view: StoreView,
    store: Arc<dyn Store>,
    life: Weak<()>,
}

impl DurableSnapshot {
    /// The engine as it was after the commit.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The stored data of the same moment.
    #[must_use]
    pub fn view(&self) -> &StoreView {
        &self.view
    }

    /// The store, which may hold more by now.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// A weak reference that shows whether the node still exists: a failed one was dropped, and its store can be opened
    /// again as soon as no snapshot of it is held.
    #[must_use]
    pub fn life(&self) -> Weak<()> {
        Weak::clone(&self.life)
    }

    /// Counts everything in the store.
    ///
    /// # Errors
    /// [`Error::Disagreement`] where the walk and the ledger don't agree.
    pub fn books(&self) -> Result<Totals, Error> {
        books(&self.engine, &self.view)
    }
}

/// Counts everything in the store.
pub(crate) fn books(engine: &Engine, view: &StoreView) -> Result<Totals, Error> {
    let walk = engine.reader(view).walk()?;
    match walk.disagreements.first() {
        None => Ok(walk.books),
        Some(first) => Err(Error::Disagreement(first.clone())),
    }
}

/// The batch of each message of a plan with entries.
pub(crate) fn batches(
    engine: &Engine,
    view: &StoreView,
    plan: &Plan,
) -> Result<Vec<(usize, Batch)>, Error> {
    let mut presenter = Presenter::new(engine, view);
    let mut batches = Vec::with_capacity(plan.messages.len());
    for (at, planned) in plan.messages.iter().enumerate() {
        if let Some(batch) = presenter.batch(plan, planned)? {
            batches.push((at, batch));
        }
    }
    Ok(batches)
}

/// The state that readers see.
#[derive(Default)]
pub(crate) struct ReaderState {
    /// `None` while there is no store.
    current: RwLock<Option<Arc<DurableSnapshot>>>,
    /// Called after each change of it.
    listener: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl ReaderState {
    pub(crate) fn get(&self) -> Option<Arc<DurableSnapshot>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.clone()
    }

    fn set(&self, durable: Option<Arc<DurableSnapshot>>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *current, durable);
        drop(current);
        // What nobody reads any more is freed without the lock.
        drop(before);
        if let Some(listener) = self.listener.get() {
            listener();
        }
    }

    /// Registers a listener that is called after each change; only the first one is kept.
    pub(crate) fn listen(&self, listener: Box<dyn Fn() + Send + Sync>) {
        // A second one would have to be called by the first.
        let _ = self.listener.set(listener);
    }
}

/// A node's way to show its state to readers.
#[derive(Clone)]
pub(crate) struct SnapshotPublisher {
    reads: Arc<ReaderState>,
    store: Arc<dyn Store>,
    life: Weak<()>,
    vitals: Arc<Vitals>,
}

impl SnapshotPublisher {
    pub(crate) fn new(
        reads: &Arc<ReaderState>,
        store: &Arc<dyn Store>,
        life: Weak<()>,
        vitals: &Arc<Vitals>,
    ) -> Self {
        Self {
            reads: Arc::clone(reads),
            store: Arc::clone(store),
            life,
            vitals: Arc::clone(vitals),
        }
    }

    /// Shows an engine whose last commit is the newest of the store.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn show(&self, engine: EngineSnapshot) -> Result<(), Error> {
        let view = StoreView::of(&*self.store)?.measured(&self.vitals);
        self.reads.set(Some(Arc::new(DurableSnapshot {
            engine,
            view,
            store: Arc::clone(&self.store),
            life: Weak::clone(&self.life),
        })));
        Ok(())
    }

    /// Takes the state back: the store is about to be closed.
    pub(crate) fn hide(&self) {
        self.reads.set(None);
    }
}
