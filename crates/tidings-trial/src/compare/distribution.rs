//! A distribution: the number of occurrences of each value, and its statistics.

use std::collections::BTreeMap;
use std::ops::Range;

/// Whole numbers, each with how often it occurred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    counts: BTreeMap<i64, u64>,
    total: u64,
}

impl Distribution {
    /// Adds a value that occurred so often.
    pub fn add(&mut self, value: i64, times: u64) {
        if times > 0 {
            *self.counts.entry(value).or_default() += times;
            self.total += times;
        }
    }

    /// Number of values.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The sum of all values.
    #[must_use]
    pub fn sum(&self) -> i128 {
        self.counts.iter().map(|(value, times)| i128::from(*value) * i128::from(*times)).sum()
    }

    /// The mean, rounded to thousandths; `None` without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let total = i128::from(self.total);
        let thousandths = (self.sum() * 2000 + total).checked_div(2 * total)?;
        // Exact up to 2^53 thousandths.
        Some(thousandths as f64 / 1000.0)
    }

    /// The smallest value that a percentage of values does not exceed; `None` without values.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Option<i64> {
        let rank = (u128::from(self.total) * u128::from(percent)).div_ceil(100);
        let mut passed = 0;
        for (value, times) in &self.counts {
            passed += u128::from(*times);
            if passed >= rank.max(1) {
                return Some(*value);
            }
        }
        None
    }

    /// The greatest value.
    #[must_use]
    pub fn max(&self) -> Option<i64> {
        self.counts.last_key_value().map(|(value, _)| *value)
    }

    /// Number of values within a range.
    #[must_use]
    pub fn within(&self, range: Range<i64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        self.counts.range(range).map(|(_, times)| *times).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[i64]) -> Distribution {
        let mut all = Distribution::default();
        values.iter().for_each(|value| all.add(*value, 1));
        all
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let few = of(&[1, 2, 3, 4]);
        assert_eq!(few.percentile(50), Some(2));
        assert_eq!(few.percentile(95), Some(4));
        assert_eq!((few.percentile(0), few.max()), (Some(1), Some(4)));
        let mut many = of(&[7]);
        many.add(0, 19);
        assert_eq!((many.percentile(95), many.percentile(96)), (Some(0), Some(7)));
        assert_eq!(many.within(0..7), 19);
        assert_eq!((many.within(7..7), many.total()), (0, 20));
    }

    #[test]
    fn means_are_rounded_to_thousandths() {
        assert_eq!(of(&[1, 2]).mean(), Some(1.5));
        assert_eq!(of(&[0, 0, 1]).mean(), Some(0.333));
        assert_eq!(of(&[0, 1, 1]).mean(), Some(0.667));
    }

    #[test]
    fn nothing_has_no_middle() {
        let none = Distribution::default();
        assert_eq!((none.mean(), none.percentile(50), none.max()), (None, None, None));
    }
}
