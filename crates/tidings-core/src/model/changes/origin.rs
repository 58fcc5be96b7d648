//! Origins of changes: who makes them, and by which way.
//!
//! The edges make an [`Origin`] (a call of the API, a command, a page, a report), and it travels with the commands to
//! the step that decides them. A command itself stays plain data: one without an origin is not logged.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::words;

/// The origin of commands whose changes are logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The author.
    pub by: Author,
    /// The way in.
    pub via: Via,
    /// The name of the operation, as the API has it; `None` = that of the call that does what the command does.
    pub action: Option<Cow<'static, str>>,
    /// True if a commit has one line for all that it changes, with their number.
    pub is_counted: bool,
    /// The id of the request, if it has one.
    pub request: Option<String>,
}

/// The author of a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Author {
    /// The kind.
    pub kind: AuthorKind,
    /// The id: of a key, of a recipient, or the name of a provider, a feed or a command.
    pub id: String,
    /// The role, of authors that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Cow<'static, str>>,
}

impl Author {
    /// An author without a role.
    #[must_use]
    pub fn new(kind: AuthorKind, id: impl Into<String>) -> Self {
        Self { kind, id: id.into(), role: None }
    }
}

impl Origin {
    /// The origin of what a provider or a mail server reports of addresses.
    #[must_use]
    pub fn of_provider(provider: &str) -> Self {
        Self {
            by: Author::new(AuthorKind::Provider, provider),
            via: Via::Api,
            action: Some("suppressed".into()),
            is_counted: false,
            request: None,
        }
    }
}

words! {
    /// The kind of an author.
    AuthorKind {
        /// The holder of an API key.
        Key = "key",
        /// A person who is signed in.
        Person = "person",
        /// A recipient, with a token.
        User = "user",
        /// A recipient, by a link of a message.
        Link = "link",
        /// A feed.
        Feed = "feed",
        /// A provider or a mail server.
        Provider = "provider",
        /// A command of an operator.
        Command = "command",
        /// The configuration.
        Configuration = "configuration",
    }
}

words! {
    /// The way in of a change.
    Via {
        /// A call.
        Api = "api",
        /// The console.
        Console = "console",
        /// The tools of an assistant.
        Mcp = "mcp",
        /// A process that opened the store itself.
        Cli = "cli",
        /// A page behind a link.
        Page = "page",
    }
}
