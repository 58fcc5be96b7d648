//! The address of the console and names of its host.

use std::net::Ipv6Addr;

use tidings_core::rules::{CONSOLE_PATH, ConsoleUrl};

/// The most bytes of the name of a host (RFC 1035).
const HOST_BYTES_MAX: usize = 253;

/// The beginnings of paths that the server has for something else.
const TAKEN: [&str; 15] = [
    "_inbox", "_mail", "cluster", "docs", "errors", "feedback", "healthz", "llms.txt", "mcp",
    "metrics", "more", "readyz", "u", "ui", "v1",
];

/// Reads the address of the console.
///
/// # Errors
/// Its fault. The text before an `@` may be a password: it is not repeated.
pub(super) fn read_url(text: &str) -> Result<ConsoleUrl, String> {
    let no_url = || "is no http or https URL".to_owned();
    let (is_https, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return Err(no_url()),
    };
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    // The colons of an address of IPv6 are in brackets.
    let end = place.rfind(']').unwrap_or_default();
    let (host, port) = match place[end..].rfind(':').map(|at| place.split_at(end + at)) {
        Some((host, port)) => (host, Some(read_port(&port[1..]).ok_or_else(no_url)?)),
        None => (place, None),
    };
    let host = host_name(host).ok_or_else(no_url)?;
    let usual = if is_https { 443 } else { 80 };
    let port = port.filter(|port| *port != usual);
    Ok(ConsoleUrl { is_https, host, port, path: read_path(path)? })
}

fn read_port(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port > 0)
}

/// Reads a path without its first slash.
fn read_path(path: &str) -> Result<String, String> {
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(CONSOLE_PATH.to_owned());
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let is_segment =
        |segment: &str| !matches!(segment, "" | "." | "..") && segment.bytes().all(is_plain);
    if !path.split('/').all(is_segment) {
        return Err("has a path that is none of letters, digits, `-`, `.`, `_` and `~`".to_owned());
    }
    let first = path.split('/').next().unwrap_or_default();
    if TAKEN.contains(&first) {
        return Err(format!("is where the server has other pages: `/{first}`"));
    }
    Ok(format!("/{path}"))
}

/// Reads the name of a host, in small letters.
pub(super) fn host_name(text: &str) -> Option<String> {
    if let Some(address) = text.strip_prefix('[') {
        let address: Ipv6Addr = address.strip_suffix(']')?.parse().ok()?;
        return Some(format!("[{address}]"));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let is_name = text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.len() <= HOST_BYTES_MAX
        && text.bytes().all(is_plain);
    is_name.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let ConsoleUrl { is_https, host, port, path } = read_url(text).ok()?;
        let port = port.map_or(String::new(), |port| format!(":{port}"));
        Some(format!("{}{host}{port}{path}", if is_https { "" } else { "plain " }))
    }

    #[test]
    fn an_address_has_a_scheme_a_host_and_a_path() {
        for (text, expected) in [
            ("https://tidings.example.org/console", "tidings.example.org/console"),
            ("https://Tidings.Example.org", "tidings.example.org/console"),
            ("https://tidings.example.org/", "tidings.example.org/console"),
            ("https://example.org:8443/ops/tidings/", "example.org:8443/ops/tidings"),
            ("https://example.org:443/ops", "example.org/ops"),
            ("http://127.0.0.1:8990/console", "plain 127.0.0.1:8990/console"),
            ("http://[0::1]:80/console", "plain [::1]/console"),
            ("http://[::1]:8990", "plain [::1]:8990/console"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "/console",
            "tidings.example.org",
            "ftp://example.org",
            "https://",
            "https:///console",
            "https://ann:hunter2@example.org/console",
            "https://example.org:0/console",
            "https://example.org:+8/console",
            "https://example.org:65536",
            "https://bücher.example/console",
            "https://example.org/console?a=1",
            "https://example.org/console#a",
            "https://example.org//console",
            "https://example.org/a/../b",
            "https://example.org/a b",
            "https://[::1/console",
            "https://example.org/v1",
            "https://example.org/v1/console",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
        let fault = read_url("https://ann:hunter2@example.org").unwrap_err();
        assert!(!fault.contains("hunter2"), "{fault}");
    }
}
