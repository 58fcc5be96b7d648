//! Recipients as the model keeps them. A person who was erased stays in the list, as gone, for what
//! still waits; the same id made again is a new person.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tidings_core::channel::{ChannelNo, INBOX, channel_no};
use tidings_core::recipient::OwnHours;
use tidings_core::rules::{Defaults, Digest, QuietHours, Rules};
use tidings_core::{Data, Id, RecipientChange, State};

use super::calendar;
use super::route::Preferences;

#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) id: Id,
    pub(super) gone: bool,
    pub(super) state: State,
    pub(super) topics: BTreeSet<Id>,
    pub(super) preferences: Preferences,
    /// Quiet hours of their own.
    own_hours: Option<Box<OwnHours>>,
    addresses: BTreeMap<ChannelNo, Vec<String>>,
    data: Option<Data>,
    tz: Option<String>,
    lat: Option<f64>,
    lon: Option<f64>,
}

impl Person {
    pub(super) fn new(id: Id) -> Self {
        Self {
            id,
            gone: false,
            state: State::Active,
            topics: BTreeSet::new(),
            preferences: Preferences::new(),
            own_hours: None,
            addresses: BTreeMap::new(),
            data: None,
            tz: None,
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

    /// The quiet hours that hold on a channel; nobody who is gone has any.
    pub(super) fn quiet_hours(&self, rules: &Rules, channel: &str) -> Option<QuietHours> {
        if self.gone || channel == INBOX {
            return None;
        }
        let of_channel = rules.channels.get(channel).and_then(|of| of.quiet_hours);
        let Some(own) = &self.own_hours else {
            return of_channel;
        };
        let here = own.channels.as_ref().is_none_or(|channels| {
            let number = channel_no(channel);
            number.is_some_and(|number| channels.contains(&number))
        });
        if here { own.hours } else { of_channel }
    }

    /// The value of `recipient` in conditions.
    pub(super) fn as_value(&self) -> Value {
        let data = self.data.as_ref().map_or_else(|| json!({}), |data| json!(data));
        let mut fields = json!({ "id": self.id, "data": data });
        if let Some(tz) = &self.tz {
            fields["tz"] = json!(tz);
        }
        fields
    }

    pub(super) fn place(&self) -> Option<(f64, f64)> {
        self.lat.zip(self.lon)
    }

    /// The name of the zone that applies.
    pub(super) fn tz<'a>(&'a self, defaults: &'a Defaults) -> &'a str {
        self.tz.as_deref().unwrap_or(&defaults.tz)
    }

    /// The zone by which this person's slots of a digest are worked out.
    pub(super) fn zone_of(&self, digest: &Digest, defaults: &Defaults) -> TimeZone {
        calendar::zone(digest.tz.as_deref().unwrap_or_else(|| self.tz(defaults)))
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
