//! `search`: from an id or an address to what has it.

use serde_json::{Value, json};

use super::{ToolCall, ToolDefinition};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "search",
    title: "Search",
    about: "Finds people, events, messages, objects, topics, tenants and types by id; people by an address \
         that they have or had; messages by the tag in their mail; events by cancellation key. Begin here \
         when you have no id.",
    arguments: &[Argument::required("q", Shape::Text, "The whole id, address, tag or key")],
    answer: &[
        AnswerField::always(
            "hits",
            AnswerKind::List,
            "What has it: `kind`, `id`, and by what it `matched`",
        ),
        AnswerField::sometimes("nearest", AnswerKind::List, "Without a hit: the nearest ids"),
    ],
    operation: "search",
};

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    call.call(Call::post(&["search"], json!({"q": call.text("q")}))).await
}
