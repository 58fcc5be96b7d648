//! Bounds of texts, and checks of objects' addresses.
//!
//! An address is handed on to mails and, over inboxes, to browsers. So it must not run anything and
//! not look like a path of the host's own site where it leads elsewhere. Browsers leave out control
//! characters and outer spaces, and read a backslash as a slash; what relies on that is refused.

use super::fault::Fault;
use crate::wording::quoted;

/// The most bytes of an address.
const ADDRESS_BYTES_MAX: usize = 2 << 10;
/// The schemes that an address may have.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// Refuses a text of more than so many bytes.
pub(super) fn within(text: &str, most: usize) -> Result<(), Fault> {
    if text.len() <= most {
        return Ok(());
    }
    let reason = format!("has {} bytes, more than {most}", text.len());
    Err(Fault::new(reason, "write a shorter one"))
}

/// Refuses an address that is too long, or neither `http`, `https`, `mailto` nor relative.
pub(super) fn check(address: &str) -> Result<(), Fault> {
    within(address, ADDRESS_BYTES_MAX)?;
    let fault = |why: &str| {
        let reason = format!("= {} {why}", quoted(address));
        let hint = "write an address that begins with `https://`, `http://` or `mailto:`, or a path \
                    such as `/works/1`";
        Err(Fault::new(reason, hint))
    };
    if address.chars().any(char::is_control) {
        return fault("has a control character");
    }
    if address.trim() != address {
        return fault("begins or ends with a space");
    }
    let is_slash = |c: char| matches!(c, '/' | '\\');
    if address.chars().take(2).filter(|c| is_slash(*c)).count() == 2 {
        return fault("begins with two slashes, and names another host without a scheme");
    }
    let first = address.find([':', '/', '\\', '?', '#']);
    let Some((scheme, rest)) = first.and_then(|at| {
        address
            .split_at(at)
            .1
            .strip_prefix(':')
            .map(|rest| (&address[..at], rest))
    }) else {
        return Ok(());
    };
    let known = SCHEMES
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(scheme));
    match known {
        None => fault("has a scheme other than `http`, `https` and `mailto`"),
        Some("mailto") => Ok(()),
        Some(_) => {
            let host = rest.strip_prefix("//").unwrap_or_default();
            if host.is_empty() || host.starts_with(['/', '\\', '?', '#']) {
                return fault("names no host");
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_web_of_mail_and_of_the_own_site_are_taken() {
        for address in [
            "https://example.org",
            "HTTP://example.org:8080/a?b=c#d",
            "https://example.org/a:b",
            "mailto:ana@example.org",
            "MailTo:ana@example.org?subject=x",
            "/works/1",
            "/works/a:1",
            "works/a:1",
            "?page=2",
            "#top",
            "works",
            "",
            "https://example.org/é",
        ] {
            assert_eq!(check(address), Ok(()), "{address:?}");
        }
    }

    #[test]
    fn addresses_that_run_or_mislead_are_refused() {
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " javascript:alert(1)",
            "\tjavascript:alert(1)",
            "java\tscript:alert(1)",
            "java\nscript:alert(1)",
            "\u{1}javascript:alert(1)",
            "\u{a0}javascript:alert(1)",
            "\u{feff}javascript:alert(1)",
            "javascript://example.org/%0aalert(1)",
            "data:text/html,<script>alert(1)</script>",
            "DATA:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "blob:https://example.org/1",
            "ftp://example.org",
            "//example.org",
            "\\\\example.org",
            "/\\example.org",
            "\\/example.org",
            "https:example.org",
            "https://",
            "https:///example.org",
            "http:/example.org",
            "https://?x",
            ":x",
            "https://example.org/\r\nX: y",
            "https://example.org ",
            "works:1",
        ] {
            assert!(check(address).is_err(), "{address:?}");
        }
    }

    #[test]
    fn bounds_are_those_of_bytes() {
        assert_eq!(within(&"é".repeat(512), 1024), Ok(()));
        let fault = within(&"é".repeat(513), 1024).unwrap_err();
        assert_eq!(fault.reason, "has 1026 bytes, more than 1024");
        let address = |bytes: usize| format!("/{}", "a".repeat(bytes - 1));
        assert_eq!(check(&address(2048)), Ok(()));
        assert!(check(&address(2049)).is_err());
    }
}
