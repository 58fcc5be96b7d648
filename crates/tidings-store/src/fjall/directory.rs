//! The directory of a store: its format, its lock, its free space.
//!
//! ```text
//! DIR/LOCK         held by the process that has the store open; its process id, for people
//! DIR/TIDINGS      `format = N` and `store = ID`: what this is, and which, before anything else is read
//! DIR/NEWEST       `commit = N`: a commit that was durable when this was written
//! DIR/engine/      the engine's own files, which only its user may reach, whatever the umask
//! DIR/*.new        these while they are being made: a crash in the middle leaves nothing half made
//! DIR/address      where the server listens; not the store's own, as
//! DIR/token        what lets in the commands of its user
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Expected, StoreId};

/// The format that this code reads and writes; it rises with every change.
pub const FORMAT: u32 = 6;

const LOCK: &str = "LOCK";
const MARKER: &str = "TIDINGS";
const MARKER_NEW: &str = "TIDINGS.new";
const NEWEST: &str = "NEWEST";
const NEWEST_NEW: &str = "NEWEST.new";
const ENGINE: &str = "engine";
const ENGINE_NEW: &str = "engine.new";
/// Advice for a store whose newest commits are lost.
pub(super) const ACCEPT_LOSS: &str =
    "start `tidings serve` once with --accept-loss to go on without them";
/// A directory that some filesystems create at the root of a new volume.
const LOST_FOUND: &str = "lost+found";

/// A directory that this process alone has open, until it is dropped.
#[derive(Debug)]
pub(super) struct LockedDirectory {
    path: PathBuf,
    lock: File,
    id: StoreId,
    /// True if it was created for this store, so that it is removed with an abandoned one.
    is_made: bool,
}

/// The state of the engine's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EngineFiles {
    /// The files exist.
    Made,
    /// Nothing was ever stored; the files are still to be created.
    Missing,
}

impl LockedDirectory {
    /// Takes the lock of a directory, and checks its content. Only where a new store may be made, an absent
    /// directory is created and an empty one begun.
    pub(super) fn open(path: &Path, expected: Expected) -> Result<(Self, EngineFiles), Error> {
        if let Expected::OrNew(_) = expected {
            make(path)?;
        }
        // Before the lock: nothing is written where the store is not there.
        let marked = find(path, expected)?;
        let lock = lock(path)?;
        // Once more under the lock: another process may have been making it a moment ago.
        let marked = marked.map_or_else(|| find(path, expected), |id| Ok(Some(id)))?;
        let id = match (marked, expected) {
            (Some(id), _) | (None, Expected::OrNew(id)) => id,
            (None, Expected::Existing | Expected::Same(_)) => return Err(no_store(path)),
        };
        let directory = Self { path: path.to_owned(), lock, id, is_made: false };
        let engine = directory.prepare(marked.is_some(), expected)?;
        Ok((directory, engine))
    }

    /// The identity of the store.
    pub(super) fn id(&self) -> StoreId {
        self.id
    }

    /// Checks that the opened directory is still at its path: another may have been put in its place, and new files
    /// there would be lost, or belong to another store.
    pub(super) fn ensure_in_place(&self) -> Result<(), Error> {
        let gone = |why: &str| {
            Error::Unavailable(format!(
                "{}: {why}; put the directory back, and the server goes on by itself",
                self.path.display()
            ))
        };
        match is_same_file(&self.lock, &self.path.join(LOCK)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(gone("another directory was put in the place of the store")),
            Err(fault) if fault.kind() == ErrorKind::NotFound => Err(gone("the store went away")),
            Err(fault) => Err(gone(&fault.to_string())),
        }
    }

    /// Takes a directory that is empty or has the remains of an interrupted restore. Until it is finished
    /// it is not a store, and opening it is refused.
    pub(super) fn for_restore(path: &Path, id: StoreId) -> Result<Self, Error> {
        let is_made = make(path)?;
        refuse_filled(path)?;
        let lock = lock(path)?;
        // Once more under the lock: another process may have finished a moment ago.
        refuse_filled(path)?;
        let directory = Self { path: path.to_owned(), lock, id, is_made };
        let failed = |fault| unusable(path, &fault);
        match fs::remove_dir_all(directory.engine_new()) {
            Err(fault) if fault.kind() != ErrorKind::NotFound => return Err(failed(fault)),
            _ => create_private(&directory.engine_new()).map_err(failed)?,
        }
        Ok(directory)
    }

    /// Finishes a restore: from here on the directory is a store. The marker comes last, so that a crash
    /// leaves a whole store or none.
    pub(super) fn finish_restored(&self) -> Result<(), Error> {
        self.finish_engine()?;
        self.write_marker()
    }

    /// Removes the files of a failed restore, and the directory if it was created for that, as far as possible.
    pub(super) fn abandon(&self) {
        // What is left is no store, and the next restore clears it away.
        let _ = fs::remove_dir_all(self.engine_new());
        let _ = fs::remove_file(self.path.join(LOCK));
        if self.is_made {
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// The directory of the engine's files.
    pub(super) fn engine(&self) -> PathBuf {
        self.path.join(ENGINE)
    }

    /// The directory of the engine's files while they are being created.
    pub(super) fn engine_new(&self) -> PathBuf {
        self.path.join(ENGINE_NEW)
    }

    /// Finishes the creation: from here on the directory is a store.
    pub(super) fn finish_engine(&self) -> Result<(), Error> {
        let failed = |fault| unusable(&self.path, &fault);
        fs::rename(self.engine_new(), self.engine()).map_err(failed)?;
        sync_directory(&self.path).map_err(failed)
    }

    /// Notes that a commit is durable, so that a later opening detects its loss.
    ///
    /// A journal that lost its end by a copy or a repaired file system looks as it does after a crash, and the engine
    /// drops the torn part without an error. The note is written after the sync of the commit that it names, every
    /// few seconds, so it may be behind the journal and never ahead of it. With each commit it would cost a second sync.
    pub(super) fn note_newest(&self, commit: u64) -> std::io::Result<()> {
        self.ensure_in_place().map_err(std::io::Error::other)?;
        replace(&self.path, NEWEST_NEW, NEWEST, &format!("commit = {commit}\n"))
    }

    /// The commit that was noted last, if any.
    pub(super) fn newest(&self) -> Result<Option<u64>, Error> {
        let path = self.path.join(NEWEST);
        let text = match fs::read(&path) {
            Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|fault| unusable(&path, &fault))?,
        };
        let text = String::from_utf8_lossy(&text);
        let number = text.trim().strip_prefix("commit =").map(str::trim);
        match number.map(str::parse) {
            Some(Ok(number)) => Ok(Some(number)),
            _ => Err(Error::Corrupt(format!(
                "{} names no commit; restore it from a backup, or {ACCEPT_LOSS}",
                path.display()
            ))),
        }
    }

    /// Free bytes on the disk, `u64::MAX` if the system does not report them.
    pub(super) fn free_bytes(&self) -> Result<u64, Error> {
        free_bytes(&self.path)
            .map_err(|fault| Error::Unavailable(format!("{}: {fault}", self.path.display())))
    }

    /// Bytes on disk of everything in the directory.
    pub(super) fn disk_bytes(&self) -> Result<u64, Error> {
        disk_bytes(&self.path)
    }

    fn prepare(&self, is_begun: bool, expected: Expected) -> Result<EngineFiles, Error> {
        let failed = |fault| unusable(&self.path, &fault);
        if is_begun {
            let made = self.engine().try_exists().map_err(failed)?;
            let begun = self.engine_new().try_exists().map_err(failed)?;
            return match (made, begun) {
                (true, _) => Ok(EngineFiles::Made),
                (false, true) if matches!(expected, Expected::OrNew(_)) => {
                    fs::remove_dir_all(self.engine_new()).map_err(failed)?;
                    create_private(&self.engine_new()).map_err(failed)?;
                    Ok(EngineFiles::Missing)
                }
                (false, true) => Err(Error::Missing(format!(
                    "{} was begun, and never made; `tidings serve` makes it",
                    self.path.display()
                ))),
                (false, false) => Err(Error::Corrupt(format!(
                    "{} is a tidings store without its data ({ENGINE}/); restore it from a backup, \
                     or remove the directory to begin anew",
                    self.path.display()
                ))),
            };
        }
        // The empty directory comes first, since a marker without an engine means a loss.
        if !self.engine_new().try_exists().map_err(failed)? {
            create_private(&self.engine_new()).map_err(failed)?;
        }
        self.write_marker()?;
        Ok(EngineFiles::Missing)
    }

    fn write_marker(&self) -> Result<(), Error> {
        let text = format!("format = {FORMAT}\nstore = {}\n", self.id);
        replace(&self.path, MARKER_NEW, MARKER, &text).map_err(|fault| unusable(&self.path, &fault))
    }
}

/// Replaces a file atomically: a reader sees the old or the new one whole.
fn replace(directory: &Path, new: &str, name: &str, text: &str) -> std::io::Result<()> {
    let new = directory.join(new);
    // What a crash left there may have other permissions.
    match fs::remove_file(&new) {
        Err(fault) if fault.kind() != ErrorKind::NotFound => return Err(fault),
        _ => {}
    }
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, directory.join(name))?;
    sync_directory(directory)
}

/// Returns true if a directory contains a store of any format.
pub(super) fn is_store(path: &Path) -> bool {
    path.join(MARKER).exists()
}

/// Bytes on disk of everything in a directory.
pub(super) fn disk_bytes(path: &Path) -> Result<u64, Error> {
    tree_bytes(path).map_err(|fault| Error::Unavailable(format!("{}: {fault}", path.display())))
}

/// Syncs a directory's entries.
pub(super) fn sync_directory(path: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Creates a directory that only its user may enter, whatever the umask.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes a new file readable by its user alone, whatever the umask.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Creates a directory; returns true if it was absent.
fn make(path: &Path) -> Result<bool, Error> {
    match create_private(path) {
        Ok(()) => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let synced = sync_directory(parent.unwrap_or(Path::new(".")));
            synced.map(|()| true).map_err(|fault| unusable(path, &fault))
        }
        Err(_) if path.is_dir() => Ok(false),
        Err(fault) if fault.kind() == ErrorKind::AlreadyExists => Err(Error::Unusable(format!(
            "{} is a file, a directory is needed; name another",
            path.display()
        ))),
        Err(fault) if fault.kind() == ErrorKind::NotFound && !has_parent(path) => {
            Err(Error::Unusable(format!(
                "{} can't be made, its parent directory is missing; make that first",
                path.display()
            )))
        }
        Err(fault) if fault.kind() == ErrorKind::NotFound => Err(Error::Unusable(format!(
            "{} can't be made: the filesystem there takes no new directories ({fault}); name another \
             place",
            path.display()
        ))),
        Err(fault) => Err(unusable(path, &fault)),
    }
}

fn has_parent(path: &Path) -> bool {
    path.parent().is_none_or(|parent| parent.as_os_str().is_empty() || parent.is_dir())
}

/// Returns the identity of the store in a directory. `None` if a new one may be made there: the directory is empty,
/// or a store was only begun. Else an error.
fn find(path: &Path, expected: Expected) -> Result<Option<StoreId>, Error> {
    match fs::read(path.join(MARKER)) {
        Ok(marker) => {
            let id = check_marker(path, &marker)?;
            if expected.admits(id) {
                Ok(Some(id))
            } else {
                Err(Error::Missing(format!(
                    "{} has another store than before ({id}); put back the one that was there",
                    path.display()
                )))
            }
        }
        Err(fault) if fault.kind() == ErrorKind::NotFound => {
            if !matches!(expected, Expected::OrNew(_)) {
                return Err(no_store(path));
            }
            for entry in fs::read_dir(path).map_err(|fault| unusable(path, &fault))? {
                let entry = entry.map_err(|fault| unusable(path, &fault))?;
                if !is_beginning(&entry) {
                    return Err(Error::Format(format!(
                        "{} is not empty and not a tidings store (it has `{}` and no {MARKER}); \
                         name an empty directory",
                        path.display(),
                        entry.file_name().display()
                    )));
                }
            }
            Ok(None)
        }
        Err(fault) => Err(unusable(path, &fault)),
    }
}

fn no_store(path: &Path) -> Error {
    let what = if path.is_dir() {
        "has no store; if it is the place of a volume, mount that"
    } else {
        "does not exist; if it is on a volume, mount that"
    };
    Error::Missing(format!("{} {what}", path.display()))
}

/// Refuses a directory that contains more than the beginnings of a store or an interrupted restore.
fn refuse_filled(path: &Path) -> Result<(), Error> {
    let failed = |fault| unusable(path, &fault);
    for entry in fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let own = [LOCK, MARKER_NEW, ENGINE_NEW, LOST_FOUND];
        if !own.iter().any(|own| name == *own) {
            return Err(Error::Unusable(format!(
                "{} is not empty (it has `{}`); name an empty directory, or one that does not exist",
                path.display(),
                name.display()
            )));
        }
    }
    Ok(())
}

/// Returns true if a file belongs to the beginnings of a store, or to none.
fn is_beginning(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    if name == ENGINE_NEW {
        return fs::read_dir(entry.path()).is_ok_and(|mut entries| entries.next().is_none());
    }
    name == LOCK || name == MARKER_NEW || name == LOST_FOUND
}

fn check_marker(path: &Path, marker: &[u8]) -> Result<StoreId, Error> {
    let text = String::from_utf8_lossy(marker);
    let value = |key: &str| {
        text.lines().find_map(|line| {
            let rest = line.trim().strip_prefix(key)?.trim_start();
            rest.strip_prefix('=').map(str::trim)
        })
    };
    let id = value("store").and_then(|id| id.parse().ok());
    match (value("format").map(str::parse::<u32>), id) {
        (Some(Ok(FORMAT)), Some(id)) => Ok(id),
        (Some(Ok(FORMAT)), None) => Err(Error::Format(format!(
            "{} has a {MARKER} file that names no store; it is damaged",
            path.display()
        ))),
        (Some(Ok(other)), _) => Err(Error::Format(format!(
            "{} has format {other}, this tidings reads format {FORMAT}; use the version that wrote it",
            path.display()
        ))),
        _ => Err(Error::Format(format!(
            "{} has a {MARKER} file that names no format; it is damaged or not of tidings",
            path.display()
        ))),
    }
}

fn lock(path: &Path) -> Result<File, Error> {
    let failed = |fault| unusable(path, &fault);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = private(&mut options).open(path.join(LOCK)).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let read = file.read_to_string(&mut holder);
            let holder = holder.trim();
            return Err(Error::Locked(match read {
                Ok(_) if !holder.is_empty() => {
                    format!("{} is open in process {holder}", path.display())
                }
                _ => format!("{} is open", path.display()),
            }));
        }
        Err(TryLockError::Error(fault)) => return Err(failed(fault)),
    }
    // A restore that failed a moment ago took its file away: this lock would keep nobody out.
    if !is_same_file(&file, &path.join(LOCK)).unwrap_or(false) {
        return Err(Error::Locked(format!(
            "{} was being restored, which failed; try again",
            path.display()
        )));
    }
    file.set_len(0).map_err(failed)?;
    file.rewind().map_err(failed)?;
    writeln!(file, "{}", std::process::id()).map_err(failed)?;
    Ok(file)
}

fn unusable(path: &Path, fault: &std::io::Error) -> Error {
    let mend = match fault.kind() {
        ErrorKind::PermissionDenied => "; give this user the right to read and write it",
        ErrorKind::ReadOnlyFilesystem => "; it is mounted read-only",
        ErrorKind::StorageFull => "; make room",
        _ => "",
    };
    Error::Unusable(format!("{}: {fault}{mend}", path.display()))
}

#[cfg(unix)]
fn is_same_file(open: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (open, there) = (open.metadata()?, fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_same_file(_open: &File, path: &Path) -> std::io::Result<bool> {
    fs::metadata(path).map(|_| true)
}

#[cfg(unix)]
fn free_bytes(path: &Path) -> std::io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_path: &Path) -> std::io::Result<u64> {
    Ok(u64::MAX)
}

fn tree_bytes(path: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(path)? {
        // The engine removes files while they are counted.
        let gone = |fault: &std::io::Error| fault.kind() == ErrorKind::NotFound;
        let entry = entry?;
        sum += match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => match tree_bytes(&entry.path()) {
                Err(fault) if gone(&fault) => 0,
                bytes => bytes?,
            },
            Ok(metadata) => file_bytes(&metadata),
            Err(fault) if gone(&fault) => 0,
            Err(fault) => return Err(fault),
        };
    }
    Ok(sum)
}

/// The disk space of a file: journals are allocated longer than their content.
#[cfg(unix)]
fn file_bytes(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.blocks().saturating_mul(512)
}

#[cfg(not(unix))]
fn file_bytes(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}
