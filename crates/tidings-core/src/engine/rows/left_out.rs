//! Counts of suppressed recipients by event and cause, stored with the day of arrival.

use serde::{Deserialize, Serialize};

use crate::journal::stored::{ReadView, Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, Table};
use crate::model::id::BucketNo;
use crate::model::number::EventNo;
use crate::model::time::Day;
use crate::rules::Admission;

/// A count of recipients that an event left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftOutCount {
    pub(crate) why: Admission,
    pub(crate) recipients: u64,
}

/// A count as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredCount {
    why: StoredCause,
    recipients: u64,
}

/// A cause as it is stored.
#[derive(Serialize, Deserialize)]
enum StoredCause {
    /// The admission of the event's type.
    Admission(Admission),
    /// A daily limit of the event's tenant, which earlier versions had.
    TenantLimit,
}

impl LeftOutCount {
    /// The row of the only count of an event in a bucket.
    pub(crate) fn row(self) -> Vec<u8> {
        let why = StoredCause::Admission(self.why);
        encode(&[StoredCount { why, recipients: self.recipients }].as_slice())
    }
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
) -> Result<Vec<LeftOutCount>, Unreadable> {
    let row = view.get(Partition::Day(arrived), &left_out_key(bucket, place))?;
    row.map_or_else(|| Ok(Vec::new()), |row| read(&row))
}

fn read(row: &[u8]) -> Result<Vec<LeftOutCount>, Unreadable> {
    let counts: Vec<StoredCount> = decode("whom an event left out", row)?;
    let counts = counts.into_iter().filter_map(|StoredCount { why, recipients }| match why {
        StoredCause::Admission(why) => Some(LeftOutCount { why, recipients }),
        StoredCause::TenantLimit => None,
    });
    Ok(counts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_an_earlier_version_is_read_without_what_a_limit_left_out() {
        let of_admission = LeftOutCount { why: Admission::OnceEver, recipients: 3 };
        assert_eq!(read(&of_admission.row()).unwrap(), [of_admission]);
        let earlier = [
            StoredCount { why: StoredCause::Admission(Admission::OnceEver), recipients: 3 },
            StoredCount { why: StoredCause::TenantLimit, recipients: 7 },
        ];
        assert_eq!(read(&encode(&earlier.as_slice())).unwrap(), [of_admission]);
    }
}
