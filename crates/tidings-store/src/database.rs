//! Stores in a database that several nodes share, as a build without its engine sees them too.

use std::sync::Arc;

use crate::lease::Leases;
use crate::{Error, Expected, Store, StoreId};

/// The leases of a store in a database.
pub struct SharedStore {
    /// Which node writes what.
    pub leases: Arc<dyn Leases>,
    /// The identity of the store.
    pub id: StoreId,
    /// Set if the store was created just now.
    pub is_new: bool,
}

#[cfg(not(feature = "postgres"))]
pub use absent::{is_in, open, restore, share};
#[cfg(feature = "postgres")]
pub use present::{is_in, open, restore, share};

#[cfg(feature = "postgres")]
mod present {
    use super::{Arc, Error, Expected, SharedStore, Store, StoreId};
    use crate::postgres::{PostgresLeases, PostgresStore};

    /// Returns true if a database has a store, of any format.
    ///
    /// # Errors
    /// Those of [`PostgresStore::is_in`].
    pub fn is_in(url: &str) -> Result<bool, Error> {
        PostgresStore::is_in(url)
    }

    /// Opens the expected store of a database, and takes it over.
    ///
    /// # Errors
    /// Those of [`PostgresStore::open`].
    pub fn open(url: &str, expected: Expected) -> Result<Arc<dyn Store>, Error> {
        Ok(Arc::new(PostgresStore::open(url, expected)?))
    }

    /// Makes a store of this identity from the writes of `fill`.
    ///
    /// # Errors
    /// Those of [`PostgresStore::restore`].
    pub fn restore<E: From<Error>>(
        url: &str,
        id: StoreId,
        fill: impl FnOnce(&dyn Store) -> Result<(), E>,
    ) -> Result<(), E> {
        PostgresStore::restore(url, id, fill)
    }

    /// Opens the leases of the expected store, which nodes share.
    ///
    /// # Errors
    /// Those of [`PostgresLeases::open`].
    pub fn share(url: &str, expected: Expected) -> Result<SharedStore, Error> {
        let leases = PostgresLeases::open(url, expected)?;
        let (id, is_new) = (leases.id(), leases.is_new());
        let leases = Arc::new(leases);
        Ok(SharedStore { leases, id, is_new })
    }
}

/// Builds without the feature `postgres` refuse every database.
#[cfg(any(test, not(feature = "postgres")))]
#[cfg_attr(
    feature = "postgres",
    allow(unreachable_pub, reason = "tests of builds with it see this, too")
)]
mod absent {
    use super::{Arc, Error, Expected, SharedStore, Store, StoreId};

    fn absent() -> Error {
        Error::Unusable(
            "this build of tidings has no PostgreSQL: take a released one, build it with `--features postgres`, or \
             name a directory with --data"
                .to_owned(),
        )
    }

    /// Refuses the database.
    ///
    /// # Errors
    /// [`Error::Unusable`].
    pub fn is_in(_url: &str) -> Result<bool, Error> {
        Err(absent())
    }

    /// Refuses the database.
    ///
    /// # Errors
    /// [`Error::Unusable`].
    pub fn open(_url: &str, _expected: Expected) -> Result<Arc<dyn Store>, Error> {
        Err(absent())
    }

    /// Refuses the database.
    ///
    /// # Errors
    /// [`Error::Unusable`].
    pub fn restore<E: From<Error>>(
        _url: &str,
        _id: StoreId,
        _fill: impl FnOnce(&dyn Store) -> Result<(), E>,
    ) -> Result<(), E> {
        Err(absent().into())
    }

    /// Refuses the database.
    ///
    /// # Errors
    /// [`Error::Unusable`].
    pub fn share(_url: &str, _expected: Expected) -> Result<SharedStore, Error> {
        Err(absent())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn f37_a_build_without_postgresql_refuses_a_database() {
            let url = "postgres://u:secret@h/d";
            let faults = [
                is_in(url).err(),
                open(url, Expected::Existing).err(),
                restore::<Error>(url, StoreId([0; 16]), |_| Ok(())).err(),
                share(url, Expected::Existing).err(),
            ];
            for fault in faults {
                let said = fault.unwrap().to_string();
                assert!(said.contains("`--features postgres`"), "{said}");
                assert!(!said.contains("secret"), "{said}");
            }
        }
    }
}
