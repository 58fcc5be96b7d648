//! The engine against the model: random worlds, played by both, come to the same end. The worlds are the same in
//! each run; `PROPTEST_RNG_SEED=7` makes others.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use tidings_core::time::HOUR_MS;
use tidings_core::{Id, Instant};
use tidings_sim::engine;
use tidings_sim::inbox::Inbox;
use tidings_sim::random::{RECIPIENTS, TENANTS, World, world};
use tidings_sim::subject::{self, Make, Played, Step, difference, play_all};

fn played(make: Make, world: &World) -> Result<Played, String> {
    play_all(make, &world.rules, &world.steps, world.until)
}

fn id(letter: char, number: u8) -> Id {
    Id::new(&format!("{letter}{number}")).expect("a valid id")
}

type Inboxes = Vec<(Id, Option<Id>, Option<Inbox>)>;

/// The inboxes of everybody in each view, some time after the last step.
fn inboxes(make: Make, world: &World) -> Result<Inboxes, TestCaseError> {
    let mut subject = make(world.rules.clone());
    for step in &world.steps {
        step.play(subject.as_mut()).map_err(TestCaseError::fail)?;
    }
    let last = world.steps.last().map_or(Instant(0), Step::at);
    subject.finish(Some(last.plus_ms(HOUR_MS))).map_err(TestCaseError::fail)?;
    let mut all = Inboxes::new();
    for person in (0..RECIPIENTS).map(|number| id('r', number)) {
        let views = (0..TENANTS).map(|number| Some(id('n', number))).chain([None]);
        for view in views {
            let inbox = subject.inbox(&person, view.as_ref());
            all.push((person.clone(), view, inbox));
        }
    }
    Ok(all)
}

/// The worlds of a seed.
fn config(cases: u32) -> Config {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    match config.rng_seed {
        RngSeed::Random => Config { rng_seed: RngSeed::Fixed(1), ..config },
        RngSeed::Fixed(_) => config,
    }
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn the_engine_comes_to_the_end_of_the_model(world in world()) {
        let model = played(subject::model, &world).expect("all steps are valid");
        let engine = played(engine::engine, &world).map_err(TestCaseError::fail)?;
        prop_assert_eq!(difference(&model, &engine), None);
    }

    #[test]
    fn the_inboxes_of_the_engine_are_those_of_the_model(world in world()) {
        let (model, engine) = (inboxes(subject::model, &world)?, inboxes(engine::engine, &world)?);
        for (model, engine) in model.into_iter().zip(engine) {
            prop_assert_eq!(model, engine);
        }
    }

    #[test]
    fn indexing_changes_nothing(world in world()) {
        let engine = played(engine::engine, &world).map_err(TestCaseError::fail)?;
        for make in [engine::indexed_at_once, engine::never_indexed] {
            let other = played(make, &world).map_err(TestCaseError::fail)?;
            prop_assert_eq!(difference(&engine, &other), None);
        }
    }

    #[test]
    fn two_halves_together_are_the_whole(world in world()) {
        let whole = played(engine::engine, &world).map_err(TestCaseError::fail)?;
        let halves = played(engine::in_halves, &world).map_err(TestCaseError::fail)?;
        prop_assert_eq!(difference(&whole, &halves), None);
    }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn nodes_that_share_the_shards_come_to_what_one_comes_to(world in world()) {
        let whole = played(engine::engine, &world).map_err(TestCaseError::fail)?;
        let shared = played(engine::on_three_nodes, &world).map_err(TestCaseError::fail)?;
        prop_assert_eq!(difference(&whole, &shared), None);
    }

    /// Acts that come late change when something is told, and to whom where somebody decided meanwhile; every entry
    /// still comes to exactly one end.
    #[test]
    fn books_balance_where_acts_are_late(world in world()) {
        assert_balanced(engine::on_slow_nodes, &world)?;
    }

    /// Acts that are lost are asked for again, and those that come twice are applied once; a node that dies goes on where
    /// it was. Every entry still comes to exactly one end.
    #[test]
    fn books_balance_where_acts_are_lost_and_nodes_die(world in world()) {
        assert_balanced(engine::on_faulty_nodes, &world)?;
    }
}

/// Fails where nodes lose or double an entry, or accept other events than one node does.
fn assert_balanced(make: Make, world: &World) -> Result<(), TestCaseError> {
    let whole = played(engine::engine, world).map_err(TestCaseError::fail)?;
    let nodes = played(make, world).map_err(TestCaseError::fail)?;
    prop_assert!(nodes.books.balance(), "{:?}", nodes.books);
    // An id is free again once its day is forgotten, which may be later.
    let published = |of: &Played| of.books.events + of.books.republished;
    prop_assert_eq!(published(&nodes), published(&whole));
    Ok(())
}
