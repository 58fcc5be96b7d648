//! The provider `file://DIR`: a Maildir with one file per message.
//!
//! A message's file is named after its batch, so that sending twice leaves one. A file gets its name
//! in `new` only when it is whole: it is written in `tmp`, made durable and renamed.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::{Channel, Outcome, Receipt, Rendered};

/// The age that a directory's time must have, against the newest write, before a listing is cached: file
/// systems count time in steps, and a change within a step is invisible.
const LISTING_AGE_MIN: Duration = Duration::from_secs(2);

/// The time when files are made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Each file before its outcome is reported.
    #[default]
    Each,
    /// All files in [`Channel::sync`], for a simulation or a demonstration, which may begin anew. The
    /// paths of what is not yet durable are kept in memory.
    AtEnd,
}

/// A channel that writes mails into a Maildir.
pub struct Maildir {
    tmp: PathBuf,
    new: PathBuf,
    cur: PathBuf,
    durability: Durability,
    state: Mutex<MaildirState>,
    /// Signals that a batch is not in flight any more.
    landed: Condvar,
}

#[derive(Default)]
struct MaildirState {
    /// Batches that threads are writing now.
    in_flight: BTreeSet<String>,
    /// Batches that are not durable yet, and their files.
    unsynced: Vec<PathBuf>,
    listing: Option<MaildirListing>,
}

/// The content of `cur` at its last change.
struct MaildirListing {
    changed: SystemTime,
    ids: BTreeSet<String>,
}

impl Maildir {
    /// Opens a Maildir, and creates its missing parts.
    ///
    /// # Errors
    /// The system's error, where the directories can't be made or opened.
    pub fn open(dir: &Path, durability: Durability) -> io::Result<Self> {
        let maildir = Self {
            tmp: dir.join("tmp"),
            new: dir.join("new"),
            cur: dir.join("cur"),
            durability,
            state: Mutex::default(),
            landed: Condvar::new(),
        };
        maildir.make()?;
        Ok(maildir)
    }

    fn make(&self) -> io::Result<()> {
        // Mails are personal: for this user alone, whatever the umask.
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        for dir in [&self.tmp, &self.new, &self.cur] {
            builder.create(dir)?;
        }
        match (self.durability, self.new.parent()) {
            (Durability::Each, Some(parent)) => sync_path(parent),
            _ => Ok(()),
        }
    }

    /// Writes a mail unless it exists; returns true if it exists then, which it does not if `go` refuses.
    fn deliver(&self, id: &str, bytes: &[u8], go: &dyn Fn() -> bool) -> io::Result<bool> {
        let new = self.new.join(id);
        // An attempt before a crash has delivered it: the name is the batch's id, the same in each attempt.
        if new.try_exists()? {
            return Ok(go());
        }
        let tmp = self.tmp.join(id);
        let written = match self.write(&tmp, bytes) {
            Ok(written) => written,
            Err(error) => {
                // Half a file is of no use; the first fault is the one to tell.
                let _ = fs::remove_file(&tmp);
                return Err(error);
            }
        };
        // A mail program may have moved it meanwhile: a second copy would show up as another mail.
        let is_there = self.is_in_cur(id, written)?;
        let goes = go();
        if is_there || !goes {
            fs::remove_file(&tmp)?;
            return Ok(goes);
        }
        // Readers of `new` see whole files alone.
        fs::rename(&tmp, &new)?;
        match self.durability {
            Durability::Each => sync_path(&self.new)?,
            Durability::AtEnd => self.state().unsynced.push(new),
        }
        Ok(true)
    }

    /// Waits until no other thread writes the batch: one that was asked to stop may still do so.
    fn take_off(&self, id: &str) {
        let mut state = self.state();
        while !state.in_flight.insert(id.to_owned()) {
            let landed = self.landed.wait(state);
            state = landed.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn land(&self, id: &str) {
        self.state().in_flight.remove(id);
        self.landed.notify_all();
    }

    /// Writes a whole file, replacing what a crash may have left; returns its time.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<SystemTime> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(bytes)?;
        if self.durability == Durability::Each {
            file.sync_all()?;
        }
        file.metadata()?.modified()
    }

    /// Returns true if a mail program has already taken the message over from `new` to `cur`, where it adds
    /// flags to the name. `now` is a time that the file system has just given.
    fn is_in_cur(&self, id: &str, now: SystemTime) -> io::Result<bool> {
        let changed = fs::metadata(&self.cur)?.modified()?;
        let mut state = self.state();
        if let Some(listing) = state.listing.as_ref().filter(|listing| listing.changed == changed) {
            return Ok(listing.ids.contains(id));
        }
        let mut ids = BTreeSet::new();
        for entry in fs::read_dir(&self.cur)? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            ids.insert(name.split([':', ',']).next().unwrap_or_default().to_owned());
        }
        let is_there = ids.contains(id);
        let is_old = now.duration_since(changed).is_ok_and(|age| age >= LISTING_AGE_MIN);
        state.listing = is_old.then_some(MaildirListing { changed, ids });
        Ok(is_there)
    }

    fn state(&self) -> MutexGuard<'_, MaildirState> {
        // No step under the lock leaves the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Channel for Maildir {
    /// Sends a mail. Every error of the disk, full or read-only too, leads to a retry: an operator can
    /// fix it, and nothing is lost by waiting.
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        let (id, bytes) = (&*message.head.id, &*message.bytes);
        self.take_off(id);
        let delivered = match self.deliver(id, bytes, go) {
            // Somebody took the directory away; it is made again as it was made at first.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.make().and_then(|()| self.deliver(id, bytes, go))
            }
            delivered => delivered,
        };
        self.land(id);
        match delivered {
            Ok(true) => Outcome::Sent(Receipt { reference: Some(id.to_owned()), dead: Vec::new() }),
            Ok(false) => Outcome::Withheld,
            Err(error) => Outcome::Retry { why: format!("Maildir: {error}"), after_ms: None },
        }
    }

    fn sync(&self) -> io::Result<()> {
        let mut due = std::mem::take(&mut self.state().unsynced);
        let synced = sync_all(&mut due, &self.new).and_then(|()| sync_path(&self.new));
        if synced.is_err() {
            self.state().unsynced.append(&mut due);
        }
        synced
    }
}

/// Syncs files, and removes those that are durable from the list. One call for the whole file system: a
/// call for each of 10,000 files was measured at 26 s, this at 0.2 s.
#[cfg(target_os = "linux")]
fn sync_all(due: &mut Vec<PathBuf>, dir: &Path) -> io::Result<()> {
    if !due.is_empty() {
        rustix::fs::syncfs(File::open(dir)?)?;
        due.clear();
    }
    Ok(())
}

/// Syncs files, and removes those that are durable from the list.
#[cfg(not(target_os = "linux"))]
fn sync_all(due: &mut Vec<PathBuf>, _dir: &Path) -> io::Result<()> {
    while let Some(path) = due.last() {
        match sync_path(path) {
            // A mail program has taken it over.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            synced => synced?,
        }
        due.pop();
    }
    Ok(())
}

fn sync_path(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{GO, mail};
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn opened(dir: &Path) -> Maildir {
        Maildir::open(dir, Durability::Each).unwrap()
    }

    fn is_sent(outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Sent(_))
    }

    #[test]
    fn a_mail_becomes_one_file_however_often_it_is_sent() {
        let dir = tempfile::tempdir().unwrap();
        let maildir = opened(dir.path());
        for _ in 0..2 {
            assert!(is_sent(&maildir.send(&mail(ID, "One"), GO)));
        }
        assert!(is_sent(&opened(dir.path()).send(&mail(ID, "One"), GO)));
        assert_eq!((names(&maildir.new), names(&maildir.tmp)), (vec![ID.to_owned()], vec![]));
        let bytes = fs::read(maildir.new.join(ID)).unwrap();
        let parsed = mail_parser::MessageParser::default().parse(&bytes).unwrap();
        assert_eq!(parsed.subject(), Some("Artwork published: One"));
    }

    #[test]
    fn a_mail_that_was_read_is_not_written_again() {
        for flags in ["", ":2,", ":2,RS", ",S=1234:2,S"] {
            let dir = tempfile::tempdir().unwrap();
            let maildir = opened(dir.path());
            assert!(is_sent(&maildir.send(&mail(ID, "One"), GO)));
            fs::rename(maildir.new.join(ID), maildir.cur.join(format!("{ID}{flags}"))).unwrap();
            assert!(is_sent(&maildir.send(&mail(ID, "One"), GO)));
            assert_eq!((names(&maildir.new), names(&maildir.tmp)), (vec![], vec![]), "{flags}");
        }
    }

    #[test]
    fn a_listing_is_read_again_when_it_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let maildir = opened(dir.path());
        let set_age = |seconds: u64| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds);
            File::open(&maildir.cur).unwrap().set_modified(time).unwrap();
            time
        };
        let now = set_age(0) + LISTING_AGE_MIN;
        assert!(!maildir.is_in_cur(ID, now).unwrap());
        assert!(maildir.state().listing.is_some());
        fs::write(maildir.cur.join(ID), "").unwrap();
        set_age(1);
        assert!(maildir.is_in_cur(ID, now).unwrap());
        assert!(maildir.state().listing.is_none(), "kept too young");
    }

    #[test]
    fn what_a_crash_left_in_tmp_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let maildir = opened(dir.path());
        fs::write(maildir.tmp.join(ID), "x".repeat(100_000)).unwrap();
        assert!(is_sent(&maildir.send(&mail(ID, "One"), GO)));
        let bytes = fs::read(maildir.new.join(ID)).unwrap();
        assert_eq!(bytes, mail(ID, "One").bytes);
        assert!(names(&maildir.tmp).is_empty());
    }

    #[test]
    fn a_directory_that_vanished_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let maildir = opened(&dir.path().join("mail"));
        fs::remove_dir_all(dir.path().join("mail")).unwrap();
        assert!(is_sent(&maildir.send(&mail(ID, "One"), GO)));
        assert_eq!(names(&maildir.new), [ID]);
    }

    #[test]
    fn t20_faults_of_the_disk_are_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        let maildir = opened(&dir.path().join("mail"));
        fs::remove_dir(&maildir.tmp).unwrap();
        fs::write(&maildir.tmp, "a file in place of the directory").unwrap();
        let outcome = maildir.send(&mail(ID, "One"), GO);
        assert!(matches!(outcome, Outcome::Retry { .. }), "{outcome:?}");
        fs::remove_file(&maildir.tmp).unwrap();
        assert!(is_sent(&maildir.send(&mail(ID, "One"), GO)));
    }

    #[cfg(unix)]
    #[test]
    fn a_read_only_directory_is_tried_again() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let maildir = opened(dir.path());
        let set_mode = |mode| {
            fs::set_permissions(&maildir.tmp, fs::Permissions::from_mode(mode)).unwrap();
        };
        set_mode(0o500);
        if fs::write(maildir.tmp.join("probe"), "").is_ok() {
            return without_privileges(
                "channel::maildir::tests::a_read_only_directory_is_tried_again",
            );
        }
        assert!(matches!(maildir.send(&mail(ID, "One"), GO), Outcome::Retry { .. }));
        set_mode(0o700);
        assert!(is_sent(&maildir.send(&mail(ID, "One"), GO)));
    }

    /// The variable that is set for a test that runs again without root's permissions.
    #[cfg(unix)]
    const UNPRIVILEGED: &str = "TIDINGS_NODE_TEST_UNPRIVILEGED";

    /// Runs a test in a process that obeys permissions, which root does not.
    #[cfg(unix)]
    fn without_privileges(test: &str) {
        assert!(std::env::var_os(UNPRIVILEGED).is_none(), "still privileged");
        let ended = std::process::Command::new("setpriv")
            .args(["--bounding-set=-all", "--inh-caps=-all"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test])
            .env(UNPRIVILEGED, "1")
            .status();
        match ended {
            Ok(ended) => assert!(ended.success()),
            Err(_) => {
                let is_required = std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_some();
                assert!(!is_required, "`setpriv` is not installed");
                println!("skipped: `setpriv` is not installed");
            }
        }
    }

    #[test]
    fn what_is_stopped_before_its_name_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let maildir = opened(dir.path());
        let stopped = || maildir.send(&mail(ID, "One"), &|| false);
        assert_eq!(stopped(), Outcome::Withheld);
        assert!(names(&maildir.new).is_empty() && names(&maildir.tmp).is_empty());
        assert!(is_sent(&maildir.send(&mail(ID, "One"), GO)));
        assert_eq!(stopped(), Outcome::Withheld, "even where it is there");
        assert_eq!(names(&maildir.new), [ID]);
    }

    #[test]
    fn files_are_made_durable_at_the_end_where_that_was_asked() {
        let dir = tempfile::tempdir().unwrap();
        let maildir = Maildir::open(dir.path(), Durability::AtEnd).unwrap();
        for id in ["a", "b", "c"] {
            assert!(is_sent(&maildir.send(&mail(id, "One"), GO)));
        }
        assert_eq!(maildir.state().unsynced.len(), 3);
        fs::remove_file(maildir.new.join("b")).unwrap();
        maildir.sync().unwrap();
        assert!(maildir.state().unsynced.is_empty());
        fs::remove_dir_all(dir.path()).unwrap();
        assert!(maildir.sync().is_err());
    }
}
