//! Figures, stories and pages of messages that are made up.

use tidings_core::batch_key::BatchKey;
use tidings_core::{Day, Id, Instant, Item, Message, Reason};

use super::page::Page;
use super::*;
use crate::simulate::Sink as _;

const MINUTE: i64 = 60_000;

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

/// A message to a recipient about events that came at these minutes.
fn message(recipient: &str, at: i64, events: &[i64]) -> Message {
    let item = |t: &i64| Item {
        event: id(&format!("e{t}")),
        event_type: id("note"),
        object: id("o"),
        t: Instant(t * MINUTE),
        reasons: Vec::new(),
    };
    Message {
        tenant: None,
        at: Instant(at * MINUTE),
        recipient: id(recipient),
        channel: "email".to_owned(),
        lane: "now".to_owned(),
        key: BatchKey::EMPTY,
        items: events.iter().map(item).collect(),
        skipped: Vec::new(),
    }
}

fn run(title: &str, messages: &[Message], population: &mut Population) -> Played {
    let wanted = Wanted { channels: Channels(None), story: true };
    let mut gather = Gather::new(population, wanted);
    messages.iter().for_each(|message| gather.message(message));
    Played {
        name: format!("{title}.toml"),
        title: title.to_owned(),
        gathered: gather.done(),
        left_out: LeftOut::default(),
    }
}

const DAY: i64 = 24 * 60;

/// Two configurations: one tells each event at once, the other gathers them.
fn runs() -> (Vec<Played>, Population) {
    let mut population = Population::default();
    let at_once = [
        message("ann", 600, &[600]),
        message("ann", 610, &[610]),
        message("ann", DAY + 5, &[DAY + 5]),
        message("bob", 600, &[600]),
    ];
    let gathered =
        [message("ann", DAY + 540, &[600, 610, DAY + 5]), message("bob", DAY + 540, &[600])];
    let runs =
        vec![run("once", &at_once, &mut population), run("daily", &gathered, &mut population)];
    (runs, population)
}

#[test]
fn days_are_the_same_for_all() {
    let (runs, population) = runs();
    let figures = figures(&runs, &population);
    let of = |number: usize| {
        let of: &Figures = &figures[number];
        let day = &of.messages_per_day;
        (of.messages, of.recipient_days, day.mean(), day.max())
    };
    // Ann has both days; Bob one with his event, and one with the gathered message.
    assert_eq!(of(0), (4, 4, Some(1.0), Some(2)));
    assert_eq!(of(1), (2, 4, Some(0.5), Some(1)));
    assert_eq!(figures[1].delay_ms.max(), Some((DAY - 60) * MINUTE));
    assert_eq!(figures[1].items_per_message.percentile(95), Some(3));
}

#[test]
fn the_inbox_counts_only_where_it_is_asked_for() {
    for (only, counts) in [(None, [true, false]), (Some("inbox"), [false, true])] {
        let channels = Channels(only);
        assert_eq!(["email", "inbox"].map(|name| channels.count(name)), counts);
    }
}

#[test]
fn a_story_is_about_the_greatest_difference() {
    let (runs, population) = runs();
    let story = Story::of(&runs, &population, None).unwrap();
    assert_eq!((story.recipient.as_str(), story.day), ("ann", Day(0)));
    assert_eq!((story.events, story.shown()), (2, 2));
    let told: Vec<_> = story.bands.iter().map(|band| band.told.len()).collect();
    assert_eq!(told, [2, 1]);
    let events = [Instant(600 * MINUTE), Instant(610 * MINUTE)];
    assert_eq!(story.bands[1].told[0].events, events);
    assert_eq!(story.bands[0].messages, 3);
    let bob = Story::of(&runs, &population, Some(&id("bob"))).unwrap();
    assert_eq!(bob.recipient.as_str(), "bob");
    assert_eq!(Story::of(&runs, &population, Some(&id("eve"))), None);
}

#[test]
fn a_story_of_many_events_is_cut() {
    let mut population = Population::default();
    let events: Vec<i64> = (0..100).collect();
    let gathered = run("a", &[message("ann", 200, &events)], &mut population);
    let nothing = run("b", &[], &mut population);
    let story = Story::of(&[gathered, nothing], &population, None).unwrap();
    assert_eq!((story.events, story.shown()), (100, 60));
    assert!(story.bands[1].told.is_empty());
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let (mut runs, population) = runs();
    runs[0].title = "<once>".to_owned();
    runs[0].left_out.reasons.insert(Reason::Seen, 7);
    let figures = figures(&runs, &population);
    let story = Story::of(&runs, &population, None);
    let page =
        Page { source: "a&b.ndjson", channel: None, figures: &figures, story: story.as_ref() };
    let html = page.html().unwrap();
    for said in [
        "<title>&lt;once&gt; or daily?</title>",
        "<b>daily</b> sends 50 % fewer messages than <b>&lt;once&gt;</b>",
        "Half of the events are told within 22h 50m, rather than at once",
        "a&amp;b.ndjson",
        "left out: seen",
        "2 of the events wait until 1970-01-02T09:00:00Z",
    ] {
        assert!(html.contains(said), "no {said} in {html}");
    }
    for foreign in ["<script", "http:", "https:", "url(", "@import", "NaN", "inf"] {
        assert!(!html.contains(foreign), "{foreign} in {html}");
    }
    assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
    // Three plots, and two bands in two widths.
    assert_eq!(html.matches("<svg").count(), 7);
}

#[test]
fn a_page_of_nothing_is_a_page() {
    let mut population = Population::default();
    let runs = [run("a", &[], &mut population), run("b", &[], &mut population)];
    let figures = figures(&runs, &population);
    assert_eq!(Story::of(&runs, &population, None), None);
    let page = Page { source: "t", channel: Some("email"), figures: &figures, story: None };
    let html = page.html().unwrap();
    assert!(html.contains("sends as many messages as"));
    assert!(!html.contains("NaN") && !html.contains("inf"));
}
