//! Counts of suppressed recipients by event and cause, stored with the day of arrival.

use serde::{Deserialize, Serialize};

use crate::journal::stored::{ReadView, Unreadable, decode};
use crate::journal::table::{Key, Owner, Partition, Table};
use crate::model::id::BucketNo;
use crate::model::number::EventNo;
use crate::model::time::Day;
use crate::rules::LeftOutBy;

/// Number of recipients that an event left out, by cause.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Suppressed {
    pub(crate) by_admission: u64,
    pub(crate) by_limit: u64,
}

/// A stored count of recipients that an event left out.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct LeftOut {
    pub(crate) why: LeftOutBy,
    pub(crate) recipients: u64,
}

pub(crate) fn left_out_key(bucket: BucketNo, place: EventNo) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::LeftOut).u64(place.0).done()
}

/// Reads the counts of an event in a bucket.
pub(crate) fn left_out(
    view: &dyn ReadView,
    bucket: BucketNo,
    arrived: Day,
    place: EventNo,
) -> Result<Vec<LeftOut>, Unreadable> {
    let row = view.get(Partition::Day(arrived), &left_out_key(bucket, place))?;
    let row = row.map(|row| decode("whom an event left out", &row));
    Ok(row.transpose()?.unwrap_or_default())
}
