//! Preferences: what a recipient receives, on which channel and when.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use tidings_core::{Command, Id};
use utoipa_axum::routes;

use crate::body::json;
use crate::body::preference::{Preference, choices};
use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::{Answer, Change, Service};

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
            CHANGE,
        )
        .add(
            "patch_preferences",
            Kind::Changes,
            routes!(patch_preferences),
            CHANGE,
        )
}

/// The errors of a list of preferences.
const CHANGE: &[Code] = &[
    Code::InvalidPath,
    Code::InvalidJson,
    Code::InvalidBody,
    Code::UnsupportedMediaType,
    Code::RecipientNotFound,
    Code::UnknownType,
    Code::UnknownChannel,
    Code::UnknownPreference,
    Code::LimitExceeded,
];

/// List the preferences of a recipient
///
/// Lists preferences for types, categories and digests that are configured now, and mutes. Without a preference the
/// policy of the type applies.
#[utoipa::path(
    get, path = "/v1/recipients/{id}/preferences", tag = "preferences",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The preferences", body = Vec<Preference>, example = json!([{"category": "following", "channel": "email", "mode": "weekly"}, {"type": "comment", "channel": "email", "mode": "never"}])))
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

/// Replace all preferences of a recipient
///
/// Preferences that are not in the list return to their default, but a `never` for a type or category that is
/// not configured now is kept. Mutes that are not in the list are lifted. Either the whole list is accepted or nothing. Pending notifications move to
/// the lane that now applies; `never` cancels them.
#[utoipa::path(
    put, path = "/v1/recipients/{id}/preferences", tag = "preferences",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body(content = Vec<Preference>, example = json!([{"category": "following", "channel": "email", "mode": "weekly"}, {"type": "comment", "channel": "email", "mode": "never"}])),
    responses((status = 204, description = "The preferences are replaced"))
)]
async fn put_preferences(
    State(service): State<Arc<Service>>,
    InPath(recipient): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    set(&service, recipient, &change, true).await
}

/// Set some preferences of a recipient
///
/// Sets the preferences in the list; the others stay as they are. `default` removes a preference. Either the
/// whole list is accepted or nothing. Pending notifications move to the lane that now applies; `never`
/// cancels them.
#[utoipa::path(
    patch, path = "/v1/recipients/{id}/preferences", tag = "preferences",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body(content = Vec<Preference>, example = json!([{"type": "comment", "channel": "email", "mode": "immediate"}])),
    responses((status = 204, description = "The preferences are set"))
)]
async fn patch_preferences(
    State(service): State<Arc<Service>>,
    InPath(recipient): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    set(&service, recipient, &change, false).await
}

async fn set(
    service: &Service,
    recipient: Id,
    change: &Change,
    whole: bool,
) -> Result<Answer, Problem> {
    let list = json::list(&change.body)?;
    let rules = service.rules();
    let command = Command::Preferences {
        recipient,
        chosen: choices(&rules, list)?,
        whole,
    };
    service.done(change, command).await
}
