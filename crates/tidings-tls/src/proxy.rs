//! The way out of the machine: proxies, as the environment names them for curl, Go and Python.
//!
//! `HTTPS_PROXY` is for `https` addresses, `HTTP_PROXY` for `http` ones, `ALL_PROXY` for both where their own is not set;
//! `NO_PROXY` names what is called directly. Names in small letters come first. This machine is always called directly.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ureq::ProxyProtocol;
use ureq::http::Uri;

/// The form of a proxy's address, for hints.
const FORM: &str = "write `http://HOST:PORT`, with `USER:PASSWORD@` where it wants a login";

/// A proxy that is asked for connections (`CONNECT`).
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy(ureq::Proxy);

/// The proxies of an environment.
#[derive(Clone, Default)]
pub struct Proxies {
    https: Option<Proxy>,
    http: Option<Proxy>,
    direct: Vec<NoProxyEntry>,
}

/// An entry of `NO_PROXY`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NoProxyEntry {
    place: HostPattern,
    /// The port; `None` = any.
    port: Option<u16>,
}

/// The hosts of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    All,
    /// A domain with all below it, or (`true`) only what is below.
    Domain(String, bool),
    /// A network, by its address and the length of its prefix.
    Network(IpAddr, u32),
}

impl Proxies {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// The variable whose value is no address of a proxy.
    pub fn of_environment() -> Result<Self, String> {
        Self::read(&|name| std::env::var(name).ok())
    }

    /// Reads variables.
    ///
    /// # Errors
    /// As [`Proxies::of_environment`].
    pub fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let set = |name: &str| {
            let names = [name.to_owned(), name.to_ascii_uppercase()];
            let mut set = names.into_iter().filter_map(|name| Some((variable(&name)?, name)));
            set.find(|(value, _)| !value.trim().is_empty())
        };
        let proxy = |name: &str| {
            let found = set(name).or_else(|| set("all_proxy"));
            found.map(|(value, name)| Proxy::read(&name, value.trim())).transpose()
        };
        let direct = set("no_proxy").map(|(value, _)| value).unwrap_or_default();
        let entries = direct.split([',', ' ']).filter(|entry| !entry.is_empty());
        Ok(Self {
            https: proxy("https_proxy")?,
            http: proxy("http_proxy")?,
            direct: entries.map(NoProxyEntry::read).collect(),
        })
    }

    /// The proxies that some address may need.
    pub fn all(&self) -> impl Iterator<Item = &Proxy> {
        self.https.iter().chain(&self.http)
    }

    /// The proxy of an address; `None` = it is called directly.
    #[must_use]
    pub fn of(&self, url: &Uri) -> Option<&Proxy> {
        let is_https = url.scheme_str() == Some("https");
        let proxy = if is_https { &self.https } else { &self.http }.as_ref()?;
        let host = url.host()?.trim_start_matches('[').trim_end_matches(']');
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let port = url.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        let is_direct = is_here(&host) || self.direct.iter().any(|entry| entry.has(&host, port));
        (!is_direct).then_some(proxy)
    }

    /// The proxy of an address for the HTTP client, by the environment of this process. An invalid value counts as
    /// none: opening a provider reports it.
    #[must_use]
    pub fn to(url: &str) -> Option<ureq::Proxy> {
        let url: Uri = url.parse().ok()?;
        Self::of_environment().ok()?.of(&url).map(|proxy| proxy.0.clone())
    }
}

impl Proxy {
    fn read(variable: &str, value: &str) -> Result<Self, String> {
        // Without the value, which may have a password.
        let fault = |why: &str| format!("`{variable}` of the environment {why}: {FORM}");
        let proxy = ureq::Proxy::new(value).map_err(|_| fault("is no address of a proxy"))?;
        match proxy.protocol() {
            ProxyProtocol::Http | ProxyProtocol::Https => Ok(Self(proxy)),
            _ => Err(fault("is a proxy of a kind that is not spoken")),
        }
    }

    /// The same proxy for the HTTP client; with `resolves` it gets addresses in place of names.
    #[must_use]
    pub fn resolving(&self, resolves: bool) -> ureq::Proxy {
        let proxy = &self.0;
        let mut builder = ureq::Proxy::builder(proxy.protocol())
            .host(proxy.host())
            .port(proxy.port())
            .resolve_target(resolves);
        if let Some(user) = proxy.username() {
            builder = builder.username(user);
        }
        if let Some(password) = proxy.password() {
            builder = builder.password(password);
        }
        builder.build().unwrap_or_else(|_| proxy.clone())
    }

    /// Host and port of a proxy that is spoken to without TLS.
    #[must_use]
    pub fn plain_place(&self) -> Option<(&str, u16)> {
        let proxy = &self.0;
        (proxy.protocol() == ProxyProtocol::Http).then(|| (proxy.host(), proxy.port()))
    }

    /// The credentials of its login, as a header has them.
    #[must_use]
    pub fn basic(&self) -> Option<String> {
        let (user, password) = (self.0.username(), self.0.password());
        (user.is_some() || password.is_some()).then(|| {
            STANDARD.encode(format!(
                "{}:{}",
                user.unwrap_or_default(),
                password.unwrap_or_default()
            ))
        })
    }
}

impl NoProxyEntry {
    fn read(entry: &str) -> Self {
        if entry == "*" {
            return Self { place: HostPattern::All, port: None };
        }
        let (address, prefix) = match entry.split_once('/') {
            Some((address, prefix)) => (address, prefix.parse::<u32>().ok()),
            None => (entry, None),
        };
        if let Ok(ip) = address.parse::<IpAddr>() {
            let whole = if ip.is_ipv4() { 32 } else { 128 };
            return Self { place: HostPattern::Network(ip, prefix.unwrap_or(whole)), port: None };
        }
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()),
            None => (entry, None),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if let Ok(ip) = host.parse::<IpAddr>() {
            let whole = if ip.is_ipv4() { 32 } else { 128 };
            return Self { place: HostPattern::Network(ip, whole), port };
        }
        let bare = host.trim_start_matches('*').trim_start_matches('.');
        Self { place: HostPattern::Domain(bare.to_owned(), bare.len() < host.len()), port }
    }

    fn has(&self, host: &str, port: u16) -> bool {
        if self.port.is_some_and(|own| own != port) {
            return false;
        }
        match &self.place {
            HostPattern::All => true,
            HostPattern::Domain(domain, is_below) => {
                let below = host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
                below || (!is_below && host == domain)
            }
            HostPattern::Network(network, prefix) => {
                host.parse().is_ok_and(|ip| shares_prefix(ip, *network, *prefix))
            }
        }
    }
}

/// Returns true if two addresses have a number of first bits in common.
fn shares_prefix(one: IpAddr, other: IpAddr, prefix: u32) -> bool {
    let (difference, bits) = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            (u128::from(one.to_bits() ^ other.to_bits()) << 96, 32)
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits(), 128),
        _ => return false,
    };
    difference.leading_zeros() >= prefix.min(bits)
}

/// Returns true if a host is this machine, or of its link: there clouds answer about the machine, and no proxy may.
fn is_here(host: &str) -> bool {
    let is_near = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unicast_link_local(),
    };
    host == "localhost" || host.ends_with(".localhost") || host.parse().is_ok_and(is_near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Result<Proxies, String> {
        Proxies::read(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    /// The host of the proxy of an address.
    fn of(proxies: &Proxies, url: &str) -> Option<String> {
        proxies.of(&url.parse().unwrap()).map(|proxy| proxy.0.host().to_owned())
    }

    #[test]
    fn field_4_a_scheme_has_its_proxy() {
        let both = proxies(&[("HTTPS_PROXY", "http://out:3128"), ("http_proxy", "plain:8080")]);
        let both = both.unwrap();
        assert_eq!(of(&both, "https://slack.com/api").as_deref(), Some("out"));
        assert_eq!(of(&both, "http://example.org/").as_deref(), Some("plain"));
        let small = proxies(&[("HTTPS_PROXY", "a"), ("https_proxy", "b"), ("ALL_PROXY", "c")]);
        let small = small.unwrap();
        assert_eq!(of(&small, "https://slack.com").as_deref(), Some("b"));
        assert_eq!(of(&small, "http://slack.com").as_deref(), Some("c"));
        for none in [&[][..], &[("HTTPS_PROXY", "")]] {
            assert_eq!(of(&proxies(none).unwrap(), "https://slack.com"), None);
        }
        for wrong in ["socks5://out:1080", "http://", "ftp://out"] {
            let fault = proxies(&[("HTTPS_PROXY", wrong)]).err().unwrap();
            assert!(fault.contains("`HTTPS_PROXY`"), "{fault}");
        }
    }

    #[test]
    fn field_4_what_no_proxy_names_is_called_directly() {
        let list = ".inner.example,example.org, 10.0.0.0/8,192.0.2.7,*.wild.example,port.example:8443,2001:db8::/32";
        let some = proxies(&[("HTTPS_PROXY", "http://out:3128"), ("NO_PROXY", list)]).unwrap();
        for direct in [
            "https://a.inner.example/x",
            "https://example.org",
            "https://EXAMPLE.org.",
            "https://api.example.org",
            "https://10.2.3.4",
            "https://192.0.2.7:8443",
            "https://a.wild.example",
            "https://port.example:8443",
            "https://[2001:db8::1]/",
            // This machine.
            "https://localhost:8443",
            "https://127.0.0.9",
            "https://[::1]:8443",
        ] {
            assert_eq!(of(&some, direct), None, "{direct}");
        }
        for through in [
            "https://inner.example",
            "https://notexample.org",
            "https://11.0.0.1",
            "https://192.0.2.8",
            "https://port.example",
            "https://[2001:db9::1]/",
        ] {
            assert_eq!(of(&some, through).as_deref(), Some("out"), "{through}");
        }
        let all = proxies(&[("HTTPS_PROXY", "http://out:3128"), ("no_proxy", "*")]).unwrap();
        assert_eq!(of(&all, "https://slack.com"), None);
    }

    #[test]
    fn a_login_is_that_of_the_address() {
        let some = proxies(&[("HTTPS_PROXY", "http://ann:p%40ss@out:3128")]).unwrap();
        let proxy = some.all().next().unwrap();
        // `ann:p@ss`
        assert_eq!(proxy.basic().as_deref(), Some("YW5uOnBAc3M="));
        assert_eq!(proxy.plain_place(), Some(("out", 3128)));
        assert_eq!(proxy.resolving(true).username(), Some("ann"));
    }
}
