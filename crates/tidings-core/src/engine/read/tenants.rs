//! Tenants, as readers ask for them.

use crate::engine::read::reader::Reader;
use crate::engine::rows::reply::Refused;
use crate::engine::state::Engine;
use crate::model::id::Id;
use crate::model::tenant::{Tenant, TenantNo, View};
use crate::model::time::Instant;

/// A tenant as it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TenantNow<'a> {
    /// The id.
    pub id: &'a Id,
    /// The number.
    pub number: TenantNo,
    /// What it sets.
    pub tenant: &'a Tenant,
    /// The instant at which it was made: one of the same id that was deleted before is another.
    pub made: Instant,
}

impl Engine {
    /// A tenant; `None` = there is none of this id, or it was deleted.
    #[must_use]
    pub fn tenant(&self, id: &Id) -> Option<TenantNow<'_>> {
        let number = self.intake.tenants.number(id).ok()?;
        let known = self.intake.tenants.get(number)?;
        Some(TenantNow { id: &known.id, number, tenant: &known.tenant, made: known.made })
    }

    /// The tenants from an id on, or all, in the order of their ids.
    pub fn tenants(&self, from: Option<&Id>) -> impl Iterator<Item = TenantNow<'_>> + use<'_> {
        self.intake.tenants.from(from).map(|(number, known)| TenantNow {
            id: &known.id,
            number,
            tenant: &known.tenant,
            made: known.made,
        })
    }

    /// The id of the tenant of this number, also where it was deleted.
    #[must_use]
    pub fn tenant_id(&self, number: TenantNo) -> Option<&Id> {
        self.intake.tenants.id(Some(number))
    }
}

impl Reader<'_> {
    /// A view with its tenant as a number: one of the same id that was deleted before had another.
    ///
    /// # Errors
    /// [`Refused::UnknownTenant`].
    pub fn numbered(&self, view: &View) -> Result<View<TenantNo>, Refused> {
        self.engine.intake.tenants.view(view)
    }
}
