//! The state of a store that its snapshots share to read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_postgres::Row;

use super::fence::{self, WriterRow};
use super::readers::Readers;
use super::row_cache::RowCache;
use super::schema;
use super::versions::{Days, Versions};
use crate::Error;
use crate::lease::Fence;

/// The state of a store that snapshots share.
pub(super) struct Reading {
    pub(super) fence: Fence,
    /// The place of the row that fences.
    pub(super) place: WriterRow,
    pub(super) readers: Readers,
    pub(super) versions: Arc<Versions>,
    pub(super) cache: RowCache,
    /// Set once others write beside this writer, or may have.
    pub(super) shared: Arc<AtomicBool>,
}

impl Reading {
    /// Returns true if others write beside this writer, or may have: then they begin and forget days, too.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Acquire)
    }

    /// The version of an answer, if the writer is still the one that reads.
    pub(super) fn version(&self, row: Option<&Row>) -> Result<i64, Error> {
        self.fence.newest_of(row).ok_or_else(|| self.fenced())
    }

    /// Lists the days that the database has now, after what this writer has committed of them is recorded.
    pub(super) fn list(&self) -> Result<Days, Error> {
        let (version, days) = self.list_at_once()?;
        for gone in self.versions.learn(version, &days)? {
            self.readers.forget(&schema::name(gone));
        }
        Ok(days)
    }

    /// Lists the days that the database has now, with their version.
    pub(super) fn list_at_once(&self) -> Result<(i64, Days), Error> {
        let rows = self.readers.query(&self.fence.listing(), &[])?;
        let version = self.version(rows.first())?;
        Ok((version, fence::days_of(&rows)))
    }

    /// Ends the use of the store by a writer whose time is over.
    pub(super) fn fenced(&self) -> Error {
        self.versions.end(Error::Fenced);
        Error::Fenced
    }
}
