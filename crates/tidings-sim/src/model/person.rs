//! Recipients as the model keeps them. A person who was erased stays in the list, as gone, for what
//! still waits; the same id made again is a new person.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tidings_core::Id;
use tidings_core::model::{
    AddressKind, CHANNEL_KINDS, ChannelAddress, ChannelNo, Data, INBOX, OwnHours, RecipientChange,
    RecipientState, channel_no,
};

use super::route::Preferences;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Person {
    pub(super) id: Id,
    pub(super) gone: bool,
    pub(super) state: RecipientState,
    /// With a tenant, for its entries alone, and without one.
    pub(super) preferences: BTreeMap<Option<usize>, Preferences>,
    /// Quiet hours of their own.
    pub(super) own_hours: Option<Box<OwnHours>>,
    /// By channel, each with the tenant whose messages it takes beside those of none; without one it takes all.
    addresses: BTreeMap<ChannelNo, Vec<(String, Option<usize>)>>,
    data: Option<Data>,
    pub(super) tz: Option<String>,
    pub(super) locale: Option<String>,
    lat: Option<f64>,
    lon: Option<f64>,
}

impl Person {
    pub(super) fn new(id: Id) -> Self {
        Self {
            id,
            gone: false,
            state: RecipientState::Active,
            preferences: BTreeMap::new(),
            own_hours: None,
            addresses: BTreeMap::new(),
            data: None,
            tz: None,
            locale: None,
            lat: None,
            lon: None,
        }
    }

    /// Takes over what a change gives; `number` finds a tenant, and what is of one that is gone is left out.
    pub(super) fn change(
        &mut self,
        change: &RecipientChange,
        number: impl Fn(&Id) -> Option<usize>,
    ) {
        for (channel, given) in &change.addresses {
            let there = given.iter().filter_map(|address| match &address.tenant {
                None => Some((address.text.clone(), None)),
                Some(id) => Some((address.text.clone(), Some(number(id)?))),
            });
            self.addresses.insert(*channel, there.collect());
        }
        if let Some(tz) = &change.tz {
            self.tz.clone_from(tz);
        }
        if let Some(locale) = &change.locale {
            self.locale.clone_from(locale);
        }
        if let Some(data) = &change.data {
            self.data.clone_from(data);
        }
        if let Some(lat) = change.lat {
            self.lat = lat;
        }
        if let Some(lon) = change.lon {
            self.lon = lon;
        }
        if let Some(state) = change.state {
            self.state = state;
        }
        if let Some(hours) = &change.quiet_hours {
            self.own_hours.clone_from(hours);
        }
    }

    /// The value of `recipient` in conditions, but for the zone and the locale.
    pub(super) fn as_value(&self) -> Value {
        let data = self.data.as_ref().map_or_else(|| json!({}), |data| json!(data));
        json!({ "id": self.id, "data": data })
    }

    pub(super) fn place(&self) -> Option<(f64, f64)> {
        self.lat.zip(self.lon)
    }

    /// Returns true if no lane of this channel closes: unconfirmed, on every channel but the inbox.
    pub(super) fn is_held(&self, channel: &str) -> bool {
        !self.gone && self.state == RecipientState::Unconfirmed && channel != INBOX
    }

    /// Contract, section 12, "Readers": the addresses on a channel that take messages of a tenant, or of none.
    pub(super) fn addresses(&self, channel: &str, tenant: Option<usize>) -> Vec<&str> {
        let known = channel_no(channel).and_then(|number| self.addresses.get(&number));
        let mut taking = Vec::new();
        for (text, of) in known.into_iter().flatten() {
            match (of, tenant) {
                (Some(of), Some(tenant)) if *of != tenant => {}
                _ => taking.push(text.as_str()),
            }
        }
        taking
    }

    /// All addresses, in the form in which suppressions compare them.
    pub(crate) fn compared_addresses(&self) -> BTreeSet<String> {
        let compared = |channel: ChannelNo, text: &str| {
            ChannelAddress::new(channel, text).address().to_owned()
        };
        let all = self.addresses.iter();
        all.flat_map(|(channel, known)| known.iter().map(|(text, _)| compared(*channel, text)))
            .collect()
    }

    pub(super) fn has_address(&self, channel: &str, tenant: Option<usize>) -> bool {
        channel == INBOX || !self.addresses(channel, tenant).is_empty()
    }

    /// Adds a device of a tenant, or of none, with the keys that it gives now.
    pub(super) fn join(&mut self, channel: ChannelNo, text: &str, tenant: Option<usize>) {
        let most = CHANNEL_KINDS[usize::from(channel)].address.map_or(0, AddressKind::most);
        let same =
            |other: &str| ChannelAddress::new(channel, other) == ChannelAddress::new(channel, text);
        let known = self.addresses.entry(channel).or_default();
        for (other, of) in known.iter_mut() {
            if *of == tenant && same(other) {
                text.clone_into(other);
                return;
            }
        }
        known.push((text.to_owned(), tenant));
        while known.iter().filter(|(_, of)| *of == tenant).count() > most {
            let oldest = known.iter().position(|(_, of)| *of == tenant);
            known.remove(oldest.expect("there is one"));
        }
        // Contract, section 2, "Bounds": 40 push subscriptions of a profile over all tenants.
        while known.len() > most.max(2 * usize::from(channel == ChannelNo(3)) * most) {
            known.remove(0);
        }
    }

    /// Removes a device as it joined for a tenant; without one, for whatever tenants it did.
    pub(super) fn part(&mut self, channel: ChannelNo, text: &str, tenant: Option<usize>) {
        let gone = ChannelAddress::new(channel, text);
        let known = self.addresses.entry(channel).or_default();
        known.retain(|(other, of)| {
            ChannelAddress::new(channel, other) != gone || tenant.is_some() && *of != tenant
        });
    }

    /// Contract, section 12, "End".
    pub(super) fn end_addresses(&mut self, tenant: usize) {
        for known in self.addresses.values_mut() {
            known.retain(|(_, of)| *of != Some(tenant));
        }
    }
}
