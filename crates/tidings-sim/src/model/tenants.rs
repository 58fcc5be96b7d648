//! Tenants (contract, section 12): what they set, who is of them, what is seen of them, and their end.
//!
//! A tenant that was deleted stays in the list, as gone, for its entries in the books; the same id made again is
//! another tenant.
//!
//! If the text leaves two readings, this is the one taken:
//!
//! 30. An id that came before is the same event whatever it says: it is counted as republished also where it names
//!     another tenant, one that isn't there, or one that is disabled.
//! 31. A tenant that an event makes under `make` stays, also where the event was cancelled ahead of it or its id is
//!     given back. An event that is refused makes none. A profile in `to` may name the tenant that its event makes.
//! 32. A deleted tenant isn't there: naming it is naming one that is unknown, and under `make` an event makes it anew.
//! 33. On a channel that somebody's own quiet hours don't name, the tenant's hold, and where these don't name it
//!     either, the channel's. `"default"` of a recipient takes back what they said: the tenant's hold.
//! 34. In conditions `recipient.tz` and `recipient.locale` are the recipient's own or the tenant's; where neither
//!     says one they are absent, as before there were tenants.
//! 35. A cancel that names a tenant is about events of that tenant alone, by id as by key. One of an id that is no
//!     event of that tenant is remembered, though the id may be another's event.
//! 36. Who is no member can't cease to be one: removing them from the members takes no subscription.
//! 37. A day's count for the limit has all notifications of the tenant that arrived on it, also from before the limit
//!     was set or the tenant was disabled. Who is beyond it has replaced nothing.
//! 38. What ends with its tenant leaves its window, whose deadline stays; a lane goes on, once enabled, as if its
//!     entries had been cancelled. Ended with a deleted tenant, a message still counts for caps.
//!     The lane of a tenant remembers its last message as long as one with a key does (19).
//! 39. A profile or a list that names a tenant which isn't there changes nothing at all.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tidings_core::channel::{INBOX, channel_no};
use tidings_core::recipient::OwnHours;
use tidings_core::rules::{Digest, QuietHours, UnknownTenant};
use tidings_core::tenant::{TenantChange, View};
use tidings_core::{Data, Day, Id, Outcome, RecipientChange};

use super::route::Preferences;
use super::{Model, Refused, calendar};

/// A tenant.
#[derive(Clone, Debug)]
pub(super) struct Tenant {
    id: Id,
    disabled: bool,
    name: Option<String>,
    data: Option<Data>,
    tz: Option<String>,
    locale: Option<String>,
    quiet_hours: Option<Box<OwnHours>>,
    pub(super) preferences: Preferences,
    /// The most notifications of a day.
    limit: Option<u64>,
    /// Number of its notifications by the day of their arrival.
    counted: BTreeMap<Day, u64>,
    pub(super) members: BTreeSet<usize>,
}

/// Returns true if somebody sees, or marks, entries of this tenant, or those of none.
pub(super) fn has(view: View<usize>, tenant: Option<usize>) -> bool {
    match view {
        View::All => true,
        View::Of(of) => tenant.is_none_or(|tenant| tenant == of),
        View::Only(of) => tenant == Some(of),
    }
}

impl Model {
    /// The tenant of this id.
    pub(super) fn tenant(&self, id: &Id) -> Result<usize, Refused> {
        if self.current().tenants.is_none() {
            return Err(Refused::TenantsOff);
        }
        let known = self.tenant_of.get(id).copied();
        known.ok_or_else(|| Refused::UnknownTenant(id.clone()))
    }

    /// The view that a command may name.
    pub(super) fn view(&self, view: &View) -> Result<View<usize>, Refused> {
        Ok(match view {
            View::All => View::All,
            View::Of(id) => View::Of(self.tenant(id)?),
            View::Only(id) => View::Only(self.tenant(id)?),
        })
    }

    /// Checks that the tenants of a profile are there, or made by the event that brings it.
    pub(super) fn are_there(
        &self,
        change: &RecipientChange,
        made: Option<&Id>,
    ) -> Result<(), Refused> {
        let mut named = change.tenants.iter().flatten().filter(|id| Some(*id) != made);
        named.try_for_each(|id| self.tenant(id).map(|_| ()))
    }

    /// Makes or changes a tenant.
    pub(super) fn change_tenant(&mut self, id: Id, change: TenantChange) -> Result<(), Refused> {
        let known = match self.tenant(&id) {
            Ok(tenant) => Some(tenant),
            Err(Refused::UnknownTenant(_)) => None,
            Err(refused) => return Err(refused),
        };
        let chosen = change.preferences.as_deref();
        let chosen = chosen.map(|chosen| self.defaults_of(chosen)).transpose()?;
        let zones = self.zones();
        let tenant = known.unwrap_or_else(|| self.make_tenant(id));
        let of = &mut self.tenants[tenant];
        if change.replaces {
            (of.name, of.data, of.tz, of.locale) = (None, None, None, None);
            (of.quiet_hours, of.limit, of.disabled) = (None, None, false);
            of.preferences.clear();
        }
        if let Some(chosen) = chosen {
            of.preferences = chosen;
        }
        let TenantChange { name, data, tz, locale, quiet_hours, notifications_per_day, .. } =
            change;
        of.name = name.unwrap_or(of.name.take());
        of.data = data.unwrap_or(of.data.take());
        of.tz = tz.unwrap_or(of.tz.take());
        of.locale = locale.unwrap_or(of.locale.take());
        of.quiet_hours = quiet_hours.unwrap_or(of.quiet_hours.take());
        of.limit = notifications_per_day.unwrap_or(of.limit);
        of.disabled = change.disabled.unwrap_or(of.disabled);
        if of.disabled {
            self.end_tenant(tenant);
        }
        self.change_slots(&zones);
        self.reroute(None);
        Ok(())
    }

    /// The tenant that a command may name.
    pub(super) fn named(&self, id: Option<&Id>) -> Result<Option<usize>, Refused> {
        id.map(|id| self.tenant(id)).transpose()
    }

    /// The tenant that an event names; its id where it is to be made.
    pub(super) fn tenant_of_event(&self, id: &Id) -> Result<Result<usize, Id>, Refused> {
        match self.tenant(id) {
            Ok(tenant) if self.tenants[tenant].disabled => Err(Refused::TenantGone(id.clone())),
            Ok(tenant) => Ok(Ok(tenant)),
            Err(Refused::UnknownTenant(_)) if self.makes_tenants() => Ok(Err(id.clone())),
            Err(refused) => Err(refused),
        }
    }

    fn makes_tenants(&self) -> bool {
        let rules = self.current().tenants;
        rules.is_some_and(|rules| rules.unknown == UnknownTenant::Make)
    }

    pub(super) fn make_tenant(&mut self, id: Id) -> usize {
        self.tenant_of.insert(id.clone(), self.tenants.len());
        self.tenants.push(Tenant {
            id,
            disabled: false,
            name: None,
            data: None,
            tz: None,
            locale: None,
            quiet_hours: None,
            preferences: Preferences::new(),
            limit: None,
            counted: BTreeMap::new(),
            members: BTreeSet::new(),
        });
        self.tenants.len() - 1
    }

    pub(super) fn id_of(&self, tenant: Option<usize>) -> Option<Id> {
        tenant.map(|tenant| self.tenants[tenant].id.clone())
    }

    /// Contract, section 12, "End".
    fn end_tenant(&mut self, tenant: usize) {
        for arrival in 0..self.events.len() {
            if self.events[arrival].tenant == Some(tenant) {
                self.end_event(arrival, Outcome::Cancelled);
            }
        }
    }

    /// Deletes a tenant and all that is its own; the books stay.
    pub(super) fn delete_tenant(&mut self, tenant: usize) {
        self.end_tenant(tenant);
        let of = Some(tenant);
        for entry in &mut self.entries {
            entry.shown &= self.events[entry.event].tenant != of;
        }
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].tenant == of {
                self.open.remove(&lane);
                self.lanes[lane].window = None;
            }
        }
        self.followers.retain(|(whose, _), _| *whose != of);
        for person in &mut self.people {
            person.preferences.remove(&of);
        }
        self.told_once.retain(|(_, (whose, ..))| *whose != of);
        self.tenants[tenant].members.clear();
        let id = self.tenants[tenant].id.clone();
        self.tenant_of.remove(&id);
    }

    pub(super) fn join_tenant(&mut self, tenant: usize, person: usize) {
        self.tenants[tenant].members.insert(person);
    }

    /// Contract, section 12, "Leaving".
    pub(super) fn leave_tenant(&mut self, tenant: usize, person: usize) {
        if !self.tenants[tenant].members.remove(&person) {
            return;
        }
        for ((whose, _), followers) in &mut self.followers {
            if *whose == Some(tenant) {
                followers.remove(&person);
            }
        }
    }

    /// Makes somebody a member of these tenants and of no others.
    pub(super) fn set_tenants(&mut self, person: usize, tenants: &BTreeSet<usize>) {
        for tenant in 0..self.tenants.len() {
            if tenants.contains(&tenant) {
                self.join_tenant(tenant, person);
            } else {
                self.leave_tenant(tenant, person);
            }
        }
    }

    /// Contract, section 12, "Limit": counts one more notification of today, if it fits.
    pub(super) fn fits_limit(&mut self, tenant: Option<usize>) -> bool {
        let today = self.now.day();
        let Some(tenant) = tenant.map(|tenant| &mut self.tenants[tenant]) else {
            return true;
        };
        let counted = tenant.counted.entry(today).or_default();
        let fits = tenant.limit.is_none_or(|limit| *counted < limit);
        *counted += u64::from(fits);
        fits
    }

    /// What was chosen for somebody's entries of a tenant, or of none: what holds first comes first.
    pub(super) fn chosen(&self, person: usize, tenant: Option<usize>) -> Vec<&Preferences> {
        let own = &self.people[person].preferences;
        let with_tenant = tenant.and_then(|_| own.get(&tenant));
        let of_tenant = tenant.map(|tenant| &self.tenants[tenant].preferences);
        with_tenant.into_iter().chain(own.get(&None)).chain(of_tenant).collect()
    }

    /// The name of the zone that holds for somebody's entries of a tenant, or of none.
    pub(super) fn tz(&self, person: usize, tenant: Option<usize>) -> &str {
        let own = self.people[person].tz.as_deref();
        let of_tenant = || tenant.and_then(|tenant| self.tenants[tenant].tz.as_deref());
        own.or_else(of_tenant).unwrap_or(&self.current().defaults.tz)
    }

    /// The zone by which somebody's slots of a digest are worked out.
    pub(super) fn zone_of(
        &self,
        person: usize,
        tenant: Option<usize>,
        digest: &Digest,
    ) -> TimeZone {
        calendar::zone(digest.tz.as_deref().unwrap_or_else(|| self.tz(person, tenant)))
    }

    /// The quiet hours that hold on a channel; nobody who is gone has any.
    pub(super) fn quiet_hours(
        &self,
        person: usize,
        tenant: Option<usize>,
        channel: &str,
    ) -> Option<QuietHours> {
        let person = &self.people[person];
        if person.gone || channel == INBOX {
            return None;
        }
        let of_tenant = tenant.and_then(|tenant| self.tenants[tenant].quiet_hours.as_ref());
        let mut said = person.own_hours.iter().chain(of_tenant).filter(|said| {
            let number = channel_no(channel);
            let names = |channels: &Vec<_>| number.is_some_and(|number| channels.contains(&number));
            said.channels.as_ref().is_none_or(names)
        });
        match said.next() {
            Some(said) => said.hours,
            None => self.current().channels.get(channel).and_then(|of| of.quiet_hours),
        }
    }

    /// The value of `recipient` in conditions.
    pub(super) fn recipient_value(&self, person: usize, tenant: Option<usize>) -> Value {
        let person = &self.people[person];
        let tenant = tenant.map(|tenant| &self.tenants[tenant]);
        let mut fields = person.as_value();
        for (name, own, of_tenant) in [
            ("tz", &person.tz, tenant.and_then(|tenant| tenant.tz.as_ref())),
            ("locale", &person.locale, tenant.and_then(|tenant| tenant.locale.as_ref())),
        ] {
            if let Some(text) = own.as_ref().or(of_tenant) {
                fields[name] = json!(text);
            }
        }
        fields
    }

    /// The value of `tenant` in conditions.
    pub(super) fn tenant_value(&self, tenant: Option<usize>) -> Value {
        let Some(tenant) = tenant.map(|tenant| &self.tenants[tenant]) else {
            return json!({});
        };
        let data = tenant.data.as_ref().map_or_else(|| json!({}), |data| json!(data));
        let mut fields = json!({ "id": tenant.id, "data": data });
        if let Some(name) = &tenant.name {
            fields["name"] = json!(name);
        }
        fields
    }
}
