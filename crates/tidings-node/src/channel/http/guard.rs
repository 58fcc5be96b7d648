//! The hosts that may be called: where an address comes from a recipient, none inside of the own network.
//!
//! A name is resolved once, each of its addresses is checked, and the connection goes to one of those: so a name that
//! resolves differently the second time has no effect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The hosts that a provider may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllowedHosts {
    /// Any: the configuration names them.
    Anywhere,
    /// Public addresses only: recipients name them.
    Public,
}

/// The fault of a host that may not be called.
pub(super) const PRIVATE: &str = "the host is not of the public network";

/// A resolver that finds what may be called.
#[derive(Debug)]
pub(super) struct GuardedResolver {
    pub(super) reach: AllowedHosts,
    /// The proxy that is called in place of everything, which the environment names.
    pub(super) proxy: Option<Uri>,
}

impl Resolver for GuardedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let addresses = DefaultResolver::default().resolve(uri, config, timeout)?;
        if self.reach == AllowedHosts::Anywhere || self.proxy.as_ref() == Some(uri) {
            return Ok(addresses);
        }
        let mut public = self.empty();
        addresses
            .iter()
            .filter(|address| is_public(address.ip()))
            .for_each(|address| public.push(*address));
        if public.is_empty() { Err(ureq::Error::BadUri(PRIVATE.to_owned())) } else { Ok(public) }
    }
}

/// Returns true if an address is one of the public network (the registries of RFC 6890 and its successors).
pub(crate) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match embedded_v4(ip) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(ip),
        },
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let is_special = ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_broadcast()
        || ip.is_documentation()
        || a == 0
        // Shared by carriers (RFC 6598), protocol assignments, benchmarks, 6to4 relays, reserved.
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a, b, c) == (192, 88, 99)
        || (a == 198 && (18..20).contains(&b))
        || a >= 240;
    !is_special
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    // The global unicast space without documentation, protocol assignments (Teredo among them) and SRv6.
    let is_global = first & 0xe000 == 0x2000;
    let is_special = (first, second) == (0x2001, 0x0db8)
        || (first == 0x2001 && second < 0x0200)
        || (first == 0x3fff && second < 0x1000);
    is_global && !is_special
}

/// The address of version 4 to which one of version 6 leads: mapped, compatible, by NAT64 or by 6to4.
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = ip.segments();
    let of = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match segments {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(of(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_network_is_public() {
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "172.32.0.1",
            "2606:4700:4700::1111",
            "2a00:1450:4001:81b::200e",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1:a00:0:100:808:808",
            "2002:7f00:1::1",
            "2001:db8::1",
            "2001::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }
}
