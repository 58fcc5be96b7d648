//! Changes of messages: of one, or of all that match a filter.

/// A change of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Retry,
    Cancel,
    Resend,
}

impl Verb {
    pub(crate) const ALL: [Self; 3] = [Self::Retry, Self::Cancel, Self::Resend];

    /// The change of this word in a path.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.word() == word)
    }

    /// Its word in a path.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Resend => "resend",
        }
    }

    /// Its word on a button.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Retry => "Retry",
            Self::Cancel => "Cancel",
            Self::Resend => "Resend",
        }
    }

    /// The call for one message.
    pub(crate) const fn operation(self) -> &'static str {
        match self {
            Self::Retry => "retry_message",
            Self::Cancel => "cancel_message",
            Self::Resend => "resend_message",
        }
    }

    /// The call for all messages of a filter.
    pub(crate) const fn bulk_operation(self) -> &'static str {
        match self {
            Self::Retry => "retry_messages",
            Self::Cancel => "cancel_messages",
            Self::Resend => "resend_messages",
        }
    }

    /// Returns true if a message of this state takes it.
    pub(crate) fn applies_to(self, state: &str) -> bool {
        match self {
            Self::Retry => ["failed", "retrying"].contains(&state),
            Self::Cancel => ["planned", "sending", "retrying"].contains(&state),
            Self::Resend => ["sent", "unknown", "failed"].contains(&state),
        }
    }
}
