//! Messages as pages show them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tidings_core::engine::{Engine, MessageSummary, NewestFirst, Positioned, TenantDirectory};
use tidings_core::model::{BatchKey, MessageState, channel_no};
use tidings_core::{Id, Instant};
use tidings_node::Vitals;
use utoipa::ToSchema;

/// A message to one recipient.
#[derive(Serialize, Deserialize, ToSchema)]
pub(crate) struct MessageShown {
    /// Its id.
    #[schema(value_type = String)]
    pub(crate) id: Id,
    /// The recipient; null = erased.
    recipient: Option<String>,
    /// The channel.
    #[schema(value_type = String)]
    channel: Cow<'static, str>,
    /// The lane.
    lane: String,
    /// Batch key of the lane; absent = empty.
    #[serde(default, skip_serializing_if = "BatchKey::is_empty")]
    #[schema(value_type = Option<String>)]
    key: BatchKey,
    /// Tenant of its notifications; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant: Option<String>,
    /// `planned` (due, not built yet), `sending`, `retrying` (an attempt failed, another one follows), `sent`,
    /// `failed`, `unknown` (it may or may not have been handed over), `suppressed` (the checks before sending left no
    /// notification) or `cancelled` (all notifications were removed).
    #[schema(value_type = String)]
    pub(crate) state: Cow<'static, str>,
    /// The reason why it was not handed over; null = it was, or the outcome is open.
    #[schema(value_type = Option<String>)]
    reason: Option<Cow<'static, str>>,
    /// Time at which its lane was due.
    #[schema(format = "date-time")]
    due: String,
    /// Time at which it was built, which fixed its content; null = not built yet.
    #[schema(format = "date-time")]
    pub(crate) built: Option<String>,
    /// Time of its outcome; null = none yet.
    #[schema(format = "date-time")]
    ended: Option<String>,
    /// Number of its notifications; null = not built yet.
    entries: Option<usize>,
    /// Number of failed attempts of a message that is retried, else 0.
    failed_attempts: u32,
    /// Time of the next attempt; null = none.
    #[schema(format = "date-time")]
    pub(crate) next_try: Option<String>,
    /// The unavailable destination or channel that holds it; absent = none known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) held: Option<HeldShown>,
}

/// The reason why a message is held: its destination, or all providers of its channel, are unavailable.
#[derive(Serialize, Deserialize, ToSchema)]
pub(crate) struct HeldShown {
    /// Time of the next attempt to send any message to it.
    #[schema(format = "date-time")]
    until: String,
    /// The host that the recipient names, or the domain of the mail address; absent = the whole channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    destination: Option<String>,
    /// The channel, if all of its providers are unavailable; else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    channel: Option<String>,
    /// Its last answer.
    reason: String,
}

impl HeldShown {
    /// The reason why a message on its way is held.
    pub(crate) fn of(
        engine: &Engine,
        vitals: &Vitals,
        message: &MessageSummary,
        now: Instant,
    ) -> Option<Self> {
        let is_on_its_way = matches!(message.state, MessageState::Sending | MessageState::Retrying);
        let recipient = message.recipient.as_ref().filter(|_| is_on_its_way)?;
        let channel = channel_no(message.channel)?;
        let tenants = TenantDirectory::of(engine);
        let tenant = message.tenant.as_ref().and_then(|id| tenants.number(id));
        let addresses = engine.recipient(recipient)?.addresses.taking(channel, tenant);
        let addresses: Vec<String> = addresses.map(str::to_owned).collect();
        let away = vitals.holds(message.channel, &addresses, now)?;
        Some(Self {
            until: away.until.to_string(),
            channel: away.destination.is_none().then(|| message.channel.to_owned()),
            destination: away.destination,
            reason: away.why,
        })
    }
}

impl MessageShown {
    /// A message with the reason why it is held.
    pub(crate) fn held(
        message: MessageSummary,
        (engine, vitals): (&Engine, &Vitals),
        now: Instant,
    ) -> Self {
        let held = HeldShown::of(engine, vitals, &message, now);
        Self { held, ..message.into() }
    }
}

impl From<MessageSummary> for MessageShown {
    fn from(message: MessageSummary) -> Self {
        Self {
            id: message.position().id,
            recipient: message.recipient.map(|id| id.as_str().to_owned()),
            channel: message.channel.into(),
            lane: message.lane,
            key: message.key,
            tenant: message.tenant.map(|id| id.as_str().to_owned()),
            state: message.state.word().into(),
            reason: message.reason.map(|reason| reason.word().into()),
            due: message.due.to_string(),
            built: message.built.map(|at| at.to_string()),
            ended: message.ended.map(|at| at.to_string()),
            entries: message.entries,
            failed_attempts: message.tried.map_or(0, |tried| tried.count),
            next_try: message.tried.map(|tried| tried.until.to_string()),
            held: None,
        }
    }
}

impl Positioned for MessageShown {
    type Position = NewestFirst;

    fn position(&self) -> NewestFirst {
        // Nodes of one version write both as they are read.
        let at = Instant::parse(&self.due).unwrap_or(Instant::MIN);
        NewestFirst { at, id: self.id.clone() }
    }
}
