//! The engine against the model: random worlds, played by both, come to the same end. The worlds are the same in
//! each run; `PROPTEST_RNG_SEED=7` makes others.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use tidings_core::engine::GroupBy;
use tidings_core::model::{HOUR_MS, Timed};
use tidings_core::{Command, Id, Instant};
use tidings_sim::engine;
use tidings_sim::figures::Figures;
use tidings_sim::inbox::Inbox;
use tidings_sim::lists::{HitInWords, Lists};
use tidings_sim::random::{RECIPIENTS, TENANTS, World, world};
use tidings_sim::subject::{self, Make, Played, Step, Subject, difference, play_all};

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

/// The ways in which figures are compared.
const BY: [&[GroupBy]; 8] = [
    &[GroupBy::Day, GroupBy::Type, GroupBy::Channel],
    &[GroupBy::Hour, GroupBy::Type, GroupBy::Channel],
    &[GroupBy::Day, GroupBy::Type],
    &[GroupBy::Day, GroupBy::Tenant, GroupBy::Channel],
    &[GroupBy::Tenant, GroupBy::Day],
    &[GroupBy::Category, GroupBy::Hour],
    &[GroupBy::Channel],
    &[],
];

/// The figures after a step and all that is due at its instant, in each way.
fn figures(make: Make, world: &World, steps: usize) -> Result<Vec<Option<Figures>>, TestCaseError> {
    let mut subject = make(world.rules.clone());
    for step in &world.steps[..steps] {
        step.play(subject.as_mut()).map_err(TestCaseError::fail)?;
    }
    let last = world.steps[..steps].last().map_or(Instant(0), Step::at);
    subject.finish(Some(last)).map_err(TestCaseError::fail)?;
    Ok(BY.iter().map(|by| subject.figures(by)).collect())
}

/// The hits of searches after a step, of all ids of a world and all addresses in other spellings.
fn searches(
    make: Make,
    world: &World,
    steps: usize,
) -> Result<Vec<(String, BTreeSet<HitInWords>)>, TestCaseError> {
    let mut subject = make(world.rules.clone());
    for step in &world.steps[..steps] {
        step.play(subject.as_mut()).map_err(TestCaseError::fail)?;
    }
    let last = world.steps[..steps].last().map_or(Instant(0), Step::at);
    subject.finish(Some(last)).map_err(TestCaseError::fail)?;
    let ids = ["r", "e", "k", "n", "t"].into_iter();
    let mut texts: Vec<String> =
        ids.flat_map(|letter| (0..12).map(move |number| format!("{letter}{number}"))).collect();
    texts.extend(["a", "a/b", "a/b/c", "b", "b/c", "a/", "c"].map(str::to_owned));
    texts.extend(world.rules.types.keys().cloned());
    let domains = ["Example.ORG", "B.Example.org"];
    let addresses = (0..RECIPIENTS).flat_map(|number| domains.map(|of| format!("R{number}@{of}")));
    texts.extend(addresses);
    let find = |text: String| {
        let found = subject.search(&text, last).unwrap_or_default();
        (text, found)
    };
    Ok(texts.into_iter().map(find).collect())
}

/// Fails where figures after a step are not those of the model.
fn assert_figures(make: Make, world: &World, steps: usize) -> Result<(), TestCaseError> {
    let exact = figures(subject::model, world, steps)?;
    let counted = figures(make, world, steps)?;
    for ((by, exact), counted) in BY.iter().zip(exact).zip(counted) {
        let (exact, counted) = exact.zip(counted).expect("both count");
        let differs = tidings_sim::figures::difference(&exact, &counted);
        prop_assert_eq!(differs, None, "by {:?} after {} steps", by, steps);
    }
    Ok(())
}

/// The worlds of a seed.
fn config(cases: u32) -> Config {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    match config.rng_seed {
        RngSeed::Random => Config { rng_seed: RngSeed::Fixed(1), ..config },
        RngSeed::Fixed(_) => config,
    }
}

/// The lists some time after the last step. Of a world whose rules change, entries alone: which channels a type has is
/// told by the rules of an event's arrival, and not all are known of all events.
fn lists(make: Make, world: &World) -> Result<Option<Lists>, TestCaseError> {
    let mut subject = make(world.rules.clone());
    let mut topics = BTreeSet::new();
    for step in &world.steps {
        if let Step::Play(Timed { command: Command::Subscribe { topic, .. }, .. }) = step {
            topics.insert(topic.clone());
        }
        step.play(subject.as_mut()).map_err(TestCaseError::fail)?;
    }
    let last = world.steps.last().map_or(Instant(0), Step::at);
    subject.finish(Some(last.plus_ms(HOUR_MS))).map_err(TestCaseError::fail)?;
    let mut lists = subject.lists(&topics.into_iter().collect::<Vec<_>>());
    if world.steps.iter().any(|step| matches!(step, Step::Reconfigure(..))) {
        let reached = lists.iter_mut().flat_map(|lists| lists.reached.values_mut());
        for states in reached.flat_map(|reached| reached.values_mut()) {
            states.retain(|_, (state, _)| *state != "left_out");
        }
    }
    Ok(lists)
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn the_lists_of_the_engine_are_those_of_the_model(world in world()) {
        let model = lists(subject::model, &world)?;
        for make in [engine::engine, engine::indexed_at_once, engine::in_halves] {
            prop_assert_eq!(&model, &lists(make, &world)?);
        }
    }

    #[test]
    fn a_search_finds_what_the_model_finds(world in world(), at: prop::sample::Index) {
        let steps = at.index(world.steps.len()) + 1;
        let keep_changes = world.steps.iter().any(|step| {
            matches!(step, Step::Reconfigure(_, rules) if rules.store.keep_ms != world.rules.store.keep_ms)
        });
        let model = searches(subject::model, &world, steps)?;
        for make in [engine::engine, engine::never_indexed, engine::in_halves] {
            let engine = searches(make, &world, steps)?;
            for ((text, expected), (_, found)) in model.iter().zip(engine) {
                // Objects are not compared. An event may be known for longer than the day of its arrival is kept.
                let of_model = |hit: &&HitInWords| expected.contains(*hit);
                let more = found.iter().filter(|hit| !of_model(hit));
                let more: Vec<_> = more.filter(|(kind, ..)| !["object", "event"].contains(kind)).collect();
                let lacks = expected.difference(&found).filter(|(.., way)| {
                    // What a shorter `keep` has removed does not come back with a longer one.
                    !(*way == "former_address" && keep_changes)
                });
                let lacks: Vec<_> = lacks.collect();
                prop_assert!(more.is_empty() && lacks.is_empty(), "{}: {:?} {:?}", text, more, lacks);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(400))]

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

    /// After the last step, and after any step before it.
    #[test]
    fn the_figures_of_the_engine_are_those_of_the_model(world in world(), at: prop::sample::Index) {
        let steps = world.steps.len();
        for steps in [steps, at.index(steps) + 1] {
            assert_figures(engine::engine, &world, steps)?;
        }
    }
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn figures_are_the_same_in_halves_and_indexed_at_once(world in world()) {
        let steps = world.steps.len();
        let whole = figures(engine::engine, &world, steps)?;
        for make in [engine::indexed_at_once, engine::never_indexed, engine::in_halves] {
            prop_assert_eq!(&whole, &figures(make, &world, steps)?);
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

    /// A dry run before each command tells whom it touches, and changes nothing.
    #[test]
    fn dry_runs_of_the_engine_concern_whom_the_model_says(world in world()) {
        for make in [engine::engine, engine::in_halves, engine::indexed_at_once] {
            compare_dry_runs(make, &world)?;
        }
    }

    #[test]
    fn nodes_that_share_the_shards_come_to_what_one_comes_to(world in world()) {
        let whole = played(engine::engine, &world).map_err(TestCaseError::fail)?;
        let shared = played(engine::on_three_nodes, &world).map_err(TestCaseError::fail)?;
        prop_assert_eq!(difference(&whole, &shared), None);
    }

    /// Whichever node is asked: what the others have counted is in the store.
    #[test]
    fn figures_of_nodes_that_share_the_shards_are_those_of_the_model(world in world()) {
        assert_figures(engine::on_three_nodes, &world, world.steps.len())?;
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

/// Plays a world on the model and another subject, each command after a dry run of it.
fn compare_dry_runs(make: Make, world: &World) -> Result<(), TestCaseError> {
    let mut model = subject::model(world.rules.clone());
    let mut other = make(world.rules.clone());
    let is_played = |step: &&Step| world.until.is_none_or(|until| step.at() <= until);
    for step in world.steps.iter().filter(is_played) {
        if let Step::Play(timed) = step
            && knows_dry(&timed.command)
        {
            let expected = model.dry_run(timed).map_err(TestCaseError::fail)?;
            let told = other.dry_run(timed).map_err(TestCaseError::fail)?;
            prop_assert_eq!(told, expected, "{:?}", timed);
        }
        step.play(model.as_mut()).map_err(TestCaseError::fail)?;
        step.play(other.as_mut()).map_err(TestCaseError::fail)?;
    }
    model.finish(world.until).map_err(TestCaseError::fail)?;
    other.finish(world.until).map_err(TestCaseError::fail)?;
    let ended =
        |subject: &dyn Subject| Played { messages: subject.messages(), books: subject.books() };
    prop_assert_eq!(difference(&ended(model.as_ref()), &ended(other.as_ref())), None);
    Ok(())
}

/// Returns true if a command may be tried without being done (contract, section 11, "Before").
fn knows_dry(command: &Command) -> bool {
    matches!(
        command,
        Command::Publish(_)
            | Command::Cancel { .. }
            | Command::Withdraw { .. }
            | Command::Flush { .. }
            | Command::Erase { .. }
    )
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
