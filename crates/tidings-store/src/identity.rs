//! The identity of a store, by which it is known when it is opened again.
//!
//! A volume that goes away leaves an empty directory behind, and a database may be dropped and made anew. Whoever
//! has acknowledged something to one store must not go on with another, and must not make one in its place.

use std::fmt;
use std::str::FromStr;

/// The identity of a store: random bits that are drawn at its creation, and never change.
///
/// A copy of its files has the same identity. A store that is restored from a backup is another one: it lacks what
/// was acknowledged since, so a server that had the original open must not go on with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreId(pub [u8; 16]);

impl fmt::Display for StoreId {
    /// Writes 32 hexadecimal digits.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl FromStr for StoreId {
    type Err = NoStoreId;

    fn from_str(text: &str) -> Result<Self, NoStoreId> {
        let is_written_so = |id: &Self| id.to_string() == text;
        let number = u128::from_str_radix(text, 16).map_err(|_| NoStoreId)?;
        Some(Self(number.to_be_bytes())).filter(is_written_so).ok_or(NoStoreId)
    }
}

/// The error for a text that is no identity of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("32 hexadecimal digits are needed")]
pub struct NoStoreId;

/// The store that may be opened at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The existing store. None is created.
    Existing,
    /// This store. Another is refused, and none is created: this is how a store is opened again.
    Same(StoreId),
    /// The existing store; if there is none, one is created with this identity.
    OrNew(StoreId),
}

impl Expected {
    /// Returns true if a store of this identity may be opened.
    #[must_use]
    pub fn admits(self, id: StoreId) -> bool {
        match self {
            Self::Existing | Self::OrNew(_) => true,
            Self::Same(expected) => expected == id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_as_it_is_written() {
        for id in [[0; 16], [0xa5; 16], [0xff; 16]].map(StoreId) {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        let id = StoreId([0xa5; 16]).to_string();
        let wrong = [
            "",
            "+5",
            &id[1..],
            &format!("{id}0"),
            &id.to_uppercase(),
            &format!("+{}", &id[1..]),
            &id.replace('a', "g"),
        ];
        for text in wrong {
            assert_eq!(text.parse::<StoreId>(), Err(NoStoreId), "{text}");
        }
    }
}
