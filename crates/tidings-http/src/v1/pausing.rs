//! Pausing and resuming types and channels.

pub(super) mod feeds;
pub(super) mod parked;

use std::sync::Arc;

use axum::extract::State;
use tidings_core::model::PauseSubject;
use tidings_core::{Command, Id};
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::{Answer, Change, Service, only};

/// The calls that pause and resume.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("pause_type", routes!(pause_type))
        .add("resume_type", routes!(resume_type))
        .add("pause_channel", routes!(pause_channel))
        .add("resume_channel", routes!(resume_channel))
}

async fn steer(service: &Service, change: &Change, command: Command) -> Result<Answer, Problem> {
    let done = |replies| match only(replies) {
        Ok(_) => Ok(Answer::done()),
        // What the path names and is not there is not found.
        Err(problem) => Err(match problem.code {
            Code::UnknownType => Problem::new(Code::TypeNotFound, problem.detail),
            Code::UnknownChannel => Problem::new(Code::ChannelNotFound, problem.detail),
            _ => problem,
        }),
    };
    service.change(change, vec![command], done).await
}

/// Pause a type
///
/// Holds the notifications of the type in a lane of their own, pending ones included. Other types are sent as before. A
/// message that is already built and includes the type waits too.
#[utoipa::path(
    post, path = "/v1/types/{type}/pause", tag = "configuration",
    params(("type" = String, Path, description = "Type of the configuration", example = "comment", min_length = 1, max_length = 256)),
    responses((status = 204, description = "The type is paused"))
)]
async fn pause_type(
    State(service): State<Arc<Service>>,
    InPath(kind): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let command = Command::Pause(PauseSubject::Type(kind));
    steer(&service, &change, command).await
}

/// Resume a type
///
/// Returns waiting notifications to the lanes that apply now, by their time: overdue ones are sent at once, a digest
/// sends them at its next slot.
#[utoipa::path(
    post, path = "/v1/types/{type}/resume", tag = "configuration",
    params(("type" = String, Path, description = "Type of the configuration", example = "comment", min_length = 1, max_length = 256)),
    responses((status = 204, description = "The type is resumed"))
)]
async fn resume_type(
    State(service): State<Arc<Service>>,
    InPath(kind): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let command = Command::Resume(PauseSubject::Type(kind));
    steer(&service, &change, command).await
}

/// Pause a channel
///
/// Closes no lane of the channel and sends no message on it, retries included, until it is resumed. A paused inbox does
/// not show new notifications.
#[utoipa::path(
    post, path = "/v1/channels/{channel}/pause", tag = "configuration",
    params(("channel" = String, Path, description = "Channel", example = "email")),
    responses((status = 204, description = "The channel is paused"))
)]
async fn pause_channel(
    State(service): State<Arc<Service>>,
    InPath(channel): InPath<String>,
    change: Change,
) -> Result<Answer, Problem> {
    let command = Command::Pause(PauseSubject::Channel(channel));
    steer(&service, &change, command).await
}

/// Resume a channel
///
/// Sends due lanes at once, one message per lane.
#[utoipa::path(
    post, path = "/v1/channels/{channel}/resume", tag = "configuration",
    params(("channel" = String, Path, description = "Channel", example = "email")),
    responses((status = 204, description = "The channel is resumed"))
)]
async fn resume_channel(
    State(service): State<Arc<Service>>,
    InPath(channel): InPath<String>,
    change: Change,
) -> Result<Answer, Problem> {
    let command = Command::Resume(PauseSubject::Channel(channel));
    steer(&service, &change, command).await
}
