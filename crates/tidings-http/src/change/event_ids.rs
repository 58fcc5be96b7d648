//! Ids for events without one: sorted by time, and unique.

use std::sync::Mutex;

use ring::digest::{SHA256, digest};
use tidings_core::{Id, Instant};
use tidings_node::Once;
use uuid::timestamp::context::ContextV7;
use uuid::{Timestamp, Uuid};

/// A generator of ids.
#[derive(Debug, Default)]
pub(crate) struct EventIds(Mutex<ContextV7>);

impl EventIds {
    /// A new id: of two, the later sorts behind the earlier, and those of other processes are apart
    /// by random bits.
    pub(crate) fn next(&self, now: Instant) -> Id {
        let ms = now.0.max(0).unsigned_abs();
        let nanos = u32::try_from(ms % 1000).unwrap_or_default() * 1_000_000;
        let when = Timestamp::from_unix(&self.0, ms / 1000, nanos);
        named(Uuid::new_v7(when))
    }
}

/// The id of the `line`th event under an `Idempotency-Key`: sent again, it is the same event. With another content of
/// the line it is another.
pub(crate) fn derived(key: &str, line: u64, said: &[u8]) -> Id {
    let mut hashed = format!("{line}:{}:{key}", key.len()).into_bytes();
    hashed.extend_from_slice(said);
    let hash = digest(&SHA256, &hashed);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_ref()[..16]);
    named(Uuid::new_v8(bytes))
}

/// The id of an event of a request with an `Idempotency-Key`, by its place in the request: sent again, it is the same
/// event. Another request under the same key has others.
pub(crate) fn of_request(once: Once, place: usize) -> Id {
    let mut hashed = [once.key, once.request].concat();
    hashed.extend_from_slice(&(place as u64).to_be_bytes());
    let hash = digest(&SHA256, &hashed);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_ref()[..16]);
    named(Uuid::new_v8(bytes))
}

fn named(uuid: Uuid) -> Id {
    let mut text = Uuid::encode_buffer();
    Id::new(uuid.simple().encode_lower(&mut text)).expect("32 letters and digits are an id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_their_time_and_are_given_once() {
        let ids = EventIds::default();
        let now = Instant::parse("2024-01-01T00:00:00Z").unwrap();
        let given: Vec<Id> = (0..5_000).map(|n| ids.next(now.plus_ms(n / 1000))).collect();
        assert!(given.is_sorted_by(|a, b| a < b));
        assert!(ids.next(now.plus_ms(5)) > given[4_999]);
        assert_ne!(EventIds::default().next(now), EventIds::default().next(now));
    }

    #[test]
    fn what_is_derived_is_the_same_again() {
        assert_eq!(derived("k", 1, b"{}"), derived("k", 1, b"{}"));
        assert_ne!(derived("k", 1, b"{}"), derived("k", 1, b"[]"));
        assert_ne!(derived("k", 1, b"{}"), derived("k", 2, b"{}"));
        assert_ne!(derived("k", 11, b"{}"), derived("1k", 1, b"{}"));
        assert_ne!(derived("k", 1, b"y"), derived("ky", 1, b""));

        let once = |key, request| Once { key: [key; 16], request: [request; 16] };
        assert_eq!(of_request(once(1, 2), 0), of_request(once(1, 2), 0));
        for other in
            [of_request(once(1, 2), 1), of_request(once(1, 3), 0), of_request(once(2, 2), 0)]
        {
            assert_ne!(of_request(once(1, 2), 0), other);
        }
    }
}
