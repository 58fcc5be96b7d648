//! Origins of requests: the name under which one came in, and the page that made it.

use axum::http::header;
use axum::http::request::Parts;

use super::Place;

/// Returns true if a request came in under a name of the console, or of this machine. A page whose own name was
/// pointed here (DNS rebinding) has another.
pub(crate) fn is_host_ours(request: &Parts, is_ours: impl Fn(&str) -> bool) -> bool {
    let target = request.uri.authority().map(|authority| authority.as_str());
    let mut hosts = request.headers.get_all(header::HOST).into_iter();
    let host = match (hosts.next(), hosts.next()) {
        (host, None) => host.map(|host| host.to_str().unwrap_or_default()),
        (_, Some(_)) => return false,
    };
    let names = || target.into_iter().chain(host);
    names().next().is_some() && names().all(|name| is_ours(without_port(name)))
}

/// Returns true if a page of this origin made a request. Browsers that name no `Sec-Fetch-Site` name an `Origin`.
pub(crate) fn is_same_origin(request: &Parts, place: &Place) -> bool {
    let mut sites = request.headers.get_all("sec-fetch-site").into_iter();
    match (sites.next(), sites.next()) {
        (Some(site), None) => return site == "same-origin",
        (Some(_), Some(_)) => return false,
        (None, _) => {}
    }
    let Some(origin) = only_origin(request) else { return false };
    if place.origin.as_deref() == Some(origin) {
        return true;
    }
    let host = request.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let place = origin.split_once("://").map(|(_, place)| place);
    host.is_some_and(|host| place == Some(host))
}

/// Returns true if no page made a request, or one of this origin or of a host that the server is known by.
pub(crate) fn is_page_ours(request: &Parts, place: &Place, is_ours: impl Fn(&str) -> bool) -> bool {
    if !request.headers.contains_key(header::ORIGIN) {
        return true;
    }
    let Some(origin) = only_origin(request) else { return false };
    let host = origin.split_once("://").map(|(_, place)| without_port(place));
    place.origin.as_deref() == Some(origin) || host.is_some_and(is_ours)
}

/// The only origin that a request names.
fn only_origin(request: &Parts) -> Option<&str> {
    let mut origins = request.headers.get_all(header::ORIGIN).into_iter();
    let origin = origins.next()?.to_str().ok();
    origin.filter(|_| origins.next().is_none())
}

/// Returns true for a name of this machine, as it is seen from itself.
pub(crate) fn is_this_machine(name: &str) -> bool {
    let address = name.parse::<std::net::IpAddr>();
    address.is_ok_and(|address| address.is_loopback()) || name.eq_ignore_ascii_case("localhost")
}

/// The name of a host, without its port and without the brackets of IPv6.
fn without_port(place: &str) -> &str {
    let name = match place.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => place,
    };
    name.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_ours(host: &str) -> bool {
        matches!(host, "tidings.example.org" | "::1" | "localhost" | "127.0.0.1")
    }

    fn request(headers: &[(&str, &str)]) -> Parts {
        let mut request = axum::http::Request::builder().method("POST").uri("/console/sign-in");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn names_are_those_of_the_url_of_hosts_and_of_this_machine() {
        for ours in [
            "tidings.example.org",
            "tidings.example.org:443",
            "[::1]:8990",
            "localhost",
            "127.0.0.1:80",
        ] {
            assert!(is_host_ours(&request(&[("host", ours)]), is_ours), "{ours}");
        }
        for foreign in ["evil.example", "tidings.example.org.evil.example", "", "10.0.0.1"] {
            assert!(!is_host_ours(&request(&[("host", foreign)]), is_ours), "{foreign}");
        }
        let twice = request(&[("host", "localhost"), ("host", "localhost")]);
        assert!(!is_host_ours(&twice, is_ours));
        assert!(!is_host_ours(&request(&[]), is_ours));
    }

    #[test]
    fn a_page_that_calls_is_of_the_url_or_of_a_known_host() {
        let place = Place { origin: Some("https://tidings.example.org".to_owned()) };
        let known = |host: &str| host == "tools.example.org";
        for (origin, expected) in [
            (None, true),
            (Some("https://tidings.example.org"), true),
            (Some("https://tools.example.org:8443"), true),
            (Some("https://tidings.example.org.evil.example"), false),
            (Some("http://localhost:3000"), false),
            (Some("null"), false),
            (Some(""), false),
        ] {
            let headers: Vec<_> = origin.map(|origin| ("origin", origin)).into_iter().collect();
            assert_eq!(is_page_ours(&request(&headers), &place, known), expected, "{origin:?}");
        }
        let ours = ("origin", "https://tidings.example.org");
        assert!(!is_page_ours(&request(&[ours, ours]), &place, known));
    }

    #[test]
    fn changes_come_from_pages_of_the_console_alone() {
        let host = ("host", "127.0.0.1:8990");
        let place = Place { origin: Some("https://tidings.example.org".to_owned()) };
        for (headers, expected) in [
            (vec![("sec-fetch-site", "same-origin")], true),
            (vec![("sec-fetch-site", "same-site")], false),
            (
                vec![("sec-fetch-site", "cross-site"), ("origin", "https://tidings.example.org")],
                false,
            ),
            (vec![("sec-fetch-site", "none")], false),
            (vec![("sec-fetch-site", "same-origin"), ("sec-fetch-site", "same-origin")], false),
            (vec![("origin", "https://tidings.example.org")], true),
            (vec![("origin", "http://127.0.0.1:8990")], true),
            (vec![("origin", "http://127.0.0.1:8991")], false),
            (vec![("origin", "null")], false),
            (vec![("origin", "https://evil.example")], false),
            (vec![], false),
        ] {
            let all: Vec<_> = headers.iter().copied().chain([host]).collect();
            assert_eq!(is_same_origin(&request(&all), &place), expected, "{headers:?}");
        }
    }
}
