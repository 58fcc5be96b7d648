//! Hooks: signed calls to a service of the host ([Standard Webhooks](https://www.standardwebhooks.com)).

use std::net::IpAddr;

use tidings_core::Instant;
use tidings_core::model::SuppressedFor;
use tidings_core::rules::HookRules;

use super::super::{Outcome, ProviderOpenError, Rendered, Scope, WebhookKey};
use super::guard::is_public;
use super::{AllowedHosts, HttpAnswer, HttpRequest, Shape, sent};

/// Calls to a service of the host.
pub(crate) struct Hook {
    url: String,
    key: WebhookKey,
    reach: AllowedHosts,
}

/// The host of an `http` or `https` URL, as far as its place is known without a lookup.
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
    ) -> Result<Self, ProviderOpenError> {
        let name = &rules.secret;
        let secret =
            secret(name).map_err(|why| ProviderOpenError::Secret { name: name.clone(), why })?;
        let key = WebhookKey::parse(&secret)
            .map_err(|why| ProviderOpenError::Address(format!("the secret `{name}` {why}")))?;
        let is_anywhere =
            rules.allow_private || HostPlace::of(&rules.url) == Some(HostPlace::Loopback);
        let reach = if is_anywhere { AllowedHosts::Anywhere } else { AllowedHosts::Public };
        Ok(Self { url: rules.url.clone(), key, reach })
    }
}

impl Shape for Hook {
    fn shown(&self) -> String {
        self.url.clone()
    }

    fn reach(&self) -> AllowedHosts {
        self.reach
    }

    fn request(&self, message: &Rendered, _to: &str, now: Instant) -> Result<HttpRequest, Outcome> {
        let body = String::from_utf8_lossy(&message.bytes);
        let id = &message.head.id;
        let unix_s = now.0.div_euclid(1_000);
        let signature = self.key.sign(id, unix_s, &body);
        let request = HttpRequest {
            method: "POST",
            url: self.url.clone(),
            headers: vec![("content-type", "application/json".to_owned())],
            body: message.bytes.clone(),
        };
        Ok(request
            .with("webhook-id", id)
            .with("webhook-timestamp", unix_s.to_string())
            .with("webhook-signature", signature))
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let (why, after_ms) = (format!("reply: {}", answer.status), answer.retry_after_ms(now));
        match answer.status {
            200..=299 => sent(Some(&answer.status.to_string())),
            410 => Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) },
            // The host takes no calls at present, whatever they say.
            408 | 425 | 429 | 500..=599 => Outcome::Away { scope: Scope::Provider, why, after_ms },
            _ => Outcome::Retry { why, after_ms },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpListener;

    use super::super::super::{Durability, ProviderSetup, ServerTimeouts, open_hook, sample};
    use super::super::guard::PRIVATE;
    use super::*;
    use crate::channel::MessageHead;

    fn rules(url: String, allow_private: bool) -> HookRules {
        let of = [tidings_core::model::OccurrenceKind::MessageSent].into();
        HookRules { name: "app".to_owned(), url, secret: "S".to_owned(), of, allow_private }
    }

    fn secret(_: &str) -> Result<String, String> {
        Ok("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned())
    }

    fn call() -> Rendered {
        let batch = sample::batch("b", "One");
        let head = MessageHead { id: "occ_1".to_owned(), ..MessageHead::of(&batch) };
        Rendered {
            message_id: head.id.clone(),
            head: head.into(),
            from: String::new(),
            return_path: None,
            to: vec!["x".to_owned()],
            bytes: b"{\"test\": 2432232314}".to_vec(),
            content: tidings_core::content::ContentHash::default(),
        }
    }

    /// Calls a hook, and returns the outcome.
    fn told(rules: &HookRules) -> Outcome {
        let setup = ProviderSetup {
            secret: &secret,
            durability: Durability::Each,
            patience: ServerTimeouts::default(),
            clock: &sample::clock(),
            tokens: None,
            caught: &std::sync::Arc::default(),
        };
        open_hook(rules, &setup).unwrap().first().send(&call(), &|| true)
    }

    #[test]
    fn a_hook_in_a_private_network_is_not_called_unless_that_is_allowed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // An address of this machine that does not say so, as the name of a private host.
        let url = format!("http://[::ffff:127.0.0.1]:{port}/x");
        let refused = told(&rules(url, false));
        assert_eq!(refused, Outcome::Failed { why: PRIVATE.to_owned(), suppress: None });
    }

    #[test]
    fn a_call_is_signed_and_has_the_id_of_the_occurrence() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/tidings", listener.local_addr().unwrap());
        let host = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).unwrap();
            }
            let mut body = vec![0; 20];
            reader.read_exact(&mut body).unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
            (head.to_lowercase(), body)
        });
        let outcome = told(&rules(url, false));
        assert_eq!(outcome, sent(Some("204")));
        let (head, body) = host.join().unwrap();
        assert!(head.starts_with("post /tidings "), "{head}");
        assert!(head.contains("webhook-id: occ_1\r\n") && head.contains("webhook-signature: v1,"));
        assert_eq!(body, call().bytes);
    }

    #[test]
    fn a_status_says_whether_the_hook_is_told_again() {
        let hook = Hook::new(&rules("https://app.example.org".to_owned(), false), &secret).unwrap();
        let of = |status| hook.outcome(&HttpAnswer { status, ..HttpAnswer::default() }, Instant(0));
        assert!(matches!(of(204), Outcome::Sent(_)));
        assert!(matches!(of(410), Outcome::Failed { suppress: Some(_), .. }));
        for status in [301, 400, 401, 404, 422] {
            assert!(matches!(of(status), Outcome::Retry { .. }), "{status}");
        }
        for status in [429, 500, 503] {
            assert!(matches!(of(status), Outcome::Away { .. }), "{status}");
        }
    }
}
