//! Random worlds, played by the model: what must hold whatever happens.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use tidings_core::content::Message;
use tidings_core::engine::GroupBy;
use tidings_core::model::Timed;
use tidings_core::{Command, Id};
use tidings_sim::random::{World, world_of};
use tidings_sim::subject::{self, Played, Step, difference, play_all};

fn played(world: &World) -> Played {
    play_all(subject::model, &world.rules, &world.steps, world.until).expect("all steps are valid")
}

proptest! {
    #![proptest_config(Config { cases: 300, failure_persistence: None, ..Config::default() })]

    #[test]
    fn books_balance_and_messages_are_in_order(world in world_of(1..80, 25)) {
        let Played { messages, books, .. } = played(&world);
        prop_assert!(books.balance(), "{books:?}");
        prop_assert_eq!(books.messages, messages.len() as u64);
        let told: usize = messages.iter().map(|message| message.items.len()).sum();
        prop_assert_eq!(books.delivered, told as u64);
        let key = |m: &Message| {
            let lane = (m.channel.clone(), m.lane.clone(), m.key.clone(), m.tenant.clone());
            (m.at, m.recipient.clone(), lane)
        };
        for pair in messages.windows(2) {
            prop_assert!(key(&pair[0]) <= key(&pair[1]));
        }
        for message in &messages {
            prop_assert!(!message.items.is_empty());
            prop_assert!(message.items.windows(2).all(|pair| pair[0].t <= pair[1].t));
            prop_assert!(message.items.iter().all(|item| item.t <= message.at));
            prop_assert!(message.items.iter().all(|item| !item.reasons.is_empty()));
        }
    }

    /// A look at the clock decides nothing: commands that concern nothing change nothing.
    #[test]
    fn idle_instants_change_nothing(world in world_of(1..30, 25), shift in 1_i64..200_000) {
        let mut watched = world.clone();
        watched.steps.clear();
        for (index, step) in world.steps.iter().enumerate() {
            watched.steps.push(step.clone());
            let idle = step.at().plus_ms(shift);
            if world.steps.get(index + 1).is_some_and(|next| next.at() >= idle) {
                let nobody = Id::new("nobody").expect("a valid id");
                let command = Command::Erase { recipient: nobody };
                watched.steps.push(Step::Play(Timed { at: idle, command }));
            }
        }
        prop_assert_eq!(difference(&played(&world), &played(&watched)), None);
    }

    /// Messages before an instant do not depend on what comes after it.
    #[test]
    fn the_past_stays(world in world_of(2..30, 25)) {
        let whole = played(&world);
        let until = world.steps[world.steps.len() / 2].at();
        if world.until.is_none_or(|end| end >= until) {
            let partial = play_all(subject::model, &world.rules, &world.steps, Some(until))
                .expect("all steps are valid");
            let before: Vec<_> =
                whole.messages.into_iter().filter(|message| message.at <= until).collect();
            prop_assert_eq!(partial.messages, before);
        }
    }
}

/// Worlds that never reach a corner prove nothing about it.
#[test]
fn worlds_reach_every_corner() {
    let mut runner = TestRunner::deterministic();
    let mut words = BTreeSet::new();
    for _ in 0..400 {
        let world = world_of(1..80, 25).new_tree(&mut runner).expect("a world").current();
        let Played { messages, books } = played(&world);
        for message in &messages {
            words.insert(message.lane.clone());
            words.insert(message.channel.clone());
            words.extend(message.tenant.iter().map(|tenant| format!("tenant:{tenant}")));
            words.extend(message.skipped.iter().map(|skipped| skipped.reason.word().to_owned()));
            words.extend(message.items.iter().flat_map(|item| item.reasons.clone()));
            if message.items.len() > 3 {
                words.insert("many".to_owned());
            }
        }
        let counted = [
            ("republished", books.republished),
            ("cancelled", books.cancelled),
            ("expired", books.expired),
            ("pending", books.pending),
            ("suppressed", books.suppressed),
            ("warnings", books.warnings),
        ];
        words.extend(counted.iter().filter(|(_, n)| *n > 0).map(|(name, _)| (*name).to_owned()));
    }
    let wanted = [
        "now",
        "first_event",
        "cooldown",
        "leading",
        "x",
        "digest:d0",
        "digest:d1",
        "digest:d2",
        "digest:d3",
        "digest:d4",
        "inbox",
        "email",
        "many",
        "everyone",
        "named",
        "near",
        "topic:a",
        "topic:a/b",
        "unknown_type",
        "not_applicable",
        "seen",
        "stale",
        "expired",
        "republished",
        "cancelled",
        "pending",
        "condition",
        "condition_error",
        "suppressed",
        "warnings",
        "tenant:n0",
        "tenant:n1",
        "tenant:n2",
    ];
    let missing: Vec<_> = wanted.iter().filter(|word| !words.contains(**word)).collect();
    assert!(missing.is_empty(), "never reached: {missing:?}");
}

/// Figures that no world counts prove nothing about them.
#[test]
fn worlds_reach_every_measure() {
    let mut runner = TestRunner::deterministic();
    let mut words = BTreeSet::new();
    for _ in 0..200 {
        let world = world_of(1..80, 25).new_tree(&mut runner).expect("a world").current();
        let mut model = subject::model(world.rules.clone());
        for step in &world.steps {
            step.play(model.as_mut()).expect("all steps are valid");
        }
        model.finish(world.until).expect("the clock runs");
        for by in [&[][..], &[GroupBy::Tenant]] {
            let rows = model.figures(by).expect("the model counts");
            let words_of = rows.into_values().flat_map(BTreeMap::into_keys);
            words.extend(words_of.map(|word| format!("{}{word}", "tenant: ".repeat(by.len()))));
        }
    }
    // What channels and providers do has no part in these worlds.
    let wanted = [
        "events",
        "notifications",
        "entries",
        "ended.delivered",
        "ended.cancelled",
        "ended.skipped",
        "ended.expired",
        "reasons.event",
        "reasons.forgotten",
        "reasons.preference",
        "reasons.recipient_gone",
        "reasons.replaced",
        "reasons.seen",
        "reasons.tenant_gone",
        "messages.sent",
        "messages.suppressed",
        "items",
        "muted",
        "seen",
        "read",
        "delay",
        "told_to_seen",
        "tenant: events",
        "tenant: entries",
        "tenant: messages.sent",
        "tenant: seen",
        "tenant: muted",
    ];
    let missing: Vec<_> = wanted.iter().filter(|word| !words.contains(**word)).collect();
    assert!(missing.is_empty(), "never reached: {missing:?}");
}
