//! Calls of providers, which are believed for a while after they were signed.

use axum::body::Bytes;
use axum::http::HeaderMap;
use serde::de::DeserializeOwned;
use tidings_core::Instant;
use tidings_core::model::{DAY_MS, MINUTE_MS};

use crate::error::{Code, Problem};

/// The age from which on a signed call is not believed any more.
const AGE_MS_MAX: i64 = DAY_MS;
/// The time by which a provider's clock may be ahead.
const AHEAD_MS_MAX: i64 = 5 * MINUTE_MS;

/// A provider's call.
pub(crate) struct Call<'c> {
    pub(crate) headers: &'c HeaderMap,
    pub(crate) body: &'c Bytes,
    pub(crate) now: Instant,
}

impl Call<'_> {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let json = serde_json::from_slice(self.body);
        json.map_err(|fault| Problem::new(Code::InvalidBody, fault.to_string()))
    }

    /// The instant of a call that was signed then, if it is believed now. No report of it is of later.
    pub(crate) fn of_now(&self, signed: Instant) -> Result<Instant, Problem> {
        let age = self.now.0.saturating_sub(signed.0);
        if (-AHEAD_MS_MAX..=AGE_MS_MAX).contains(&age) {
            return Ok(signed.min(self.now));
        }
        Err(not_signed("its time is not of the last 24 hours; compare the clocks"))
    }

    /// The same of a second since 1970, as text.
    pub(crate) fn of_second(&self, seconds: &str) -> Result<Instant, Problem> {
        let seconds: Option<i64> = seconds.parse().ok();
        let signed = seconds.and_then(|seconds| seconds.checked_mul(1_000));
        self.of_now(Instant(signed.unwrap_or(i64::MIN)))
    }
}

pub(crate) fn not_signed(why: &str) -> Problem {
    Problem::new(Code::Unauthorized, format!("the call is not signed: {why}"))
}
