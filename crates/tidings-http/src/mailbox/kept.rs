//! The messages of the mailbox: those that `caught://` keeps, and the mails in the Maildirs of `file://`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mail_parser::{Address, Message, MessageParser};
use tidings_core::model::EMAIL;
use tidings_core::{Instant, Rules};
use tidings_node::channel::{CAUGHT_MAX, CaughtMailbox, CaughtMessage};

use super::nested::may_hold_mails;

/// The most bytes of a mail that is shown.
const MAIL_BYTES_MAX: u64 = 8 << 20;
/// The beginning of the name of a message that was caught.
const PREFIX: &str = "caught-";

/// The places of the messages.
#[derive(Clone)]
pub(super) struct MessagePlaces {
    caught: Arc<CaughtMailbox>,
    maildirs: Vec<PathBuf>,
    /// True if a channel keeps its messages here.
    pub(super) catches: bool,
}

/// A message of the list, not read yet.
pub(super) struct MailboxMessage {
    /// Its name in addresses.
    pub(super) name: String,
    /// The instant at which it was caught or written.
    pub(super) at: Instant,
    pub(super) content: MailboxContent,
}

/// The content of a message.
pub(super) enum MailboxContent {
    Caught(Arc<CaughtMessage>),
    File(PathBuf),
}

impl MessagePlaces {
    pub(super) fn of(rules: &Rules, caught: &Arc<CaughtMailbox>) -> Self {
        let providers = |name: &str| {
            rules.channels.get(name).into_iter().flat_map(|channel| &channel.providers)
        };
        let maildirs = providers(EMAIL).filter_map(|provider| provider.strip_prefix("file://"));
        let maildirs: Vec<PathBuf> = maildirs.map(PathBuf::from).collect();
        let mut all = rules.channels.values().flat_map(|channel| &channel.providers);
        let catches = !maildirs.is_empty() || all.any(|provider| provider == "caught://");
        Self { caught: Arc::clone(caught), maildirs, catches }
    }

    /// The newest messages, newest first.
    pub(super) fn newest(&self) -> io::Result<Vec<MailboxMessage>> {
        let mut all: Vec<MailboxMessage> = Vec::new();
        for maildir in &self.maildirs {
            all.extend(files(maildir)?);
        }
        all.sort_by(|a, b| (b.at, &b.name).cmp(&(a.at, &a.name)));
        all.extend(self.caught.newest_first().into_iter().map(MailboxMessage::caught));
        // Those of one instant stay in the order in which they were caught.
        all.sort_by_key(|kept| std::cmp::Reverse(kept.at));
        all.truncate(CAUGHT_MAX);
        Ok(all)
    }

    /// The message of a name.
    pub(super) fn find(&self, name: &str) -> Option<MailboxMessage> {
        let number = name.strip_prefix(PREFIX).and_then(|number| number.parse().ok());
        if let Some(caught) = number.and_then(|number| self.caught.get(number)) {
            return Some(MailboxMessage::caught(caught));
        }
        if name.starts_with('.') || name.contains(['/', '\\', '\0']) {
            return None;
        }
        let mut paths = self
            .maildirs
            .iter()
            .flat_map(|maildir| ["new", "cur"].map(|place| maildir.join(place).join(name)));
        let path = paths.find(|path| path.is_file())?;
        Some(MailboxMessage {
            name: name.to_owned(),
            at: Instant(0),
            content: MailboxContent::File(path),
        })
    }
}

impl MailboxMessage {
    fn caught(caught: Arc<CaughtMessage>) -> Self {
        Self {
            name: format!("{PREFIX}{}", caught.number),
            at: caught.at,
            content: MailboxContent::Caught(caught),
        }
    }

    /// The name of its channel.
    pub(super) fn channel(&self) -> &str {
        match &self.content {
            MailboxContent::Caught(caught) => &caught.message.head.channel,
            MailboxContent::File(_) => EMAIL,
        }
    }

    /// Its bytes. Who reads a Maildir with a mail program may move the file meanwhile.
    pub(super) fn bytes(&self) -> io::Result<Vec<u8>> {
        match &self.content {
            MailboxContent::Caught(caught) => Ok(caught.message.bytes.clone()),
            MailboxContent::File(path) => load(path),
        }
    }

    /// Returns true if it is for a recipient or to an address that has a text, in lower case, in it.
    pub(super) fn is_to(&self, text: &str) -> bool {
        let has = |found: &str| found.to_lowercase().contains(text);
        match &self.content {
            MailboxContent::Caught(caught) => {
                let recipient = caught.message.head.recipient.as_ref();
                recipient.is_some_and(|id| has(id.as_str()))
                    || caught.message.to.iter().any(|to| has(to))
            }
            MailboxContent::File(path) => load(path).is_ok_and(|bytes| {
                let mail = parsed(&bytes);
                let to = mail.as_ref().and_then(Message::to).and_then(Address::first);
                to.and_then(|to| to.address()).is_some_and(has)
            }),
        }
    }
}

/// The newest mails of a Maildir.
fn files(directory: &Path) -> io::Result<Vec<MailboxMessage>> {
    let mut files = Vec::new();
    for place in ["new", "cur"] {
        for entry in fs::read_dir(directory.join(place))? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                let at = instant(entry.metadata()?.modified()?);
                files.push(MailboxMessage {
                    name,
                    at,
                    content: MailboxContent::File(entry.path()),
                });
            }
        }
    }
    Ok(files)
}

fn instant(time: SystemTime) -> Instant {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).as_ref().map_or(0, Duration::as_millis);
    Instant(i64::try_from(since).unwrap_or(i64::MAX))
}

fn load(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAIL_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Parses a mail; `None` = it is none, or may hold other mails, which none of ours does. The parser reads mails within
/// mails by recursion, without a bound, so that a stranger's could overflow the stack.
pub(super) fn parsed(bytes: &[u8]) -> Option<Message<'_>> {
    if may_hold_mails(bytes) { None } else { MessageParser::default().parse(bytes) }
}
