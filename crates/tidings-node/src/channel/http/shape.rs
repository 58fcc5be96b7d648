//! The shape of a provider: how a message becomes a request, and an answer an outcome.

use std::time::UNIX_EPOCH;

use tidings_core::Instant;
use tidings_core::model::SuppressedFor;
use ureq::http::HeaderMap;

use super::super::{Outcome, Receipt, Rendered, Scope};
use super::AllowedHosts;

/// A request.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HttpRequest {
    /// `POST`, but in some logins.
    pub(crate) method: &'static str,
    /// The whole address.
    pub(crate) url: String,
    /// The headers but for those of the transport.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The content.
    pub(crate) body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct HttpAnswer {
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The content, or the beginning of one that is very long.
    pub(crate) body: Vec<u8>,
}

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// HTTP/1.1.
    One,
    /// HTTP/2.
    Two,
}

/// A provider's way to put a message into a request. It does no I/O and reads no clock.
pub(crate) trait Shape: Send + Sync {
    /// The provider's address without secrets, for operators.
    fn shown(&self) -> String;

    /// The version that it speaks.
    fn version(&self) -> Version {
        Version::One
    }

    /// The hosts that it may call; with HTTP/2 any.
    fn reach(&self) -> AllowedHosts {
        AllowedHosts::Anywhere
    }

    /// Returns true if its answers say something about other recipients; not where each names a service of their own.
    fn answers_for_all(&self) -> bool {
        true
    }

    /// The request for a login that has to come first, if there has to be one now. One in several steps asks for the next
    /// after each answer; no two logins of a channel are under way at once.
    ///
    /// # Errors
    /// The outcome of the message that waits for it, where there can be no login.
    fn login(&self, _now: Instant) -> Result<Option<HttpRequest>, Outcome> {
        Ok(None)
    }

    /// Keeps the result of a login.
    ///
    /// # Errors
    /// The outcome of the message that waits for it.
    fn logged_in(&self, _answer: &HttpAnswer, _now: Instant) -> Result<(), Outcome> {
        Ok(())
    }

    /// The request that hands a message over to one address. Keys and signatures that must be fresh are drawn here.
    ///
    /// # Errors
    /// The outcome of a message that can't be put into one.
    fn request(&self, message: &Rendered, to: &str, now: Instant) -> Result<HttpRequest, Outcome>;

    /// The outcome of an answer.
    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome;

    /// The new address of a recipient that has moved, according to an answer.
    fn moved_to(&self, _answer: &HttpAnswer, _from: &str) -> Option<String> {
        None
    }

    /// The outcome if the provider, or the host that the recipient names, can't be reached.
    fn unreachable(&self, why: String) -> Outcome {
        let scope = if self.answers_for_all() { Scope::Provider } else { Scope::Destination };
        Outcome::Away { scope, why, after_ms: None }
    }
}

impl HttpRequest {
    /// A request with a JSON body.
    pub(crate) fn json(url: String, body: &serde_json::Value) -> Self {
        Self {
            method: "POST",
            url,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.to_string().into_bytes(),
        }
    }

    /// A request without a body.
    pub(crate) fn bare(method: &'static str, url: String) -> Self {
        Self { method, url, headers: Vec::new(), body: Vec::new() }
    }

    /// The same request with another header.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl HttpAnswer {
    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The content as JSON; null where it is none.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The wait in milliseconds that `Retry-After` asks for.
    pub(crate) fn retry_after_ms(&self, now: Instant) -> Option<i64> {
        let text = self.header("retry-after")?.trim();
        let ms = match text.parse::<i64>() {
            Ok(seconds) => seconds.checked_mul(1_000)?,
            Err(_) => date(text)?.0 - now.0,
        };
        (ms > 0).then_some(ms.min(WAIT_MS_MAX))
    }

    /// The outcome by the status, of a provider that the configuration names. `code` is its own word for the fault,
    /// without anything of the message.
    pub(crate) fn of_provider(&self, code: Option<&str>, now: Instant) -> Outcome {
        let why = self.why(code);
        let after_ms = self.retry_after_ms(now);
        match self.status {
            200..=299 => sent(None),
            // Our access, our account, our quota: an operator's to mend. A redirection, and whatever else is no answer
            // about the message. What passes by itself.
            0..=399 | 401..=403 | 407 | 408 | 425 | 429 | 500 | 503 | 507 => {
                Outcome::Away { scope: Scope::Provider, why, after_ms }
            }
            // A gateway that answers may have passed the request on.
            500..=599 => Outcome::Unknown { why },
            _ => Outcome::Failed { why, suppress: None },
        }
    }

    /// The outcome by the status of a service that a recipient names, which says nothing about other recipients.
    pub(crate) fn of_address(&self, code: Option<&str>, now: Instant) -> Outcome {
        match (self.of_provider(code, now), self.status) {
            (Outcome::Away { why, .. }, 300..=403 | 407) => Outcome::Failed { why, suppress: None },
            (Outcome::Away { why, after_ms, .. }, _) => Outcome::Retry { why, after_ms },
            (Outcome::Failed { why, .. }, 404 | 410) => {
                Outcome::Failed { why, suppress: Some(SuppressedFor::Gone) }
            }
            (other, _) => other,
        }
    }

    /// The answer in words for operators: its status, and the provider's own code where that is one.
    pub(crate) fn why(&self, code: Option<&str>) -> String {
        match code.filter(|code| is_code(code)) {
            Some(code) => format!("reply: {} {code}", self.status),
            None => format!("reply: {}", self.status),
        }
    }
}

/// The receipt with a provider's own name for a message.
pub(crate) fn sent(reference: Option<&str>) -> Outcome {
    let reference =
        reference.map(|text| text.chars().filter(|c| !c.is_control()).take(200).collect());
    Outcome::Sent(Receipt { reference, dead: Vec::new() })
}

/// The longest wait that a provider may ask for.
const WAIT_MS_MAX: i64 = 24 * 3_600_000;

/// Returns true if a word of a provider is a code, which can't hold anything of a message or of an address.
fn is_code(text: &str) -> bool {
    (1..=80).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-:#[]".contains(&b))
}

/// The instant of a date of HTTP (RFC 9110, section 5.6.7), in any of its three forms.
fn date(text: &str) -> Option<Instant> {
    let since_epoch = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since_epoch.as_millis()).ok().map(Instant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, header: Option<(&'static str, &str)>) -> HttpAnswer {
        let headers = header.map(|(name, value)| {
            let name = ureq::http::HeaderName::from_static(name);
            (name, value.parse().unwrap())
        });
        HttpAnswer { status, headers: headers.into_iter().collect(), body: Vec::new() }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Instant::parse("2024-03-07T08:00:00Z").unwrap();
        let wait = |text: &str| answer(429, Some(("retry-after", text))).retry_after_ms(now);
        assert_eq!(wait("120"), Some(120_000));
        for date in [
            "Thu, 07 Mar 2024 08:01:00 GMT",
            "Thursday, 07-Mar-24 08:01:00 GMT",
            "Thu Mar  7 08:01:00 2024",
        ] {
            assert_eq!(wait(date), Some(60_000), "{date}");
        }
        for none in ["-1", "0", "soon", "Thu, 07 Mar 2024 07:01:00 GMT", "1.5"] {
            assert_eq!(wait(none), None, "{none}");
        }
        assert_eq!(wait("9999999"), Some(WAIT_MS_MAX));
    }

    #[test]
    fn t20_a_status_has_one_class() {
        let now = Instant(0);
        let of = |outcome: Outcome| match outcome {
            Outcome::Sent(_) => "sent",
            Outcome::Away { .. } => "away",
            Outcome::Retry { .. } => "retry",
            Outcome::Unknown { .. } => "unknown",
            Outcome::Failed { suppress: Some(_), .. } => "dead",
            Outcome::Failed { .. } => "failed",
            Outcome::Template { .. } => "template",
            Outcome::SoftBounce { .. } => "soft bounce",
            Outcome::Withheld => "withheld",
        };
        for (status, provider, address) in [
            (200, "sent", "sent"),
            (202, "sent", "sent"),
            (302, "away", "failed"),
            (400, "failed", "failed"),
            (401, "away", "failed"),
            (403, "away", "failed"),
            (404, "failed", "dead"),
            (408, "away", "retry"),
            (410, "failed", "dead"),
            (413, "failed", "failed"),
            (422, "failed", "failed"),
            (429, "away", "retry"),
            (500, "away", "retry"),
            (502, "unknown", "unknown"),
            (503, "away", "retry"),
            (504, "unknown", "unknown"),
        ] {
            let answer = answer(status, None);
            assert_eq!(of(answer.of_provider(None, now)), provider, "{status}");
            assert_eq!(of(answer.of_address(None, now)), address, "{status}");
        }
    }

    #[test]
    fn a_providers_text_is_shown_if_it_is_a_code() {
        let answer = answer(400, None);
        assert_eq!(answer.why(Some("MessageRejected")), "reply: 400 MessageRejected");
        assert_eq!(answer.why(Some("no mailbox ann@example.org")), "reply: 400");
        assert_eq!(answer.why(None), "reply: 400");
    }
}
