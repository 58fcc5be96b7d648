//! Mail addresses: what can be sent to, how servers take it, and which of them are the same mailbox.

use core::net::{Ipv4Addr, Ipv6Addr};

/// The most bytes of the part before the `@` (RFC 5321, section 4.5.3.1.1).
const LOCAL_BYTES_MAX: usize = 64;
/// The most bytes of a domain.
const DOMAIN_BYTES_MAX: usize = 253;
/// The most bytes of a label of one.
const LABEL_BYTES_MAX: usize = 63;

/// A mail address in the form in which servers take it.
///
/// # Examples
/// ```
/// use tidings_core::model::Mailbox;
///
/// let docomo = Mailbox::parse("a..b.c@docomo.ne.jp").map(|mailbox| mailbox.to_string());
/// assert_eq!(docomo.as_deref(), Ok("\"a..b.c\"@docomo.ne.jp"));
/// let idn = Mailbox::parse("Ana@Bücher.example").map(|mailbox| mailbox.compared());
/// assert_eq!(idn.as_deref(), Ok("ana@xn--bcher-kva.example"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailbox {
    local: String,
    domain: String,
}

/// The reason why a text is not a mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAMailbox {
    /// It has no `@` with something on either side.
    #[error("it needs one `@`, with something before and after it")]
    At,
    /// It begins with `mailto:`.
    #[error("it begins with `mailto:`: leave that out")]
    Mailto,
    /// A character before the `@` that can't be there.
    #[error(
        "it has a character that a mail address can't have, such as a space or an invisible one"
    )]
    Character,
    /// The part before the `@` is too long.
    #[error("the part before the `@` has more than 64 bytes")]
    LocalTooLong,
    /// Two dots side by side in the domain, or one at an end.
    #[error("its domain has a dot too many")]
    Dot,
    /// A part of the domain is too long.
    #[error("a part of its domain has more than 63 characters, or all of it more than 253")]
    DomainTooLong,
    /// The domain is none.
    #[error("its domain is not one")]
    Domain,
}

impl Mailbox {
    /// Reads an address. The local part is quoted where servers need that: Japanese carriers have given mailboxes with
    /// dots side by side or at an end (RFC 5321, section 4.1.2, `Quoted-string`).
    ///
    /// # Errors
    /// [`NotAMailbox`] says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, NotAMailbox> {
        let (local, domain) = text.rsplit_once('@').ok_or(NotAMailbox::At)?;
        if local.is_empty() || domain.is_empty() {
            return Err(NotAMailbox::At);
        }
        let local = match unquoted(local) {
            Some(inner) => quoted(&inner?),
            None => plain(local)?,
        };
        if local.len() > LOCAL_BYTES_MAX {
            return Err(NotAMailbox::LocalTooLong);
        }
        let domain = domain_of(domain)?;
        Ok(Self { local, domain })
    }

    /// The part before the `@`, quoted where it has to be.
    #[must_use]
    pub fn local(&self) -> &str {
        &self.local
    }

    /// The domain in ASCII and small letters.
    #[must_use]
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The text that is the same for all spellings of a mailbox.
    #[must_use]
    pub fn compared(&self) -> String {
        let local = match unquoted(&self.local) {
            Some(Ok(inner)) => inner.to_lowercase(),
            _ => self.local.to_lowercase(),
        };
        format!("{local}@{}", self.domain)
    }
}

impl std::fmt::Display for Mailbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.local, self.domain)
    }
}

/// Returns true if a character may stand unquoted before the `@` (RFC 5321, `atext`, and RFC 6532).
fn is_plain(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c)
    } else {
        is_visible(c)
    }
}

/// Returns true if a character beyond ASCII is neither a control, a space nor invisible.
fn is_visible(c: char) -> bool {
    let is_hidden = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}'
    );
    !c.is_control() && !c.is_whitespace() && !is_hidden
}

fn plain(local: &str) -> Result<String, NotAMailbox> {
    if let Some(bad) = local.chars().find(|c| *c != '.' && !is_plain(*c)) {
        let is_mailto = bad == ':' && local.to_ascii_lowercase().starts_with("mailto:");
        return Err(match (is_mailto, bad) {
            (true, _) => NotAMailbox::Mailto,
            (_, '@') => NotAMailbox::At,
            _ => NotAMailbox::Character,
        });
    }
    Ok(if local.split('.').any(str::is_empty) { quoted(local) } else { local.to_owned() })
}

/// The text between quotes; `None` = there are none.
fn unquoted(local: &str) -> Option<Result<String, NotAMailbox>> {
    let inner = local.strip_prefix('"')?;
    let Some(inner) = inner.strip_suffix('"') else {
        return Some(Err(NotAMailbox::Character));
    };
    let mut text = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(c) = letters.next() {
        let c = match c {
            '\\' => letters.next(),
            '"' => None,
            other => Some(other),
        };
        // A space would be good mail, and is a slip nearly always.
        match c.filter(|c| c.is_ascii_graphic() || (!c.is_ascii() && is_visible(*c))) {
            Some(c) => text.push(c),
            None => return Some(Err(NotAMailbox::Character)),
        }
    }
    Some(if text.is_empty() { Err(NotAMailbox::At) } else { Ok(text) })
}

/// A text before the `@`, quoted unless it needs no quotes.
fn quoted(text: &str) -> String {
    let is_dotted = text.split('.').all(|word| !word.is_empty() && word.chars().all(is_plain));
    if is_dotted {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn domain_of(domain: &str) -> Result<String, NotAMailbox> {
    if let Some(literal) = domain.strip_prefix('[') {
        let literal = literal.strip_suffix(']').ok_or(NotAMailbox::Domain)?;
        let is_address = match literal.strip_prefix("IPv6:") {
            Some(six) => six.parse::<Ipv6Addr>().is_ok(),
            None => literal.parse::<Ipv4Addr>().is_ok(),
        };
        return if is_address { Ok(domain.to_owned()) } else { Err(NotAMailbox::Domain) };
    }
    if domain.split('.').any(str::is_empty) {
        return Err(NotAMailbox::Dot);
    }
    let ascii = if domain.is_ascii() {
        domain.to_ascii_lowercase()
    } else {
        let is_hidden = |c: char| !c.is_ascii() && !is_visible(c);
        if domain.chars().any(is_hidden) {
            return Err(NotAMailbox::Character);
        }
        idna::domain_to_ascii(domain).map_err(|_| NotAMailbox::Domain)?
    };
    if ascii.split('.').any(str::is_empty) {
        return Err(NotAMailbox::Dot);
    }
    let is_long = |label: &str| label.len() > LABEL_BYTES_MAX;
    if ascii.len() > DOMAIN_BYTES_MAX || ascii.split('.').any(is_long) {
        return Err(NotAMailbox::DomainTooLong);
    }
    let is_label = |label: &str| {
        let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        label.bytes().all(is_letter) && !label.starts_with('-') && !label.ends_with('-')
    };
    if ascii.split('.').all(is_label) { Ok(ascii) } else { Err(NotAMailbox::Domain) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(text: &str) -> Result<String, NotAMailbox> {
        Mailbox::parse(text).map(|mailbox| mailbox.to_string())
    }

    #[test]
    fn field_10_what_servers_take_is_taken_and_quoted_where_it_must_be() {
        for (text, expected) in [
            ("a@b", "a@b"),
            ("ann.o'neil+x@Example.org", "ann.o'neil+x@example.org"),
            ("a..b.c@docomo.ne.jp", "\"a..b.c\"@docomo.ne.jp"),
            ("x.y.@docomo.ne.jp", "\"x.y.\"@docomo.ne.jp"),
            (".z@ezweb.ne.jp", "\".z\"@ezweb.ne.jp"),
            ("\"a..b\"@docomo.ne.jp", "\"a..b\"@docomo.ne.jp"),
            ("\"a.b\"@example.org", "a.b@example.org"),
            ("\"a@b\"@example.org", "\"a@b\"@example.org"),
            ("jörg@bücher.example", "jörg@xn--bcher-kva.example"),
            ("a@[192.0.2.1]", "a@[192.0.2.1]"),
        ] {
            assert_eq!(sent(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn field_10_what_can_not_be_sent_to_is_refused_with_its_reason() {
        let long_local = format!("{}@b.example", "a".repeat(65));
        let long_label = format!("a@{}.example", "b".repeat(64));
        let long_domain = format!("a@{}example", "bcd.".repeat(63));
        for (text, expected) in [
            ("", NotAMailbox::At),
            ("ann", NotAMailbox::At),
            ("@b", NotAMailbox::At),
            ("a@", NotAMailbox::At),
            ("a@b@c", NotAMailbox::At),
            ("mailto:ana@example.org", NotAMailbox::Mailto),
            ("\u{feff}ana@example.org", NotAMailbox::Character),
            ("ana@exam\u{200b}ple.org", NotAMailbox::Character),
            ("a b@example.org", NotAMailbox::Character),
            ("a@b,c@d", NotAMailbox::At),
            ("a\r\n@b", NotAMailbox::Character),
            ("\"a\"b\"@example.org", NotAMailbox::Character),
            ("ana@example..org", NotAMailbox::Dot),
            ("ana@example.org.", NotAMailbox::Dot),
            ("ana@.org", NotAMailbox::Dot),
            (&long_local, NotAMailbox::LocalTooLong),
            (&long_label, NotAMailbox::DomainTooLong),
            (&long_domain, NotAMailbox::DomainTooLong),
            ("ana@exam_ple.org", NotAMailbox::Domain),
            ("ana@-x.org", NotAMailbox::Domain),
            ("ana@[x]", NotAMailbox::Domain),
        ] {
            assert_eq!(sent(text), Err(expected), "{text:?}");
        }
    }

    #[test]
    fn field_2_all_spellings_of_a_mailbox_are_the_same() {
        for spellings in [
            &[
                "b@bücher.example",
                "B@BÜCHER.example",
                "b@xn--bcher-kva.example",
                "b@XN--BCHER-KVA.Example",
            ][..],
            &["a..b@docomo.ne.jp", "\"a..b\"@docomo.ne.jp", "\"A..B\"@Docomo.ne.jp"],
        ] {
            for text in spellings {
                let compared = Mailbox::parse(text).unwrap().compared();
                assert_eq!(compared, Mailbox::parse(spellings[0]).unwrap().compared());
                // And so is the compared one.
                assert_eq!(Mailbox::parse(&compared).unwrap().compared(), compared);
            }
        }
    }
}
