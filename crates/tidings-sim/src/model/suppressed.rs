//! Suppressed addresses, and the effect of reports on them.

use std::collections::BTreeMap;

use tidings_core::Instant;
use tidings_core::model::{
    AddressReport, ChannelAddress, DAY_MS, RecipientChange, SuppressedFor, SuppressionSource,
};

/// The suppression of an address.
#[derive(Clone, Copy, Debug)]
struct AddressSuppression {
    reason: SuppressedFor,
    since: Instant,
    until: Option<Instant>,
}

impl AddressSuppression {
    fn holds(&self, at: Instant) -> bool {
        self.until.is_none_or(|until| at < until)
    }
}

/// The list of suppressed addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct SuppressionList {
    listed: BTreeMap<ChannelAddress, AddressSuppression>,
    /// When suppressions were lifted.
    lifted: BTreeMap<ChannelAddress, Instant>,
    /// When messages came back, since the last that arrived.
    bounces: BTreeMap<ChannelAddress, Vec<(Instant, SuppressionSource)>>,
}

impl SuppressionList {
    /// Returns true if an address is on the list at an instant.
    pub(super) fn has(&self, address: &ChannelAddress, now: Instant) -> bool {
        self.listed.get(address).is_some_and(|barred| barred.holds(now))
    }

    /// Takes addresses off the list that were gone and that the host names again.
    pub(super) fn take_back(&mut self, change: &RecipientChange, now: Instant) {
        for (channel, addresses) in &change.addresses {
            for address in addresses {
                self.given(ChannelAddress::new(*channel, &address.text), now);
            }
        }
    }

    /// Lifts the suppression of an address that had left and is given again.
    pub(super) fn given(&mut self, address: ChannelAddress, now: Instant) {
        let known = self.listed.get(&address);
        if known.is_some_and(|barred| barred.reason == SuppressedFor::Gone) {
            self.lift(address, now);
        }
    }

    /// Puts an address on the list.
    pub(super) fn suppress(
        &mut self,
        address: ChannelAddress,
        reason: SuppressedFor,
        until: Option<Instant>,
        now: Instant,
    ) {
        let barred = AddressSuppression { reason, since: now, until };
        self.bounces.remove(&address);
        self.listed.insert(address, barred);
    }

    /// Takes an address off the list.
    pub(super) fn lift(&mut self, address: ChannelAddress, now: Instant) {
        self.bounces.remove(&address);
        self.listed.remove(&address);
        self.lifted.insert(address, now);
    }

    /// Applies a provider's report about an address.
    pub(super) fn note_address_report(
        &mut self,
        address: ChannelAddress,
        report: AddressReport,
        at: Instant,
        now: Instant,
    ) {
        let suppressed = match report {
            AddressReport::Suppressed(reason) => Some(reason),
            AddressReport::OptedIn => None,
            AddressReport::Bounced(source) => {
                return self.note_bounce(address, at, source, now);
            }
            AddressReport::Arrived(source) => {
                let bounces = self.bounces.entry(address).or_default();
                // An accepted message proves nothing about refusals by other providers or later bounces.
                return bounces.retain(|(bounce, by)| {
                    *bounce > at || (source != SuppressionSource::Report && source != *by)
                });
            }
        };
        let barred = self.listed.get(&address);
        let barred = barred.filter(|barred| barred.holds(now)).copied();
        match (suppressed, barred) {
            (None, Some(barred)) if barred.reason == SuppressedFor::Stop && barred.since <= at => {
                self.listed.remove(&address);
                self.lifted.insert(address, at);
            }
            (None, _) => {}
            (Some(_), _) if self.lifted.get(&address).is_some_and(|lifted| at <= *lifted) => {}
            (Some(reason), barred) => {
                let kept = barred.filter(|_| reason == SuppressedFor::Stop);
                let barred = AddressSuppression {
                    reason: kept.map_or(reason, |kept| kept.reason),
                    since: at,
                    until: None,
                };
                self.bounces.remove(&address);
                self.listed.insert(address, barred);
            }
        }
    }

    /// Counts days on which a message came back: the fifth within 30 days bars the address for as long.
    fn note_bounce(
        &mut self,
        address: ChannelAddress,
        at: Instant,
        source: SuppressionSource,
        now: Instant,
    ) {
        const MONTH_MS: i64 = 30 * DAY_MS;
        let yesterday = now.plus_ms(-DAY_MS);
        let barred = self.listed.get(&address);
        let is_barred = barred.is_some_and(|barred| barred.holds(yesterday));
        let lifted = self.lifted.get(&address);
        if is_barred || lifted.is_some_and(|lifted| *lifted > yesterday) {
            return;
        }
        let bounces = self.bounces.entry(address.clone()).or_default();
        // Of a day one counts: a report, if there is one.
        if let Some(same) = bounces.iter().position(|(bounce, _)| bounce.day() == at.day()) {
            if bounces[same].1 == SuppressionSource::Report || source != SuppressionSource::Report {
                return;
            }
            bounces.remove(same);
        }
        bounces.push((at, source));
        let last = bounces.iter().map(|(bounce, _)| *bounce).max().expect("there is one");
        bounces.retain(|(bounce, _)| bounce.plus_ms(MONTH_MS) > last);
        if bounces.len() >= 5 {
            self.bounces.remove(&address);
            let barred = AddressSuppression {
                reason: SuppressedFor::Bounce,
                since: at,
                until: Some(last.plus_ms(MONTH_MS)),
            };
            self.listed.insert(address, barred);
        }
    }
}
