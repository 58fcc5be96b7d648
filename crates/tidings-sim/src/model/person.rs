//! Recipients as the model keeps them. A person who was erased stays in the list, as gone, for what
//! still waits; the same id made again is a new person.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidings_core::channel::{ChannelNo, INBOX, channel_no};
use tidings_core::recipient::OwnHours;
use tidings_core::{Data, Id, RecipientChange, State};

use super::route::Preferences;

#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) id: Id,
    pub(super) gone: bool,
    pub(super) state: State,
    /// With a tenant, for its entries alone, and without one.
    pub(super) preferences: BTreeMap<Option<usize>, Preferences>,
    /// Quiet hours of their own.
    pub(super) own_hours: Option<Box<OwnHours>>,
    addresses: BTreeMap<ChannelNo, Vec<String>>,
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
            state: State::Active,
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

    pub(super) fn change(&mut self, change: &RecipientChange) {
        for (channel, addresses) in &change.addresses {
            match &addresses[..] {
                [] => self.addresses.remove(channel),
                some => self.addresses.insert(*channel, some.to_vec()),
            };
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
        !self.gone && self.state == State::Unconfirmed && channel != INBOX
    }

    /// The addresses on a channel.
    pub(super) fn addresses(&self, channel: &str) -> &[String] {
        let number = channel_no(channel);
        let known = number.and_then(|number| self.addresses.get(&number));
        known.map_or(&[], Vec::as_slice)
    }

    pub(super) fn has_address(&self, channel: &str) -> bool {
        let number = channel_no(channel);
        channel == INBOX || number.is_some_and(|number| self.addresses.contains_key(&number))
    }
}
