//! The place of a store, a directory or a database, as a command names it.

use std::fmt;
use std::path::PathBuf;

use crate::{Error, FjallStore, database};

/// The place of a store.
#[derive(Clone, PartialEq, Eq)]
pub enum StorePlace {
    /// A data directory.
    Directory(PathBuf),
    /// A database that nodes share, by its address.
    Database(String),
}

impl StorePlace {
    /// Returns true if a store is there, open or not, of any format.
    ///
    /// # Errors
    /// [`Error`].
    pub fn is_there(&self) -> Result<bool, Error> {
        match self {
            Self::Directory(data) => Ok(FjallStore::is_in(data)),
            Self::Database(url) => database::is_in(url),
        }
    }
}

impl fmt::Display for StorePlace {
    /// Writes the place without a password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(data) => write!(out, "{}", data.display()),
            Self::Database(url) => {
                let host = url.rsplit_once('@').map_or(url.as_str(), |(_, host)| host);
                let host = host.split_once("://").map_or(host, |(_, host)| host);
                write!(out, "postgres://{}", host.split('?').next().unwrap_or(host))
            }
        }
    }
}

impl fmt::Debug for StorePlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}
