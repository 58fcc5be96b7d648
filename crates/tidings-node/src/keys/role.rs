//! The role of an API key.

/// The calls that an API key opens (contract, section 9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reading.
    Read,
    /// Reading; events, objects, recipients and subscriptions.
    Publish,
    /// Reading; pauses, flushes, cancels, withdrawals, retries and suppressions.
    Operate,
    /// Everything.
    #[default]
    Admin,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Publish, Self::Operate, Self::Admin];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Publish => "publish",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }

    /// The number that stands for it in the store. Numbers are never given again.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::Publish => 2,
            Self::Operate => 3,
            Self::Admin => 4,
        }
    }

    pub(super) fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.number() == number)
    }
}
