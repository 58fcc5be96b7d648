//! The lists of operators (contract, section 11), by walking over everything.
//!
//! A message that is being sent is pending here: the model sends at once. Why an entry ended is not compared.

use std::collections::BTreeMap;

use tidings_core::Id;
use tidings_core::model::{Outcome, Reason};

use crate::lists::{ListedEvent, ListedPerson, Lists, States};
use crate::model::{Model, ModelEntryState};

/// The lists of a model.
pub(crate) struct ModelLists<'m>(pub(crate) &'m Model);

impl ModelLists<'_> {
    /// The lists as they are now.
    pub(crate) fn lists(&self) -> Lists {
        let model = self.0;
        let mut lists = Lists::default();
        for (id, person) in &model.by_id {
            let person = *person;
            lists.people.push(ListedPerson {
                id: id.clone(),
                state: model.people[person].state,
                tenants: model.tenants.ids_of_member(person),
            });
        }
        let mut known: Vec<usize> = model.known.values().copied().collect();
        known.sort_by_key(|arrival| {
            let of = &model.events[*arrival];
            (std::cmp::Reverse(of.arrived), of.event.id.clone())
        });
        for arrival in known {
            let of = &model.events[arrival];
            let id = |object: &tidings_core::Object| object.id.clone();
            lists.events.push(ListedEvent {
                id: of.event.id.clone(),
                event_type: of.event.event_type.clone(),
                actor: of.event.actor.as_ref().map(id),
                object: id(&of.event.object),
                target: of.event.target.as_ref().map(id),
                tenant: model.tenants.id_of(of.tenant),
                arrived: of.arrived,
            });
            let mut reached = BTreeMap::new();
            for (person, refused) in &of.reached {
                if model.people[*person].gone {
                    continue;
                }
                let id = model.people[*person].id.clone();
                lists.events_of.entry(id.clone()).or_default().push(of.event.id.clone());
                reached.insert(id, self.states(arrival, *person, refused.as_ref()));
            }
            lists.reached.insert(of.event.id.clone(), reached);
        }
        for ((tenant, topic), followers) in &model.followers {
            let ids = followers.iter().map(|person| model.people[*person].id.clone());
            let mut ids: Vec<Id> = ids.collect();
            ids.sort_unstable();
            if tenant.is_none() && !ids.is_empty() {
                lists.followers.insert(topic.clone(), ids);
            }
        }
        lists
    }

    /// The states of a person's entries of an event.
    fn states(
        &self,
        arrival: usize,
        person: usize,
        refused: Option<&(&'static str, Vec<String>)>,
    ) -> States {
        let model = self.0;
        let of = &model.events[arrival];
        let mut states = States::new();
        for channel in &of.channels {
            let why = match refused {
                Some((why, channels)) if channels.contains(channel) => *why,
                _ => "preference",
            };
            states.insert(channel.clone(), ("left_out", Some(why)));
        }
        for entry in of.entries.iter().map(|entry| &model.entries[*entry]) {
            if entry.person == person {
                let state = match entry.state {
                    ModelEntryState::Scheduled => "scheduled",
                    ModelEntryState::Waiting { .. } => "pending",
                    ModelEntryState::Ended(why) => {
                        why.map_or(Outcome::Delivered, Reason::outcome).word()
                    }
                };
                states.insert(entry.channel.clone(), (state, None));
            }
        }
        states
    }
}
