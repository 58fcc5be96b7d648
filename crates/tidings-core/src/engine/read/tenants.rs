//! Reads of tenants.

use crate::engine::read::reader::Reader;
use crate::engine::replies::refused::Refused;
use crate::engine::state::Engine;
use crate::model::id::Id;
use crate::model::tenant::{Tenant, TenantNo, View};
use crate::model::time::{Instant, SECOND_MS};

/// A tenant as it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TenantNow<'a> {
    /// The id.
    pub id: &'a Id,
    /// The number.
    pub number: TenantNo,
    /// Its fields.
    pub tenant: &'a Tenant,
    /// Time of its creation, which tells it apart from a deleted tenant with the same id.
    pub made: Instant,
}

/// The tenants of an engine, to be read.
#[derive(Clone, Copy)]
pub struct TenantDirectory<'e>(pub(super) &'e Engine);

impl<'e> TenantDirectory<'e> {
    /// The tenants of an engine.
    #[must_use]
    pub fn of(engine: &'e Engine) -> Self {
        Self(engine)
    }

    /// Looks up a tenant; `None` = unknown or deleted.
    #[must_use]
    pub fn get(&self, id: &Id) -> Option<TenantNow<'e>> {
        let number = self.0.intake.tenants.number(id).ok()?;
        let known = self.0.intake.tenants.get(number)?;
        Some(TenantNow { id: &known.id, number, tenant: &known.tenant, made: known.made })
    }

    /// The tenants from an id on, or all, in the order of their ids.
    pub fn all(&self, from: Option<&Id>) -> impl Iterator<Item = TenantNow<'e>> + use<'e> {
        self.0.intake.tenants.from(from).map(|(number, known)| TenantNow {
            id: &known.id,
            number,
            tenant: &known.tenant,
            made: known.made,
        })
    }

    /// The number of a tenant; `None` = unknown or deleted.
    #[must_use]
    pub fn number(&self, id: &Id) -> Option<TenantNo> {
        self.get(id).map(|known| known.number)
    }

    /// The number of the tenant of a token that was issued in a second since 1970. `None` if a tenant with the same id
    /// was deleted in that second or later: the token was for that one.
    #[must_use]
    pub fn of_token(&self, id: &Id, issued_s: i64) -> Option<TenantNo> {
        let deleted = self.0.intake.tenants.deleted_at(id);
        let is_of_another = deleted.is_some_and(|at| issued_s <= at.0.div_euclid(SECOND_MS));
        self.number(id).filter(|_| !is_of_another)
    }

    /// The id of a tenant; `None` = it was deleted.
    #[must_use]
    pub fn id(&self, number: TenantNo) -> Option<&'e Id> {
        let known = self.0.intake.tenants.get(number)?;
        Some(&known.id)
    }

    /// Returns true if there are any.
    #[must_use]
    pub fn is_any(&self) -> bool {
        !self.0.intake.tenants.is_empty()
    }

    /// Returns true if deleted tenants may have members, subscriptions or preferences left, which steps remove. A
    /// snapshot doesn't know.
    #[must_use]
    pub fn are_ending(&self) -> bool {
        let was_any_deleted = || self.0.intake.tenants.deletions() > 0;
        self.0.shards.iter().any(|shard| match &*shard.ended_tenants {
            Some(ended) => !ended.is_empty(),
            None => was_any_deleted(),
        })
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
