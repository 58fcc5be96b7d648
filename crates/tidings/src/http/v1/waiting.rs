//! What waits for a recipient, and sending it now.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::Id;
use tidings_core::engine::{OpenLane, Reply, WaitingEntry};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::{Answer, Change, Service, only};
use crate::timeline::{Bodies, Fields};

/// The calls of what waits.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add(
            "pending",
            Kind::Looks,
            routes!(pending),
            &[Code::InvalidPath, Code::RecipientNotFound],
        )
        .add(
            "flush",
            Kind::Changes,
            routes!(flush),
            &[
                Code::InvalidPath,
                Code::InvalidJson,
                Code::InvalidBody,
                Code::UnsupportedMediaType,
                Code::RecipientNotFound,
                Code::UnknownChannel,
            ],
        )
}

/// What waits for a recipient.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"lanes": [{"channel": "email", "lane": "cooldown", "due": "2024-03-07T08:07:00Z", "paused": false, "entries": [{"event": "e-1", "type": "comment", "object": "works/1", "t": "2024-03-07T08:03:00Z"}]}], "scheduled": []}))]
struct Pending {
    /// Open lanes in which something waits.
    lanes: Vec<PendingLane>,
    /// What was published for later, by time.
    scheduled: Vec<Waiting>,
}

/// A lane in which something waits: all of it is one message.
#[derive(Serialize, ToSchema)]
struct PendingLane {
    /// On which channel.
    channel: &'static str,
    /// Its name; `paused` keeps what an operator has paused.
    lane: String,
    /// When it is due; null = not as things are.
    #[schema(format = "date-time")]
    due: Option<String>,
    /// Whether it stays open all the same, because an operator has paused it.
    paused: bool,
    /// What waits, by time and arrival.
    entries: Vec<Waiting>,
}

/// One notification that waits.
#[derive(Serialize, ToSchema)]
pub(super) struct Waiting {
    /// The event.
    event: String,
    /// Its type.
    r#type: String,
    /// Its object.
    object: String,
    /// When it entered, or is going to.
    #[schema(format = "date-time")]
    t: String,
}

impl From<WaitingEntry> for Waiting {
    fn from(entry: WaitingEntry) -> Self {
        Self {
            event: entry.event.as_str().to_owned(),
            r#type: entry.kind.as_str().to_owned(),
            object: entry.object.as_str().to_owned(),
            t: entry.t.to_string(),
        }
    }
}

/// The marker of a flush.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"marker": "10-5"}))]
struct Flushed {
    /// Names the place behind which everything is new. Nothing waited where it names an earlier
    /// flush's.
    marker: String,
}

/// What a flush is limited to; all open lanes where nothing is given.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"channel": "email"}))]
#[expect(dead_code, reason = "describes what `Bodies::flush` reads")]
struct FlushLimits {
    /// Only lanes of this channel.
    channel: Option<String>,
    /// Only lanes of this name.
    lane: Option<String>,
}

/// List what waits for a recipient
///
/// Open lanes with their deadline and their notifications, and events that were published for later.
#[utoipa::path(
    get, path = "/v1/recipients/{id}/pending", tag = "pending",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    responses((status = 200, description = "Open lanes, and what is scheduled", body = Pending))
)]
async fn pending(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
) -> Result<Answer, Problem> {
    let pending = service
        .look(move |node| -> Result<Pending, Problem> {
            let (engine, shelf) = (node.engine(), node.shelf()?);
            let paused = |lane: &OpenLane| {
                lane.lane == "paused" || engine.paused().has_channel(lane.channel)
            };
            let lanes = engine.open_lanes(&shelf, &id)??.into_iter();
            let lanes = lanes.map(|lane| PendingLane {
                paused: paused(&lane),
                channel: lane.channel,
                lane: lane.lane,
                due: lane.due.map(|due| due.to_string()),
                entries: lane.entries.into_iter().map(Waiting::from).collect(),
            });
            let lanes = lanes.collect();
            let scheduled = engine.scheduled(&shelf, &id)??.into_iter();
            let scheduled = scheduled.map(Waiting::from).collect();
            Ok(Pending { lanes, scheduled })
        })
        .await??;
    Answer::json(StatusCode::OK, &pending)
}

/// Send what waits for a recipient now
///
/// All open lanes of the recipient are due at once, except the inbox. Lanes of a paused channel are sent when
/// the channel is resumed; notifications of a paused type stay. The body may be left out.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/flush", tag = "pending",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body(content = Option<FlushLimits>, example = json!({"channel": "email"})),
    responses((status = 200, description = "The lanes are due now", body = Flushed))
)]
async fn flush(
    State(service): State<Arc<Service>>,
    InPath(recipient): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let rules = service.rules();
    let fields = if change.body.is_empty() {
        Fields::new(Vec::new())
    } else {
        change.fields()?
    };
    let command = Bodies::new(&rules).flush(recipient, fields)?;
    let flushed = |replies| match only(replies)? {
        Reply::Flushed(marker) => Answer::json(StatusCode::OK, &Flushed { marker }),
        _ => Err(Problem::new(Code::Internal, "an answer to something else")),
    };
    service.change(&change, vec![command], flushed).await
}
