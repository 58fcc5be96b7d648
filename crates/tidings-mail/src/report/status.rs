//! Codes in what servers say: enhanced status codes (RFC 3463) and reply codes of SMTP.

use std::fmt;

/// An enhanced status code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EnhancedStatus(pub(crate) u8, pub(crate) u16, pub(crate) u16);

impl fmt::Display for EnhancedStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl EnhancedStatus {
    /// The code in a text: the first that follows a reply code, since that is the server's own; else the first.
    /// Numbers of another kind (addresses, versions) are none.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        let is_apart = |c: char| !(c.is_ascii_alphanumeric() || c == '.');
        let words: Vec<&str> = text
            .split(is_apart)
            .filter(|word| !word.is_empty())
            .map(|word| word.trim_end_matches('.'))
            .collect();
        let follows = words.windows(2).find_map(|pair| match *pair {
            [code, word] => is_reply_code(code).then(|| Self::parse(word)).flatten(),
            _ => None,
        });
        follows.or_else(|| words.iter().find_map(|word| Self::parse(word)))
    }

    fn parse(word: &str) -> Option<Self> {
        let mut parts = word.split('.').map(|part| {
            let is_number =
                (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse::<u16>().ok().filter(|_| is_number)
        });
        let mut part = || parts.next().flatten();
        let status = Self(u8::try_from(part()?).ok()?, part()?, part()?);
        (matches!(status.0, 2 | 4 | 5) && parts.next().is_none()).then_some(status)
    }

    /// The class: 2 (it succeeded), 4 (it did not yet) or 5 (it failed).
    #[must_use]
    pub fn class(self) -> u8 {
        self.0
    }

    /// Returns true if it has only its class.
    pub(super) fn is_general(self) -> bool {
        self.1 == 0 && self.2 == 0
    }

    /// Returns true if it has a detail about the way to the address, other than a policy that forbids the mail.
    pub(crate) fn is_of_the_address(self) -> bool {
        !matches!(self.1, 0 | 6 | 7)
    }

    /// Returns true if there is no such mailbox or no such host (RFC 3463, sections 3.2 and 3.5; 5.1.10 of RFC 7505).
    #[must_use]
    pub fn is_gone(self) -> bool {
        matches!(self, Self(5, 1, 1 | 2 | 3 | 6 | 10) | Self(5, 4, 4))
    }
}

/// The first reply code in a text.
pub(super) fn reply_code(text: &str) -> Option<u16> {
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || ".@_".contains(c)));
    let code = words.find(|word| is_reply_code(word))?;
    code.parse().ok()
}

/// Returns true if a word is a reply code of a failure (RFC 5321, section 4.2).
fn is_reply_code(word: &str) -> bool {
    let [b'4' | b'5', b'0'..=b'5', last] = word.as_bytes() else {
        return false;
    };
    last.is_ascii_digit()
}
