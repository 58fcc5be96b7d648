//! Versions of the protocol: one without sessions, and three that begin with a handshake.

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProtocolVersion {
    /// Each request stands alone, and names its version itself.
    V20260728,
    V20251125,
    V20250618,
    V20250326,
}

impl ProtocolVersion {
    /// All that are spoken, the newest first.
    pub(super) const ALL: [Self; 4] =
        [Self::V20260728, Self::V20251125, Self::V20250618, Self::V20250326];

    /// The one that a client of the handshake gets where it asks for one that is not spoken.
    pub(super) const NEWEST_OF_HANDSHAKE: Self = Self::V20251125;

    /// The one of a client that names none.
    pub(super) const UNNAMED: Self = Self::V20250326;

    /// The version of a name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::V20260728 => "2026-07-28",
            Self::V20251125 => "2025-11-25",
            Self::V20250618 => "2025-06-18",
            Self::V20250326 => "2025-03-26",
        }
    }

    /// Returns true if requests name their version and the client's capabilities themselves.
    pub(super) const fn is_stateless(self) -> bool {
        matches!(self, Self::V20260728)
    }

    /// The names of all.
    pub(super) fn names() -> [&'static str; 4] {
        Self::ALL.map(Self::name)
    }
}
