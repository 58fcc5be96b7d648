//! The words of proxies: a header from a trusted peer, and signed assertions with the keys that check them.

use std::io::Read as _;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::request::Parts;
use tidings_api::token::{AssertedPerson, AssertionRefusal, AssertionRules, ProxyKeys};
use tidings_console::{PeerAddress, ProxyPerson};
use tidings_core::Instant;
use tidings_core::model::{HOUR_MS, MINUTE_MS};
use tidings_core::rules::{HeaderProxy, JwtProxy};
use tokio::task::spawn_blocking;

/// The most bytes of published keys.
const KEYS_BYTES_MAX: u64 = 256 << 10;

/// The person whom a header names. Only the TCP peer says whether it counts.
pub(super) fn of_header(
    proxy: &HeaderProxy,
    groups: Option<&str>,
    request: &Parts,
) -> Option<ProxyPerson> {
    let PeerAddress(address) = *request.extensions.get::<PeerAddress>()?;
    let address = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    if !proxy.trusts(address.octets()) {
        return None;
    }
    let name = only(&request.headers, &proxy.header)?.to_owned();
    let groups = groups.and_then(|groups| only(&request.headers, groups)).unwrap_or_default();
    let groups = groups.split(',').map(str::trim).filter(|group| !group.is_empty());
    Some(ProxyPerson { name, groups: groups.map(str::to_owned).collect() })
}

/// The value of a header that is there once, with something in it.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name).into_iter();
    let value = values.next()?;
    if values.next().is_some() {
        return None;
    }
    value.to_str().ok().map(str::trim).filter(|value| !value.is_empty())
}

/// The keys that a proxy publishes, for an hour; for a minute where an assertion names another.
#[derive(Default)]
pub(super) struct AssertionKeys(Mutex<Option<FetchedKeys>>);

#[derive(Clone)]
struct FetchedKeys {
    /// Their address: the configuration may change.
    url: String,
    keys: ProxyKeys,
    at: Instant,
}

impl AssertionKeys {
    /// The person of the assertion in a request's header.
    pub(super) async fn person(
        &self,
        proxy: &JwtProxy,
        groups: Option<&str>,
        request: &Parts,
        now: Instant,
    ) -> Option<ProxyPerson> {
        let text = only(&request.headers, &proxy.header)?;
        let rules = AssertionRules {
            issuer: &proxy.issuer,
            audience: &proxy.audience,
            claim: &proxy.claim,
            groups,
        };
        let keys = match self.known(&proxy.keys, now, HOUR_MS) {
            Some(keys) => keys,
            None => self.fetched(&proxy.keys, now).await?,
        };
        let checked = match AssertedPerson::check(text, &keys, rules, now) {
            Err(AssertionRefusal::UnknownKey)
                if self.known(&proxy.keys, now, MINUTE_MS).is_none() =>
            {
                let keys = self.fetched(&proxy.keys, now).await?;
                AssertedPerson::check(text, &keys, rules, now)
            }
            checked => checked,
        };
        let AssertedPerson { name, groups } = checked.ok()?;
        Some(ProxyPerson { name, groups })
    }

    /// The keys of a URL, if they are no older than this.
    fn known(&self, url: &str, now: Instant, age_ms: i64) -> Option<ProxyKeys> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.as_ref().filter(|kept| kept.url == url)?;
        (now < kept.at.plus_ms(age_ms)).then(|| kept.keys.clone())
    }

    /// Fetches the keys of a URL.
    async fn fetched(&self, url: &str, now: Instant) -> Option<ProxyKeys> {
        let address = url.to_owned();
        let fetched = spawn_blocking(move || fetch(&address)).await.ok()?;
        let read = fetched.and_then(|bytes| {
            ProxyKeys::read(&bytes).ok_or_else(|| "they are no list of keys".to_owned())
        });
        // None are known for a minute then, so that requests don't wait for a server that is away.
        let keys = read.unwrap_or_else(|fault| {
            tracing::warn!(url, %fault, "the keys of the proxy can't be fetched");
            ProxyKeys::default()
        });
        let fetched = FetchedKeys { url: url.to_owned(), keys: keys.clone(), at: now };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(fetched);
        Some(keys)
    }
}

fn fetch(address: &str) -> Result<Vec<u8>, String> {
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(10)))
        .max_redirects(0)
        .tls_config(tidings_tls::http_client())
        .proxy(tidings_tls::Proxies::to(address))
        .build()
        .new_agent();
    let mut answer = agent.get(address).call().map_err(|fault| fault.to_string())?;
    let mut bytes = Vec::new();
    let body = answer.body_mut().as_reader().take(KEYS_BYTES_MAX);
    let read = { body }.read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|fault| fault.to_string())
}
