//! The search, by going through everything (contract, section 11, "`POST /v1/search`").

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::model::{CHANNEL_KINDS, ChannelAddress};
use tidings_core::{Id, Instant};

use crate::lists::HitInWords;
use crate::model::Model;
use crate::model::person::Person;

/// The addresses of a person, in the form in which suppressions compare them, from an instant on.
type AddressesFrom = Vec<(Instant, BTreeSet<String>)>;

/// Everybody's addresses as long as they had them, by person.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct PastAddresses(BTreeMap<usize, AddressesFrom>);

impl PastAddresses {
    /// Notes which addresses everybody has now.
    fn note(&mut self, people: &[Person], now: Instant) {
        for (number, person) in people.iter().enumerate() {
            let has = if person.gone { BTreeSet::new() } else { person.compared_addresses() };
            let past = self.0.entry(number).or_default();
            if past.last().is_none_or(|(_, had)| *had != has) {
                past.push((now, has));
            }
        }
    }
}

/// The addresses of a model that a command may have changed.
pub(crate) struct ChangedAddresses<'m>(pub(crate) &'m mut Model);

impl ChangedAddresses<'_> {
    /// Notes which addresses everybody has now.
    pub(crate) fn note(self) {
        let Model { people, past_addresses, now, .. } = self.0;
        past_addresses.note(people, *now);
    }
}

/// The search of a model.
pub(crate) struct ModelSearch<'m>(pub(crate) &'m Model);

impl ModelSearch<'_> {
    /// The hits of a search at an instant.
    pub(crate) fn search(&self, text: &str, now: Instant) -> BTreeSet<HitInWords> {
        let model = self.0;
        let mut found = BTreeSet::new();
        let mut add = |kind, id: &str, matched| {
            found.insert((kind, id.to_owned(), matched));
        };
        if let Ok(id) = Id::new(text) {
            let is_topic = |((_, topic), followers): (&(Option<usize>, Id), &BTreeSet<usize>)| {
                *topic == id && !followers.is_empty()
            };
            let known = [
                ("recipient", model.by_id.contains_key(&id)),
                ("event", model.known.contains_key(&id)),
                ("topic", model.followers.iter().any(is_topic)),
                ("tenant", model.tenants.number(&id).is_some()),
                ("type", model.current().types.contains_key(text)),
            ];
            for (kind, is_known) in known {
                if is_known {
                    add(kind, text, "id");
                }
            }
            for event in model.known.values().map(|event| &model.events[*event].event) {
                if event.cancellation_key.as_ref() == Some(&id) {
                    add("event", event.id.as_str(), "cancellation_key");
                }
            }
        }
        let kept_from = now.plus_ms(-model.current().store.keep_ms);
        let channels = CHANNEL_KINDS.iter().map(|kind| kind.number);
        let forms: BTreeSet<String> = channels
            .map(|channel| ChannelAddress::new(channel, text.trim()).address().to_owned())
            .collect();
        for (id, person) in &model.by_id {
            let past = model.past_addresses.0.get(person).map(Vec::as_slice).unwrap_or_default();
            if past.last().is_some_and(|(_, has)| !has.is_disjoint(&forms)) {
                add("recipient", id.as_str(), "address");
            } else if past.windows(2).any(|pair| {
                let [(_, had), (until, _)] = pair else { return false };
                !had.is_disjoint(&forms) && *until > kept_from
            }) {
                add("recipient", id.as_str(), "former_address");
            }
        }
        // Of what matches in several ways the first counts.
        let mut first: BTreeMap<(&str, String), &str> = BTreeMap::new();
        let order = ["id", "cancellation_key", "address", "former_address"];
        for way in order {
            for (kind, id, _) in found.iter().filter(|(_, _, matched)| *matched == way) {
                first.entry((*kind, id.clone())).or_insert(way);
            }
        }
        first.into_iter().map(|((kind, id), way)| (kind, id, way)).collect()
    }
}
