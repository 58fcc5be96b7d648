//! The channels of this version: one table from which everything that depends on a channel derives.
//!
//! A new channel is a row at the end of [`TABLE`], a `Channel` of the node with its provider, and its keys in the
//! configuration. What a configuration may name, which addresses a recipient may have, which entries end for
//! want of one, and what can be paused follows from the row.

use serde::{Deserialize, Serialize};

/// A channel's number: its place in the table ([`TABLE`]). Numbers are stored and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChannelNo(pub u8);

/// The inbox's number.
pub const INBOX_NO: ChannelNo = ChannelNo(0);

/// The number of the e-mail channel.
pub const EMAIL_NO: ChannelNo = ChannelNo(1);

/// The inbox channel: every application has it, and entries are delivered at once.
pub const INBOX: &str = "inbox";
/// The e-mail channel.
pub const EMAIL: &str = "email";
/// Each channel, where a mute says so.
pub const EACH: &str = "*";

/// A channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelKind {
    /// Its name in configurations and bodies.
    pub name: &'static str,
    /// Its number in the store: its place in [`TABLE`], never given again.
    pub number: ChannelNo,
    /// Its name in a sentence.
    pub title: &'static str,
    /// One of its messages in a sentence.
    pub message: &'static str,
    /// The addresses to which messages are sent; `None` = the inbox, which is only read.
    pub address: Option<AddressKind>,
}

/// A kind of address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// An e-mail address.
    Email,
}

/// All channels, by number.
pub const TABLE: [ChannelKind; 2] = [
    ChannelKind {
        name: INBOX,
        number: INBOX_NO,
        title: "inbox",
        message: "message",
        address: None,
    },
    ChannelKind {
        name: EMAIL,
        number: EMAIL_NO,
        title: "e-mail",
        message: "mail",
        address: Some(AddressKind::Email),
    },
];

/// The names of all channels, by number.
pub const CHANNELS: [&str; TABLE.len()] = {
    let mut names = [""; TABLE.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = TABLE[at].name;
        at += 1;
    }
    names
};

/// The channel with a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static ChannelKind> {
    TABLE.iter().find(|channel| channel.name == name)
}

/// The number of a channel, if this version knows it.
#[must_use]
pub fn channel_no(name: &str) -> Option<ChannelNo> {
    named(name).map(|channel| channel.number)
}

/// The channels that send messages: all but the inbox.
pub fn sending() -> impl Iterator<Item = &'static ChannelKind> {
    TABLE.iter().filter(|channel| !channel.is_inbox())
}

impl ChannelNo {
    /// The channel's name in configurations and bodies. The number must be that of a channel.
    #[must_use]
    pub fn name(self) -> &'static str {
        CHANNELS[usize::from(self)]
    }
}

impl From<ChannelNo> for usize {
    fn from(number: ChannelNo) -> Self {
        Self::from(number.0)
    }
}

impl ChannelKind {
    /// Tells whether its entries are delivered by being there.
    #[must_use]
    pub fn is_inbox(&self) -> bool {
        self.address.is_none()
    }
}

impl AddressKind {
    /// The form of such an address, for hints.
    #[must_use]
    pub fn form(self) -> &'static str {
        match self {
            Self::Email => "local@domain",
        }
    }

    /// The most bytes of such an address.
    #[must_use]
    pub fn bytes_max(self) -> usize {
        match self {
            Self::Email => 320,
        }
    }

    /// Tells whether a text is such an address, roughly.
    #[must_use]
    pub fn accepts(self, text: &str) -> bool {
        text.len() <= self.bytes_max()
            && match self {
                Self::Email => is_mailbox(text),
            }
    }
}

/// Tells whether a text has one `@` with something on either side, and nothing that could end a header line or
/// start another address.
fn is_mailbox(text: &str) -> bool {
    let plain = |c: char| !c.is_control() && !c.is_whitespace() && !"<>,;".contains(c);
    text.chars().all(plain)
        && text.split_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && !domain.is_empty() && !domain.contains('@')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_numbers() {
        for (at, channel) in TABLE.iter().enumerate() {
            assert_eq!(usize::from(channel.number), at, "{}", channel.name);
            assert_eq!(CHANNELS[at], channel.name);
            assert_eq!(named(channel.name), Some(channel));
        }
        assert!(sending().all(|channel| channel.number != INBOX_NO));
        assert_eq!(named("pigeon"), None);
    }

    #[test]
    fn an_address_is_one_and_not_too_long() {
        let kind = AddressKind::Email;
        for good in ["a@b", "ann.o'neil+x@example.org"] {
            assert!(kind.accepts(good), "{good}");
        }
        let long = format!("{}@b", "a".repeat(kind.bytes_max()));
        for bad in ["", "ann", "@b", "a@", "a@b@c", "a b@c", "a@b,c@d", &long] {
            assert!(!kind.accepts(bad), "{bad}");
        }
    }
}
