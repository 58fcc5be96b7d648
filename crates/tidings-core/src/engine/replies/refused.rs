//! Refusals of commands, and the errors of steps and reads.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::concerns::CommandConcerns;
use crate::journal::stored::Unreadable;
use crate::model::batch_key::KeyTooLong;
use crate::model::id::Id;
use crate::model::limits::{ExceededBound, TooLarge};
use crate::model::messages::jobs::JobNo;
use crate::model::messages::{MessageAct, MessageName, MessageState};

/// The reason why a command was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Refused {
    /// The recipient is unknown.
    #[error("unknown recipient `{0}`")]
    UnknownRecipient(Id),
    /// The type is not configured.
    #[error("unknown type `{event_type}`")]
    UnknownType {
        /// The type.
        event_type: Id,
        /// The types that are configured.
        configured: Vec<String>,
    },
    /// The channel is unknown.
    #[error("unknown channel `{0}`")]
    UnknownChannel(String),
    /// The message is unknown: its day was deleted, or there was none of this name.
    #[error("unknown message `{0}`")]
    UnknownMessage(MessageName),
    /// The message is not in a state for this.
    #[error("the message is `{}`: {}", .state.word(), why_not(*.act))]
    MessageState {
        /// Its state.
        state: MessageState,
        /// The change.
        act: MessageAct,
    },
    /// The message can't be sent again.
    #[error("the message can't be sent again: {0}")]
    MessageGone(Cow<'static, str>),
    /// The preference is not possible.
    #[error("{0}")]
    Preference(String),
    /// The command exceeds a bound of the configuration.
    #[error(transparent)]
    Exceeded(#[from] ExceededBound),
    /// The command would make a value too long for the store.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A batch key of the event is too long.
    #[error(transparent)]
    BatchKey(#[from] KeyTooLong),
    /// There is no such tenant.
    #[error("unknown tenant `{tenant}`")]
    UnknownTenant {
        /// The tenant.
        tenant: Id,
        /// Some that there are, of similar names.
        near: Vec<String>,
    },
    /// The tenant is disabled or was deleted: nothing is published for it.
    #[error("the tenant `{0}` is gone: it is disabled, or was deleted")]
    TenantGone(Id),
    /// Tenants are not configured.
    #[error("tenants are off")]
    TenantsOff,
    /// The command would touch more people than its caller expects.
    #[error("it would touch {} people", .0.people)]
    Grew(CommandConcerns),
    /// The hook is not configured.
    #[error("unknown hook `{0}`")]
    UnknownHook(String),
    /// There is no such job.
    #[error("unknown job `{0}`")]
    UnknownJob(JobNo),
}

/// The states that a change of a message asks for.
fn why_not(act: MessageAct) -> &'static str {
    match act {
        MessageAct::Retry => "only one that is `failed` or `retrying` is retried",
        MessageAct::Resend => "only one that is `sent`, `unknown` or `failed` is resent",
        MessageAct::Cancel => "it can't be cancelled",
    }
}

/// The reason why a command or a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// It is refused; the engine is as before.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The store can't be read. An engine that was changing is poisoned then: drop it and open another.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl From<ExceededBound> for StepError {
    fn from(exceeded: ExceededBound) -> Self {
        Self::Refused(exceeded.into())
    }
}

impl From<TooLarge> for StepError {
    fn from(too_large: TooLarge) -> Self {
        Self::Refused(too_large.into())
    }
}

impl StepError {
    /// The refusal, which is a reply.
    ///
    /// # Errors
    /// [`Unreadable`], which ends a step.
    pub(crate) fn refusal(self) -> Result<Refused, Unreadable> {
        match self {
            Self::Refused(refused) => Ok(refused),
            Self::Unreadable(fault) => Err(fault),
        }
    }
}
