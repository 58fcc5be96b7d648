//! The agenda of operators: due lanes by the hour, and scheduled events.

use std::collections::{BTreeMap, BTreeSet};

use super::view::WaitingEntry;
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::Unreadable;
use crate::model::number::{EventNo, LaneNo};
use crate::model::time::{HOUR_MS, Instant};

/// Everything that comes due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agenda {
    /// Open lanes by channel, name and hour.
    pub lanes: Vec<DueLanes>,
    /// Number of messages that are due and not built yet.
    pub unmade: u64,
    /// Number of messages that are built and have no outcome yet.
    pub sending: u64,
    /// Number of scheduled events.
    pub scheduled: u64,
    /// The first scheduled events with recipients, by (t, arrival); one may enter at several instants.
    pub next_scheduled: Vec<WaitingEntry>,
}

/// Lanes of one name that are due within one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueLanes {
    /// The channel.
    pub channel: &'static str,
    /// The lane's name.
    pub lane: String,
    /// Start of the hour (UTC); `None` = never due as things are.
    pub hour: Option<Instant>,
    /// Number of lanes, one per recipient.
    pub recipients: u64,
    /// Number of these that do not close when they are due: unconfirmed, or paused.
    pub held: u64,
}

impl Reader<'_> {
    /// The agenda, with at most `most` of the scheduled events. Open lanes without entries are counted:
    /// they come due and send nothing.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn agenda(&self, most: usize) -> Result<Agenda, Unreadable> {
        let Reader { engine, view } = *self;
        let mut hours: BTreeMap<(LaneNo, Option<i64>), (u64, u64)> = BTreeMap::new();
        let (mut unmade, mut sending) = (0, 0);
        for bucket in engine.shards.buckets() {
            for (no, tenant, lane) in bucket.lanes.iter() {
                let all_held = lane.is_paused() || lane.keeps_paused();
                let terms = bucket.terms(tenant, &engine.intake.compiled);
                lane.deadlines(terms).each(&mut |due, number| {
                    let hour = due.map(|due| due.div_euclid(HOUR_MS));
                    let (count, held) = hours.entry((no, hour)).or_default();
                    *count += 1;
                    let is_held = all_held || bucket.roster.unconfirmed.contains(number);
                    *held += u64::from(is_held);
                });
            }
            for closing in bucket.closings.values() {
                unmade += closing.unmade.len() as u64;
                sending += closing.sending.len();
            }
        }
        let lanes = hours.into_iter().map(|((no, hour), (recipients, held))| {
            let name = engine.intake.compiled.names.lane(no);
            DueLanes {
                channel: name.channel.name(),
                lane: name.name.clone(),
                hour: hour.map(|hour| Instant(hour * HOUR_MS)),
                recipients,
                held,
            }
        });
        let mut lanes: Vec<DueLanes> = lanes.collect();
        lanes.sort_by(|a, b| {
            // What is never due comes last.
            let key = |row: &DueLanes| (row.hour.is_none(), row.hour);
            (key(a), a.channel, &a.lane).cmp(&(key(b), b.channel, &b.lane))
        });
        let (draft, mut next_scheduled) = (Draft::new(view), Vec::new());
        let waits = |at: &&(Instant, EventNo)| {
            let mut buckets = engine.shards.buckets();
            buckets.any(|bucket| bucket.scheduled.contains_key(at))
        };
        let places: BTreeSet<EventNo> =
            engine.intake.scheduled.keys().map(|(_, place)| *place).collect();
        for (t, place) in engine.intake.scheduled.keys().filter(waits).take(most) {
            let (row, _) = engine.intake.scheduled_row(&draft, *t, *place)?;
            let event = row.event;
            next_scheduled.push(WaitingEntry {
                event: event.id,
                event_type: event.event_type,
                tenant: engine.intake.tenants.id(row.tenant).cloned(),
                object: event.object.id,
                t: *t,
            });
        }
        Ok(Agenda { lanes, unmade, sending, scheduled: places.len() as u64, next_scheduled })
    }
}
