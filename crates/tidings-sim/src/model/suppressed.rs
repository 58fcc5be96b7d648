//! Suppressed addresses, and what reports say of them.

use tidings_core::suppression::{ChannelAddress, SuppressedFor};
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
        let barred = Barred {
            reason,
            since,
            until,
        };
        self.suppressed.insert(address, barred);
    }

    /// Takes an address off the list.
    pub(super) fn lift(&mut self, address: ChannelAddress) {
        self.suppressed.remove(&address);
        self.lifted.insert(address, self.now);
    }

    /// Does what a report says of an address.
    pub(super) fn hear_of_address(
        &mut self,
        address: ChannelAddress,
        suppressed: Option<SuppressedFor>,
        at: Instant,
    ) {
        let now = self.now;
        let barred = self.suppressed.get(&address);
        let barred = barred.filter(|barred| barred.holds(now)).copied();
        match (suppressed, barred) {
            (None, Some(barred)) if barred.reason == SuppressedFor::Stop && barred.since <= at => {
                self.suppressed.remove(&address);
                self.lifted.insert(address, at);
            }
            (None, _) => {}
            (Some(_), _)
                if self
                    .lifted
                    .get(&address)
                    .is_some_and(|lifted| at <= *lifted) => {}
            (Some(reason), barred) => {
                let kept = barred.filter(|_| reason == SuppressedFor::Stop);
                let barred = Barred {
                    reason: kept.map_or(reason, |kept| kept.reason),
                    since: at,
                    until: None,
                };
                self.suppressed.insert(address, barred);
            }
        }
    }
}
