//! The list of events, and the recipients of one.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tidings_core::engine::{
    ChannelFate, EventFilter, FateFilter, FateReason, FateState, ListPage, ListedEvent,
    NewestFirst, Positioned, ReachedRecipient,
};
use tidings_core::model::ChannelNo;
use tidings_core::{Id, Instant, Rules};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::gather::OtherShards;
use crate::request::list::{
    InstantRange, ListFilter, ListPageQuery, ListQuery, PageBounds, page_body,
};
use crate::request::query::Parameters;
use crate::v1::tenants;
use crate::{Answer, Service};

/// The lists about events.
pub(in crate::v1) fn calls(calls: Calls) -> Calls {
    calls
        .add("list_events", routes!(list_events))
        .add("list_event_recipients", routes!(list_event_recipients))
}

/// The choice of events.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct EventsQuery {
    /// Only events of this type.
    #[param(rename = "type", value_type = Option<String>, min_length = 1, max_length = 256)]
    kind: Option<Id>,
    /// Only events with this actor.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    actor: Option<Id>,
    /// Only events with this object.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    object: Option<Id>,
    /// Only events with this target.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    target: Option<Id>,
    /// Only events of this tenant.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Id>,
    /// Only events in whose audience this recipient was, with `channels`.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    recipient: Option<Id>,
    /// Only events that arrived at this time or later.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Instant>,
    /// Only events that arrived before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Instant>,
}

impl ListFilter for EventsQuery {
    const KNOWN: &'static [&'static str] =
        &["type", "actor", "object", "target", "tenant", "recipient", "from", "to"];

    fn read(query: &Parameters, rules: &Rules) -> Result<Self, Problem> {
        let InstantRange { from, to } = InstantRange::read(query)?;
        Ok(Self {
            kind: query.configured_type("type", rules)?,
            actor: query.id("actor")?,
            object: query.id("object")?,
            target: query.id("target")?,
            tenant: query.id("tenant")?,
            recipient: query.id("recipient")?,
            from,
            to,
        })
    }
}

/// The fate of a recipient's notification of an event on a channel.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = RecipientFate, example = json!({"state": "failed", "reason": "refused", "message": "2024-03-07.3.12.77"}))]
struct FateShown {
    /// `scheduled`; `pending` (waits for its message); `sending`; an outcome: `delivered`, `cancelled`, `skipped`,
    /// `expired`, `failed` or `unknown`; or `left_out`: there is none on this channel.
    #[schema(value_type = String)]
    state: Cow<'static, str>,
    /// The reason of an outcome; of `left_out`: `preference`, `once_pending` or `once_ever`. Absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, nullable = false)]
    reason: Option<Cow<'static, str>>,
    /// Id of the message that has it, or that left it out; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    message: Option<String>,
}

/// By channel, what became of a recipient's notifications of an event.
type ChannelFates = BTreeMap<Cow<'static, str>, FateShown>;

fn channels(fates: BTreeMap<&'static str, ChannelFate>) -> ChannelFates {
    let shown = |fate: ChannelFate| FateShown {
        state: fate.state.word().into(),
        reason: fate.reason.map(|reason| reason.word().into()),
        message: fate.message.map(|message| message.to_string()),
    };
    fates.into_iter().map(|(channel, fate)| (channel.into(), shown(fate))).collect()
}

/// An event in a list.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = ListedEvent, example = json!({"id": "e-1", "type": "comment", "actor": "ben", "object": "works/1", "target": null, "arrived_at": "2024-03-07T08:03:00Z"}))]
struct EventShown {
    /// Id of the event.
    #[schema(value_type = String)]
    id: Id,
    /// Its type.
    r#type: String,
    /// Id of the actor.
    #[schema(required)]
    actor: Option<String>,
    /// Id of the object.
    object: String,
    /// Id of the target.
    #[schema(required)]
    target: Option<String>,
    /// Its tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    tenant: Option<String>,
    /// Time of its arrival.
    #[schema(format = "date-time")]
    arrived_at: String,
    /// The fates of the recipient's notifications, by channel: each channel of the type that the event allows. Absent
    /// without `recipient`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = BTreeMap<String, FateShown>, required = false, nullable = false)]
    channels: Option<ChannelFates>,
}

impl EventShown {
    fn of(event: ListedEvent, of_recipient: bool) -> Self {
        let text = |id: Id| id.as_str().to_owned();
        Self {
            id: event.id,
            r#type: text(event.event_type),
            actor: event.actor.map(text),
            object: text(event.object),
            target: event.target.map(text),
            tenant: event.tenant.map(text),
            arrived_at: event.arrived.to_string(),
            channels: of_recipient.then(|| channels(event.channels)),
        }
    }
}

impl Positioned for EventShown {
    type Position = NewestFirst;

    fn position(&self) -> NewestFirst {
        let at = Instant::parse(&self.arrived_at).unwrap_or_default();
        NewestFirst { at, id: self.id.clone() }
    }
}

page_body! {
    /// A page of events, newest first by arrival.
    #[schema(example = json!({"events": [{"id": "e-1", "type": "comment", "actor": "ben", "object": "works/1", "target": null, "arrived_at": "2024-03-07T08:03:00Z"}], "next": null}))]
    EventsPage {
        /// The events.
        events: EventShown
    }
}

/// List events
///
/// Returns events, newest first by their arrival, as long as the day of their arrival is kept. With `recipient`, those in
/// whose audience the recipient was, with what became of their notifications.
#[utoipa::path(
    get, path = "/v1/events", tag = "events",
    params(EventsQuery, ListQuery),
    responses((status = 200, description = "A page of events", body = EventsPage))
)]
async fn list_events(
    State(service): State<Arc<Service>>,
    ListPageQuery { filter, pages }: ListPageQuery<EventsQuery, NewestFirst>,
) -> Result<Answer, Problem> {
    let tenant = tenants::known_if_named(&service, filter.tenant.as_ref()).await?;
    if let Some(recipient) = &filter.recipient {
        service.shards.at_home(recipient)?;
    }
    let EventsQuery { kind, actor, object, target, recipient, from, to, .. } = filter;
    let of_recipient = recipient.is_some();
    let filter =
        EventFilter { event_type: kind, actor, object, target, tenant, recipient, from, to };
    let PageBounds { after, most, .. } = pages.clone();
    let page = service.look(move |node| -> Result<_, Problem> {
        Ok(node.engine().reader(node.view()).events(&filter, after, most)?)
    });
    let page: ListPage<ListedEvent> = page.await??;
    pages.answer::<EventsPage>(page.map(|event| EventShown::of(event, of_recipient)))
}

/// The choice of an event's recipients.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct FatesQuery {
    /// Only this channel counts for `outcome` and `reason`.
    #[param(value_type = Option<String>)]
    channel: Option<ChannelNo>,
    /// Only recipients with a notification in this state: `scheduled`, `pending`, `sending`, `delivered`, `cancelled`,
    /// `skipped`, `expired`, `failed`, `unknown` or `left_out`.
    #[param(value_type = Option<String>)]
    outcome: Option<FateState>,
    /// Only recipients with a notification with this reason; with `outcome` the same one.
    #[param(value_type = Option<String>)]
    reason: Option<&'static str>,
}

impl ListFilter for FatesQuery {
    const KNOWN: &'static [&'static str] = &["channel", "outcome", "reason"];

    fn read(query: &Parameters, rules: &Rules) -> Result<Self, Problem> {
        let reasons: Vec<_> = FateReason::words().map(|word| (word, word)).collect();
        Ok(Self {
            channel: query.configured_channel("channel", rules)?,
            outcome: query.word("outcome", &FateState::ALL.map(|state| (state.word(), state)))?,
            reason: query.word("reason", &reasons)?,
        })
    }
}

/// A recipient whom the audience of an event reached.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = EventRecipient, example = json!({"recipient": "ada", "channels": {"email": {"state": "pending"}, "inbox": {"state": "delivered"}}}))]
struct RecipientOfEvent {
    /// Id of the recipient.
    #[schema(value_type = String)]
    recipient: Id,
    /// The fates of their notifications, by channel: each channel of the type that the event allows.
    #[schema(value_type = BTreeMap<String, FateShown>)]
    channels: ChannelFates,
}

impl Positioned for RecipientOfEvent {
    type Position = Id;

    fn position(&self) -> Id {
        self.recipient.clone()
    }
}

impl From<ReachedRecipient> for RecipientOfEvent {
    fn from(reached: ReachedRecipient) -> Self {
        Self { recipient: reached.recipient, channels: channels(reached.channels) }
    }
}

page_body! {
    /// A page of an event's recipients, by the bytes of their ids.
    #[schema(example = json!({"recipients": [{"recipient": "ada", "channels": {"email": {"state": "pending"}, "inbox": {"state": "delivered"}}}], "next": null}))]
    EventRecipientsPage {
        /// The recipients.
        recipients: RecipientOfEvent
    }
}

/// List the recipients of an event
///
/// Returns all whom the audience of the event reached, whether they got a notification or not, sorted by the bytes of
/// their ids, as long as the day of its arrival is kept.
#[utoipa::path(
    get, path = "/v1/events/{id}/recipients", tag = "events",
    params(
        ("id" = String, Path, description = "Event id", example = "e-1", min_length = 1, max_length = 256),
        FatesQuery,
        ListQuery,
    ),
    responses((status = 200, description = "A page of recipients", body = EventRecipientsPage))
)]
async fn list_event_recipients(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    ListPageQuery { filter, pages }: ListPageQuery<FatesQuery, Id>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    let FatesQuery { channel, outcome, reason } = filter;
    let filter = FateFilter { channel, state: outcome, reason };
    let PageBounds { after, most, .. } = pages.clone();
    let unknown = Problem::new(Code::EventNotFound, format!("no event `{id}` is known"));
    let own = service.look(move |node| -> Result<_, Problem> {
        let reader = node.engine().reader(node.view());
        Ok(reader.event_recipients(&id, &filter, after, most)?)
    });
    let own = async { Ok(own.await??.ok_or(unknown)?.map(RecipientOfEvent::from)) };
    pages.gathered::<EventRecipientsPage>(own, &others).await
}

#[cfg(test)]
mod tests;
