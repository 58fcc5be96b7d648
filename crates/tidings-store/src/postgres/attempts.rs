//! Attempts of a call: how long it is tried, and the waits between.

use std::time::Duration;

/// Time that a call may take, and for which it is tried again where connections break.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The wait between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// The waits after each attempt of a call that takes so long; none after the last.
pub(super) fn pauses(patience: Duration) -> impl Iterator<Item = Option<Duration>> {
    let count = usize::try_from(patience.as_millis() / PAUSE.as_millis()).unwrap_or(1);
    let pauses = std::iter::repeat_n(Some(PAUSE), count);
    pauses.chain([None])
}
