//! Preferences: what a recipient wants to hear, and when.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::{Id, Mode, PreferenceScope};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::{Answer, Change, Service, only};
use crate::timeline::Bodies;
use crate::timeline::json::{self, Json};

/// The calls of preferences.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add(
            "get_preferences",
            Kind::Looks,
            routes!(get_preferences),
            &[Code::InvalidPath, Code::RecipientNotFound],
        )
        .add(
            "put_preferences",
            Kind::Changes,
            routes!(put_preferences),
            &[
                Code::InvalidPath,
                Code::InvalidJson,
                Code::InvalidBody,
                Code::UnsupportedMediaType,
                Code::RecipientNotFound,
                Code::UnknownType,
                Code::UnknownChannel,
                Code::UnknownPreference,
            ],
        )
}

/// One choice, of a type or of a category: a type goes before its category.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"category": "following", "channel": "email", "mode": "weekly"}))]
pub(super) struct Preference {
    /// A category of the configuration; this or `type`.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// A type of the configuration; this or `category`.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
    /// On which channel.
    channel: String,
    /// `never`, `immediate` (the type's own policy, or at once where that is a digest), `default`
    /// (as if not chosen), or the name of a digest.
    mode: String,
}

impl Preference {
    fn of(scope: PreferenceScope, channel: &str, mode: Mode) -> Self {
        let (category, kind) = match scope {
            PreferenceScope::Category(name) => (Some(name), None),
            PreferenceScope::Type(name) => (None, Some(name)),
        };
        Self {
            category,
            r#type: kind,
            channel: channel.to_owned(),
            mode: match mode {
                Mode::Never => "never".to_owned(),
                Mode::Immediate => "immediate".to_owned(),
                Mode::Default => "default".to_owned(),
                Mode::Digest(name) => name,
            },
        }
    }
}

/// Get what a recipient chose
#[utoipa::path(
    get, path = "/v1/recipients/{id}/preferences", tag = "preferences",
    params(("id" = String, Path, description = "The recipient", min_length = 1, max_length = 256)),
    responses((status = 200, description = "All choices of what is configured now; what is missing has its default", body = Vec<Preference>))
)]
async fn get_preferences(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
) -> Result<Answer, Problem> {
    let chosen = service
        .look(move |node| node.engine().preferences(&id))
        .await??;
    let chosen = chosen.into_iter();
    let list: Vec<Preference> = chosen
        .map(|(scope, channel, mode)| Preference::of(scope, channel, mode))
        .collect();
    Answer::json(StatusCode::OK, &list)
}

/// Put everything that a recipient chooses
///
/// What is not in the list goes back to its default; a `never` for a type or category that is not
/// configured now is kept for when it is again. All of it is taken, or nothing. What waits goes where it
/// now belongs; with `never` it ends as cancelled.
#[utoipa::path(
    put, path = "/v1/recipients/{id}/preferences", tag = "preferences",
    params(("id" = String, Path, description = "The recipient", min_length = 1, max_length = 256)),
    request_body = Vec<Preference>,
    responses((status = 204, description = "Durable"))
)]
async fn put_preferences(
    State(service): State<Arc<Service>>,
    InPath(recipient): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let list = match json::value(&change.body)? {
        Json::List(list) => list,
        other => {
            let detail = format!("preferences are a list, not {}", other.kind());
            return Err(Problem::new(Code::InvalidBody, detail).hint("Write `[…]`."));
        }
    };
    let rules = service.rules();
    let command = Bodies::new(&rules).preferences(recipient, list)?;
    let done = |replies| only(replies).map(|_| Answer::done());
    service.change(&change, vec![command], done).await
}
