//! The commands of a step, and rules that come into force, with their origins.

use std::sync::Arc;

use crate::model::changes::Origin;
use crate::model::command::Command;
use crate::rules::Rules;

/// Commands with their origins. Commands alone, as timelines have them, leave no line in the log of changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Commands<'a> {
    pub(super) all: &'a [Command],
    origins: &'a [CommandsOrigin],
}

/// The origin of the next commands.
#[derive(Clone, Debug)]
pub struct CommandsOrigin {
    /// Number of the commands.
    pub count: usize,
    /// Their origin; `None` = their changes are not logged.
    pub origin: Option<Arc<Origin>>,
}

impl<'a> Commands<'a> {
    /// Commands with the origins of all of them, in order.
    #[must_use]
    pub fn from_origins(all: &'a [Command], origins: &'a [CommandsOrigin]) -> Self {
        Self { all, origins }
    }

    /// The commands.
    #[must_use]
    pub fn all(self) -> &'a [Command] {
        self.all
    }

    /// The origin of each command; empty = none has one.
    pub(super) fn origins(self) -> Vec<Option<&'a Arc<Origin>>> {
        if self.origins.iter().all(|of| of.origin.is_none()) {
            return Vec::new();
        }
        let each = self.origins.iter();
        each.flat_map(|of| std::iter::repeat_n(of.origin.as_ref(), of.count)).collect()
    }
}

impl<'a> From<&'a [Command]> for Commands<'a> {
    fn from(all: &'a [Command]) -> Self {
        Self { all, origins: &[] }
    }
}

impl<'a> From<&'a Vec<Command>> for Commands<'a> {
    fn from(all: &'a Vec<Command>) -> Self {
        all.as_slice().into()
    }
}

impl<'a, const N: usize> From<&'a [Command; N]> for Commands<'a> {
    fn from(all: &'a [Command; N]) -> Self {
        all.as_slice().into()
    }
}

/// Rules that come into force.
#[derive(Clone, Debug)]
pub struct NewRules {
    /// The rules.
    pub rules: Rules,
    /// Their origin; `None` = that they come into force is not logged.
    pub origin: Option<Arc<Origin>>,
}

impl From<Rules> for NewRules {
    fn from(rules: Rules) -> Self {
        Self { rules, origin: None }
    }
}
