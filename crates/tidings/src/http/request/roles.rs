//! Roles of API keys: which of them may make a call.

use tidings_node::Role;

use crate::http::call::Kind;

/// What a call needs of the role of its key.
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

/// The calls by which events, objects, recipients and what they choose come in.
const PUBLISH: &[&str] = &[
    "publish",
    "put_object",
    "retract_object",
    "change_objects",
    "put_recipient",
    "patch_recipient",
    "erase_recipient",
    "change_recipients",
    "revoke_tokens",
    "put_tenant",
    "patch_tenant",
    "delete_tenant",
    "change_tenants",
    "put_member",
    "remove_member",
    "change_members",
    "follow",
    "unfollow",
    "follow_many",
    "join_push",
    "leave_push",
    "put_preferences",
    "patch_preferences",
    "mark_seen",
    "mark_read",
    "mark_unread",
    "archive",
    "unarchive",
    "snooze",
    "unsnooze",
    "delete_items",
];

/// The calls by which somebody steers what is under way.
const OPERATE: &[&str] = &[
    "pause_type",
    "resume_type",
    "pause_channel",
    "resume_channel",
    "pause_feed",
    "resume_feed",
    "flush",
    "cancel_event",
    "cancel_all",
    "withdraw_event",
    "withdraw",
    "retry_message",
    "cancel_message",
    "resend_message",
    "suppress",
    "unsuppress",
    "resume_hook",
    "replay_hook",
];

/// The calls that read what opens the rest: a backup has the secrets of signing keys.
const SECRETS: &[&str] = &["backup", "sign_token"];

impl Needs {
    /// What a call needs by its name and kind. One that changes something and is in no list needs `admin`.
    pub(in crate::http) fn of(name: &str, kind: Kind) -> Self {
        match kind {
            _ if SECRETS.contains(&name) => Self::Admin,
            Kind::Open | Kind::Knows | Kind::Looks => Self::Reading,
            Kind::Changes if PUBLISH.contains(&name) => Self::Publish,
            Kind::Changes if OPERATE.contains(&name) => Self::Operate,
            Kind::Changes => Self::Admin,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::call_names;

    #[test]
    fn each_call_of_a_list_is_one() {
        let names = call_names();
        for listed in [PUBLISH, OPERATE, SECRETS].into_iter().flatten() {
            assert!(names.contains(listed), "{listed}");
        }
    }
}
