//! What actors and targets are called in one mail.

use std::collections::BTreeMap;

use serde_json::Value;
use tidings_core::Id;
use tidings_core::batch::Line;

use crate::wording;

/// Names that the events of a batch gave, and a readable form of the ids of all others.
pub(crate) struct Names {
    actors: BTreeMap<Id, String>,
    targets: BTreeMap<Id, String>,
}

impl Names {
    /// Gathers `data.actor_title` and `data.target_title`; the newest line's word counts. A line's data
    /// is its newest event's, whose actor comes first.
    pub(crate) fn of(lines: &[&Line]) -> Self {
        let mut names = Self {
            actors: BTreeMap::new(),
            targets: BTreeMap::new(),
        };
        let mut newest_last = lines.to_vec();
        newest_last.sort_by_key(|line| line.t);
        for line in newest_last {
            if let (Some(actor), Some(name)) = (line.actors.first(), given(line, "actor_title")) {
                names.actors.insert(actor.clone(), name);
            }
            if let (Some(target), Some(name)) = (&line.target, given(line, "target_title")) {
                names.targets.insert(target.clone(), name);
            }
        }
        names
    }

    pub(crate) fn actor(&self, id: &Id) -> String {
        self.actors
            .get(id)
            .cloned()
            .unwrap_or_else(|| wording::display_name(id.as_str()))
    }

    pub(crate) fn target(&self, id: &Id) -> String {
        self.targets
            .get(id)
            .cloned()
            .unwrap_or_else(|| wording::display_name(id.as_str()))
    }

    /// "A, B and 3 others".
    pub(crate) fn actors(&self, ids: &[Id]) -> String {
        let names: Vec<String> = ids.iter().map(|id| self.actor(id)).collect();
        wording::listed(&names)
    }
}

fn given(line: &Line, field: &str) -> Option<String> {
    line.data
        .as_ref()?
        .get(field)
        .and_then(Value::as_str)
        .and_then(wording::given_name)
}
