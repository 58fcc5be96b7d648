//! The holder of an API key, and the access of tenants' keys to each call.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use tidings_core::command::OwnChange;
use tidings_core::engine::{Engine, TenantDirectory};
use tidings_core::tenant::{TenantNo, View};
use tidings_core::{Command, Id};
use tidings_node::Role;

use crate::http::error::{Code, Problem};
use crate::http::request::tenants;
use crate::http::service::Service;
use crate::wording::quoted;

/// The holder of an API key.
#[derive(Clone, Debug)]
pub(in crate::http) struct Caller {
    /// The role of the key.
    pub(in crate::http) role: Role,
    /// The id of the key; `None` = the token that `serve` made at its start.
    pub(in crate::http) key: Option<String>,
    /// The tenant of the key; `None` = it is the host's.
    pub(in crate::http) tenant: Option<OfTenant>,
    /// True if the key is a tenant's and the path names a recipient who is not a member.
    pub(in crate::http) is_stranger: bool,
}

/// The tenant of an API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) struct OfTenant {
    pub(in crate::http) id: Id,
    pub(in crate::http) number: TenantNo,
}

/// The tenant that makes a call; `None` = the host or an end user does.
pub(in crate::http) struct Calling(pub(in crate::http) Option<OfTenant>);

/// The access of a tenant's key to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Grant {
    /// None: only the host may make the call.
    Nothing,
    /// The path names a recipient, who must be a member.
    OfMember,
    /// The handler of the call restricts it to the tenant's data.
    OfTenant,
}

/// Calls about a member.
const OF_MEMBERS: &[&str] = &[
    "get_recipient",
    "inbox",
    "inbox_counts",
    "live",
    "mark_seen",
    "mark_read",
    "mark_unread",
    "archive",
    "unarchive",
    "snooze",
    "unsnooze",
    "delete_items",
    "pending",
    "flush",
    "get_preferences",
    "put_preferences",
    "patch_preferences",
    "list_subscriptions",
    "follow",
    "unfollow",
];

/// Calls whose handlers check the caller.
const OF_TENANTS: &[&str] = &[
    "publish",
    "get_event",
    "cancel_event",
    "cancel_all",
    "withdraw_event",
    "withdraw",
    "explain",
    "export",
    "put_object",
    "get_object",
    "retract_object",
    "change_objects",
    "list_messages",
    "get_message",
    "retry_message",
    "cancel_message",
    "resend_message",
    "get_tenant",
    "patch_tenant",
    "list_members",
    "remove_member",
    "change_members",
    "follow_many",
];

impl Grant {
    /// The access of a tenant's key to a call, by name; none if the call is in neither list.
    pub(in crate::http) fn of(name: &str) -> Self {
        if OF_MEMBERS.contains(&name) {
            Self::OfMember
        } else if OF_TENANTS.contains(&name) {
            Self::OfTenant
        } else {
            Self::Nothing
        }
    }
}

/// The problem of an unknown API key.
pub(in crate::http) fn unknown_key() -> Problem {
    Problem::new(Code::Unauthorized, "the API key is unknown")
}

/// The problem of a tenant's key with a call that only the host may make.
pub(in crate::http) fn of_no_tenant() -> Problem {
    Problem::new(
        Code::OfTenant,
        "the API key belongs to a tenant, and this call is not available to tenants",
    )
}

impl Caller {
    /// The holder of the token that `serve` made at its start.
    pub(in crate::http) fn of_start() -> Self {
        Self { role: Role::Admin, key: None, tenant: None, is_stranger: false }
    }

    /// Checks that the key may make a call.
    ///
    /// # Errors
    /// [`Code::OfTenant`], [`Code::RecipientNotFound`].
    pub(in crate::http) fn check(&self, grant: Grant, path: &str) -> Result<(), Problem> {
        if self.tenant.is_none() {
            return Ok(());
        }
        match grant {
            Grant::Nothing => Err(of_no_tenant()),
            Grant::OfMember if self.is_stranger => {
                let id = recipient_of(path);
                let id = quoted(id.as_ref().map_or("", Id::as_str));
                Err(Problem::new(Code::RecipientNotFound, format!("unknown recipient {id}")))
            }
            Grant::OfMember | Grant::OfTenant => Ok(()),
        }
    }
}

/// The recipient whom a path names.
pub(in crate::http) fn recipient_of(path: &str) -> Option<Id> {
    let rest = path.strip_prefix("/v1/recipients/")?;
    let segment = rest.split('/').next().unwrap_or_default();
    Id::new(&percent_decode_str(segment).decode_utf8().ok()?).ok()
}

impl FromRequestParts<Arc<Service>> for Calling {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Service>) -> Result<Self, Problem> {
        Ok(Self::of(&parts.extensions))
    }
}

impl Calling {
    /// The tenant that makes a request.
    pub(in crate::http) fn of(extensions: &axum::http::Extensions) -> Self {
        let caller = extensions.get::<Arc<Caller>>();
        Self(caller.and_then(|caller| caller.tenant.clone()))
    }

    /// The id of the tenant.
    pub(in crate::http) fn id(&self) -> Option<&Id> {
        self.0.as_ref().map(|tenant| &tenant.id)
    }

    /// The number of the tenant.
    pub(in crate::http) fn number(&self) -> Option<TenantNo> {
        self.0.as_ref().map(|tenant| tenant.number)
    }

    /// The tenant of what a body is about: the caller's own, also where the body doesn't say so.
    ///
    /// # Errors
    /// [`Code::UnknownTenant`] for another's.
    pub(in crate::http) fn own(&self, said: Option<Id>) -> Result<Option<Id>, Problem> {
        match (self.id(), said) {
            (None, said) => Ok(said),
            (Some(own), Some(other)) if *own != other => {
                let detail = format!("unknown tenant {}", quoted(other.as_str()));
                Err(Problem::new(Code::UnknownTenant, detail))
            }
            (Some(own), _) => Ok(Some(own.clone())),
        }
    }

    /// Checks that a path names the caller's own tenant.
    ///
    /// # Errors
    /// [`Code::TenantNotFound`] for another's.
    pub(in crate::http) fn check_own(&self, tenant: &Id) -> Result<(), Problem> {
        match self.id() {
            Some(own) if own != tenant => Err(no_tenant(tenant)),
            _ => Ok(()),
        }
    }

    /// A publish with the caller's tenant.
    ///
    /// # Errors
    /// As [`Self::own`]; [`Code::OfTenant`] where the event has a profile; [`Code::Unauthorized`] where the tenant was
    /// deleted since the request began, which may be a long stream.
    pub(in crate::http) fn published(
        &self,
        service: &Service,
        mut command: Command,
    ) -> Result<Command, Problem> {
        if let (Command::Publish(event), Some(own)) = (&mut command, self.number()) {
            event.tenant = self.own(event.tenant.take())?;
            event.by_tenant = true;
            tenants::id(&service.handle, own).ok_or_else(unknown_key)?;
            if !event.to.profiles.is_empty() {
                let problem = Problem::new(
                    Code::OfTenant,
                    "an API key of a tenant can't set profiles in `to`",
                );
                return Err(problem.hint("name recipients by their ids"));
            }
        }
        Ok(command)
    }

    /// A change of an object, as the caller may do it: a tenant to what it made.
    pub(in crate::http) fn of_object(&self, command: Command) -> Command {
        let Some(tenant) = self.id().cloned() else {
            return command;
        };
        match command {
            Command::Object(object) => {
                Command::OwnObject { tenant, change: OwnChange::Put(object) }
            }
            Command::Retract { object } => {
                Command::OwnObject { tenant, change: OwnChange::Retract(object) }
            }
            other => other,
        }
    }

    /// The view in which the caller sees objects.
    pub(in crate::http) fn view(&self) -> View<TenantNo> {
        self.number().map_or(View::All, View::Only)
    }

    /// Returns true if the caller sees what is of a recipient. A tenant sees its members; of recipients that other nodes
    /// have nothing is known here.
    pub(in crate::http) fn sees_recipient(&self, engine: &Engine, recipient: &Id) -> bool {
        let is_member = |own| TenantDirectory::of(engine).is_member(recipient, own);
        self.number().is_none_or(is_member)
    }

    /// Returns true if the caller sees what is of a tenant, or of none.
    pub(in crate::http) fn sees(&self, tenant: Option<TenantNo>) -> bool {
        let own = self.number();
        own.is_none() || own == tenant
    }
}

/// The problem of a path whose tenant is not there.
pub(in crate::http) fn no_tenant(tenant: &Id) -> Problem {
    let detail = format!("unknown tenant {}", quoted(tenant.as_str()));
    Problem::new(Code::TenantNotFound, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::call_names;

    #[test]
    fn each_call_of_a_list_is_one_and_in_one_list() {
        let names = call_names();
        for listed in OF_MEMBERS.iter().chain(OF_TENANTS) {
            assert!(names.contains(listed), "{listed}");
        }
        assert!(!OF_MEMBERS.iter().any(|name| OF_TENANTS.contains(name)));
    }

    #[test]
    fn a_call_that_nobody_thought_of_is_of_no_tenant() {
        assert_eq!(Grant::of("a_new_call"), Grant::Nothing);
        for name in ["list_types", "suppress", "put_recipient", "erase_recipient", "make_key"] {
            assert_eq!(Grant::of(name), Grant::Nothing, "{name}");
        }
    }
}
