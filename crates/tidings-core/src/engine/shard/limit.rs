//! The limit of a tenant on notifications of a day (contract, section 12), in a shard.
//!
//! Shards know recipients, and not how many others have. So an event of a tenant with a limit is asked about first: each
//! shard names the recipients who would be notified.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::admission::once_left_out;
use super::publish::{Routed, Routing, routing};
use super::state::Shard;
use crate::engine::intake::state::Intake;
use crate::engine::rows::act::{Act, Applied};
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::journal::stored::Unreadable;
use crate::model::id::{BucketNo, Id};
use crate::model::number::RecipientNo;

/// Applies an act in a shard, and counts the notifications of a tenant's event.
pub(crate) fn apply(
    shard: &mut Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    act: &Act,
) -> Result<Applied, Unreadable> {
    let applied = shard.apply(intake, draft, act)?;
    if let (Act::Publish { row, .. }, Applied::Published(spread)) = (act, &applied)
        && let Some(tenant) = row.tenant
    {
        let counted = (row.arrived.day(), spread.notifications);
        shard.notified.count(draft, shard.no, tenant, counted)?;
    }
    Ok(applied)
}

/// The recipients of a shard whom an event would notify if there were room for all.
pub(crate) fn would_notify(
    shard: &mut Shard,
    intake: &Intake,
    draft: &Draft<'_>,
    row: &EventRow,
) -> Result<Vec<Id>, Unreadable> {
    let version = shard.version();
    let type_no = shard.compiled.names.type_no(row.event.event_type.as_str());
    let of_type = type_no.zip(version.as_deref()).and_then(|(no, version)| version.of_type(no));
    let Some(of_type) = of_type else {
        return Ok(Vec::new());
    };
    let Routing { routed, .. } = routing(shard, row, of_type);
    let mut ids = Vec::new();
    for (no, mut who) in everybody(&routed) {
        who -= once_left_out(shard, intake, draft, no, row, of_type, &who)?;
        let roster = &shard.buckets[no].roster;
        let profiles = who.iter().filter_map(|number| roster.profile(RecipientNo(number)));
        ids.extend(profiles.map(|profile| profile.id.clone()));
    }
    Ok(ids)
}

fn everybody(routed: &BTreeMap<BucketNo, Routed>) -> Vec<(BucketNo, RoaringBitmap)> {
    let all = |of: &Routed| of.values().fold(RoaringBitmap::new(), |who, set| who | set);
    routed.iter().map(|(no, of)| (*no, all(of))).collect()
}
