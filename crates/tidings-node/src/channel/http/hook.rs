//! Hooks: signed calls to a service of the host ([Standard Webhooks](https://www.standardwebhooks.com)).

use std::net::IpAddr;

use tidings_core::Instant;
use tidings_core::rules::HookRules;
use tidings_core::suppression::SuppressedFor;

use super::super::{Outcome, ProviderError, Rendered, Scope, WebhookKey};
use super::guard::is_public;
use super::{Answer, Reach, Request, Shape, sent};

/// Calls to a service of the host.
pub(crate) struct Hook {
    url: String,
    key: WebhookKey,
    reach: Reach,
}

/// The host of an `http` or `https` URL as far as it says by itself where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPlace {
    /// This machine.
    Loopback,
    /// An address that is not of the public network.
    Private,
    /// An address of the public network, or a name.
    Elsewhere,
}

impl HostPlace {
    /// The place of the host of a URL; `None` = it has no host.
    ///
    /// # Examples
    /// ```
    /// use tidings_node::channel::HostPlace;
    ///
    /// assert_eq!(HostPlace::of("http://localhost:3000/x"), Some(HostPlace::Loopback));
    /// assert_eq!(HostPlace::of("http://[::1]/x"), Some(HostPlace::Loopback));
    /// assert_eq!(HostPlace::of("https://10.0.0.1/x"), Some(HostPlace::Private));
    /// assert_eq!(HostPlace::of("https://app.example.org/x"), Some(HostPlace::Elsewhere));
    /// assert_eq!(HostPlace::of("https:///x"), None);
    /// ```
    #[must_use]
    pub fn of(url: &str) -> Option<Self> {
        let (_, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?']).next()?;
        let host = match authority.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?.0,
            None => authority.split(':').next()?,
        };
        if host.is_empty() {
            return None;
        }
        let ip: Option<IpAddr> = host.parse().ok();
        let is_local = ip.is_some_and(|ip| ip.is_loopback())
            || host.eq_ignore_ascii_case("localhost")
            || host.to_ascii_lowercase().ends_with(".localhost");
        Some(match ip {
            _ if is_local => Self::Loopback,
            Some(ip) if !is_public(ip) => Self::Private,
            _ => Self::Elsewhere,
        })
    }
}

impl Hook {
    pub(crate) fn new(
        rules: &HookRules,
        secret: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, ProviderError> {
        let name = &rules.secret;
        let secret =
            secret(name).map_err(|why| ProviderError::Secret { name: name.clone(), why })?;
        let key = WebhookKey::parse(&secret)
            .map_err(|why| ProviderError::Address(format!("the secret `{name}` {why}")))?;
        let is_anywhere =
            rules.allow_private || HostPlace::of(&rules.url) == Some(HostPlace::Loopback);
        let reach = if is_anywhere { Reach::Anywhere } else { Reach::Public };
        Ok(Self { url: rules.url.clone(), key, reach })
    }
}

impl Shape for Hook {
    fn shown(&self) -> String {
        self.url.clone()
    }

    fn reach(&self) -> Reach {
        self.reach
    }

    fn request(&self, message: &Rendered, _to: &str, now: Instant) -> Result<Request, Outcome> {
        let body = String::from_utf8_lossy(&message.bytes);
        let id = &message.head.id;
        let unix_s = now.0.div_euclid(1_000);
        let signature = self.key.sign(id, unix_s, &body);
        let request = Request {
            url: self.url.clone(),
            headers: vec![("content-type", "application/json".to_owned())],
            body: message.bytes.clone(),
        };
        Ok(request
            .with("webhook-id", id)
            .with("webhook-timestamp", unix_s.to_string())
            .with("webhook-signature", signature))
    }

    fn outcome(&self, answer: &Answer, now: Instant) -> Outcome {
        let (why, after_ms) = (format!("reply: {}", answer.status), answer.retry_after_ms(now));
        match answer.status {
            200..=299 => sent(Some(&answer.status.to_string())),
            410 => Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) },
            // It takes nothing at present, whatever it is told.
            408 | 425 | 429 | 500..=599 => Outcome::Away { scope: Scope::Provider, why, after_ms },
            _ => Outcome::Retry { why, after_ms },
        }
    }
}
