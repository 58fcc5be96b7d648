//! `preview`: how a message looks, with masked values.

use serde_json::{Map, Value, json};

use super::{ToolCall, ToolDefinition, unfit};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "preview",
    title: "Preview",
    about: "What a recipient gets next in a channel and when, or how a message was built. Names and texts in \
         it are masked.",
    arguments: &[
        Argument::optional("recipient", Shape::Text, "The id of the recipient, with `channel`"),
        Argument::optional("channel", Shape::Text, "The channel; not the inbox"),
        Argument::optional("message", Shape::Text, "The id of a message instead"),
    ],
    answer: &[
        AnswerField::always(
            "verdict",
            AnswerKind::Text,
            "Whether there is a message, and when it is due",
        ),
        AnswerField::sometimes(
            "message",
            AnswerKind::MaybeRecord,
            "Of a recipient: the next message; null if nothing waits there",
        ),
        AnswerField::sometimes("channel", AnswerKind::Text, "Of a message: its channel"),
    ],
    operation: "preview",
};

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    let (of_api, id) = match (call.text("message"), call.text("recipient"), call.text("channel")) {
        (Some(message), None, None) => (Call::get(&["messages", message, "preview"]), None),
        (None, Some(recipient), Some(channel)) => {
            let call = Call::get(&["recipients", recipient, "preview"]).with("channel", channel);
            (call, Some(recipient))
        }
        _ => return Err(unfit("Name `recipient` and `channel`, or `message` alone")),
    };
    let preview = call.call(of_api).await?;
    let verdict = match (id, preview["message"]["at"].as_str()) {
        (Some(id), Some(at)) => format!("{id} gets the next message there at {at}."),
        (Some(id), None) => format!("Nothing waits for {id} there."),
        (None, _) => of_message(&preview["same"]).to_owned(),
    };
    let mut answer = Map::new();
    answer.insert("verdict".to_owned(), json!(verdict));
    if let Value::Object(preview) = preview {
        answer.extend(preview);
    }
    Ok(Value::Object(answer))
}

/// Whether a message that is built again looks as it did.
fn of_message(same: &Value) -> &'static str {
    match same.as_bool() {
        Some(true) => "This is how the message looked.",
        Some(false) => "Built again now, the message looks different from what was sent.",
        None => "The message is not built yet: this is how it would look now.",
    }
}
