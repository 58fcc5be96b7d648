//! Tenants, as readers ask for them.

use std::collections::BTreeSet;

use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::engine::state::Engine;
use crate::journal::stored::Unreadable;
use crate::model::id::Id;
use crate::model::tenant::{Tenant, TenantNo};
use crate::model::time::{Instant, SECOND_MS};

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

/// The tenants of an engine, to be read.
#[derive(Clone, Copy)]
pub struct TenantDirectory<'e>(&'e Engine);

/// A page of a list that is sorted by ids.
#[derive(Clone, Debug, PartialEq)]
pub struct PageById<T> {
    /// Its rows.
    pub rows: Vec<T>,
    /// True if more come after them.
    pub has_more: bool,
}

impl<'e> TenantDirectory<'e> {
    /// Those of an engine.
    #[must_use]
    pub fn of(engine: &'e Engine) -> Self {
        Self(engine)
    }

    /// The number of a tenant, if it is there.
    #[must_use]
    pub fn number(&self, id: &Id) -> Option<TenantNo> {
        self.0.tenant(id).map(|known| known.number)
    }

    /// The number of a tenant for whom a token was issued in a second since 1970, unless it was for one of the same id
    /// that was deleted since.
    #[must_use]
    pub fn of_token(&self, id: &Id, issued_s: i64) -> Option<TenantNo> {
        let known = self.0.tenant(id)?;
        let made_s = known.made.0.div_euclid(SECOND_MS);
        // The clocks of who signs and of the server may differ: of a first tenant a token may seem older.
        let is_of_another = issued_s < made_s && self.0.intake.tenants.was_deleted(id);
        (!is_of_another).then_some(known.number)
    }

    /// The id of a tenant; `None` = it was deleted.
    #[must_use]
    pub fn id(&self, number: TenantNo) -> Option<&'e Id> {
        let known = self.0.intake.tenants.get(number)?;
        Some(&known.id)
    }

    /// The tenants after an id, by the bytes of their ids.
    #[must_use]
    pub fn page(&self, after: Option<&Id>, most: usize) -> PageById<(&'e Id, &'e Tenant)> {
        let known = self.0.tenants(after).filter(|known| Some(known.id) != after);
        let mut rows: Vec<_> =
            known.map(|known| (known.id, known.tenant)).take(most.saturating_add(1)).collect();
        let has_more = rows.len() > most;
        rows.truncate(most);
        PageById { rows, has_more }
    }

    /// Returns true if there are any.
    #[must_use]
    pub fn is_any(&self) -> bool {
        !self.0.intake.tenants.is_empty()
    }

    /// Returns true if somebody is a member. Only the node that has the recipient knows.
    #[must_use]
    pub fn is_member(&self, recipient: &Id, tenant: TenantNo) -> bool {
        let _ = (recipient, tenant);
        false
    }

    /// The members of a tenant after an id, by the bytes of their ids, of those whom this node has.
    #[must_use]
    pub fn members(&self, tenant: TenantNo, after: Option<&Id>, most: usize) -> PageById<&'e Id> {
        let is_after = |id: &&Id| after.is_none_or(|after| *id > after);
        first_of(self.all_members(tenant).filter(is_after), most)
    }

    fn all_members(&self, _: TenantNo) -> impl Iterator<Item = &'e Id> + use<'e> {
        std::iter::empty()
    }
}

impl Reader<'_> {
    /// The number of the tenant of an event; the outer `None` = the event is not known.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn tenant_of_event(&self, event: &Id) -> Result<Option<Option<TenantNo>>, Unreadable> {
        let known = self.known_event(&Draft::new(self.view), event)?;
        Ok(known.map(|known| known.row.tenant))
    }
}

/// The least of some ids. Of a million no more are held than are asked for.
fn first_of<'e>(ids: impl Iterator<Item = &'e Id>, most: usize) -> PageById<&'e Id> {
    let mut least = BTreeSet::new();
    let mut has_more = false;
    for id in ids {
        if least.len() >= most && least.last().is_none_or(|last| id > *last) {
            has_more = true;
            continue;
        }
        least.insert(id);
        if least.len() > most {
            least.pop_last();
            has_more = true;
        }
    }
    PageById { rows: least.into_iter().collect(), has_more }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_ids_are_found_in_any_order() {
        let ids: Vec<Id> = ["d", "a", "c", "b"].into_iter().map(|id| Id::new(id).unwrap()).collect();
        let page = |most| {
            let PageById { rows, has_more } = first_of(ids.iter(), most);
            (rows.into_iter().map(Id::as_str).collect::<Vec<_>>(), has_more)
        };
        assert_eq!(page(2), (vec!["a", "b"], true));
        assert_eq!(page(4), (vec!["a", "b", "c", "d"], false));
        assert_eq!(page(0), (vec![], true));
    }
}
