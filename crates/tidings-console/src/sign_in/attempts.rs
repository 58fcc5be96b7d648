//! Bounds attempts to sign in: after ten that failed within a minute a peer waits for the next.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::PeerAddress;

const FAILURES_MAX: u32 = 10;
const WINDOW: SignedDuration = SignedDuration::from_secs(60);

/// The most peers that are counted apart: beyond them all others share one count.
const PEERS_MAX: usize = 4_096;

/// Failed attempts by peer, in the minute that began with the first of them.
#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<HashMap<Option<PeerAddress>, FailureWindow>>);

#[derive(Clone, Copy, Debug)]
struct FailureWindow {
    since: Timestamp,
    failures: u32,
}

impl Attempts {
    /// Returns true if a peer may try.
    pub(super) fn may(&self, peer: Option<PeerAddress>, now: Timestamp) -> bool {
        let windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let peer =
            if windows.len() < PEERS_MAX || windows.contains_key(&peer) { peer } else { None };
        let of = windows.get(&peer).filter(|window| window.is_open(now));
        of.is_none_or(|window| window.failures < FAILURES_MAX)
    }

    /// Counts an attempt that failed.
    pub(super) fn failed(&self, peer: Option<PeerAddress>, now: Timestamp) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= PEERS_MAX {
            windows.retain(|_, window| window.is_open(now));
        }
        let peer =
            if windows.len() < PEERS_MAX || windows.contains_key(&peer) { peer } else { None };
        let window = windows.entry(peer).or_insert(FailureWindow { since: now, failures: 0 });
        if !window.is_open(now) {
            *window = FailureWindow { since: now, failures: 0 };
        }
        window.failures += 1;
    }
}

impl FailureWindow {
    fn is_open(&self, now: Timestamp) -> bool {
        now.duration_since(self.since) < WINDOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn after_ten_failures_a_peer_waits_for_the_next_minute_and_others_do_not() {
        let attempts = Attempts::default();
        let peer = |last| Some(PeerAddress([10, 0, 0, last].into()));
        for second in 0..10 {
            assert!(attempts.may(peer(1), at(second)));
            attempts.failed(peer(1), at(second));
        }
        assert!(!attempts.may(peer(1), at(59)));
        assert!(attempts.may(peer(2), at(59)));
        assert!(attempts.may(peer(1), at(60)));
    }
}
