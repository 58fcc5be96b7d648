//! The sender of mails: one mailbox, checked when the configuration is read.

use std::str::FromStr;

use lettre::message::Mailbox;

use crate::message::address::address as address_of;
use crate::words::text;

/// The sender of all mails of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    mailbox: Mailbox,
    name: String,
}

/// The reason why a text is not a sender.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SenderError {
    /// The text is not a mailbox.
    #[error("`{0}` is not a mailbox: write `Art <art@example.org>` or `art@example.org`")]
    Mailbox(String),
    /// The text before the `@` is not ASCII.
    #[error(
        "the address `{0}` is not in ASCII before the `@`: servers that can't take that would refuse all mails"
    )]
    NotAscii(String),
    /// The host is a number, which can't be the right side of a Message-ID.
    #[error("the address `{0}` needs a domain, not an IP address")]
    NoDomain(String),
}

impl Sender {
    /// Reads `Art <art@example.org>` or `art@example.org`.
    ///
    /// # Errors
    /// [`SenderError`] has a cure.
    pub fn parse(from: &str) -> Result<Self, SenderError> {
        let mailbox =
            Mailbox::from_str(from.trim()).map_err(|_| SenderError::Mailbox(text::clean(from)))?;
        let address = mailbox.email.to_string();
        let email = address_of(&address).ok_or_else(|| SenderError::Mailbox(text::clean(from)))?;
        if !email.user().is_ascii() {
            return Err(SenderError::NotAscii(address));
        }
        let domain = email.domain();
        let is_number = domain.starts_with('[') || domain.parse::<std::net::IpAddr>().is_ok();
        if is_number {
            return Err(SenderError::NoDomain(address));
        }
        let named = mailbox.name.as_deref().map(text::clean).filter(|name| !name.is_empty());
        let name = named.clone().unwrap_or_else(|| domain.to_owned());
        Ok(Self { mailbox: Mailbox::new(named, email.clone()), name })
    }

    /// The sender of messages that show none.
    pub(crate) fn nobody() -> Self {
        Self::parse("nobody@localhost").expect("it is a mailbox")
    }

    /// The address without the name.
    #[must_use]
    pub fn address(&self) -> &str {
        self.mailbox.email.as_ref()
    }

    /// The domain of the address: the right side of every Message-ID.
    #[must_use]
    pub fn host(&self) -> &str {
        self.mailbox.email.domain()
    }

    /// The name to show: the mailbox's, or the host where it has none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same address under another name.
    pub(crate) fn named(&self, name: &str) -> Self {
        let name = text::clean(name);
        if name.is_empty() {
            return self.clone();
        }
        let mailbox = Mailbox::new(Some(name.clone()), self.mailbox.email.clone());
        Self { mailbox, name }
    }

    pub(crate) fn mailbox(&self) -> Mailbox {
        self.mailbox.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailboxes_are_read() {
        let art = Sender::parse("Art <art@example.org>").unwrap();
        assert_eq!(
            (art.name(), art.address(), art.host()),
            ("Art", "art@example.org", "example.org")
        );
        let bare = Sender::parse(" art@example.org ").unwrap();
        assert_eq!((bare.name(), bare.address()), ("example.org", "art@example.org"));
    }

    #[test]
    fn a_domain_of_another_script_is_sent_in_its_ascii_form() {
        let art = Sender::parse("Art <art@Bücher.example>").unwrap();
        assert_eq!(art.address(), "art@xn--bcher-kva.example");
        assert_eq!(art.host(), "xn--bcher-kva.example");
    }

    #[test]
    fn what_is_no_mailbox_is_refused() {
        for text in ["", "Art", "art@", "@example.org", "a@b\r\nBcc: c@d", "Art <art@example.org"] {
            assert!(matches!(Sender::parse(text), Err(SenderError::Mailbox(_))), "{text:?}");
        }
        assert!(matches!(Sender::parse("ärt@example.org"), Err(SenderError::NotAscii(_))));
        assert!(matches!(Sender::parse("art@192.0.2.1"), Err(SenderError::NoDomain(_))));
    }
}
