//! The channels of this version: one table from which everything that depends on a channel derives.
//!
//! A new channel is a row at the end of [`CHANNEL_KINDS`], a `Channel` of the node with its provider, and its keys in the
//! configuration. What a configuration may name, which addresses a recipient may have, which entries end for
//! want of one, and what can be paused follows from the row.

use serde::{Deserialize, Serialize};

pub use address::{AddressKind, Subscription, SubscriptionKeys, telegram_chat};
pub use mailbox::{Mailbox, NotAMailbox};

mod address;
mod mailbox;

/// A channel's number: its place in the table ([`CHANNEL_KINDS`]). Numbers are stored and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChannelNo(pub u8);

/// The inbox's number.
pub(crate) const INBOX_NO: ChannelNo = ChannelNo(0);

/// The number of the e-mail channel.
pub const EMAIL_NO: ChannelNo = ChannelNo(1);

/// The inbox channel: every application has it, and entries are delivered at once.
pub const INBOX: &str = "inbox";
/// The e-mail channel.
pub const EMAIL: &str = "email";
/// All channels, including later ones, for a mute or a preference for all categories.
pub const EACH_CHANNEL: &str = "*";

/// A channel: a way to reach recipients, with its name, its number and the addresses that it sends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelKind {
    /// Its name in configurations and bodies.
    pub name: &'static str,
    /// Its number in the store: its place in [`CHANNEL_KINDS`], never given again.
    pub number: ChannelNo,
    /// Its name in a sentence.
    pub title: &'static str,
    /// One of its messages in a sentence.
    pub message: &'static str,
    /// The addresses to which messages are sent; `None` = the inbox, which is only read.
    pub address: Option<AddressKind>,
}

/// All channels, by number.
pub const CHANNEL_KINDS: [ChannelKind; 11] = [
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
    ChannelKind {
        name: "sms",
        number: ChannelNo(2),
        title: "SMS",
        message: "text message",
        address: Some(AddressKind::Phone),
    },
    ChannelKind {
        name: "webpush",
        number: ChannelNo(3),
        title: "Web Push",
        message: "push message",
        address: Some(AddressKind::WebPush),
    },
    ChannelKind {
        name: "fcm",
        number: ChannelNo(4),
        title: "Firebase push",
        message: "push message",
        address: Some(AddressKind::Fcm),
    },
    ChannelKind {
        name: "slack",
        number: ChannelNo(5),
        title: "Slack",
        message: "Slack message",
        address: Some(AddressKind::Slack),
    },
    ChannelKind {
        name: "discord",
        number: ChannelNo(6),
        title: "Discord",
        message: "Discord message",
        address: Some(AddressKind::Discord),
    },
    ChannelKind {
        name: "teams",
        number: ChannelNo(7),
        title: "Teams",
        message: "Teams message",
        address: Some(AddressKind::Teams),
    },
    ChannelKind {
        name: "telegram",
        number: ChannelNo(8),
        title: "Telegram",
        message: "Telegram message",
        address: Some(AddressKind::Telegram),
    },
    ChannelKind {
        name: "webhook",
        number: ChannelNo(9),
        title: "webhook",
        message: "call",
        address: Some(AddressKind::Webhook),
    },
    ChannelKind {
        name: "apns",
        number: ChannelNo(10),
        title: "Apple push",
        message: "push message",
        address: Some(AddressKind::Apns),
    },
];

/// The names of all channels, by number.
pub const CHANNELS: [&str; CHANNEL_KINDS.len()] = {
    let mut names = [""; CHANNEL_KINDS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = CHANNEL_KINDS[at].name;
        at += 1;
    }
    names
};

/// The channel with a name.
#[must_use]
pub fn channel_kind(name: &str) -> Option<&'static ChannelKind> {
    CHANNEL_KINDS.iter().find(|channel| channel.name == name)
}

/// The number of a channel, if this version knows it.
#[must_use]
pub fn channel_no(name: &str) -> Option<ChannelNo> {
    channel_kind(name).map(|channel| channel.number)
}

/// The channels that send messages: all but the inbox.
pub fn sending_channels() -> impl Iterator<Item = &'static ChannelKind> {
    CHANNEL_KINDS.iter().filter(|channel| !channel.is_inbox())
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
    /// Returns true if its entries are delivered by being there.
    #[must_use]
    pub fn is_inbox(&self) -> bool {
        self.address.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_numbers() {
        for (at, channel) in CHANNEL_KINDS.iter().enumerate() {
            assert_eq!(usize::from(channel.number), at, "{}", channel.name);
            assert_eq!(CHANNELS[at], channel.name);
            assert_eq!(channel_kind(channel.name), Some(channel));
        }
        assert!(sending_channels().all(|channel| channel.number != INBOX_NO));
        assert_eq!(channel_kind("pigeon"), None);
    }
}
