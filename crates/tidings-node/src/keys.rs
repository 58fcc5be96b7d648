//! API keys, what the tokens of end users are checked by, sessions of the console, and which feeds are paused: they are
//! in the store, so that a backup has them and every server of the store knows them.
//!
//! Their rows are beside those of the engine, which knows nothing of them. A change of the keys is written, then takes
//! effect in memory, then is answered. So a caller can rely on the answer that a key is revoked. After a failure the
//! store is the truth, as for everything else.

mod feeds;
mod hash;
mod logged;
mod refused_peers;
mod revoked;
mod sessions;
mod signing;
pub(super) mod token_key;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tidings_core::codec::{ByteReader, FORM, put_bytes, put_i64, put_u32};
use tidings_core::journal::{
    Key, Owner, Partition, REST, ReadView, Table, Unreadable, Write, body, each,
};
use tidings_core::model::{Origin, Role};
use tidings_core::{Id, Instant};

pub use self::hash::KeyHash;
use self::refused_peers::RefusedPeers;
use self::revoked::Revoked;
pub use self::revoked::TOKEN_MS_MAX;
use self::sessions::Sessions;
pub use self::sessions::{SESSION_IDLE_MS, SESSION_MS, Session, SignedIn};
pub use self::signing::{SigningKey, SigningSecret};
use crate::commit::idempotency::{self, IdempotencyHit, Once};
use crate::error::{Error, RuntimeError};
use crate::node::{ChangeToLog, Node};

/// An API key as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its hash.
    pub hash: KeyHash,
    /// The id that names it; no secret.
    pub id: String,
    /// The name given to it.
    pub name: String,
    /// The time of its creation.
    pub made: Instant,
    /// The calls that it opens.
    pub role: Role,
}

/// A change of the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyChange {
    /// A new API key.
    Make(ApiKey),
    /// The end of the API key with this id.
    Revoke(String),
    /// A new signing key.
    MakeSigning(SigningKey),
    /// The end of the signing key with this id.
    RevokeSigning(String),
    /// The end of a recipient's tokens that were issued up to the second of an instant.
    RevokeTokens(Id, Instant),
    /// The pause of a feed.
    PauseFeed(String),
    /// The end of the pause of a feed.
    ResumeFeed(String),
    /// A session that begins.
    BeginSession(Session),
    /// A use of a session, which is no line of the log of changes.
    UseSession(Session),
    /// The end of the session with this id.
    EndSession(String),
}

impl KeyChange {
    /// The id of the key, the session or the recipient, or the name of the feed.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Make(key) => &key.id,
            Self::MakeSigning(key) => &key.id,
            Self::Revoke(id) | Self::RevokeSigning(id) | Self::EndSession(id) => id,
            Self::BeginSession(session) | Self::UseSession(session) => &session.id,
            Self::RevokeTokens(recipient, _) => recipient.as_str(),
            Self::PauseFeed(name) | Self::ResumeFeed(name) => name,
        }
    }
}

/// The answer to keep for a request that may be sent twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The identity of the request.
    pub once: Once,
    /// The answer to store.
    pub answer: Vec<u8>,
}

/// A callback with the result of a change of the keys, on the loop's thread; `None` = no key or session has the id.
pub(crate) type KeysAnswer = Box<dyn FnOnce(Result<Option<IdempotencyHit>, RuntimeError>) + Send>;

/// The keys of the store, in memory.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    api: RwLock<Arc<[ApiKey]>>,
    signing: RwLock<Arc<[SigningKey]>>,
    /// The revoked tokens of this node's recipients.
    revoked: Mutex<Revoked>,
    /// The names of the paused feeds.
    paused_feeds: RwLock<BTreeSet<String>>,
    sessions: Mutex<Sessions>,
    /// The peers whose refused sign-ins were logged.
    refused_peers: Mutex<RefusedPeers>,
}

impl Keys {
    /// The API keys, by when they were made.
    pub(crate) fn list(&self) -> Arc<[ApiKey]> {
        Arc::clone(&self.api.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The signing keys, by when they were made.
    pub(crate) fn signing(&self) -> Arc<[SigningKey]> {
        Arc::clone(&self.signing.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The instant up to whose second a recipient's tokens are refused.
    pub(crate) fn revoked(&self, recipient: &Id) -> Option<Instant> {
        self.lock_revoked().of(recipient)
    }

    /// Refuses a recipient's tokens from now on, and returns what has to be written for that to last.
    pub(crate) fn revoke(
        &self,
        recipient: &Id,
        buckets: u16,
        before: Instant,
        now: Instant,
    ) -> Vec<Write> {
        self.lock_revoked().revoke(recipient, buckets, before, now)
    }

    /// Returns true if a feed is paused.
    pub(crate) fn is_feed_paused(&self, name: &str) -> bool {
        self.paused_feeds.read().unwrap_or_else(PoisonError::into_inner).contains(name)
    }

    /// The sessions, some of which may have ended.
    pub(crate) fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The peers whose refused sign-ins were logged.
    pub(crate) fn refused_peers(&self) -> MutexGuard<'_, RefusedPeers> {
        self.refused_peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_revoked(&self) -> MutexGuard<'_, Revoked> {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads everything of a store anew.
    pub(crate) fn load(&self, view: &dyn ReadView, buckets: u16) -> Result<(), Unreadable> {
        self.load_keys(view)?;
        *self.lock_revoked() = Revoked::stored(view, buckets)?;
        Ok(())
    }

    /// Reads anew what another node may have changed.
    pub(crate) fn load_keys(&self, view: &dyn ReadView) -> Result<(), Unreadable> {
        self.put(stored(view)?);
        self.put_signing(signing::stored(view)?);
        *self.paused_feeds.write().unwrap_or_else(PoisonError::into_inner) = feeds::stored(view)?;
        let mut sessions = self.sessions();
        let stored = sessions.stored(view)?;
        sessions.replace(stored);
        Ok(())
    }

    fn apply(&self, change: KeyChange) {
        let (mut keys, mut signing) = (self.list().to_vec(), self.signing().to_vec());
        match change {
            KeyChange::Make(key) => keys.push(key),
            KeyChange::Revoke(id) => {
                keys.retain(|key| key.id != id);
                self.sessions().end_of_key(&id);
            }
            KeyChange::MakeSigning(key) => signing.push(key),
            KeyChange::RevokeSigning(id) => signing.retain(|key| key.id != id),
            // They were refused as soon as that was decided.
            KeyChange::RevokeTokens(..) => return,
            KeyChange::PauseFeed(name) => {
                let mut paused = self.paused_feeds.write().unwrap_or_else(PoisonError::into_inner);
                paused.insert(name);
                return;
            }
            KeyChange::ResumeFeed(name) => {
                let mut paused = self.paused_feeds.write().unwrap_or_else(PoisonError::into_inner);
                paused.remove(&name);
                return;
            }
            KeyChange::BeginSession(session) => return self.sessions().begin(session),
            // It was noted as soon as it was used.
            KeyChange::UseSession(_) => return,
            KeyChange::EndSession(id) => return self.sessions().end(&id),
        }
        self.put(keys);
        self.put_signing(signing);
    }

    fn put(&self, mut keys: Vec<ApiKey>) {
        keys.sort_by(|a, b| (a.made, &a.id).cmp(&(b.made, &b.id)));
        *self.api.write().unwrap_or_else(PoisonError::into_inner) = keys.into();
    }

    fn put_signing(&self, mut keys: Vec<SigningKey>) {
        keys.sort_by(|a, b| (a.made, &a.id).cmp(&(b.made, &b.id)));
        *self.signing.write().unwrap_or_else(PoisonError::into_inner) = keys.into();
    }
}

/// A requested change of the keys.
pub(crate) struct KeyRequest {
    pub(crate) at: Instant,
    pub(crate) change: KeyChange,
    pub(crate) kept_answer: Option<KeptAnswer>,
    /// The origin of the change; `None` = it is not logged.
    pub(crate) origin: Option<Arc<Origin>>,
    /// The keys in memory, which change with the store.
    pub(crate) keys: Arc<Keys>,
    pub(crate) answer: KeysAnswer,
}

impl KeyRequest {
    /// Answers that it failed.
    pub(crate) fn fail(self, fault: RuntimeError) {
        (self.answer)(Err(fault));
    }

    /// Adds the change to the commit. When that is durable it is put in force and answered.
    ///
    /// # Errors
    /// [`Error`]; the request is answered then too, and the node is poisoned.
    pub(crate) fn work(self, node: &mut Node) -> Result<(), Error> {
        let done = match self.gather(node) {
            Ok(done) => done,
            Err(fault) => {
                self.fail(RuntimeError::of_commit(&fault));
                return Err(fault);
            }
        };
        node.ahead().answer(Box::new(move |durable| {
            if durable.is_ok() && done == Some(IdempotencyHit::Fresh) {
                self.keys.apply(self.change);
            }
            (self.answer)(durable.map(|()| done));
        }));
        Ok(())
    }

    fn gather(&self, node: &mut Node) -> Result<Option<IdempotencyHit>, Error> {
        let view = node.view()?;
        if let Some(kept_answer) = &self.kept_answer
            && let Some(before) = idempotency::lookup(&view, self.at, kept_answer.once)?
        {
            return Ok(Some(before));
        }
        let ended = self.ended(&view)?;
        let lines = match &self.origin {
            Some(_) => logged::lines(self, &ended, &view)?,
            None => Vec::new(),
        };
        let mut writes = match &self.change {
            // Counts before it is durable: a revocation that a crash takes back was answered to nobody.
            KeyChange::RevokeTokens(recipient, before) => {
                let buckets = node.engine().replica().of_buckets();
                self.keys.revoke(recipient, buckets, *before, self.at)
            }
            // Another node has the rows, and the console.
            KeyChange::UseSession(_) if !node.engine().replica().holds_intake() => return Ok(None),
            _ => match self.writes(&ended, &view)? {
                writes if writes.is_empty() => return Ok(None),
                writes => writes,
            },
        };
        let answers: Option<_> =
            self.kept_answer.as_ref().map(|kept| (kept.once, kept.answer.clone()));
        writes.extend(idempotency::writes(&view, self.at, answers.as_slice())?);
        drop(view);
        for logged::KeyLine { change, action } in lines {
            let Some(origin) = &self.origin else { break };
            let mut origin = Origin::clone(origin);
            origin.action = action.map(Cow::Borrowed).or(origin.action);
            writes.extend(ChangeToLog { origin: &origin, change }.writes(node, self.at)?);
        }
        node.write(writes)?;
        Ok(Some(IdempotencyHit::Fresh))
    }

    /// The sessions that the change ends, of those that have not ended yet.
    fn ended(&self, view: &dyn ReadView) -> Result<Vec<Session>, Unreadable> {
        let is_ended = |session: &Session| match &self.change {
            KeyChange::Revoke(id) => session.is_of_key(id),
            KeyChange::EndSession(id) => session.id == *id,
            _ => false,
        };
        if !matches!(self.change, KeyChange::Revoke(_) | KeyChange::EndSession(_)) {
            return Ok(Vec::new());
        }
        let mut sessions = self.keys.sessions().stored(view)?;
        sessions.retain(|session| is_ended(session) && !session.is_over(self.at));
        Ok(sessions)
    }

    /// The writes of the change; none where there is nothing to revoke or to end.
    fn writes(&self, ended: &[Session], view: &dyn ReadView) -> Result<Vec<Write>, Unreadable> {
        let write = |hash: KeyHash, value| Write {
            partition: Partition::Base,
            key: table().bytes(&hash.0).done(),
            value,
        };
        Ok(match &self.change {
            KeyChange::Make(key) => vec![write(key.hash, Some(row(key)))],
            KeyChange::Revoke(id) => {
                let keys = stored(view)?;
                let key = keys.iter().find(|key| key.id == *id);
                let ended = ended.iter().filter(|_| key.is_some()).map(sessions::end);
                key.map(|key| write(key.hash, None)).into_iter().chain(ended).collect()
            }
            KeyChange::MakeSigning(key) => vec![signing::write(&key.id, Some(key))],
            KeyChange::RevokeSigning(id) => {
                let is_there = signing::stored(view)?.iter().any(|key| key.id == *id);
                is_there.then(|| signing::write(id, None)).into_iter().collect()
            }
            KeyChange::RevokeTokens(..) => Vec::new(),
            KeyChange::PauseFeed(name) => vec![feeds::write(name, true)],
            KeyChange::ResumeFeed(name) => vec![feeds::write(name, false)],
            KeyChange::BeginSession(session) => {
                // The key may have been revoked while its holder signed in.
                if let SignedIn::Key(id) = &session.by
                    && !stored(view)?.iter().any(|key| key.id == *id)
                {
                    return Ok(Vec::new());
                }
                sessions::begin(session, &self.keys.sessions().stored(view)?)
            }
            KeyChange::UseSession(session) => {
                sessions::note_use(session, view)?.into_iter().collect()
            }
            KeyChange::EndSession(_) => ended.iter().map(sessions::end).collect(),
        })
    }
}

fn table() -> Key {
    Key::of(Owner::Intake, Table::ApiKeys)
}

fn row(key: &ApiKey) -> Vec<u8> {
    let mut row = vec![FORM];
    put_bytes(&mut row, key.id.as_bytes());
    put_bytes(&mut row, key.name.as_bytes());
    put_i64(&mut row, key.made.0);
    row.push(key.role.number());
    put_u32(&mut row, HOST);
    row
}

/// The keys of a store that open something.
fn stored(view: &dyn ReadView) -> Result<Vec<ApiKey>, Unreadable> {
    let mut keys = Vec::new();
    each(view, Partition::Base, &table().done(), |key, row| {
        keys.extend(read(key, row)?);
        Ok(())
    })?;
    Ok(keys)
}

/// The number at the end of a key's row. Earlier versions had keys of tenants, whose number stood there: such a key opens
/// nothing, since as the host's it would open everything.
const HOST: u32 = 0;

/// Reads a key; `None` = it opens nothing.
fn read(key: &[u8], row: &[u8]) -> Result<Option<ApiKey>, Unreadable> {
    let mut reader = ByteReader::new(body("an API key", row)?, "an API key");
    let torn = || Unreadable("an API key is torn".to_owned());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| torn());
    let hash = key.get(REST..).and_then(|hash| hash.try_into().ok());
    let key = ApiKey {
        hash: KeyHash(hash.ok_or_else(torn)?),
        id: text(reader.bytes()?)?,
        name: text(reader.bytes()?)?,
        made: Instant(reader.i64()?),
        role: match reader.is_empty() {
            // It was made when every key could do everything.
            true => Role::Admin,
            false => Role::of_number(reader.byte()?).ok_or_else(torn)?,
        },
    };
    let of = if reader.is_empty() { HOST } else { reader.u32()? };
    reader.end()?;
    Ok((of == HOST).then_some(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_a_tenant_is_no_key() {
        let key = ApiKey {
            hash: KeyHash([7; 32]),
            id: "k7".to_owned(),
            name: "site".to_owned(),
            made: Instant(7),
            role: Role::Publish,
        };
        let (at, row) = (table().bytes(&key.hash.0).done(), row(&key));
        // The number at the end is one byte as long as it is small.
        let (begin, of) = row.split_at(row.len() - 1);
        assert_eq!(of, [0]);
        assert_eq!(read(&at, &row).unwrap(), Some(key.clone()));
        // Before there were tenants rows ended sooner.
        assert_eq!(read(&at, begin).unwrap(), Some(key));
        let of_tenant = [begin, &[1]].concat();
        assert_eq!(read(&at, &of_tenant).unwrap(), None);
    }
}
