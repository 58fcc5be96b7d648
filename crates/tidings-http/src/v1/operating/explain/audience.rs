//! Explanations of an event for its whole audience.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_core::engine::{AudienceReport, ChannelReport, ExplainSubject};
use tidings_core::model::Outcome;
use utoipa::ToSchema;

use crate::error::Problem;
use crate::request::gather::{OtherShards, add};
use crate::{Answer, Service};

/// An event over its audience: counts by channel, outcome and reason.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"event": "e-1", "type": "comment", "supposed": false, "as_of": "2024-03-07T08:10:00Z", "concerned": 12, "notifications": 11, "channels": {"email": {"entries": 9, "pending": 9, "outcomes": {}, "reasons": {}, "left_out": {"preference": 3}}, "inbox": {"entries": 11, "pending": 0, "outcomes": {"delivered": 11}, "reasons": {}, "left_out": {"preference": 1}}}}))]
pub(super) struct ExplainedAudience {
    /// The event.
    event: String,
    /// Its type.
    r#type: String,
    /// Its tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant: Option<String>,
    /// True if the event was not published.
    supposed: bool,
    /// The time as of which it is told.
    #[schema(format = "date-time")]
    as_of: String,
    /// Number of recipients in its audience.
    concerned: u64,
    /// Number of recipients with at least one entry when it was accepted.
    notifications: u64,
    /// The channels of its type that it allows.
    #[schema(value_type = BTreeMap<String, AudienceOnChannel>)]
    channels: BTreeMap<Cow<'static, str>, AudienceOnChannel>,
    /// Nodes of a cluster whose shards are left out. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    missing: Option<Vec<String>>,
}

/// The audience of an event on a channel: `concerned` = entries + all that are left out.
#[derive(Default, Serialize, Deserialize, ToSchema)]
struct AudienceOnChannel {
    /// Number of entries.
    entries: u64,
    /// Number of entries that wait, are scheduled, or are being sent.
    pending: u64,
    /// Number of ended entries by outcome.
    #[schema(value_type = BTreeMap<String, u64>)]
    outcomes: BTreeMap<Outcome, u64>,
    /// Number of undelivered entries by reason.
    #[schema(value_type = BTreeMap<String, u64>)]
    reasons: BTreeMap<Cow<'static, str>, u64>,
    /// Number of recipients without an entry by reason: `preference`, `once_pending`, `once_ever`.
    #[schema(value_type = BTreeMap<String, u64>)]
    left_out: BTreeMap<Cow<'static, str>, u64>,
}

impl From<ChannelReport> for AudienceOnChannel {
    fn from(ChannelReport { fate, left_out }: ChannelReport) -> Self {
        let reasons = fate.reasons.into_iter();
        let left_out = left_out.into_iter();
        Self {
            entries: fate.entries,
            pending: fate.pending,
            outcomes: fate.ended,
            reasons: reasons.map(|(reason, count)| (reason.word().into(), count)).collect(),
            left_out: left_out.map(|(reason, count)| (reason.into(), count)).collect(),
        }
    }
}

impl From<AudienceReport> for ExplainedAudience {
    fn from(report: AudienceReport) -> Self {
        let channels = report.channels.into_iter();
        Self {
            event: report.event.as_str().to_owned(),
            r#type: report.event_type.as_str().to_owned(),
            tenant: report.tenant.map(|id| id.as_str().to_owned()),
            supposed: report.supposed,
            as_of: report.as_of.to_string(),
            concerned: report.concerned,
            notifications: report.notifications,
            channels: channels.map(|(name, of)| (name.into(), of.into())).collect(),
            missing: None,
        }
    }
}

impl ExplainedAudience {
    /// Adds the audience in the shards of another node.
    fn merge(mut self, more: Self) -> Self {
        self.concerned += more.concerned;
        self.notifications += more.notifications;
        for (channel, more) in more.channels {
            let sum = self.channels.entry(channel).or_default();
            sum.entries += more.entries;
            sum.pending += more.pending;
            add(&mut sum.outcomes, more.outcomes);
            add(&mut sum.reasons, more.reasons);
            add(&mut sum.left_out, more.left_out);
        }
        self
    }
}

/// Explains an event for its audience, in the shards of all nodes, which get the body as it came.
pub(super) async fn explain(
    service: &Arc<Service>,
    subject: ExplainSubject,
    others: &OtherShards,
    body: &[u8],
) -> Result<Answer, Problem> {
    let gathered = async {
        match &subject {
            ExplainSubject::Event(_) => others.gather_by::<ExplainedAudience>(body.to_vec()).await,
            // What other nodes would make of an event that is not there can't be asked of them.
            ExplainSubject::Supposed(_) => others.without_asking(),
        }
    };
    let (own, mut gathered) = tokio::join!(of_node(service, subject.clone()), gathered);
    let found = std::mem::take(&mut gathered.found);
    let mut sum = found.into_iter().fold(own?, ExplainedAudience::merge);
    sum.missing = gathered.missing();
    Answer::json(StatusCode::OK, &sum)
}

async fn of_node(
    service: &Arc<Service>,
    subject: ExplainSubject,
) -> Result<ExplainedAudience, Problem> {
    let now = service.now();
    let report = service
        .look(move |node| node.engine().reader(node.view()).explain_audience(subject, now))
        .await??;
    Ok(report.into())
}
