//! Mailboxes: of senders, and of those to whom answers go.

use tidings_mail::Sender;

use super::walk::{Section, Walk};

/// Advice to whoever wrote something else.
pub(super) const MAILBOX_HINT: &str = "write a mailbox, such as `Art <art@example.org>`";

/// The reason why a text is no mailbox, and how to mend it.
pub(crate) fn mailbox_fault(text: &str) -> Option<(String, &'static str)> {
    let fault = Sender::parse(text).err()?.to_string();
    // What is wrong stands before the last colon, how to mend it behind.
    let reason = fault.rsplit_once(": ").map_or(fault.as_str(), |(reason, _)| reason);
    Some((reason.to_owned(), MAILBOX_HINT))
}

/// A mailbox below a key.
pub(super) fn mailbox(walk: &mut Walk, section: &Section<'_>, key: &str) -> Option<String> {
    let text = walk.text(section, key, MAILBOX_HINT)?;
    match mailbox_fault(text.value) {
        None => Some(text.value.to_owned()),
        Some((reason, hint)) => {
            walk.bad(&text.span, reason, hint);
            None
        }
    }
}
