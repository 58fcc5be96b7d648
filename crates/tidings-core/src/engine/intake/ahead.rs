//! Cancels of events that are not known yet (contract, section 6, "Cancel ahead").
//!
//! A cancel may arrive before its event. It is remembered for a day, by the event's id and the time alone.

use crate::engine::rows::draft::Draft;
use crate::engine::rows::named::each_base;
use crate::journal::stored::{ReadView, Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table, u32_at};
use crate::model::id::Id;
use crate::model::tenant::TenantNo;
use crate::model::time::{DAY_MS, Instant};
use crate::sets::shared::Tree;

/// The ids that were cancelled before they were published, each for one tenant or for all.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlyCancels {
    until: Tree<(Id, Option<TenantNo>), Instant>,
    by_age: Tree<(Instant, (Id, Option<TenantNo>)), ()>,
}

fn key((event, tenant): &(Id, Option<TenantNo>)) -> Vec<u8> {
    let key = Key::of(Owner::Intake, Table::CancelledAhead).u32(TenantNo::raw(*tenant));
    key.bytes(event.as_str().as_bytes()).done()
}

impl EarlyCancels {
    /// Reads what is stored.
    pub(crate) fn recover(view: &dyn ReadView) -> Result<Self, Unreadable> {
        let mut ahead = Self::default();
        each_base(view, Table::CancelledAhead, |key, value| {
            let odd = || Unreadable("the key of a cancel is odd".to_owned());
            let event = key
                .get(REST + 4..)
                .and_then(|id| std::str::from_utf8(id).ok())
                .and_then(|id| Id::new(id).ok())
                .ok_or_else(odd)?;
            let tenant = u32_at(key, REST).ok_or_else(odd)?;
            ahead.note((event, TenantNo::of_raw(tenant)), decode("a cancel", value)?);
            Ok(())
        })?;
        Ok(ahead)
    }

    fn note(&mut self, event: (Id, Option<TenantNo>), until: Instant) {
        if let Some(before) = self.until.insert(event.clone(), until) {
            self.by_age.remove(&(before, event.clone()));
        }
        self.by_age.insert((until, event), ());
    }

    /// Remembers a cancel, and drops those that are too old.
    pub(crate) fn remember(
        &mut self,
        draft: &mut Draft<'_>,
        event: &Id,
        tenant: Option<TenantNo>,
        now: Instant,
    ) {
        while self.by_age.first().is_some_and(|((until, _), ())| *until <= now) {
            let Some(((_, old), ())) = self.by_age.pop_first() else {
                break;
            };
            self.until.remove(&old);
            draft.delete(Partition::Base, key(&old));
        }
        let until = now.plus_ms(DAY_MS);
        let event = (event.clone(), tenant);
        draft.put(Partition::Base, key(&event), encode(&until));
        self.note(event, until);
    }

    /// Returns true if an event of a tenant, or of none, is cancelled that is published now.
    pub(crate) fn has(&self, event: &Id, tenant: Option<TenantNo>, now: Instant) -> bool {
        if self.until.is_empty() {
            return false;
        }
        let holds = |tenant| {
            let until = self.until.get(&(event.clone(), tenant));
            until.is_some_and(|until| now < *until)
        };
        holds(None) || tenant.is_some() && holds(tenant)
    }
}
