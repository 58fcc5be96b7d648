//! Notes of what the command that runs changes.

use std::borrow::Cow;

use crate::model::changes::{ChangedField, DONE, Origin};
use crate::model::id::Id;

/// A change of a command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NotedChange {
    pub(crate) fields: Vec<ChangedField>,
    /// The tenant, where the command does not name it.
    pub(crate) tenant: Option<Id>,
    pub(crate) result: Cow<'static, str>,
    /// The action, where it is another than the origin's.
    pub(crate) action: Option<Cow<'static, str>>,
}

impl NotedChange {
    /// A change of fields.
    pub(crate) fn of(fields: impl IntoIterator<Item = ChangedField>) -> Self {
        let fields = fields.into_iter().collect();
        Self { fields, tenant: None, result: DONE.into(), action: None }
    }

    /// A change of one field whose values are shown.
    pub(crate) fn shown(
        name: &str,
        from: impl Into<serde_json::Value>,
        to: impl Into<serde_json::Value>,
    ) -> Self {
        Self::of(ChangedField::shown(name, from.into(), to.into()))
    }

    /// A change with a result of its own.
    pub(crate) fn with_result(result: impl Into<Cow<'static, str>>) -> Self {
        Self { result: result.into(), ..Self::of(None) }
    }
}

/// The changes of the command that runs.
#[derive(Debug, Default)]
pub(crate) enum ChangeNotes {
    /// It has no origin: nothing is noted.
    #[default]
    Off,
    /// The number of changes.
    Counted(u64),
    /// The changes.
    Each(Vec<NotedChange>),
}

impl ChangeNotes {
    /// The start of a command.
    pub(crate) fn begin(origin: &Origin) -> Self {
        if origin.is_counted { Self::Counted(0) } else { Self::Each(Vec::new()) }
    }

    /// The same kind, without changes.
    pub(crate) fn emptied(&self) -> Self {
        match self {
            Self::Off => Self::Off,
            Self::Counted(_) => Self::Counted(0),
            Self::Each(_) => Self::Each(Vec::new()),
        }
    }

    /// Adds what a shard has noted.
    pub(crate) fn add(&mut self, other: Self) {
        match (self, other) {
            (Self::Counted(all), Self::Counted(more)) => *all += more,
            (Self::Each(all), Self::Each(mut more)) => all.append(&mut more),
            _ => {}
        }
    }

    /// Notes a change of the command that runs.
    pub(crate) fn note(&mut self, change: impl FnOnce() -> NotedChange) {
        match self {
            Self::Off => {}
            Self::Counted(count) => *count += 1,
            Self::Each(changes) => changes.push(change()),
        }
    }

    /// Notes a change of fields, if there are any.
    pub(crate) fn note_fields(&mut self, fields: impl FnOnce() -> Vec<ChangedField>) {
        if matches!(self, Self::Off) {
            return;
        }
        let fields = fields();
        if !fields.is_empty() {
            self.note(|| NotedChange::of(fields));
        }
    }
}
