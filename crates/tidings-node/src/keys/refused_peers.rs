//! Refused sign-ins: each peer has a line of them in the log of changes once a minute.

use std::collections::HashMap;

use tidings_core::Instant;
use tidings_core::model::MINUTE_MS;

use crate::handle::shares::CallerId;

/// The most peers that are remembered: with more of them in a minute the rest have no line.
const PEERS_MAX: usize = 10_000;

/// The instants of the last lines, by peer.
#[derive(Debug, Default)]
pub(crate) struct RefusedPeers {
    logged: HashMap<CallerId, Instant>,
}

impl RefusedPeers {
    /// Returns true if a refusal of a peer is to be logged, and counts that as done.
    pub(crate) fn is_to_log(&mut self, peer: &CallerId, now: Instant) -> bool {
        let is_recent = |at: &Instant| now < at.plus_ms(MINUTE_MS);
        if self.logged.get(peer).is_some_and(is_recent) {
            return false;
        }
        if self.logged.len() >= PEERS_MAX {
            self.logged.retain(|_, at| is_recent(at));
        }
        let has_room = self.logged.len() < PEERS_MAX;
        if has_room {
            self.logged.insert(peer.clone(), now);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn peer(number: u32) -> CallerId {
        CallerId::Address(IpAddr::V4(Ipv4Addr::from_bits(number)))
    }

    #[test]
    fn a_peer_has_a_line_a_minute() {
        let mut refusals = RefusedPeers::default();
        let mut is_to_log = |of: u32, s: i64| refusals.is_to_log(&peer(of), Instant(s * 1_000));
        assert!(is_to_log(1, 0) && !is_to_log(1, 1) && is_to_log(2, 1));
        assert!(!is_to_log(1, 59) && is_to_log(1, 60) && !is_to_log(1, 61));
    }

    #[test]
    fn many_peers_take_a_bounded_room() {
        let mut refusals = RefusedPeers::default();
        for number in 0..PEERS_MAX as u32 {
            assert!(refusals.is_to_log(&peer(number), Instant(0)));
        }
        assert!(!refusals.is_to_log(&peer(u32::MAX), Instant(0)));
        assert!(refusals.is_to_log(&peer(u32::MAX), Instant(MINUTE_MS)));
        assert_eq!(refusals.logged.len(), 1);
    }
}
