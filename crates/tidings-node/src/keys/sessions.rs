//! Sessions of people who are signed in to the console: rows of the store beside the keys.
//!
//! Like the keys they are in memory, and known to every node of the store. A session ends some time after it began, or
//! after its last use. The last use is in memory; it is written once a minute, so that a restart ends no session that is
//! in use, and keeps none that is not. Rows of sessions that have ended leave with those that begin.

use std::collections::HashMap;

use tidings_core::Instant;
use tidings_core::codec::{ByteReader, FORM, put_bytes, put_i64, put_u64};
use tidings_core::journal::{
    Key, Owner, Partition, REST, ReadView, Table, Unreadable, Write, body, each,
};
use tidings_core::model::{Author, AuthorKind, HOUR_MS, MINUTE_MS, Role};

use super::hash::KeyHash;

/// The time after which a session ends, in milliseconds.
pub const SESSION_MS: i64 = 12 * HOUR_MS;

/// The time without use after which a session ends, in milliseconds.
pub const SESSION_IDLE_MS: i64 = 2 * HOUR_MS;

/// The time between two writes of the last use of a session.
const USE_WRITTEN_MS: i64 = MINUTE_MS;

/// Number of ended sessions that are deleted with each new one: more than one, so that they get fewer.
const SWEPT_PER_SESSION: usize = 64;

/// The one who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedIn {
    /// The holder of the API key with this id.
    Key(String),
    /// A person, by the name that the proxy gives them.
    Person(String),
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The hash of its secret. The secret itself is stored nowhere.
    pub hash: KeyHash,
    /// The id that names it; no secret.
    pub id: String,
    /// The one who is signed in.
    pub by: SignedIn,
    /// Their role when they signed in.
    pub role: Role,
    /// Their groups when they signed in.
    pub groups: Vec<String>,
    /// The time at which it began.
    pub begun: Instant,
    /// The time of its last use.
    pub used: Instant,
    /// The time at which it ends, however much it is used.
    pub until: Instant,
}

impl Session {
    /// Returns true if it has ended.
    #[must_use]
    pub fn is_over(&self, now: Instant) -> bool {
        now >= self.until || now >= self.used.plus_ms(SESSION_IDLE_MS)
    }

    /// The one who is signed in, as the log of changes has them.
    #[must_use]
    pub fn author(&self) -> Author {
        let (kind, id) = match &self.by {
            SignedIn::Key(id) => (AuthorKind::Key, id),
            SignedIn::Person(id) => (AuthorKind::Person, id),
        };
        Author { role: Some(self.role.name().into()), ..Author::new(kind, id) }
    }

    /// Returns true if it is that of a key.
    pub(super) fn is_of_key(&self, id: &str) -> bool {
        matches!(&self.by, SignedIn::Key(key) if key == id)
    }
}

/// The sessions in memory. Some may have ended.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    of: HashMap<KeyHash, KnownSession>,
}

#[derive(Debug)]
struct KnownSession {
    session: Session,
    /// The last use that was written, or is about to be.
    written: Instant,
}

impl Sessions {
    /// The session of a secret, unless it has ended.
    pub(crate) fn get(&self, hash: &KeyHash, now: Instant) -> Option<&Session> {
        let known = self.of.get(hash)?;
        Some(&known.session).filter(|session| !session.is_over(now))
    }

    /// Those that have not ended, newest first, by id where they began at one instant.
    pub(crate) fn list(&self, now: Instant) -> Vec<Session> {
        let sessions = self.of.values().map(|known| &known.session);
        let mut list: Vec<_> = sessions.filter(|session| !session.is_over(now)).cloned().collect();
        list.sort_by(|a, b| (b.begun, &a.id).cmp(&(a.begun, &b.id)));
        list
    }

    /// Notes a use of a session that has not ended; returns it if the use is to be written.
    pub(crate) fn note_use(&mut self, hash: &KeyHash, now: Instant) -> Option<Session> {
        let KnownSession { session, written } = self.of.get_mut(hash)?;
        if session.is_over(now) {
            return None;
        }
        session.used = session.used.max(now);
        if now < written.plus_ms(USE_WRITTEN_MS) {
            return None;
        }
        *written = now;
        Some(session.clone())
    }

    /// Adds one that begins, in the place of those that have ended.
    pub(super) fn begin(&mut self, session: Session) {
        self.of.retain(|_, known| !known.session.is_over(session.begun));
        self.put(session);
    }

    fn put(&mut self, session: Session) {
        self.of.insert(session.hash, KnownSession { written: session.used, session });
    }

    /// Removes the session with an id.
    pub(super) fn end(&mut self, id: &str) {
        self.of.retain(|_, known| known.session.id != id);
    }

    /// Removes the sessions of a key.
    pub(super) fn end_of_key(&mut self, id: &str) {
        self.of.retain(|_, known| !known.session.is_of_key(id));
    }

    /// The sessions of a store, with the uses that are known here and not written yet.
    pub(super) fn stored(&self, view: &dyn ReadView) -> Result<Vec<Session>, Unreadable> {
        let mut sessions = Vec::new();
        each(view, Partition::Base, &table().done(), |key, row| {
            let mut session = read(key, row)?;
            if let Some(known) = self.of.get(&session.hash) {
                session.used = session.used.max(known.session.used);
            }
            sessions.push(session);
            Ok(())
        })?;
        Ok(sessions)
    }

    /// Takes over the sessions of a store.
    pub(super) fn replace(&mut self, stored: Vec<Session>) {
        let written: HashMap<_, _> =
            self.of.drain().map(|(hash, known)| (hash, known.written)).collect();
        for session in stored {
            let written = written.get(&session.hash).copied().unwrap_or(session.used);
            self.of.insert(session.hash, KnownSession { session, written });
        }
    }
}

/// The writes for a session that begins: its row, and the end of rows whose sessions have ended.
pub(super) fn begin(session: &Session, stored: &[Session]) -> Vec<Write> {
    let ended = stored.iter().filter(|other| other.is_over(session.begun));
    let ended = ended.take(SWEPT_PER_SESSION).map(|other| write(other, false));
    ended.chain([write(session, true)]).collect()
}

/// The write that notes the use of a session; none if it has ended meanwhile.
pub(super) fn note_use(
    session: &Session,
    view: &dyn ReadView,
) -> Result<Option<Write>, Unreadable> {
    let noted = write(session, true);
    Ok(view.get(noted.partition, &noted.key)?.map(|_| noted))
}

/// The write that ends a session.
pub(super) fn end(session: &Session) -> Write {
    write(session, false)
}

fn table() -> Key {
    Key::of(Owner::Intake, Table::Sessions)
}

/// The numbers that stand for kinds of those who are signed in. Numbers are never given again.
const KEY: u8 = 1;
const PERSON: u8 = 2;

fn write(session: &Session, is_there: bool) -> Write {
    let key = table().bytes(&session.hash.0).done();
    Write { partition: Partition::Base, key, value: is_there.then(|| row(session)) }
}

fn row(session: &Session) -> Vec<u8> {
    let mut row = vec![FORM];
    put_bytes(&mut row, session.id.as_bytes());
    let (kind, id) = match &session.by {
        SignedIn::Key(id) => (KEY, id),
        SignedIn::Person(id) => (PERSON, id),
    };
    row.push(kind);
    put_bytes(&mut row, id.as_bytes());
    row.push(session.role.number());
    for at in [session.begun, session.used, session.until] {
        put_i64(&mut row, at.0);
    }
    put_u64(&mut row, session.groups.len() as u64);
    for group in &session.groups {
        put_bytes(&mut row, group.as_bytes());
    }
    row
}

fn read(key: &[u8], row: &[u8]) -> Result<Session, Unreadable> {
    let mut reader = ByteReader::new(body("a session", row)?, "a session");
    let torn = || Unreadable("a session is torn".to_owned());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| torn());
    let hash = key.get(REST..).and_then(|hash| hash.try_into().ok());
    let id = text(reader.bytes()?)?;
    let (kind, by) = (reader.byte()?, text(reader.bytes()?)?);
    let by = match kind {
        KEY => SignedIn::Key(by),
        PERSON => SignedIn::Person(by),
        _ => return Err(torn()),
    };
    let role = Role::of_number(reader.byte()?).ok_or_else(torn)?;
    let [begun, used, until] = [reader.i64()?, reader.i64()?, reader.i64()?].map(Instant);
    let groups = (0..reader.count()?).map(|_| text(reader.bytes()?)).collect::<Result<_, _>>()?;
    reader.end()?;
    Ok(Session { hash: KeyHash(hash.ok_or_else(torn)?), id, by, role, groups, begun, used, until })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u8, begun: i64) -> Session {
        Session {
            hash: KeyHash([number; 32]),
            id: format!("s{number}"),
            by: SignedIn::Person("mara@example.org".to_owned()),
            role: Role::Operate,
            groups: vec!["desk".to_owned(), "née".to_owned()],
            begun: Instant(begun),
            used: Instant(begun),
            until: Instant(begun + SESSION_MS),
        }
    }

    #[test]
    fn a_row_holds_a_session_and_nothing_else() {
        let session = session(7, 40);
        let (key, row) = (write(&session, true).key, row(&session));
        assert_eq!(read(&key, &row).unwrap(), session);
        for end in 1..row.len() {
            assert!(read(&key, &row[..end]).is_err(), "{end}");
        }
        assert!(read(&key, &[&row[..], &[0]].concat()).is_err());
        let of_key = Session { by: SignedIn::Key("k1".to_owned()), groups: Vec::new(), ..session };
        let row = super::row(&of_key);
        assert_eq!(read(&key, &row).unwrap(), of_key);
    }

    #[test]
    fn a_session_ends_after_twelve_hours_and_after_two_without_use() {
        let session = session(1, 0);
        assert!(!session.is_over(Instant(SESSION_IDLE_MS - 1)));
        assert!(session.is_over(Instant(SESSION_IDLE_MS)));
        let used = Session { used: Instant(SESSION_MS - 1), ..session };
        assert!(!used.is_over(Instant(SESSION_MS - 1)));
        assert!(used.is_over(Instant(SESSION_MS)));
    }

    #[test]
    fn a_use_is_written_once_a_minute() {
        let mut sessions = Sessions::default();
        let hash = KeyHash([1; 32]);
        sessions.begin(session(1, 0));
        let mut written = Vec::new();
        for s in 0..200 {
            let now = Instant(s * 1_000);
            written.extend(sessions.note_use(&hash, now).map(|session| session.used.0 / 1_000));
            assert_eq!(sessions.get(&hash, now).unwrap().used, now);
        }
        assert_eq!(written, [60, 120, 180]);
        // An earlier instant takes nothing back, and one that has ended is not used.
        assert_eq!(sessions.note_use(&hash, Instant(0)), None);
        assert_eq!(sessions.get(&hash, Instant(0)).unwrap().used, Instant(199_000));
        let late = Instant(199_000 + SESSION_IDLE_MS);
        assert_eq!(sessions.note_use(&hash, late), None);
        assert_eq!(sessions.get(&hash, late), None);
    }

    #[test]
    fn a_new_session_takes_the_place_of_those_that_have_ended() {
        let mut sessions = Sessions::default();
        for number in 1..=3 {
            sessions.begin(session(number, i64::from(number)));
        }
        let at = Instant(2 + SESSION_IDLE_MS);
        let stored: Vec<_> = sessions.of.values().map(|known| known.session.clone()).collect();
        let new = session(9, at.0);
        let writes = begin(&new, &stored);
        let deleted = writes.iter().filter(|write| write.value.is_none()).count();
        assert_eq!((writes.len(), deleted), (3, 2));
        sessions.begin(new);
        let ids = |sessions: &Sessions| {
            let list = sessions.list(at).into_iter().map(|session| session.id);
            list.collect::<Vec<_>>()
        };
        assert_eq!(ids(&sessions), ["s9", "s3"]);
        sessions.end("s9");
        assert_eq!((ids(&sessions), sessions.of.len()), (vec!["s3".to_owned()], 1));
    }
}
