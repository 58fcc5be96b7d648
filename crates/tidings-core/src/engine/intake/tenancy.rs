//! Commands that create, change and delete tenants, and the tenant of an event.

use std::collections::BTreeMap;

use super::accept::IntakeDecision;
use super::state::Intake;
use crate::engine::acts::act::{Act, CancelledEvents};
use crate::engine::change_log::fields;
use crate::engine::replies::refused::{Refused, StepError};
use crate::engine::replies::reply::Reply;
use crate::engine::rows::draft::Draft;
use crate::engine::shard::prefer::check_defaults;
use crate::journal::stored::{Unreadable, each, encode, to_json};
use crate::journal::table::{Key, Owner, Partition, REST, Table, i64_at, u64_at};
use crate::model::event::Event;
use crate::model::id::Id;
use crate::model::limits::{GrowingValue, TooLarge};
use crate::model::number::EventNo;
use crate::model::tenant::{KnownTenant, Tenant, TenantChange, TenantNo};
use crate::model::time::Instant;
use crate::rules::UnknownTenant;

/// The key under which a scheduled event of a tenant is found by it.
pub(super) fn scheduled_of(tenant: TenantNo, t: Instant, place: EventNo) -> Vec<u8> {
    of_tenant(tenant).i64(t.0).u64(place.0).done()
}

fn of_tenant(tenant: TenantNo) -> Key {
    Key::of(Owner::Intake, Table::ScheduledOfTenants).u32(tenant.0.get())
}

/// Refuses a tenant that is too long for a row: the intake has one of it as a whole, each bucket one of its terms.
fn check_size(after: &KnownTenant, row_bytes: usize) -> Result<(), TooLarge> {
    let bytes = to_json(after).len().max(encode(&after.tenant.terms()).len());
    TooLarge::check(GrowingValue::Tenant, bytes, row_bytes)
}

impl Intake {
    /// Refuses whatever names a tenant where tenants are not configured.
    pub(crate) fn check_tenants_on(&self) -> Result<(), Refused> {
        let is_on = self.rules().is_some_and(|rules| rules.tenants.is_some());
        if is_on { Ok(()) } else { Err(Refused::TenantsOff) }
    }

    /// The number of a tenant that a command names.
    ///
    /// # Errors
    /// [`Refused::TenantsOff`], [`Refused::UnknownTenant`].
    pub(crate) fn tenant_no(&self, id: &Id) -> Result<TenantNo, Refused> {
        self.check_tenants_on()?;
        self.tenants.number(id)
    }

    /// The tenant of an event that is published now. With `unknown = "make"` an unknown tenant is created.
    pub(super) fn tenant_of(
        &mut self,
        draft: &mut Draft<'_>,
        event: &Event,
    ) -> Result<Option<TenantNo>, Refused> {
        let Some(id) = &event.tenant else {
            return Ok(None);
        };
        self.check_tenants_on()?;
        let number = match self.tenants.number(id) {
            Ok(number) => number,
            Err(_) if self.makes_unknown() => {
                let number = self.tenants.next_number();
                let known = KnownTenant::new(id.clone(), Tenant::default(), self.now);
                self.put_tenant(draft, number, &known);
                number
            }
            Err(_) if self.tenants.deleted_at(id).is_some() => {
                return Err(Refused::TenantGone(id.clone()));
            }
            Err(refused) => return Err(refused),
        };
        match self.tenants.get(number) {
            Some(known) if !known.tenant.disabled => Ok(Some(number)),
            _ => Err(Refused::TenantGone(id.clone())),
        }
    }

    fn makes_unknown(&self) -> bool {
        let rules = self.rules().and_then(|rules| rules.tenants);
        rules.is_some_and(|rules| rules.unknown == UnknownTenant::Make)
    }

    /// Writes a tenant that nothing in a shard depends on yet.
    fn put_tenant(&mut self, draft: &mut Draft<'_>, number: TenantNo, known: &KnownTenant) {
        self.tenants.put(draft, number, known.clone());
        draft.log(|| Act::Tenant {
            number,
            known: Box::new(known.clone()),
            void: CancelledEvents::new(),
        });
    }

    /// Makes or changes a tenant.
    pub(super) fn accept_tenant(
        &mut self,
        draft: &mut Draft<'_>,
        id: &Id,
        change: &TenantChange,
    ) -> Result<IntakeDecision, StepError> {
        self.check_tenants_on()?;
        self.limits().check_data(change.data.iter().flatten())?;
        let known = match self.tenants.number(id) {
            Ok(number) => self.tenants.get(number).map(|known| (number, KnownTenant::clone(known))),
            Err(_) => None,
        };
        let tenant = change.of(known.as_ref().map(|(_, known)| &known.tenant));
        check_defaults(self.rules(), &tenant.preferences)?;
        draft.noted.note_fields(|| {
            let known = known.as_ref().map(|(_, known)| &known.tenant);
            fields::tenant(known, Some(&tenant))
        });
        let (number, mut after) = match known {
            Some((_, known)) if known.tenant == tenant => {
                return Ok(IntakeDecision::Answered(Reply::Done));
            }
            Some((number, known)) => (number, KnownTenant { tenant, ..known }),
            None => {
                let known = KnownTenant::new(id.clone(), tenant, self.now);
                (self.tenants.next_number(), known)
            }
        };
        check_size(&after, self.row_bytes)?;
        let mut void = CancelledEvents::new();
        if after.tenant.disabled {
            // Events up to here stay void if the tenant is enabled again.
            after.void_before = self.next_place;
            void = self.take_scheduled_of(draft, number)?;
        }
        self.tenants.put(draft, number, after.clone());
        Ok(IntakeDecision::Act(Act::Tenant { number, known: Box::new(after), void }))
    }

    /// Deletes a tenant.
    pub(super) fn delete_tenant(
        &mut self,
        draft: &mut Draft<'_>,
        id: &Id,
    ) -> Result<IntakeDecision, StepError> {
        self.check_tenants_on()?;
        let number = self.tenants.number(id)?;
        let void = self.take_scheduled_of(draft, number)?;
        let before = self.tenants.get(number);
        draft.noted.note_fields(|| fields::tenant(before.map(|known| &known.tenant), None));
        let known = before.map_or(self.now, |known| known.made);
        // Events of it are kept, and name it; nothing else of it is needed.
        let after = KnownTenant {
            id: id.clone(),
            tenant: Tenant::default(),
            made: known,
            void_before: self.next_place,
            deleted: Some(self.now),
        };
        self.tenants.put(draft, number, after.clone());
        Ok(IntakeDecision::Act(Act::Tenant { number, known: Box::new(after), void }))
    }

    /// Takes the scheduled events of a tenant out of the schedule.
    fn take_scheduled_of(
        &mut self,
        draft: &mut Draft<'_>,
        number: TenantNo,
    ) -> Result<CancelledEvents, Unreadable> {
        let prefix = of_tenant(number).done();
        let mut rows: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
        each(draft.view, Partition::Base, &prefix, |key, _| {
            rows.insert(key.to_vec(), true);
            Ok(())
        })?;
        for (key, value) in draft.written(Partition::Base, &prefix) {
            rows.insert(key.to_vec(), value.is_some());
        }
        let mut events = CancelledEvents::new();
        for key in rows.into_iter().filter_map(|(key, is_there)| is_there.then_some(key)) {
            let t = i64_at(&key, REST + 4).map(Instant);
            let place = u64_at(&key, REST + 12).map(EventNo);
            let (t, place) = t.zip(place).ok_or_else(|| {
                Unreadable("the key of a tenant's scheduled event is odd".to_owned())
            })?;
            events.entry(place).or_default().waits_for.insert(t);
        }
        self.unschedule(draft, &events)?;
        Ok(events)
    }
}
