//! Rows that can be read and that no build of tidings wrote: each is refused or borne, none ends the process.
//!
//! The store finds flipped bits by its checksums. What passes them is the work of another build, of a restore by
//! hand or of somebody who means ill.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::Config;
use tidings_core::engine::Options;
use tidings_node::{Player, PlayerOutput};
use tidings_sim::random::{World, world};
use tidings_sim::subject::Step;
use tidings_store::{MemoryStore, Partition, Store, Write};

/// A damage to a row: where, how, and with which byte.
type Damage = (Index, Index, u8, u8);

fn indexed_at_once() -> Options {
    Options { buckets: 2, index_after: Some(0), checkpoint_after: 3, ..Options::default() }
}

fn rows(store: &MemoryStore) -> Vec<Write> {
    let days = store.days().expect("days");
    let snapshot = store.snapshot().expect("a snapshot");
    let mut rows = Vec::new();
    for partition in days.into_iter().map(Partition::Day).chain([Partition::Base]) {
        let each = &mut |key: &[u8], value: &[u8]| {
            rows.push(Write { partition, key: key.to_vec(), value: Some(value.to_vec()) });
            ControlFlow::Continue(())
        };
        snapshot.scan(partition, &[], None, each).expect("a scan");
    }
    rows
}

fn damage(value: &mut Vec<u8>, (_, at, how, byte): &Damage) {
    if value.is_empty() {
        value.push(*byte);
        return;
    }
    let at = at.index(value.len());
    match how % 5 {
        0 => value[at] ^= 1 << (byte % 8),
        1 => value[at] = *byte,
        2 => value.truncate(at),
        // A number of more than 60 bits, as postcard writes it.
        3 => {
            value.splice(at..=at, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]);
        }
        _ => {
            value.splice(at..=at, [0xff, 0xff, 0x03]);
        }
    }
}

/// Plays steps, and stops at the first that fails.
fn play(store: &MemoryStore, options: Options, steps: &[Step], finish: bool) -> Option<()> {
    let mut player = Player::open(Arc::new(store.clone()), options, PlayerOutput::Messages).ok()?;
    for step in steps {
        match step {
            Step::Play(timed) => player.play(timed.clone(), &mut |_| ()).ok()?,
            Step::Reconfigure(at, rules) => {
                player.set_rules(*at, (**rules).clone(), &mut |_| ()).ok()?;
            }
        }
    }
    if finish {
        player.finish(None, &mut |_| ()).ok()?;
    }
    Some(())
}

fn check(world: &World, damages: &[Damage]) -> Result<(), TestCaseError> {
    for options in [Options::default(), indexed_at_once()] {
        let store = MemoryStore::new();
        let half = world.steps.len() / 2;
        let first = world.steps.first().map_or(tidings_core::Instant(0), Step::at);
        let mut steps = vec![Step::Reconfigure(first, Box::new(world.rules.clone()))];
        steps.extend_from_slice(&world.steps);
        play(&store, options, &steps[..=half], false);
        let rows = rows(&store);
        for one in damages {
            let mut rows = rows.clone();
            let row = one.0.index(rows.len());
            let key = rows[row].key.clone();
            damage(rows[row].value.as_mut().expect("rows have values"), one);
            let damaged = MemoryStore::new();
            damaged.commit(rows.into()).expect("a commit");
            let played = catch_unwind(AssertUnwindSafe(|| {
                play(&damaged, options, &steps[half + 1..], true)
            }));
            prop_assert!(played.is_ok(), "row {key:?} damaged by {one:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: 60, failure_persistence: None, ..Config::default() })]

    #[test]
    fn a_row_that_nobody_wrote_ends_nothing(
        world in world(),
        damages in vec((any::<Index>(), any::<Index>(), any::<u8>(), any::<u8>()), 40),
    ) {
        check(&world, &damages)?;
    }
}
