//! `waiting`: what waits for somebody, or for all.

use serde_json::{Value, json};

use super::{NEXT, ToolCall, ToolDefinition, joined, unfit};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;
use crate::screens::person::facts::PersonFacts;
use crate::sentence::Sentence;
use crate::words::counted;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "waiting",
    title: "Waiting",
    about: "What waits and until when. With `recipient`: their open lanes with each notification, messages \
         that are tried again, scheduled events. Else all lanes by hour, and what is put off.",
    arguments: &[Argument::optional("recipient", Shape::Text, "The id of a recipient"), NEXT],
    answer: &[
        AnswerField::always("verdict", AnswerKind::Text, "How much waits"),
        AnswerField::always(
            "lanes",
            AnswerKind::List,
            "Open lanes: of a recipient, or of all by hour",
        ),
        AnswerField::sometimes(
            "next",
            AnswerKind::MaybeText,
            "Without `recipient`: the cursor of further lanes",
        ),
        AnswerField::sometimes(
            "messages",
            AnswerKind::List,
            "Of a recipient: messages that are tried again",
        ),
        AnswerField::sometimes(
            "deferred",
            AnswerKind::Record,
            "Of all: messages that are tried again",
        ),
        AnswerField::sometimes(
            "sending",
            AnswerKind::Number,
            "Of all: messages that are being sent",
        ),
        AnswerField::sometimes(
            "unmade",
            AnswerKind::Number,
            "Of all: messages that are due and not built yet",
        ),
    ],
    operation: "pending",
};

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    if let Some(id) = call.text("recipient") {
        if call.text("next").is_some() {
            return Err(unfit("what waits for a recipient has no `next`"));
        }
        let mut pending = call.call(Call::get(&["recipients", id, "pending"])).await?;
        let sentences = PersonFacts::waiting(&pending, call.console.api().now());
        let verdict = joined(sentences.iter().map(Sentence::plain));
        return Ok(json!({
            "verdict": verdict, "lanes": pending["lanes"].take(), "messages": pending["messages"].take(),
            "scheduled": pending["scheduled"].take(),
        }));
    }
    let mut due = call.call(Call::get(&["admin", "due"])).await?;
    let lanes = due["lanes"].as_array().cloned().unwrap_or_default();
    let people: u64 = lanes.iter().filter_map(|lane| lane["recipients"].as_u64()).sum();
    let now = due["sending"].as_u64().unwrap_or(0) + due["unmade"].as_u64().unwrap_or(0);
    let verdict = format!(
        "{} in open lanes; {} due now.",
        counted(people, "message is being gathered", "messages are being gathered"),
        counted(now, "message is", "messages are"),
    );
    let part = call.part(&lanes)?;
    Ok(json!({
        "verdict": verdict, "lanes": part.rows, "next": part.next, "sending": due["sending"].take(),
        "unmade": due["unmade"].take(), "deferred": due["deferred"].take(),
        "scheduled": due["scheduled"].take(),
    }))
}
