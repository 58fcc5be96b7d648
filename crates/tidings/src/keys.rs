//! API keys.
//!
//! A key is 256 random bits. The data directory holds `keys`, a file of lines that is only ever added
//! to: a line a key with its hash, a line for a key that was revoked. Who reads it gets no key: a hash
//! of so many random bits can't be turned back, so a fast hash does. A server looks at the file again
//! when it has changed; there is nothing to restart.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::SystemTime;

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};
use subtle::{Choice, ConstantTimeEq as _};
use tidings_core::Instant;

/// The beginning of every key, so that it is recognised where it doesn't belong.
const PREFIX: &str = "tidings_";

const KEY_BYTES: usize = 32;

/// Time for which a revoked key may still be taken, in milliseconds: a server looks at the file that often.
const LOOK_AGAIN_MS: i64 = 1_000;

/// The longest name of a key, in characters.
pub const NAME_CHARS_MAX: usize = 100;

/// The file of keys of a data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile(PathBuf);

/// The entry of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyEntry {
    /// Names the key; no secret.
    pub id: String,
    /// Whose it is, as said when it was made.
    pub name: String,
    /// When it was made.
    #[serde(serialize_with = "as_text")]
    pub made: Instant,
}

fn as_text<S: serde::Serializer>(instant: &Instant, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(instant)
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Line {
    Made {
        id: String,
        name: String,
        made: String,
        sha256: String,
    },
    Revoked {
        revoked: String,
    },
}

struct Stored {
    entry: KeyEntry,
    hash: [u8; KEY_BYTES],
}

impl KeyFile {
    /// The file of a data directory, whether there is one or not.
    #[must_use]
    pub fn of(data: &Path) -> Self {
        Self(data.join("keys"))
    }

    /// Tells whether there is one.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.0.exists()
    }

    /// Makes a key: what is known of it, and the key itself, which is stored nowhere.
    ///
    /// # Errors
    /// The system's.
    pub fn make(&self, name: &str, now: Instant) -> io::Result<(KeyEntry, String)> {
        let mut secret = [0; KEY_BYTES];
        SystemRandom::new()
            .fill(&mut secret)
            .map_err(|_| io::Error::other("the system provides no random bits"))?;
        let key = format!("{PREFIX}{}", hex(&secret));
        let hash = hash(&key);
        let entry = KeyEntry {
            id: hex(&hash[..6]),
            name: name.to_owned(),
            made: now,
        };
        self.add(&Line::Made {
            id: entry.id.clone(),
            name: entry.name.clone(),
            made: entry.made.to_string(),
            sha256: hex(&hash),
        })?;
        Ok((entry, key))
    }

    /// Revokes a key; `false` where there is none of this id.
    ///
    /// # Errors
    /// The system's.
    pub fn revoke(&self, id: &str) -> io::Result<bool> {
        let is_known = self.list()?.iter().any(|entry| entry.id == id);
        if is_known {
            self.add(&Line::Revoked {
                revoked: id.to_owned(),
            })?;
        }
        Ok(is_known)
    }

    /// The keys that let in, in the order in which they were made.
    ///
    /// # Errors
    /// The system's; a file that is not there has no keys.
    pub fn list(&self) -> io::Result<Vec<KeyEntry>> {
        Ok(self.read()?.into_iter().map(|key| key.entry).collect())
    }

    fn read(&self) -> io::Result<Vec<Stored>> {
        let text = match fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => String::new(),
            Err(fault) => return Err(fault),
        };
        let mut keys: Vec<Stored> = Vec::new();
        // A line that was torn by a crash was never answered: it is passed over.
        for line in text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
        {
            match line {
                Line::Revoked { revoked } => keys.retain(|key| key.entry.id != revoked),
                Line::Made {
                    id,
                    name,
                    made,
                    sha256,
                } => {
                    if let (Some(hash), Ok(made)) = (unhex(&sha256), Instant::parse(&made)) {
                        let entry = KeyEntry { id, name, made };
                        keys.push(Stored { entry, hash });
                    }
                }
            }
        }
        Ok(keys)
    }

    fn add(&self, line: &Line) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.0)?;
        // In one write, so that two processes don't mix; with a line end before it as well, so that
        // it doesn't join a line that was torn.
        let text = format!("\n{}\n", serde_json::to_string(line)?);
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// A stamp that changes when the file does.
    fn stamp(&self) -> Option<(SystemTime, u64)> {
        let metadata = fs::metadata(&self.0).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }
}

/// The keys that a server accepts, read again from time to time.
#[derive(Debug)]
pub struct Keys {
    file: KeyFile,
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    hashes: Vec<[u8; KEY_BYTES]>,
    stamp: Option<(SystemTime, u64)>,
    /// When the file was looked at.
    looked: Option<Instant>,
}

impl Keys {
    /// The keys of a file; they are read when they are needed.
    #[must_use]
    pub fn of(file: KeyFile) -> Self {
        Self {
            file,
            known: RwLock::default(),
        }
    }

    /// Tells whether this is a key. One that was made a moment ago is; one that was revoked may be for a
    /// second more.
    #[must_use]
    pub fn admit(&self, key: &str, now: Instant) -> bool {
        let hash = hash(key);
        let (is_known, is_fresh) = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            (known.has(&hash), known.is_fresh(now))
        };
        if is_known && is_fresh {
            return true;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        self.look(&mut known, now);
        known.has(&hash)
    }

    /// Reads the file if it has changed. One that can't be read lets nobody in.
    fn look(&self, known: &mut Known, now: Instant) {
        let stamp = self.file.stamp();
        if known.looked.is_none() || known.stamp != stamp {
            match self.file.read() {
                Ok(keys) => known.hashes = keys.into_iter().map(|key| key.hash).collect(),
                Err(fault) => {
                    tracing::error!(error = %fault, "the key file can't be read");
                    known.hashes.clear();
                }
            }
            known.stamp = stamp;
        }
        known.looked = Some(now);
    }
}

impl Known {
    /// Compared without telling by its time how much of it is right.
    fn has(&self, hash: &[u8; KEY_BYTES]) -> bool {
        let found = self.hashes.iter().map(|known| known.ct_eq(hash));
        found.fold(Choice::from(0), |any, one| any | one).into()
    }

    fn is_fresh(&self, now: Instant) -> bool {
        let age = |looked: Instant| now.0.saturating_sub(looked.0);
        self.looked
            .is_some_and(|looked| (0..LOOK_AGAIN_MS).contains(&age(looked)))
    }
}

fn hash(key: &str) -> [u8; KEY_BYTES] {
    let mut hash = [0; KEY_BYTES];
    hash.copy_from_slice(digest(&SHA256, key.as_bytes()).as_ref());
    hash
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; KEY_BYTES]> {
    let mut bytes = [0; KEY_BYTES];
    if text.len() != 2 * KEY_BYTES || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_lets_in_until_it_is_revoked() {
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::of(dir.path());
        let keys = Keys::of(file.clone());
        assert!(!keys.admit("tidings_guess", Instant(0)));
        let (entry, key) = file.make("site", Instant(5)).unwrap();
        let (_, other) = file.make("other", Instant(6)).unwrap();
        assert_ne!(key, other);
        assert!(keys.admit(&key, Instant(0)) && keys.admit(&other, Instant(0)));
        assert!(!keys.admit(&key[1..], Instant(0)) && !keys.admit("", Instant(0)));
        let names =
            |list: Vec<KeyEntry>| -> Vec<String> { list.into_iter().map(|k| k.name).collect() };
        assert_eq!(names(file.list().unwrap()), ["site", "other"]);

        assert!(file.revoke(&entry.id).unwrap() && !file.revoke(&entry.id).unwrap());
        assert_eq!(names(file.list().unwrap()), ["other"]);
        assert!(!keys.admit(&key, Instant(LOOK_AGAIN_MS)));
        assert!(keys.admit(&other, Instant(LOOK_AGAIN_MS)));
    }

    #[test]
    fn the_file_holds_no_key_and_survives_a_torn_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::of(dir.path());
        let (_, first) = file.make("first", Instant(0)).unwrap();
        let path = dir.path().join("keys");
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&first[PREFIX.len()..]));
        fs::write(&path, format!("{text}{{\"id\":\"tor")).unwrap();
        let (_, second) = file.make("second", Instant(0)).unwrap();
        let keys = Keys::of(file);
        assert!(keys.admit(&first, Instant(0)) && keys.admit(&second, Instant(0)));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        KeyFile::of(dir.path()).make("site", Instant(0)).unwrap();
        let mode = fs::metadata(dir.path().join("keys"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
