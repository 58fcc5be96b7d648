//! Kinds of lanes, and the numbers of a policy.

use serde::{Deserialize, Serialize};

use crate::rules::{Decide, Policy};

/// The kind of a lane: all its types share it, each with parameters of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LaneKind {
    /// Due at once.
    Now,
    /// Due some time after the first entry.
    FirstEvent(Decide),
    /// Due some time after the newest entry.
    Cooldown,
    /// The first entry is due at once, later ones wait.
    Leading,
    /// Due on the calendar of this name.
    Digest(String),
    /// Never due: the lane of paused types.
    Paused,
}

/// A policy's own numbers, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolicyParameters {
    /// `hold` of `first_event`, `quiet` of `cooldown` and `leading`; 0 for the others.
    pub wait_ms: i64,
    /// `max_wait` of `cooldown`.
    pub max_wait_ms: Option<i64>,
    /// `max_items`: the number of entries that makes a window due; 0 = none.
    pub max_items: u16,
}

impl LaneKind {
    /// The name of this kind's default lane.
    #[must_use]
    pub(crate) fn default_lane(&self) -> String {
        match self {
            Self::Now => "now".to_owned(),
            Self::FirstEvent(_) => "first_event".to_owned(),
            Self::Cooldown => "cooldown".to_owned(),
            Self::Leading => "leading".to_owned(),
            Self::Digest(name) => format!("digest:{name}"),
            Self::Paused => "paused".to_owned(),
        }
    }

    /// Returns true if its lanes may have batch keys.
    #[must_use]
    pub(crate) fn takes_keys(&self) -> bool {
        match self {
            Self::FirstEvent(_) | Self::Cooldown | Self::Leading => true,
            Self::Now | Self::Digest(_) | Self::Paused => false,
        }
    }

    /// The kind of lane that a policy puts its entries into; `None` for `never`.
    #[must_use]
    pub fn of(policy: &Policy) -> Option<Self> {
        Some(match policy {
            Policy::Now => Self::Now,
            Policy::FirstEvent { decide, .. } => Self::FirstEvent(*decide),
            Policy::Cooldown { .. } => Self::Cooldown,
            Policy::Leading { .. } => Self::Leading,
            Policy::Digest { digest } => Self::Digest(digest.clone()),
            Policy::Never => return None,
        })
    }
}

impl PolicyParameters {
    /// The parameters of a policy.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        let (wait_ms, max_wait_ms) = match *policy {
            Policy::FirstEvent { hold_ms, .. } => (hold_ms, None),
            Policy::Cooldown { quiet_ms, max_wait_ms } => (quiet_ms, max_wait_ms),
            Policy::Leading { quiet_ms } => (quiet_ms, None),
            Policy::Now | Policy::Digest { .. } | Policy::Never => (0, None),
        };
        Self { wait_ms, max_wait_ms, max_items: 0 }
    }
}
