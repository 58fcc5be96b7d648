//! `event`: how many an event reached, and whom.

use serde_json::{Value, json};

use super::{NEXT, ToolCall, ToolDefinition, joined, unfit};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;
use crate::screens::events::verdict::verdict;
use crate::sentence::Sentence;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "event",
    title: "Event",
    about: "Tells how many people an event reached by channel and outcome. With `who` it lists them: all, or \
         those of one outcome or reason in a channel.",
    arguments: &[
        Argument::required("id", Shape::Text, "The id of the event"),
        Argument::optional("who", Shape::Record(WHO), "Lists people; {} lists all"),
        NEXT,
    ],
    answer: &[
        AnswerField::always(
            "verdict",
            AnswerKind::Text,
            "How many it reached, and what became of them",
        ),
        AnswerField::always("event", AnswerKind::Record, "What was published"),
        AnswerField::always("arrived_at", AnswerKind::Text, "When it was published"),
        AnswerField::sometimes(
            "scheduled_for",
            AnswerKind::MaybeText,
            "When it is due, if it is scheduled",
        ),
        AnswerField::always(
            "channels",
            AnswerKind::Record,
            "Counts by channel: entries, outcomes, reasons, and who was left out",
        ),
        AnswerField::sometimes(
            "recipients",
            AnswerKind::List,
            "With `who`: people, and what became of it for each by channel",
        ),
        AnswerField::sometimes(
            "next",
            AnswerKind::MaybeText,
            "With `who`: the cursor of further people",
        ),
    ],
    operation: "get_event",
};

const WHO: &[Argument] = &[
    Argument::optional("channel", Shape::Text, "Only in this channel"),
    Argument::optional(
        "outcome",
        Shape::Text,
        "delivered, failed, skipped, pending, left_out and so on",
    ),
    Argument::optional("reason", Shape::Text, "such as no_address, preference, suppressed, seen"),
];

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    let id = call.text("id").unwrap_or_default();
    let mut event = call.call(Call::get(&["events", id])).await?;
    // These have who was left out beside; of an event that is gone by now there are the others.
    let counts = call.call(Call::post(&["explain"], json!({"event": id}))).await;
    let mut counts = counts.unwrap_or_else(|_| event.clone());
    let sentences = verdict(&event, &counts);
    let mut answer = json!({
        "verdict": joined(sentences.iter().map(Sentence::plain)), "event": event["event"].take(),
        "arrived_at": event["arrived_at"].take(), "scheduled_for": event["scheduled_for"].take(),
        "channels": counts["channels"].take(),
    });
    match call.arguments.get("who") {
        None if call.text("next").is_some() => return Err(unfit("`next` goes with `who`")),
        None => {}
        Some(filter) => {
            let people = ["channel", "outcome", "reason"]
                .iter()
                .fold(Call::get(&["events", id, "recipients"]), |people, name| {
                    people.with_some(name, filter[*name].as_str())
                });
            let mut people = call.page(people).await?;
            answer["recipients"] = people["recipients"].take();
            answer["next"] = people["next"].take();
        }
    }
    Ok(answer)
}
