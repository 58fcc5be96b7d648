//! The tools: what each is for, what it takes and answers, and which calls of the API it makes.

mod act;
mod event;
mod explain;
mod figures;
mod messages;
mod person;
mod preview;
mod search;
mod status;
mod try_change;
mod types;
mod waiting;

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

pub(super) use self::act::ActVerb;
use super::answer::{ROWS_MAX, StructuredAnswer};
use super::confirm::Confirmations;
use super::schema::{self, AnswerField, Argument, Shape};
use crate::api::Api;
use crate::call::Call;
use crate::console::Console;
use crate::problem::CallProblem;
use crate::viewer::Viewer;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Search,
    Person,
    Event,
    Explain,
    Messages,
    Waiting,
    Preview,
    Figures,
    Types,
    TryChange,
    Status,
    Act,
}

/// What a tool is, for those who may call it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolDefinition {
    pub(super) name: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// What it is for, for the model.
    pub(super) about: &'static str,
    /// What it takes.
    pub(super) arguments: &'static [Argument],
    /// What it answers, in its order.
    pub(super) answer: &'static [AnswerField],
    /// The call of the API without which nobody has the tool.
    pub(super) operation: &'static str,
}

/// The cursor of lists.
const NEXT: Argument =
    Argument::optional("next", Shape::Text, "`next` of the former answer, for the rows behind it");

impl Tool {
    /// All, in the order of their list.
    pub(super) const ALL: [Self; 12] = [
        Self::Search,
        Self::Person,
        Self::Event,
        Self::Explain,
        Self::Messages,
        Self::Waiting,
        Self::Preview,
        Self::Figures,
        Self::Types,
        Self::TryChange,
        Self::Status,
        Self::Act,
    ];

    /// The tool of a name, whoever may call it.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.definition().name == name)
    }

    pub(super) const fn definition(self) -> &'static ToolDefinition {
        match self {
            Self::Search => &search::DEFINITION,
            Self::Person => &person::DEFINITION,
            Self::Event => &event::DEFINITION,
            Self::Explain => &explain::DEFINITION,
            Self::Messages => &messages::DEFINITION,
            Self::Waiting => &waiting::DEFINITION,
            Self::Preview => &preview::DEFINITION,
            Self::Figures => &figures::DEFINITION,
            Self::Types => &types::DEFINITION,
            Self::TryChange => &try_change::DEFINITION,
            Self::Status => &status::DEFINITION,
            Self::Act => &act::DEFINITION,
        }
    }

    /// Returns true if a role has the tool.
    pub(super) fn is_for(self, api: &dyn Api, role: &str) -> bool {
        match self {
            Self::Act => ActVerb::ALL.into_iter().any(|act| act.is_for(api, role)),
            tool => api.may(role, tool.definition().operation),
        }
    }

    /// Its entry in the list of tools, for a role.
    pub(super) fn listed(self, api: &dyn Api, role: &str) -> Value {
        let of = self.definition();
        let mut arguments = schema::object_schema(of.arguments);
        if self == Self::Act {
            let verbs = ActVerb::ALL.into_iter().filter(|act| act.is_for(api, role));
            arguments["properties"]["verb"]["enum"] = verbs.map(ActVerb::word).collect();
        }
        let changes = self == Self::Act;
        json!({
            "name": of.name, "title": of.title, "description": of.about,
            "inputSchema": arguments, "outputSchema": schema::answer_schema(of.answer),
            "annotations": {
                "title": of.title, "readOnlyHint": !changes, "destructiveHint": changes,
                "idempotentHint": !changes, "openWorldHint": false,
            },
        })
    }
}

/// A call of a tool whose arguments are those of its table.
pub(super) struct ToolCall<'c> {
    pub(super) console: &'c Console,
    pub(super) viewer: &'c Viewer,
    pub(super) confirmations: &'c Confirmations,
    pub(super) arguments: &'c Map<String, Value>,
}

impl ToolCall<'_> {
    /// Answers it.
    ///
    /// # Errors
    /// The refusal of a call of the API, or of arguments that don't go together.
    pub(super) async fn answer(&self, tool: Tool) -> Result<StructuredAnswer, CallProblem> {
        let answer = match tool {
            Tool::Search => search::answer(self).await,
            Tool::Person => person::answer(self).await,
            Tool::Event => event::answer(self).await,
            Tool::Explain => explain::answer(self).await,
            Tool::Messages => messages::answer(self).await,
            Tool::Waiting => waiting::answer(self).await,
            Tool::Preview => preview::answer(self).await,
            Tool::Figures => figures::answer(self).await,
            Tool::Types => types::answer(self).await,
            Tool::TryChange => try_change::answer(self).await,
            Tool::Status => status::answer(self).await,
            Tool::Act => act::answer(self).await,
        };
        StructuredAnswer::new(answer?).bounded().ok_or_else(|| {
            let detail = "The answer is too long: ask for less of it.";
            CallProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "too_long", detail)
        })
    }

    /// The text of an argument.
    fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    /// Makes a call of the API; its answer is masked.
    async fn call(&self, call: Call) -> Result<Value, CallProblem> {
        self.console.call(self.viewer, call).await
    }

    /// The call with the arguments of these names as its parameters.
    fn with_arguments(&self, call: Call, names: &[&str]) -> Call {
        names.iter().fold(call, |call, name| call.with_some(name, self.text(name)))
    }

    /// A page of a list of the API behind the argument `next`: as many rows as an answer has room for.
    async fn page(&self, call: Call) -> Result<Value, CallProblem> {
        let call = call.with_some("cursor", self.text("next"));
        let mut rows = ROWS_MAX;
        loop {
            let page = self.call(call.clone().with("limit", &rows.to_string())).await?;
            if rows == 1 || StructuredAnswer::new(page.clone()).fits() {
                return Ok(page);
            }
            rows /= 2;
        }
    }

    /// A part of rows that the API answers all at once: those behind the argument `next`, as many as there is room for.
    fn part(&self, rows: &[Value]) -> Result<RowsPart, CallProblem> {
        let from = match self.text("next") {
            None => 0,
            Some(next) => {
                next.parse::<usize>().ok().filter(|from| *from <= rows.len()).ok_or_else(|| {
                    unfit("`next` is not that of a former answer of these arguments")
                })?
            }
        };
        let behind = &rows[from..];
        let mut count = behind.len().min(ROWS_MAX);
        let fits = |count: usize| StructuredAnswer::new(behind[..count].into()).fits();
        while count > 1 && !fits(count) {
            count /= 2;
        }
        let to = from + count;
        let next = (to < rows.len()).then(|| to.to_string());
        Ok(RowsPart { rows: behind[..count].to_vec(), next })
    }
}

/// Some rows of many.
struct RowsPart {
    rows: Vec<Value>,
    /// The cursor of those behind them.
    next: Option<String>,
}

/// The refusal of arguments that each are right, and don't go together.
fn unfit(detail: impl Into<String>) -> CallProblem {
    CallProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_arguments", detail)
}

/// Sentences as one text.
fn joined(sentences: impl IntoIterator<Item = String>) -> String {
    sentences.into_iter().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
