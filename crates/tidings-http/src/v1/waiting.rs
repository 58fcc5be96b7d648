//! Pending notifications of a recipient, and sending them now.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::short::FlushLimits;
use tidings_api::body::tenant;
use tidings_core::Id;
use tidings_core::engine::{MessageInRetry, OpenLane, Reply, WaitingEntry};
use tidings_core::model::{BatchKey, INBOX, RecipientState as Confirmation, View};
use tidings_node::DurableSnapshot;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::messages::AttemptShown;
use crate::call::Calls;
use crate::change::before::{Concerned, DRY, EXPECT, Foreseen};
use crate::error::{Code, Problem};
use crate::request::query::{FromQuery, InQuery, Parameters};
use crate::request::reader::{InboxReader, TenantAlone};
use crate::v1::messages::page::MessageShown;
use crate::{Answer, Change, Service};

/// Maximum number of messages in the list of those that wait for a retry.
const RETRIED_MAX: usize = 1_000;

/// The calls of pending notifications.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("pending", routes!(pending)).add("flush", routes!(flush))
}

/// All pending notifications of a recipient.
#[derive(Default, Serialize, ToSchema)]
#[schema(example = json!({"lanes": [{"channel": "email", "lane": "cooldown", "due": "2024-03-07T08:07:00Z", "held_by": null, "entries": [{"event": "e-1", "type": "comment", "object": "works/1", "t": "2024-03-07T08:03:00Z"}]}], "messages": [], "scheduled": []}))]
struct Pending {
    /// Open lanes with pending notifications.
    lanes: Vec<PendingLane>,
    /// Built messages that wait for a retry, the next first; at most 1,000.
    messages: Vec<RetriedMessage>,
    /// Scheduled events, by time.
    scheduled: Vec<Waiting>,
}

/// A lane with pending notifications, which become one message.
#[derive(Serialize, ToSchema)]
struct PendingLane {
    /// The channel.
    channel: &'static str,
    /// Name of the lane; `paused` holds the notifications of paused types.
    lane: String,
    /// Batch key of the lane; absent = empty.
    #[serde(skip_serializing_if = "BatchKey::is_empty")]
    #[schema(value_type = Option<String>)]
    key: BatchKey,
    /// Tenant of the lane; absent = none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant: Option<String>,
    /// Due time; null = none at present, such as while its type is paused.
    #[schema(format = "date-time")]
    due: Option<String>,
    /// The reason why it is held although it is due; null = it is not held.
    held_by: Option<HeldBy>,
    /// The pending notifications, by time and arrival.
    entries: Vec<Waiting>,
}

/// The reason why a due lane or message is held.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum HeldBy {
    /// An operator has paused the channel or the type.
    Paused,
    /// The recipient has not confirmed.
    Unconfirmed,
}

/// A message that waits for its next attempt.
#[derive(Serialize, Deserialize, ToSchema)]
pub(super) struct RetriedMessage {
    #[serde(flatten)]
    shown: MessageShown,
    /// The provider's last answer; null = none.
    last: Option<AttemptShown>,
    /// The reason why it is held; null = it is not held.
    held_by: Option<HeldBy>,
}

impl RetriedMessage {
    /// The place in a list: the next first, those that are held last.
    pub(super) fn order(&self) -> (bool, Option<String>) {
        (self.held_by.is_some(), self.shown.next_try.clone())
    }
}

impl From<MessageInRetry> for RetriedMessage {
    fn from(message: MessageInRetry) -> Self {
        let mut shown = MessageShown::from(message.summary);
        shown.next_try = shown.next_try.filter(|_| !message.is_held);
        Self {
            shown,
            last: message.last.map(Into::into),
            held_by: message.is_held.then_some(HeldBy::Paused),
        }
    }
}

/// A pending notification.
#[derive(Serialize, Deserialize, ToSchema)]
pub(super) struct Waiting {
    /// The event.
    event: String,
    /// Its type.
    r#type: String,
    /// Its tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant: Option<String>,
    /// Its object.
    object: String,
    /// Time at which it entered its lane, or will enter it.
    #[schema(format = "date-time")]
    t: String,
}

impl Waiting {
    /// The place in a list: by time.
    pub(super) fn order(&self) -> (String, String) {
        (self.t.clone(), self.event.clone())
    }
}

impl From<WaitingEntry> for Waiting {
    fn from(entry: WaitingEntry) -> Self {
        Self {
            event: entry.event.as_str().to_owned(),
            r#type: entry.event_type.as_str().to_owned(),
            tenant: entry.tenant.map(|tenant| tenant.as_str().to_owned()),
            object: entry.object.as_str().to_owned(),
            t: entry.t.to_string(),
        }
    }
}

/// The marker of a flush.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"marker": "10-5", "lanes": 1, "scheduled": null}))]
struct Flushed {
    /// Position in the order of events; everything after it is new. The marker of an earlier flush means that nothing
    /// was pending.
    marker: String,
    /// Number of open lanes that are due now, each of which becomes a message; 0 if nothing waited.
    lanes: usize,
    /// The scheduled entries, which are in no lane yet and not sent now; null = none.
    scheduled: Option<ScheduledCount>,
    /// With `dry`: true, and nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    dry: Option<bool>,
    /// With `dry`: what the call would touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    concerns: Option<Concerned>,
}

/// The query of a flush, whose tenant [`InboxReader`] reads.
pub(crate) struct FlushQuery;

impl FromQuery for FlushQuery {
    const KNOWN: &'static [&'static str] = &["tenant", DRY, EXPECT];

    fn read(_: &Parameters) -> Result<Self, Problem> {
        Ok(Self)
    }
}

/// Notifications that are scheduled: they enter their lanes later.
#[derive(Serialize, ToSchema)]
pub(super) struct ScheduledCount {
    /// Number of them; those of one event at one instant count once.
    notifications: usize,
    /// The time at which the first enters its lane.
    #[schema(format = "date-time")]
    first: String,
}

impl ScheduledCount {
    /// A summary of scheduled entries; `None` = none.
    pub(super) fn of(entries: &[WaitingEntry]) -> Option<Self> {
        let first = entries.iter().map(|entry| entry.t).min()?;
        Some(Self { notifications: entries.len(), first: first.to_string() })
    }
}

/// List a recipient's pending notifications
///
/// Returns open lanes with their deadlines and notifications, messages that wait for a retry, and scheduled events, in
/// the reader's view.
#[utoipa::path(
    get, path = "/v1/recipients/{id}/pending", tag = "pending",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only entries of this tenant and those without a tenant, as with a token with this claim", min_length = 1, max_length = 256),
    ),
    responses((status = 200, description = "Open lanes, messages that wait for a retry, and scheduled events", body = Pending))
)]
pub(crate) async fn pending(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    _: InQuery<TenantAlone>,
) -> Result<Answer, Problem> {
    let (id, of) = (reader.recipient.clone(), reader.view());
    let pending = service
        .look(move |node| -> Result<Pending, Problem> {
            let (engine, view) = (node.engine(), node.view());
            let state = engine.recipient(&id).map(|recipient| recipient.state);
            let is_unconfirmed = state == Some(Confirmation::Unconfirmed);
            let held_by = |lane: &OpenLane| {
                if lane.lane == "paused" || engine.paused().has_channel(lane.channel) {
                    Some(HeldBy::Paused)
                } else if is_unconfirmed && lane.channel != INBOX {
                    Some(HeldBy::Unconfirmed)
                } else {
                    None
                }
            };
            engine.reader(view).numbered(&of)?;
            let lanes = engine.reader(view).open_lanes(&id)?.into_iter();
            let lanes = lanes.filter(|lane| of.shows(lane.tenant.clone()));
            let lanes = lanes.map(|lane| PendingLane {
                held_by: held_by(&lane),
                channel: lane.channel,
                lane: lane.lane,
                key: lane.key,
                tenant: lane.tenant.map(|tenant| tenant.as_str().to_owned()),
                due: lane.due.map(|due| due.to_string()),
                entries: lane.entries.into_iter().map(Waiting::from).collect(),
            });
            let lanes = lanes.collect();
            let scheduled = scheduled(node, &id, &of)?.into_iter().map(Waiting::from).collect();
            let retrying = engine.reader(view).retrying(Some(&id), &of, RETRIED_MAX)?;
            Ok(Pending {
                lanes,
                messages: retrying.messages.into_iter().map(Into::into).collect(),
                scheduled,
            })
        })
        .await?;
    Answer::json(StatusCode::OK, &reader.or_nothing(pending)?)
}

/// The scheduled entries of a recipient that a view shows.
fn scheduled(node: &DurableSnapshot, id: &Id, of: &View) -> Result<Vec<WaitingEntry>, Problem> {
    let mut scheduled = node.engine().reader(node.view()).scheduled(id)?;
    scheduled.retain(|entry| of.shows(entry.tenant.clone()));
    Ok(scheduled)
}

/// Send a recipient's pending notifications now
///
/// Makes all open lanes of the recipient due at once, except the inbox. Lanes of a paused channel are sent when the
/// channel is resumed; notifications of a paused type and scheduled ones stay. The body is optional.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/flush", tag = "pending",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only entries of this tenant and those without a tenant, as with a token with this claim", min_length = 1, max_length = 256),
    ),
    request_body(content = Option<FlushLimits>, example = json!({"channel": "email"})),
    responses((status = 200, description = "The lanes are due now", body = Flushed))
)]
pub(crate) async fn flush(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    _: InQuery<FlushQuery>,
    change: Change,
) -> Result<Answer, Problem> {
    let mut limits =
        if change.body.is_empty() { FlushLimits::default() } else { change.parse()? };
    let view = reader.reach(tenant::named(limits.tenant.take()))?;
    let (of, shown) = (reader.recipient.clone(), view.clone());
    let command = limits.command(reader.recipient, view)?;
    let scheduled = service.look(move |node| scheduled(node, &of, &shown)).await??;
    let scheduled = ScheduledCount::of(&scheduled);
    let flushed = |reply, Foreseen { dry, concerns }: Foreseen| match reply {
        Reply::Flushed { marker, lanes } => {
            let flushed = Flushed { marker, lanes, scheduled, dry, concerns };
            Answer::json(StatusCode::OK, &flushed)
        }
        _ => Err(Problem::new(Code::Internal, "the node gave an answer of the wrong kind")),
    };
    service.change_or_dry(&change, command, flushed).await
}
