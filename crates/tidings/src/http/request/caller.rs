//! The holder of an API key, and what one of a tenant has of each call.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use tidings_core::engine::{Engine, TenantDirectory};
use tidings_core::tenant::TenantNo;
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
    /// The id of the key; `None` = it is that of this start.
    pub(in crate::http) key: Option<String>,
    /// The tenant whose key it is; `None` = it is the host's.
    pub(in crate::http) tenant: Option<OfTenant>,
    /// True if the key is a tenant's and the path names a recipient who is no member.
    pub(in crate::http) is_stranger: bool,
}

/// A tenant that calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) struct OfTenant {
    pub(in crate::http) id: Id,
    pub(in crate::http) number: TenantNo,
}

/// The tenant that calls; `None` = the host does, or an end user.
pub(in crate::http) struct Calling(pub(in crate::http) Option<OfTenant>);

/// What a key of a tenant has of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Grant {
    /// Nothing: the call is of no tenant.
    Nothing,
    /// The call is about the recipient of its path, who has to be a member.
    OfMember,
    /// The call's handler gives it what is the tenant's.
    OfTenant,
}

/// The calls about a member.
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
    "patch_preferences",
    "list_subscriptions",
    "follow",
    "unfollow",
];

/// The calls whose handlers ask who calls.
const OF_TENANTS: &[&str] = &[
    "publish",
    "get_event",
    "cancel_event",
    "cancel_all",
    "withdraw_event",
    "withdraw",
    "explain",
    "export",
    "list_messages",
    "get_message",
    "retry_message",
    "cancel_message",
    "resend_message",
    "get_tenant",
    "patch_tenant",
    "list_members",
    "remove_member",
];

impl Grant {
    /// What a key of a tenant has of a call, by its name. It has nothing of a call that is in no list.
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

/// The problem of a key that opens nothing.
pub(in crate::http) fn unknown_key() -> Problem {
    Problem::new(Code::Unauthorized, "the API key is unknown")
}

/// The problem of a key of a tenant where a call is of none.
pub(in crate::http) fn of_no_tenant() -> Problem {
    Problem::new(Code::OfTenant, "the call is of no tenant, and the API key is a tenant's")
}

impl Caller {
    /// The holder of the key of this start.
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
                let problem = Problem::new(Code::OfTenant, "a profile in `to` is of no tenant");
                return Err(problem.hint("name recipients by their ids"));
            }
        }
        Ok(command)
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
