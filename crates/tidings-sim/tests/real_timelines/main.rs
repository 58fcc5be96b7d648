//! Timelines of real life against what is known to come of them.

mod convert;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use convert::Timeline;
use tidings_core::model::Timed;
use tidings_core::{Command, Id, Rules};
use tidings_sim::engine;
use tidings_sim::subject::{self, Make, Subject};

/// The real data, or a word about its absence.
fn shared() -> Option<PathBuf> {
    let shared = convert::shared();
    if shared.is_none() {
        println!("skipped: the real data is not there");
    }
    shared
}

/// Notifications, recipients told and the largest audience, counted straight from the commands.
fn counted(timeline: &Timeline) -> (usize, usize, usize) {
    let mut followers: BTreeMap<&Id, BTreeSet<&Id>> = BTreeMap::new();
    let (mut notifications, mut told, mut largest) = (0, BTreeSet::new(), 0);
    for Timed { command, .. } in &timeline.commands {
        match command {
            Command::Subscribe { recipient, topic, .. } => {
                followers.entry(topic).or_default().insert(recipient);
            }
            Command::Unsubscribe { recipient, topic, .. } => {
                followers.entry(topic).or_default().remove(recipient);
            }
            Command::Publish(event) => {
                let audience: Vec<&Id> = followers
                    .get(&event.to.topics[0])
                    .into_iter()
                    .flatten()
                    .copied()
                    .filter(|id| event.actor.as_ref().is_none_or(|actor| actor.id != **id))
                    .collect();
                notifications += audience.len();
                largest = largest.max(audience.len());
                told.extend(audience);
            }
            _ => {}
        }
    }
    (notifications, told.len(), largest)
}

fn play(make: Make, rules: Rules, commands: &[Timed]) -> Box<dyn Subject> {
    let mut subject = make(rules);
    for timed in commands {
        subject.play(timed).expect("real life is valid");
    }
    subject.finish(None).expect("it comes to an end");
    subject
}

#[test]
fn crates_are_converted() {
    let Some(shared) = shared() else { return };
    let timeline = convert::crates(&shared).expect("the data is as it was");
    assert_eq!(counted(&timeline), (601_137, 3_085, 810));
    assert!(timeline.commands.is_sorted_by_key(|timed| timed.at));
}

#[test]
fn github_is_converted() {
    let Some(shared) = shared() else { return };
    let timeline = convert::github(&shared).expect("the data is as it was");
    let (notifications, _, largest) = counted(&timeline);
    assert_eq!((notifications, largest), (401_814, 7_085));
    assert!(timeline.commands.is_sorted_by_key(|timed| timed.at));
}

fn all_crates_are_told_by(make: Make) {
    let Some(shared) = shared() else { return };
    let Timeline { rules, commands } = convert::crates(&shared).expect("the data is as it was");
    let subject = play(make, rules, &commands);
    let messages = subject.messages();
    let on = |channel: &str| messages.iter().filter(|message| message.channel == channel).count();
    assert_eq!((on("inbox"), on("email")), (601_042, 245_585));
    let told: BTreeSet<_> = messages.iter().map(|message| &message.recipient).collect();
    assert_eq!(told.len(), 3_085);
    let books = subject.books();
    assert_eq!(books.notifications, 601_137);
    assert_eq!((books.entries, books.delivered), (1_202_274, 1_202_274));
    assert_eq!((books.pending, books.lost, books.duplicates), (0, 0, 0));
}

fn all_of_github_is_told_by(make: Make) {
    let Some(shared) = shared() else { return };
    let Timeline { rules, commands } = convert::github(&shared).expect("the data is as it was");
    let books = play(make, rules, &commands).books();
    assert_eq!(books.notifications, 401_814);
    assert_eq!((books.entries, books.delivered), (803_628, 803_628));
    assert_eq!(books.events, 6_692);
    assert_eq!((books.pending, books.lost, books.duplicates), (0, 0, 0));
}

#[test]
#[ignore = "minutes of the naive model; the engine is held to the same numbers in each run"]
fn all_crates_are_told_by_the_model() {
    all_crates_are_told_by(subject::model);
}

#[test]
fn all_crates_are_told_by_the_engine() {
    all_crates_are_told_by(engine::engine);
}

#[test]
#[ignore = "minutes of the naive model; the engine is held to the same numbers in each run"]
fn all_of_github_is_told_by_the_model() {
    all_of_github_is_told_by(subject::model);
}

#[test]
fn all_of_github_is_told_by_the_engine() {
    all_of_github_is_told_by(engine::engine);
}
