//! The Maildir into which mails come back that could not be delivered, and complaints of readers.
//!
//! A mail is moved from `new` to `cur` once what follows from it is durable, so none is lost; one that a stop left in
//! between is taken again, which changes nothing: the time of its file tells that it is the same.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use tidings_core::Instant;
use tidings_mail::Report;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

use super::super::error::{Code, Problem};
use super::{Reported, Service};

/// The time between two looks.
const EVERY: Duration = Duration::from_secs(10);
/// The most mails that are read at a time.
const MAILS_MAX: usize = 100;
/// The most bytes of a mail that are read.
const MAIL_BYTES_MAX: u64 = 1 << 20;

/// Looks into the configured Maildir, again and again, until the server stops.
pub async fn watch(service: Arc<Service>) {
    let mut looks = interval(EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = None;
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = service.stopped() => return,
        }
        let Some(maildir) = service.rules().feedback.maildir.clone() else {
            continue;
        };
        let taken = take_in(&service, Path::new(&maildir)).await;
        let fault = taken.err().map(|problem| problem.detail);
        // A fault that stays is told once.
        if let Some(reason) = &fault
            && fault != told
        {
            tracing::warn!(%reason, maildir, "mails that came back can't be taken in");
        }
        told = fault;
    }
}

/// Takes in the mails that are new in a Maildir; returns how many.
pub(super) async fn take_in(service: &Service, maildir: &Path) -> Result<usize, Problem> {
    let unreadable = |fault: io::Error| Problem::new(Code::Internal, fault.to_string());
    let mut count = 0;
    loop {
        let directory = maildir.to_owned();
        let read = spawn_blocking(move || read(&directory)).await;
        let mails = read.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
        let mails = mails.map_err(unreadable)?;
        if mails.is_empty() {
            return Ok(count);
        }
        count += mails.len();
        let reports = mails.iter().flat_map(|(_, reports)| reports.clone());
        service.take(reports.collect()).await?;
        let done = maildir.join("cur");
        let moved =
            spawn_blocking(move || mails.iter().try_for_each(|(path, _)| put_away(path, &done)));
        let moved = moved
            .await
            .map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
        moved.map_err(unreadable)?;
    }
}

/// Some new mails with what they report. One that can't be read holds up no other.
fn read(maildir: &Path) -> io::Result<Vec<(PathBuf, Vec<Reported>)>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(maildir.join("new"))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    let mut mails = Vec::with_capacity(MAILS_MAX);
    let mut unreadable = Ok(());
    for path in paths {
        match read_mail(&path) {
            Ok((bytes, written)) => mails.push((path, reports(&bytes, written))),
            Err(fault) => unreadable = Err(fault),
        }
        if mails.len() == MAILS_MAX {
            break;
        }
    }
    match mails.is_empty() {
        true => unreadable.map(|()| mails),
        false => Ok(mails),
    }
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
            by: "mail",
            hints: report.hints.clone(),
            words: words.join(" "),
            at: written,
        }
    })
    .collect()
}

/// Moves a mail to those that were seen.
fn put_away(path: &Path, cur: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split(':').next().unwrap_or_default();
    fs::rename(path, cur.join(format!("{name}:2,S")))
}
