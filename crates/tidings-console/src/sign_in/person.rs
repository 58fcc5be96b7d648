//! People: who they are by the word of a proxy, and which role the configuration gives them.

use std::net::IpAddr;

use axum::http::HeaderMap;

use super::Peer;
use crate::api::{Caller, CallerKind, Way};

/// A person, as a proxy names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name: mostly an address of mail.
    pub name: String,
    /// Their groups.
    pub groups: Vec<String>,
}

/// Where the console is, and who may sign in (`[console]`).
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Where people open it; `None` on a developer's server.
    pub url: Option<String>,
    /// Further names of the server.
    pub hosts: Vec<String>,
    /// The proxy that vouches for people.
    pub proxy: Option<ProxyTrust>,
    /// The roles of people and groups (`group:NAME`), in lower case.
    pub roles: Vec<(String, &'static str)>,
}

/// The word of a proxy that is believed.
#[derive(Clone, Debug)]
pub enum ProxyTrust {
    /// A header of requests whose TCP peer is trusted.
    Header {
        /// The name of the header with the person.
        header: String,
        /// The name of the header with their groups, divided by commas.
        groups: Option<String>,
        /// The networks of trusted peers.
        trusted: Vec<Network>,
    },
    /// A signed assertion (JWT).
    Assertion {
        /// The name of the header that has it.
        header: String,
    },
}

/// A network: an address, and how many of its first bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The address.
    pub address: IpAddr,
    /// The number of bits.
    pub bits: u8,
}

impl Network {
    /// Returns true if an address is within the network. An IPv4 address may be mapped into IPv6.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(of), IpAddr::V4(address)) => {
                let shift = 32u32.saturating_sub(self.bits.into());
                of.to_bits().checked_shr(shift) == address.to_bits().checked_shr(shift)
            }
            (IpAddr::V6(of), IpAddr::V6(address)) => {
                let shift = 128u32.saturating_sub(self.bits.into());
                of.to_bits().checked_shr(shift) == address.to_bits().checked_shr(shift)
            }
            _ => false,
        }
    }
}

/// The roles, the first of which a person's groups give them.
const RANKED: [&str; 6] = ["admin", "operate", "publish", "support", "read", "figures"];

impl Settings {
    /// The role of a person: by their own entry, else the first that their groups have.
    #[must_use]
    pub fn role(&self, name: &str, groups: &[String]) -> Option<&'static str> {
        let entry = |name: &str| {
            let name = name.to_lowercase();
            self.roles.iter().find(|(of, _)| *of == name).map(|(_, role)| *role)
        };
        if let Some(role) = entry(name).filter(|_| !name.starts_with("group:")) {
            return Some(role);
        }
        let roles: Vec<_> =
            groups.iter().filter_map(|group| entry(&format!("group:{group}"))).collect();
        RANKED.into_iter().find(|role| roles.contains(role))
    }

    /// Returns true for a name of the console, of `hosts`, or of this machine.
    #[must_use]
    pub fn is_name_ours(&self, name: &str) -> bool {
        let is_loopback = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let of_url = self.origin().and_then(|origin| origin.split_once("://")).map(|(_, of)| of);
        let of_url = of_url.map(|of| of.rsplit_once(':').map_or(of, |(name, _)| name));
        let mut ours = self.hosts.iter().map(String::as_str).chain(of_url);
        is_loopback
            || name.eq_ignore_ascii_case("localhost")
            || ours.any(|ours| ours.eq_ignore_ascii_case(name))
    }

    /// The scheme, host and port of the URL.
    #[must_use]
    pub fn origin(&self) -> Option<&str> {
        let url = self.url.as_deref()?;
        let begin = url.find("://")? + 3;
        let end = url[begin..].find('/').map_or(url.len(), |end| begin + end);
        Some(&url[..end])
    }

    fn is_https(&self) -> bool {
        self.url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }

    /// The name of the cookie.
    pub(crate) fn cookie(&self) -> &'static str {
        if self.is_https() { "__Host-tidings" } else { "tidings-console" }
    }

    /// The cookie of a session, as it is set.
    pub(crate) fn set_cookie(&self, secret: &str) -> String {
        let secure = if self.is_https() { "; Secure" } else { "" };
        let name = self.cookie();
        // Twelve hours are the longest that a session lasts.
        format!("{name}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200{secure}")
    }

    /// The cookie that takes that of a session away.
    pub(crate) fn clear_cookie(&self) -> String {
        self.set_cookie("").replace("Max-Age=43200", "Max-Age=0")
    }
}

impl Person {
    pub(crate) fn caller(&self, role: &'static str) -> Caller {
        Caller { kind: CallerKind::Person, id: self.name.clone(), role, way: Way::Console }
    }
}

/// The person whom a header names: only the TCP peer says whether it counts.
pub(super) fn of_header(
    settings: &Settings,
    peer: Option<Peer>,
    headers: &HeaderMap,
) -> Option<Person> {
    let Some(ProxyTrust::Header { header, groups, trusted }) = &settings.proxy else { return None };
    let Peer(address) = peer?;
    if !trusted.iter().any(|network| network.contains(address)) {
        return None;
    }
    let name = only(headers, header)?.to_owned();
    let groups = groups.as_deref().and_then(|groups| only(headers, groups)).unwrap_or_default();
    let groups = groups.split(',').map(str::trim).filter(|group| !group.is_empty());
    Some(Person { name, groups: groups.map(str::to_owned).collect() })
}

/// The value of a header that is there once, with something in it.
pub(super) fn only<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name).into_iter();
    let value = values.next()?;
    if values.next().is_some() {
        return None;
    }
    value.to_str().ok().map(str::trim).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        let network = Network { address: [10, 0, 0, 0].into(), bits: 24 };
        let roles =
            [("mara@example.org", "operate"), ("group:support", "support"), ("group:ops", "admin")];
        Settings {
            url: Some("https://tidings.example.org:8443/console".to_owned()),
            proxy: Some(ProxyTrust::Header {
                header: "X-Forwarded-User".to_owned(),
                groups: Some("X-Forwarded-Groups".to_owned()),
                trusted: vec![network],
            }),
            roles: roles.map(|(name, role)| (name.to_owned(), role)).to_vec(),
            ..Settings::default()
        }
    }

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, axum::http::HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_header_counts_once_with_something_in_it_and_from_a_trusted_peer_alone() {
        let peer = |last: [u8; 4]| Some(Peer(last.into()));
        let name = ("x-forwarded-user", "mara@example.org");
        let groups = ("x-forwarded-groups", "support, ,ops");
        let mara = Person {
            name: "mara@example.org".to_owned(),
            groups: vec!["support".to_owned(), "ops".to_owned()],
        };
        let of = |peer, lines: &[_]| of_header(&settings(), peer, &headers(lines));
        assert_eq!(of(peer([10, 0, 0, 7]), &[name, groups]), Some(mara));
        assert_eq!(of(peer([10, 0, 1, 7]), &[name]), None);
        let forwarded = ("x-forwarded-for", "10.0.0.7");
        assert_eq!(of(peer([192, 0, 2, 1]), &[name, forwarded]), None);
        assert_eq!(of(None, &[name]), None);
        assert_eq!(of(peer([10, 0, 0, 7]), &[name, name]), None);
        assert_eq!(of(peer([10, 0, 0, 7]), &[("x-forwarded-user", " ")]), None);
        let mapped = Some(Peer("::ffff:10.0.0.7".parse().unwrap()));
        assert!(of(mapped, &[name]).is_some());
    }

    #[test]
    fn a_role_is_that_of_a_persons_own_entry_else_the_first_of_their_groups() {
        let groups = ["support".to_owned(), "OPS".to_owned()];
        let settings = settings();
        assert_eq!(settings.role("Mara@Example.org", &groups), Some("operate"));
        assert_eq!(settings.role("jo@example.org", &groups), Some("admin"));
        assert_eq!(settings.role("jo@example.org", &groups[..1]), Some("support"));
        assert_eq!(settings.role("jo@example.org", &[]), None);
        // A person can't be called as a group is.
        assert_eq!(settings.role("group:ops", &[]), None);
    }

    #[test]
    fn a_cookie_of_https_is_bound_to_its_host() {
        let settings = settings();
        assert_eq!(
            settings.set_cookie("s"),
            "__Host-tidings=s; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200; Secure"
        );
        let plain = Settings::default();
        assert!(plain.set_cookie("s").starts_with("tidings-console=s; Path=/; HttpOnly"));
        assert!(!plain.set_cookie("s").contains("Secure"));
        assert_eq!(settings.origin(), Some("https://tidings.example.org:8443"));
    }
}
