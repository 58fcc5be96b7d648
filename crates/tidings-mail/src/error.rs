//! Errors: of a configuration, and of one mail.

use crate::SenderError;
use crate::words::sentence::SentenceError;

/// Maximum number of bytes of a batch id, which is in header lines.
pub const BATCH_ID_BYTES_MAX: usize = 64;

/// The reason why a configuration gives no design.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DesignError {
    /// A text of a type is no sentence.
    #[error("types.{event_type}: {fault}")]
    Sentence {
        /// The type.
        event_type: String,
        /// The fault.
        fault: Box<SentenceError>,
    },
    /// A template can't be used.
    #[error("the template {name}: {reason}")]
    Template {
        /// Its name.
        name: String,
        /// The reason, with its line.
        reason: String,
        /// Advice on how to mend it.
        hint: String,
    },
    /// The mailbox to which answers go is none.
    #[error("reply_to: {0}")]
    ReplyTo(#[from] SenderError),
}

impl DesignError {
    /// Advice on how to mend it.
    #[must_use]
    pub fn hint(&self) -> &str {
        match self {
            Self::Sentence { .. } => "write another sentence",
            Self::ReplyTo(_) => "write a mailbox that people read",
            Self::Template { hint, .. } => hint,
        }
    }

    /// The template that has the fault.
    pub(crate) fn template(&self) -> Option<String> {
        match self {
            Self::Sentence { .. } | Self::ReplyTo(_) => None,
            Self::Template { name, .. } => Some(name.clone()),
        }
    }
}

/// The reason why a batch can't become a mail. A retry never helps; no error contains an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The recipient has no address.
    #[error("the recipient has no e-mail address")]
    NoAddress,
    /// The recipient's address is invalid.
    #[error("the recipient's e-mail address is not one that mail can be sent to")]
    Address,
    /// The batch id is not valid in a header or a file name.
    #[error("a batch id is 1 to {BATCH_ID_BYTES_MAX} ASCII letters, digits, `-` or `_`")]
    BatchId,
    /// The batch is empty.
    #[error("the batch tells nothing")]
    Empty,
    /// The key of the configuration signs nothing.
    #[error("the mail can't be signed")]
    Signature,
    /// A template failed; its name and its line are in the text.
    #[error("template: {0}")]
    Template(String),
}
