//! Sessions of the console: their creation, and the form of their secrets.
//!
//! The secret is 256 random bits, which a cookie carries. The store has its hash alone, as that of an API key; an API key
//! opens no session, and a session no call.

use std::io;

use tidings_core::Instant;
use tidings_core::model::Role;
use tidings_mail::hex;
use tidings_node::{SESSION_MS, Session, SignedIn};

use crate::keys::{ID_BYTES, Secret};

/// A session that is about to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The stored part of it.
    pub stored: Session,
    /// Its secret.
    pub secret: Secret,
}

impl NewSession {
    /// Makes a session.
    ///
    /// # Errors
    /// The system has no random bits.
    pub fn make(by: SignedIn, role: Role, groups: Vec<String>, begun: Instant) -> io::Result<Self> {
        let secret = Secret::of_session()?;
        let hash = secret.hash();
        let (id, until) = (hex(&hash.0[..ID_BYTES]), begun.plus_ms(SESSION_MS));
        Ok(Self {
            stored: Session { hash, id, by, role, groups, begun, used: begun, until },
            secret,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::hash;

    #[test]
    fn a_session_is_known_by_the_hash_of_its_secret_alone() {
        let make = || {
            let by = SignedIn::Person("mara@example.org".to_owned());
            NewSession::make(by, Role::Operate, vec!["desk".to_owned()], Instant(5)).unwrap()
        };
        let (one, other) = (make(), make());
        assert_ne!(one.secret, other.secret);
        assert_ne!(one.stored.id, other.stored.id);
        assert_eq!(hash(one.secret.text()), one.stored.hash);
        // Hexadecimal digits of 256 bits, and nothing that a cookie would have to quote.
        assert_eq!(one.secret.text().len(), 64);
        assert!(one.secret.text().bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!((one.stored.used, one.stored.until), (Instant(5), Instant(5 + SESSION_MS)));
        assert!(!format!("{one:?}").contains(one.secret.text()));
    }
}
