//! `act`: changes, in two steps. The first says what a change would do, the second makes it.

use serde_json::{Value, json};

use super::{ToolCall, ToolDefinition, unfit};
use crate::api::Api;
use crate::call::Call;
use crate::change::CountedCall;
use crate::mcp::confirm::{ConfirmFault, ProposedChange};
use crate::mcp::schema::{AnswerField, AnswerKind, Argument, Shape};
use crate::problem::CallProblem;

pub(super) const DEFINITION: ToolDefinition = ToolDefinition {
    name: "act",
    title: "Act",
    about: "Changes something, in two steps. The first call changes nothing: it answers `confirm` and whom \
         the change concerns. Show that to the person you work for; once they agree, send the same arguments \
         with `confirm` within five minutes. flush sends what waits for a recipient now (`recipient`, and \
         `channel` for one channel alone). retry and resend send a `message` again. cancel takes a `message` \
         or an `event` back. pause and resume hold and release a `type` or a `channel`.",
    arguments: &[
        Argument::required(
            "verb",
            Shape::Word(&["flush", "retry", "resend", "cancel", "pause", "resume"]),
            "The change",
        ),
        Argument::optional("recipient", Shape::Text, "For flush: the id of the recipient"),
        Argument::optional(
            "message",
            Shape::Text,
            "For retry, resend and cancel: the id of the message",
        ),
        Argument::optional("event", Shape::Text, "For cancel: the id of the event"),
        Argument::optional("type", Shape::Text, "For pause and resume: the type"),
        Argument::optional(
            "channel",
            Shape::Text,
            "For pause and resume: the channel; for flush: only this one",
        ),
        Argument::optional("confirm", Shape::Text, "`confirm` of the first step"),
    ],
    answer: &[
        AnswerField::always(
            "verdict",
            AnswerKind::Text,
            "What the change would do, or that it is made",
        ),
        AnswerField::sometimes("confirm", AnswerKind::Text, "First step: the token for the second"),
        AnswerField::sometimes(
            "concerns",
            AnswerKind::MaybeRecord,
            "First step: the people, entries and messages that the change concerns; null for pause and \
                 resume",
        ),
        AnswerField::sometimes(
            "result",
            AnswerKind::MaybeRecord,
            "Second step: what the change came to",
        ),
    ],
    operation: "flush",
};

/// A change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActVerb {
    Flush,
    Retry,
    Resend,
    Cancel,
    Pause,
    Resume,
}

impl ActVerb {
    /// All, in the order of the schema.
    pub(crate) const ALL: [Self; 6] =
        [Self::Flush, Self::Retry, Self::Resend, Self::Cancel, Self::Pause, Self::Resume];

    /// Its word among the arguments.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Flush => "flush",
            Self::Retry => "retry",
            Self::Resend => "resend",
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }

    /// The calls of the API that it may be.
    const fn operations(self) -> &'static [&'static str] {
        match self {
            Self::Flush => &["flush"],
            Self::Retry => &["retry_message"],
            Self::Resend => &["resend_message"],
            Self::Cancel => &["cancel_message", "cancel_event"],
            Self::Pause => &["pause_type", "pause_channel"],
            Self::Resume => &["resume_type", "resume_channel"],
        }
    }

    /// Returns true if a role may make it, of one subject at least.
    pub(crate) fn is_for(self, api: &dyn Api, role: &str) -> bool {
        self.operations().iter().any(|operation| api.may(role, operation))
    }

    /// The change of these arguments.
    fn change(self, call: &ToolCall<'_>) -> Result<ActChange, CallProblem> {
        let names = ["recipient", "message", "event", "type", "channel"];
        let named: Vec<(&str, &str)> =
            names.into_iter().filter_map(|name| Some((name, call.text(name)?))).collect();
        let verb = self.word();
        let change = |operation, of_api, is_counted| {
            Ok(ActChange { operation, call: CountedCall { call: of_api, is_counted } })
        };
        match (self, named.as_slice()) {
            (Self::Flush, [("recipient", id)]) => {
                change("flush", Call::post(&["recipients", id, "flush"], json!({})), true)
            }
            (Self::Flush, [("recipient", id), ("channel", channel)]) => {
                let limits = json!({"channel": channel});
                change("flush", Call::post(&["recipients", id, "flush"], limits), true)
            }
            (Self::Retry | Self::Resend | Self::Cancel, [("message", id)]) => {
                change(self.operations()[0], Call::act(&["messages", id, verb]), true)
            }
            (Self::Cancel, [("event", id)]) => {
                change("cancel_event", Call::act(&["events", id, verb]), true)
            }
            (Self::Pause | Self::Resume, [("type", name)]) => {
                change(self.operations()[0], Call::act(&["types", name, verb]), false)
            }
            (Self::Pause | Self::Resume, [("channel", name)]) => {
                change(self.operations()[1], Call::act(&["channels", name, verb]), false)
            }
            _ => Err(unfit(format!("`{verb}` takes {}, and nothing else", self.subject()))),
        }
    }

    /// The arguments that it takes, in words.
    const fn subject(self) -> &'static str {
        match self {
            Self::Flush => "`recipient`, or `recipient` and `channel`",
            Self::Retry | Self::Resend => "`message`",
            Self::Cancel => "`message` or `event`",
            Self::Pause | Self::Resume => "`type` or `channel`",
        }
    }
}

/// A change of one subject.
struct ActChange {
    /// The name of the call.
    operation: &'static str,
    call: CountedCall,
}

pub(super) async fn answer(call: &ToolCall<'_>) -> Result<Value, CallProblem> {
    let verb = call.text("verb").unwrap_or_default();
    let act = ActVerb::ALL.into_iter().find(|act| act.word() == verb);
    let change = act.ok_or_else(|| unfit("`verb` is unknown"))?.change(call)?;
    call.console.allow(call.viewer, change.operation)?;
    match call.text("confirm") {
        None => ask(call, &change.call).await,
        Some(token) => make(call, change.call, token).await,
    }
}

/// The first step: what the change would do, and the token that makes it.
async fn ask(call: &ToolCall<'_>, change: &CountedCall) -> Result<Value, CallProblem> {
    let mut would = change.ask(call.console, call.viewer).await?;
    let concerns = would["concerns"].take();
    let token = call.console.api().secret()?;
    let proposed = ProposedChange {
        key: call.viewer.caller.id.clone(),
        arguments: call.arguments.clone(),
        people: concerns["people"].as_u64(),
    };
    call.confirmations.wait(&token, proposed, call.console.api().now());
    let verdict = "Nothing is changed yet. Send the same with `confirm` within five minutes to make the change.";
    Ok(json!({"verdict": verdict, "confirm": token, "concerns": concerns}))
}

/// The second step: makes the change, once.
async fn make(call: &ToolCall<'_>, change: CountedCall, token: &str) -> Result<Value, CallProblem> {
    let mut arguments = call.arguments.clone();
    arguments.remove("confirm");
    let now = call.console.api().now();
    let key = &call.viewer.caller.id;
    let people = call.confirmations.take(token, key, &arguments, now).map_err(|fault| {
        let detail = match fault {
            ConfirmFault::Unknown => {
                "`confirm` is unknown, used or older than five minutes. Nothing has changed: ask again \
                     without it"
            }
            ConfirmFault::OtherArguments => {
                "`confirm` is of a change with other arguments. Nothing has changed: send the same \
                     arguments, or ask again without it"
            }
        };
        unfit(detail)
    })?;
    let result = change.make(call.console, call.viewer, people).await?;
    Ok(json!({"verdict": "The change is made.", "result": result}))
}
