//! The notifications of a tenant's events that arrived on a day, counted in each shard.
//!
//! Each shard writes its own row with what it counts, so none is lost or counted twice. Whoever asks how many are left
//! adds the rows of all shards up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::rows::draft::Draft;
use crate::journal::stored::{ReadView, Unreadable, decode, each, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table, u16_at};
use crate::model::tenant::TenantNo;
use crate::model::time::Day;
use crate::sets::shared::Own;

/// The notifications of the newest day that had some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Notified {
    day: Day,
    recipients: u64,
}

/// The rows of a shard, as far as they were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct NotifiedRows(Own<BTreeMap<TenantNo, Option<Notified>>>);

fn of_tenant(tenant: TenantNo) -> Key {
    Key::of(Owner::Shard, Table::NotifiedOfTenants).u32(tenant.0.get())
}

fn read(bytes: &[u8]) -> Result<Notified, Unreadable> {
    decode("a tenant's notifications", bytes)
}

/// The notifications of a tenant on a day in other shards than these, as they are stored.
pub(crate) fn elsewhere(
    here: &[u16],
    view: &dyn ReadView,
    tenant: TenantNo,
    day: Day,
) -> Result<u64, Unreadable> {
    let mut sum = 0;
    each(view, Partition::Base, &of_tenant(tenant).done(), |key, value| {
        let notified = read(value)?;
        let is_here = u16_at(key, REST + 4).is_some_and(|shard| here.contains(&shard));
        if notified.day == day && !is_here {
            sum += notified.recipients;
        }
        Ok(())
    })?;
    Ok(sum)
}

impl NotifiedRows {
    /// The notifications of a tenant on a day in the shard of this number.
    pub(crate) fn on(
        &mut self,
        view: &dyn ReadView,
        shard: u16,
        tenant: TenantNo,
        day: Day,
    ) -> Result<u64, Unreadable> {
        let known = self.newest(view, shard, tenant)?;
        Ok(known.filter(|known| known.day == day).map_or(0, |known| known.recipients))
    }

    /// Counts notifications of an event that arrived on a day.
    pub(crate) fn count(
        &mut self,
        draft: &mut Draft<'_>,
        shard: u16,
        tenant: TenantNo,
        (day, recipients): (Day, u64),
    ) -> Result<(), Unreadable> {
        let known = self.newest(draft.view, shard, tenant)?.filter(|known| known.day >= day);
        // One that arrived before midnight may be applied after one of the next day.
        if recipients == 0 || known.is_some_and(|known| known.day > day) {
            return Ok(());
        }
        let recipients = recipients + known.map_or(0, |known| known.recipients);
        let notified = Notified { day, recipients };
        let key = of_tenant(tenant).u16(shard).done();
        draft.put(Partition::Base, key, encode(&notified));
        self.0.insert(tenant, Some(notified));
        Ok(())
    }

    fn newest(
        &mut self,
        view: &dyn ReadView,
        shard: u16,
        tenant: TenantNo,
    ) -> Result<Option<Notified>, Unreadable> {
        if let Some(known) = self.0.get(&tenant) {
            return Ok(*known);
        }
        let stored = view.get(Partition::Base, &of_tenant(tenant).u16(shard).done())?;
        let stored = stored.map(|bytes| read(&bytes)).transpose()?;
        self.0.insert(tenant, stored);
        Ok(stored)
    }
}
