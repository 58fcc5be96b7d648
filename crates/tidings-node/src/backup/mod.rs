//! Backups: the content of a snapshot as one stream with checksums.
//!
//! ```text
//! head    "TIDINGS BACKUP\n" 0x1A, format u32, format of the store u32
//! block   kind u8, raw bytes u32, stored bytes u32, xxh3 of what stands before and of the payload u64,
//!         payload
//! ```
//! Numbers are big-endian. Kinds: `PARTITION` (which one the rows that follow belong to), `ROWS` (keys
//! and values in the order of the keys, packed with lz4), `END` (how many rows there are, and xxh3 of
//! all bytes before this block). A stream that ends without `END` is cut off; bytes behind it are
//! foreign. Neither side holds more than a block or two, however large the store is.

use tidings_store::FORMAT as STORE_FORMAT;

mod block;
mod export;
mod restore;
#[cfg(test)]
mod tests;

pub use export::export;
pub use restore::{check, restore};

/// The size of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct BackupSize {
    /// Number of days with rows.
    pub days: u64,
    /// Number of rows.
    pub rows: u64,
}

/// The reason why a backup can't be made or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] tidings_store::Error),
    /// The restored data is invalid.
    #[error(transparent)]
    Node(#[from] crate::Error),
    /// The stream can't be read or written.
    #[error("{0}")]
    Stream(#[from] std::io::Error),
    /// The stream is not a backup of tidings.
    #[error("it is not a backup of tidings")]
    Foreign,
    /// The backup is of a format that this version does not know.
    #[error(
        "the backup has format {0}, this tidings reads format {FORMAT}; use the version that wrote it"
    )]
    Format(u32),
    /// The rows of the backup are of a store that this version does not know.
    #[error(
        "the backup is of a store of format {0}, this tidings reads format {STORE_FORMAT}; use the version \
         that wrote it"
    )]
    StoreFormat(u32),
    /// The backup ends before its end.
    #[error("the backup is cut off after {0} bytes; take another copy of it")]
    CutOff(u64),
    /// The backup is damaged.
    #[error("the backup is damaged at byte {offset}: {what}; take another copy of it")]
    Damaged {
        /// The offset of the block.
        offset: u64,
        /// The damage.
        what: &'static str,
    },
}

/// The format version that is written and read.
const FORMAT: u32 = 2;

/// The first bytes of a backup. The odd byte at the end keeps tools from taking it for text.
const MAGIC: &[u8; 16] = b"TIDINGS BACKUP\n\x1a";
