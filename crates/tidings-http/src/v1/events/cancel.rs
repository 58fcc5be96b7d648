//! Cancelling events, and withdrawing them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::short::Cancel;
use tidings_api::body::tenant;
use tidings_api::body::text::Text;
use tidings_config::duration;
use tidings_core::engine::{CancelOutcome, Reply, TakenBackEntries};
use tidings_core::model::{Cancelled, DAY_MS};
use tidings_core::{Command, Id, Rules};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::change::before::{Concerned, Foreseen};
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::query::{BeforeAlone, InQuery};
use crate::{Answer, Change, Service};

/// The calls that cancel and withdraw events.
pub(crate) fn calls(calls: Calls) -> Calls {
    calls
        .add("cancel_event", routes!(cancel_event))
        .add("cancel_all", routes!(cancel_all))
        .add("withdraw_event", routes!(withdraw_event))
        .add("withdraw", routes!(withdraw))
}

/// The result of a cancel.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"status": "cancelled", "cancelled": 12, "removed_from_batch": 0, "too_late": 3, "withdrawn": 0, "events": 1, "warnings": []}))]
struct CancelAnswer {
    status: CancelStatus,
    /// Pending or scheduled entries that are now cancelled.
    cancelled: u64,
    /// Entries removed from messages that are built and not handed over yet. A message without entries is not sent.
    removed_from_batch: u64,
    /// Entries that can't be cancelled: they are delivered (an inbox entry at once), are being sent, or ended when
    /// their message was built.
    too_late: u64,
    /// Delivered entries that are removed from inboxes; they stay delivered.
    withdrawn: u64,
    /// Number of events found.
    events: u64,
    /// A warning about a request that is accepted, but probably not intended as it is.
    warnings: Vec<CancelWarning>,
    /// With `dry`: true, and nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    dry: Option<bool>,
    /// With `dry`: what the call would touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    concerns: Option<Concerned>,
}

/// The extent of the cancel: `removed_from_batch` = entries were removed from a message; `cancelled` = only pending
/// entries were cancelled; `withdrawn` = delivered entries were removed from inboxes; `too_late` = everything was
/// delivered already; `nothing_left` = the event was cancelled before or has no recipients; `remembered` = no event
/// with this id is known, and it is cancelled if it arrives within 24 hours; `unknown` = no event with this key was
/// found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum CancelStatus {
    Cancelled,
    RemovedFromBatch,
    Withdrawn,
    TooLate,
    NothingLeft,
    Remembered,
    Unknown,
}

impl From<CancelOutcome> for CancelStatus {
    fn from(outcome: CancelOutcome) -> Self {
        match outcome {
            CancelOutcome::Cancelled => Self::Cancelled,
            CancelOutcome::RemovedFromBatch => Self::RemovedFromBatch,
            CancelOutcome::Withdrawn => Self::Withdrawn,
            CancelOutcome::TooLate => Self::TooLate,
            CancelOutcome::NothingLeft => Self::NothingLeft,
            CancelOutcome::Remembered => Self::Remembered,
            CancelOutcome::Unknown => Self::Unknown,
        }
    }
}

/// A warning about a request that is accepted, but probably not intended as it is.
#[derive(Serialize, ToSchema)]
struct CancelWarning {
    /// The stable code: `unknown_event` or `unknown_cancellation_key`.
    code: &'static str,
    /// The warning in words.
    detail: String,
}

impl CancelWarning {
    fn unknown(what: &Cancelled, rules: &Rules) -> Self {
        let kept = kept(rules);
        match what {
            Cancelled::Event(id) => Self {
                code: "unknown_event",
                detail: format!(
                    "no event `{id}` in the last {kept}; it is cancelled if it comes within 24 hours"
                ),
            },
            Cancelled::Key(key) => Self {
                code: "unknown_cancellation_key",
                detail: format!("no event with the cancellation key `{key}` in the last {kept}"),
            },
        }
    }
}

/// The time for which events are kept, in words.
fn kept(rules: &Rules) -> String {
    match (rules.store.keep_ms / DAY_MS, rules.store.keep_ms % DAY_MS) {
        (1, 0) => "day".to_owned(),
        (days, 0) => format!("{days} days"),
        _ => duration::print(rules.store.keep_ms),
    }
}

impl CancelAnswer {
    fn of(taken: TakenBackEntries, unknown: CancelWarning, foreseen: Foreseen) -> Self {
        Self {
            status: taken.outcome().into(),
            cancelled: taken.cancelled,
            removed_from_batch: taken.removed_from_batch,
            too_late: taken.too_late,
            withdrawn: taken.withdrawn,
            events: taken.events,
            warnings: if taken.events == 0 { vec![unknown] } else { Vec::new() },
            dry: foreseen.dry,
            concerns: foreseen.concerns,
        }
    }
}

/// The tenant of the event in the path.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"tenant": "acme"}))]
struct OfTenant {
    /// The tenant of the event; absent = any.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Text<Id>>,
}

/// The tenant of the event, if the request names one.
fn tenant_of(change: &Change) -> Result<Option<Id>, Problem> {
    Ok(match change.body.trim_ascii() {
        b"" | b"null" => None,
        _ => tenant::named(change.parse::<OfTenant>()?.tenant),
    })
}

fn cancel(what: Cancelled, tenant: Option<Id>) -> Command {
    Command::Cancel { what, tenant }
}

fn withdrawn(what: Cancelled, tenant: Option<Id>) -> Command {
    Command::Withdraw { what, tenant }
}

/// Cancels or withdraws, and answers with the extent.
async fn take_back(
    service: &Service,
    change: &Change,
    (what, tenant): (Cancelled, Option<Id>),
    command: fn(Cancelled, Option<Id>) -> Command,
) -> Result<Answer, Problem> {
    let unknown = CancelWarning::unknown(&what, &service.rules());
    let answer = |reply, foreseen| match reply {
        Reply::Cancelled(taken) => {
            Answer::json(StatusCode::OK, &CancelAnswer::of(taken, unknown, foreseen))
        }
        _ => Err(Problem::new(Code::Internal, "the node gave an answer of the wrong kind")),
    };
    service.change_or_dry(change, command(what, tenant), answer).await
}

/// Cancel an event
///
/// Cancels pending notifications at once, and removes them from messages that are built and not handed over yet.
/// `status` is the extent of the cancel. An unknown event is not an error: the status is `remembered`, and the event is
/// cancelled if it arrives within 24 hours.
#[utoipa::path(
    post, path = "/v1/events/{id}/cancel", tag = "events",
    request_body(content = Option<OfTenant>, example = json!({})),
    params(("id" = String, Path, description = "Event id", example = "e-1", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The result", body = CancelAnswer))
)]
async fn cancel_event(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    _: InQuery<BeforeAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let what = (Cancelled::Event(id), tenant_of(&change)?);
    take_back(&service, &change, what, cancel).await
}

/// Cancel all events of a key
///
/// Cancels all events published with this `cancellation_key` so far. The counts are sums over all of them.
#[utoipa::path(
    post, path = "/v1/cancel", tag = "events",
    request_body = Cancel,
    responses((status = 200, description = "The result", body = CancelAnswer))
)]
async fn cancel_all(
    State(service): State<Arc<Service>>,
    _: InQuery<BeforeAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let what = match change.parse::<Cancel>()?.named()? {
        (key @ Cancelled::Key(_), tenant) => (key, tenant),
        (Cancelled::Event(_), _) => {
            let problem = Problem::new(Code::InvalidBody, "unknown field `event`");
            return Err(problem.hint("one event is cancelled by `POST /v1/events/{id}/cancel`"));
        }
    };
    take_back(&service, &change, what, cancel).await
}

/// Withdraw an event
///
/// Cancels the event as `cancel` does, and removes it from inboxes. Removed entries still count as delivered.
#[utoipa::path(
    post, path = "/v1/events/{id}/withdraw", tag = "events",
    request_body(content = Option<OfTenant>, example = json!({})),
    params(("id" = String, Path, description = "Event id", example = "e-1", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The result", body = CancelAnswer))
)]
async fn withdraw_event(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    _: InQuery<BeforeAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let what = (Cancelled::Event(id), tenant_of(&change)?);
    take_back(&service, &change, what, withdrawn).await
}

/// Withdraw an event, or all events of a key
///
/// Withdraws one event, or all events published with this `cancellation_key` so far. The counts are sums over all of
/// them.
#[utoipa::path(
    post, path = "/v1/withdraw", tag = "events",
    request_body = Cancel,
    responses((status = 200, description = "The result", body = CancelAnswer))
)]
async fn withdraw(
    State(service): State<Arc<Service>>,
    _: InQuery<BeforeAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let what = change.parse::<Cancel>()?.named()?;
    take_back(&service, &change, what, withdrawn).await
}
