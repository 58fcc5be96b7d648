//! The rate at which a key may call tools.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// The calls of a key within any minute.
const CALLS_MAX: usize = 60;
const WINDOW: SignedDuration = SignedDuration::from_secs(60);

/// The instants of the last calls, by key.
#[derive(Debug, Default)]
pub(super) struct CallRate(Mutex<HashMap<String, VecDeque<Timestamp>>>);

impl CallRate {
    /// Counts a call of a key, or returns false if it has had its calls of this minute.
    pub(super) fn admits(&self, key: &str, now: Timestamp) -> bool {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Keys that have not called for a minute are forgotten, as revoked ones are.
        calls.retain(|_, instants| {
            while instants.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
                instants.pop_front();
            }
            !instants.is_empty()
        });
        let instants = calls.entry(key.to_owned()).or_default();
        let is_free = instants.len() < CALLS_MAX;
        if is_free {
            instants.push_back(now);
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_calls_sixty_times_in_any_minute_and_others_are_not_counted_with_it() {
        let rate = CallRate::default();
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        for call in 0..60 {
            assert!(rate.admits("a", at(call)), "{call}");
        }
        assert!(!rate.admits("a", at(59)));
        assert!(rate.admits("b", at(59)));
        // The first is a minute ago, the second is not.
        assert!(rate.admits("a", at(60)));
        assert!(!rate.admits("a", at(60)));
    }
}
