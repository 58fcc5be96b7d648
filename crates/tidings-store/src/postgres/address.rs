//! The address of a store in a database.

use tidings_tls::postgres::{PostgresAddress, Tls};
use tokio_postgres::Config;

use crate::{Error, StoreId};

/// The address of a database, and the store that is there.
#[derive(Clone)]
pub(super) struct DatabaseAddress {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// The store that it has to have; `None` while that is not known.
    pub(super) store: Option<StoreId>,
}

impl DatabaseAddress {
    /// Reads the address of a database.
    ///
    /// # Errors
    /// [`Error::Unusable`].
    pub(super) fn of(url: &str) -> Result<Self, Error> {
        let PostgresAddress { config, tls, .. } =
            PostgresAddress::of(url).map_err(Error::Unusable)?;
        Ok(Self { config, tls, store: None })
    }

    /// The address of this store: connections to a database that has another one are refused.
    pub(super) fn of_store(self, id: StoreId) -> Self {
        let store = Some(id);
        Self { store, ..self }
    }
}
