//! Outcomes of events.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::event::AudienceBody;
use tidings_api::body::host_text::TextBody;
use tidings_api::body::object::EventObject;
use tidings_config::duration;
use tidings_core::engine::{EntryStateCounts, EventReport};
use tidings_core::{Event, Id, Instant};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::gather::{OtherShards, add, earlier};
use crate::{Answer, Service};

/// The call of an event's outcome.
pub(crate) fn calls(calls: Calls) -> Calls {
    calls.add("get_event", routes!(get_event))
}

/// An event with its outcomes.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"event": {"id": "e-1", "type": "comment", "actor": {"id": "ben"}, "object": {"id": "works/1", "title": "Water Lilies"}, "target": null, "data": null, "body": null, "score": 0.0, "to": {"recipients": ["ada"]}, "channels": null, "occurred_at": null, "deliver_at": null, "delay": null, "deliver_local": null, "expires_at": null, "cancellation_key": null, "trace": null}, "arrived_at": "2024-03-07T08:03:00Z", "scheduled_for": null, "notifications": 1, "suppressed": {}, "channels": {"email": {"entries": 1, "pending": 1, "outcomes": {}, "reasons": {}}, "inbox": {"entries": 1, "pending": 0, "outcomes": {"delivered": 1}, "reasons": {}}}}))]
struct EventWithOutcome {
    event: PublishedAs,
    /// Time of acceptance.
    #[schema(format = "date-time")]
    arrived_at: String,
    /// Time at which it enters its lanes; null = it has entered them.
    #[schema(format = "date-time")]
    scheduled_for: Option<String>,
    /// Number of recipients with at least one entry when it was accepted.
    notifications: u64,
    /// Number of recipients left out by the admission of its type, by reason: `once_pending`, `once_ever`.
    #[schema(value_type = BTreeMap<String, u64>)]
    suppressed: BTreeMap<Cow<'static, str>, u64>,
    /// Its entries by channel; empty if the audience was empty.
    #[schema(value_type = BTreeMap<String, ChannelFate>)]
    channels: BTreeMap<Cow<'static, str>, ChannelFate>,
    /// Nodes of a cluster that did not answer: the counts lack their shards. Absent if all answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    missing: Option<Vec<String>>,
}

/// An event as it was published; absent fields are null.
#[derive(Serialize, Deserialize, ToSchema)]
pub(crate) struct PublishedAs {
    id: String,
    r#type: String,
    #[schema(value_type = Option<EventObject>)]
    actor: Option<tidings_core::Object>,
    #[schema(value_type = EventObject)]
    object: tidings_core::Object,
    #[schema(value_type = Option<EventObject>)]
    target: Option<tidings_core::Object>,
    data: Option<serde_json::Map<String, serde_json::Value>>,
    #[schema(value_type = Option<TextBody>)]
    body: Option<tidings_core::model::HostText>,
    score: f64,
    #[schema(value_type = AudienceBody)]
    to: tidings_core::model::Audience,
    channels: Option<Vec<String>>,
    #[schema(format = "date-time")]
    occurred_at: Option<String>,
    #[schema(format = "date-time")]
    deliver_at: Option<String>,
    delay: Option<String>,
    deliver_local: Option<String>,
    #[schema(format = "date-time")]
    expires_at: Option<String>,
    /// The tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant: Option<String>,
    cancellation_key: Option<String>,
    trace: Option<String>,
}

/// The entries of an event on a channel, by state: entries = pending + all outcomes.
#[derive(Default, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"entries": 12, "pending": 3, "outcomes": {"delivered": 8, "skipped": 1}, "reasons": {"seen": 1}}))]
struct ChannelFate {
    /// Number of them.
    entries: u64,
    /// Number of entries that wait, are scheduled, or are being sent.
    pending: u64,
    /// Number of ended entries by outcome: `delivered`, `cancelled`, `skipped`, `expired`, `failed`,
    /// `unknown`.
    #[schema(value_type = BTreeMap<String, u64>)]
    outcomes: BTreeMap<tidings_core::model::Outcome, u64>,
    /// Number of undelivered entries by reason.
    #[schema(value_type = BTreeMap<String, u64>)]
    reasons: BTreeMap<Cow<'static, str>, u64>,
}

impl From<Event> for PublishedAs {
    fn from(event: Event) -> Self {
        let id = |id: Id| id.as_str().to_owned();
        let instant = |at: Instant| at.to_string();
        Self {
            id: id(event.id),
            r#type: id(event.event_type),
            actor: event.actor,
            object: event.object,
            target: event.target,
            data: event.data,
            body: event.body,
            score: event.score.number(),
            to: event.to,
            channels: event.channels,
            occurred_at: event.occurred_at.map(instant),
            deliver_at: event.deliver_at.map(instant),
            delay: event.delay_ms.map(duration::print),
            deliver_local: event.deliver_local.map(|time| time.to_string()),
            expires_at: event.expires_at.map(instant),
            tenant: event.tenant.map(id),
            cancellation_key: event.cancellation_key.map(id),
            trace: event.trace.map(String::from),
        }
    }
}

impl From<EntryStateCounts> for ChannelFate {
    fn from(fate: EntryStateCounts) -> Self {
        let reasons = fate.reasons.into_iter();
        Self {
            entries: fate.entries,
            pending: fate.pending,
            outcomes: fate.ended,
            reasons: reasons.map(|(reason, count)| (reason.word().into(), count)).collect(),
        }
    }
}

impl From<EventReport> for EventWithOutcome {
    fn from(report: EventReport) -> Self {
        let suppressed = report.suppressed.into_iter();
        let channels = report.channels.into_iter();
        Self {
            event: report.event.into(),
            arrived_at: report.arrived.to_string(),
            scheduled_for: report.scheduled.map(|at| at.to_string()),
            notifications: report.notifications,
            suppressed: suppressed.map(|(why, count)| (why.word().into(), count)).collect(),
            channels: channels.map(|(name, fate)| (name.into(), fate.into())).collect(),
            missing: None,
        }
    }
}

/// Get an event and its outcome
///
/// Returns the event, and the number of its entries by channel, outcome and reason, as long as the day of its arrival
/// is kept.
#[utoipa::path(
    get, path = "/v1/events/{id}", tag = "events",
    params(("id" = String, Path, description = "Event id", example = "e-1", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The event", body = EventWithOutcome))
)]
async fn get_event(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    let unknown = || Problem::new(Code::EventNotFound, format!("no event `{id}` is known"));
    let of = id.clone();
    let own = service.look(move |node| -> Result<_, Problem> {
        let trace = node.engine().reader(node.view()).trace(&of)?;
        let report = trace.map(|trace| trace.report(node.view())).transpose()?;
        Ok(report.map(EventWithOutcome::from))
    });
    if others.is_none() {
        let own = own.await??.ok_or_else(unknown)?;
        return Answer::json(StatusCode::OK, &own);
    }
    let (own, mut gathered) = tokio::join!(own, others.gather::<EventWithOutcome>());
    let answers = own??.into_iter().chain(std::mem::take(&mut gathered.found));
    let mut sum = answers.reduce(EventWithOutcome::merge).ok_or_else(unknown)?;
    sum.missing = gathered.missing();
    Answer::json(StatusCode::OK, &sum)
}

impl EventWithOutcome {
    /// Adds the outcome of the event in the shards of another node.
    fn merge(mut self, more: Self) -> Self {
        self.scheduled_for = earlier(self.scheduled_for, more.scheduled_for);
        self.notifications += more.notifications;
        add(&mut self.suppressed, more.suppressed);
        for (channel, more) in more.channels {
            let fate = self.channels.entry(channel).or_default();
            fate.entries += more.entries;
            fate.pending += more.pending;
            add(&mut fate.outcomes, more.outcomes);
            add(&mut fate.reasons, more.reasons);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn outcomes_in_several_parts_add_up() {
        let event = json!({"id": "e", "type": "comment", "object": {"id": "works/1"}, "score": 0.5, "to": {"recipients": ["ada"]}});
        let sum = json!({
            "event": event, "arrived_at": "2024-03-07T08:03:00Z",
            "scheduled_for": "2024-03-08T09:00:00Z", "notifications": 2, "suppressed": {"once_ever": 1},
            "channels": {"email": {"entries": 2, "pending": 1, "outcomes": {"delivered": 1}, "reasons": {}}},
        });
        let more = json!({
            "event": event, "arrived_at": "2024-03-07T08:03:00Z",
            "scheduled_for": "2024-03-08T08:00:00Z", "notifications": 3, "suppressed": {"once_ever": 1, "once_pending": 2},
            "channels": {
                "email": {"entries": 3, "pending": 0, "outcomes": {"delivered": 2, "skipped": 1}, "reasons": {"seen": 1}},
                "inbox": {"entries": 1, "pending": 1, "outcomes": {}, "reasons": {}},
            },
        });
        let expected = json!({
            "event": event, "arrived_at": "2024-03-07T08:03:00Z",
            "scheduled_for": "2024-03-08T08:00:00Z", "notifications": 5, "suppressed": {"once_ever": 2, "once_pending": 2},
            "channels": {
                "email": {"entries": 5, "pending": 1, "outcomes": {"delivered": 3, "skipped": 1}, "reasons": {"seen": 1}},
                "inbox": {"entries": 1, "pending": 1, "outcomes": {}, "reasons": {}},
            },
        });
        let read = |answer| serde_json::from_value::<EventWithOutcome>(answer).expect("an answer");
        let sum = serde_json::to_value(read(sum).merge(read(more))).expect("JSON");
        for (field, expected) in expected.as_object().expect("an object") {
            if field != "event" {
                assert_eq!(&sum[field], expected, "{field}");
            }
        }
    }
}
