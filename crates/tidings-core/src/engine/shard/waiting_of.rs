//! The number of a recipient's entries that wait, which a dry run counts where no record of the step names them.

use roaring::RoaringBitmap;

use super::state::Shard;
use crate::bucket::{FrozenRecipients, WaitingFilter};
use crate::engine::rows::draft::Draft;
use crate::engine::rows::named::scheduled_key;
use crate::journal::stored::{Unreadable, decode};
use crate::journal::table::{Owner, Partition};
use crate::model::batch_key::LaneKey;
use crate::model::number::RecipientAt;

impl Shard {
    /// Number of a recipient's entries in some lanes.
    pub(crate) fn waiting_in(
        &self,
        draft: &Draft<'_>,
        RecipientAt { bucket, number }: RecipientAt,
        lanes: &[LaneKey],
    ) -> Result<u64, Unreadable> {
        let recipients = RoaringBitmap::from_iter([number.0]);
        let waiting = self.buckets[bucket].waiting(draft.view, &self.compiled.names);
        let mut count = 0;
        for lane in lanes {
            let (recipients, lane_key) = (Some(&recipients), Some(lane));
            let filter = WaitingFilter { recipients, lane: lane_key, ..WaitingFilter::default() };
            count += waiting.wanted(lane.lane, filter)?.entries.len() as u64;
        }
        Ok(count)
    }

    /// Number of a recipient's entries that wait for their `t`, in a lane, or for their message to be built.
    pub(crate) fn waiting_of(&self, draft: &Draft<'_>, of: RecipientAt) -> Result<u64, Unreadable> {
        let RecipientAt { bucket: no, number } = of;
        let bucket = &self.buckets[no];
        let waiting = bucket.waiting(draft.view, &self.compiled.names);
        let recipients = RoaringBitmap::from_iter([number.0]);
        let mut count = 0;
        // Of each lane: inbox entries wait until the end of their instant.
        for (lane, _) in self.compiled.names.lanes() {
            count += waiting.in_lane(lane, Some(&recipients))?.entries.len() as u64;
        }
        for (seq, closing) in &bucket.closings {
            if closing.unmade.get(&number.0).is_some() {
                let unmade = waiting.unmade_for(*seq, closing, number.0)?;
                count += unmade.entries.len() as u64;
            }
        }
        for (t, place) in bucket.scheduled.of(number.0) {
            let key = scheduled_key(Owner::Bucket(no), t, place);
            let Some(bytes) = draft.get_chunked(Partition::Base, &key)? else {
                continue;
            };
            let frozen: FrozenRecipients = decode("a scheduled audience", &bytes)?;
            let theirs = frozen.subsets.iter().filter(|of| of.recipients.contains(number.0));
            count += theirs.map(|subset| subset.channels.len() as u64).sum::<u64>();
        }
        Ok(count)
    }
}
