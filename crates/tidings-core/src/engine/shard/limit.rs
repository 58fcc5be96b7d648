//! The limit of a tenant on notifications of a day (contract, section 12).
//!
//! The intake knows how many are left, and no recipient; shards know recipients, and not how many others have. So an
//! event of a tenant with a limit is asked about first: each shard names the recipients who would be notified, the first
//! of all by the bytes of their ids are taken, and the event is applied to nobody beyond the last of these. With shards
//! on other nodes each shard takes the first of its own.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::admission::once_left_out;
use super::publish::{Routed, Routing, routing};
use super::state::Shard;
use crate::engine::intake::state::Intake;
use crate::engine::rows::act::{Act, Applied};
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::engine::rows::room::Room;
use crate::journal::stored::Unreadable;
use crate::model::id::{BucketNo, Id};
use crate::model::number::RecipientNo;

/// Applies an act in a shard. Where a number is left to an event, the room is for the first of the shard.
pub(crate) fn apply(
    shard: &mut Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    act: &Act,
) -> Result<Applied, Unreadable> {
    let Act::Publish { row, at, profiles, room: Room::ForFirst(left), .. } = act else {
        return shard.apply(intake, draft, act);
    };
    shard.take_profiles(intake, draft, profiles)?;
    let mut would = would_notify(shard, intake, draft, row)?;
    would.sort_unstable();
    let (row, at, profiles) = (row.clone(), *at, profiles.clone());
    let room = Room::of(&would, *left);
    let act = Act::Publish { row, at, profiles, room, ignored: Vec::new() };
    shard.apply(intake, draft, &act)
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
