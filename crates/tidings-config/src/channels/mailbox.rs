//! Mailboxes of senders and for replies.

use tidings_mail::Sender;

use crate::walk::{ConfigReader, Section};

/// Advice for other texts.
pub(super) const MAILBOX_HINT: &str = "write a mailbox, such as `Art <art@example.org>`";

/// The reason why a text is not a mailbox, and a hint.
#[must_use]
pub fn mailbox_fault(text: &str) -> Option<(String, &'static str)> {
    let fault = Sender::parse(text).err()?.to_string();
    // The reason ends at the last colon, the hint follows it.
    let reason = fault.rsplit_once(": ").map_or(fault.as_str(), |(reason, _)| reason);
    Some((reason.to_owned(), MAILBOX_HINT))
}

/// A mailbox below a key.
pub(crate) fn mailbox(walk: &mut ConfigReader, section: &Section<'_>, key: &str) -> Option<String> {
    let text = walk.text(section, key, MAILBOX_HINT)?;
    match mailbox_fault(text.value) {
        None => Some(text.value.to_owned()),
        Some((reason, hint)) => {
            walk.bad(&text.span, reason, hint);
            None
        }
    }
}
