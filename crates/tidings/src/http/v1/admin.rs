//! What operators look at and do.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::engine::{Agenda, Dropped, LedgerRow, Reply};
use tidings_core::rules::{CHANNELS, INBOX};
use tidings_core::{Outcome, Rules};
use tidings_node::{Deferrals, Node};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::waiting::{DeferredMessage, Waiting};
use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::query::{FromQuery, InQuery, Parameters};
use crate::http::{Answer, Change, Service, only};
use crate::timeline::Bodies;

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

/// How the server is.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"version": "0.1.0", "uptime_seconds": 86400, "oldest_due": null, "retrying": 0, "channels": {"email": {"provider": "smtp", "paused": true}}, "now": "2024-03-07T08:03:00Z", "recipients": 2, "forgotten_before": null, "paused": {"types": [], "channels": ["email"]}, "entries": {"all": 8, "pending": 1, "outcomes": {"delivered": 6, "skipped": 1}, "reasons": {"seen": 1}}}))]
struct StatusAnswer {
    /// The version of tidings that answers.
    version: &'static str,
    /// How long the server has run; null where a command reads the data directory without one.
    uptime_seconds: Option<u64>,
    /// When the oldest lane came due whose message is not known to have been sent; null = none waits.
    #[schema(format = "date-time")]
    oldest_due: Option<String>,
    /// Messages that wait for a retry.
    retrying: u64,
    /// The channels by which messages leave, by name.
    channels: BTreeMap<String, ChannelShown>,
    /// The instant of its newest step.
    #[schema(format = "date-time")]
    now: String,
    /// How many recipients there are.
    recipients: u64,
    /// Days before this one are forgotten; null = none yet.
    #[schema(format = "date")]
    forgotten_before: Option<String>,
    /// What an operator has paused.
    paused: PausedShown,
    /// Entries that are counted, forgotten days among them.
    entries: EntriesCounted,
}

/// What an operator has paused.
#[derive(Serialize, ToSchema)]
struct PausedShown {
    /// Types.
    types: Vec<String>,
    /// Channels.
    channels: Vec<&'static str>,
}

/// Entries by what became of them; what is scheduled is not among them.
#[derive(Serialize, ToSchema)]
struct EntriesCounted {
    /// All that entered a lane.
    all: u64,
    /// Those that wait, or are on their way.
    pending: u64,
    /// Those that ended, by outcome.
    #[schema(value_type = BTreeMap<String, u64>)]
    outcomes: BTreeMap<Outcome, u64>,
    /// Why those ended that were not told.
    reasons: BTreeMap<&'static str, u64>,
}

/// A channel by which messages leave.
#[derive(Serialize, ToSchema)]
struct ChannelShown {
    /// The kind of its provider (`file`, `smtp`, `smtps`); null = none is configured.
    provider: Option<String>,
    /// Whether an operator has paused it.
    paused: bool,
}

impl StatusAnswer {
    fn of(node: &Node, rules: &Rules, uptime_seconds: Option<u64>, retrying: u64) -> Self {
        let engine = node.engine();
        let mut sum = LedgerRow::default();
        engine.ledger().values().for_each(|row| sum.add(row));
        let pending = sum.pending;
        let provider = |name: &str| {
            let address = rules.channels.get(name)?.provider.as_ref()?;
            Some(address.split_once("://")?.0.to_owned())
        };
        let leaving = CHANNELS.iter().filter(|channel| **channel != INBOX);
        let shown = leaving.map(|channel| {
            let paused = engine.paused().has_channel(channel);
            let provider = provider(channel);
            ((*channel).to_owned(), ChannelShown { provider, paused })
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            uptime_seconds,
            oldest_due: engine.oldest_due().map(|due| due.to_string()),
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

/// What comes due.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"lanes": [{"hour": "2024-03-07T08:00:00Z", "channel": "email", "lane": "cooldown", "recipients": 12, "held": 1}], "unmade": 0, "sending": 2, "deferred": {"messages": 1, "next": [{"recipient": "ada", "channel": "email", "lane": "cooldown", "batch": "5c0f3d1a9b7e4f60821d3c4b5a697887", "entries": 2, "attempts": 1, "last": {"answer": "retry", "reply": "RCPT: 451 4.3.0"}, "next_try": "2024-03-07T08:03:30Z", "held_by": null}]}, "scheduled": {"events": 1, "next": [{"event": "e-2", "type": "comment", "object": "works/1", "t": "2024-03-08T09:00:00Z"}]}}))]
struct DueAnswer {
    /// Open lanes by hour, channel and name; those that are never due come last.
    lanes: Vec<DueHour>,
    /// Messages that came due and are not made yet.
    unmade: u64,
    /// Messages that were made and have no outcome yet, deferred ones among them.
    sending: u64,
    /// Messages that wait for a retry.
    deferred: DeferredShown,
    /// Events that were published for later.
    scheduled: Scheduled,
}

/// Lanes of one name that come due within an hour.
#[derive(Serialize, ToSchema)]
struct DueHour {
    /// The hour (of UTC) in which they are due; null = not as things are.
    #[schema(format = "date-time")]
    hour: Option<String>,
    /// On which channel.
    channel: &'static str,
    /// The lane's name.
    lane: String,
    /// How many, each of a recipient.
    recipients: u64,
    /// Of these, how many stay open all the same: unconfirmed, or paused.
    held: u64,
}

/// Messages that wait for a retry.
#[derive(Serialize, ToSchema)]
struct DeferredShown {
    /// How many there are.
    messages: usize,
    /// The next of them, 100 at most.
    next: Vec<DeferredMessage>,
}

/// Events that were published for later.
#[derive(Serialize, ToSchema)]
struct Scheduled {
    /// How many there are.
    events: u64,
    /// The next of them, by time.
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

/// How much is listed.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct DueQuery {
    /// How many scheduled events are listed; 100 where absent.
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

/// Which days are deleted.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"before": "2024-01-31"}))]
#[expect(dead_code, reason = "describes what `Bodies::forget` reads")]
struct ForgetDays {
    /// The first day (of UTC) that stays.
    #[schema(format = "date")]
    before: String,
}

/// Which days were deleted.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"days": 3, "expired": 12}))]
struct DroppedDays {
    /// How many days.
    days: u64,
    /// Pending entries that were deleted with them; they end as expired.
    expired: u64,
}

/// Get the status of the server
///
/// How many recipients and entries there are, what became of the entries, and what is paused.
#[utoipa::path(
    get, path = "/v1/admin/status", tag = "admin",
    responses((status = 200, description = "The status", body = StatusAnswer))
)]
async fn status(State(service): State<Arc<Service>>) -> Result<Answer, Problem> {
    let (rules, uptime) = (service.rules(), service.uptime_seconds());
    let retrying = service.handle.vitals().retries();
    let status = move |node: &Node| StatusAnswer::of(node, &rules, uptime, retrying);
    let status = service.look(status).await?;
    Answer::json(StatusCode::OK, &status)
}

/// List what comes due
///
/// Open lanes counted by the hour in which they are due, messages that are being sent or wait to be tried
/// again, and events that were published for later. A lane in which everything was cancelled is counted too; it sends nothing.
#[utoipa::path(
    get, path = "/v1/admin/due", tag = "admin",
    params(DueQuery),
    responses((status = 200, description = "What comes due", body = DueAnswer))
)]
async fn due(
    State(service): State<Arc<Service>>,
    InQuery(query): InQuery<DueQuery>,
) -> Result<Answer, Problem> {
    let most = query.scheduled.map_or(SCHEDULED_USUAL, usize::from);
    let agenda = service
        .look(move |node| -> Result<Agenda, Problem> {
            Ok(node.engine().agenda(&node.shelf()?, most)?)
        })
        .await??;
    let deferred = service.deferred(None, DEFERRED_SHOWN).await?;
    Answer::json(StatusCode::OK, &DueAnswer::of(agenda, deferred))
}

/// Delete old days
///
/// Permanently deletes all data of the days before a date, including notifications that were not sent yet:
/// these end as expired. Today is always kept.
#[utoipa::path(
    post, path = "/v1/admin/forget", tag = "admin",
    request_body = ForgetDays,
    responses((status = 200, description = "The days are deleted", body = DroppedDays))
)]
async fn forget(State(service): State<Arc<Service>>, change: Change) -> Result<Answer, Problem> {
    let rules = service.rules();
    let command = Bodies::new(&rules).forget(change.fields()?)?;
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
