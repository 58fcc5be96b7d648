//! Buckets of durations whose bounds grow by a tenth: a duration that is read back is within 5 % of the one counted.
//!
//! The bounds are whole milliseconds, worked out with integers, so that each machine has the same. A library of
//! histograms would bring a form of storage of its own, and counts that can't be negative.

/// Number of buckets. The last one begins beyond a year and has all that is longer.
pub(crate) const BUCKETS: usize = 256;

/// The least duration of each bucket, in milliseconds.
static LEAST: [i64; BUCKETS] = least();

const fn least() -> [i64; BUCKETS] {
    let mut least = [0; BUCKETS];
    let mut at = 1;
    while at < BUCKETS {
        let before = least[at - 1];
        let step = if before < 20 { 1 } else { before / 10 };
        least[at] = before + step;
        at += 1;
    }
    least
}

/// The bucket of a duration in milliseconds; a negative one counts as 0.
pub(crate) fn bucket_of(ms: i64) -> usize {
    LEAST.partition_point(|least| *least <= ms.max(0)).saturating_sub(1)
}

/// The duration in milliseconds that stands for those of a bucket: the middle of its bounds.
pub(crate) fn duration_of(bucket: usize) -> i64 {
    let least = LEAST[bucket.min(BUCKETS - 1)];
    let next = LEAST.get(bucket + 1).map_or(least, |next| next - 1);
    least + (next - least) / 2
}

/// The duration that `percent` of those counted do not exceed, by nearest rank; `None` = none was counted.
pub(crate) fn percentile(counts: &[i64], percent: i64) -> Option<i64> {
    let all: i64 = counts.iter().sum();
    let rank = (all * percent + 99) / 100;
    let mut passed = 0;
    let within = |(_, count): &(usize, &i64)| {
        passed += **count;
        passed >= rank
    };
    if all <= 0 {
        return None;
    }
    counts.iter().enumerate().find(within).map(|(bucket, _)| duration_of(bucket))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::DAY_MS;

    #[test]
    fn a_duration_is_read_back_within_five_percent() {
        assert!(LEAST[BUCKETS - 1] > 366 * DAY_MS);
        let mut ms = 0;
        while ms < LEAST[BUCKETS - 1] {
            let read = duration_of(bucket_of(ms));
            assert!((read - ms).abs() * 20 <= ms, "{ms} was read as {read}");
            ms += 1 + ms / 97;
        }
        assert_eq!(bucket_of(-5), 0);
        assert_eq!(bucket_of(i64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let mut counts = [0; BUCKETS];
        assert_eq!(percentile(&counts, 50), None);
        for ms in 1..=10 {
            counts[bucket_of(ms)] += 1;
        }
        assert_eq!(percentile(&counts, 50), Some(5));
        assert_eq!(percentile(&counts, 95), Some(10));
        assert_eq!(percentile(&counts, 10), Some(1));
    }
}
