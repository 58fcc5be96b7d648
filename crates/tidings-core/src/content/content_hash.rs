//! A short hash of what a message shows, by which it is seen later that one built again shows something else.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// The hash of the content of a message: of what its reader sees, without addresses, ids and signatures.
///
/// # Examples
/// ```
/// use tidings_core::content::ContentHash;
///
/// assert_eq!(ContentHash::of(["New works", "Flowers"]), ContentHash::of(["New works", "Flowers"]));
/// assert_ne!(ContentHash::of(["New works", "Flowers"]), ContentHash::of(["New worksFlowers", ""]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ContentHash([u8; 8]);

impl ContentHash {
    /// The hash of a content of several texts.
    #[must_use]
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut bytes = Vec::new();
        for text in texts {
            bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        Self(xxh3_64(&bytes).to_be_bytes())
    }
}
