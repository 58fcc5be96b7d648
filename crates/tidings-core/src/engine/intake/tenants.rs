//! Tenants as they are now, by id and by number (contract, section 12).
//!
//! A deleted tenant keeps its number and its id, since its accepted events are kept. Everything with that number is
//! void from then on, so a deletion changes no other rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::replies::refused::Refused;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::named::each_base;
use crate::journal::stored::{ReadView, Unreadable, from_json, to_json};
use crate::journal::table::{Key, Owner, Partition, REST, Table, u32_at};
use crate::model::id::Id;
use crate::model::number::EventNo;
use crate::model::recipient::RecipientChange;
use crate::model::tenant::{KnownTenant, TenantNo, View};
use crate::model::time::Instant;
use crate::sets::shared::Tree;

/// Number of neighbours in the order of ids among which the name that was meant may be.
const NEIGHBOURS: usize = 64;

/// The tenants of a store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tenants {
    /// The numbers of those that were not deleted.
    numbers: Tree<Id, TenantNo>,
    all: Tree<TenantNo, Arc<KnownTenant>>,
    /// The instants at which the last of an id was deleted.
    ended: Tree<Id, Instant>,
}

fn key(number: TenantNo) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Tenants).u32(number.0.get()).done()
}

impl Tenants {
    /// Reads what is stored.
    pub(crate) fn recover(view: &dyn ReadView) -> Result<Self, Unreadable> {
        let mut tenants = Self::default();
        each_base(view, Table::Tenants, |key, value| {
            let number = u32_at(key, REST).and_then(TenantNo::of_raw);
            let number = number.ok_or_else(|| Unreadable("a tenant's key is odd".to_owned()))?;
            tenants.note(number, from_json("a tenant", value)?);
            Ok(())
        })?;
        Ok(tenants)
    }

    /// The tenants that a change of a recipient names, without unknown and deleted ones; `None` = they stay as they are.
    pub(crate) fn memberships(&self, change: &RecipientChange) -> Option<BTreeSet<TenantNo>> {
        let tenants = change.tenants.as_ref()?.iter();
        Some(tenants.filter_map(|id| self.number(id).ok()).collect())
    }

    /// Takes over a tenant as another node has it.
    pub(crate) fn note(&mut self, number: TenantNo, known: KnownTenant) {
        if let Some(at) = known.deleted {
            let last = self.deleted_at(&known.id).map_or(at, |last| last.max(at));
            self.ended.insert(known.id.clone(), last);
            if self.numbers.get(&known.id) == Some(&number) {
                self.numbers.remove(&known.id);
            }
        } else {
            self.numbers.insert(known.id.clone(), number);
        }
        self.all.insert(number, Arc::new(known));
    }

    /// Writes a tenant.
    pub(crate) fn put(&mut self, draft: &mut Draft<'_>, number: TenantNo, known: KnownTenant) {
        draft.put(Partition::Base, key(number), to_json(&known));
        self.note(number, known);
    }

    /// The number that the next new tenant has.
    pub(crate) fn next_number(&self) -> TenantNo {
        let last = self.all.last().map_or(0, |(number, _)| number.0.get());
        TenantNo::of_raw(last.saturating_add(1)).expect("it is above another number")
    }

    /// The number of a tenant.
    ///
    /// # Errors
    /// [`Refused::UnknownTenant`].
    pub(crate) fn number(&self, id: &Id) -> Result<TenantNo, Refused> {
        let number = self.numbers.get(id).copied();
        number.ok_or_else(|| Refused::UnknownTenant { tenant: id.clone(), near: self.near(id) })
    }

    /// The ids next to one in their order, among which a similar name may be.
    fn near(&self, id: &Id) -> Vec<String> {
        let after = self.numbers.from(id).take(NEIGHBOURS).map(|(id, _)| id);
        let first = id.as_str().chars().next().map(String::from);
        let first = first.and_then(|first| Id::new(&first).ok());
        let alike = first.iter().flat_map(|first| self.numbers.from(first).take(NEIGHBOURS));
        let mut near: Vec<String> =
            alike.map(|(id, _)| id).chain(after).map(|id| id.as_str().to_owned()).collect();
        near.dedup();
        near
    }

    /// The tenant of a number; `None` = it was deleted.
    pub(crate) fn get(&self, number: TenantNo) -> Option<&Arc<KnownTenant>> {
        self.all.get(&number).filter(|known| known.deleted.is_none())
    }

    /// Number of those that were deleted.
    pub(crate) fn deletions(&self) -> u64 {
        self.all.len().saturating_sub(self.numbers.len()) as u64
    }

    /// The id of the tenant of an entry, also where it was deleted.
    pub(crate) fn id(&self, number: Option<TenantNo>) -> Option<&Id> {
        self.all.get(&number?).map(|known| &known.id)
    }

    /// Returns true if entries of an event of a tenant are void: the tenant was disabled or deleted after it came.
    pub(crate) fn are_void(&self, tenant: Option<TenantNo>, place: EventNo) -> bool {
        let known = tenant.and_then(|number| self.all.get(&number));
        known.is_some_and(|known| known.deleted.is_some() || place < known.void_before)
    }

    /// A view with its tenant as a number.
    ///
    /// # Errors
    /// [`Refused::UnknownTenant`].
    pub(crate) fn view(&self, view: &View) -> Result<View<TenantNo>, Refused> {
        view.try_map(|id| self.number(id))
    }

    /// The tenants that are not deleted, from an id on, sorted by id.
    pub(crate) fn from(
        &self,
        id: Option<&Id>,
    ) -> impl Iterator<Item = (TenantNo, &KnownTenant)> + use<'_> {
        let numbers = match id {
            Some(id) => self.numbers.from(id),
            None => self.numbers.iter(),
        };
        numbers.filter_map(|(_, number)| Some((*number, &**self.all.get(number)?)))
    }

    /// The deleted tenants.
    pub(crate) fn deleted(&self) -> impl Iterator<Item = TenantNo> {
        let deleted = self.all.iter().filter(|(_, known)| known.deleted.is_some());
        deleted.map(|(number, _)| *number)
    }

    /// The instant at which a tenant of an id was deleted last.
    pub(crate) fn deleted_at(&self, id: &Id) -> Option<Instant> {
        self.ended.get(id).copied()
    }

    /// Returns true if there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}
