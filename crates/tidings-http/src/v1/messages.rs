//! Messages of channels: pages, the history of a message, and its changes.

pub(super) mod content;
pub(super) mod jobs;
pub(super) mod page;

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::explained::ExplainedStep;
use tidings_config::wording::quoted;
use tidings_core::content::{Item, SkippedEntry};
use tidings_core::engine::{
    MessageFilter, MessageReport, NewestFirst, OperatedMessage, Refused, Reply,
};
use tidings_core::model::{
    AttemptRun, ChannelNo, JobNo, MessageAct, MessageName, MessageState, Reason,
};
use tidings_core::{Command, Day, Id, Instant, Rules};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::change::before::{Concerned, Foreseen};
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::gather::OtherShards;
use crate::request::list::{
    InstantRange, ListFilter, ListPageQuery, ListQuery, PageBounds, page_body,
};
use crate::request::query::{BeforeAlone, InQuery, Parameters};
use crate::v1::messages::page::{HeldShown, MessageShown};
use crate::v1::tenants;
use crate::{Answer, Change, Service};

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
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct MessagesQuery {
    /// Only messages to this recipient.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    recipient: Option<Id>,
    /// Only messages with a notification of this event, whether they tell it or left it out.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    event: Option<Id>,
    /// Only messages on this channel.
    #[param(value_type = Option<String>)]
    channel: Option<ChannelNo>,
    /// Only messages of which this provider answered the last attempt, as `attempts` names it.
    provider: Option<String>,
    /// Only messages with a notification of this type, whether they tell it or left it out. May be repeated.
    #[param(rename = "type", value_type = Option<Vec<String>>, min_length = 1, max_length = 256)]
    types: Vec<Id>,
    /// Only messages of this tenant.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Id>,
    /// Only messages in this state: `planned`, `sending`, `retrying`, `sent`, `failed`, `unknown`, `suppressed` or
    /// `cancelled`. May be repeated.
    #[param(rename = "state", value_type = Option<Vec<String>>)]
    states: Vec<MessageState>,
    /// Only messages that were not handed over for this reason.
    #[param(value_type = Option<String>)]
    reason: Option<Reason>,
    /// Only messages of this job.
    #[param(value_type = Option<String>)]
    job: Option<JobNo>,
    /// Only messages that were due at this time or later.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Instant>,
    /// Only messages that were due before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Instant>,
    /// Only messages that were due on this UTC date; not beside `from` and `to`.
    #[param(value_type = Option<String>, format = Date)]
    day: Option<Day>,
}

impl MessagesQuery {
    /// The tenant that it names.
    pub(super) fn tenant(&self) -> Option<&Id> {
        self.tenant.as_ref()
    }
}

impl ListFilter for MessagesQuery {
    const KNOWN: &'static [&'static str] = &[
        "recipient",
        "event",
        "channel",
        "provider",
        "type",
        "tenant",
        "state",
        "reason",
        "job",
        "from",
        "to",
        "day",
    ];
    const REPEATED: &'static [&'static str] = &["type", "state"];

    fn read(query: &Parameters, rules: &Rules) -> Result<Self, Problem> {
        let states = MessageState::ALL.map(|state| (state.word(), state));
        let reasons = Reason::ALL.map(|reason| (reason.word(), reason));
        let InstantRange { from, to } = InstantRange::read(query)?;
        let day = query.parsed("day", Day::parse, "a date such as `2024-03-07`")?;
        if day.is_some() && (from.is_some() || to.is_some()) {
            let detail = "`day` stands beside `from` or `to`";
            return Err(Problem::new(Code::InvalidQuery, detail).hint("leave `day` out"));
        }
        Ok(Self {
            recipient: query.id("recipient")?,
            event: query.id("event")?,
            channel: query.sending_channel("channel", rules)?,
            provider: query.text("provider").map(str::to_owned),
            types: query.configured_types("type", rules)?,
            tenant: query.id("tenant")?,
            states: query.words("state", &states)?,
            reason: query.word("reason", &reasons)?,
            // What is no number is the id of no job, and finds nothing.
            job: query.id("job")?.map(|id| id.as_str().parse().unwrap_or(JobNo(u64::MAX))),
            from,
            to,
            day,
        })
    }
}

impl From<MessagesQuery> for MessageFilter {
    fn from(query: MessagesQuery) -> Self {
        Self {
            recipient: query.recipient,
            event: query.event,
            channel: query.channel,
            provider: query.provider,
            types: query.types,
            tenant: query.tenant,
            states: query.states,
            reason: query.reason,
            job: query.job,
            from: query.day.map(Day::start).or(query.from),
            to: query.day.map(Day::end).or(query.to),
        }
    }
}

page_body! {
    /// A page of messages, newest first by `due`.
    #[schema(example = json!({"messages": [{"id": "2024-03-07.3.12.77", "recipient": "ada", "channel": "email", "lane": "cooldown", "state": "failed", "reason": "refused", "due": "2024-03-07T08:07:00Z", "built": "2024-03-07T08:07:00Z", "ended": "2024-03-07T08:07:01Z", "entries": 2, "failed_attempts": 0, "next_try": null}], "next": null}))]
    MessagePage {
        /// The messages.
        messages: MessageShown
    }
}

/// A message with its history.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"id": "2024-03-07.3.12.77", "recipient": "ada", "channel": "email", "lane": "cooldown", "state": "sent", "reason": null, "due": "2024-03-07T08:07:00Z", "built": "2024-03-07T08:07:00Z", "ended": "2024-03-07T08:07:31Z", "entries": 1, "failed_attempts": 0, "next_try": null, "batch": "5c0f3d1a9b7e4f60821d3c4b5a697887", "items": [{"event": "e-1", "type": "comment", "object": "works/1", "t": "2024-03-07T08:03:00Z", "reasons": ["named"]}], "left_out": [], "attempts": [{"at": "2024-03-07T08:07:00Z", "until": "2024-03-07T08:07:00Z", "count": 1, "provider": "smtp://mail.example.org:587", "answer": "retry", "reply": "RCPT: 451 4.3.0"}], "timeline": [{"rule": "delivery", "at": "2024-03-07T08:07:00Z", "looked_at": "smtp://mail.example.org:587: RCPT: 451 4.3.0", "result": "retry", "ends": false}]}))]
pub(super) struct MessageDetails {
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

impl From<SkippedEntry> for LeftOut {
    fn from(skipped: SkippedEntry) -> Self {
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
    /// With `dry`: true, and nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    dry: Option<bool>,
    /// With `dry`: what the call would touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    concerns: Option<Concerned>,
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

impl OperatedAnswer {
    fn of(operated: OperatedMessage, Foreseen { dry, concerns }: Foreseen) -> Self {
        let (status, cancelled) = match operated {
            OperatedMessage::Goes => (OperatedStatus::Accepted, 0),
            OperatedMessage::Cancelled(count) => (OperatedStatus::Cancelled, count),
            OperatedMessage::TooLate => (OperatedStatus::TooLate, 0),
            OperatedMessage::NothingLeft => (OperatedStatus::NothingLeft, 0),
        };
        Self { status, cancelled, dry, concerns }
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
    let answer = |reply, foreseen| match reply {
        Reply::Operated(operated) => {
            Answer::json(StatusCode::OK, &OperatedAnswer::of(operated, foreseen))
        }
        _ => Err(Problem::new(Code::Internal, "the node gave an answer of the wrong kind")),
    };
    let command = Command::Message { message, act };
    service.change_or_dry(change, command, answer).await
}

/// List messages
///
/// Returns messages of all channels but the inbox, newest first by `due`, as long as the day on which they were due is
/// kept. `GET /v1/messages/{id}` returns their content.
#[utoipa::path(
    get, path = "/v1/messages", tag = "messages",
    params(MessagesQuery, ListQuery),
    responses((status = 200, description = "A page of messages", body = MessagePage))
)]
async fn list_messages(
    State(service): State<Arc<Service>>,
    ListPageQuery { filter, pages }: ListPageQuery<MessagesQuery, NewestFirst>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    tenants::known_if_named(&service, filter.tenant.as_ref()).await?;
    if let Some(recipient) = &filter.recipient {
        service.shards.at_home(recipient)?;
    }
    let is_of_all = filter.recipient.is_none();
    let filter = MessageFilter::from(filter);
    let of_node = Arc::clone(&service);
    let PageBounds { after, most, .. } = pages.clone();
    let own = service.look(move |node| -> Result<_, Problem> {
        let engine = node.engine();
        let page = engine.reader(node.view()).messages(&filter, after.as_ref(), most)?;
        let (vitals, now) = (of_node.handle.vitals(), of_node.now());
        Ok(page.map(|message| MessageShown::held(message, (engine, vitals), now)))
    });
    let own = async { own.await? };
    if is_of_all {
        pages.gathered::<MessagePage>(own, &others).await
    } else {
        pages.answer::<MessagePage>(own.await?)
    }
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
    _: InQuery<BeforeAlone>,
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
    _: InQuery<BeforeAlone>,
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
    _: InQuery<BeforeAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    operate(&service, &change, &id, MessageAct::Resend).await
}
