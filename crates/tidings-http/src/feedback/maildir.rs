//! The Maildir into which mails come back that could not be delivered, and complaints of readers.
//!
//! A mail is moved from `new` to `cur` once its effects are durable, so none is lost; one that a stop left in between
//! is read again, which changes nothing, since the time of its file identifies it.
//!
//! Anybody may send such a mail. While one is read, its name begins with a mark that no look takes in: if reading it
//! ends the thread or the process, it stays marked, and neither the next look nor the next start reads it again.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use tidings_core::Instant;
use tidings_core::model::EMAIL_NO;
use tidings_mail::Report;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

use crate::reports::reported::Reported;
use crate::service::Service;

/// The time between two looks.
const EVERY: Duration = Duration::from_secs(10);
/// The most mails that are read at a time.
const MAILS_MAX: usize = 100;
/// The most bytes of a mail that are read.
const MAIL_BYTES_MAX: u64 = 1 << 20;
/// The beginning of the name of a mail that is being read. Names with a dot are no mails of a Maildir.
const READING: &str = ".reading-";
/// The end of the name of a mail that was seen.
const SEEN: &str = ":2,S";
/// The most bytes of a file's name.
const NAME_BYTES_MAX: usize = 255;

/// Looks into the configured Maildir, again and again, until the server stops.
pub async fn watch(service: Arc<Service>) {
    let mut looks = interval(EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut reported = None;
    if let Some(maildir) = service.rules().feedback.maildir.clone() {
        let left = spawn_blocking(move || left_unread(Path::new(&maildir))).await;
        for name in left.unwrap_or_default() {
            tracing::warn!(
                name,
                "a mail stays unread in `new` of the Maildir of reports: this server ended while it was read; look at \
                 it, and remove it, or take the mark from its name to have it read again"
            );
        }
    }
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = service.stopped() => return,
        }
        let Some(maildir) = service.rules().feedback.maildir.clone() else {
            continue;
        };
        let fault = match missing(Path::new(&maildir)) {
            Some(fault) => Some(fault),
            None => {
                let taken = take_in(&service, Path::new(&maildir)).await;
                taken.err()
            }
        };
        // A fault that stays is logged once.
        if let Some(reason) = &fault
            && fault != reported
        {
            tracing::warn!(%reason, maildir, "mails that came back can't be taken in");
        }
        reported = fault;
    }
}

/// The fault of a Maildir that lacks something, with the way to make it; `None` = it lacks nothing.
#[must_use]
pub fn missing(maildir: &Path) -> Option<String> {
    let parts = ["new", "cur", "tmp"].into_iter();
    let parts = parts.filter(|part| !maildir.join(part).is_dir());
    let lacks: Vec<String> = parts.map(|part| format!("`{part}`")).collect();
    if lacks.is_empty() {
        return None;
    }
    let (place, lacks) = (maildir.display(), lacks.join(", "));
    Some(format!(
        "feedback.maildir: {place} is no Maildir: it lacks {lacks}, so no report is read there; \
         make it as the user that delivers mail, with `mkdir -p {place}/new {place}/cur {place}/tmp`, \
         and let the server move files from `new` to `cur`"
    ))
}

/// Takes in the mails that are new in a Maildir; returns how many.
///
/// # Errors
/// The reason why some can't be taken in. They are tried again, so it is not logged here.
pub(super) async fn take_in(service: &Service, maildir: &Path) -> Result<usize, String> {
    let mut count = 0;
    loop {
        let directory = maildir.to_owned();
        let read = spawn_blocking(move || read(&directory)).await;
        let mails = read.map_err(|fault| fault.to_string())??;
        if mails.is_empty() {
            return Ok(count);
        }
        count += mails.len();
        let reports = mails.iter().flat_map(|(_, reports)| reports.clone());
        let taken = service.take(reports.collect(), None).await;
        taken.map_err(|problem| problem.detail.into_owned())?;
        let done = maildir.join("cur");
        let moved =
            spawn_blocking(move || mails.iter().try_for_each(|(path, _)| put_away(path, &done)));
        moved.await.map_err(|fault| fault.to_string())??;
    }
}

/// Some new mails with what they report. One that can't be read holds up no other.
fn read(maildir: &Path) -> Result<Vec<(PathBuf, Vec<Reported>)>, String> {
    let new = maildir.join("new");
    let paths = new_mails(&new).map_err(|fault| format!("{}: {fault}", new.display()))?;
    let mut mails = Vec::with_capacity(MAILS_MAX);
    let mut unreadable = Ok(());
    for path in paths {
        match marked(&path, reports) {
            Ok(reports) => mails.push((path, reports)),
            // Another node reads or has read it.
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {}
            Err(fault) => unreadable = Err(format!("{}: {fault}", path.display())),
        }
        if mails.len() == MAILS_MAX {
            break;
        }
    }
    if mails.is_empty() { unreadable.map(|()| mails) } else { Ok(mails) }
}

/// The mails that are new, in the order of their names.
fn new_mails(new: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(new)? {
        let entry = entry?;
        let is_marked = entry.file_name().as_encoded_bytes().starts_with(b".");
        if entry.file_type()?.is_file() && !is_marked {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// A name that leaves room for a number of bytes more: a long one has its digest in place of its end.
fn with_room(name: &OsStr, more: usize) -> OsString {
    let most = NAME_BYTES_MAX - more;
    if name.len() <= most {
        return name.to_owned();
    }
    let digest = URL_SAFE_NO_PAD.encode(digest(&SHA256, name.as_encoded_bytes()));
    let name = name.to_string_lossy();
    let begin = &name[..name.floor_char_boundary(most - digest.len())];
    OsString::from(format!("{begin}{digest}"))
}

/// Reads a mail while its name is marked.
fn marked<T>(path: &Path, read: impl FnOnce(&[u8], Option<Instant>) -> T) -> io::Result<T> {
    let mut name = OsString::from(READING);
    name.push(with_room(path.file_name().unwrap_or_default(), name.len()));
    let mark = path.with_file_name(name);
    fs::rename(path, &mark)?;
    // No `?` before the name is what it was: a fault of the disk is no fault of the mail.
    let mail = read_mail(&mark);
    let found = mail.map(|(bytes, written)| read(&bytes, written));
    fs::rename(&mark, path)?;
    found
}

/// The names of mails that stayed marked.
fn left_unread(maildir: &Path) -> Vec<String> {
    let entries = fs::read_dir(maildir.join("new")).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.starts_with(READING)).collect()
}

/// The beginning of a mail, and when it was written.
fn read_mail(path: &Path) -> io::Result<(Vec<u8>, Option<Instant>)> {
    let file = File::open(path)?;
    let written = file.metadata()?.modified()?;
    let written = written.duration_since(UNIX_EPOCH).ok();
    let written = written.and_then(|since| i64::try_from(since.as_millis()).ok());
    let mut bytes = Vec::new();
    file.take(MAIL_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok((bytes, written.map(Instant)))
}

/// The reports of a mail that was written at an instant: none, if it is no report.
pub(super) fn reports(mail: &[u8], written: Option<Instant>) -> Vec<Reported> {
    let Some(report) = Report::read(mail) else {
        tracing::debug!("a mail in the Maildir of reports is none");
        return Vec::new();
    };
    let each = report.findings.into_iter();
    each.map(|finding| {
        let code = finding.code.map(|code| code.to_string());
        let status = finding.status.map(|status| status.to_string());
        let words: Vec<String> = code.into_iter().chain(status).collect();
        Reported {
            event: finding.event,
            channel: EMAIL_NO,
            by: "mail",
            hints: report.hints.clone(),
            words: words.join(" "),
            at: written,
            address: None,
            named: finding.named,
        }
    })
    .collect()
}

/// Moves a mail to those that were seen.
fn put_away(path: &Path, cur: &Path) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split(':').next().unwrap_or_default();
    let mut seen = with_room(OsStr::new(name), SEEN.len());
    seen.push(SEEN);
    fs::rename(path, cur.join(seen)).map_err(|fault| format!("{}: {fault}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b9_a_mail_of_any_name_is_read_once_and_put_away() {
        let home = tempfile::tempdir().unwrap();
        let [new, cur] = ["new", "cur"].map(|part| home.path().join(part));
        fs::create_dir(&new).unwrap();
        fs::create_dir(&cur).unwrap();
        let long = |begin: &str, bytes| begin.to_owned() + &"x".repeat(bytes - begin.len());
        let mut names: Vec<String> = (240..=255).map(|bytes| long("1", bytes)).collect();
        // They differ only where they are cut, or in bytes that are cut.
        names.extend([long("2", 254) + "a", long("2", 254) + "b"]);
        names.extend([format!("a{}", "é".repeat(127)), format!("b{}", "é".repeat(127))]);
        for name in &names {
            fs::write(new.join(name), "Subject: x\n\nHello\n").unwrap();
        }
        let mails = read(home.path()).unwrap();
        assert_eq!(mails.len(), names.len());
        for (path, _) in &mails {
            put_away(path, &cur).unwrap();
        }
        assert!(read(home.path()).unwrap().is_empty());
        let seen = fs::read_dir(&cur).unwrap().map(|entry| entry.unwrap().file_name());
        let seen: Vec<_> = seen.collect();
        assert_eq!(seen.len(), names.len());
        assert!(seen.iter().all(|name| name.as_encoded_bytes().ends_with(b":2,S")));
    }

    #[test]
    fn a1_a_mail_that_ended_the_process_is_not_read_again() {
        let home = tempfile::tempdir().unwrap();
        let new = home.path().join("new");
        fs::create_dir(&new).unwrap();
        for name in ["a", "b"] {
            fs::write(new.join(name), "Subject: x\n\nHello\n").unwrap();
        }
        let names = || {
            let mails = read(home.path()).unwrap().into_iter();
            let names = mails.map(|(path, _)| path.file_name().unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(), ["a", "b"]);
        assert!(left_unread(home.path()).is_empty());
        // The thread ends as the process would: nothing after it is done.
        let path = new.join("a");
        let ended = std::thread::spawn(move || marked(&path, |_, _| panic!("a hostile mail")));
        assert!(ended.join().is_err());
        assert_eq!(names(), ["b"]);
        assert_eq!(left_unread(home.path()), [".reading-a"]);
        // Another node that has listed the mail before passes over it.
        let missing = marked(&new.join("a"), |_, _| ()).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
