//! API keys as secrets: how one is made, what the store keeps of it, and whether one is known.
//!
//! A key is 256 random bits. The store has its hash alone: a hash of so many random bits can't be turned
//! back, so a fast hash does.

use std::fmt;
use std::io;

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use subtle::{Choice, ConstantTimeEq as _};
use tidings_core::Instant;
use tidings_mail::hex;
use tidings_node::{ApiKey, KeyHash};
use tidings_store::StoreId;

/// The beginning of every key, so that it is recognised where it doesn't belong.
const PREFIX: &str = "tidings_";

const KEY_BYTES: usize = 32;

/// Number of bytes of the hash that are a key's id.
const ID_BYTES: usize = 6;

/// The longest name of a key, in characters.
pub const NAME_CHARS_MAX: usize = 100;

/// A secret that lets in whoever has it. It is written where it is asked for, and never for debugging.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Makes a secret of random bits.
    ///
    /// # Errors
    /// The system has no random bits.
    pub fn random() -> io::Result<Self> {
        let mut bits = [0; KEY_BYTES];
        fill(&mut bits)?;
        Ok(Self(format!("{PREFIX}{}", hex(&bits))))
    }

    /// The secret itself.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The hash by which the secret is known, and which is stored.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        hash(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(…)")
    }
}

/// Draws the identity of a store that is about to be made.
///
/// # Errors
/// The system has no random bits.
pub fn store_id() -> io::Result<StoreId> {
    let mut id = StoreId([0; 16]);
    fill(&mut id.0)?;
    Ok(id)
}

/// Fills a buffer with random bits.
///
/// # Errors
/// The system has none.
pub fn fill(bits: &mut [u8]) -> io::Result<()> {
    let filled = SystemRandom::new().fill(bits);
    filled.map_err(|_| io::Error::other("the system provides no random bits"))
}

/// A key that was just made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    /// The stored part of it.
    pub stored: ApiKey,
    /// The key itself.
    pub secret: Secret,
}

impl NewKey {
    /// Makes a key.
    ///
    /// # Errors
    /// The system has no random bits.
    pub fn make(name: String, made: Instant) -> io::Result<Self> {
        let secret = Secret::random()?;
        let hash = secret.hash();
        let stored = ApiKey { id: hex(&hash.0[..ID_BYTES]), hash, name, made };
        Ok(Self { stored, secret })
    }
}

/// Says what is wrong with the name of a key.
#[must_use]
pub fn fault_of_name(name: &str) -> Option<String> {
    let is_wrong = name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control);
    is_wrong.then(|| {
        format!("a name has at most {NAME_CHARS_MAX} characters, and no control characters")
    })
}

/// Returns true if the hash of `key` is among `known`. The time this takes doesn't tell how much of it is
/// right.
#[must_use]
pub fn is_known<'k>(key: &str, known: impl IntoIterator<Item = &'k KeyHash>) -> bool {
    let hash = hash(key);
    known
        .into_iter()
        .map(|known| known.0.ct_eq(&hash.0))
        .fold(Choice::from(0), |any, one| any | one)
        .into()
}

fn hash(key: &str) -> KeyHash {
    let mut hash = [0; KEY_BYTES];
    hash.copy_from_slice(digest(&SHA256, key.as_bytes()).as_ref());
    KeyHash(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_hash_alone() {
        let make = || NewKey::make("site".to_owned(), Instant(5)).unwrap();
        let (one, other) = (make(), make());
        assert_ne!(one.secret, other.secret);
        let known = [one.stored.hash, other.stored.hash];
        let key = one.secret.text();
        assert!(is_known(key, &known) && is_known(key, &known[..1]));
        assert!(!is_known(key, &known[1..]) && !is_known(key, []));
        assert!(!is_known(&key[1..], &known) && !is_known("", &known));
        assert_eq!(one.stored.id.len(), 2 * ID_BYTES);
        let bits = &key[PREFIX.len()..];
        assert!(!format!("{one:?}").contains(bits));
    }

    #[test]
    fn a_name_is_short_and_printable() {
        assert_eq!(fault_of_name(""), None);
        assert_eq!(fault_of_name(&"é".repeat(NAME_CHARS_MAX)), None);
        assert!(fault_of_name(&"x".repeat(NAME_CHARS_MAX + 1)).is_some());
        assert!(fault_of_name("a\nb").is_some());
    }
}
