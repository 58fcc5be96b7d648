//! Signing keys: what the tokens of end users are checked by.

use std::fmt;

use tidings_core::Instant;
use tidings_core::codec::{ByteReader, FORM, put_bytes, put_i64, put_u32};
use tidings_core::journal::{
    Key, Owner, Partition, REST, ReadView, Table, Unreadable, Write, body, each,
};
use tidings_core::model::TenantNo;

/// A key by which tokens are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey {
    /// The id that tokens name; no secret.
    pub id: String,
    /// The name given to it.
    pub name: String,
    /// The time of its creation.
    pub made: Instant,
    /// The scope beyond which its tokens open nothing; `None` = they may open everything.
    pub scope: Option<String>,
    /// The tenant that its tokens must name; `None` = they may name any, or none.
    pub tenant: Option<TenantNo>,
    /// The key that checks signatures.
    pub secret: SigningSecret,
}

/// The key that checks signatures. It is never written for debugging.
#[derive(Clone, PartialEq, Eq)]
pub enum SigningSecret {
    /// The key of HMAC with SHA-256. It signs as well, so a reader of the store can sign.
    Hs256(String),
    /// A public key of Ed25519, which signs nothing.
    Ed25519([u8; 32]),
}

impl SigningSecret {
    /// The usual name of its algorithm in the header of a token.
    #[must_use]
    pub fn alg(&self) -> &'static str {
        match self {
            Self::Hs256(_) => "HS256",
            Self::Ed25519(_) => "EdDSA",
        }
    }

    /// Returns true if the header of a token names its algorithm. RFC 9864 gives Ed25519 a name of its own, and
    /// deprecates `EdDSA` for it.
    #[must_use]
    pub fn has_alg(&self, alg: &str) -> bool {
        alg == self.alg() || (alg == "Ed25519" && matches!(self, Self::Ed25519(_)))
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}(…)", self.alg())
    }
}

/// The numbers that stand for the algorithms in the store. Numbers are never given again.
const HS256: u8 = 1;
const ED25519: u8 = 2;

fn table() -> Key {
    Key::of(Owner::Intake, Table::SigningKeys)
}

/// The write that keeps a key, or deletes it.
pub(super) fn write(id: &str, key: Option<&SigningKey>) -> Write {
    let value = key.map(|key| {
        let mut row = vec![FORM];
        put_bytes(&mut row, key.name.as_bytes());
        put_i64(&mut row, key.made.0);
        row.push(u8::from(key.scope.is_some()));
        put_bytes(&mut row, key.scope.as_deref().unwrap_or_default().as_bytes());
        let (alg, secret) = match &key.secret {
            SigningSecret::Hs256(secret) => (HS256, secret.as_bytes()),
            SigningSecret::Ed25519(public) => (ED25519, &public[..]),
        };
        row.push(alg);
        put_bytes(&mut row, secret);
        put_u32(&mut row, TenantNo::raw(key.tenant));
        row
    });
    Write { partition: Partition::Base, key: table().bytes(id.as_bytes()).done(), value }
}

/// The keys of a store.
pub(super) fn stored(view: &dyn ReadView) -> Result<Vec<SigningKey>, Unreadable> {
    let mut keys = Vec::new();
    each(view, Partition::Base, &table().done(), |key, row| {
        keys.push(read(key, row)?);
        Ok(())
    })?;
    Ok(keys)
}

/// The tenant at the end of a row. A row from before there were tenants ends without one.
fn of_tenant(reader: &mut ByteReader<'_>) -> Result<Option<TenantNo>, Unreadable> {
    if reader.is_empty() {
        return Ok(None);
    }
    Ok(TenantNo::of_raw(reader.u32()?))
}

fn read(key: &[u8], row: &[u8]) -> Result<SigningKey, Unreadable> {
    let mut reader = ByteReader::new(body("a signing key", row)?, "a signing key");
    let torn = || Unreadable("a signing key is torn".to_owned());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| torn());
    let id = text(key.get(REST..).unwrap_or_default())?;
    let name = text(reader.bytes()?)?;
    let made = Instant(reader.i64()?);
    let has_scope = reader.byte()? == 1;
    let scope = text(reader.bytes()?)?;
    let (alg, secret) = (reader.byte()?, reader.bytes()?);
    let secret = match alg {
        HS256 => SigningSecret::Hs256(text(secret)?),
        ED25519 => SigningSecret::Ed25519(secret.try_into().map_err(|_| torn())?),
        _ => return Err(torn()),
    };
    let tenant = of_tenant(&mut reader)?;
    reader.end()?;
    Ok(SigningKey { id, name, made, scope: has_scope.then_some(scope), tenant, secret })
}
