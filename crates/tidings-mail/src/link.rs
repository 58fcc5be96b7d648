//! Links in mails: absolute web addresses only, nothing that runs or reads files.

/// Longer addresses are left out: mail programs and gateways cut them.
const LINK_BYTES_MAX: usize = 2_000;

/// The address if it is an unambiguous absolute `http` or `https` one, else `None`. What is not ASCII in
/// path and query is percent-encoded (RFC 3987, section 3.1).
#[must_use]
pub fn web(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "http" && scheme != "https" {
        return None;
    }
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(host_end);
    let is_refused = match path.is_ascii() {
        true => path.bytes().any(|byte| is_refused(char::from(byte))),
        false => path.chars().any(is_refused),
    };
    if !is_host(host) || is_refused {
        return None;
    }
    let mut link = format!("{scheme}://{host}");
    let (plain, rest) = path.split_at(path.bytes().take_while(u8::is_ascii).count());
    link.push_str(plain);
    for byte in rest.bytes() {
        if byte.is_ascii() {
            link.push(char::from(byte));
        } else {
            link.push_str(&format!("%{byte:02X}"));
        }
    }
    (link.len() <= LINK_BYTES_MAX).then_some(link)
}

/// The address of a page, which may be relative to the public one.
pub(crate) fn page(address: &str, base: Option<&str>) -> Option<String> {
    let is_relative = !address.contains(':') && !address.starts_with("//");
    match base.filter(|_| is_relative) {
        Some(base) => {
            let base = base.trim_end_matches('/');
            web(&format!("{base}/{}", address.trim_start_matches('/')))
        }
        None => web(address),
    }
}

/// The address of a picture, which must use `https`, since mail programs block others; or be on this machine, where
/// only its developer sees it.
#[must_use]
pub fn picture(address: &str) -> Option<String> {
    web(address).filter(|link| link.starts_with("https://") || is_here(link))
}

/// Tells whether a link leads to this machine.
fn is_here(link: &str) -> bool {
    let host = link.strip_prefix("http://").unwrap_or_default();
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.split_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1")
}

/// A name or number with an optional port. A user before the host is refused: such an address looks
/// as if it led to where it does not.
fn is_host(host: &str) -> bool {
    let starts_well = host
        .chars()
        .next()
        .is_some_and(|c| c.is_alphanumeric() || c == '[');
    starts_well
        && host
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '[' | ']'))
}

fn is_refused(c: char) -> bool {
    c <= ' '
        || c >= '\u{7f}' && (c.is_control() || c.is_whitespace())
        || matches!(
            c,
            '"' | '\'' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_web_addresses_pass() {
        for (address, link) in [
            ("https://example.org", "https://example.org"),
            (
                "HTTP://example.org:8080/a?b=c&d=e#f",
                "http://example.org:8080/a?b=c&d=e#f",
            ),
            ("https://example.org/é", "https://example.org/%C3%A9"),
            ("http://[::1]/", "http://[::1]/"),
        ] {
            assert_eq!(web(address).as_deref(), Some(link));
        }
        assert_eq!(picture("http://example.org/a.jpg"), None);
        assert_eq!(picture("http://127.0.0.1.example.org/a.jpg"), None);
        assert!(picture("http://127.0.0.1:8990/a.jpg").is_some());
    }

    #[test]
    fn relative_addresses_begin_with_the_public_one() {
        let base = Some("https://example.org/art/");
        for (address, link) in [
            ("/works/1", "https://example.org/art/works/1"),
            ("works/1?a=b", "https://example.org/art/works/1?a=b"),
            ("https://other.org/x", "https://other.org/x"),
        ] {
            assert_eq!(page(address, base).as_deref(), Some(link));
        }
        for address in [
            "//other.org",
            "javascript:alert(1)",
            "mailto:a@b.org",
            "a b",
        ] {
            assert_eq!(page(address, base), None, "{address}");
        }
        assert_eq!(page("/works/1", None), None);
    }

    #[test]
    fn everything_else_is_left_out() {
        for address in [
            "",
            "/works/1",
            "//example.org",
            "example.org",
            "javascript:alert(1)",
            "https://",
            "javascript://example.org/%0aalert(1)",
            "data://x",
            "file:///etc/passwd",
            "https:///a",
            "https://example.org/a b",
            "https://example.org/\"onclick=",
            "https://example.org/\r\nX: y",
            "https://good.example@bad.example/",
            "https://example.org\\@bad.example",
            "https://{{host}}/",
            " https://example.org",
        ] {
            assert_eq!(web(address), None, "{address:?}");
        }
        assert_eq!(
            web(&format!("https://example.org/{}", "a".repeat(2_000))),
            None
        );
    }
}
