//! The recipients in the audience of an event who got no entry: sets by reason, stored with the day of arrival. Whoever has an
//! entry on one channel at least is found by that.

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use crate::journal::chunks;
use crate::journal::stored::{ReadView, Unreadable, decode, each, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table, u64_at};
use crate::model::channel::ChannelNo;
use crate::model::id::BucketNo;
use crate::model::number::EventNo;
use crate::model::time::Day;
use crate::sets::set::Set;

/// A reason for which a recipient has no entry. Stored: grows at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NotReachedReason {
    /// They chose so, or a default did.
    Preference,
    /// An entry of the type was pending.
    OncePending,
    /// An entry of the type was pending or delivered before.
    OnceEver,
}

impl NotReachedReason {
    /// All reasons.
    pub const ALL: [Self; 3] = [Self::Preference, Self::OncePending, Self::OnceEver];

    /// The word of the reason.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Preference => "preference",
            Self::OncePending => "once_pending",
            Self::OnceEver => "once_ever",
        }
    }
}

/// Recipients without an entry for the same reason.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NotReachedSet {
    pub(crate) why: NotReachedReason,
    /// The channels that they would have had entries on; on the others they have none for their preferences.
    pub(crate) channels: Vec<ChannelNo>,
    pub(crate) recipients: Set,
}

/// The sets of an event in a bucket.
pub(crate) type NotReachedSets = Vec<NotReachedSet>;

impl NotReachedSet {
    /// The reason why there is no entry on a channel.
    pub(crate) fn why_on(&self, channel: ChannelNo) -> NotReachedReason {
        if self.channels.contains(&channel) { self.why } else { NotReachedReason::Preference }
    }
}

fn not_reached_key(bucket: BucketNo, place: EventNo) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::NotReached).u64(place.0).done()
}

/// Writes who was not reached.
pub(crate) fn put_not_reached(
    draft: &mut Draft<'_>,
    arrived: Day,
    bucket: BucketNo,
    place: EventNo,
    sets: &NotReachedSets,
) {
    let partition = Partition::Day(arrived);
    draft.put_chunked(partition, not_reached_key(bucket, place), &encode(sets));
}

/// Reads who was not reached.
pub(crate) fn not_reached(
    view: &dyn ReadView,
    arrived: Day,
    bucket: BucketNo,
    place: EventNo,
) -> Result<NotReachedSets, Unreadable> {
    let key = not_reached_key(bucket, place);
    let row = chunks::get(view, Partition::Day(arrived), &key)?;
    row.map_or_else(|| Ok(Vec::new()), |row| decode("whom an event did not reach", &row))
}

/// The places of a day's events that have not reached a recipient who was in their audience.
pub(crate) fn not_reaching(
    view: &dyn ReadView,
    day: Day,
    bucket: BucketNo,
    number: u32,
) -> Result<Vec<EventNo>, Unreadable> {
    let prefix = Key::of(Owner::Bucket(bucket), Table::NotReached).done();
    let mut places = Vec::new();
    each(view, Partition::Day(day), &prefix, |key, row| {
        let place = u64_at(key, REST).map(EventNo);
        let place = place.ok_or_else(|| Unreadable("a key of an event is odd".to_owned()))?;
        let row = chunks::whole(key, row, |key| view.get(Partition::Day(day), key))?;
        let sets: NotReachedSets = decode("whom an event did not reach", &row)?;
        if sets.iter().any(|of| of.recipients.contains(number)) {
            places.push(place);
        }
        Ok(())
    })?;
    Ok(places)
}
