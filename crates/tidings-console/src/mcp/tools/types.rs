//! `types`: when each type goes out on each channel, in words and in numbers.

use serde_json::{Value, json};

use super::{NEXT, ToolCall, ToolDefinition};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;
use crate::screens::types::policy;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "types",
    title: "Types",
    about: "The configured types: when each is sent on each channel and what is paused; digests and channels \
         beside. Keys of `try_change` are those of its channels, as types.TYPE.channels.CHANNEL.quiet.",
    arguments: &[Argument::optional("type", Shape::Text, "Only this type"), NEXT],
    answer: &[
        AnswerField::always(
            "types",
            AnswerKind::List,
            "Each type with its policies; `words` says one in words",
        ),
        AnswerField::always("next", AnswerKind::MaybeText, "The cursor of further types"),
        AnswerField::always("digests", AnswerKind::Record, "When each digest goes out"),
        AnswerField::always(
            "channels",
            AnswerKind::Record,
            "Which channels are configured and paused",
        ),
    ],
    operation: "list_types",
};

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    let mut all = call.call(Call::get(&["types"])).await?;
    let digests = all["digests"].take();
    let named = call.text("type");
    let types = all["types"].as_object().into_iter().flatten();
    let types = types.filter(|(name, _)| named.is_none_or(|named| named == *name));
    let rows: Vec<Value> = types.map(|(name, of)| row(name, of, &digests)).collect();
    if let Some(named) = named.filter(|_| rows.is_empty()) {
        let detail = format!("There is no type `{named}`: call this without `type` for all.");
        let status = axum::http::StatusCode::NOT_FOUND;
        return Err(CallProblem::new(status, "type_not_found", detail));
    }
    let part = call.part(&rows)?;
    Ok(json!({
        "types": part.rows, "next": part.next, "digests": digests, "channels": all["channels"].take(),
    }))
}

/// A type with its name and its policies in words.
fn row(name: &str, of: &Value, digests: &Value) -> Value {
    let mut row = json!({"type": name});
    for (field, value) in of.as_object().into_iter().flatten() {
        row[field] = value.clone();
    }
    for (_, policy) in row["channels"].as_object_mut().into_iter().flatten() {
        let words = policy::words(policy, digests);
        if let Value::Object(policy) = policy {
            policy.insert("words".to_owned(), words.into());
        }
    }
    row
}
