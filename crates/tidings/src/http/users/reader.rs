//! The recipient whom a call is about: of the token under `/v1/me`, of the path at its twin.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::Deserialize;
use tidings_core::Id;
use tidings_core::engine::Refused;
use tidings_core::tenant::View;

use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::service::Service;
use crate::token::Token;
use crate::wording::quoted;

/// The recipient whom a call is about, and who says so.
pub(in crate::http) struct Reader {
    /// The recipient.
    pub(in crate::http) recipient: Id,
    /// The entries that are seen and reached.
    pub(in crate::http) view: View,
    /// The token; `None` = the host calls, with an API key.
    token: Option<Arc<Token>>,
}

/// The recipient of a path.
#[derive(Deserialize)]
struct Named {
    id: Id,
}

/// The topic of a path.
#[derive(Deserialize)]
pub(in crate::http) struct TopicInPath {
    pub(in crate::http) topic: String,
}

impl FromRequestParts<Arc<Service>> for Reader {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        let asked = asked_tenant(parts, service).await?;
        if let Some(token) = parts.extensions.get::<Arc<Token>>() {
            let token = Arc::clone(token);
            let tenant = match (&token.tenant, asked) {
                (Some(_), Some(_)) => {
                    let detail = "`tenant` is said by the token, so the query must not have it";
                    return Err(Problem::new(Code::InvalidQuery, detail).hint("leave it out"));
                }
                (own, asked) => own.clone().or(asked),
            };
            let view = tenant.map_or(View::All, View::Of);
            return Ok(Self { recipient: token.recipient.clone(), view, token: Some(token) });
        }
        let InPath(Named { id }) = InPath::from_request_parts(parts, service).await?;
        Ok(Self { recipient: id, view: asked.map_or(View::All, View::Of), token: None })
    }
}

/// The tenant of the query, whose view is asked for.
async fn asked_tenant(parts: &mut Parts, service: &Arc<Service>) -> Result<Option<Id>, Problem> {
    let Query(query) = Query::<Vec<(String, String)>>::from_request_parts(parts, service)
        .await
        .map_err(|_| Problem::new(Code::InvalidQuery, "the query is not valid"))?;
    let Some((_, tenant)) = query.into_iter().find(|(name, _)| name == "tenant") else {
        return Ok(None);
    };
    if service.rules().tenants.is_none() {
        return Err(Refused::TenantsOff.into());
    }
    let wanted = || format!("`tenant` must be the id of a tenant, got {}", quoted(&tenant));
    let tenant = Id::new(&tenant).map_err(|_| Problem::new(Code::InvalidQuery, wanted()))?;
    Ok(Some(tenant))
}

impl Reader {
    /// The token of an end user; `None` = the host calls.
    pub(in crate::http) fn token(&self) -> Option<Arc<Token>> {
        self.token.clone()
    }

    /// Returns true if an end user calls.
    pub(in crate::http) fn is_user(&self) -> bool {
        self.token.is_some()
    }

    /// What was read of the recipient. End users whom nobody has made yet have nothing, which is no error.
    pub(in crate::http) fn or_nothing<T: Default>(
        &self,
        read: Result<T, Problem>,
    ) -> Result<T, Problem> {
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
    pub(in crate::http) fn check_topic(
        &self,
        topic: &str,
        service: &Service,
    ) -> Result<(), Problem> {
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
