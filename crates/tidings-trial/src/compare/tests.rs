//! Figures, stories and pages of messages that are made up.

use std::io;
use std::sync::atomic::Ordering;

use tidings_core::content::{Item, Message};
use tidings_core::model::{BatchKey, Reason};
use tidings_core::{Day, Id, Instant};

use super::page::ComparisonPage;
use super::tune::{Cooldown, Goal, GoalAnswer, MissedBound, TunedTypes, choose, grid};
use super::*;
use crate::simulate::PlaySink as _;

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
    let wanted = CountFilter { channels: Channels(None), places: None, story: true };
    let mut gather = RunGatherer::new(population, wanted);
    messages.iter().for_each(|message| gather.message(message));
    Played {
        name: format!("{title}.toml"),
        title: title.to_owned(),
        gathered: gather.done(),
        left_out: LeftOutEntries::default(),
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
        let of: &ConfigFigures = &figures[number];
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
    let told: Vec<_> = story.bands.iter().map(|band| band.shown.len()).collect();
    assert_eq!(told, [2, 1]);
    let events = [Instant(600 * MINUTE), Instant(610 * MINUTE)];
    assert_eq!(story.bands[1].shown[0].events, events);
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
    assert!(story.bands[1].shown.is_empty());
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let (mut runs, population) = runs();
    runs[0].title = "<once>".to_owned();
    runs[0].left_out.reasons.insert(Reason::Seen, 7);
    let figures = figures(&runs, &population);
    let story = Story::of(&runs, &population, None);
    let page = ComparisonPage {
        source: "a&b.ndjson",
        channel: None,
        figures: &figures,
        story: story.as_ref(),
    };
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
    let page =
        ComparisonPage { source: "t", channel: Some("email"), figures: &figures, story: None };
    let html = page.html().unwrap();
    assert!(html.contains("sends as many messages as"));
    assert!(!html.contains("NaN") && !html.contains("inf"));
}

#[test]
fn the_cheapest_choice_meets_the_goal() {
    let (runs, population) = runs();
    let choices = figures(&runs, &population);
    let messages = |max_per_day| Goal { max_per_day: Some(max_per_day), ..Goal::default() };
    let delay = |p95_delay_ms| Goal { p95_delay_ms: Some(p95_delay_ms), ..Goal::default() };
    assert_eq!(messages(1).answer(&choices), Some(GoalAnswer::Meets(1)));
    assert_eq!(delay(60 * MINUTE).answer(&choices), Some(GoalAnswer::Meets(0)));
    // Where both will do: the soonest if only messages are bounded, else the one with the fewest.
    assert_eq!(messages(2).answer(&choices), Some(GoalAnswer::Meets(0)));
    assert_eq!(delay(DAY * MINUTE).answer(&choices), Some(GoalAnswer::Meets(1)));
    let both = Goal { p95_delay_ms: Some(60 * MINUTE), ..messages(1) };
    // Twice as many messages are nearer than 23 times the delay.
    assert_eq!(both.answer(&choices), Some(GoalAnswer::Nearest(0)));
    assert!(!choices.iter().any(|of| both.is_met(of)));
    assert_eq!(messages(0).answer(&choices), Some(GoalAnswer::Nearest(0)));
    assert_eq!(both.answer(&[]), None);
}

#[test]
fn a_grid_has_no_wait_that_is_shorter_than_its_quiet() {
    let pairs: Vec<_> =
        grid(&[1, 5], &[2, 5, 9]).iter().map(|pair| (pair.quiet_ms, pair.max_wait_ms)).collect();
    assert_eq!(pairs, [(1, 2), (1, 5), (1, 9), (5, 9)]);
}

#[test]
fn a_choice_goes_where_there_is_a_cooldown() {
    let config = r#"
[categories.c]
[types.a]
category = "c"
channels.email = { policy = "cooldown", quiet = "4m" }
[types.b]
category = "c"
channels.email = { policy = "cooldown", quiet = "4m" }
[types.d]
category = "c"
channels.email = { policy = "now" }
"#;
    let rules = tidings_config::parse(config, "t.toml").unwrap();
    let choice = Cooldown { quiet_ms: MINUTE, max_wait_ms: 2 * MINUTE };
    let only_a = ["a".to_owned()];
    for (types, channel, places) in
        [(None, None, 2), (Some(&only_a[..]), None, 1), (None, Some("inbox"), 0)]
    {
        let mut chosen = rules.clone();
        let count = choose(&mut chosen, types, Channels(channel), choice);
        assert_eq!(count, places);
        assert_eq!(chosen == rules, places == 0);
    }
}

#[test]
fn f16_only_what_is_tuned_is_counted() {
    let config = r#"
[categories.c]
[digests.weekly]
every = "week"
on = "mon"
[types.note]
category = "c"
channels.email = { policy = "cooldown", quiet = "4m" }
[types.news]
category = "c"
channels.email = { policy = "digest", digest = "weekly" }
"#;
    let rules = tidings_config::parse(config, "t.toml").unwrap();
    let channels = Channels(None);
    let places = TunedTypes::of(&rules, None, channels);
    let played = |messages: &[Message]| {
        let mut population = Population::default();
        let wanted = CountFilter { channels, places: Some(&places), story: false };
        let mut gather = RunGatherer::new(&mut population, wanted);
        messages.iter().for_each(|message| gather.message(message));
        let done = gather.done();
        (done.messages, done.delay_ms.max())
    };
    let tuned = message("ann", 10, &[4]);
    let mut digest = message("ann", DAY, &[7]);
    // Who chose a digest in place of the cool-down gets the same type with it.
    digest.lane = "digest:weekly".to_owned();
    let mut other = message("ann", 9, &[2]);
    other.items[0].event_type = id("news");
    let mut both = message("ann", 20, &[8, 1]);
    both.items[1].event_type = id("news");
    assert_eq!(played(&[tuned.clone(), digest, other.clone()]), (1, Some(6 * MINUTE)));
    assert_eq!(played(&[tuned, both]), (2, Some(12 * MINUTE)));
    assert_eq!(played(&[other]), (0, None));
    let none = ["news".to_owned()];
    assert!(
        !TunedTypes::of(&rules, Some(&none), channels).have(&message("ann", 1, &[1]), &id("note"))
    );
}

#[test]
fn f16_a_goal_says_which_of_its_bounds_are_missed() {
    let (runs, population) = runs();
    let all = figures(&runs, &population);
    let now = Goal { max_per_day: Some(0), p95_delay_ms: Some(1), ..Goal::default() };
    for of in &all {
        let missed = now.missed(of);
        assert_eq!(missed.is_empty(), now.is_met(of), "{missed:?}");
        let day = of.messages_per_day.max().unwrap();
        assert!(day == 0 || missed.contains(&MissedBound::PerDay(100, day)), "{missed:?}");
    }
    assert_eq!(Goal { mean_per_day: Some(1e9), ..Goal::default() }.missed(&all[0]), []);
}

/// A timeline that is told to stop at its end.
struct StopsAtEnd<'t> {
    lines: &'t [u8],
    stop: Arc<AtomicBool>,
}

impl io::Read for StopsAtEnd<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.lines.read(into)
    }
}

impl BufRead for StopsAtEnd<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.stop.store(self.lines.is_empty(), Ordering::Relaxed);
        Ok(self.lines)
    }

    fn consume(&mut self, bytes: usize) {
        self.lines.consume(bytes);
    }
}

#[test]
fn a_comparison_stops_between_two_instants() {
    let config = "[categories.news]\n[types.note]\ncategory = \"news\"\n\
        channels = { email = { policy = \"cooldown\", quiet = \"4m\" } }\n";
    let named = |name: &str| {
        let rules = tidings_config::parse(config, name).unwrap();
        NamedRules { name: name.to_owned(), title: name.to_owned(), rules }
    };
    let timeline = "{\"at\":\"2024-01-01T00:00:00Z\",\"op\":\"recipient\",\"id\":\"ann\",\"email\":\"ann@example.org\"}\n\
        {\"at\":\"2024-01-01T00:01:00Z\",\"op\":\"publish\",\"type\":\"note\",\"object\":{\"id\":\"o\"},\"to\":{\"recipients\":[\"ann\"]}}\n";
    let stop = Arc::default();
    let configs = [named("a.toml"), named("b.toml")];
    let whole = compare(&configs, None, || timeline.as_bytes(), &stop).unwrap();
    assert_eq!(whole.iter().map(|of| of.messages).collect::<Vec<_>>(), [1, 1]);
    // What is due after the last line is not played.
    let open = || StopsAtEnd { lines: timeline.as_bytes(), stop: Arc::clone(&stop) };
    let halted = compare(&configs, None, open, &stop).unwrap_err();
    assert_eq!(halted.to_string(), "under a.toml: the run was interrupted: it was stopped");
}
