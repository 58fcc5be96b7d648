//! Suppressed addresses, and what reports say of them.

use tidings_core::suppression::{AddressReport, ChannelAddress, SuppressedFor};
use tidings_core::time::DAY_MS;
use tidings_core::{Instant, RecipientChange};

use super::Model;

/// The suppression of an address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barred {
    pub(super) reason: SuppressedFor,
    pub(super) since: Instant,
    pub(super) until: Option<Instant>,
}

impl Barred {
    pub(super) fn holds(&self, at: Instant) -> bool {
        self.until.is_none_or(|until| at < until)
    }
}

impl Model {
    /// Takes addresses off the list that were gone and that the host names again.
    pub(super) fn take_back(&mut self, change: &RecipientChange) {
        for (channel, addresses) in &change.addresses {
            for address in addresses {
                let named = ChannelAddress::new(*channel, address);
                let known = self.suppressed.get(&named);
                if known.is_some_and(|barred| barred.reason == SuppressedFor::Gone) {
                    self.lift(named);
                }
            }
        }
    }

    /// Puts an address on the list.
    pub(super) fn suppress(
        &mut self,
        address: ChannelAddress,
        reason: SuppressedFor,
        until: Option<Instant>,
    ) {
        let since = self.now;
        let barred = Barred { reason, since, until };
        self.bounces.remove(&address);
        self.suppressed.insert(address, barred);
    }

    /// Takes an address off the list.
    pub(super) fn lift(&mut self, address: ChannelAddress) {
        self.bounces.remove(&address);
        self.suppressed.remove(&address);
        self.lifted.insert(address, self.now);
    }

    /// Does what a report says of an address.
    pub(super) fn hear_of_address(
        &mut self,
        address: ChannelAddress,
        report: AddressReport,
        at: Instant,
    ) {
        let now = self.now;
        let suppressed = match report {
            AddressReport::Suppressed(reason) => Some(reason),
            AddressReport::OptedIn => None,
            AddressReport::Bounced => return self.hear_of_bounce(address, at),
            AddressReport::Arrived => {
                let bounces = self.bounces.entry(address).or_default();
                return bounces.retain(|bounce| *bounce > at);
            }
        };
        let barred = self.suppressed.get(&address);
        let barred = barred.filter(|barred| barred.holds(now)).copied();
        match (suppressed, barred) {
            (None, Some(barred)) if barred.reason == SuppressedFor::Stop && barred.since <= at => {
                self.suppressed.remove(&address);
                self.lifted.insert(address, at);
            }
            (None, _) => {}
            (Some(_), _) if self.lifted.get(&address).is_some_and(|lifted| at <= *lifted) => {}
            (Some(reason), barred) => {
                let kept = barred.filter(|_| reason == SuppressedFor::Stop);
                let barred = Barred {
                    reason: kept.map_or(reason, |kept| kept.reason),
                    since: at,
                    until: None,
                };
                self.bounces.remove(&address);
                self.suppressed.insert(address, barred);
            }
        }
    }

    /// Counts days on which a message came back: the fifth within 30 days bars the address for as long.
    fn hear_of_bounce(&mut self, address: ChannelAddress, at: Instant) {
        const MONTH_MS: i64 = 30 * DAY_MS;
        let yesterday = self.now.plus_ms(-DAY_MS);
        let barred = self.suppressed.get(&address);
        let is_barred = barred.is_some_and(|barred| barred.holds(yesterday));
        let lifted = self.lifted.get(&address);
        if is_barred || lifted.is_some_and(|lifted| *lifted > yesterday) {
            return;
        }
        let bounces = self.bounces.entry(address.clone()).or_default();
        if bounces.iter().any(|bounce| bounce.day() == at.day()) {
            return;
        }
        bounces.push(at);
        let last = *bounces.iter().max().expect("there is one");
        bounces.retain(|bounce| bounce.plus_ms(MONTH_MS) > last);
        if bounces.len() >= 5 {
            self.bounces.remove(&address);
            let barred = Barred {
                reason: SuppressedFor::Bounce,
                since: at,
                until: Some(last.plus_ms(MONTH_MS)),
            };
            self.suppressed.insert(address, barred);
        }
    }
}
