//! `figures`: what was published, sent, seen and muted, by day.

use serde_json::{Value, json};

use super::{NEXT, ToolCall, ToolDefinition};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "figures",
    title: "Figures",
    about: "Counts of events, entries, messages by final state, seen, read and muted, and delays, of the \
         days `from` <= day < `to` (UTC; without them the last 28). `by` groups them.",
    arguments: &[
        Argument::optional("from", Shape::Text, "The first day, as 2026-11-01"),
        Argument::optional("to", Shape::Text, "The day behind the last"),
        Argument::optional(
            "by",
            Shape::Text,
            "With commas: type, category, channel, tenant, and one of hour, day",
        ),
        Argument::optional("channel", Shape::Text, "Only this channel"),
        Argument::optional("type", Shape::Text, "Only this type"),
        Argument::optional("tenant", Shape::Text, "Only this tenant"),
        Argument::optional(
            "measure",
            Shape::Text,
            "With commas: events, notifications, entries, ended, reasons, messages, items, resent, reported, \
                 muted, seen, read, delay, told_to_seen",
        ),
        NEXT,
    ],
    answer: &[
        AnswerField::always("from", AnswerKind::Text, "The first day"),
        AnswerField::always("to", AnswerKind::Text, "The day behind the last"),
        AnswerField::always("complete_to", AnswerKind::MaybeText, "Up to when all is counted"),
        AnswerField::always("days_without", AnswerKind::List, "Days of which nothing is counted"),
        AnswerField::always("rows", AnswerKind::List, "The counts, in the order of `by`"),
        AnswerField::always("next", AnswerKind::MaybeText, "The cursor of further rows"),
    ],
    operation: "figures",
};

const PARAMETERS: [&str; 7] = ["from", "to", "by", "channel", "type", "tenant", "measure"];

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    let figures = call.with_arguments(Call::get(&["admin", "figures"]), &PARAMETERS);
    let mut figures = call.call(figures).await?;
    let rows = figures["rows"].as_array().cloned().unwrap_or_default();
    let part = call.part(&rows)?;
    Ok(json!({
        "from": figures["from"].take(), "to": figures["to"].take(), "zone": figures["zone"].take(),
        "complete_to": figures["complete_to"].take(), "days_without": figures["days_without"].take(),
        "rows": part.rows, "next": part.next,
    }))
}
