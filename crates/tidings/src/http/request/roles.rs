//! Roles of API keys: which of them may make a call.

use tidings_node::Role;

/// The requirement of a call on the role of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Needs {
    /// Any role.
    Reading,
    /// `publish`, or `admin`.
    Publish,
    /// `operate`, or `admin`.
    Operate,
    /// `admin`.
    Admin,
}

impl Needs {
    /// Returns true if a key of a role may make such a call.
    pub(in crate::http) fn allow(self, role: Role) -> bool {
        match self {
            Self::Reading => true,
            Self::Publish => matches!(role, Role::Publish | Role::Admin),
            Self::Operate => matches!(role, Role::Operate | Role::Admin),
            Self::Admin => role == Role::Admin,
        }
    }

    /// The reason why a key of a role may not make such a call.
    pub(in crate::http) fn lacking(self, role: Role) -> String {
        format!("the API key has the role `{}`; the call needs {}", role.name(), self.roles())
    }

    /// The roles that may make such a call, in words.
    pub(in crate::http) fn roles(self) -> &'static str {
        match self {
            Self::Reading => "any role",
            Self::Publish => "the role `publish` or `admin`",
            Self::Operate => "the role `operate` or `admin`",
            Self::Admin => "the role `admin`",
        }
    }
}
