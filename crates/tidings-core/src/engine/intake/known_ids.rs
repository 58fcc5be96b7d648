//! The event ids that each day may hold, so that a publish does not look into every day.
//!
//! The current day keeps the hash of each id: some 16 bytes an event. A day that is over is sealed into a filter of 10
//! bits an event, which never misses an id and has one false positive in a hundred, each of which costs a read of the
//! store. It is written into the day and deleted with it.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::FORM;
use crate::engine::rows::draft::Draft;
use crate::journal::chunks;
use crate::journal::stored::{ReadView, Unreadable, body, each};
use crate::journal::table::{Key, Owner, Partition, REST, Table};
use crate::model::id::Id;
use crate::model::time::Day;
use crate::sets::shared::{Shared, Tree};

const BITS_PER_ID: usize = 10;
/// Number of bits that an id sets: the optimum for this number of bits per id.
const PROBES: u64 = 7;

/// The ids of the days that are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownIds(BTreeMap<Day, DayIds>);

#[derive(Clone, Debug)]
enum DayIds {
    /// The hash of each id.
    Exact(Tree<u64, ()>),
    Sealed(Shared<BloomFilter>),
}

fn filter_key() -> Vec<u8> {
    Key::of(Owner::Intake, Table::IdFilter).done()
}

fn hash(id: &[u8]) -> u64 {
    xxh3_64(id)
}

impl KnownIds {
    /// Reads the filters of the kept days; a day that is not sealed is read through.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn recover(view: &dyn ReadView, held: &[Day]) -> Result<Self, Unreadable> {
        let mut known = Self::default();
        let prefix = Key::of(Owner::Intake, Table::Ids).done();
        for day in held {
            let partition = Partition::Day(*day);
            let of_day = match chunks::get(view, partition, &filter_key())? {
                Some(bytes) => DayIds::Sealed(Shared::new(BloomFilter::read(&bytes)?)),
                None => {
                    let mut hashes = Tree::new();
                    each(view, partition, &prefix, |key, _| {
                        hashes.insert(hash(&key[REST..]), ());
                        Ok(())
                    })?;
                    DayIds::Exact(hashes)
                }
            };
            known.0.insert(*day, of_day);
        }
        Ok(known)
    }

    /// Adds an id of today, and seals the days before.
    pub(crate) fn note(&mut self, draft: &mut Draft<'_>, today: Day, id: &Id) {
        if self.0.last_key_value().is_none_or(|(day, _)| *day < today) {
            for (day, of_day) in &mut self.0 {
                if let DayIds::Exact(hashes) = of_day {
                    let filter = BloomFilter::of(hashes);
                    draft.put_chunked(Partition::Day(*day), filter_key(), &filter.bytes());
                    *of_day = DayIds::Sealed(Shared::new(filter));
                }
            }
        }
        let of_day = self.0.entry(today).or_insert_with(|| DayIds::Exact(Tree::new()));
        let hash = hash(id.as_str().as_bytes());
        match of_day {
            DayIds::Exact(hashes) => {
                hashes.insert(hash, ());
            }
            DayIds::Sealed(filter) => filter.add(hash),
        }
    }

    /// The days that may hold an id, newest first.
    pub(crate) fn days_of(&self, id: &Id) -> impl Iterator<Item = Day> {
        let hash = hash(id.as_str().as_bytes());
        let holds = move |of_day: &DayIds| match of_day {
            DayIds::Exact(hashes) => hashes.contains_key(&hash),
            DayIds::Sealed(filter) => filter.may_hold(hash),
        };
        self.0.iter().rev().filter(move |(_, of_day)| holds(of_day)).map(|(day, _)| *day)
    }

    pub(crate) fn forget(&mut self, day: Day) {
        self.0.remove(&day);
    }
}

/// A Bloom filter of hashes.
#[derive(Clone, Debug)]
struct BloomFilter(Vec<u64>);

impl BloomFilter {
    fn of(hashes: &Tree<u64, ()>) -> Self {
        let words = (hashes.len() * BITS_PER_ID).div_ceil(64).max(1);
        let mut filter = Self(vec![0; words]);
        for hash in hashes.keys() {
            filter.add(*hash);
        }
        filter
    }

    fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let (words, rest) = body("a filter of event ids", bytes)?.as_chunks::<8>();
        if words.is_empty() || !rest.is_empty() {
            return Err(Unreadable("a filter of event ids is odd".to_owned()));
        }
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        Ok(Self(words.collect()))
    }

    fn bytes(&self) -> Vec<u8> {
        let words = self.0.iter().flat_map(|word| word.to_le_bytes());
        std::iter::once(FORM).chain(words).collect()
    }

    fn add(&mut self, hash: u64) {
        for bit in self.bits(hash) {
            self.0[bit / 64] |= 1 << (bit % 64);
        }
    }

    fn may_hold(&self, hash: u64) -> bool {
        self.bits(hash).all(|bit| self.0[bit / 64] >> (bit % 64) & 1 == 1)
    }

    fn bits(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let len = self.0.len() as u64 * 64;
        let step = hash.rotate_left(32) | 1;
        (0..PROBES).map(move |probe| {
            let bit = hash.wrapping_add(probe.wrapping_mul(step)) % len;
            usize::try_from(bit).expect("a bit of a filter in memory has a place in memory")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_holds_what_was_added_and_little_else() {
        let hashes = |from: u32| (from..from + 10_000).map(|n| hash(&n.to_be_bytes()));
        let filter = BloomFilter::of(&hashes(0).map(|hash| (hash, ())).collect());
        let filter = BloomFilter::read(&filter.bytes()).unwrap();
        assert!(hashes(0).all(|hash| filter.may_hold(hash)));
        let wrong = hashes(20_000).filter(|hash| filter.may_hold(*hash)).count();
        assert!(wrong < 200, "{wrong} of 10,000");
        assert!(BloomFilter::read(&[]).is_err());
        assert!(BloomFilter::read(&[0; 9]).is_err());
    }
}
