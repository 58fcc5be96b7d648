//! Preferences: what a recipient receives, on which channel and when.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::command::Choice;
use tidings_core::{Command, Id, Mode, PreferenceScope, Rules};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::events::EventWarning;
use crate::body::json;
use crate::body::preference::{Preference, choices};
use crate::http::answer::only;
use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::users::reader::Reader;
use crate::http::{Answer, Change, Service};
use crate::wording::quoted;

/// The calls of preferences.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add(
            "get_preferences",
            Kind::Looks,
            routes!(get_preferences),
            &[Code::InvalidPath, Code::RecipientNotFound],
        )
        .add("put_preferences", Kind::Changes, routes!(put_preferences), CHANGE)
        .add("patch_preferences", Kind::Changes, routes!(patch_preferences), CHANGE)
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
/// Lists preferences for types, categories and digests that are configured now, and mutes. What is the same on each
/// channel is one item, on `*`. Without a preference the policy of the type applies.
#[utoipa::path(
    get, path = "/v1/recipients/{id}/preferences", tag = "preferences",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The preferences", body = Vec<Preference>, example = json!([{"category": "following", "channel": "email", "mode": "weekly"}, {"type": "comment", "channel": "email", "mode": "never"}])))
)]
pub(in crate::http) async fn get_preferences(
    State(service): State<Arc<Service>>,
    reader: Reader,
) -> Result<Answer, Problem> {
    let id = reader.recipient.clone();
    let chosen = service.look(move |node| node.engine().preferences(&id)).await?;
    let list: Vec<Preference> = reader
        .or_nothing(chosen.map_err(Problem::from))?
        .into_iter()
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
    responses(
        (status = 200, description = "The preferences are replaced, with warnings", body = Warned),
        (status = 204, description = "The preferences are replaced"),
    )
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
    responses(
        (status = 200, description = "The preferences are set, with warnings", body = Warned),
        (status = 204, description = "The preferences are set"),
    )
)]
pub(in crate::http) async fn patch_preferences(
    State(service): State<Arc<Service>>,
    reader: Reader,
    change: Change,
) -> Result<Answer, Problem> {
    set(&service, reader.recipient, &change, false).await
}

async fn set(
    service: &Service,
    recipient: Id,
    change: &Change,
    whole: bool,
) -> Result<Answer, Problem> {
    let list = json::list(&change.body)?;
    let rules = service.rules();
    let chosen = choices(&rules, list)?;
    let warnings = without_effect(&rules, &chosen);
    let command = Command::Preferences { recipient, chosen, whole };
    if warnings.is_empty() {
        return service.done(change, command).await;
    }
    let done = |replies| {
        only(replies)?;
        Answer::json(StatusCode::OK, &Warned { warnings })
    };
    service.change(change, vec![command], done).await
}

/// Warnings of `never` for categories that have required types only.
fn without_effect(rules: &Rules, chosen: &[Choice]) -> Vec<EventWarning> {
    let categories = chosen.iter().filter_map(|choice| match &choice.scope {
        PreferenceScope::Category(name) if choice.mode == Mode::Never => Some(name.as_str()),
        _ => None,
    });
    let categories: BTreeSet<&str> = categories.collect();
    let only_required = categories.into_iter().filter(|name| {
        let mut types = rules.types.values().filter(|of| of.category == **name);
        types.clone().next().is_some() && types.all(|of_type| of_type.required)
    });
    let warning = |name| EventWarning {
        code: "only_required",
        detail: format!("every type of the category {} is required and still sent", quoted(name)),
        hint: "leave it out; it only concerns types of this category that are not required, should some come later",
    };
    only_required.map(warning).collect()
}

/// The answer to preferences that were set and are probably not what was meant.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"warnings": [{"code": "only_required", "detail": "every type of the category `account` is required and still sent", "hint": "leave it out; it only concerns types of this category that are not required, should some come later"}]}))]
struct Warned {
    /// The warnings: `only_required` for a `never` of a category whose types are all required.
    warnings: Vec<EventWarning>,
}
