//! `try_change`: other values of the configuration, checked, and played on the last days.

use serde_json::{Value, json};

use super::{ToolCall, ToolDefinition, unfit};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;
use crate::screens::types::comparison::Comparison;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "try_change",
    title: "Try a change",
    about: "Tries other values of the configuration; nothing comes into force. `edits` alone: whether they \
         have faults, and the lines to change in the file. With `days`: plays the last days with them and \
         answers a `job`; call again with that `job` alone until its state is done, for the numbers now and \
         then.",
    arguments: &[
        Argument::optional(
            "edits",
            Shape::Records(EDIT),
            "Values to try, below types, categories, digests or caps",
        ),
        Argument::optional("days", Shape::Count(1, 28), "How many of the last days to play"),
        Argument::optional("channel", Shape::Text, "With `days`: only this channel"),
        Argument::optional("job", Shape::Text, "The job of a former answer, alone"),
    ],
    answer: &[
        AnswerField::always("verdict", AnswerKind::Text, "What it comes to"),
        AnswerField::sometimes(
            "faults",
            AnswerKind::List,
            "Faults of the configuration with the edits",
        ),
        AnswerField::sometimes("diff", AnswerKind::Text, "The lines to change in the file"),
        AnswerField::sometimes("job", AnswerKind::Text, "The job that plays the days"),
        AnswerField::sometimes(
            "state",
            AnswerKind::Text,
            "Of a job: waiting, running, done or stopped",
        ),
        AnswerField::sometimes(
            "result",
            AnswerKind::List,
            "Of a job that is done: the counts now, and with the edits",
        ),
    ],
    operation: "check",
};

const EDIT: &[Argument] = &[
    Argument::required("key", Shape::Text, "As types.comment.channels.email.quiet"),
    Argument::required("value", Shape::Value, "The value, as \"10m\"; null removes it"),
];

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    let of = |name: &str| call.arguments.get(name);
    match (of("edits"), of("days"), call.text("job")) {
        (None, None, Some(job)) if of("channel").is_none() => compared(call, job).await,
        (Some(edits), None, None) if of("channel").is_none() => {
            let mut checked =
                call.call(Call::post(&["admin", "check"], json!({"edits": edits}))).await?;
            let verdict = match checked["faults"].as_array().map_or(0, Vec::len) {
                0 => "The edits have no fault.".to_owned(),
                count => format!("The edits can't come into force: faults {count}."),
            };
            Ok(json!({
                "verdict": verdict, "faults": checked["faults"].take(), "diff": checked["diff"].take(),
            }))
        }
        (Some(edits), Some(days), None) => {
            let mut body = json!({"edits": edits, "days": days});
            if let Some(channel) = of("channel") {
                body["channel"] = channel.clone();
            }
            let mut begun = call.call(Call::post(&["admin", "compare"], body)).await?;
            let verdict = "The days are being played. Ask again with this `job`.";
            Ok(json!({"verdict": verdict, "job": begun["job"].take()}))
        }
        _ => Err(unfit("Name `edits`, or `edits` with `days` (and `channel`), or `job` alone")),
    }
}

/// The progress of a comparison, or its result.
async fn compared(call: &ToolCall<'_>, job: &str) -> Result<Value, CallProblem> {
    let mut shown = call.call(Call::get(&["admin", "jobs", job])).await?;
    if shown["verb"] != "compare" {
        return Err(unfit("`job` is that of another change: only those of `days` are read here"));
    }
    let verdict = match Comparison::of(&shown) {
        Some(comparison) => {
            let most = comparison.most().map(|most| format!(" {most}"));
            comparison.verdict() + &most.unwrap_or_default()
        }
        None => format!("The job is {}.", shown["state"].as_str().unwrap_or("unknown")),
    };
    let mut answer = json!({"verdict": verdict, "job": job, "state": shown["state"].take()});
    for name in ["of", "done", "problem", "result"] {
        if !shown[name].is_null() {
            answer[name] = shown[name].take();
        }
    }
    Ok(answer)
}
