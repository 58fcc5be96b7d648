//! The counts of a row of figures: of each slot that was counted, its number.

use super::measure::{SLOTS, Slot};
use crate::codec::{ByteReader, FORM, put_i64, put_u64};
use crate::journal::stored::Unreadable;

/// Counts by slot, ascending, without zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotCounts(Vec<(Slot, i64)>);

impl SlotCounts {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, i64)> {
        self.0.iter().copied()
    }

    /// Adds to one count.
    pub(crate) fn add(&mut self, slot: Slot, count: i64) {
        if count == 0 {
            return;
        }
        match self.0.binary_search_by_key(&slot, |(known, _)| *known) {
            Ok(at) => {
                self.0[at].1 += count;
                if self.0[at].1 == 0 {
                    self.0.remove(at);
                }
            }
            Err(at) => self.0.insert(at, (slot, count)),
        }
    }

    /// Adds other counts to these.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (slot, count) in other.iter() {
            self.add(slot, count);
        }
    }

    /// Number of entries that did not end: those counted less the ended ones.
    pub(crate) fn pending(&self) -> i64 {
        let of = |(slot, count): (Slot, i64)| match slot {
            Slot::ENTRIES => count,
            slot if slot.is_ended() => -count,
            _ => 0,
        };
        self.iter().map(of).sum()
    }

    /// Appends them to a row.
    pub(crate) fn put(&self, row: &mut Vec<u8>) {
        put_u64(row, self.0.len() as u64);
        let mut last = 0;
        for (slot, count) in self.iter() {
            put_u64(row, u64::from(slot.0 - last));
            put_i64(row, count);
            last = slot.0;
        }
    }

    /// Encodes a row of these counts alone.
    pub(crate) fn row(&self) -> Vec<u8> {
        let mut row = vec![FORM];
        self.put(&mut row);
        row
    }

    /// Reads a row of counts.
    ///
    /// # Errors
    /// [`Unreadable`] where it makes no sense.
    pub(crate) fn of_row(row: &[u8]) -> Result<Self, Unreadable> {
        let mut counts = Self::default();
        let mut reader = reader(row)?;
        each(&mut reader, |slot, count| counts.0.push((slot, count)))?;
        reader.end()?;
        Ok(counts)
    }
}

/// A reader of a row of figures, after its form.
///
/// # Errors
/// [`Unreadable`] where it is of another version.
pub(crate) fn reader(row: &[u8]) -> Result<ByteReader<'_>, Unreadable> {
    let mut reader = ByteReader::new(row, "figures");
    let form = reader.byte()?;
    if form == FORM { Ok(reader) } else { Err(reader.corrupt().into()) }
}

/// Reads what [`SlotCounts::put`] wrote. A slot of a later version is left out.
///
/// # Errors
/// [`Unreadable`] where it makes no sense.
pub(crate) fn each(
    reader: &mut ByteReader<'_>,
    mut take: impl FnMut(Slot, i64),
) -> Result<(), Unreadable> {
    let mut last = 0_u64;
    for _ in 0..reader.count()? {
        last = last.saturating_add(reader.u64()?);
        let count = reader.i64()?;
        if let Some(slot) = u16::try_from(last).ok().filter(|slot| usize::from(*slot) < SLOTS) {
            take(Slot(slot), count);
        }
    }
    Ok(())
}

/// Sums of many rows. Few counts are kept as they are; of many rows each slot has a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountSum {
    few: SlotCounts,
    all: Option<Box<[i64]>>,
}

/// Number of different slots from which on each has a place.
const FEW: usize = 48;

impl CountSum {
    pub(crate) fn add(&mut self, slot: Slot, count: i64) {
        if let Some(all) = &mut self.all {
            all[usize::from(slot.0)] += count;
            return;
        }
        self.few.add(slot, count);
        if self.few.0.len() > FEW {
            let mut all = vec![0; SLOTS].into_boxed_slice();
            for (slot, count) in std::mem::take(&mut self.few).iter() {
                all[usize::from(slot.0)] = count;
            }
            self.all = Some(all);
        }
    }

    pub(crate) fn add_all(&mut self, counts: &SlotCounts) {
        counts.iter().for_each(|(slot, count)| self.add(slot, count));
    }

    /// Adds another sum to this one.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_all(&other.few);
        for (slot, count) in (0..).zip(other.all.iter().flatten()) {
            if *count != 0 {
                self.add(Slot(slot), *count);
            }
        }
    }

    /// The counts of all slots.
    pub(crate) fn dense(self) -> Box<[i64]> {
        self.all.unwrap_or_else(|| {
            let mut all = vec![0; SLOTS].into_boxed_slice();
            for (slot, count) in self.few.iter() {
                all[usize::from(slot.0)] = count;
            }
            all
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_come_back_and_sums_are_sums(
            all in proptest::collection::vec((0..SLOTS as u16, -5_i64..1_000_000), 0..200)
        ) {
            let (mut counts, mut sum) = (SlotCounts::default(), CountSum::default());
            let mut naive = vec![0; SLOTS];
            for (slot, count) in all {
                counts.add(Slot(slot), count);
                sum.add(Slot(slot), count);
                naive[usize::from(slot)] += count;
            }
            prop_assert_eq!(SlotCounts::of_row(&counts.row()).unwrap(), counts.clone());
            prop_assert_eq!(&*sum.dense(), &naive[..]);
            let mut twice = counts.clone();
            twice.add_all(&counts);
            prop_assert!(twice.iter().all(|(slot, count)| count == 2 * naive[usize::from(slot.0)]));
        }
    }

    #[test]
    fn what_is_counted_and_taken_back_is_nothing() {
        let mut counts = SlotCounts::default();
        counts.add(Slot::ENTRIES, 3);
        counts.add(Slot::ended(crate::model::reason::Outcome::Delivered), 1);
        assert_eq!(counts.pending(), 2);
        counts.add(Slot::ENTRIES, -3);
        counts.add(Slot::ended(crate::model::reason::Outcome::Delivered), -1);
        assert!(counts.is_empty());
        assert!(SlotCounts::of_row(&[99, 0]).is_err() && SlotCounts::of_row(&[FORM, 5]).is_err());
    }
}
