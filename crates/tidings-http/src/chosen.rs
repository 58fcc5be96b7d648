//! The choices that a configuration leaves to people: what the API lists, and the page behind mails.

use serde::Serialize;
use tidings_core::model::{Choice, Mode, PreferenceScope, SlotDay, Tenant};
use tidings_core::rules::{Digest, Every, Policy};
use tidings_core::{Id, Recipient, Rules};
use utoipa::ToSchema;

/// The mode by which a type comes on a channel as its rules say, whatever is chosen for its category or for all.
pub(super) fn own(rules: &Rules, event_type: &str, channel: &str) -> Mode {
    let of_type = rules.types.get(event_type);
    match of_type.and_then(|of_type| Some(&of_type.channels.get(channel)?.policy)) {
        Some(Policy::Digest { digest }) => Mode::Digest(digest.clone()),
        _ => Mode::Immediate,
    }
}

/// The digests, the most frequent first.
pub(super) fn digests(rules: &Rules) -> Vec<(&str, &Digest)> {
    let digests = rules.digests.iter();
    let mut digests: Vec<(&str, &Digest)> =
        digests.map(|(name, digest)| (name.as_str(), digest)).collect();
    digests.sort_by_key(|(_, digest)| hours(digest.every));
    digests
}

/// About how many hours lie between two slots.
pub(super) fn hours(every: Every) -> u32 {
    match every {
        Every::Hours(hours) => u32::from(hours),
        Every::Day => 24,
        Every::Weekday => 34,
        Every::Week(_) => 7 * 24,
        Every::Month(_) => 30 * 24,
    }
}

/// The zone of a recipient's wall clock: their own, else the tenant's, else the default.
pub(super) fn zone<'z>(
    rules: &'z Rules,
    recipient: Option<&'z Recipient>,
    tenant: Option<&'z Tenant>,
) -> &'z str {
    let own = recipient.and_then(|of| of.tz.as_deref());
    own.or(tenant.and_then(|of| of.tz.as_deref())).unwrap_or(&rules.defaults.tz)
}

/// The source of a time of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = DigestTimeFrom)]
pub(super) enum TimeFrom {
    /// The recipient, for entries of the tenant.
    Tenant,
    /// The recipient.
    Recipient,
    /// The digest.
    Default,
}

/// A day or a time of a digest's slots for a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotTime<T> {
    /// The one in force.
    pub(super) now: T,
    pub(super) from: TimeFrom,
    /// The one in force once the choice is taken back: for a tenant the recipient's own, else the digest's.
    pub(super) default: T,
}

/// The times of a digest's slots for a recipient.
pub(super) struct SlotTimes {
    /// `None` = the digest has slots on each day.
    pub(super) day: Option<SlotTime<SlotDay>>,
    /// In minutes after local midnight.
    pub(super) minute: SlotTime<u16>,
}

impl SlotTimes {
    /// The times by the choices of a recipient, for entries of a tenant or of none.
    pub(super) fn of(name: &str, digest: &Digest, chosen: &[Choice], tenant: Option<&Id>) -> Self {
        let said = |scope: PreferenceScope, tenant: Option<&Id>| {
            let of = chosen.iter().find(|of| of.scope == scope && of.tenant.as_ref() == tenant);
            of.map(|of| &of.mode)
        };
        let day = |tenant: Option<&Id>| match said(PreferenceScope::DigestDay(name.into()), tenant)
        {
            Some(Mode::Day(day)) => Some(*day),
            _ => None,
        };
        let minute =
            |tenant: Option<&Id>| match said(PreferenceScope::DigestTime(name.into()), tenant) {
                Some(Mode::Time(minute)) => Some(*minute),
                _ => None,
            };
        let usual = match digest.every {
            Every::Week(day) => Some(SlotDay::Week(day)),
            Every::Month(day) => Some(SlotDay::Month(day)),
            Every::Day | Every::Weekday | Every::Hours(_) => None,
        };
        Self {
            day: usual.map(|usual| SlotTime::of(usual, day, tenant)),
            minute: SlotTime::of(digest.at_minute, minute, tenant),
        }
    }
}

impl<T: Copy> SlotTime<T> {
    fn of(usual: T, said: impl Fn(Option<&Id>) -> Option<T>, tenant: Option<&Id>) -> Self {
        let general = match said(None) {
            Some(now) => Self { now, from: TimeFrom::Recipient, default: usual },
            None => Self { now: usual, from: TimeFrom::Default, default: usual },
        };
        let Some(tenant) = tenant else {
            return general;
        };
        let default = general.now;
        match said(Some(tenant)) {
            Some(now) => Self { now, from: TimeFrom::Tenant, default },
            None => Self { default, ..general },
        }
    }
}
