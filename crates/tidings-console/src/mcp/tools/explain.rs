//! `explain`: why somebody got an event or did not, or would.

use serde_json::{Map, Value, json};

use super::{ToolCall, ToolDefinition, joined};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;
use crate::screens::events::verdict::verdict;
use crate::screens::why::verdict::{Answer, answers};
use crate::sentence::Sentence;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "explain",
    title: "Explain",
    about: "Says why a recipient got an event, got it late, or did not: which rule decided, and what would \
         have to differ. The event may be supposed, in the form of a publish (`{\"type\", \"object\": \
         {\"id\"}, \"to\": {\"recipients\": […]}}`): then it says what would happen, and nothing does. \
         Without `recipient` it counts the whole audience.",
    arguments: &[
        Argument::required("event", Shape::TextOrObject, "The id of an event, or a supposed event"),
        Argument::optional("recipient", Shape::Text, "The id of the recipient"),
    ],
    answer: &[
        AnswerField::always(
            "verdict",
            AnswerKind::Text,
            "The answer in a sentence for each channel, what was not told first",
        ),
        AnswerField::sometimes("event", AnswerKind::Text, "The id of the event"),
        AnswerField::sometimes("type", AnswerKind::Text, "Its type"),
        AnswerField::sometimes("recipient", AnswerKind::Text, "The id of the recipient"),
        AnswerField::sometimes("supposed", AnswerKind::Flag, "True if it was not published"),
        AnswerField::sometimes("as_of", AnswerKind::Text, "The instant that is looked at"),
        AnswerField::sometimes(
            "steps",
            AnswerKind::List,
            "The rules for all channels, in their order",
        ),
    ],
    operation: "explain",
};

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    let recipient = call.text("recipient");
    let question = Value::Object(call.arguments.clone());
    let of_api = Call::post(&["explain"], question);
    let explained = match recipient {
        Some(recipient) => call.call(of_api.about(recipient)).await?,
        None => call.call(of_api).await?,
    };
    let verdict = match recipient {
        Some(_) => joined(answers(&explained).iter().map(Answer::plain)),
        None => joined(verdict(&explained, &explained).iter().map(Sentence::plain)),
    };
    let mut answer = Map::new();
    answer.insert("verdict".to_owned(), json!(verdict));
    if let Value::Object(explained) = explained {
        answer.extend(explained);
    }
    Ok(Value::Object(answer))
}
