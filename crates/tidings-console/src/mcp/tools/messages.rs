//! `messages`: one message with its attempts, or those of a filter.

use serde_json::{Value, json};

use super::{NEXT, ToolCall, ToolDefinition, unfit};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;
use crate::screens::messages::verdict::verdict;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "messages",
    title: "Messages",
    about: "With `id`: what became of a message, why, and its attempts. Else the messages of a filter, \
         newest first: what failed since an hour ago is `{\"state\": \"failed\", \"from\": INSTANT}`.",
    arguments: &[
        Argument::optional("id", Shape::Text, "The id of one message"),
        Argument::optional("recipient", Shape::Text, "To this recipient"),
        Argument::optional("event", Shape::Text, "Of this event, told or left out"),
        Argument::optional("channel", Shape::Text, "In this channel"),
        Argument::optional(
            "provider",
            Shape::Text,
            "By this provider, as the last attempt names it",
        ),
        Argument::optional("type", Shape::Text, "With an event of this type"),
        Argument::optional("tenant", Shape::Text, "Of this tenant"),
        Argument::optional(
            "state",
            Shape::Text,
            "planned, sending, retrying, sent, failed, unknown, suppressed or cancelled",
        ),
        Argument::optional(
            "reason",
            Shape::Text,
            "Ended for this reason, such as refused, no_address",
        ),
        Argument::optional("job", Shape::Text, "Changed by this job"),
        Argument::optional("from", Shape::Text, "Due at this instant or later (RFC 3339)"),
        Argument::optional("to", Shape::Text, "Due before this instant (RFC 3339)"),
        NEXT,
    ],
    answer: &[
        AnswerField::sometimes(
            "verdict",
            AnswerKind::Text,
            "With `id`: what became of it, and why",
        ),
        AnswerField::sometimes(
            "message",
            AnswerKind::Record,
            "With `id`: the message with its items, attempts and timeline. What the provider said is under \
                 `untrusted`",
        ),
        AnswerField::sometimes("messages", AnswerKind::List, "Without `id`: the messages"),
        AnswerField::sometimes(
            "next",
            AnswerKind::MaybeText,
            "Without `id`: the cursor of further messages",
        ),
    ],
    operation: "list_messages",
};

const FILTERS: [&str; 11] = [
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
];

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    let Some(id) = call.text("id") else {
        return call.page(call.with_arguments(Call::get(&["messages"]), &FILTERS)).await;
    };
    if call.arguments.len() > 1 {
        return Err(unfit("`id` names one message: leave the filters out"));
    }
    let message = call.call(Call::get(&["messages", id])).await?;
    Ok(json!({"verdict": verdict(&without_replies(&message)).plain(), "message": message}))
}

/// A message without the words of its provider, which no sentence of ours repeats.
fn without_replies(message: &Value) -> Value {
    let mut message = message.clone();
    for attempt in message["attempts"].as_array_mut().into_iter().flatten() {
        if let Some(attempt) = attempt.as_object_mut() {
            attempt.remove("reply");
        }
    }
    message
}
