//! Trying again: what may be tried again, when, and how often.

use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};

use crate::generated::error::Error;

/// The longest wait that is not the server's wish.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// The longest wait that a server may wish for: beyond it the caller is asked.
const WISH_MAX: Duration = Duration::from_secs(60);

/// The failure of one try.
pub(crate) struct Fault {
    pub(crate) error: Error,
    /// The wait that the server wishes for (`Retry-After`).
    pub(crate) wish: Option<Duration>,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let wish = error.problem().and_then(|problem| problem.retry_after);
        Self { error, wish }
    }
}

/// The tries of a call that are left.
#[derive(Clone, Debug)]
pub(crate) struct Retry {
    max: u32,
    used: u32,
    first: Duration,
}

impl Retry {
    pub(crate) fn new(max: u32, first: Duration) -> Self {
        Self { max, used: 0, first }
    }

    /// Something has succeeded: what fails now is another fault.
    pub(crate) fn reset(&mut self) {
        self.used = 0;
    }

    /// Waits for the next try after a fault, or hands the fault back.
    pub(crate) async fn after(&mut self, fault: impl Into<Fault>) -> Result<(), Error> {
        let Fault { error, wish } = fault.into();
        let is_long = wish.is_some_and(|wish| wish > WISH_MAX);
        if self.used >= self.max || is_long || !error.is_temporary() {
            return Err(error);
        }
        let wait = wait(self.first, self.used, wish, random());
        self.used += 1;
        tracing::debug!(%error, wait_ms = wait.as_millis(), "a call is tried again");
        tokio::time::sleep(wait).await;
        Ok(())
    }
}

/// The wait before a try: doubling, with jitter, and never before the server wishes.
fn wait(first: Duration, used: u32, wish: Option<Duration>, random: u64) -> Duration {
    let longest = first.saturating_mul(1 << used.min(16)).min(WAIT_MAX.max(first));
    // Of a half to all of it.
    let part = 0.5 + 0.5 * (random >> 11) as f64 / (1_u64 << 53) as f64;
    let jittered = longest.mul_f64(part);
    match wish {
        // All who were told to wait as long don't come at once.
        Some(wish) if wish + jittered / 2 > jittered => wish + jittered / 2,
        _ => jittered,
    }
}

fn random() -> u64 {
    let mut bytes = [0; 8];
    // Without randomness the jitter is none.
    let _ = SystemRandom::new().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// A new id of a request, or of what it does.
pub(crate) fn id() -> String {
    format!("{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_within_bounds_and_heed_the_server() {
        let first = Duration::from_millis(200);
        for (used, longest) in [(0, 200), (1, 400), (2, 800), (5, 5_000), (40, 5_000)] {
            let longest = Duration::from_millis(longest);
            assert_eq!(wait(first, used, None, 0), longest / 2);
            assert!(wait(first, used, None, u64::MAX) <= longest);
        }
        let wish = Some(Duration::from_secs(3));
        for random in [0, u64::MAX / 2, u64::MAX] {
            let waited = wait(first, 0, wish, random);
            assert!(waited > Duration::from_secs(3) && waited < Duration::from_secs(4));
        }
        assert_ne!(wait(first, 3, None, 1 << 60), wait(first, 3, None, 1 << 62));
    }

    #[test]
    fn ids_are_apart() {
        assert_ne!(id(), id());
        assert_eq!(id().len(), 32);
    }
}
