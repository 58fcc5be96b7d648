//! Tenants as the model keeps them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tidings_core::Id;
use tidings_core::model::{Data, OwnHours, TenantChange, View};

use super::route::Preferences;

/// A tenant.
#[derive(Clone, Debug)]
pub(super) struct Tenant {
    id: Id,
    pub(super) disabled: bool,
    name: Option<String>,
    data: Option<Data>,
    pub(super) tz: Option<String>,
    pub(super) locale: Option<String>,
    pub(super) quiet_hours: Option<Box<OwnHours>>,
    pub(super) preferences: Preferences,
    pub(super) members: BTreeSet<usize>,
}

impl Tenant {
    /// Takes over what a change gives.
    pub(super) fn change(&mut self, change: TenantChange, chosen: Option<Preferences>) {
        if change.replaces {
            (self.name, self.data, self.tz, self.locale) = (None, None, None, None);
            (self.quiet_hours, self.disabled) = (None, false);
            self.preferences.clear();
        }
        if let Some(chosen) = chosen {
            self.preferences = chosen;
        }
        let TenantChange { name, data, tz, locale, quiet_hours, .. } = change;
        self.name = name.unwrap_or(self.name.take());
        self.data = data.unwrap_or(self.data.take());
        self.tz = tz.unwrap_or(self.tz.take());
        self.locale = locale.unwrap_or(self.locale.take());
        self.quiet_hours = quiet_hours.unwrap_or(self.quiet_hours.take());
        self.disabled = change.disabled.unwrap_or(self.disabled);
    }

    /// The value of `tenant` in conditions.
    pub(super) fn as_value(&self) -> Value {
        let data = self.data.as_ref().map_or_else(|| json!({}), |data| json!(data));
        let mut fields = json!({ "id": self.id, "data": data });
        if let Some(name) = &self.name {
            fields["name"] = json!(name);
        }
        fields
    }
}

/// All tenants that ever were, each known by its place in the list; those that are there have their id, too.
#[derive(Clone, Debug, Default)]
pub(super) struct Tenants {
    all: Vec<Tenant>,
    by_id: BTreeMap<Id, usize>,
}

impl Tenants {
    pub(super) fn get(&self, tenant: usize) -> &Tenant {
        &self.all[tenant]
    }

    pub(super) fn get_mut(&mut self, tenant: usize) -> &mut Tenant {
        &mut self.all[tenant]
    }

    /// Number of tenants, with those that are gone.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// The tenant of this id that is there.
    pub(super) fn number(&self, id: &Id) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Returns true if one of an id was there.
    pub(super) fn was_deleted(&self, id: &Id) -> bool {
        self.all.iter().any(|tenant| tenant.id == *id) && self.number(id).is_none()
    }

    pub(super) fn id_of(&self, tenant: Option<usize>) -> Option<Id> {
        tenant.map(|tenant| self.all[tenant].id.clone())
    }

    /// The tenants of a member, by id.
    pub(super) fn ids_of_member(&self, person: usize) -> Vec<Id> {
        let of = |number: &&usize| self.all[**number].members.contains(&person);
        self.by_id.values().filter(of).map(|number| self.all[*number].id.clone()).collect()
    }

    pub(super) fn make(&mut self, id: Id) -> usize {
        self.by_id.insert(id.clone(), self.all.len());
        self.all.push(Tenant {
            id,
            disabled: false,
            name: None,
            data: None,
            tz: None,
            locale: None,
            quiet_hours: None,
            preferences: Preferences::new(),
            members: BTreeSet::new(),
        });
        self.all.len() - 1
    }

    /// The tenants of which somebody is a member.
    pub(super) fn of_member(&self, person: usize) -> BTreeSet<usize> {
        (0..self.count()).filter(|at| self.get(*at).members.contains(&person)).collect()
    }

    /// A tenant is gone, and has no members.
    pub(super) fn remove(&mut self, tenant: usize) {
        let tenant = &mut self.all[tenant];
        tenant.members.clear();
        self.by_id.remove(&tenant.id);
    }

    /// Somebody is a member of none any more.
    pub(super) fn forget_member(&mut self, person: usize) {
        for tenant in &mut self.all {
            tenant.members.remove(&person);
        }
    }
}

/// Returns true if the view holds entries of this tenant, or those of none.
pub(super) fn has(view: View<usize>, tenant: Option<usize>) -> bool {
    match view {
        View::All => true,
        View::Of(of) => tenant.is_none_or(|tenant| tenant == of),
        View::Only(of) => tenant == Some(of),
    }
}
