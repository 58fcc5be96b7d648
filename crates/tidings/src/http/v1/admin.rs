//! Calls for operators.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::channel;
use tidings_core::engine::{Agenda, Dropped, LedgerRow, Reply};
use tidings_core::{Instant, Outcome, Rules};
use tidings_node::{Deferrals, Durable};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::waiting::{DeferredMessage, Waiting};
use crate::body::short::ForgetDays;
use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::query::{FromQuery, InQuery, Parameters};
use crate::http::{Answer, Change, Service, only};

/// Scheduled events that are listed at most.
const SCHEDULED_MAX: u16 = 1_000;

/// Messages that are listed that wait to be tried again.
const DEFERRED_SHOWN: usize = 100;

/// Scheduled events that are listed where nothing is said.
const SCHEDULED_USUAL: usize = 100;

/// The calls of operators.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("status", Kind::Looks, routes!(status), &[])
        .add("due", Kind::Looks, routes!(due), &[Code::InvalidQuery])
        .add(
            "forget",
            Kind::Changes,
            routes!(forget),
            &[
                Code::InvalidJson,
                Code::InvalidBody,
                Code::UnsupportedMediaType,
            ],
        )
}

/// The status of the server.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"version": "0.1.0", "uptime_seconds": 86400, "oldest_due": null, "oldest_due_age_seconds": null, "retrying": 0, "channels": {"email": {"providers": ["smtp"], "paused": true}}, "now": "2024-03-07T08:03:00Z", "recipients": 2, "forgotten_before": null, "paused": {"types": [], "channels": ["email"]}, "entries": {"all": 8, "pending": 1, "outcomes": {"delivered": 6, "skipped": 1}, "reasons": {"seen": 1}}}))]
struct StatusAnswer {
    /// Version of tidings.
    version: &'static str,
    /// Seconds since the server started; null = a command reads the data directory without a server.
    uptime_seconds: Option<u64>,
    /// Due time of the oldest overdue, unsent message; null = none.
    #[schema(format = "date-time")]
    oldest_due: Option<String>,
    /// Age of that message in seconds, by the server's clock; null = none.
    oldest_due_age_seconds: Option<u64>,
    /// Messages that wait for a retry.
    retrying: u64,
    /// The channels that send messages, by name.
    channels: BTreeMap<String, SendingChannel>,
    /// Time of the newest step.
    #[schema(format = "date-time")]
    now: String,
    /// Number of recipients.
    recipients: u64,
    /// Days before this one are deleted; null = none yet.
    #[schema(format = "date")]
    forgotten_before: Option<String>,
    /// Types and channels that are paused.
    paused: PausedShown,
    /// Counts of entries, deleted days included.
    entries: EntriesCounted,
}

/// Types and channels that are paused.
#[derive(Serialize, ToSchema)]
struct PausedShown {
    /// Types.
    types: Vec<String>,
    /// Channels.
    channels: Vec<&'static str>,
}

/// Counts of entries by outcome, without scheduled ones.
#[derive(Serialize, ToSchema)]
struct EntriesCounted {
    /// All entries that entered a lane.
    all: u64,
    /// Number of entries that wait or are being sent.
    pending: u64,
    /// Number of ended entries by outcome.
    #[schema(value_type = BTreeMap<String, u64>)]
    outcomes: BTreeMap<Outcome, u64>,
    /// Number of undelivered entries by reason.
    reasons: BTreeMap<&'static str, u64>,
}

/// A channel that sends messages.
#[derive(Serialize, ToSchema)]
struct SendingChannel {
    /// The kinds of its providers (such as `file`, `smtp`), in the order in which they are asked.
    providers: Vec<String>,
    /// True if an operator has paused it.
    paused: bool,
}

impl StatusAnswer {
    fn of(
        node: &Durable,
        rules: &Rules,
        clock: Instant,
        uptime_seconds: Option<u64>,
        retrying: u64,
    ) -> Self {
        let engine = node.engine();
        let mut sum = LedgerRow::default();
        engine.ledger().values().for_each(|row| sum.add(row));
        let pending = sum.pending;
        let providers = |name: &str| {
            let channel = rules.channels.get(name).into_iter();
            let schemes = channel.flat_map(|channel| &channel.providers);
            let schemes =
                schemes.filter_map(|address| Some(address.split_once("://")?.0.to_owned()));
            schemes.collect()
        };
        let shown = channel::sending().map(|kind| {
            let paused = engine.paused().has_channel(kind.name);
            let providers = providers(kind.name);
            (kind.name.to_owned(), SendingChannel { providers, paused })
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            uptime_seconds,
            oldest_due: engine.oldest_due().map(|due| due.to_string()),
            oldest_due_age_seconds: engine.oldest_due().map(|due| {
                let age = clock.0.saturating_sub(due.0).max(0);
                age.unsigned_abs() / 1_000
            }),
            retrying,
            channels: shown.collect(),
            now: engine.now().to_string(),
            recipients: engine.recipients(),
            forgotten_before: engine.forgotten_before().map(|day| day.to_string()),
            paused: PausedShown {
                types: engine.paused().types().map(str::to_owned).collect(),
                channels: engine.paused().channels().collect(),
            },
            entries: EntriesCounted {
                // What went on in another lane entered twice.
                all: sum.entries - sum.moved,
                pending,
                outcomes: sum.ended,
                reasons: sum
                    .reasons
                    .into_iter()
                    .map(|(reason, count)| (reason.word(), count))
                    .collect(),
            },
        }
    }
}

/// Everything that comes due.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"lanes": [{"hour": "2024-03-07T08:00:00Z", "channel": "email", "lane": "cooldown", "recipients": 12, "held": 1}], "unmade": 0, "sending": 2, "deferred": {"messages": 1, "next": [{"recipient": "ada", "channel": "email", "lane": "cooldown", "batch": "5c0f3d1a9b7e4f60821d3c4b5a697887", "entries": 2, "attempts": 1, "last": {"answer": "retry", "reply": "RCPT: 451 4.3.0"}, "next_try": "2024-03-07T08:03:30Z", "held_by": null}]}, "scheduled": {"events": 1, "next": [{"event": "e-2", "type": "comment", "object": "works/1", "t": "2024-03-08T09:00:00Z"}]}}))]
struct DueAnswer {
    /// Open lanes by hour, channel and name; lanes that are never due come last.
    lanes: Vec<DueHour>,
    /// Messages that are due and not built yet.
    unmade: u64,
    /// Messages that are built and have no outcome yet, deferred ones included.
    sending: u64,
    /// Messages that wait for a retry.
    deferred: DeferredShown,
    /// Events published with `deliver_at`.
    scheduled: Scheduled,
}

/// Lanes of one name that are due within one hour.
#[derive(Serialize, ToSchema)]
struct DueHour {
    /// The hour (UTC) in which they are due; null = they are not due as things are.
    #[schema(format = "date-time")]
    hour: Option<String>,
    /// The channel.
    channel: &'static str,
    /// Name of the lane.
    lane: String,
    /// Number of recipients.
    recipients: u64,
    /// Number of these that stay open all the same: unconfirmed, or paused.
    held: u64,
}

/// Messages that wait for a retry.
#[derive(Serialize, ToSchema)]
struct DeferredShown {
    /// Number of them.
    messages: usize,
    /// The next ones, 100 at most.
    next: Vec<DeferredMessage>,
}

/// Events published with `deliver_at`.
#[derive(Serialize, ToSchema)]
struct Scheduled {
    /// Number of them.
    events: u64,
    /// The next ones, by time.
    next: Vec<Waiting>,
}

impl DueAnswer {
    fn of(agenda: Agenda, deferred: Deferrals) -> Self {
        let lanes = agenda.lanes.into_iter().map(|lanes| DueHour {
            hour: lanes.hour.map(|hour| hour.to_string()),
            channel: lanes.channel,
            lane: lanes.lane,
            recipients: lanes.recipients,
            held: lanes.held,
        });
        let next = agenda.next_scheduled.into_iter();
        Self {
            lanes: lanes.collect(),
            unmade: agenda.unmade,
            sending: agenda.sending,
            deferred: DeferredShown {
                messages: deferred.count,
                next: deferred.messages.into_iter().map(Into::into).collect(),
            },
            scheduled: Scheduled {
                events: agenda.scheduled,
                next: next.map(Waiting::from).collect(),
            },
        }
    }
}

/// The extent of the list.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct DueQuery {
    /// Number of scheduled events to list; 100 if absent.
    #[param(minimum = 0, maximum = 1000)]
    scheduled: Option<u16>,
}

impl FromQuery for DueQuery {
    const KNOWN: &'static [&'static str] = &["scheduled"];

    fn read(query: &Parameters) -> Result<Self, Problem> {
        let scheduled = query.whole_number("scheduled", 0..=SCHEDULED_MAX)?;
        Ok(Self { scheduled })
    }
}

/// The result of deleting days.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"days": 3, "expired": 12}))]
struct DroppedDays {
    /// Number of deleted days.
    days: u64,
    /// Number of pending entries deleted with them; they end as expired.
    expired: u64,
}

/// Get the status of the server
///
/// Counts recipients, and entries by outcome, and lists what is paused.
#[utoipa::path(
    get, path = "/v1/admin/status", tag = "admin",
    responses((status = 200, description = "The status", body = StatusAnswer))
)]
async fn status(State(service): State<Arc<Service>>) -> Result<Answer, Problem> {
    let (rules, uptime) = (service.rules(), service.uptime_seconds());
    let retrying = service.handle.vitals().retries();
    let clock = service.now();
    let status = move |node: &Durable| StatusAnswer::of(node, &rules, clock, uptime, retrying);
    let status = service.look(status).await?;
    Answer::json(StatusCode::OK, &status)
}

/// List what comes due
///
/// Counts open lanes by the hour in which they are due, messages that are being sent or wait for a retry, and
/// scheduled events. A lane with only cancelled entries is counted too; it sends nothing.
#[utoipa::path(
    get, path = "/v1/admin/due", tag = "admin",
    params(DueQuery),
    responses((status = 200, description = "Everything that comes due", body = DueAnswer))
)]
async fn due(
    State(service): State<Arc<Service>>,
    InQuery(query): InQuery<DueQuery>,
) -> Result<Answer, Problem> {
    let most = query.scheduled.map_or(SCHEDULED_USUAL, usize::from);
    let agenda = service
        .look(move |node| -> Result<Agenda, Problem> {
            Ok(node.engine().agenda(node.view(), most)?)
        })
        .await??;
    let deferred = service.deferred(None, DEFERRED_SHOWN).await?;
    Answer::json(StatusCode::OK, &DueAnswer::of(agenda, deferred))
}

/// Delete old days
///
/// Permanently deletes all data of the days before a date. Notifications that are not sent yet end as
/// expired. Today is always kept.
#[utoipa::path(
    post, path = "/v1/admin/forget", tag = "admin",
    request_body = ForgetDays,
    responses((status = 200, description = "The days are deleted", body = DroppedDays))
)]
async fn forget(State(service): State<Arc<Service>>, change: Change) -> Result<Answer, Problem> {
    let command = change.parse::<ForgetDays>()?.command();
    let done = |replies| match only(replies)? {
        Reply::Dropped(Dropped { days, expired }) => {
            Answer::json(StatusCode::OK, &DroppedDays { days, expired })
        }
        _ => Err(Problem::new(
            Code::Internal,
            "the node gave an answer of the wrong kind",
        )),
    };
    service.change(&change, vec![command], done).await
}
