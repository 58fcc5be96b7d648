//! The message that a recipient gets next, as it would be built if nothing happened until it is due.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use crate::engine::message::plan::{Plan, PlannedMessage};
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::reply::StepError;
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::id::Id;
use crate::model::number::{RecipientAt, Seq};
use crate::model::time::Instant;

impl Reader<'_> {
    /// The message of the lane of a channel, or of this name, that is due first, after its checks as of now; `None` where nothing
    /// waits that will be due. Reads only: what is planned is not to be recorded.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient is unknown.
    pub fn next_message(
        &self,
        id: &Id,
        channel: ChannelNo,
        now: Instant,
        lane: Option<&str>,
    ) -> Result<Option<(Plan, PlannedMessage)>, StepError> {
        let Reader { engine, view } = *self;
        let RecipientAt { bucket: at, number } = engine.find(id)?;
        let bucket = engine.shards.bucket(at);
        let recipients = RoaringBitmap::from_iter([number.0]);
        let compiled = &engine.intake.compiled;
        let names = &compiled.names;
        let mut first: Option<(Instant, LaneKey)> = None;
        for no in bucket.lanes.numbers() {
            let name = names.lane(no);
            if name.channel != channel || lane.is_some_and(|lane| lane != name.name) {
                continue;
            }
            let found = bucket.waiting(view, names).in_lane(no, Some(&recipients))?;
            let addresses: BTreeSet<LaneKey> = found
                .entries
                .iter()
                .map(|entry| {
                    let arrival = &found.source(entry.source).0.arrival;
                    names.address(no, &arrival.keys, arrival.tenant)
                })
                .collect();
            for lane in addresses {
                let open = bucket.lanes.get(&lane);
                let terms = bucket.terms(lane.tenant, compiled);
                let due = open.and_then(|open| open.deadlines(terms).of(number.0));
                let Some(due) = due.map(Instant) else {
                    continue;
                };
                if first.as_ref().is_none_or(|(at, _)| due < *at) {
                    first = Some((due, lane));
                }
            }
        }
        let Some((due, lane)) = first else {
            return Ok(None);
        };
        let mut found = bucket.waiting(view, names).in_lane(lane.lane, Some(&recipients))?;
        let mut entries = std::mem::take(&mut found.entries);
        entries.retain(|entry| {
            let arrival = &found.source(entry.source).0.arrival;
            names.address(lane.lane, &arrival.keys, arrival.tenant) == lane
        });
        found.entries = entries;
        found.sort();
        let plan = engine.planner(view).plan_of(
            bucket.closing_id(Seq::default()),
            &lane,
            // An overdue window, of a paused channel for instance, would be sent now: its checks go by now.
            due.max(now),
            due.max(now),
            found,
        )?;
        let draft = Draft::new(view);
        let answers = engine.planner(view).answers(&draft, bucket, &plan)?;
        let planned = engine.planner(view).planned(&draft, bucket, &recipients, &plan, &answers)?;
        let planned = planned.into_iter().next();
        Ok(planned.map(|planned| (plan, planned)))
    }
}
