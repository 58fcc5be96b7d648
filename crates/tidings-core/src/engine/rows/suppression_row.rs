//! Entries of the list of suppressed addresses.

use serde::{Deserialize, Serialize};

use crate::model::suppression::{Suppression, SuppressionSource};
use crate::model::time::{DAY_MS, Instant};

/// The bounces with no arrival between them that suppress an address, each of another day.
pub(crate) const BOUNCES: usize = 5;
/// The time within which they are, and for which the address is suppressed then.
pub(crate) const BOUNCES_MS: i64 = 30 * DAY_MS;

/// A message that came back, where the next one may arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bounce {
    pub(crate) at: Instant,
    pub(crate) source: SuppressionSource,
}

/// The bounces of an address so far, one less than suppress it.
pub(crate) type Bounces = [Option<Bounce>; BOUNCES - 1];

/// An address in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SuppressionRow {
    /// It is suppressed.
    Suppressed(Suppression),
    /// It was taken off the list at this instant.
    Lifted(Instant),
    /// Messages to it came back, and nothing arrived since.
    Bouncing(Bounces),
}

impl SuppressionRow {
    /// The instant at which it expires.
    pub(crate) fn end(&self) -> Option<Instant> {
        match self {
            Self::Suppressed(suppression) => suppression.until,
            Self::Lifted(at) => Some(*at),
            Self::Bouncing(bounces) => {
                let last = bounces.iter().flatten().map(|bounce| bounce.at).max();
                Some(last.map_or(Instant::MIN, |last| last.plus_ms(BOUNCES_MS)))
            }
        }
    }
}
