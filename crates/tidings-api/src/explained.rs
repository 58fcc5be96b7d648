//! Explanations as they are shown: the same JSON over HTTP and from `simulate`, and one text for both.

use serde::Serialize;
use tidings_core::model::{ChannelPath, Explanation, ExplanationStep};
use utoipa::ToSchema;

/// The path of an event to a recipient, rule by rule.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"event": "e-1", "type": "comment", "recipient": "ada", "as_of": "2024-03-07T08:10:00Z", "supposed": false, "steps": [{"rule": "audience", "at": null, "looked_at": "1 named recipient", "result": "reached: named", "ends": false}], "channels": [{"channel": "email", "state": "pending", "reason": null, "at": "2024-03-07T08:12:00Z", "steps": [{"rule": "deadline", "at": "2024-03-07T08:12:00Z", "looked_at": "cooldown, quiet 4m, max_wait 16m", "result": "due", "ends": false}]}]}))]
pub struct Explained {
    /// The event.
    event: String,
    /// Its type.
    r#type: String,
    /// Its tenant; absent = none.
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<String>,
    /// The recipient.
    recipient: String,
    /// The time as of which it is explained.
    #[schema(format = "date-time")]
    as_of: String,
    /// True if the event was not published.
    supposed: bool,
    /// The rules that hold for all channels, in their order.
    steps: Vec<ExplainedStep>,
    /// The channels of the event; empty if an earlier rule left the recipient out.
    channels: Vec<ExplainedChannel>,
}

/// The path of an event on one channel.
#[derive(Serialize, ToSchema)]
struct ExplainedChannel {
    /// The channel.
    channel: &'static str,
    /// `none` (no entry), `scheduled`, `pending`, `sending`, or the outcome.
    state: &'static str,
    /// The reason why it was not delivered, as in the outcome of an event; null = none.
    reason: Option<&'static str>,
    /// The time at which it ended, is due or enters its lane; null = none.
    #[schema(format = "date-time")]
    at: Option<String>,
    /// The rules, in their order.
    steps: Vec<ExplainedStep>,
}

/// A rule that was applied.
#[derive(Serialize, ToSchema)]
pub struct ExplainedStep {
    /// The rule.
    rule: &'static str,
    /// The time at which it was applied, or that it set; null = unknown.
    #[schema(format = "date-time")]
    at: Option<String>,
    /// The inputs of the rule, in words.
    looked_at: String,
    /// The result, in words.
    result: String,
    /// True if it is the last: there is no entry, or the entry ended here.
    ends: bool,
}

impl From<ExplanationStep> for ExplainedStep {
    fn from(step: ExplanationStep) -> Self {
        Self {
            rule: step.rule.word(),
            at: step.at.map(|at| at.to_string()),
            looked_at: step.looked_at,
            result: step.result,
            ends: step.ends,
        }
    }
}

impl From<ChannelPath> for ExplainedChannel {
    fn from(path: ChannelPath) -> Self {
        Self {
            channel: path.channel,
            state: path.state.word(),
            reason: path.reason.map(|reason| reason.word()),
            at: path.at.map(|at| at.to_string()),
            steps: path.steps.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Explanation> for Explained {
    fn from(explanation: Explanation) -> Self {
        Self {
            event: explanation.event.as_str().to_owned(),
            r#type: explanation.event_type.as_str().to_owned(),
            tenant: explanation.tenant.map(|tenant| tenant.as_str().to_owned()),
            recipient: explanation.recipient.as_str().to_owned(),
            as_of: explanation.as_of.to_string(),
            supposed: explanation.supposed,
            steps: explanation.steps.into_iter().map(Into::into).collect(),
            channels: explanation.channels.into_iter().map(Into::into).collect(),
        }
    }
}
