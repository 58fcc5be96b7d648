//! The tag of a mail, which identifies its message in headers and in the address for bounces.
//!
//! A report about a mail has its tag. A tag is short and has no capitals, since it is part of a local part; its end is
//! an authentication code, so that reports about other people's mails can't be forged.

use tidings_core::model::{ChannelAddress, ChannelNo, MessageName};

use crate::message::address::LOCAL_BYTES_MAX;
use crate::message::token::TokenKey;

/// The header that names the message, for reports about the mail.
pub const MESSAGE_HEADER: &str = "X-Tidings-Message";

/// Number of digits of the hash of an address, and of the authentication code.
const ADDRESS_DIGITS: usize = 6;
const CODE_DIGITS: usize = 16;

/// The message that a mail is, and a hash of the address to which it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailTag {
    /// The message.
    pub message: MessageName,
    address: String,
}

impl MailTag {
    /// The tag of a message to an address.
    #[must_use]
    pub fn new(message: MessageName, channel: ChannelNo, address: &str, key: &TokenKey) -> Self {
        let compared = ChannelAddress::new(channel, address);
        let address = key.code("address", compared.address(), ADDRESS_DIGITS);
        Self { message, address }
    }

    /// Returns true if the message went to an address.
    #[must_use]
    pub fn is_of(&self, channel: ChannelNo, address: &str, key: &TokenKey) -> bool {
        *self == Self::new(self.message, channel, address, key)
    }

    /// The tag as text.
    #[must_use]
    pub fn seal(&self, key: &TokenKey) -> String {
        let named = format!("{}.{}", self.message, self.address);
        let code = key.code("message", &named, CODE_DIGITS);
        format!("{named}.{code}")
    }

    /// The first tag in a text by this key.
    #[must_use]
    pub fn find(key: &TokenKey, text: &str) -> Option<Self> {
        let is_apart = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
        text.split(is_apart).find_map(|word| {
            let (named, _) = word.rsplit_once('.')?;
            let (name, address) = named.rsplit_once('.')?;
            let found = Self { message: name.parse().ok()?, address: address.to_ascii_lowercase() };
            word.eq_ignore_ascii_case(&found.seal(key)).then_some(found)
        })
    }

    /// The address to which bounces of the mail go: that of all bounces with the tag in it, if there is room.
    pub(crate) fn return_path(sealed: &str, bounces: &str) -> String {
        match bounces.rsplit_once('@') {
            Some((local, host)) if local.len() + 1 + sealed.len() <= LOCAL_BYTES_MAX => {
                format!("{local}+{sealed}@{host}")
            }
            _ => bounces.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::model::EMAIL_NO;

    use super::*;
    use crate::message::token::SECRET_BYTES;

    fn tag(key: &TokenKey) -> MailTag {
        let message = "2024-03-07.3.12.77".parse().unwrap();
        MailTag::new(message, EMAIL_NO, "Ada@Example.org", key)
    }

    #[test]
    fn a_tag_is_found_wherever_it_stands() {
        let key = TokenKey::new(&[1; SECRET_BYTES]);
        let tag = tag(&key);
        let sealed = tag.seal(&key);
        let path = MailTag::return_path(&sealed, "bounces@example.org");
        assert_eq!(path, format!("bounces+{sealed}@example.org"));
        for text in [sealed, format!("<{path}>"), format!("\"{}\" <{}>", "b", path.to_uppercase())]
        {
            assert_eq!(MailTag::find(&key, &text), Some(tag.clone()), "{text}");
        }
        assert!(tag.is_of(EMAIL_NO, "ada@example.org", &key));
        assert!(!tag.is_of(EMAIL_NO, "bob@example.org", &key));
    }

    #[test]
    fn a_tag_that_was_made_up_is_none() {
        let key = TokenKey::new(&[1; SECRET_BYTES]);
        let sealed = tag(&key).seal(&key);
        let other = TokenKey::new(&[2; SECRET_BYTES]);
        assert_eq!(MailTag::find(&other, &sealed), None);
        let another = sealed.replace("2024-03-07", "2024-03-08");
        for odd in ["", ".", "..", "a@b.c", &another, &sealed[1..]] {
            assert_eq!(MailTag::find(&key, odd), None, "{odd}");
        }
    }

    #[test]
    fn an_address_without_room_stays_as_it_is() {
        let long = format!("{}@example.org", "b".repeat(30));
        assert_eq!(MailTag::return_path(&"m".repeat(40), &long), long);
    }
}
