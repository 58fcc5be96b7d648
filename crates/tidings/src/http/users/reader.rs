//! The recipient whom a call is about: of the token under `/v1/me`, of the path at its twin.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Deserialize;
use tidings_core::Id;

use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::service::Service;
use crate::token::Token;
use crate::wording::quoted;

/// The recipient whom a call is about, and who says so.
pub(in crate::http) struct Reader {
    /// The recipient.
    pub(in crate::http) recipient: Id,
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
        if let Some(token) = parts.extensions.get::<Arc<Token>>() {
            let token = Arc::clone(token);
            return Ok(Self { recipient: token.recipient.clone(), token: Some(token) });
        }
        let InPath(Named { id }) = InPath::from_request_parts(parts, service).await?;
        Ok(Self { recipient: id, token: None })
    }
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
