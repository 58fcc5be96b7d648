//! The proxy in front of the console: a header that counts from some peers alone, or a signed token.

use std::net::{IpAddr, Ipv6Addr};

use tidings_core::rules::{ConsoleProxy, HeaderProxy, JwtProxy, Network};
use toml::Spanned;
use toml::de::DeValue;

use crate::services::resolver::http_url;
use crate::walk::{ConfigReader, Section};
use crate::wording::quoted;

const OF_HEADER: [&str; 2] = ["header", "trusted"];
const OF_JWT: [&str; 5] = ["jwt", "keys", "issuer", "audience", "claim"];

/// The claim that names a person where nothing else is said.
const CLAIM: &str = "email";

/// The bits of an address of IPv6, and those before one of IPv4 that is mapped to it.
const BITS: u8 = 128;
const BEFORE_MAPPED: u8 = 96;

/// The most bytes of the name of a header.
const HEADER_BYTES_MAX: usize = 64;

const HINT: &str = "write `proxy = { header = \"X-Forwarded-User\", trusted = [\"10.0.0.7/32\"] }`, or \
                    `jwt`, `keys`, `issuer` and `audience`";

/// Returns true if the value of `proxy` is that of a proxy that signs.
pub(super) fn signs(value: &Spanned<DeValue<'_>>) -> bool {
    value.get_ref().as_table().is_some_and(|table| table.contains_key("jwt"))
}

/// The table `proxy` while it is read.
pub(super) struct ProxySection<'w, 't> {
    walk: &'w mut ConfigReader,
    proxy: Section<'t>,
}

impl<'w, 't> ProxySection<'w, 't> {
    pub(super) fn read(walk: &'w mut ConfigReader, console: &Section<'t>) -> Option<ConsoleProxy> {
        let proxy = walk.section(console, "proxy", HINT)?;
        let (has_header, has_jwt) = (proxy.has("header"), proxy.has("jwt"));
        let known = match (has_header, has_jwt) {
            (true, false) => OF_HEADER.to_vec(),
            (false, true) => OF_JWT.to_vec(),
            _ => [&OF_HEADER[..], &OF_JWT].concat(),
        };
        walk.only(&proxy, &known);
        let mut section = Self { walk, proxy };
        match (has_header, has_jwt) {
            (true, false) => section.by_header().map(ConsoleProxy::Header),
            (false, true) => section.by_token().map(ConsoleProxy::Jwt),
            (false, false) => {
                section.walk.missing(&section.proxy, "header", HINT);
                None
            }
            (true, true) => {
                let reason = "`console.proxy` has a `header` and a `jwt`";
                let hint = "keep one of the two, and what belongs to it";
                section.walk.bad(&section.proxy.header, reason, hint);
                None
            }
        }
    }

    fn by_header(&mut self) -> Option<HeaderProxy> {
        let header = self.header_name("header");
        let trusted = self.trusted();
        Some(HeaderProxy { header: header?, trusted })
    }

    /// The networks of the proxy, of which there must be one: without any the header would count from nobody.
    fn trusted(&mut self) -> Vec<Network> {
        let hint = "write the addresses from which the proxy connects, such as `trusted = [\"10.0.0.7/32\"]`";
        if !self.proxy.has("trusted") {
            self.walk.missing(&self.proxy, "trusted", hint);
        }
        let Some(texts) = self.walk.texts(&self.proxy, "trusted", hint) else {
            return Vec::new();
        };
        if texts.value.is_empty() {
            let reason = "`console.proxy.trusted` is empty: the header would count from nobody";
            self.walk.bad(&texts.span, reason, hint);
        }
        let mut networks = Vec::with_capacity(texts.value.len());
        for text in texts.value {
            match network(text.value) {
                Ok(network) => networks.push(network),
                Err(near) => {
                    let reason = format!("{} is not a network of addresses", quoted(text.value));
                    let near = near.map(|near| format!("did you mean {}?", quoted(&near)));
                    self.walk.bad(&text.span, reason, near.unwrap_or_else(|| hint.to_owned()));
                }
            }
        }
        networks
    }

    fn by_token(&mut self) -> Option<JwtProxy> {
        let header = self.header_name("jwt");
        for (key, hint) in [
            ("keys", "add the URL of its keys, such as `keys = \"https://example.org/certs\"`"),
            ("issuer", "add the `iss` of its tokens, such as `issuer = \"https://example.org\"`"),
            ("audience", "add the `aud` of its tokens: those for others do not count"),
        ] {
            if !self.proxy.has(key) {
                self.walk.missing(&self.proxy, key, hint);
            }
        }
        let hint = "write where the proxy publishes its keys, such as `https://example.org/certs`";
        let keys = http_url(self.walk, &self.proxy, "console.proxy", "keys", hint);
        let [issuer, audience, claim] = ["issuer", "audience", "claim"].map(|key| self.text(key));
        Some(JwtProxy {
            header: header?,
            keys: keys?,
            issuer: issuer?,
            audience: audience?,
            claim: claim.unwrap_or_else(|| CLAIM.to_owned()),
        })
    }

    /// A text that says something.
    fn text(&mut self, key: &str) -> Option<String> {
        let hint = "write what the tokens of the proxy have, in quotes";
        let text = self.walk.text(&self.proxy, key, hint)?;
        if text.value.is_empty() {
            self.walk.bad(&text.span, format!("`console.proxy.{key}` is empty"), hint);
        }
        Some(text.value.to_owned())
    }

    fn header_name(&mut self, key: &str) -> Option<String> {
        let hint = "write the name of the header that the proxy sets, such as `X-Forwarded-User`";
        let text = self.walk.text(&self.proxy, key, hint)?;
        if !is_header_name(text.value) {
            let reason = format!("{} is not the name of a header", quoted(text.value));
            self.walk.bad(&text.span, reason, hint);
        }
        Some(text.value.to_owned())
    }
}

/// Reads a network as CIDR (RFC 4632), or one address.
///
/// # Errors
/// The network that was probably meant, where the address has bits behind those of the network.
fn network(text: &str) -> Result<Network, Option<String>> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().map_err(|_| None)?;
    let (mapped, before) = match address {
        IpAddr::V4(address) => (address.to_ipv6_mapped(), BEFORE_MAPPED),
        IpAddr::V6(address) => (address, 0),
    };
    let bits = match bits {
        None => BITS - before,
        Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => {
            bits.parse().map_err(|_| None)?
        }
        Some(_) => return Err(None),
    };
    let network = before.checked_add(bits).and_then(|all| Network::of(mapped.octets(), all));
    let network = network.ok_or(None)?;
    let first = Ipv6Addr::from(network.first());
    if first == mapped {
        return Ok(network);
    }
    let first = match (address, first.to_ipv4_mapped()) {
        (IpAddr::V4(_), Some(first)) => first.to_string(),
        _ => first.to_string(),
    };
    Err(Some(format!("{first}/{bits}")))
}

/// Returns true if a network has all addresses, or all of IPv4.
pub(super) fn is_everybody(network: &Network) -> bool {
    let all_of_ipv4 = Ipv6Addr::from([0, 0, 0, 0, 0, 0xffff, 0, 0]).octets();
    network.bits() <= BEFORE_MAPPED && network.contains(all_of_ipv4)
}

/// Returns true for the name of a header (RFC 9110, section 5.6.2).
pub(super) fn is_header_name(text: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=HEADER_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_token)
}
