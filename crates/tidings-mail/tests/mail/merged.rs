//! Sentences about several events say only what is true of each of them.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use tidings_core::content::{Batch, Entry, group};
use tidings_core::index::Header;
use tidings_core::model::{EventNo, Score};
use tidings_core::rules::{Texts, Wording};
use tidings_core::{Instant, Object, Rules};
use tidings_mail::{Design, content, short};

use crate::fixture::{batch, id, object, sender};

/// An event: its actor, object, target and `data.said`, each with its name.
#[derive(Clone, Copy, Debug)]
struct Event {
    actor: Option<usize>,
    object: usize,
    target: Option<usize>,
    said: Option<usize>,
}

const ACTORS: [&str; 4] = ["Cleo Marsh", "Ben Okafor", "Lea Weiss", "Dov Adler"];
const OBJECTS: [&str; 3] = ["Ship dark mode", "Hero image", "Price list"];
const TARGETS: [&str; 3] = ["Website", "Mobile app", "Shop"];
const SAID: [&str; 4] = ["LGTM", "Too dark for me", "Who pays", "Second try"];

fn entry(at: usize, event: &Event) -> Entry {
    let titled = |kind: &str, titles: &[&str], at: usize| {
        let name = format!("{kind}/{at}");
        Arc::new(Object { url: Some(format!("/{name}")), ..object(&name, titles[at]) })
    };
    let object = titled("object", &OBJECTS, event.object);
    let actor = event.actor.map(|at| titled("actor", &ACTORS, at));
    let target = event.target.map(|at| titled("target", &TARGETS, at));
    let data = event.said.map(|at| json!({ "said": SAID[at] }));
    Entry {
        header: Header {
            place: EventNo(at as u64),
            id: id(&format!("e{at}")),
            event_type: id("comment"),
            actor: actor.as_ref().map(|actor| actor.id.clone()),
            object: object.id.clone(),
            target: target.as_ref().map(|target| target.id.clone()),
            score: Score::default(),
            occurred_at: None,
            expires_at: None,
        },
        t: Instant(1_709_500_000_000 + at as i64),
        reasons: ["named".to_owned()].into(),
        object,
        actor,
        target,
        data: data.and_then(|data| data.as_object().cloned().map(Arc::new)),
        body: None,
    }
}

fn message(events: &[Event]) -> Batch {
    let entries: Vec<Entry> = (1..).zip(events).map(|(at, event)| entry(at, event)).collect();
    batch(group(entries.iter().collect(), &Rules::default()))
}

fn design(sentence: &str) -> Design {
    let texts = |text: &str| Texts([(String::new(), text.to_owned())].into());
    let mut rules = Rules::default();
    let wording = Wording {
        title: texts("{count|comment|comments}"),
        sentence: texts(sentence),
        subject: texts(sentence),
        ..Wording::default()
    };
    let types = &mut rules.presentation.types;
    types.insert("comment".to_owned(), wording);
    Design::new(sender(), &rules).unwrap()
}

fn comment(actor: usize, object: usize, said: usize) -> Event {
    Event { actor: Some(actor), object, target: Some(0), said: Some(said) }
}

const QUOTING: &str = "{actor} commented on {object}: “{data.said}”";

#[test]
fn f3_nobody_is_given_the_words_of_another() {
    // Two about each of two things, by three people: what each said stands nowhere as what all said.
    let events = [comment(0, 0, 0), comment(1, 0, 1), comment(2, 1, 2), comment(0, 1, 3)];
    let design = design(QUOTING);
    let (subject, bodies) = content(&message(&events), &design).unwrap();
    assert_eq!(subject, "Cleo Marsh, Lea Weiss and 1 other: 4 comments");
    for body in [&bodies.text, &bodies.html] {
        assert!(SAID.iter().all(|said| !body.contains(said)), "{body}");
    }
    assert!(
        bodies.text.contains("* Hero image\n  2 new · Cleo Marsh and Lea Weiss\n"),
        "{}",
        bodies.text
    );
    let short = short(&message(&events), &design).unwrap();
    assert_eq!(
        (short.title.as_str(), short.text.as_str()),
        ("4 comments", "Hero image · Ship dark mode")
    );
}

#[test]
fn f3_each_item_keeps_its_own_words() {
    let design = design(QUOTING);
    let events = [comment(0, 0, 0), comment(1, 1, 1)];
    let (subject, bodies) = content(&message(&events), &design).unwrap();
    assert_eq!(subject, "Ben Okafor and Cleo Marsh: 2 comments");
    for sentence in [
        "* Cleo Marsh commented on Ship dark mode: “LGTM”\n",
        "* Ben Okafor commented on Hero image: “Too dark for me”\n",
    ] {
        assert!(bodies.text.contains(sentence), "{}", bodies.text);
    }
    // Where all say the same, one sentence says it.
    let same = [comment(0, 0, 0), comment(1, 1, 0)];
    let (subject, _) = content(&message(&same), &design).unwrap();
    assert_eq!(
        subject,
        "Ben Okafor and Cleo Marsh commented on Hero image and Ship dark mode: “LGTM”"
    );
}

#[test]
fn f3_types_are_counted_by_what_is_known_of_them() {
    let mut entries: Vec<Entry> = [comment(0, 0, 0), comment(1, 0, 1)]
        .iter()
        .enumerate()
        .map(|(at, event)| entry(at, event))
        .collect();
    entries[1].header.event_type = id("like");
    let message = batch(group(entries.iter().collect(), &Rules::default()));
    let (subject, _) = content(&message, &design(QUOTING)).unwrap();
    assert_eq!(subject, "2 new: Ship dark mode");
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = (
        prop::option::weighted(0.9, 0..ACTORS.len()),
        0..OBJECTS.len(),
        prop::option::weighted(0.9, 0..TARGETS.len()),
        prop::option::weighted(0.9, 0..SAID.len()),
    );
    let event =
        event.prop_map(|(actor, object, target, said)| Event { actor, object, target, said });
    prop::collection::vec(event, 1..8)
}

proptest! {
    /// A sentence holds for each event about the things that it names: what they said, where it was, and that
    /// somebody did it.
    #[test]
    fn f3_a_sentence_is_true_of_each_of_its_events(events in events()) {
        let sentence = "Say: {actor} in {target} on {object} with {data.said}";
        let (subject, bodies) = content(&message(&events), &design(sentence)).unwrap();
        let sentences = bodies.text.lines().chain([subject.as_str()]);
        for sentence in sentences.filter_map(|line| line.split_once("Say: ")).map(|(_, said)| said) {
            let counts_more = sentence.split(" on ").nth(1).unwrap().contains(" other");
            let about = |event: &&Event| counts_more || sentence.contains(OBJECTS[event.object]);
            for event in events.iter().filter(about) {
                let (Some(actor), Some(target), Some(said)) = (event.actor, event.target, event.said) else {
                    panic!("{event:?} in {sentence}");
                };
                prop_assert!(sentence.ends_with(&format!(" with {}", SAID[said])), "{event:?} in {sentence}");
                let (who, place) = sentence.split_once(" in ").unwrap();
                let place = place.split(" on ").next().unwrap();
                for (names, name) in [(who, ACTORS[actor]), (place, TARGETS[target])] {
                    prop_assert!(names.contains(name) || names.contains(" other"), "{event:?} in {sentence}");
                }
            }
        }
    }
}
