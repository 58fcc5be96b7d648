//! Tests with random steps, compared with a map.

use std::collections::BTreeMap;

use super::{Fixture, Harness, Rows, all, answered, get, range, snapshot};
use crate::{Partition, Snapshot, Write};
use tidings_core::Day;

/// Fixed seeds, so that every run is the same.
const SEEDS: [u64; 6] = [1, 2, 3, 5, 8, 13];
const STEPS: usize = 150;

type StoreModel = BTreeMap<Partition, BTreeMap<Vec<u8>, Vec<u8>>>;

pub(super) fn random_steps_agree_with_a_map(harness: &dyn Harness) {
    for seed in SEEDS {
        RandomRun::new(seed, harness.fresh()).play();
    }
}

/// The `SplitMix64` sequence.
struct SplitMixRandom(u64);

impl SplitMixRandom {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn byte(&mut self, sides: u64) -> u8 {
        u8::try_from(self.roll(sides.min(256))).unwrap_or(0)
    }

    fn partition(&mut self) -> Partition {
        match self.byte(5) {
            0 | 1 => Partition::Base,
            number => Partition::Day(Day(i32::from(number) * 10)),
        }
    }

    fn key(&mut self) -> Vec<u8> {
        let length = 1 + self.byte(2);
        (0..length).map(|_| self.byte(12)).collect()
    }

    fn value(&mut self) -> Vec<u8> {
        let length = [0, 3, 40, 5_000][usize::from(self.byte(4))];
        vec![self.byte(256); length]
    }
}

struct RandomRun {
    seed: u64,
    dice: SplitMixRandom,
    model: StoreModel,
    // Before the store: a snapshot must not outlive it.
    earlier: Option<(Box<dyn Snapshot>, StoreModel)>,
    fixture: Box<dyn Fixture>,
}

impl RandomRun {
    fn new(seed: u64, fixture: Box<dyn Fixture>) -> Self {
        Self { seed, dice: SplitMixRandom(seed), model: StoreModel::new(), earlier: None, fixture }
    }

    fn play(&mut self) {
        for step in 0..STEPS {
            let context = format!("seed {}, step {step}", self.seed);
            match self.dice.roll(20) {
                0 => {
                    self.earlier = None;
                    self.fixture.reopen();
                }
                1 => self.forget(),
                2 | 3 => {
                    self.earlier = Some((snapshot(self.fixture.store()), self.model.clone()));
                }
                4..=7 => self.look(&context),
                _ => self.commit(&context),
            }
            if let Some((view, model)) = &self.earlier {
                agree(&**view, model, &context);
            }
        }
        agree(&*snapshot(self.fixture.store()), &self.model, &format!("seed {}, end", self.seed));
    }

    fn forget(&mut self) {
        if let Partition::Day(day) = self.dice.partition() {
            answered(self.fixture.store().forget(day));
            self.model.remove(&Partition::Day(day));
        }
    }

    fn commit(&mut self, context: &str) {
        let dice = &mut self.dice;
        let writes: Vec<Write> = (0..dice.roll(12))
            .map(|_| Write {
                partition: dice.partition(),
                key: dice.key(),
                value: (dice.roll(3) > 0).then(|| dice.value()),
            })
            .collect();
        let answer = self.fixture.store().commit(writes.clone().into());
        assert!(answer.is_ok(), "{context}: {answer:?}");
        for write in writes {
            match write.value {
                Some(value) => {
                    self.model.entry(write.partition).or_default().insert(write.key, value);
                }
                None => {
                    if let Some(table) = self.model.get_mut(&write.partition) {
                        table.remove(&write.key);
                    }
                }
            }
        }
    }

    fn look(&mut self, context: &str) {
        let (partition, key) = (self.dice.partition(), self.dice.key());
        let table = self.model.get(&partition);
        let expected = table.and_then(|table| table.get(&key));
        let found = get(self.fixture.store(), partition, &key);
        assert_eq!(found.as_ref(), expected, "{context}: {partition:?} {key:?}");
        let until = self.dice.key();
        let rows: Rows = table
            .into_iter()
            .flatten()
            .filter(|(other, _)| **other >= key && **other < until)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let view = snapshot(self.fixture.store());
        assert_eq!(range(&*view, partition, &key, Some(&until)), rows, "{context}: {partition:?}");
    }
}

fn agree(view: &dyn Snapshot, model: &StoreModel, context: &str) {
    let places = [
        Partition::Base,
        Partition::Day(Day(20)),
        Partition::Day(Day(30)),
        Partition::Day(Day(40)),
    ];
    for partition in places {
        let rows: Rows = model
            .get(&partition)
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        assert_eq!(all(view, partition), rows, "{context}: {partition:?}");
    }
}
