//! Types that a recipient receives no more, since they chose so.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::model::{ChangedBy, Choice, Mode};

use super::log::MutedType;
use crate::model::route::{self, Route};
use crate::model::settings::PersonSettings;
use crate::model::{Model, Refused};

/// The types that a recipient receives on channels.
type Types = BTreeSet<(String, String)>;

/// The types that a recipient received before a choice, by the tenant of the entries, or none.
pub(in crate::model) struct ReceivedBefore {
    person: usize,
    before: BTreeMap<Option<usize>, Types>,
}

impl ReceivedBefore {
    /// The types that they receive before a user, or a link, sets something to `never`; empty where none does.
    pub(in crate::model) fn before(
        model: &Model,
        person: usize,
        choices: &[Choice],
        by: ChangedBy,
    ) -> Result<Self, Refused> {
        let mut before = BTreeMap::new();
        for choice in choices.iter().filter(|_| matches!(by, ChangedBy::User | ChangedBy::Link)) {
            let tenant = model.named(choice.tenant.as_ref())?;
            let known = model.people[person].preferences.get(&tenant);
            let is_new = |channel: String| {
                let at = (choice.scope.clone(), channel);
                known.and_then(|known| known.get(&at)) != Some(&Mode::Never)
            };
            let is_of_types = !choice.scope.is_mute() && choice.scope.digest().is_none();
            if is_of_types
                && choice.mode == Mode::Never
                && route::channels(&choice.channel).into_iter().any(is_new)
            {
                before.insert(tenant, received(model.settings(person, tenant)));
            }
        }
        Ok(Self { person, before })
    }

    /// Notes what they do not receive any more.
    pub(in crate::model) fn note_muted(self, model: &mut Model) {
        for (tenant, before) in self.before {
            let after = received(model.settings(self.person, tenant));
            for (event_type, channel) in before.difference(&after).cloned() {
                model.figures_log.muted.push(MutedType {
                    at: model.now,
                    tenant,
                    event_type,
                    channel,
                });
            }
        }
    }
}

fn received(settings: PersonSettings<'_>) -> Types {
    let chosen = settings.chosen();
    let mut received = Types::new();
    for (event_type, rules) in &settings.rules.types {
        for channel in rules.channels.keys() {
            let route = route::route(settings.rules, &chosen, event_type, channel);
            if matches!(route, Route::Lane { .. }) {
                received.insert((event_type.clone(), channel.clone()));
            }
        }
    }
    received
}
