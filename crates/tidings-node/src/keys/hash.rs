//! Hashes of secrets: what the store has of them.

/// The hash of an API key, or of the secret of a session. The secret itself is stored nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);
