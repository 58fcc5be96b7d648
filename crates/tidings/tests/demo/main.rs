//! The demo, played by the rules of `examples/art` for some days and some hundred people.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use tidings_core::{Command, Day, Rules};
use tidings_demo::page::view::{ListSlice, MailQuery};
use tidings_demo::play::{Afterwards, PlayFault, PlayedStory, RULES, maildir_in, play};
use tidings_demo::shown::Shown;
use tidings_demo::{Scenario, scenario};
use tidings_store::StoreId;

mod page;

/// The identity of the stores that are made.
const STORE: StoreId = StoreId([1; 16]);

fn rules() -> Rules {
    tidings::config::parse(RULES, "examples/art/tidings.toml").expect("it has no fault")
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

const ALL: ListSlice = ListSlice { skip: 0, take: usize::MAX };

#[test]
fn the_books_balance_and_the_maildir_holds_what_was_sent() {
    let dir = tempfile::tempdir().unwrap();
    let PlayedStory { node, postbox, telling, .. } = played(dir.path());
    let books = telling.books;
    assert!(books.balance() && books.failed == 0 && books.delivered > 0, "{books:?}");
    let files: BTreeSet<String> = std::fs::read_dir(maildir_in(dir.path()).join("new"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let sent: BTreeSet<String> = postbox.mails.iter().map(|mail| mail.name()).collect();
    assert!(!files.is_empty());
    assert_eq!(files, sent);
    // The store made as many mails as lie there, and told as many entries as the index says.
    let view = node.view().unwrap();
    let messages: Vec<_> = short()
        .world
        .people
        .iter()
        .flat_map(|person| node.engine().reader(&view).messages_of(&person.id).unwrap())
        .filter(|message| message.entries > 0)
        .collect();
    assert_eq!(messages.len(), files.len());
    let told: usize = messages.iter().map(|message| message.entries).sum();
    assert_eq!(told, postbox.mails.iter().map(|mail| mail.entries as usize).sum::<usize>());
}

#[test]
fn the_same_story_ends_in_the_same_books_and_mails() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [once, again] = dirs.each_ref().map(|dir| played(dir.path()));
    assert_eq!(once.telling.books, again.telling.books);
    assert_eq!(once.postbox.mails, again.postbox.mails);
    let mail = &once.postbox.mails[0];
    assert_eq!(once.postbox.read(mail).unwrap(), again.postbox.read(mail).unwrap());
}

#[test]
fn the_view_shows_what_was_told() {
    let dir = tempfile::tempdir().unwrap();
    let view = Shown::new(played(dir.path()), short());
    let listing = view.mails(&MailQuery::default(), ALL);
    assert_eq!(listing.total as u64, view.summary().mails);
    // The list of all is mixed, each mail in it once: those of one instant would look alike.
    let ids: BTreeSet<&str> = listing.rows.iter().map(|line| line.id.as_str()).collect();
    assert_eq!(ids.len(), listing.total);
    assert!(!listing.rows.is_sorted_by_key(|line| line.at));
    let line = listing.rows.iter().max_by_key(|line| line.entries).unwrap();
    let mail = view.mail(&line.id).unwrap();
    assert_eq!(&mail.line, line);
    assert!(mail.html.as_deref().unwrap().contains("<html"));
    let header = |name: &str| {
        mail.headers.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    };
    assert_eq!(header("Subject"), Some(line.subject.as_str()));
    assert!(header("Message-ID").unwrap().contains(&line.id));

    let person = view.person(&line.recipient, ALL).unwrap();
    let (shown, counted) = (person.inbox.rows.len(), person.inbox.total);
    assert!(shown > 0 && shown == counted);
    assert!(person.inbox.rows.iter().any(|group| !group.title.is_empty() && group.count > 0));
    assert_eq!(person.line.follows, person.topics.len().max(person.line.follows));
    let theirs = MailQuery { recipient: Some(line.recipient.clone()), lane: None };
    let of_person = view.mails(&theirs, ALL);
    assert_eq!(of_person.total, person.line.mails);
    assert!(of_person.rows.is_sorted_by_key(|line| line.at));
    assert!(view.people(&person.line.name.to_lowercase(), ALL).total > 0);
    assert_eq!(view.people("", ALL).total, 400);
    assert_eq!(view.people(&line.recipient, ALL).rows[0].id, line.recipient);
    assert!(view.person("nobody", ALL).is_none() && view.mail("nothing").is_none());
}

#[test]
fn p5_more_leads_to_what_a_mail_does_not_show() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = scenario().excerpt(100, Day::parse("1967-12-18").unwrap());
    let played = play(&scenario, rules(), dir.path(), STORE, Afterwards::Removed, &mut |_| {
        ControlFlow::Continue(())
    });
    let view = Shown::new(played.unwrap(), scenario);
    let listing = view.mails(&MailQuery::default(), ALL);
    let line = listing.rows.iter().max_by_key(|line| line.entries).unwrap();
    let html = view.mail(&line.id).unwrap().html.unwrap();
    let token =
        html.split_once("/more/").expect("a mail of a hundred").1.split('"').next().unwrap();
    let rest = view.rest(token, 0).unwrap();
    assert!(rest.contains(&format!("{} more", line.entries - 20)));
    assert_eq!(view.rest(&token[1..], 0), None);
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
    let mails = &played.postbox.mails;
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
