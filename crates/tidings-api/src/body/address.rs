//! Bounds of texts, and checks of objects' addresses.
//!
//! An address is passed on to mails and, by inboxes, to browsers. So it must not run anything, nor look like a path of
//! the host's own site and lead elsewhere; and the function that builds links for messages must accept it.

use tidings_config::wording::quoted;
use tidings_mail::{AddressError, LinkAddress};

use super::fault::Fault;

/// Refuses a text of more than `most` bytes.
pub(super) fn within(text: &str, most: usize) -> Result<(), Fault> {
    if text.len() <= most {
        return Ok(());
    }
    let reason = format!("has {} bytes, more than {most}", text.len());
    Err(Fault::new(reason, "write a shorter one"))
}

/// Refuses an address that messages can't link to.
pub(super) fn check(address: &str) -> Result<(), Fault> {
    let Err(error) = LinkAddress::parse(address) else {
        return Ok(());
    };
    let reason = match error {
        // It would fill the answer.
        AddressError::Length(_) => error.to_string(),
        _ => format!("= {} {error}", quoted(address)),
    };
    let hint = match error {
        AddressError::Length(_) => {
            "write a shorter one; each byte of what is not ASCII counts three times"
        }
        AddressError::Login => "leave out what stands before the `@`",
        AddressError::Host => {
            "write a host such as `example.org` or `example.org:8080`, and encode what is no name"
        }
        _ => {
            "write an address that begins with `https://`, `http://` or `mailto:`, or a path such as \
             `/works/1`"
        }
    };
    Err(Fault::new(reason, hint))
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
            "https://example.org/f/Plan final.pdf",
            "o'neil",
            "/a|b{c}^d\\e\"f<g>",
            "https://bücher.example/",
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
            "https://a:b@example.org/",
            "https://good.example@bad.example/",
            "https://example.org\\@bad.example",
            "https://{host}/",
            "https://example.org:port/",
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
        let fault = check(&"é".repeat(342)).unwrap_err();
        assert_eq!(fault.reason, "has 2052 bytes as a link, more than 2048");
    }
}
