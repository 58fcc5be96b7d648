//! Messages of channels: pages, the history of a message, and its changes.

pub(super) mod page;

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_core::channel::{CHANNELS, INBOX};
use tidings_core::engine::{MessageCursor, MessageFilter, MessageReport, Operated, Refused, Reply};
use tidings_core::message::{Item, Skipped};
use tidings_core::messages::{AttemptRun, MessageAct, MessageName, MessageState};
use tidings_core::time::Day;
use tidings_core::{Command, Id};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::explained::ExplainedStep;
use crate::http::call::Calls;
use crate::http::cluster::gather::OtherShards;
use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::request::query::{FromQuery, InQuery, Parameters};
use crate::http::v1::messages::page::{HeldShown, MessagePage, MessageShown, merged};
use crate::http::v1::tenants;
use crate::http::{Answer, Change, Service, only};
use crate::wording::quoted;

/// Default number of messages of a page.
const MESSAGES_USUAL: u16 = 50;
/// Maximum number of messages of a page.
const MESSAGES_MAX: u16 = 500;

/// The calls of messages.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("list_messages", routes!(list_messages))
        .add("get_message", routes!(get_message))
        .add("retry_message", routes!(retry_message))
        .add("cancel_message", routes!(cancel_message))
        .add("resend_message", routes!(resend_message))
}

/// The choice of messages.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct MessagesQuery {
    /// Only messages to this recipient.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    recipient: Option<Id>,
    /// Only messages on this channel.
    channel: Option<&'static str>,
    /// Only messages in this state: `planned`, `sending`, `retrying`, `sent`, `failed`, `unknown`, `suppressed` or
    /// `cancelled`.
    #[param(value_type = Option<String>)]
    state: Option<MessageState>,
    /// Only messages with a notification of this type.
    #[param(rename = "type", value_type = Option<String>, min_length = 1, max_length = 256)]
    kind: Option<Id>,
    /// Only messages of this tenant.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Id>,
    /// Only messages that were built on this UTC date.
    #[param(value_type = Option<String>, format = Date)]
    day: Option<Day>,
    /// Maximum number of messages; 50 if absent.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u16>,
    /// Start of the page: `next` of the previous page.
    #[param(value_type = Option<String>)]
    cursor: Option<MessageCursor>,
}

impl FromQuery for MessagesQuery {
    const KNOWN: &'static [&'static str] =
        &["recipient", "channel", "state", "type", "tenant", "day", "limit", "cursor"];

    fn read(query: &Parameters) -> Result<Self, Problem> {
        let states = MessageState::ALL.map(|state| (state.word(), state));
        let channels: Vec<_> = CHANNELS
            .iter()
            .filter(|channel| **channel != INBOX)
            .map(|channel| (*channel, *channel))
            .collect();
        Ok(Self {
            recipient: query.parsed("recipient", Id::new, "an id")?,
            channel: query.word("channel", &channels)?,
            state: query.word("state", &states)?,
            kind: query.parsed("type", Id::new, "the name of a type")?,
            tenant: query.parsed("tenant", Id::new, "an id")?,
            day: query.parsed("day", Day::parse, "a date such as `2024-03-07`")?,
            limit: query.whole_number("limit", 1..=MESSAGES_MAX)?,
            cursor: query.parsed("cursor", str::parse, "what a page gave as `next`")?,
        })
    }
}

/// A message with its history.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"id": "2024-03-07.3.12.77", "recipient": "ada", "channel": "email", "lane": "cooldown", "state": "sent", "reason": null, "due": "2024-03-07T08:07:00Z", "built": "2024-03-07T08:07:00Z", "ended": "2024-03-07T08:07:31Z", "entries": 1, "failed_attempts": 0, "next_try": null, "batch": "5c0f3d1a9b7e4f60821d3c4b5a697887", "items": [{"event": "e-1", "type": "comment", "object": "works/1", "t": "2024-03-07T08:03:00Z", "reasons": ["named"]}], "left_out": [], "attempts": [{"at": "2024-03-07T08:07:00Z", "until": "2024-03-07T08:07:00Z", "count": 1, "provider": "smtp://mail.example.org:587", "answer": "retry", "reply": "RCPT: 451 4.3.0"}], "timeline": [{"rule": "delivery", "at": "2024-03-07T08:07:00Z", "looked_at": "smtp://mail.example.org:587: RCPT: 451 4.3.0", "result": "retry", "ends": false}]}))]
struct MessageDetails {
    #[serde(flatten)]
    shown: MessageShown,
    /// The id by which the provider and the log know it; null = it has no content.
    batch: Option<String>,
    /// Its notifications. Those of deleted days are left out.
    items: Vec<MessageItem>,
    /// Notifications that the checks before sending left out, or that were removed later.
    left_out: Vec<LeftOut>,
    /// Attempts to hand it over that the provider answered, and later reports, in their order.
    attempts: Vec<AttemptShown>,
    /// Its history in order: the entries of its lane (the first 100), the rules that decided its time, attempts,
    /// outcomes.
    timeline: Vec<ExplainedStep>,
}

/// A notification in a message.
#[derive(Serialize, ToSchema)]
struct MessageItem {
    /// The event.
    event: String,
    /// Its type.
    r#type: String,
    /// Its object.
    object: String,
    /// Time at which it entered its lane.
    #[schema(format = "date-time")]
    t: String,
    /// The reasons for which the recipient got it.
    reasons: Vec<String>,
}

impl From<Item> for MessageItem {
    fn from(item: Item) -> Self {
        Self {
            event: item.event.as_str().to_owned(),
            r#type: item.event_type.as_str().to_owned(),
            object: item.object.as_str().to_owned(),
            t: item.t.to_string(),
            reasons: item.reasons,
        }
    }
}

/// A notification that a message leaves out.
#[derive(Serialize, ToSchema)]
struct LeftOut {
    /// The event.
    event: String,
    /// The reason, as in the outcome of an event.
    reason: &'static str,
}

impl From<Skipped> for LeftOut {
    fn from(skipped: Skipped) -> Self {
        Self { event: skipped.event.as_str().to_owned(), reason: skipped.reason.word() }
    }
}

/// Attempts in a row with the same answer.
#[derive(Serialize, Deserialize, ToSchema)]
pub(super) struct AttemptShown {
    /// Time of the first.
    #[schema(format = "date-time")]
    at: String,
    /// Time of the last.
    #[schema(format = "date-time")]
    until: String,
    /// Number of attempts.
    count: u32,
    /// The provider, without secrets.
    provider: String,
    /// `sent`, `retry` (surely not handed over), `failed` (refused permanently) or `unknown`; in later reports
    /// `delivered`, `delayed`, `bounced`, `complained`, `opened` or `clicked`.
    #[schema(value_type = String)]
    answer: Cow<'static, str>,
    /// The provider's answer: stage and code of a refusal, without its text, which may contain addresses; the receipt
    /// of a sent message.
    reply: String,
}

impl From<AttemptRun> for AttemptShown {
    fn from(run: AttemptRun) -> Self {
        Self {
            at: run.first.to_string(),
            until: run.last.to_string(),
            count: run.count,
            provider: run.provider,
            answer: run.answer.name().into(),
            reply: run.reply,
        }
    }
}

impl From<MessageReport> for MessageDetails {
    fn from(report: MessageReport) -> Self {
        Self {
            shown: report.summary.into(),
            batch: report.batch,
            items: report.items.into_iter().map(Into::into).collect(),
            left_out: report.left_out.into_iter().map(Into::into).collect(),
            attempts: report.attempts.into_iter().map(Into::into).collect(),
            timeline: report.steps.into_iter().map(Into::into).collect(),
        }
    }
}

/// The result of a change of a message.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"status": "accepted", "cancelled": 0}))]
struct OperatedAnswer {
    status: OperatedStatus,
    /// Number of notifications cancelled with it.
    cancelled: u64,
}

/// Result of a change of a message: `accepted` = it is sent; `cancelled` = it is not sent any more; `too_late` = it was
/// handed over, or may have been; `nothing_left` = it had failed, or had no notifications left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum OperatedStatus {
    Accepted,
    Cancelled,
    TooLate,
    NothingLeft,
}

impl From<Operated> for OperatedAnswer {
    fn from(operated: Operated) -> Self {
        let (status, cancelled) = match operated {
            Operated::Goes => (OperatedStatus::Accepted, 0),
            Operated::Cancelled(count) => (OperatedStatus::Cancelled, count),
            Operated::TooLate => (OperatedStatus::TooLate, 0),
            Operated::NothingLeft => (OperatedStatus::NothingLeft, 0),
        };
        Self { status, cancelled }
    }
}

/// The message that a path names.
fn named(id: &Id) -> Result<MessageName, Problem> {
    let unknown = |_| {
        let detail = format!("unknown message {}", quoted(id.as_str()));
        Problem::new(Code::MessageNotFound, detail)
    };
    id.as_str().parse().map_err(unknown)
}

async fn operate(
    service: &Service,
    change: &Change,
    id: &Id,
    act: MessageAct,
) -> Result<Answer, Problem> {
    let message = named(id)?;
    let answer = |replies: Vec<Result<Reply, Problem>>| match only(replies)? {
        Reply::Operated(operated) => Answer::json(StatusCode::OK, &OperatedAnswer::from(operated)),
        _ => Err(Problem::new(Code::Internal, "the node gave an answer of the wrong kind")),
    };
    let command = Command::Message { message, act };
    service.change(change, vec![command], answer).await
}

/// List messages
///
/// Returns messages of all channels but the inbox, as long as the day on which they were built is kept: first those
/// that are not built yet, then by that day, newest first. `GET /v1/messages/{id}` returns their content.
#[utoipa::path(
    get, path = "/v1/messages", tag = "messages",
    params(MessagesQuery),
    responses((status = 200, description = "A page of messages", body = MessagePage))
)]
async fn list_messages(
    State(service): State<Arc<Service>>,
    InQuery(query): InQuery<MessagesQuery>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    tenants::known_if_named(&service, query.tenant.as_ref()).await?;
    if let Some(recipient) = &query.recipient {
        service.at_home(recipient)?;
    }
    let state = query.state;
    let is_of_all = query.recipient.is_none();
    let most = usize::from(query.limit.unwrap_or(MESSAGES_USUAL));
    let from = query.cursor;
    let filter = MessageFilter {
        recipient: query.recipient,
        channel: query.channel.map(str::to_owned),
        state: query.state,
        event_type: query.kind,
        tenant: query.tenant,
        day: query.day,
    };
    let of_node = Arc::clone(&service);
    let own = service.look(move |node| -> Result<_, Problem> {
        let engine = node.engine();
        let page = engine.reader(node.view()).messages(&filter, from, most)?;
        Ok(MessagePage::of(page, (engine, of_node.handle.vitals()), of_node.now()))
    });
    if others.is_none() || !is_of_all {
        return Answer::json(StatusCode::OK, &own.await??);
    }
    let (own, mut gathered) = tokio::join!(own, others.gather());
    let mut pages = std::mem::take(&mut gathered.found);
    pages.push(own??);
    let page = MessagePage { missing: gathered.missing(), ..merged(pages, state, most) };
    Answer::json(StatusCode::OK, &page)
}

/// Get a message
///
/// Returns a message with its notifications, its attempts, and its history: the entries of its lane, the rules that
/// decided its time, the answers of providers.
#[utoipa::path(
    get, path = "/v1/messages/{id}", tag = "messages",
    params(("id" = String, Path, description = "Message id", example = "2024-03-07.3.12.77", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The message", body = MessageDetails))
)]
async fn get_message(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
) -> Result<Answer, Problem> {
    let name = named(&id)?;
    let of_node = Arc::clone(&service);
    let found = service.look(move |node| -> Result<_, Problem> {
        let engine = node.engine();
        let Some(report) = engine.reader(node.view()).message_report(name)? else {
            return Ok(None);
        };
        let held = HeldShown::of(engine, of_node.handle.vitals(), &report.summary, of_node.now());
        Ok(Some((report, held)))
    });
    let (report, held) = found.await??.ok_or(Refused::UnknownMessage(name))?;
    let mut details = MessageDetails::from(report);
    details.shown.held = held;
    Answer::json(StatusCode::OK, &details)
}

/// Retry a message
///
/// Sends a `failed` message again, as it was built; a `retrying` message is tried at once. Notifications that the
/// recipient has set to `never` or muted since are left out.
#[utoipa::path(
    post, path = "/v1/messages/{id}/retry", tag = "messages",
    params(("id" = String, Path, description = "Message id", example = "2024-03-07.3.12.77", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The result", body = OperatedAnswer))
)]
async fn retry_message(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    operate(&service, &change, &id, MessageAct::Retry).await
}

/// Cancel a message
///
/// Removes all notifications from a message that is surely not handed over; they end as `cancelled`, with the reason
/// `message`. `status` is the extent of the cancel.
#[utoipa::path(
    post, path = "/v1/messages/{id}/cancel", tag = "messages",
    params(("id" = String, Path, description = "Message id", example = "2024-03-07.3.12.77", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The result", body = OperatedAnswer))
)]
async fn cancel_message(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    operate(&service, &change, &id, MessageAct::Cancel).await
}

/// Resend a message
///
/// Sends a `sent`, `unknown` or `failed` message again: the recipient may get it twice. It counts as `resent`;
/// delivered notifications stay delivered, whatever the outcome of the copy.
#[utoipa::path(
    post, path = "/v1/messages/{id}/resend", tag = "messages",
    params(("id" = String, Path, description = "Message id", example = "2024-03-07.3.12.77", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The result", body = OperatedAnswer))
)]
async fn resend_message(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    operate(&service, &change, &id, MessageAct::Resend).await
}
