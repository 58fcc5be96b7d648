//! The part of the mailbox that is listed: messages to a recipient, on a channel, from a place in the list on.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use super::kept::MailboxMessage;

/// The query of the list, which goes along from page to page.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Filter {
    /// A part of the recipient's id or address; empty = anybody.
    #[serde(default)]
    pub(super) to: String,
    /// The channel; empty = all.
    #[serde(default)]
    pub(super) channel: String,
    /// Number of messages to pass over.
    #[serde(default)]
    pub(super) from: usize,
}

impl Filter {
    /// Returns true if a message is of the list.
    pub(super) fn has(&self, kept: &MailboxMessage) -> bool {
        let to = self.to.trim().to_lowercase();
        (self.channel.is_empty() || kept.channel() == self.channel)
            && (to.is_empty() || kept.is_to(&to))
    }

    /// Returns true if all messages are of the list.
    pub(super) fn is_empty(&self) -> bool {
        self.to.trim().is_empty() && self.channel.is_empty()
    }

    /// The query for an address; empty without a filter.
    pub(super) fn query(&self) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let mut parts = Vec::new();
        if !self.to.trim().is_empty() {
            parts.push(format!("to={}", encoded(self.to.trim())));
        }
        if !self.channel.is_empty() {
            parts.push(format!("channel={}", encoded(&self.channel)));
        }
        if self.from > 0 {
            parts.push(format!("from={}", self.from));
        }
        if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
    }

    /// The same list on another channel, from its beginning.
    pub(super) fn on(&self, channel: &str) -> Self {
        Self { channel: channel.to_owned(), from: 0, ..self.clone() }
    }

    /// The same list from another place.
    pub(super) fn starting(&self, from: usize) -> Self {
        Self { from, ..self.clone() }
    }
}
