//! The message that a recipient gets next, as it would be built if nothing happened until it is due.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use crate::bucket::Bucket;
use crate::engine::message::plan::{Plan, PlannedMessage};
use crate::engine::read::reader::Reader;
use crate::engine::replies::refused::StepError;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::Unreadable;
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::id::Id;
use crate::model::number::{RecipientAt, RecipientNo, Seq};
use crate::model::time::Instant;

impl Reader<'_> {
    /// The message of the lane of a channel, or of this name, that is due first and has entries left after its checks as
    /// of now; `None` where nothing waits that will be sent. Reads only: what is planned is not to be recorded.
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
        let RecipientAt { bucket, number } = self.engine.find(id)?;
        let bucket = self.engine.shards.bucket(bucket);
        let waiter = Waiter { reader: *self, bucket, number };
        for (due, lane) in waiter.due_lanes(channel, lane)? {
            // An overdue window, of a paused channel for instance, would be sent now: its checks go by now.
            let next = waiter.planned_of(&lane, due.max(now))?;
            if let Some((plan, planned)) = next.filter(|(_, planned)| !planned.is_empty()) {
                return Ok(Some((plan, planned)));
            }
        }
        Ok(None)
    }
}

/// A recipient for whom something waits.
struct Waiter<'a> {
    reader: Reader<'a>,
    bucket: &'a Bucket,
    number: RecipientNo,
}

impl Waiter<'_> {
    /// The lanes of a channel in which something waits that will be due, the first to be due first.
    fn due_lanes(
        &self,
        channel: ChannelNo,
        lane: Option<&str>,
    ) -> Result<Vec<(Instant, LaneKey)>, Unreadable> {
        let Self { reader: Reader { engine, view }, bucket, number } = *self;
        let recipients = RoaringBitmap::from_iter([number.0]);
        let compiled = &engine.intake.compiled;
        let names = &compiled.names;
        let mut lanes = Vec::new();
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
            lanes.extend(addresses.into_iter().filter_map(|lane| {
                let open = bucket.lanes.get(&lane);
                let terms = bucket.terms(lane.tenant, compiled);
                let due = open.and_then(|open| open.deadlines(terms).of(number.0))?;
                Some((Instant(due), lane))
            }));
        }
        // Of one instant the first found is the first.
        lanes.sort_by_key(|(due, _)| *due);
        Ok(lanes)
    }

    /// The message that a lane becomes at an instant, with its checks as of then.
    fn planned_of(
        &self,
        lane: &LaneKey,
        at: Instant,
    ) -> Result<Option<(Plan, PlannedMessage)>, Unreadable> {
        let Self { reader: Reader { engine, view }, bucket, number } = *self;
        let recipients = RoaringBitmap::from_iter([number.0]);
        let names = &engine.intake.compiled.names;
        let mut found = bucket.waiting(view, names).in_lane(lane.lane, Some(&recipients))?;
        let mut entries = std::mem::take(&mut found.entries);
        entries.retain(|entry| {
            let arrival = &found.source(entry.source).0.arrival;
            names.address(lane.lane, &arrival.keys, arrival.tenant) == *lane
        });
        found.entries = entries;
        found.sort();
        let closing = bucket.closing_id(Seq::default());
        let plan = engine.planner(view).plan_of(closing, lane, at, at, found)?;
        let draft = Draft::new(view);
        let answers = engine.planner(view).answers(&draft, bucket, &plan)?;
        let planned = engine.planner(view).planned(&draft, bucket, &recipients, &plan, &answers)?;
        let planned = planned.into_iter().next();
        Ok(planned.map(|planned| (plan, planned)))
    }
}
