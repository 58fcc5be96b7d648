//! The state of a process: what it does with its store, and with the lease that it is about to have.

use tidings_store::lease::Epoch;

use super::tenure::Tenure;
use crate::clock::monotonic::Monotonic;

/// The state of the store of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StorePhase {
    Idle,
    Opening(Tenure),
    Holding(Tenure),
    /// It closes, as requested.
    Closing(Tenure),
    /// It closes, or is opened in vain: another node has it, or it has failed.
    Losing(Tenure),
    Gone,
}

impl StorePhase {
    pub(super) fn tenure(self) -> Option<Tenure> {
        match self {
            Self::Opening(tenure)
            | Self::Holding(tenure)
            | Self::Closing(tenure)
            | Self::Losing(tenure) => Some(tenure),
            Self::Idle | Self::Gone => None,
        }
    }
}

/// The state of the lease that this process is about to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaseClaim {
    /// Since when it waits for the answer.
    Acquiring(Monotonic),
    /// It is acquired, and its store is not opened yet.
    Acquired(Epoch),
}
