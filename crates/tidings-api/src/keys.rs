//! Keys as secrets: their creation, their form in the store, and their check.
//!
//! An API key is 256 random bits. The store has its hash alone: a hash of so many random bits can't be turned
//! back, so a fast hash does. The secret of a signing key is in the store as it is, since signatures are checked with it;
//! of a key of Ed25519 the server has the public half alone.

use std::fmt;
use std::io;

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject as _;
use subtle::{Choice, ConstantTimeEq as _};
use tidings_core::Instant;
use tidings_core::model::TenantNo;
use tidings_mail::hex;
use tidings_node::{ApiKey, KeyHash, Role, SigningKey, SigningSecret};
use tidings_store::StoreId;

/// The beginning of every key, so that it is recognised where it doesn't belong.
const PREFIX: &str = "tidings_";

const KEY_BYTES: usize = 32;

/// Number of bytes of the hash that are the id of a key or a session.
pub(crate) const ID_BYTES: usize = 6;

/// The longest name of a key, in characters.
pub const NAME_CHARS_MAX: usize = 100;

/// A secret that lets in its holder. It is written only on request, and never for debugging.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Makes a secret of random bits.
    ///
    /// # Errors
    /// The system has no random bits.
    pub fn random() -> io::Result<Self> {
        Ok(Self(format!("{PREFIX}{}", random_digits()?)))
    }

    /// Makes the secret of a session: of random bits too, but no key.
    pub(crate) fn of_session() -> io::Result<Self> {
        random_digits().map(Self)
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

/// Random bits as text.
fn random_digits() -> io::Result<String> {
    let mut bits = [0; KEY_BYTES];
    fill(&mut bits)?;
    Ok(hex(&bits))
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
    pub fn make(name: String, role: Role, made: Instant) -> io::Result<Self> {
        let secret = Secret::random()?;
        let hash = secret.hash();
        let stored = ApiKey { id: hex(&hash.0[..ID_BYTES]), hash, name, made, role };
        Ok(Self { stored, secret })
    }
}

/// The beginning of the secret of every signing key.
const SIGNING_PREFIX: &str = "tsk_";

/// Makes a signing key with a random id: with a public key, or else with a secret of random bits.
///
/// # Errors
/// The system has no random bits.
pub fn new_signing_key(
    name: String,
    scope: Option<String>,
    tenant: Option<TenantNo>,
    public: Option<[u8; 32]>,
    made: Instant,
) -> io::Result<SigningKey> {
    let (mut id, mut bits) = ([0; ID_BYTES], [0; KEY_BYTES]);
    fill(&mut id)?;
    fill(&mut bits)?;
    let id = hex(&id);
    let secret = match public {
        Some(public) => SigningSecret::Ed25519(public),
        None => SigningSecret::Hs256(format!("{SIGNING_PREFIX}{id}_{}", hex(&bits))),
    };
    Ok(SigningKey { id, name, made, scope, tenant, secret })
}

/// The beginning of a public key of Ed25519 in DER (RFC 8410).
const ED25519_DER: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Reads a public key of Ed25519 in PEM.
///
/// # Errors
/// The reason why it is none.
pub fn public_key(pem: &str) -> Result<[u8; 32], &'static str> {
    if pem.contains("PRIVATE KEY") {
        return Err("must be a public key, got a private one");
    }
    let der = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes());
    let der = der.map_err(|_| "must be a public key in PEM")?;
    let key = der.strip_prefix(&ED25519_DER).and_then(|key| key.try_into().ok());
    key.ok_or("must be a key of Ed25519")
}

/// Says what is wrong with the name of a key.
#[must_use]
pub fn fault_of_name(name: &str) -> Option<String> {
    let is_wrong = name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control);
    is_wrong.then(|| {
        format!("a name has at most {NAME_CHARS_MAX} characters, and no control characters")
    })
}

/// The value of `key` among known keys; `None` = it is unknown. The time of the comparison does not reveal how much of
/// it is right.
#[must_use]
pub fn owner_of<'k, T>(key: &str, known: impl IntoIterator<Item = (&'k KeyHash, T)>) -> Option<T> {
    let hash = hash(key);
    let mut found = None;
    for (known, owner) in known {
        let is_it: Choice = known.0.ct_eq(&hash.0);
        if is_it.into() {
            found = Some(owner);
        }
    }
    found
}

/// The hash by which a secret is known: SHA-256 of its text.
#[must_use]
pub fn hash(secret: &str) -> KeyHash {
    let mut hash = [0; KEY_BYTES];
    hash.copy_from_slice(digest(&SHA256, secret.as_bytes()).as_ref());
    KeyHash(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_hash_alone() {
        let make = |role| NewKey::make("site".to_owned(), role, Instant(5)).unwrap();
        let (one, other) = (make(Role::Read), make(Role::Admin));
        assert_ne!(one.secret, other.secret);
        let known = [&one, &other].map(|key| (&key.stored.hash, key.stored.role));
        let key = one.secret.text();
        assert_eq!(owner_of(key, known), Some(Role::Read));
        assert_eq!(owner_of(other.secret.text(), known), Some(Role::Admin));
        assert_eq!(owner_of(key, known[1..].to_vec()), None);
        assert_eq!(owner_of::<Role>(key, []), None);
        assert!(owner_of(&key[1..], known).is_none() && owner_of("", known).is_none());
        assert_eq!(one.stored.id.len(), 2 * ID_BYTES);
        let bits = &key[PREFIX.len()..];
        assert!(!format!("{one:?}").contains(bits));
    }

    #[test]
    fn a_signing_key_has_its_id_in_its_secret_and_shows_neither() {
        let make = |public| new_signing_key(String::new(), None, None, public, Instant(5)).unwrap();
        let key = make(None);
        let SigningSecret::Hs256(secret) = &key.secret else { panic!("{key:?}") };
        let random = secret.strip_prefix(&format!("tsk_{}_", key.id)).unwrap();
        assert_eq!(random.len(), 2 * KEY_BYTES);
        assert!(!format!("{key:?}").contains(random));
        assert_ne!(make(None).secret, key.secret);
        assert_eq!(make(Some([7; 32])).secret, SigningSecret::Ed25519([7; 32]));
    }

    #[test]
    fn a_public_key_is_read_from_pem_and_nothing_else_is() {
        // RFC 8410, section 10.1.
        let pem = "-----BEGIN PUBLIC KEY-----\n\
                   MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
                   -----END PUBLIC KEY-----\n";
        assert_eq!(public_key(pem).unwrap()[..3], [0x19, 0xbf, 0x44]);
        assert!(public_key(&pem.replace("PUBLIC", "PRIVATE")).unwrap_err().contains("private"));
        let of_p256 = pem.replace("MCow", "MFkw");
        for other in ["", "GZ9E", &of_p256, &pem.replace("Z9w7lsh", "")] {
            assert!(public_key(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_name_is_short_and_printable() {
        assert_eq!(fault_of_name(""), None);
        assert_eq!(fault_of_name(&"é".repeat(NAME_CHARS_MAX)), None);
        assert!(fault_of_name(&"x".repeat(NAME_CHARS_MAX + 1)).is_some());
        assert!(fault_of_name("a\nb").is_some());
    }
}
