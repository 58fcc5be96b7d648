//! The limit of a tenant on notifications of a day, in the shards of a node.
//!
//! Of an event the first by the bytes of their ids are taken for whom there is room. With shards on other nodes each node
//! takes the first of its own, in the room that all shards together have left, as it is stored when the node applies the
//! event.

use super::rows::act::Act;
use super::rows::draft::Draft;
use super::rows::notified::elsewhere;
use super::rows::room::Room;
use super::shard::limit::would_notify;
use super::shard::state::Shard;
use super::state::Engine;
use crate::journal::stored::Unreadable;
use crate::model::id::Id;
use crate::model::tenant::TenantNo;
use crate::model::time::Day;

/// An act as it is applied here, if its event is limited: with the room for recipients of these shards.
pub(super) fn limited(
    engine: &mut Engine,
    draft: &mut Draft<'_>,
    act: &Act,
    applies: impl Fn(&Shard) -> bool + Sync,
) -> Result<Option<Act>, Unreadable> {
    let Act::Publish { row, at, profiles, room: Room::Within(limit), .. } = act else {
        return Ok(None);
    };
    let Some(tenant) = row.tenant else {
        return Ok(None);
    };
    let notified = notified(engine, draft, tenant, row.arrived.day())?;
    let would = engine.shards.each(&engine.intake, draft, false, |intake, shard, draft| {
        if !applies(shard) {
            return Ok(Vec::new());
        }
        shard.take_profiles(intake, draft, profiles)?;
        would_notify(shard, intake, draft, row)
    })?;
    let mut would: Vec<Id> = would.into_iter().flatten().collect();
    would.sort_unstable();
    let room = Room::of(&would, limit.saturating_sub(notified));
    let (row, at, profiles) = (row.clone(), *at, profiles.clone());
    Ok(Some(Act::Publish { row, at, profiles, room }))
}

/// The notifications of a tenant on a day in all shards.
fn notified(
    engine: &mut Engine,
    draft: &Draft<'_>,
    tenant: TenantNo,
    day: Day,
) -> Result<u64, Unreadable> {
    let here = engine.replica().shard_numbers();
    let mut sum = 0;
    if here.len() < usize::from(engine.of_shards) {
        sum = elsewhere(&here, draft.view, tenant, day)?;
    }
    for shard in engine.shards.iter_mut() {
        sum += shard.notified.on(draft.view, shard.no, tenant, day)?;
    }
    Ok(sum)
}

/// Has an event know the limit of its tenant.
pub(super) fn with_limit(engine: &Engine, act: Act) -> Act {
    match act {
        Act::Publish { row, at, profiles, room: Room::ForAll } => {
            let limit = row.tenant.and_then(|tenant| engine.intake.tenants.limit(tenant));
            let room = limit.map_or(Room::ForAll, Room::Within);
            Act::Publish { row, at, profiles, room }
        }
        act => act,
    }
}
