//! Suppressed addresses, and what reports say of them.

use tidings_core::Instant;
use tidings_core::suppression::{ChannelAddress, SuppressedFor};

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
