//! Origins of changes: who makes a call, by which way, for the log of changes.
//!
//! Access finds the author of a request, and the table of calls says what its changes are logged as. The task that
//! answers knows both, and each command that it hands to the node takes them along.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tidings_core::model::{Author, AuthorKind, Origin, Via};
use tidings_node::{CallerId, Role};

tokio::task_local! {
    /// The origin of the changes that the task makes.
    static ORIGIN: Option<Arc<Origin>>;
}

/// The author of a request, and its way in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Requester {
    pub(crate) by: Author,
    pub(crate) via: Via,
}

/// The lines that a call leaves in the log of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logged {
    /// Nothing.
    Nothing,
    /// A line for what it changes, with this action.
    As(&'static str),
    /// A line a commit, with the number of changes.
    Counted(&'static str),
}

impl Requester {
    /// The holder of a key.
    pub(crate) fn key(id: &str, role: Role) -> Self {
        let by = Author::new(AuthorKind::Key, id);
        Self { by: Author { role: Some(role.name().into()), ..by }, via: Via::Api }
    }

    /// A developer, who needs no key.
    pub(crate) fn developer() -> Self {
        Self::key("dev", Role::Admin)
    }

    /// The process that has opened the store itself.
    pub(crate) fn own(by: Author) -> Self {
        Self { by, via: Via::Cli }
    }

    /// A command of this machine that calls a running server with the token of its start.
    pub(crate) fn command() -> Self {
        let by = Author::new(AuthorKind::Command, "tidings");
        Self { by: Author { role: Some(Role::Admin.name().into()), ..by }, via: Via::Api }
    }

    /// An end user.
    pub(crate) fn user(recipient: &str) -> Self {
        Self { by: Author::new(AuthorKind::User, recipient), via: Via::Api }
    }

    /// A recipient, by a link of a message.
    pub(crate) fn link(recipient: &str) -> Self {
        Self { by: Author::new(AuthorKind::Link, recipient), via: Via::Page }
    }

    /// The role of the author; `None` for those who need none, as end users.
    pub(crate) fn role(&self) -> Option<Role> {
        Role::named(self.by.role.as_deref()?)
    }

    /// The identity by which the rooms of the server are shared: people of the console are the host's.
    pub(crate) fn caller(&self) -> CallerId {
        match self.by.kind {
            AuthorKind::Key => CallerId::Key(self.by.id.as_str().into()),
            _ => CallerId::Host,
        }
    }

    /// The origin of what a call of theirs changes; `None` = it is not logged.
    pub(crate) fn origin(&self, logged: Logged, request: Option<String>) -> Option<Arc<Origin>> {
        let (action, is_counted) = match logged {
            Logged::Nothing => return None,
            Logged::As(action) => (action, false),
            Logged::Counted(action) => (action, true),
        };
        let Self { by, via } = self.clone();
        let action = Some(action.into());
        Some(Arc::new(Origin { by, via, action, is_counted, request }))
    }
}

/// The origin of the changes of the call that is being answered; `None` = they are not logged.
pub(crate) fn origin() -> Option<Arc<Origin>> {
    ORIGIN.try_with(Option::clone).ok().flatten()
}

/// Runs work whose changes have an origin.
pub(crate) async fn with_origin<F: Future>(origin: Option<Arc<Origin>>, work: F) -> F::Output {
    ORIGIN.scope(origin, work).await
}

/// Hands in what has an origin.
pub(crate) fn within_origin<T>(origin: Option<Arc<Origin>>, ask: impl FnOnce() -> T) -> T {
    ORIGIN.sync_scope(origin, ask)
}
