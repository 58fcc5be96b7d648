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
//! 34. In conditions `recipient.tz` and `recipient.locale` are the recipient's own, else the tenant's, else those of
//!     `[defaults]`, also where there are no tenants.
//! 35. A cancel that names a tenant is about events of that tenant alone, by id as by key. One of an id that is no
//!     event of that tenant is remembered, though the id may be another's event.
//! 36. Who is no member can't cease to be one: removing them from the members takes no subscription.
//! 37. What ends with its tenant leaves its window, whose deadline stays; a lane goes on, once enabled, as if its
//!     entries had been cancelled. Ended with a deleted tenant, a message still counts for caps.
//!     The lane of a tenant remembers its last message as long as one with a key does (19).
//! 38. A profile or a list that names a tenant which isn't there changes nothing at all.
//! 39. A device that joins for two tenants is two addresses, and gets what both take once. Who leaves a tenant keeps its
//!     addresses, as its preferences: somebody who is no member may be told, and may have a token.

use std::collections::BTreeSet;

use tidings_core::Id;
use tidings_core::model::{Reason, RecipientChange, TenantChange, View};
use tidings_core::rules::UnknownTenant;

use super::{Model, Refused};

impl Model {
    /// The tenant of this id.
    pub(super) fn tenant(&self, id: &Id) -> Result<usize, Refused> {
        if self.current().tenants.is_none() {
            return Err(Refused::TenantsOff);
        }
        let known = self.tenants.number(id);
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
        let of_addresses = change.addresses.values().flatten().filter_map(|of| of.tenant.as_ref());
        let named = change.tenants.iter().flatten().chain(of_addresses);
        let mut named = named.filter(|id| Some(*id) != made);
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
        let tenant = known.unwrap_or_else(|| self.tenants.make(id));
        let of = self.tenants.get_mut(tenant);
        of.change(change, chosen);
        if of.disabled {
            end_tenant(self, tenant);
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
            Ok(tenant) if self.tenants.get(tenant).disabled => Err(Refused::TenantGone(id.clone())),
            Ok(tenant) => Ok(Ok(tenant)),
            Err(Refused::UnknownTenant(_)) if makes_tenants(self) => Ok(Err(id.clone())),
            Err(Refused::UnknownTenant(_)) if self.tenants.was_deleted(id) => {
                Err(Refused::TenantGone(id.clone()))
            }
            Err(refused) => Err(refused),
        }
    }

    /// Deletes a tenant and all that is its own; the books stay.
    pub(super) fn delete_tenant(&mut self, tenant: usize) {
        end_tenant(self, tenant);
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
            person.end_addresses(tenant);
        }
        self.admitted_once.retain(|(_, (whose, ..))| *whose != of);
        self.tenants.remove(tenant);
    }

    /// Contract, section 12, "Leaving".
    pub(super) fn leave_tenant(&mut self, tenant: usize, person: usize) {
        if !self.tenants.get_mut(tenant).members.remove(&person) {
            return;
        }
        for ((whose, _), followers) in &mut self.followers {
            if *whose == Some(tenant) {
                followers.remove(&person);
            }
        }
    }

    /// Makes a recipient a member of these tenants and of no others.
    pub(super) fn set_tenants(&mut self, person: usize, tenants: &BTreeSet<usize>) {
        for tenant in 0..self.tenants.count() {
            if tenants.contains(&tenant) {
                self.tenants.get_mut(tenant).members.insert(person);
            } else {
                self.leave_tenant(tenant, person);
            }
        }
    }
}

fn makes_tenants(model: &Model) -> bool {
    let rules = model.current().tenants;
    rules.is_some_and(|rules| rules.unknown == UnknownTenant::Make)
}

/// Contract, section 12, "End".
fn end_tenant(model: &mut Model, tenant: usize) {
    for arrival in 0..model.events.len() {
        if model.events[arrival].tenant == Some(tenant) {
            model.end_event(arrival, Reason::TenantGone);
        }
    }
}
