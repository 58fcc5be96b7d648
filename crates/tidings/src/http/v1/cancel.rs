//! Taking events back.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::command::Cancelled;
use tidings_core::engine::{Refused, Reply, TakenBack};
use tidings_core::{Command, Id};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::{Answer, Change, Service, only};
use crate::timeline::Bodies;

/// The calls that take events back.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add(
            "cancel_event",
            Kind::Changes,
            routes!(cancel_event),
            &[Code::InvalidPath, Code::UnsupportedMediaType],
        )
        .add(
            "cancel_all",
            Kind::Changes,
            routes!(cancel_all),
            &[
                Code::InvalidJson,
                Code::InvalidBody,
                Code::UnsupportedMediaType,
            ],
        )
}

/// What came of taking events back.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"status": "cancelled", "cancelled": 12, "removed_from_batch": 0, "too_late": 3, "events": 1, "warnings": []}))]
struct CancelAnswer {
    status: CancelStatus,
    /// Entries that waited, or were scheduled: they are cancelled.
    cancelled: u64,
    /// Entries that stood in a message which was made and not handed over yet: they were taken out
    /// of it, and where nothing was left it is not sent.
    removed_from_batch: u64,
    /// Entries that can't be taken back: they were told (in an inbox at once), are on their way, or
    /// had ended when their message was made.
    too_late: u64,
    /// Events that were found.
    events: u64,
    /// What is probably not meant.
    warnings: Vec<CancelWarning>,
}

/// The furthest that it went: `removed_from_batch` where entries were taken out of a message;
/// `cancelled` where others were, or there was nothing to take back; `too_late` where nothing could
/// be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum CancelStatus {
    Cancelled,
    RemovedFromBatch,
    TooLate,
}

/// What is probably not meant.
#[derive(Serialize, ToSchema)]
struct CancelWarning {
    /// Stable: `unknown_event`, `unknown_cancellation_key`.
    code: &'static str,
    /// In words.
    detail: &'static str,
}

/// Which events are taken back.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"cancellation_key": "invoice-42"}))]
#[expect(dead_code, reason = "describes what `Bodies::cancel` reads")]
struct CancelKey {
    /// All that were published with this key so far.
    #[schema(min_length = 1, max_length = 256)]
    cancellation_key: String,
}

impl CancelAnswer {
    fn of(taken: TakenBack, unknown: CancelWarning) -> Self {
        Self {
            status: if taken.removed_from_batch > 0 {
                CancelStatus::RemovedFromBatch
            } else if taken.cancelled == 0 && taken.too_late > 0 {
                CancelStatus::TooLate
            } else {
                CancelStatus::Cancelled
            },
            cancelled: taken.cancelled,
            removed_from_batch: taken.removed_from_batch,
            too_late: taken.too_late,
            events: taken.events,
            warnings: if taken.events == 0 {
                vec![unknown]
            } else {
                Vec::new()
            },
        }
    }
}

fn told(replies: Vec<Result<Reply, Refused>>, unknown: CancelWarning) -> Result<Answer, Problem> {
    match only(replies)? {
        Reply::Cancelled(taken) => Answer::json(StatusCode::OK, &CancelAnswer::of(taken, unknown)),
        _ => Err(Problem::new(Code::Internal, "an answer to something else")),
    }
}

/// Cancel an event
///
/// What waits of it ends at once; what stands in a message that was not handed over yet is taken out
/// of it. Cancelling what is not known does nothing and says so.
#[utoipa::path(
    post, path = "/v1/events/{id}/cancel", tag = "events",
    params(("id" = String, Path, description = "Event id", example = "e-1", min_length = 1, max_length = 256)),
    responses((status = 200, description = "What was cancelled", body = CancelAnswer))
)]
async fn cancel_event(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let command = Command::Cancel(Cancelled::Event(id));
    let unknown = CancelWarning {
        code: "unknown_event",
        detail: "no event of this id is known",
    };
    let told = |replies| told(replies, unknown);
    service.change(&change, vec![command], told).await
}

/// Cancel all events of a key
///
/// All that were published with this `cancellation_key` so far, as one by one.
#[utoipa::path(
    post, path = "/v1/cancel", tag = "events",
    request_body = CancelKey,
    responses((status = 200, description = "What was cancelled", body = CancelAnswer))
)]
async fn cancel_all(
    State(service): State<Arc<Service>>,
    change: Change,
) -> Result<Answer, Problem> {
    let rules = service.rules();
    let command = Bodies::new(&rules).cancel(change.fields()?)?;
    if let Command::Cancel(Cancelled::Event(_)) = &command {
        let problem = Problem::new(Code::InvalidBody, "a single event is named in the path");
        return Err(problem.hint("`POST /v1/events/{id}/cancel`, or give `cancellation_key`"));
    }
    let unknown = CancelWarning {
        code: "unknown_cancellation_key",
        detail: "no event that is known carries this key",
    };
    let told = |replies| told(replies, unknown);
    service.change(&change, vec![command], told).await
}
