//! Addresses of pages and pictures. What is taken in is checked by the function that makes links of it, so that
//! nothing is accepted that a message then leaves out.

use std::net::Ipv6Addr;

/// Maximum number of bytes of an address, as it is given and as a link.
const ADDRESS_BYTES_MAX: usize = 2 << 10;

/// An address that can be a link, with everything percent-encoded that no URI has (RFC 3987, section 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkAddress {
    /// An `http` or `https` address.
    Web(String),
    /// A `mailto` address.
    Mail(String),
    /// A path after the address of the host's own site.
    Relative(String),
}

/// The reason why an address can't be a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is too long.
    #[error("has {0} bytes as a link, more than {ADDRESS_BYTES_MAX}")]
    Length(usize),
    /// It has a control character. Browsers leave those out, so that another address is left.
    #[error("has a control character")]
    Control,
    /// It has space around it, which browsers leave out, too.
    #[error("begins or ends with a space")]
    Space,
    /// It begins with two slashes; browsers read a backslash as one.
    #[error("begins with two slashes, and names another host without a scheme")]
    Slashes,
    /// It might run something, or read a file.
    #[error("has a scheme other than `http`, `https` and `mailto`")]
    Scheme,
    /// It names no host.
    #[error("names no host")]
    NoHost,
    /// It names a user before the host, and so looks as if it led to where it does not.
    #[error("has a user or a password before the host")]
    Login,
    /// Its host is no name and no number, or its port is none.
    #[error("has a host that is no name and no number")]
    Host,
}

impl LinkAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// [`AddressError`] is the reason why it can't be a link.
    ///
    /// # Examples
    /// ```
    /// use tidings_mail::{AddressError, LinkAddress};
    ///
    /// let address = LinkAddress::parse("https://example.org/Plan final.pdf");
    /// let link = "https://example.org/Plan%20final.pdf".to_owned();
    /// assert_eq!(address, Ok(LinkAddress::Web(link)));
    /// assert_eq!(LinkAddress::parse("javascript:alert(1)"), Err(AddressError::Scheme));
    /// ```
    pub fn parse(address: &str) -> Result<Self, AddressError> {
        if address.chars().any(char::is_control) {
            return Err(AddressError::Control);
        }
        if address.trim() != address || address.contains('\u{feff}') {
            return Err(AddressError::Space);
        }
        let is_slash = |c: char| matches!(c, '/' | '\\');
        if address.chars().take(2).filter(|c| is_slash(*c)).count() == 2 {
            return Err(AddressError::Slashes);
        }
        let parsed = match scheme(address) {
            None => Self::Relative(encoded(address)),
            Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
                "mailto" => Self::Mail(format!("mailto:{}", encoded(rest))),
                scheme @ ("http" | "https") => Self::Web(web_link(scheme, rest)?),
                _ => return Err(AddressError::Scheme),
            },
        };
        let (Self::Web(link) | Self::Mail(link) | Self::Relative(link)) = &parsed;
        match address.len().max(link.len()) {
            ..=ADDRESS_BYTES_MAX => Ok(parsed),
            bytes => Err(AddressError::Length(bytes)),
        }
    }

    /// The link, of a relative address on the site of this base; `None` where there is no base.
    fn link(self, base: Option<&str>) -> Option<String> {
        match self {
            Self::Web(link) | Self::Mail(link) => Some(link),
            Self::Relative(path) => {
                let base = base?.trim_end_matches('/');
                Some(format!("{base}/{}", path.trim_start_matches('/')))
            }
        }
    }
}

/// A scheme and what follows it.
fn scheme(address: &str) -> Option<(&str, &str)> {
    let at = address.find([':', '/', '\\', '?', '#'])?;
    let rest = address[at..].strip_prefix(':')?;
    Some((&address[..at], rest))
}

fn web_link(scheme: &str, rest: &str) -> Result<String, AddressError> {
    let rest = rest.strip_prefix("//").ok_or(AddressError::NoHost)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority {
        "" => Err(AddressError::NoHost),
        _ if authority.contains('\\') => Err(AddressError::Host),
        _ if authority.contains('@') => Err(AddressError::Login),
        _ => {
            let authority = host(authority).ok_or(AddressError::Host)?;
            Ok(format!("{scheme}://{authority}{}", encoded(path)))
        }
    }
}

/// A name in ASCII or a number, with its port where it has one.
fn host(authority: &str) -> Option<String> {
    let (name, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (number, port) = rest.split_once(']')?;
            (format!("[{}]", number.parse::<Ipv6Addr>().ok()?), port)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            let (name, port) = authority.split_at(end);
            (host_name(name)?, port)
        }
    };
    let is_port = match port.strip_prefix(':') {
        Some(digits) => {
            digits.bytes().all(|byte| byte.is_ascii_digit())
                && (digits.is_empty() || digits.parse::<u16>().is_ok())
        }
        None => port.is_empty(),
    };
    is_port.then(|| name + port)
}

fn host_name(name: &str) -> Option<String> {
    let name = if name.is_ascii() { name.to_owned() } else { idna::domain_to_ascii(name).ok()? };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let is_host =
        name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_name);
    is_host.then_some(name)
}

/// A text with everything percent-encoded that no URI has; a percent sign that encodes nothing, too.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let is_digit = |place: usize| text.as_bytes().get(place).is_some_and(u8::is_ascii_hexdigit);
        let is_kept = match c {
            '%' => is_digit(at + 1) && is_digit(at + 2),
            _ => c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=".contains(c),
        };
        if is_kept {
            out.push(c);
            continue;
        }
        let mut bytes = [0; 4];
        for byte in c.encode_utf8(&mut bytes).bytes() {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The link to an absolute `http` or `https` address; `None` for any other.
#[must_use]
pub fn web(address: &str) -> Option<String> {
    match LinkAddress::parse(address) {
        Ok(LinkAddress::Web(link)) => Some(link),
        _ => None,
    }
}

/// The link to a page, which may be relative to the public address.
pub(crate) fn page(address: &str, base: Option<&str>) -> Option<String> {
    LinkAddress::parse(address).ok()?.link(base)
}

/// The address of a picture, which must use `https`, since mail programs block others; or be on this machine, where
/// only its developer sees it.
#[must_use]
pub fn picture(address: &str) -> Option<String> {
    web(address).filter(|link| link.starts_with("https://") || is_here(link))
}

/// Returns true if a link leads to this machine.
fn is_here(link: &str) -> bool {
    let host = link.strip_prefix("http://").unwrap_or_default();
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.split_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_web_addresses_pass() {
        for (address, link) in [
            ("https://example.org", "https://example.org"),
            ("HTTP://example.org:8080/a?b=c&d=e#f", "http://example.org:8080/a?b=c&d=e#f"),
            ("http://[::1]/", "http://[::1]/"),
            ("http://[2001:DB8::1]:80?a", "http://[2001:db8::1]:80?a"),
            ("https://bücher.example/é", "https://xn--bcher-kva.example/%C3%A9"),
            ("https://example.org:", "https://example.org:"),
        ] {
            assert_eq!(web(address).as_deref(), Some(link));
        }
        assert_eq!(picture("http://example.org/a.jpg"), None);
        assert_eq!(picture("http://127.0.0.1.example.org/a.jpg"), None);
        assert!(picture("http://127.0.0.1:8990/a.jpg").is_some());
        assert_eq!(web("/works/1"), None);
        assert_eq!(web("mailto:ana@example.org"), None);
    }

    #[test]
    fn field_6_what_no_uri_has_is_percent_encoded() {
        for (given, link) in [
            ("f/Plan final.pdf", "f/Plan%20final.pdf"),
            ("o'neil", "o'neil"),
            ("a|b^c`d", "a%7Cb%5Ec%60d"),
            ("{id}", "%7Bid%7D"),
            ("\"<>", "%22%3C%3E"),
            ("a\u{a0}b", "a%C2%A0b"),
            ("山?q=川", "%E5%B1%B1?q=%E5%B7%9D"),
            ("🎨", "%F0%9F%8E%A8"),
            ("a\\b", "a%5Cb"),
            ("100%?x=%2", "100%25?x=%252"),
            ("a%20b%C3%a9", "a%20b%C3%a9"),
            ("(a),;=+!*$@:[1]~", "(a),;=+!*$@:[1]~"),
        ] {
            for begin in ["https://example.org/", "mailto:", "/"] {
                let address = format!("{begin}{given}");
                let link = format!("{begin}{link}");
                let (LinkAddress::Web(parsed)
                | LinkAddress::Mail(parsed)
                | LinkAddress::Relative(parsed)) = LinkAddress::parse(&address).unwrap();
                assert_eq!(parsed, link);
                let again = LinkAddress::parse(&parsed).unwrap();
                assert_eq!(again, LinkAddress::parse(&address).unwrap(), "encoded once");
            }
        }
    }

    #[test]
    fn relative_addresses_begin_with_the_public_one() {
        let base = Some("https://example.org/art/");
        for (address, link) in [
            ("/works/1", "https://example.org/art/works/1"),
            ("works/1?a=b", "https://example.org/art/works/1?a=b"),
            ("/works/a:1", "https://example.org/art/works/a:1"),
            ("?page=2", "https://example.org/art/?page=2"),
            ("", "https://example.org/art/"),
            ("https://other.org/x", "https://other.org/x"),
            ("MAILTO:a@b.org?subject=a b", "mailto:a@b.org?subject=a%20b"),
        ] {
            assert_eq!(page(address, base).as_deref(), Some(link));
        }
        assert_eq!(page("/works/1", None), None);
    }

    #[test]
    fn everything_else_is_refused() {
        use AddressError::{Control, Host, Length, Login, NoHost, Scheme, Slashes, Space};

        for (address, fault) in [
            ("//example.org", Slashes),
            ("/\\example.org", Slashes),
            ("javascript:alert(1)", Scheme),
            ("javascript://example.org/%0aalert(1)", Scheme),
            ("data://x", Scheme),
            ("file:///etc/passwd", Scheme),
            ("works:1", Scheme),
            ("https://", NoHost),
            ("https:example.org", NoHost),
            ("https:///a", NoHost),
            ("https://?x", NoHost),
            ("https://example.org/\r\nX: y", Control),
            ("mailto:a@b.org\n", Control),
            (" https://example.org", Space),
            ("\u{feff}javascript:alert(1)", Space),
            ("https://good.example@bad.example/", Login),
            ("https://a:b@example.org/", Login),
            ("https://example.org\\@bad.example", Host),
            ("https://{{host}}/", Host),
            ("https://a b/", Host),
            ("https://a%20b/", Host),
            ("https://-a.example/", Host),
            ("https://a.example:x/", Host),
            ("https://a.example:70000/", Host),
            ("https://[::1/", Host),
            ("https://[a]/", Host),
            ("https://\u{202e}a.example/", Host),
        ] {
            assert_eq!(LinkAddress::parse(address), Err(fault), "{address:?}");
        }
        let long = |text: &str, count: usize| LinkAddress::parse(&text.repeat(count));
        assert!(long("a", 2_048).is_ok());
        assert_eq!(long("a", 2_049), Err(Length(2_049)));
        assert!(long("é", 341).is_ok());
        assert_eq!(long("é", 342), Err(Length(2_052)));
    }
}
