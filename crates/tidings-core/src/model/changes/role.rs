//! Roles of API keys and of people who are signed in.

use serde::{Deserialize, Serialize};

/// The calls that an API key opens, and what a person may do (contract, section 11). Of several roles of a person's groups
/// the greatest counts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Types and figures alone.
    Figures,
    /// Reading.
    Read,
    /// Reading; single messages, one recipient's waiting ones and tokens, and lifting a suppression.
    Support,
    /// Reading; events, objects, recipients and subscriptions.
    Publish,
    /// The rights of `support`; pauses, cancels, withdrawals, suppressions, and many messages at once.
    Operate,
    /// Everything.
    #[default]
    Admin,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Figures, Self::Read, Self::Support, Self::Publish, Self::Operate, Self::Admin];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Figures => "figures",
            Self::Read => "read",
            Self::Support => "support",
            Self::Publish => "publish",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }

    /// The role of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// The number that stands for it in the store. Numbers are never given again.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::Publish => 2,
            Self::Operate => 3,
            Self::Admin => 4,
            Self::Figures => 5,
            Self::Support => 6,
        }
    }

    /// The role of a number.
    #[must_use]
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.number() == number)
    }
}

#[cfg(test)]
mod tests {
    use super::Role;

    /// Numbers of rows that are stored (1 to 4 before there were `figures` and `support`).
    #[test]
    fn the_number_of_a_role_stays() {
        let stored = ["read", "publish", "operate", "admin", "figures", "support"];
        let read = (1..=7).map(|number| Role::of_number(number).map(Role::name));
        assert_eq!(read.collect::<Vec<_>>(), [stored.map(Some).as_slice(), &[None]].concat());
    }
}
