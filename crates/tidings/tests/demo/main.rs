//! The demo, played by the rules of `examples/art` for some days and some hundred people.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use tidings_core::{Command, Day, Instant, Rules};
use tidings_demo::play::{Afterwards, PlayFault, PlayedStory, RULES, RULES_FILE, maildir_in, play};
use tidings_demo::{Scenario, scenario};
use tidings_node::channel::{CaughtMailbox, CaughtMessage};
use tidings_store::StoreId;

/// The identity of the stores that are made.
const STORE: StoreId = StoreId([1; 16]);

fn rules() -> Rules {
    tidings::config::parse(RULES, RULES_FILE).expect("it has no fault")
}

/// Eight days, the first Monday mail among them, and 400 people.
fn short() -> Scenario {
    scenario().excerpt(400, Day::parse("1967-12-11").expect("it is a day"))
}

fn played(dir: &Path) -> PlayedStory {
    play(&short(), rules(), dir, STORE, Afterwards::Kept, &mut |_| ControlFlow::Continue(()))
        .expect("the story can be played")
}

#[test]
fn every_event_of_the_whole_scenario_is_within_the_limits() {
    let limits = rules().limits;
    for timed in scenario().commands() {
        if let Command::Publish(event) = timed.command {
            assert_eq!(limits.check_event(&event), Ok(()), "{}", event.id);
        }
    }
}

#[test]
fn the_books_balance_and_the_maildir_holds_what_was_sent() {
    let dir = tempfile::tempdir().unwrap();
    let PlayedStory { node, telling, .. } = played(dir.path());
    let books = telling.books;
    assert!(books.balance() && books.failed == 0 && books.delivered > 0, "{books:?}");
    let files = std::fs::read_dir(maildir_in(dir.path()).join("new")).unwrap().count() as u64;
    assert!(files > 0);
    assert_eq!(files, telling.mails.values().sum::<u64>());
    // The store made as many mails as lie there.
    let view = node.view().unwrap();
    let messages = short()
        .world
        .people
        .iter()
        .flat_map(|person| node.engine().reader(&view).messages_of(&person.id).unwrap())
        .filter(|message| message.entries > 0)
        .count() as u64;
    assert_eq!(messages, files);
}

/// The mails that were kept, by batch id.
fn kept(mailbox: &CaughtMailbox) -> BTreeMap<String, (Instant, Vec<u8>)> {
    let mails = mailbox.newest_first().into_iter();
    let mails = mails.map(|of| (of.message.head.id.clone(), (of.at, of.message.bytes.clone())));
    mails.collect()
}

#[test]
fn the_same_story_ends_in_the_same_books_and_mails() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [once, again] = dirs.each_ref().map(|dir| played(dir.path()));
    assert_eq!(once.telling.books, again.telling.books);
    assert_eq!(once.telling.mails, again.telling.mails);
    assert!(!kept(&once.mailbox).is_empty());
    assert_eq!(kept(&once.mailbox), kept(&again.mailbox));
}

#[test]
fn the_mailbox_has_every_mail_of_one_reader_in_so_many() {
    let dir = tempfile::tempdir().unwrap();
    let PlayedStory { mailbox, .. } = played(dir.path());
    let mails = mailbox.newest_first();
    let of = |mail: &CaughtMessage| mail.message.head.recipient.clone().unwrap();
    let readers: BTreeSet<_> = mails.iter().map(|mail| of(mail)).collect();
    // Every fourth of 400, each with all mails that lie in the Maildir for them.
    assert!((10..=100).contains(&readers.len()), "{readers:?}");
    let files = std::fs::read_dir(maildir_in(dir.path()).join("new")).unwrap();
    let to_them = files.filter(|file| {
        let mail = std::fs::read_to_string(file.as_ref().unwrap().path()).unwrap();
        readers.iter().any(|id| mail.contains(&format!("{id}@readers.example.org")))
    });
    assert_eq!(to_them.count(), mails.len());
    assert!(mails.iter().all(|mail| mail.at == mail.message.head.at));
}

#[test]
fn hundreds_of_events_of_one_instant_are_told_on_their_day() {
    let dir = tempfile::tempdir().unwrap();
    let day = Day::parse("1967-12-13").unwrap();
    let scenario = scenario().excerpt(100, day);
    let crowd = scenario.commands().filter(|timed| timed.at.day() == day).count();
    assert!(crowd > 600, "{crowd}");
    let played = play(&scenario, rules(), dir.path(), STORE, Afterwards::Removed, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(played.telling.books.balance());
    // A clock that begins before 1970 is not held at 1970.
    let mails = played.mailbox.newest_first();
    assert!(!mails.is_empty());
    assert!(mails.iter().all(|mail| (scenario.starts..scenario.ends).contains(&mail.at)));
}

#[test]
fn a_story_can_be_stopped_and_a_directory_in_use_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let stopped = play(&short(), rules(), dir.path(), STORE, Afterwards::Removed, &mut |_| {
        ControlFlow::Break(())
    });
    assert!(matches!(stopped, Err(PlayFault::Stopped)));
    let again = play(&short(), rules(), dir.path(), STORE, Afterwards::Removed, &mut |_| {
        ControlFlow::Continue(())
    });
    assert!(matches!(again, Err(PlayFault::Occupied(_))));
}
