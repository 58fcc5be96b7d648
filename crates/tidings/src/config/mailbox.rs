//! Mailboxes: of senders, and of those to whom answers go.

use tidings_mail::Sender;

use super::walk::{Section, Walk};

/// Advice to whoever wrote something else.
pub(super) const MAILBOX_HINT: &str = "write a mailbox, such as `Art <art@example.org>`";

/// A mailbox below a key.
pub(super) fn mailbox(walk: &mut Walk, section: &Section<'_>, key: &str) -> Option<String> {
    let text = walk.text(section, key, MAILBOX_HINT)?;
    match Sender::parse(text.value) {
        Ok(_) => Some(text.value.to_owned()),
        Err(fault) => {
            let fault = fault.to_string();
            // What is wrong stands before the last colon, how to mend it behind.
            let reason = fault.rsplit_once(": ").map_or(fault.as_str(), |(reason, _)| reason);
            walk.bad(&text.span, reason.to_owned(), MAILBOX_HINT);
            None
        }
    }
}
