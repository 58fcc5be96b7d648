//! `status`: whether anybody waits too long, and whose fault it is.

use serde_json::{Map, Value, json};

use super::{ToolCall, ToolDefinition};
use crate::call::Call;
use crate::mcp::schema::{AnswerField, AnswerKind};
use crate::problem::CallProblem;
use crate::screens::now::verdict::Headline;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "status",
    title: "Status",
    about: "Whether anybody waits too long: the oldest message that is due, providers that are away and \
         until when, what is paused, and counts of all that is kept.",
    arguments: &[],
    answer: &[
        AnswerField::always("verdict", AnswerKind::Text, "Whether anybody waits too long"),
        AnswerField::always(
            "oldest_due_age_seconds",
            AnswerKind::MaybeNumber,
            "The age of the oldest message that is due",
        ),
        AnswerField::always(
            "away",
            AnswerKind::List,
            "Providers that take nothing, and until when they are left alone",
        ),
        AnswerField::always("paused", AnswerKind::Record, "Types and channels that are paused"),
        AnswerField::sometimes("now", AnswerKind::Text, "The instant of the answer"),
    ],
    operation: "status",
};

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    let status = call.call(Call::get(&["admin", "status"])).await?;
    let mut answer = Map::new();
    answer.insert("verdict".to_owned(), json!(Headline::of(&status).sentence()));
    if let Value::Object(status) = status {
        answer.extend(status);
    }
    Ok(Value::Object(answer))
}
