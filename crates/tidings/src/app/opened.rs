//! Stores that are open, and a node over one.

use std::path::Path;
use std::sync::Arc;

use tidings_api::keys;
use tidings_core::Rules;
use tidings_core::engine::HeldShards;
use tidings_mail::{SECRET_BYTES, TokenKey};
use tidings_node::channel::Channels;
use tidings_node::election::Tenure;
use tidings_node::{
    Clock, Delivery, MaySend, OpenStore, Resolver, Retries, Runtime, Settings, Term, token_key,
};
use tidings_store::lease::Leases;
use tidings_store::{Expected, FjallStore, Store, StoreId, StorePlace, database};

use super::StartError;

/// Expects the existing store; if there is none, one is created with a random identity.
///
/// # Errors
/// The system has no random bits.
pub fn expect_or_make() -> Result<Expected, tidings_store::Error> {
    let id = keys::store_id();
    id.map(Expected::OrNew).map_err(|fault| tidings_store::Error::Unusable(fault.to_string()))
}

/// Logs that a store was created.
pub fn log_new_store(id: StoreId, place: &dyn std::fmt::Display) {
    tracing::info!(store = %id, %place, "made a new store");
}

/// A store that is open, and can be opened again.
pub struct ReopenableStore {
    store: Arc<dyn Store>,
    again: OpenStore,
    /// The parts of it that the node has, of so many; `None` = everything.
    held: Option<(HeldShards, u16)>,
}

impl ReopenableStore {
    /// Opens the expected store of a place.
    ///
    /// # Errors
    /// [`tidings_store::Error`].
    pub fn at(place: &StorePlace, expected: Expected) -> Result<Self, tidings_store::Error> {
        match place {
            StorePlace::Directory(data) => {
                Self::directory(data, expected, tidings_store::Options::default())
            }
            StorePlace::Database(url) => Self::database(url, expected),
        }
    }

    /// Opens the expected store in a directory. After a failure the same store is opened again, and none is created.
    ///
    /// # Errors
    /// [`tidings_store::Error`].
    pub fn directory(
        data: &Path,
        expected: Expected,
        options: tidings_store::Options,
    ) -> Result<Self, tidings_store::Error> {
        let store = FjallStore::open(data, expected, options)?;
        let (id, data) = (store.id(), data.to_owned());
        if store.is_new() {
            log_new_store(id, &data.display());
        }
        Ok(Self {
            store: Arc::new(store),
            again: Box::new(move || {
                let options = tidings_store::Options::default();
                let store = FjallStore::open(&data, Expected::Same(id), options)?;
                Ok(Arc::new(store) as Arc<dyn Store>)
            }),
            held: None,
        })
    }

    /// Opens the expected store of a database that no node holds, and takes it over.
    ///
    /// # Errors
    /// [`tidings_store::Error`].
    pub fn database(url: &str, expected: Expected) -> Result<Self, tidings_store::Error> {
        let store = database::open(url, expected)?;
        // A node that starts meanwhile keeps the store.
        let again = Box::new(|| Err(tidings_store::Error::Fenced));
        Ok(Self { store, again, held: None })
    }

    /// Opens the store that nodes share, for a term of this node.
    ///
    /// # Errors
    /// [`tidings_store::Error`].
    pub fn held(leases: Arc<dyn Leases>, term: &Term) -> Result<Self, tidings_store::Error> {
        let (tenure, end) = (term.tenure, term.ender());
        let open = move || match tenure {
            Tenure::Lease(epoch) => leases.open(epoch),
            Tenure::Share(term) => leases.open_share(term),
        };
        let store = open()?;
        let again = Box::new(move || {
            let opened = open();
            if matches!(opened, Err(tidings_store::Error::Fenced)) {
                end();
            }
            opened
        });
        Ok(Self { store, again, held: term.held.clone().zip(term.of) })
    }

    /// The key of the tokens in its links, made where it has none yet.
    ///
    /// # Errors
    /// [`tidings_node::Error`].
    pub fn token_key(&self) -> Result<TokenKey, tidings_node::Error> {
        let mut fresh = [0; SECRET_BYTES];
        fill(&mut fresh)?;
        token_key(&*self.store, &fresh)
    }

    /// Starts a node over it that sends through these channels.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(
        self,
        rules: Rules,
        channels: Channels,
        clock: Arc<dyn Clock>,
        settings: Settings,
        resolver: Arc<dyn Resolver>,
        may_send: Option<MaySend>,
    ) -> Result<Runtime, StartError> {
        let delivery = Delivery::new(channels, Retries::default());
        let delivery = match may_send {
            Some(may_send) => delivery.asking(may_send),
            None => delivery,
        };
        self.run(rules, clock, delivery.resolving(resolver), settings)
    }

    /// Starts a node over it that accepts and commits, and sends nothing: it needs no provider.
    ///
    /// # Errors
    /// [`StartError::Node`].
    pub fn take_in(self, rules: Rules, clock: Arc<dyn Clock>) -> Result<Runtime, StartError> {
        let settings = Settings { sends: false, ..Settings::default() };
        let delivery = Delivery::new(Channels::new(), Retries::default());
        self.run(rules, clock, delivery, settings)
    }

    /// Opens it to look at it, and to change API keys.
    ///
    /// # Errors
    /// [`StartError::Node`].
    pub fn look(self) -> Result<Runtime, StartError> {
        Ok(Runtime::look(self.store, tidings_core::engine::Options::default())?)
    }

    /// Starts a node over it with channels of one's own.
    pub(crate) fn run(
        self,
        rules: Rules,
        clock: Arc<dyn Clock>,
        delivery: Delivery,
        mut settings: Settings,
    ) -> Result<Runtime, StartError> {
        let Self { store, mut again, held } = self;
        let (held, of) = held.unzip();
        settings.options.shards = of.unwrap_or(rules.store.parts);
        fill(&mut settings.options.fresh_key)?;
        let mut first = Some(store);
        let open: OpenStore = Box::new(move || match first.take() {
            Some(store) => Ok(store),
            None => again(),
        });
        Ok(Runtime::start_held(open, held, rules, delivery, clock, settings)?)
    }
}

/// Fills bytes with random bits, for secrets of a new store.
fn fill(bytes: &mut [u8]) -> Result<(), tidings_node::Error> {
    let filled = keys::fill(bytes);
    Ok(filled.map_err(|fault| tidings_store::Error::Unusable(fault.to_string()))?)
}
