//! Calls for operators.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::short::ForgetDays;
use tidings_core::engine::{Agenda, Dropped, Engine, LedgerRow, MessagesInRetry, Reply};
use tidings_core::model::{Outcome, View, sending_channels};
use tidings_core::{Instant, Rules};
use tidings_node::{DurableSnapshot, Vitals};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::waiting::{RetriedMessage, Waiting};
use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::gather::{self, OtherShards};
use crate::request::query::{FromQuery, InQuery, Parameters};
use crate::{Answer, Change, Service, only};

/// Maximum number of scheduled events in the list.
const SCHEDULED_MAX: u16 = 1_000;

/// Maximum number of messages in the list of those that wait for a retry.
const RETRIED_SHOWN: usize = 100;

/// Default number of scheduled events in the list.
const SCHEDULED_USUAL: usize = 100;

/// A clock that is behind by less than this is not reported: it catches up before anybody notices.
const CLOCK_BEHIND_MS_MIN: i64 = 60_000;

/// The calls of operators.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("status", routes!(status)).add("due", routes!(due)).add("forget", routes!(forget))
}

/// The status of the server.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"version": "0.1.0", "uptime_seconds": 86400, "oldest_due": null, "oldest_due_age_seconds": null, "retrying": 0, "kept_aside": 0, "away": [], "channels": {"email": {"providers": ["smtp"], "paused": true}}, "now": "2024-03-07T08:05:12Z", "newest_step": "2024-03-07T08:03:00Z", "clock_behind_seconds": null, "recipients": 2, "forgotten_before": null, "paused": {"types": [], "channels": ["email"]}, "entries": {"all": 8, "pending": 1, "outcomes": {"delivered": 6, "skipped": 1}, "reasons": {"seen": 1}}}))]
struct StatusAnswer {
    /// Version of tidings.
    version: &'static str,
    /// Seconds since the server started; null = a command reads the data directory without a server.
    uptime_seconds: Option<u64>,
    /// Due time of the oldest overdue, unsent message; null = none is known.
    #[schema(format = "date-time")]
    oldest_due: Option<String>,
    /// Age of that message in seconds, by the server's clock; null = none.
    oldest_due_age_seconds: Option<u64>,
    /// Messages that wait for a retry.
    retrying: u64,
    /// Messages that wait because their recipient or destination uses its share of a channel's threads, or because the
    /// destination is unavailable.
    kept_aside: u64,
    /// Providers and destinations that are unavailable, at most 20.
    away: Vec<AwayShown>,
    /// The channels that send messages, by name.
    channels: BTreeMap<String, SendingChannel>,
    /// Time by the server's clock.
    #[schema(format = "date-time")]
    now: String,
    /// Instant of the newest step, which never goes back; null = none yet.
    #[schema(format = "date-time")]
    newest_step: Option<String>,
    /// Seconds by which the clock is behind the newest step, if more than 60: the clock was ahead before. Deadlines
    /// follow the clock; records have the time of the newest step meanwhile. null = not behind.
    clock_behind_seconds: Option<u64>,
    /// Number of recipients.
    recipients: u64,
    /// Days before this one are deleted; null = none yet.
    #[schema(format = "date")]
    forgotten_before: Option<String>,
    /// Types and channels that are paused.
    paused: PausedShown,
    /// Counts of entries, deleted days included.
    entries: EntriesCounted,
    /// Nodes of a cluster that did not answer: their shards are left out, so each count is a lower bound. Absent if all
    /// answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    missing: Option<Vec<String>>,
}

/// A provider, or a destination of one, that is unavailable: nothing is sent to it until its next probe.
#[derive(Serialize, Deserialize, ToSchema)]
struct AwayShown {
    /// The channel.
    channel: String,
    /// The provider, without secrets.
    provider: String,
    /// The host that recipients name, or the domain of mail addresses; null = the whole provider.
    destination: Option<String>,
    /// Time of the next probe.
    #[schema(format = "date-time")]
    until: String,
    /// Its last answer.
    why: String,
}

/// Maximum number of unavailable providers and destinations in a status.
const AWAY_SHOWN: usize = 20;

impl AwayShown {
    /// The unavailable providers and destinations of a node, providers first.
    fn all(vitals: &Vitals, now: Instant) -> Vec<Self> {
        let mut away = vitals.left_alone(now);
        away.sort_by_key(|(_, away)| (away.destination.is_some(), away.until));
        let away = away.into_iter().take(AWAY_SHOWN);
        away.map(|(channel, away)| Self {
            channel,
            provider: away.provider,
            destination: away.destination,
            until: away.until.to_string(),
            why: away.why,
        })
        .collect()
    }
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
#[derive(Serialize, Deserialize, ToSchema)]
struct EntriesCounted {
    /// All entries that entered a lane.
    all: u64,
    /// Number of entries that wait or are being sent; null while nodes are `missing`, since their entries may wait too.
    pending: Option<u64>,
    /// Number of ended entries by outcome.
    #[schema(value_type = BTreeMap<String, u64>)]
    outcomes: BTreeMap<Outcome, u64>,
    /// Number of undelivered entries by reason.
    #[schema(value_type = BTreeMap<String, u64>)]
    reasons: BTreeMap<Cow<'static, str>, u64>,
}

/// A channel that sends messages.
#[derive(Serialize, ToSchema)]
struct SendingChannel {
    /// The kinds of its providers (such as `file`, `smtp`), in order of preference.
    providers: Vec<String>,
    /// True if an operator has paused it.
    paused: bool,
}

/// The instant of the newest step of a node that has done any.
fn newest_step(engine: &Engine) -> Option<Instant> {
    Some(engine.newest_step()).filter(|newest| *newest > Instant::MIN)
}

/// The seconds by which a clock is behind a node's newest step, if that is worth reporting.
pub(crate) fn clock_behind_seconds(engine: &Engine, clock: Instant) -> Option<u64> {
    let behind = engine.newest_step().0.saturating_sub(clock.0);
    (behind > CLOCK_BEHIND_MS_MIN).then(|| behind.unsigned_abs() / 1_000)
}

impl StatusAnswer {
    fn of(
        node: &DurableSnapshot,
        rules: &Rules,
        clock: Instant,
        uptime_seconds: Option<u64>,
        retrying: u64,
    ) -> Self {
        let engine = node.engine();
        let mut sum = LedgerRow::default();
        engine.ledger().values().for_each(|row| sum.add(row));
        let providers = |name: &str| {
            let channel = rules.channels.get(name).into_iter();
            let schemes = channel.flat_map(|channel| &channel.providers);
            let schemes =
                schemes.filter_map(|address| Some(address.split_once("://")?.0.to_owned()));
            schemes.collect()
        };
        let shown = sending_channels().map(|kind| {
            let paused = engine.paused().has_channel(kind.name);
            let providers = providers(kind.name);
            (kind.name.to_owned(), SendingChannel { providers, paused })
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            uptime_seconds,
            oldest_due: engine.open_closings().oldest_due().map(|due| due.to_string()),
            oldest_due_age_seconds: engine.open_closings().oldest_due().map(|due| {
                let age = clock.0.saturating_sub(due.0).max(0);
                age.unsigned_abs() / 1_000
            }),
            retrying,
            kept_aside: 0,
            away: Vec::new(),
            channels: shown.collect(),
            now: clock.to_string(),
            newest_step: newest_step(engine).map(|at| at.to_string()),
            clock_behind_seconds: clock_behind_seconds(engine, clock),
            recipients: engine.recipients(),
            forgotten_before: engine.forgotten_before().map(|day| day.to_string()),
            paused: PausedShown {
                types: engine.paused().types().map(str::to_owned).collect(),
                channels: engine.paused().channels().collect(),
            },
            entries: EntriesCounted {
                // What went on in another lane entered twice.
                all: sum.entries - sum.moved,
                pending: Some(sum.pending),
                outcomes: sum.ended,
                reasons: sum
                    .reasons
                    .into_iter()
                    .map(|(reason, count)| (reason.word().into(), count))
                    .collect(),
            },
            missing: None,
        }
    }

    /// Adds the status of another node's shards.
    fn add(&mut self, more: StatusOfShards) {
        self.retrying += more.retrying;
        self.kept_aside += more.kept_aside;
        let room = AWAY_SHOWN.saturating_sub(self.away.len());
        self.away.extend(more.away.into_iter().take(room));
        self.recipients += more.recipients;
        self.oldest_due = gather::earlier(self.oldest_due.take(), more.oldest_due);
        self.oldest_due_age_seconds = self.oldest_due_age_seconds.max(more.oldest_due_age_seconds);
        let (sum, more) = (&mut self.entries, more.entries);
        sum.all += more.all;
        sum.pending = sum.pending.zip(more.pending).map(|(here, there)| here + there);
        gather::add(&mut sum.outcomes, more.outcomes);
        gather::add(&mut sum.reasons, more.reasons);
    }
}

/// The counts of a status that are sums over nodes.
#[derive(Deserialize)]
struct StatusOfShards {
    oldest_due: Option<String>,
    oldest_due_age_seconds: Option<u64>,
    retrying: u64,
    kept_aside: u64,
    away: Vec<AwayShown>,
    recipients: u64,
    entries: EntriesCounted,
}

/// All lanes, messages and events that come due.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"lanes": [{"hour": "2024-03-07T08:00:00Z", "channel": "email", "lane": "cooldown", "recipients": 12, "held": 1}], "unmade": 0, "sending": 2, "deferred": {"messages": 1, "next": [{"id": "2024-03-07.3.12.77", "recipient": "ada", "channel": "email", "lane": "cooldown", "state": "retrying", "reason": null, "due": "2024-03-07T08:03:00Z", "built": "2024-03-07T08:03:00Z", "ended": null, "entries": 2, "failed_attempts": 1, "next_try": "2024-03-07T08:03:30Z", "last": {"at": "2024-03-07T08:03:00Z", "until": "2024-03-07T08:03:00Z", "count": 1, "provider": "smtp://mail.example.org", "answer": "retry", "reply": "RCPT: 451 4.3.0"}, "held_by": null}]}, "scheduled": {"events": 1, "next": [{"event": "e-2", "type": "comment", "object": "works/1", "t": "2024-03-08T09:00:00Z"}]}}))]
struct DueAnswer {
    /// Open lanes by hour, channel and name; lanes that are never due come last.
    lanes: Vec<DueHour>,
    /// Messages that are due and not built yet.
    unmade: u64,
    /// Messages that are built and have no outcome yet, deferred ones included.
    sending: u64,
    /// Messages that wait for a retry.
    deferred: RetryingShown,
    /// Events published with `deliver_at`.
    scheduled: Scheduled,
    /// Nodes of a cluster that did not answer: their shards are left out. Absent if all answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    missing: Option<Vec<String>>,
}

/// Lanes of one name that are due within one hour.
#[derive(Serialize, Deserialize, ToSchema)]
struct DueHour {
    /// The hour (UTC) in which they are due; null = none at present, such as while a type is paused.
    #[schema(format = "date-time")]
    hour: Option<String>,
    /// The channel.
    #[schema(value_type = String)]
    channel: Cow<'static, str>,
    /// Name of the lane.
    lane: String,
    /// Number of recipients.
    recipients: u64,
    /// Number of recipients whose lane stays open when it is due: unconfirmed or paused.
    held: u64,
}

/// Messages that wait for a retry.
#[derive(Serialize, Deserialize, ToSchema)]
struct RetryingShown {
    /// Number of them.
    messages: usize,
    /// The next ones, at most 100.
    next: Vec<RetriedMessage>,
}

/// Events published with `deliver_at`.
#[derive(Serialize, Deserialize, ToSchema)]
struct Scheduled {
    /// Number of them.
    events: u64,
    /// The next ones, by time.
    next: Vec<Waiting>,
}

impl DueAnswer {
    fn of(agenda: Agenda, retrying: MessagesInRetry) -> Self {
        let lanes = agenda.lanes.into_iter().map(|lanes| DueHour {
            hour: lanes.hour.map(|hour| hour.to_string()),
            channel: lanes.channel.into(),
            lane: lanes.lane,
            recipients: lanes.recipients,
            held: lanes.held,
        });
        let next = agenda.next_scheduled.into_iter();
        Self {
            lanes: lanes.collect(),
            unmade: agenda.unmade,
            sending: agenda.sending,
            deferred: RetryingShown {
                messages: retrying.count,
                next: retrying.messages.into_iter().map(Into::into).collect(),
            },
            scheduled: Scheduled {
                events: agenda.scheduled,
                next: next.map(Waiting::from).collect(),
            },
            missing: None,
        }
    }

    /// Adds what comes due in another node's shards, with at most `scheduled_max` scheduled events.
    fn add(&mut self, more: Self, scheduled_max: usize) {
        for row in more.lanes {
            let key = |of: &DueHour| (of.hour.clone(), of.channel.clone(), of.lane.clone());
            match self.lanes.iter_mut().find(|of| key(of) == key(&row)) {
                None => self.lanes.push(row),
                Some(sum) => {
                    sum.recipients += row.recipients;
                    sum.held += row.held;
                }
            }
        }
        self.lanes.sort_by(|a, b| {
            // What is never due comes last.
            let when = |of: &DueHour| (of.hour.is_none(), of.hour.clone());
            let rest = || (&a.channel, &a.lane).cmp(&(&b.channel, &b.lane));
            when(a).cmp(&when(b)).then_with(rest)
        });
        self.unmade += more.unmade;
        self.sending += more.sending;
        let (sum, more_deferred) = (&mut self.deferred, more.deferred);
        sum.messages += more_deferred.messages;
        sum.next.extend(more_deferred.next);
        sum.next.sort_by_key(RetriedMessage::order);
        sum.next.truncate(RETRIED_SHOWN);
        // Every node knows all scheduled events, and lists those for which its recipients wait.
        let (sum, more) = (&mut self.scheduled, more.scheduled);
        sum.events = sum.events.max(more.events);
        sum.next.extend(more.next);
        sum.next.sort_by_key(Waiting::order);
        sum.next.dedup_by_key(|of| of.order());
        sum.next.truncate(scheduled_max);
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
/// Returns the counts of recipients and of entries by outcome, and the paused types and channels.
#[utoipa::path(
    get, path = "/v1/admin/status", tag = "admin",
    responses((status = 200, description = "The status", body = StatusAnswer))
)]
async fn status(
    State(service): State<Arc<Service>>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    let (rules, uptime) = (service.rules(), service.uptime_seconds());
    let retrying = service.handle.vitals().retries();
    let clock = service.now();
    let status =
        move |node: &DurableSnapshot| StatusAnswer::of(node, &rules, clock, uptime, retrying);
    let (status, mut gathered) = tokio::join!(service.look(status), others.gather());
    let mut status = status?;
    let vitals = service.handle.vitals();
    status.kept_aside = vitals.kept_aside();
    status.away = AwayShown::all(vitals, clock);
    for more in std::mem::take(&mut gathered.found) {
        status.add(more);
    }
    status.missing = gathered.missing();
    if status.missing.is_some() {
        // A sum of the parts that answered would read as "nothing waits".
        status.entries.pending = None;
    }
    Answer::json(StatusCode::OK, &status)
}

/// List due lanes, messages and events
///
/// Returns the number of open lanes by the hour in which they are due, the messages that are being sent or wait for a
/// retry, and the scheduled events. A lane with only cancelled entries counts too; it sends nothing.
#[utoipa::path(
    get, path = "/v1/admin/due", tag = "admin",
    params(DueQuery),
    responses((status = 200, description = "All lanes, messages and events that come due", body = DueAnswer))
)]
async fn due(
    State(service): State<Arc<Service>>,
    InQuery(query): InQuery<DueQuery>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    let most = query.scheduled.map_or(SCHEDULED_USUAL, usize::from);
    let own = service.look(move |node| -> Result<DueAnswer, Problem> {
        let (engine, view) = (node.engine(), node.view());
        let retrying = engine.reader(view).retrying(None, &View::All, RETRIED_SHOWN)?;
        Ok(DueAnswer::of(engine.reader(view).agenda(most)?, retrying))
    });
    let (own, mut gathered) = tokio::join!(own, others.gather());
    let mut due = own??;
    for more in std::mem::take(&mut gathered.found) {
        due.add(more, most);
    }
    due.missing = gathered.missing();
    Answer::json(StatusCode::OK, &due)
}

/// Delete old days
///
/// Permanently deletes all data of the days before a date. Notifications that were not sent end as `expired`. Today is
/// always kept.
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
        _ => Err(Problem::new(Code::Internal, "the node gave an answer of the wrong kind")),
    };
    service.change(&change, vec![command], done).await
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn added(a: Value, b: Value, most: usize) -> Value {
        let mut sum: DueAnswer = serde_json::from_value(a).unwrap();
        sum.add(serde_json::from_value(b).unwrap(), most);
        serde_json::to_value(&sum).unwrap()
    }

    fn lane(hour: Option<&str>, lane: &str, recipients: u64) -> Value {
        json!({"hour": hour, "channel": "email", "lane": lane, "recipients": recipients, "held": 1})
    }

    fn waiting(event: &str, t: &str) -> Value {
        json!({"event": event, "type": "note", "object": "o", "t": t})
    }

    fn due(lanes: &[Value], scheduled: &[Value]) -> Value {
        json!({
            "lanes": lanes, "unmade": 1, "sending": 2, "deferred": {"messages": 0, "next": []},
            "scheduled": {"events": 3, "next": scheduled},
        })
    }

    #[test]
    fn what_comes_due_in_several_parts_adds_up_in_order() {
        let (nine, ten) = ("2024-03-07T09:00:00Z", "2024-03-07T10:00:00Z");
        let a = due(
            &[lane(Some(ten), "now", 1), lane(None, "paused", 1)],
            &[waiting("e1", nine), waiting("e2", ten)],
        );
        let b = due(
            &[lane(Some(nine), "now", 4), lane(Some(ten), "now", 2)],
            &[waiting("e1", nine), waiting("e0", ten), waiting("e2", ten)],
        );
        let sum = added(a, b, 2);
        let mut of_ten = lane(Some(ten), "now", 3);
        of_ten["held"] = json!(2);
        let lanes = [lane(Some(nine), "now", 4), of_ten, lane(None, "paused", 1)];
        assert_eq!(sum["lanes"], json!(lanes));
        assert_eq!((&sum["unmade"], &sum["sending"]), (&json!(2), &json!(4)));
        let scheduled = json!({"events": 3, "next": [waiting("e1", nine), waiting("e0", ten)]});
        assert_eq!(sum["scheduled"], scheduled);
    }
}
