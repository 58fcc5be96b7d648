//! The priority of messages.

/// The priority of a lane's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Interactive: the recipient waits for it.
    Interactive,
    /// Bulk: it is a digest. There may be very many of them at once, so the others go first.
    Bulk,
}

impl Priority {
    /// The priority of a lane, by its name: those of digests are reserved (contract, section 2).
    #[must_use]
    pub fn of(lane: &str) -> Self {
        if lane.starts_with("digest:") { Self::Bulk } else { Self::Interactive }
    }
}
