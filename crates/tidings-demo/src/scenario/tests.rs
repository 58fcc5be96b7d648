use std::collections::HashSet;

use tidings_core::Command;
use tidings_core::model::Cancelled;

use super::*;

#[test]
fn time_never_goes_back_and_stays_within_the_stretch() {
    let scenario = scenario();
    let mut before = scenario.starts;
    let mut count = 0;
    for timed in scenario.commands() {
        assert!(timed.at >= before && timed.at < scenario.ends, "{timed:?}");
        before = timed.at;
        count += 1;
    }
    assert_eq!(count, scenario.commands_count());
}

#[test]
fn whoever_is_named_is_known_and_whatever_is_taken_back_was_announced() {
    let scenario = scenario();
    let (mut known, mut objects, mut keys) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut events = HashSet::new();
    for timed in scenario.commands() {
        match timed.command {
            Command::Recipient(change) => {
                known.insert(change.id);
            }
            Command::Publish(event) => {
                assert!(event.to.recipients.iter().all(|id| known.contains(id)));
                objects.insert(event.object.id.clone());
                keys.extend(event.cancellation_key.clone());
                assert!(events.insert(event.id.clone()), "{} comes twice", event.id);
            }
            Command::Subscribe { recipient, .. }
            | Command::Unsubscribe { recipient, .. }
            | Command::Mark { recipient, .. }
            | Command::ChangeItems { recipient, .. }
            | Command::Preference { recipient, .. }
            | Command::Preferences { recipient, .. }
            | Command::Flush { recipient, .. }
            | Command::Join { recipient, .. }
            | Command::Leave { recipient, .. }
            | Command::Device { recipient, .. } => assert!(known.contains(&recipient)),
            Command::Retract { object } => assert!(objects.contains(&object)),
            Command::Object(object) | Command::Resolved(object) => {
                assert!(objects.contains(&object.id));
            }
            Command::Cancel { what, .. } | Command::Withdraw { what, .. } => match what {
                Cancelled::Key(key) => assert!(keys.contains(&key)),
                Cancelled::Event(event) => assert!(events.contains(&event)),
            },
            Command::Pause(_)
            | Command::Resume(_)
            | Command::Message { .. }
            | Command::BeginJob(_)
            | Command::StopJob { .. }
            | Command::Report { .. }
            | Command::Suppress { .. }
            | Command::Unsuppress { .. }
            | Command::ReportAddress { .. }
            | Command::Hook { .. }
            | Command::Tenant { .. }
            | Command::DeleteTenant { .. } => {
                panic!("a history has no operators")
            }
            Command::Forget { before } => assert!(before.start() < timed.at),
            Command::Erase { recipient } => assert!(known.remove(&recipient)),
        }
    }
}

#[test]
fn the_warhol_event_is_alone_at_its_instant_and_reaches_twelve_thousand() {
    let scenario = scenario();
    let then: Vec<Timed> =
        scenario.commands().filter(|timed| timed.at == scenario.warhol_at).collect();
    let [Timed { command: Command::Publish(event), .. }] = then.as_slice() else {
        panic!("{then:?}");
    };
    assert_eq!(event.id, scenario.warhol_event);
    assert_eq!(event.to.topics, [scenario.world.topic(0)]);
    assert_eq!(event.object.title, Some("Marilyn Monroe".into()));
    assert_eq!(scenario.facts().most_followers, 12_000);
}

#[test]
fn the_same_story_is_told_each_time() {
    let (once, again) = (scenario(), scenario());
    assert!(once.commands().eq(again.commands()));
}

#[test]
fn the_story_has_the_size_that_it_should_have() {
    let scenario = scenario();
    let facts = scenario.facts();
    assert_eq!((facts.works, facts.shows), (6192, 9));
    assert!((6_300..6_500).contains(&facts.events), "{facts:?}");
    assert!(facts.zones > 100, "{facts:?}");
    assert_eq!(scenario.weeks.len(), 15);
    assert_eq!(scenario.weeks.iter().map(|week| week.works).sum::<usize>(), facts.works);
    // Followers of the artists of each work: the least that the engine has to tell.
    let notifications: usize = scenario
        .world
        .museum
        .works
        .iter()
        .flat_map(|work| &work.artists)
        .filter_map(|artist| scenario.world.museum.place_of(*artist))
        .map(|place| scenario.world.followers[place].len())
        .sum();
    assert!((2_000_000..8_000_000).contains(&notifications), "{notifications}");
}
