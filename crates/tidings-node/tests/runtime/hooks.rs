//! Hooks: each occurrence is told at least once, under one id, whatever the host and the machine do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tidings_core::model::{
    ChangedBy, ChannelAddress, DAY_MS, EMAIL, EMAIL_NO, HOUR_MS, HookChange, MINUTE_MS, Mode,
    OccurrenceKind, PreferenceScope, SECOND_MS, SuppressedFor,
};
use tidings_core::rules::HookRules;
use tidings_core::{Command, Instant, Rules};
use tidings_node::channel::{Channel, Outcome, Receipt, Rendered, Scope, hook_channel};
use tidings_node::{Delivery, HookVitals, Retries, SteppedLoop, VirtualClock};
use tidings_store::FaultStore;

use crate::failing;
use crate::world::*;

/// A service of the host: it keeps what it is told, and answers what it is told to.
#[derive(Default)]
struct Host {
    told: Mutex<Vec<(String, Value)>>,
    answer: Mutex<Option<Outcome>>,
    /// A part of the bodies that it refuses.
    refuses: Mutex<Option<&'static str>>,
    /// A part of the bodies that it answers with 500.
    breaks: Mutex<Option<&'static str>>,
}

impl Host {
    fn refuses(&self, word: Option<&'static str>) {
        *self.refuses.lock().unwrap() = word;
    }

    fn answers(&self, outcome: Option<Outcome>) {
        *self.answer.lock().unwrap() = outcome;
    }

    fn told(&self) -> Vec<(String, Value)> {
        self.told.lock().unwrap().clone()
    }

    fn take(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }
}

impl Channel for Host {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let body: Value = serde_json::from_slice(&message.bytes).unwrap();
        let text = body.to_string();
        let has_word = |word: &str| text.contains(word);
        let is_refused = self.refuses.lock().unwrap().is_some_and(&has_word);
        self.told.lock().unwrap().push((message.head.id.clone(), body));
        if is_refused {
            return Outcome::Retry { why: "reply: 422".to_owned(), after_ms: None };
        }
        if self.breaks.lock().unwrap().is_some_and(has_word) {
            return Outcome::Retry { why: "reply: 500".to_owned(), after_ms: None };
        }
        let answer = self.answer.lock().unwrap().clone();
        answer.unwrap_or(Outcome::Sent(Receipt::default()))
    }
}

fn away() -> Outcome {
    let why = "reply: 503".to_owned();
    Outcome::Retry { why, after_ms: None }
}

fn gone() -> Outcome {
    Outcome::Failed { why: "reply: 410".to_owned(), suppress: Some(SuppressedFor::Gone) }
}

fn hook(name: &str, of: &[OccurrenceKind]) -> HookRules {
    HookRules {
        name: name.to_owned(),
        url: "https://app.example.org/tidings".to_owned(),
        secret: "HOOK_SECRET".to_owned(),
        of: of.iter().copied().collect(),
        allow_private: false,
    }
}

/// A process with hooks that the test drives, over a store that outlives it.
struct Driven {
    process: Option<SteppedLoop>,
    store: Arc<FaultStore>,
    clock: Arc<VirtualClock>,
    rules: Rules,
    hosts: BTreeMap<String, Arc<Host>>,
    mail: Arc<Counter>,
}

impl Driven {
    fn new(hooks: Vec<HookRules>) -> Self {
        let (store, _, _) = failing();
        let hosts = hooks.iter().map(|hook| (hook.name.clone(), Arc::default())).collect();
        let mut driven = Self {
            process: None,
            store,
            clock: clock(MONDAY),
            rules: Rules { hooks, ..rules() },
            hosts,
            mail: Arc::default(),
        };
        driven.start();
        driven
    }

    fn start(&mut self) {
        self.store.restart();
        let opened = Arc::clone(&self.store);
        let open = Box::new(move || Ok(Arc::clone(&opened) as _));
        let mut channels = BTreeMap::from([(EMAIL.to_owned(), plain(Arc::clone(&self.mail)))]);
        for (name, host) in &self.hosts {
            channels.insert(hook_channel(name), plain(Arc::clone(host)));
        }
        let delivery = Delivery::new(channels, Retries::default());
        let clock = Arc::clone(&self.clock);
        let rules = self.rules.clone();
        let opened = SteppedLoop::open(open, None, rules, delivery, clock, settings());
        self.process = Some(opened.unwrap());
    }

    fn crash(&mut self) {
        self.process.take().unwrap().crash();
        self.start();
    }

    fn process(&mut self) -> &mut SteppedLoop {
        self.process.as_mut().unwrap()
    }

    fn host(&self, name: &str) -> &Host {
        &self.hosts[name]
    }

    fn ask(&mut self, commands: Vec<Command>) {
        let answer = ask(self.process().handle(), commands);
        self.rest();
        answer.recv().unwrap().unwrap();
    }

    /// Goes on until there is nothing to do now.
    fn rest(&mut self) {
        let process = self.process();
        loop {
            process.turn();
            let goes_on = process.write() | process.send();
            if !goes_on && !process.has_work() && !process.has_answers() {
                return;
            }
        }
    }

    fn come_to(&mut self, at: Instant) {
        self.clock.set(at);
        self.process().handle().wake().unwrap();
        self.rest();
    }

    fn seen(&mut self, name: &str) -> HookVitals {
        let all = self.process().handle().vitals().hooks.all().unwrap();
        all[name].clone()
    }
}

fn kinds(told: &[(String, Value)]) -> Vec<&str> {
    told.iter().map(|(_, body)| body["type"].as_str().unwrap()).collect()
}

fn ids(told: &[(String, Value)]) -> BTreeSet<&str> {
    told.iter().map(|(id, _)| id.as_str()).collect()
}

fn suppress(address: &str) -> Command {
    let address = ChannelAddress::new(EMAIL_NO, address);
    Command::Suppress { address, reason: SuppressedFor::Manual, until: None }
}

#[test]
fn hooks_are_told_what_they_want_under_one_id() {
    let sent = [OccurrenceKind::MessageSent, OccurrenceKind::PreferenceChanged];
    let all = OccurrenceKind::ALL;
    let mut driven = Driven::new(vec![hook("some", &sent), hook("all", &all)]);
    driven.ask(vec![person("ann"), publish("e1", "bill", "ann")]);
    let prefer = |mode| Command::Preference {
        tenant: None,
        recipient: id("ann"),
        scope: PreferenceScope::Type("note".to_owned()),
        channel: EMAIL.to_owned(),
        mode,
        by: ChangedBy::Link,
    };
    driven.ask(vec![prefer(Mode::Never), prefer(Mode::Never)]);
    driven.ask(vec![suppress("ann@example.org"), suppress("ann@example.org")]);
    let (some, all) = (driven.host("some").told(), driven.host("all").told());
    assert_eq!(kinds(&some), ["message.sent", "preference.changed"]);
    assert_eq!(kinds(&all), ["message.sent", "preference.changed", "address.suppressed"]);
    assert!(some.iter().all(|told| all.contains(told)), "the same body under the same id");
    let data = &all[0].1["data"];
    assert_eq!(data["recipient"], "ann");
    assert_eq!(data["address"], "ann@example.org");
    assert_eq!((&data["types"][0], &data["events"][0]), (&"bill".into(), &"e1".into()));
    assert_eq!(all[0].1["timestamp"], MONDAY.to_string());
    assert_eq!(all[1].1["data"]["by"], "link");
    assert_eq!(all[2].1["data"]["by"], "key");
    let seen = driven.seen("all");
    assert_eq!((seen.sent, seen.backlog, seen.last.unwrap().1), (3, 0, 200));
}

/// `TIDINGS_HOOKS=10000` plays as many messages.
#[test]
fn hooks_tell_each_occurrence_at_least_once_and_under_one_id_over_crashes() {
    let count: usize = std::env::var("TIDINGS_HOOKS").map_or(400, |count| count.parse().unwrap());
    let mut driven = Driven::new(vec![hook("app", &[OccurrenceKind::MessageSent])]);
    driven.ask((0..20).map(|n| person(&format!("p{n}"))).collect());
    let mut number = 0;
    let mut random = 7_u64;
    while number < count {
        let some = 20.min(count - number);
        let events = (number..number + some)
            .map(|n| publish(&format!("e{n}"), "bill", &format!("p{}", n - number)));
        driven.ask(events.collect());
        number += some;
        // A time in which progress is written, or is not.
        let now = MONDAY.plus_ms(700 * i64::try_from(number).unwrap());
        driven.clock.set(now);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        driven.host("app").answers(random.is_multiple_of(3).then(away));
        for _ in 0..random % 40 {
            let process = driven.process();
            process.turn();
            let _ = process.write() | process.send();
        }
        driven.crash();
    }
    driven.host("app").answers(None);
    driven.rest();
    driven.come_to(MONDAY.plus_ms(DAY_MS));
    let told = driven.host("app").told();
    let mut bodies = BTreeMap::new();
    let mut events = BTreeSet::new();
    for (id, body) in &told {
        assert_eq!(bodies.entry(id).or_insert(body), &body, "one id, one occurrence");
        events.insert(body["data"]["events"][0].as_str().unwrap());
    }
    assert_eq!(events.len(), count, "each is told");
    // A mail that was handed over again after a crash in doubt is the same message, and ends once.
    assert_eq!(bodies.len(), count, "never two ids");
    assert_eq!(driven.seen("app").backlog, 0);
}

#[test]
fn a_hook_that_is_away_for_a_day_costs_bounded_memory_and_delays_nothing() {
    let mut driven = Driven::new(vec![
        hook("app", &[OccurrenceKind::MessageSent]),
        hook("other", &[OccurrenceKind::MessageSent]),
    ]);
    driven.host("app").answers(Some(away()));
    driven.ask((0..100).map(|n| person(&format!("p{n}"))).collect());
    let mut number = 0;
    for hour in 0..24 {
        driven.come_to(MONDAY.plus_ms(hour * HOUR_MS));
        let events =
            (0..100).map(|n| publish(&format!("e{}", number + n), "bill", &format!("p{n}")));
        driven.ask(events.collect());
        number += 100;
        let seen = driven.seen("app");
        assert!(seen.open <= 1_200, "{seen:?}");
        assert_eq!(seen.backlog, number);
        assert_eq!(driven.host("other").told().len() as u64, number);
    }
    assert_eq!(driven.mail.0.load(std::sync::atomic::Ordering::SeqCst) as u64, number);
    driven.crash();
    driven.rest();
    assert_eq!(driven.seen("app").backlog, number);
    driven.host("app").answers(None);
    driven.host("app").take();
    driven.come_to(MONDAY.plus_ms(26 * HOUR_MS));
    let told = driven.host("app").take();
    assert_eq!(ids(&told).len() as u64, number);
    assert_eq!(driven.seen("app").backlog, 0);
}

#[test]
fn a_hook_that_answers_410_is_off_over_a_restart_until_it_is_resumed() {
    let mut driven = Driven::new(vec![hook("app", &[OccurrenceKind::AddressSuppressed])]);
    driven.host("app").answers(Some(gone()));
    driven.ask(vec![suppress("a@example.org")]);
    assert!(driven.seen("app").is_off);
    let told = driven.host("app").take();
    assert_eq!(told.len(), 1);
    driven.host("app").answers(None);
    driven.ask(vec![suppress("b@example.org")]);
    driven.crash();
    driven.come_to(MONDAY.plus_ms(DAY_MS));
    let seen = driven.seen("app");
    assert_eq!((seen.is_off, seen.backlog), (true, 2));
    assert_eq!(driven.host("app").take(), []);
    let resume = Command::Hook { name: "app".to_owned(), change: HookChange::Resume };
    driven.ask(vec![resume]);
    let again = driven.host("app").take();
    assert_eq!(again.len(), 2);
    assert!(again.contains(&told[0]), "under its id");
    let seen = driven.seen("app");
    assert_eq!((seen.is_off, seen.backlog), (false, 0));
    driven.crash();
    driven.rest();
    assert!(!driven.seen("app").is_off);
}

#[test]
fn a_replay_tells_again_what_occurred_since_under_the_same_ids() {
    let mut driven = Driven::new(vec![hook("app", &[OccurrenceKind::AddressSuppressed])]);
    for hour in 0..3 {
        driven.come_to(MONDAY.plus_ms(hour * HOUR_MS));
        driven.ask(vec![suppress(&format!("{hour}@example.org"))]);
    }
    let told = driven.host("app").take();
    assert_eq!(told.len(), 3);
    let replay = |since_ms| Command::Hook {
        name: "app".to_owned(),
        change: HookChange::Replay(MONDAY.plus_ms(since_ms)),
    };
    driven.ask(vec![replay(HOUR_MS)]);
    assert_eq!(driven.host("app").take(), told[1..]);
    // It is done once, also where the process ends right after it was asked for.
    driven.come_to(MONDAY.plus_ms(4 * HOUR_MS));
    driven.crash();
    driven.rest();
    assert_eq!(driven.host("app").take(), []);
    driven.ask(vec![replay(10 * HOUR_MS)]);
    assert_eq!(driven.host("app").take(), []);
}

#[test]
fn a_failed_call_waits_twice_as_long_each_time_or_as_the_host_asks_and_three_days_at_most() {
    let mut driven = Driven::new(vec![hook("app", &[OccurrenceKind::AddressSuppressed])]);
    driven.host("app").answers(Some(away()));
    driven.ask(vec![suppress("a@example.org")]);
    let mut now = MONDAY;
    // The waits are spread over a tenth.
    for wait_ms in [30 * SECOND_MS, MINUTE_MS, 2 * MINUTE_MS] {
        assert_eq!(driven.host("app").take().len(), 1);
        driven.come_to(now.plus_ms(wait_ms - SECOND_MS));
        assert_eq!(driven.host("app").take().len(), 0, "{wait_ms}");
        now = now.plus_ms(wait_ms * 11 / 10 + 1);
        driven.come_to(now);
    }
    let why = "reply: 429".to_owned();
    let after_ms = Some(2 * HOUR_MS);
    driven.host("app").answers(Some(Outcome::Away { scope: Scope::Provider, why, after_ms }));
    now = now.plus_ms(HOUR_MS);
    driven.come_to(now);
    driven.host("app").take();
    driven.come_to(now.plus_ms(2 * HOUR_MS - SECOND_MS));
    assert_eq!(driven.host("app").take().len(), 0);
    assert_eq!(driven.seen("app").last.unwrap().1, 429);
    driven.host("app").answers(Some(away()));
    for hour in 2..80 {
        driven.come_to(now.plus_ms(hour * HOUR_MS));
    }
    let seen = driven.seen("app");
    assert_eq!((seen.failed, seen.backlog), (1, 0), "given up after three days");
}

/// The occurrences that were told, of addresses with a word in them.
fn with_word<'t>(told: &'t [(String, Value)], word: &str) -> Vec<&'t str> {
    let has_word = |body: &Value| body["data"]["address"].as_str().unwrap().contains(word);
    told.iter().filter(|(_, body)| has_word(body)).map(|(id, _)| id.as_str()).collect()
}

#[test]
fn what_a_host_refuses_for_ever_holds_up_nobody_and_is_told_after_the_mend() {
    let mut driven = Driven::new(vec![hook("app", &[OccurrenceKind::AddressSuppressed])]);
    driven.host("app").refuses(Some("bad"));
    // More than are open at once, in steps, since a row is read whole.
    let all = 2_500;
    for step in 0..all / 50 {
        let bad = (0..50).map(|n| suppress(&format!("bad-{}@example.org", step * 50 + n)));
        driven.ask(bad.collect());
    }
    let first: BTreeMap<String, Value> = driven.host("app").take().into_iter().collect();
    driven.ask((0..100).map(|n| suppress(&format!("good-{n}@example.org"))).collect());
    let told = driven.host("app").take();
    assert_eq!(with_word(&told, "good").len(), 100, "told at once, each once");
    let seen = driven.seen("app");
    assert_eq!(seen.backlog, all);
    assert!(seen.open <= 1_300, "{seen:?}");
    // The same after a crash: none is lost, and none is in the way.
    driven.crash();
    driven.rest();
    driven.host("app").take();
    assert_eq!(driven.seen("app").backlog, all);
    driven.ask(vec![suppress("good-100@example.org")]);
    assert_eq!(with_word(&driven.host("app").take(), "good").len(), 1);
    // They are tried as others are: after 30 s, then after twice as long.
    let mut again = BTreeMap::new();
    for minute in 1..=6 {
        driven.come_to(MONDAY.plus_ms(minute * MINUTE_MS));
        for id in with_word(&driven.host("app").take(), "bad") {
            *again.entry(id.to_owned()).or_insert(0) += 1;
        }
        let seen = driven.seen("app");
        assert!(seen.open <= 1_300 && seen.backlog == all, "{seen:?}");
    }
    assert_eq!(again.len() as u64, all, "each is tried again");
    assert!(again.values().all(|tries| (1..=4).contains(tries)), "{:?}", again.values().max());
    driven.host("app").refuses(None);
    let resume = Command::Hook { name: "app".to_owned(), change: HookChange::Resume };
    driven.ask(vec![resume]);
    let told = driven.host("app").take();
    assert_eq!(driven.seen("app").backlog, 0, "a command tells at once what waits");
    let after: BTreeMap<String, Value> = told.into_iter().collect();
    assert_eq!(after.len() as u64, all);
    assert!(first.iter().all(|(id, body)| after.get(id) == Some(body)), "under their ids");
    driven.crash();
    driven.come_to(MONDAY.plus_ms(DAY_MS));
    assert_eq!(driven.seen("app").backlog, 0);
}

#[test]
fn what_is_refused_is_given_up_after_three_days_where_it_is_parked_too() {
    let mut driven = Driven::new(vec![hook("app", &[OccurrenceKind::AddressSuppressed])]);
    driven.host("app").refuses(Some("bad"));
    for step in 0..22 {
        let bad = (0..50).map(|n| suppress(&format!("bad-{}@example.org", step * 50 + n)));
        driven.ask(bad.collect());
    }
    for half_hour in 1..160 {
        driven.come_to(MONDAY.plus_ms(half_hour * HOUR_MS / 2));
    }
    let seen = driven.seen("app");
    assert_eq!((seen.failed, seen.backlog), (1_100, 0));
}

#[test]
fn a_call_that_succeeds_leaves_to_its_wait_what_is_refused() {
    let mut driven = Driven::new(vec![hook("app", &[OccurrenceKind::AddressSuppressed])]);
    driven.host("app").refuses(Some("bad"));
    driven.ask(vec![suppress("bad@example.org")]);
    for second in 1..25 {
        driven.come_to(MONDAY.plus_ms(second * SECOND_MS));
        driven.ask(vec![suppress(&format!("good-{second}@example.org"))]);
    }
    let told = driven.host("app").take();
    assert_eq!((with_word(&told, "bad").len(), with_word(&told, "good").len()), (1, 24));
    driven.come_to(MONDAY.plus_ms(34 * SECOND_MS));
    assert_eq!(driven.host("app").take().len(), 1);
    // One that was tried while nobody was there follows at once.
    driven.host("app").refuses(None);
    driven.host("app").answers(Some(away()));
    driven.ask(vec![suppress("late@example.org")]);
    driven.host("app").answers(None);
    driven.host("app").take();
    driven.ask(vec![suppress("good@example.org")]);
    assert_eq!(with_word(&driven.host("app").take(), "late").len(), 1);
}

#[test]
fn item14_what_fails_for_ever_holds_back_no_newer_ones() {
    let mut driven = Driven::new(vec![hook("app", &[OccurrenceKind::AddressSuppressed])]);
    *driven.host("app").breaks.lock().unwrap() = Some("bad");
    let all = 1_500;
    for step in 0..all / 50 {
        let bad = (0..50).map(|n| suppress(&format!("bad-{}@example.org", step * 50 + n)));
        driven.ask(bad.collect());
    }
    driven.ask((0..100).map(|n| suppress(&format!("good-{n}@example.org"))).collect());
    for minute in 1..=30 {
        driven.come_to(MONDAY.plus_ms(minute * MINUTE_MS));
        let seen = driven.seen("app");
        assert!(seen.open <= 1_400, "{seen:?}");
    }
    let told = driven.host("app").take();
    assert_eq!(with_word(&told, "good").len(), 100, "each once");
    assert_eq!(driven.seen("app").backlog, all);
    // From now on nothing waits for what fails.
    driven.ask(vec![suppress("good-100@example.org")]);
    assert_eq!(with_word(&driven.host("app").take(), "good").len(), 1);
    *driven.host("app").breaks.lock().unwrap() = None;
    for hour in 1..=24 {
        driven.come_to(MONDAY.plus_ms(hour * HOUR_MS));
    }
    assert_eq!(driven.seen("app").backlog, 0);
}

#[test]
fn c7_a_line_that_changed_to_and_fro_before_it_was_told_is_told_as_it_is_now() {
    let mut driven = Driven::new(vec![hook("app", &[OccurrenceKind::PreferenceChanged])]);
    driven.host("app").answers(Some(away()));
    driven.ask(vec![person("ann"), person("ben")]);
    let change = |who: &str, mode| Command::Preference {
        recipient: id(who),
        scope: PreferenceScope::AllCategories,
        channel: EMAIL.to_owned(),
        mode,
        tenant: None,
        by: ChangedBy::User,
    };
    for _ in 0..1_000 {
        driven.ask(vec![change("ann", Mode::Never)]);
        driven.ask(vec![change("ann", Mode::Default)]);
    }
    driven.ask(vec![change("ann", Mode::Never), change("ben", Mode::Never)]);
    driven.host("app").answers(None);
    driven.host("app").take();
    driven.come_to(MONDAY.plus_ms(2 * HOUR_MS));
    let told = driven.host("app").take();
    let of = |who: &str| told.iter().filter(|(_, body)| body.to_string().contains(who)).count();
    assert!(of("ann") <= 4, "{}", of("ann"));
    assert_eq!((of("ben"), driven.seen("app").backlog), (1, 0));
    assert!(told.last().is_some_and(|(_, body)| body.to_string().contains("never")));
}

#[test]
fn c7_one_recipients_occurrences_leave_the_others_their_turns() {
    for (many, one) in [("ann", "ben"), ("ben", "ann")] {
        let mut driven = Driven::new(vec![hook("app", &[OccurrenceKind::PreferenceChanged])]);
        let change = |who: &str, number: u32| Command::Preference {
            recipient: id(who),
            scope: PreferenceScope::Object(id(&format!("o{number}"))),
            channel: EMAIL.to_owned(),
            mode: Mode::Never,
            tenant: None,
            by: ChangedBy::User,
        };
        driven.ask(vec![person("ann"), person("ben")]);
        // The first call turns the hook off; what occurs meanwhile waits.
        driven.host("app").answers(Some(gone()));
        driven.ask((0..300).map(|number| change(many, number)).collect());
        driven.ask(vec![change(one, 0)]);
        driven.host("app").answers(None);
        driven.host("app").take();
        let resume = HookChange::Resume;
        driven.ask(vec![Command::Hook { name: "app".to_owned(), change: resume }]);
        let told = driven.host("app").take();
        let is_of_one = |(_, body): &(String, Value)| body["data"]["recipient"] == one;
        let first = told.iter().position(is_of_one);
        assert!(first.is_some_and(|at| at < 30) && told.len() == 301, "{first:?} {}", told.len());
    }
}
