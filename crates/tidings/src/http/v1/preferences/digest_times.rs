//! The times of digests that a recipient may choose, and those in force.

use serde::Serialize;
use tidings_core::command::Choice;
use tidings_core::preference::SlotDay;
use tidings_core::rules::{Choosable, Digest, Every};
use tidings_core::{Id, Mode, PreferenceScope, Rules};
use utoipa::ToSchema;

use crate::body::preference::Word;

/// The times of a digest for a recipient.
#[derive(Serialize, ToSchema)]
#[schema(as = DigestTimes)]
pub(super) struct DigestTimes {
    /// The digest.
    digest: String,
    /// The times that may be chosen: `on`, `at` or both.
    choose: Vec<&'static str>,
    /// `day`, `weekday`, `week` or `month`.
    every: &'static str,
    /// The day in force, `mon` to `sun`, or 1 to 31; null for digests of each day.
    on: Option<Word>,
    /// The time in force.
    at: String,
    /// Where the day comes from.
    on_from: TimeFrom,
    /// Where the time comes from.
    at_from: TimeFrom,
}

/// Where a time of a digest comes from.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = DigestTimeFrom)]
enum TimeFrom {
    /// The recipient, for entries of the tenant.
    Tenant,
    /// The recipient.
    Recipient,
    /// The digest.
    Default,
}

/// The digests that let recipients choose times, by name.
pub(super) fn digest_times(
    rules: &Rules,
    chosen: &[Choice],
    tenant: Option<&Id>,
) -> Vec<DigestTimes> {
    let open = rules.digests.iter().filter(|(_, digest)| digest.choose != Choosable::default());
    open.map(|(name, digest)| DigestTimes::of(name, digest, chosen, tenant)).collect()
}

impl DigestTimes {
    fn of(name: &str, digest: &Digest, chosen: &[Choice], tenant: Option<&Id>) -> Self {
        let said = |scope: PreferenceScope| {
            let by = |tenant: Option<&Id>| {
                chosen.iter().find(|of| of.scope == scope && of.tenant.as_ref() == tenant)
            };
            let of_tenant = tenant.and_then(|_| by(tenant)).map(|of| (&of.mode, TimeFrom::Tenant));
            of_tenant.or_else(|| by(None).map(|of| (&of.mode, TimeFrom::Recipient)))
        };
        let usual = match digest.every {
            Every::Week(day) => Some(SlotDay::Week(day)),
            Every::Month(day) => Some(SlotDay::Month(day)),
            Every::Day | Every::Weekday | Every::Hours(_) => None,
        };
        let (on, on_from) = match said(PreferenceScope::DigestDay(name.to_owned())) {
            Some((Mode::Day(day), from)) => (Some(*day), from),
            _ => (usual, TimeFrom::Default),
        };
        let (minute, at_from) = match said(PreferenceScope::DigestTime(name.to_owned())) {
            Some((Mode::Time(minute), from)) => (*minute, from),
            _ => (digest.at_minute, TimeFrom::Default),
        };
        Self {
            digest: name.to_owned(),
            choose: digest.choose.words(),
            every: match digest.every {
                Every::Week(_) => "week",
                Every::Month(_) => "month",
                Every::Weekday => "weekday",
                Every::Day | Every::Hours(_) => "day",
            },
            on: on.map(Word::from),
            at: Mode::Time(minute).to_string(),
            on_from,
            at_from,
        }
    }
}
