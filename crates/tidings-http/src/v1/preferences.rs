//! Preferences: the notifications that a recipient receives, on which channel and when.

mod choices;
mod digest_times;
mod quiet_hours;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_api::body::json;
use tidings_api::body::preference::{Preference, PreferenceChange, WithHours, choices};
use tidings_config::wording::quoted;
use tidings_core::engine::{Refused, Reply};
use tidings_core::model::{ChangedBy, Choice, Mode, PreferenceScope, RecipientChange};
use tidings_core::{Command, Id, Rules};
use utoipa::ToSchema;
use utoipa_axum::routes;

use self::choices::AllPreferences;
use super::events::EventWarning;
use crate::call::Calls;
use crate::error::Problem;
use crate::request::query::{FromQuery, InQuery, Parameters};
use crate::request::reader::{InboxReader, TenantAlone};
use crate::{Answer, Change, Service};

/// The calls of preferences.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("get_preferences", routes!(get_preferences))
        .add("put_preferences", routes!(put_preferences))
        .add("patch_preferences", routes!(patch_preferences))
}

/// The query of a list of preferences.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PreferencesQuery {
    /// True = with the modes that may be chosen; always true for end users.
    #[param(value_type = Option<bool>)]
    choices: bool,
}

impl FromQuery for PreferencesQuery {
    const KNOWN: &'static [&'static str] = &["choices", "tenant"];

    fn read(query: &Parameters) -> Result<Self, Problem> {
        let choices = query.word("choices", &[("true", true), ("false", false)])?;
        Ok(Self { choices: choices.unwrap_or_default() })
    }
}

/// A list of preferences: those that are set, or an object that also has the modes that may be chosen.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum PreferencesAnswer {
    Set(Vec<Preference>),
    All(Box<AllPreferences>),
}

/// List the preferences of a recipient
///
/// Returns the preferences for types, categories and digests that are configured now, and mutes. A preference that is
/// the same on each channel is one item, on `*`. Without a preference the policy of the type applies. With
/// `choices=true`, and for end users, the list is `preferences` of an object that has everything for a page of
/// preferences: for each category and type the modes that may be chosen, the mode in force and its source; mutes, quiet
/// hours with those in force and their time zone, and the key of Web Push.
#[utoipa::path(
    get, path = "/v1/recipients/{id}/preferences", tag = "preferences",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        PreferencesQuery,
    ),
    responses((status = 200, description = "The preferences", body = PreferencesAnswer, example = json!([{"category": "following", "channel": "email", "mode": "weekly"}, {"type": "comment", "channel": "email", "mode": "never"}])))
)]
pub(crate) async fn get_preferences(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    InQuery(query): InQuery<PreferencesQuery>,
) -> Result<Answer, Problem> {
    let (id, view) = (reader.recipient.clone(), reader.view());
    if query.choices || reader.is_user() {
        let (rules, design) = (service.rules(), service.design());
        let is_user = reader.is_user();
        let all = service.look(move |node| {
            if !is_user {
                node.engine().preferences(&id, &view)?;
            }
            AllPreferences::of(node, &rules, &design, (&id, &view))
        });
        let all = PreferencesAnswer::All(Box::new(all.await??));
        return Answer::json(StatusCode::OK, &all);
    }
    let chosen = service.look(move |node| node.engine().preferences(&id, &view)).await?;
    Answer::json(StatusCode::OK, &PreferencesAnswer::Set(Preference::list(chosen?)))
}

/// Replace all preferences of a recipient
///
/// Resets preferences that are not in the list to their default, but keeps a `never` for a type or category that is not
/// configured now. Lifts mutes that are not in the list. Either the whole list is accepted or nothing. Pending
/// notifications move to the lane that applies now; `never` cancels them. With `tenant` in the query the list is that
/// of the tenant; preferences with another tenant or without one stay.
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
    reader: InboxReader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    set(&service, reader, &change, true, ChangedBy::Key).await
}

/// Set some preferences of a recipient
///
/// Sets the preferences in the list; the others stay as they are. `default` removes a preference. Either the whole list
/// is accepted or nothing. Pending notifications move to the lane that applies now; `never` cancels them. The body may
/// also be an object with the list as `preferences` and with `quiet_hours` like those of a profile, both optional.
#[utoipa::path(
    patch, path = "/v1/recipients/{id}/preferences", tag = "preferences",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body(content = PreferenceChange, example = json!([{"type": "comment", "channel": "email", "mode": "immediate"}])),
    responses(
        (status = 200, description = "The preferences are set, with warnings", body = Warned),
        (status = 204, description = "The preferences are set"),
    )
)]
pub(crate) async fn patch_preferences(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let by = if reader.is_user() { ChangedBy::User } else { ChangedBy::Key };
    set(&service, reader, &change, false, by).await
}

async fn set(
    service: &Service,
    reader: InboxReader,
    change: &Change,
    whole: bool,
    by: ChangedBy,
) -> Result<Answer, Problem> {
    let rules = service.rules();
    let is_object = change.body.trim_ascii_start().first() == Some(&b'{');
    let (mut chosen, hours) = if is_object && !whole {
        change.parse::<WithHours>()?.read(&rules)?
    } else {
        (choices(&rules, json::list(&change.body)?)?, None)
    };
    for choice in &mut chosen {
        choice.tenant = reader.tenant(choice.tenant.take())?;
    }
    let tenant = reader.view().tenant().cloned();
    let recipient = reader.recipient;
    if by == ChangedBy::User {
        service.preference_rate.take(&recipient, tenant.as_ref(), &chosen, service.now())?;
    }
    let warnings = without_effect(&rules, &chosen);
    let mut commands = Vec::new();
    if let Some(hours) = hours {
        // A change of a profile makes one.
        known(service, &recipient).await?;
        let profile = RecipientChange {
            quiet_hours: Some(hours),
            ..RecipientChange::nothing(recipient.clone())
        };
        commands.push(Command::Recipient(Box::new(profile)));
    }
    commands.push(Command::Preferences { recipient, chosen, whole, tenant, by });
    let done = |replies: Vec<Result<Reply, Problem>>| {
        replies.into_iter().collect::<Result<Vec<_>, _>>()?;
        if warnings.is_empty() {
            return Ok(Answer::done());
        }
        Answer::json(StatusCode::OK, &Warned { warnings })
    };
    service.change(change, commands, done).await
}

/// Checks that a recipient is there.
///
/// # Errors
/// [`Code::RecipientNotFound`](crate::error::Code::RecipientNotFound).
pub(super) async fn known(service: &Service, recipient: &Id) -> Result<(), Problem> {
    let id = recipient.clone();
    let is_known = service.look(move |node| node.engine().recipient(&id).is_some()).await?;
    let unknown = || Refused::UnknownRecipient(recipient.clone()).into();
    is_known.then_some(()).ok_or_else(unknown)
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

/// The answer to preferences that are set, but probably not intended as they are.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"warnings": [{"code": "only_required", "detail": "every type of the category `account` is required and still sent", "hint": "leave it out; it only concerns types of this category that are not required, should some come later"}]}))]
struct Warned {
    /// The warnings: `only_required` for a `never` of a category whose types are all required.
    warnings: Vec<EventWarning>,
}
