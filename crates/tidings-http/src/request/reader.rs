//! The recipient of a call: that of the token under `/v1/me`, that of the path at its twin.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::Deserialize;
use tidings_api::body::Fault;
use tidings_api::token::Token;
use tidings_config::wording::quoted;
use tidings_core::Id;
use tidings_core::model::View;

use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::query::{FromQuery, Parameters};
use crate::request::tenants;
use crate::service::Service;

/// The recipient of a call, and its source.
pub(crate) struct InboxReader {
    /// The recipient.
    pub(crate) recipient: Id,
    /// The token; `None` = the host calls, with an API key.
    token: Option<Arc<Token>>,
    /// The view that the token gives, or else the query.
    view: View,
}

/// The query of a call that takes no parameter but `tenant`, which [`InboxReader`] reads.
pub(crate) struct TenantAlone;

impl FromQuery for TenantAlone {
    const KNOWN: &'static [&'static str] = &["tenant"];

    fn read(_: &Parameters) -> Result<Self, Problem> {
        Ok(Self)
    }
}

/// The recipient of a path.
#[derive(Deserialize)]
struct RecipientPath {
    id: Id,
}

/// The topic of a path.
#[derive(Deserialize)]
pub(crate) struct TopicInPath {
    pub(crate) topic: String,
}

impl FromRequestParts<Arc<Service>> for InboxReader {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        if let Some(token) = parts.extensions.get::<Arc<Token>>() {
            let (token, requested) = (Arc::clone(token), requested_tenant(parts)?);
            let view = match (&token.tenant, requested) {
                (Some(_), Some(_)) => return Err(said_already()),
                (Some(own), None) => View::Of(own.clone()),
                (None, requested) => of_known(requested, service).await?,
            };
            return Ok(Self { recipient: token.recipient.clone(), token: Some(token), view });
        }
        let requested = requested_tenant(parts)?;
        let InPath(RecipientPath { id }) = InPath::from_request_parts(parts, service).await?;
        Ok(Self { recipient: id, token: None, view: of_known(requested, service).await? })
    }
}

/// The view of an existing tenant, or of all.
async fn of_known(requested: Option<Id>, service: &Service) -> Result<View, Problem> {
    tenants::known_if_named(service, requested.as_ref()).await?;
    Ok(requested.map_or(View::All, View::Of))
}

/// The tenant that the query names.
fn requested_tenant(parts: &Parts) -> Result<Option<Id>, Problem> {
    let invalid = |detail: &'static str| Problem::new(Code::InvalidQuery, detail);
    let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
    let Query(given) = query.map_err(|_| invalid("the query is not valid"))?;
    let mut given = given.iter().filter(|(name, _)| name == "tenant");
    let first = given.next().map(|(_, tenant)| Id::new(tenant));
    if given.next().is_some() {
        return Err(invalid("`tenant` is given twice").hint("keep one of the two"));
    }
    first.transpose().map_err(|_| invalid("`tenant` must be an id"))
}

/// The problem of a query that names the tenant of a token.
fn said_already() -> Problem {
    let detail = "the token names the `tenant`, so the query can't";
    Problem::new(Code::InvalidQuery, detail).hint("leave it out")
}

impl InboxReader {
    /// The token of an end user; `None` = the host calls.
    pub(crate) fn token(&self) -> Option<Arc<Token>> {
        self.token.clone()
    }

    /// Returns true if an end user calls.
    pub(crate) fn is_user(&self) -> bool {
        self.token.is_some()
    }

    /// The entries that the caller sees of the recipient.
    pub(crate) fn view(&self) -> View {
        self.view.clone()
    }

    /// The view that a change applies to, if its body may name a tenant.
    ///
    /// # Errors
    /// As [`Self::tenant`].
    pub(crate) fn reach(&self, said: Option<Id>) -> Result<View, Problem> {
        match (&self.view, self.tenant(said)?) {
            (View::All, Some(tenant)) => Ok(View::Of(tenant)),
            (view, _) => Ok(view.clone()),
        }
    }

    /// The tenant that a change applies to, if its body may name one; `None` = none, or all.
    ///
    /// # Errors
    /// [`Code::InvalidBody`] where the body names another than the token or the query.
    pub(crate) fn tenant(&self, said: Option<Id>) -> Result<Option<Id>, Problem> {
        match (self.view.tenant(), said) {
            (Some(own), Some(other)) if *own != other => {
                let is_bound = self.token.as_ref().is_some_and(|token| token.tenant.is_some());
                let by = if is_bound { "token" } else { "query" };
                let own = quoted(own.as_str());
                let other = quoted(other.as_str());
                let reason = format!("`tenant` must be {own}, as the {by} says, got {other}");
                Err(Fault::new(reason, "leave it out").into())
            }
            (own, said) => Ok(own.cloned().or(said)),
        }
    }

    /// The value read of the recipient. End users that were not created yet have none, which is no error.
    pub(crate) fn or_nothing<T: Default>(&self, read: Result<T, Problem>) -> Result<T, Problem> {
        match read {
            Err(problem) if problem.code == Code::RecipientNotFound && self.token.is_some() => {
                Ok(T::default())
            }
            read => read,
        }
    }

    /// Checks that the recipient may follow and unfollow a topic by themselves.
    ///
    /// # Errors
    /// [`Code::TopicNotOpen`], [`Code::InvalidBody`].
    pub(crate) fn check_topic(&self, topic: &str, service: &Service) -> Result<(), Problem> {
        if self.token.is_none() {
            return Ok(());
        }
        if topic.contains("..") {
            let detail = "`topic` must not have `..` in it: a topic is no path";
            return Err(Problem::new(Code::InvalidBody, detail).hint("leave it out"));
        }
        let rules = service.rules();
        let open = rules.users.iter().flat_map(|users| &users.topics);
        if open.into_iter().any(|prefix| topic.starts_with(prefix.as_str())) {
            return Ok(());
        }
        let detail = format!("the topic {} is not open to end users", quoted(topic));
        Err(Problem::new(Code::TopicNotOpen, detail))
    }
}
