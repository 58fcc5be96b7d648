//! Sessions of the console: listed, and ended from outside it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tidings_core::engine::{ListPage, NewestFirst, Positioned};
use tidings_core::{Id, Instant};
use tidings_node::{KeyChange, Session};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::Problem;
use crate::request::InPath;
use crate::request::list::{ListPageQuery, ListQuery, PageBounds, page_body};
use crate::{Answer, Change, Service};

/// The calls of sessions.
pub(in crate::v1) fn calls(calls: Calls) -> Calls {
    calls.add("list_sessions", routes!(list_sessions)).add("end_session", routes!(end_session))
}

/// A session of the console.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = Session, example = json!({"id": "5c0f3d1a9b7e", "by": {"kind": "person", "id": "mara@example.org", "role": "operate"}, "began": "2024-03-07T08:00:00Z", "used": "2024-03-07T08:40:00Z", "until": "2024-03-07T20:00:00Z"}))]
struct SessionShown {
    /// Its id; no secret.
    #[schema(value_type = String)]
    id: Id,
    /// The one who is signed in.
    by: SignedInShown,
    /// The time at which it began.
    #[schema(format = "date-time")]
    began: String,
    /// The time of its last use. Two hours without use end it.
    #[schema(format = "date-time")]
    used: String,
    /// The time at which it ends, however much it is used.
    #[schema(format = "date-time")]
    until: String,
}

/// The one who is signed in.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = SignedIn)]
struct SignedInShown {
    /// `key` or `person`.
    kind: String,
    /// Id of the key, or the name that the proxy gives the person.
    id: String,
    /// The role when they signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    role: Option<String>,
}

impl SessionShown {
    /// `None` = its id is none, which nobody makes.
    fn of(session: &Session) -> Option<Self> {
        let by = session.author();
        Some(Self {
            id: Id::new(&session.id).ok()?,
            by: SignedInShown {
                kind: by.kind.word().to_owned(),
                id: by.id,
                role: by.role.map(Cow::into_owned),
            },
            began: session.begun.to_string(),
            used: session.used.to_string(),
            until: session.until.to_string(),
        })
    }
}

impl Positioned for SessionShown {
    type Position = NewestFirst;

    fn position(&self) -> NewestFirst {
        // It was written from an instant.
        let at = Instant::parse(&self.began).unwrap_or(Instant::MIN);
        NewestFirst { at, id: self.id.clone() }
    }
}

page_body! {
    /// A page of sessions, newest first.
    #[schema(example = json!({"sessions": [], "next": null}))]
    SessionPage {
        /// The sessions.
        sessions: SessionShown
    }
}

/// List sessions
///
/// Returns who is signed in to the console, newest first. Sessions that have ended are not listed.
#[utoipa::path(
    get, path = "/v1/admin/sessions", tag = "admin",
    params(ListQuery),
    responses((status = 200, description = "A page of sessions", body = SessionPage))
)]
async fn list_sessions(
    State(service): State<Arc<Service>>,
    ListPageQuery { pages, .. }: ListPageQuery<(), NewestFirst>,
) -> Result<Answer, Problem> {
    let PageBounds { after, most, .. } = pages.clone();
    let sessions = service.handle.sessions(service.now());
    let shown = sessions.iter().filter_map(SessionShown::of);
    let mut rows: Vec<SessionShown> =
        shown.filter(|row| after.as_ref().is_none_or(|after| row.position() > *after)).collect();
    let has_more = rows.len() > most;
    rows.truncate(most);
    let next = rows.last().filter(|_| has_more).map(Positioned::position);
    pages.answer::<SessionPage>(ListPage { rows, next })
}

/// End a session
///
/// Whoever is signed in by it has to sign in again.
#[utoipa::path(
    delete, path = "/v1/admin/sessions/{id}", tag = "admin",
    params(("id" = String, Path, description = "Id of the session", example = "5c0f3d1a9b7e", min_length = 1, max_length = 256)),
    responses((status = 204, description = "The session is over"))
)]
async fn end_session(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let end = KeyChange::EndSession(id.as_str().to_owned());
    let done = Answer::done();
    service.change_keys(&change, end, &done, done.clone()).await
}
