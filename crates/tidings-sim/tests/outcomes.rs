//! Reports of single events add up to the books, whatever happened to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::Config;
use tidings_core::content::Totals;
use tidings_core::engine::{EventReport, ExplainError, ExplainSubject, Options};
use tidings_core::model::{EntryState, Outcome};
use tidings_core::{Command, Id};
use tidings_node::{Node, Player, PlayerOutput};
use tidings_sim::model::Model;
use tidings_sim::random::{World, world};
use tidings_sim::subject::Step;
use tidings_store::{MemoryStore, Store};

const OPTIONS: [Options; 2] = [
    Options {
        buckets: 3,
        shards: 2,
        index_after: Some(0),
        checkpoint_after: 0,
        slice_bytes: 1,
        row_bytes: usize::MAX,
        fresh_key: [0; 16],
    },
    Options {
        buckets: 1,
        shards: 1,
        index_after: None,
        checkpoint_after: 7,
        slice_bytes: 1,
        row_bytes: usize::MAX,
        fresh_key: [0; 16],
    },
];

fn played(world: &World, options: Options) -> (Node, Arc<dyn Store>) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let player = Player::open(Arc::clone(&store), options, PlayerOutput::Nothing);
    let mut player = player.expect("a new store can be opened").past_refusals();
    let mut first = Some(world.rules.clone());
    let until = |step: &&Step| world.until.is_none_or(|until| step.at() <= until);
    for step in world.steps.iter().filter(until) {
        if let Some(rules) = first.take() {
            player.set_rules(step.at(), rules, &mut |_| {}).expect("the store takes it");
        }
        let played = match step {
            Step::Play(timed) => player.play(timed.clone(), &mut |_| {}),
            Step::Reconfigure(at, rules) => player.set_rules(*at, (**rules).clone(), &mut |_| {}),
        };
        played.expect("the store takes it");
    }
    player.finish(world.until, &mut |_| {}).expect("the store takes it");
    (player.into_node(), store)
}

/// The states of an event's entries by channel: pending, or their outcome.
type States = BTreeMap<(&'static str, Option<Outcome>), u64>;

/// Checks that the explanations of an event to each recipient add up to its report. The entries of those who were
/// erased are in the report alone.
fn explained_alike(node: &Node, world: &World, report: &EventReport) {
    let commands = || {
        world.steps.iter().filter_map(|step| match step {
            Step::Play(timed) => Some(&timed.command),
            Step::Reconfigure(..) => None,
        })
    };
    if commands().any(|command| matches!(command, Command::Erase { .. })) {
        return;
    }
    let recipients: BTreeSet<&Id> = commands()
        .flat_map(|command| match command {
            Command::Recipient(change) => vec![&change.id],
            Command::Publish(event) => event.to.profiles.iter().map(|of| &of.id).collect(),
            _ => Vec::new(),
        })
        .collect();
    let (view, now) = (node.view().expect("the store is open"), node.engine().now());
    let mut explained = States::new();
    for recipient in recipients {
        let subject = ExplainSubject::Event(report.event.id.clone());
        let explanation = node.engine().reader(&view).explain(subject, recipient, now);
        let explanation = match explanation {
            Ok(explanation) => explanation,
            Err(ExplainError::Unreadable(fault)) => panic!("{fault}"),
            Err(_) => continue,
        };
        for path in explanation.channels {
            let state = match path.state {
                EntryState::None => {
                    assert!(path.steps.iter().any(|step| step.ends), "{path:?}");
                    continue;
                }
                EntryState::Scheduled | EntryState::Pending | EntryState::Sending => None,
                EntryState::Ended(outcome) => Some(outcome),
            };
            *explained.entry((path.channel, state)).or_default() += 1;
        }
    }
    let mut reported = States::new();
    for (channel, fate) in &report.channels {
        reported.insert((*channel, None), fate.pending);
        let ended = fate.ended.iter();
        reported.extend(ended.map(|(outcome, count)| ((*channel, Some(*outcome)), *count)));
    }
    reported.retain(|_, count| *count > 0);
    assert_eq!(explained, reported, "{}", report.event.id);
}

/// The sum of the reports of all events.
fn added_up(node: &Node, world: &World) -> Totals {
    let mut books = Totals::default();
    let events: BTreeSet<&Id> = world
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Play(timed) => match &timed.command {
                Command::Publish(event) => Some(&event.id),
                _ => None,
            },
            Step::Reconfigure(..) => None,
        })
        .collect();
    let view = node.view().expect("the store is open");
    for event in events {
        let Some(trace) = node.engine().reader(&view).trace(event).expect("the store can be read")
        else {
            continue;
        };
        let report = trace.report(&view).expect("the store can be read");
        explained_alike(node, world, &report);
        books.events += 1;
        books.notifications += report.notifications;
        books.suppressed += report.suppressed.values().sum::<u64>();
        for fate in report.channels.values() {
            books.entries += fate.entries;
            books.pending += fate.pending;
            let mut by_reason: BTreeMap<Outcome, u64> = BTreeMap::new();
            for (reason, count) in &fate.reasons {
                *by_reason.entry(reason.outcome()).or_default() += count;
            }
            for (outcome, count) in &fate.ended {
                *match outcome {
                    Outcome::Delivered => &mut books.delivered,
                    Outcome::Cancelled => &mut books.cancelled,
                    Outcome::Skipped => &mut books.skipped,
                    Outcome::Expired => &mut books.expired,
                    Outcome::Failed => &mut books.failed,
                    Outcome::Unknown => &mut books.unknown,
                } += count;
                let told =
                    matches!(outcome, Outcome::Delivered | Outcome::Failed | Outcome::Unknown);
                let explained = by_reason.get(outcome).copied().unwrap_or(0);
                assert_eq!(explained, if told { 0 } else { *count }, "{outcome:?}");
            }
        }
    }
    books
}

/// Number of events of a world whose ids were given back.
fn given_back(world: &World) -> u64 {
    let mut model = Model::new(world.rules.clone());
    for step in &world.steps {
        // What the model refuses the engine refuses.
        step.play(&mut model).expect("the model goes on");
    }
    model.finish(world.until);
    model.given_back()
}

proptest! {
    #![proptest_config(Config { cases: 400, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_fates_of_events_add_up_to_the_books(world in world()) {
        for options in OPTIONS {
            let (node, store) = played(&world, options);
            // Of forgotten days only the ledger knows: such worlds prove nothing here.
            prop_assume!(node.engine().forgotten_before().is_none());
            let all = node.books().expect("the books agree");
            let expected = Totals {
                // An id that was given back names no event.
                events: all.events - given_back(&world),
                messages: 0,
                republished: 0,
                warnings: 0,
                ..all
            };
            prop_assert_eq!(added_up(&node, &world), expected);
            drop(node);
            let again = Node::open(store, options).expect("the store can be opened again");
            prop_assert_eq!(added_up(&again, &world), expected, "after a restart");
        }
    }
}
