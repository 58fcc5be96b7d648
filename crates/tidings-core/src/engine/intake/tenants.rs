//! Tenants as they are now, by id and by number.

use std::sync::Arc;

use crate::engine::rows::reply::Refused;
use crate::model::id::Id;
use crate::model::tenant::{Tenant, TenantNo, View};
use crate::sets::shared::Tree;

/// The tenants of a store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tenants {
    numbers: Tree<Id, TenantNo>,
    known: Tree<TenantNo, Arc<KnownTenant>>,
}

/// A tenant with its id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownTenant {
    pub(crate) id: Id,
    pub(crate) tenant: Tenant,
}

impl Tenants {
    /// The number of a tenant.
    ///
    /// # Errors
    /// [`Refused::UnknownTenant`].
    pub(crate) fn number(&self, id: &Id) -> Result<TenantNo, Refused> {
        self.numbers.get(id).copied().ok_or_else(|| Refused::UnknownTenant(id.clone()))
    }

    /// The tenant of a number; `None` = it was deleted.
    pub(crate) fn get(&self, number: TenantNo) -> Option<&Arc<KnownTenant>> {
        self.known.get(&number)
    }

    /// The tenants from an id on, or all, by the bytes of their ids.
    pub(crate) fn iter_from<'t>(&'t self, id: Option<&Id>) -> impl Iterator<Item = &'t KnownTenant> + use<'t> {
        let numbers = id.map_or_else(|| self.numbers.iter(), |id| self.numbers.from(id));
        numbers.filter_map(|(_, number)| self.get(*number).map(Arc::as_ref))
    }

    /// The id of a tenant that an entry is of.
    pub(crate) fn id(&self, number: Option<TenantNo>) -> Option<&Id> {
        self.get(number?).map(|known| &known.id)
    }

    /// A view with its tenant as a number.
    ///
    /// # Errors
    /// [`Refused::UnknownTenant`].
    pub(crate) fn view(&self, view: &View) -> Result<View<TenantNo>, Refused> {
        view.try_map(|id| self.number(id))
    }
}
