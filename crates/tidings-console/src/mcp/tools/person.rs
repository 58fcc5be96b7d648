//! `person`: what reaches somebody, what waits for them, and what happened last.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{ToolCall, ToolDefinition, joined};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;
use crate::screens::person::facts::PersonFacts;
use crate::sentence::Sentence;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "person",
    title: "Person",
    about: "Tells which channels reach a recipient and which do not and why, what waits for them, and their \
         last events. To ask about one event, call explain.",
    arguments: &[Argument::required("id", Shape::Text, "The id of the recipient; search finds it")],
    answer: &[
        AnswerField::always("verdict", AnswerKind::Text, "What reaches them and what comes next"),
        AnswerField::always("person", AnswerKind::Record, "Their profile"),
        AnswerField::always(
            "pending",
            AnswerKind::Record,
            "Open lanes, messages that are tried again, scheduled events",
        ),
        AnswerField::always(
            "leaving",
            AnswerKind::List,
            "Messages that are due and not handed over yet",
        ),
        AnswerField::always(
            "suppressions",
            AnswerKind::List,
            "Their suppressed addresses, each with the reason",
        ),
        AnswerField::always(
            "events",
            AnswerKind::List,
            "Their last events, with what became of each by channel",
        ),
    ],
    operation: "get_recipient",
};

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    let id = call.text("id").unwrap_or_default();
    let person = call.call(Call::get(&["recipients", id])).await?;
    let facts = PersonFacts::read(call.console, call.viewer, &person).await?;
    let zone = person["tz"].as_str().and_then(|zone| TimeZone::get(zone).ok());
    let sentences = facts.sentences(&person, call.console.api().now(), zone.as_ref());
    let PersonFacts { pending, mut suppressions, mut leaving, mut events, .. } = facts;
    Ok(json!({
        "verdict": joined(sentences.iter().map(Sentence::plain)), "person": person, "pending": pending,
        "leaving": leaving["messages"].take(), "suppressions": suppressions["suppressions"].take(),
        "events": events["events"].take(),
    }))
}
