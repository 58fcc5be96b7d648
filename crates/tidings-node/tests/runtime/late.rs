//! A clock that is late: the process was down, or the clock jumped while it slept.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use tidings_core::content::Totals;
use tidings_core::engine::Options;
use tidings_core::model::{Audience, DAY_MS, EMAIL, HOUR_MS, MINUTE_MS, PauseSubject};
use tidings_core::rules::{Every, Policy};
use tidings_core::{Command, Day, Instant, Rules};
use tidings_node::Monotonic;
use tidings_node::channel::{Channel, Outcome, Receipt, Rendered};
use tidings_node::{
    Clock, Delivery, Handle, OpenStore, Replies, Retries, Runtime, Settings, VirtualClock,
};
use tidings_store::{FaultStore, MemoryStore, NoFaults, Store};

use crate::world::*;

fn in_memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// The usual rules, by which days are forgotten so soon.
fn keeping(days: i64) -> Rules {
    let mut rules = rules();
    rules.store.keep_ms = days * DAY_MS;
    rules
}

fn later(command: Command, at: Instant) -> Command {
    match command {
        Command::Publish(mut event) => {
            event.deliver_at = Some(at);
            Command::Publish(event)
        }
        other => other,
    }
}

fn told(books: &Totals) -> (u64, u64, u64) {
    (books.messages, books.delivered, books.expired)
}

/// Day and hour of January 2024, which begins with a Monday.
fn at(day: i64, hour: i64, minute: i64) -> Instant {
    MONDAY.plus_ms((day - 1) * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS)
}

/// Publishes a note on the first day, and starts again, or goes on, after an outage.
fn over_an_outage(rules: &Rules, restarts: bool, from: Instant, to: Instant) -> Totals {
    let (store, clock, mail) = (in_memory(), clock(at(1, 10, 0)), Arc::new(Counter::default()));
    let begin =
        || start_under(rules.clone(), over(&store), plain(Arc::clone(&mail)), &clock, settings());
    let mut runtime = begin();
    let commands = vec![person("ann"), publish("e1", "note", "ann")];
    runtime.handle().submit(commands).unwrap();
    clock.set(from);
    runtime.handle().submit(Vec::new()).unwrap();
    if restarts {
        runtime.stop().unwrap();
        clock.set(to);
        runtime = begin();
    } else {
        clock.set(to);
        runtime.handle().wake().unwrap();
    }
    let handle = runtime.handle();
    handle.submit(Vec::new()).unwrap();
    let books = settled(&handle);
    runtime.stop().unwrap();
    assert_eq!(mail.0.load(Ordering::SeqCst) as u64, books.messages);
    books
}

/// Acceptance A14, T22: what came due while nobody ran is told, also where its day was to be forgotten
/// meanwhile.
#[test]
fn a14_what_is_due_does_not_expire_because_the_server_was_away() {
    for restarts in [true, false] {
        let books = over_an_outage(&keeping(1), restarts, at(2, 8, 0), at(3, 0, 30));
        assert_eq!(told(&books), (1, 1, 0), "restarts: {restarts}");
        // A week later it is as long ago as it can be.
        let books = over_an_outage(&keeping(1), restarts, at(2, 8, 0), at(9, 12, 0));
        assert_eq!(told(&books), (1, 1, 0), "restarts: {restarts}");
    }
}

#[test]
fn a14_a_weekly_digest_outlives_an_outage_over_its_monday() {
    let mut rules = keeping(7);
    let digest = rules.digests.get_mut("daily").unwrap();
    digest.every = Every::Week(1);
    for restarts in [true, false] {
        let books = over_an_outage(&rules, restarts, at(7, 20, 0), at(9, 0, 30));
        assert_eq!(told(&books), (1, 1, 0), "restarts: {restarts}");
    }
}

/// The look is that of the missed instant: what expired later had not expired.
#[test]
fn t22_what_was_due_is_told_as_it_was_when_it_came_due() {
    let (store, clock, mail) = (in_memory(), clock(at(1, 10, 0)), Arc::new(Counter::default()));
    let begin = || start(over(&store), plain(Arc::clone(&mail)), &clock, settings());
    let runtime = begin();
    let mut event = publish("e1", "note", "ann");
    if let Command::Publish(event) = &mut event {
        event.expires_at = Some(at(2, 10, 0));
    }
    let commands = vec![person("ann"), event];
    runtime.handle().submit(commands).unwrap();
    runtime.stop().unwrap();
    clock.set(at(2, 12, 0));
    let runtime = begin();
    assert_eq!(told(&settled(&runtime.handle())), (1, 1, 0));
    runtime.stop().unwrap();
}

/// Acceptance A14: what waits of a day that is to be forgotten, and is not due, expires at its midnight
/// even where the day itself stays for what is due.
#[test]
fn a14_what_is_not_due_expires_at_its_midnight() {
    let (store, clock) = (in_memory(), clock(at(1, 10, 0)));
    let mut rules = keeping(1);
    let held =
        Policy::FirstEvent { hold_ms: 39 * HOUR_MS, decide: tidings_core::rules::Decide::First };
    let kind = rules.types.get_mut("bill").unwrap();
    kind.channels.get_mut(EMAIL).unwrap().policy = held;
    let begin = || {
        let mail = Arc::new(Counter::default());
        start_under(rules.clone(), over(&store), plain(mail), &clock, settings())
    };
    let runtime = begin();
    let commands = vec![person("ann"), publish("e1", "note", "ann"), publish("e2", "bill", "ann")];
    runtime.handle().submit(commands).unwrap();
    runtime.stop().unwrap();
    // The bill is due on Wednesday at 01:00, an hour after Monday is forgotten.
    clock.set(at(3, 2, 0));
    let runtime = begin();
    let handle = runtime.handle();
    handle.submit(Vec::new()).unwrap();
    assert_eq!(told(&settled(&handle)), (1, 1, 1));
    while handle.look(|node| node.engine().ledger().len()).unwrap() == 0 {}
    runtime.stop().unwrap();
    let days = store.days().unwrap();
    assert!(days.iter().all(|day| *day > at(1, 0, 0).day()), "{days:?}");
}

/// A provider that stays away keeps a day no longer than messages are tried again, and what is paused no
/// longer than that either. What was forgotten is not told afterwards.
#[test]
fn a14_what_goes_nowhere_keeps_no_day_for_ever() {
    let (store, clock) = (in_memory(), clock(at(1, 10, 0)));
    let (gate, keeper) = Gate::new();
    let runtime = start_under(keeping(1), over(&store), plain(gate), &clock, settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann"), publish("e1", "note", "ann")]).unwrap();
    clock.set(at(2, 9, 0));
    handle.wake().unwrap();
    keeper.next();
    handle.submit(vec![Command::Pause(PauseSubject::Channel(EMAIL.to_owned()))]).unwrap();
    keeper.later();
    // The loop has heard the answer before the clock goes on.
    while retrying(&handle, None).count == 0 {}
    let pending_at = |now| {
        clock.set(now);
        handle.submit(Vec::new()).unwrap();
        let books = handle.look(|node| node.books().unwrap()).unwrap();
        assert!(books.balance(), "{books:?}");
        (books.pending, books.expired)
    };
    assert_eq!(pending_at(at(3, 0, 0)), (1, 0));
    assert_eq!(pending_at(at(4, 23, 59)), (1, 0));
    assert_eq!(pending_at(at(5, 0, 0)), (0, 1));
    let resume = Command::Resume(PauseSubject::Channel(EMAIL.to_owned()));
    handle.submit(vec![resume]).unwrap();
    assert_eq!(pending_at(at(6, 0, 0)), (0, 1));
    runtime.stop().unwrap();
    assert!(keeper.handed.try_recv().is_err(), "told after it was forgotten");
}

/// Takes everything, and keeps of each message when it came due and for whom it was.
#[derive(Default)]
struct Seen(Mutex<Vec<(Instant, String)>>);

impl Channel for Seen {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        assert!(go());
        let seen = (message.head.at, message.head.recipient.as_ref().unwrap().to_string());
        self.0.lock().unwrap().push(seen);
        Outcome::Sent(Receipt::default())
    }
}

/// Acceptance T22: many lanes over many days, which are forgotten in between; each is told once, in the order in
/// which they came due.
#[test]
fn t22_many_lanes_over_many_days_are_told_in_their_order() {
    const LANES: i64 = 600;
    let (store, clock) = (in_memory(), clock(MONDAY));
    let mail = Arc::new(Seen::default());
    let begin =
        || start_under(keeping(1), over(&store), plain(Arc::clone(&mail)), &clock, settings());
    let runtime = begin();
    let due = |number: i64| MONDAY.plus_ms(HOUR_MS + number * (12 * DAY_MS / LANES) + number % 7);
    let commands = (0..LANES).flat_map(|number| {
        let name = format!("p{number}");
        let event = publish(&format!("e{number}"), "bill", &name);
        [person(&name), later(event, due(number))]
    });
    runtime.handle().submit(commands.collect()).unwrap();
    runtime.stop().unwrap();
    clock.set(MONDAY.plus_ms(20 * DAY_MS));
    let runtime = begin();
    let handle = runtime.handle();
    handle.submit(Vec::new()).unwrap();
    let books = settled(&handle);
    assert_eq!(told(&books), (LANES as u64, LANES as u64, 0));
    runtime.stop().unwrap();
    let expected: Vec<_> = (0..LANES).map(|number| (due(number), format!("p{number}"))).collect();
    assert_eq!(*mail.0.lock().unwrap(), expected);
}

fn counted() -> (Arc<FaultStore>, Arc<Held>, OpenStore) {
    let store = Arc::new(FaultStore::new(NoFaults));
    let held = Arc::new(Held::over(Arc::clone(&store)));
    let opened = Arc::clone(&held);
    let open: OpenStore = Box::new(move || Ok(Arc::clone(&opened) as Arc<dyn Store>));
    (store, held, open)
}

/// Missed instants are made up for in few commits, and who looks is answered in between; who asks for
/// something is answered after all of them.
#[test]
fn t22_missed_instants_are_made_up_for_in_few_commits() {
    const MISSED: i64 = 10_000;
    const COMMITS_MAX: u64 = 80;
    let (store, held, open) = counted();
    let clock = clock(MONDAY);
    let (gate, keeper) = Gate::new();
    let runtime = start(open, plain(gate), &clock, settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    let due = |number: i64| MONDAY.plus_ms(1_000 + number);
    let events =
        (0..MISSED).map(|number| later(publish(&format!("e{number}"), "bill", "ann"), due(number)));
    handle.submit(events.collect()).unwrap();
    let before = store.writes();
    let (arrived, release) = held.hold();
    clock.set(MONDAY.plus_ms(HOUR_MS));
    handle.wake().unwrap();
    arrived.recv().unwrap();
    let now = handle.look(|node| node.engine().now()).unwrap();
    let published = ask(&handle, vec![publish("last", "bill", "ann")]);
    drop(release);
    assert!(now < due(MISSED - 1), "{now}: nobody was answered meanwhile");
    published.recv().unwrap().unwrap();
    let commits = store.writes() - before;
    assert!(commits < COMMITS_MAX, "{commits} commits");
    let entered = handle.look(|node| node.books().unwrap().entries).unwrap();
    assert_eq!(entered, MISSED as u64 + 1);
    drop(keeper);
    runtime.stop().unwrap();
}

/// Acceptance P11: a crowd's digests are being made while one urgent event is published: it waits for one
/// slice of them.
#[test]
fn p11_an_urgent_event_waits_for_one_slice_of_a_crowd() {
    const CROWD: usize = 10_000;
    struct Crowded(Arc<FaultStore>, Mutex<Option<u64>>);
    impl Channel for Crowded {
        fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
            assert!(go());
            if message.head.lane == "now" {
                *self.1.lock().unwrap() = Some(self.0.writes());
            }
            Outcome::Sent(Receipt::default())
        }
    }
    let (store, held, open) = counted();
    let (clock, mail) = (clock(MONDAY), Arc::new(Crowded(Arc::clone(&store), Mutex::default())));
    // Chores would be counted too.
    let options = Options { index_after: None, checkpoint_after: u64::MAX, ..Options::default() };
    let settings = Settings { options, ..settings() };
    let runtime = start(open, plain(Arc::clone(&mail)), &clock, settings);
    let handle = runtime.handle();
    handle.submit((0..CROWD).map(|number| person(&format!("p{number}"))).collect()).unwrap();
    let Command::Publish(mut crowd) = publish("crowd", "note", "p0") else { unreachable!() };
    crowd.to = Audience { everyone: true, ..Audience::default() };
    handle.submit(vec![Command::Publish(crowd)]).unwrap();
    clock.set(MONDAY.plus_ms(9 * HOUR_MS));
    let (arrived, release) = held.hold();
    handle.wake().unwrap();
    arrived.recv().unwrap();
    // Counted by the loop: it goes on while the answer is on its way.
    let (answer, urgent) = channel();
    let counting = Arc::clone(&store);
    let then = move |replies: Replies| drop(answer.send((counting.writes(), replies)));
    let commands = vec![publish("urgent", "bill", "p7")];
    handle.submit_then(commands, then).unwrap();
    let before = store.writes();
    drop(release);
    let (writes, replies) = urgent.recv().unwrap();
    replies.unwrap();
    assert!(writes - before <= 6, "{}", writes - before);
    let books = settled(&handle);
    assert_eq!(books.delivered, CROWD as u64 + 1);
    let writes = mail.1.lock().unwrap().unwrap() - before;
    // What was held, its closings, a slice; then its own step, its message, and a slice or what became of one.
    assert!(writes <= 8, "{writes} of {}", store.writes() - before);
    runtime.stop().unwrap();
}

/// Two turns within one millisecond: what the first told is over, so the second is of the next instant.
#[test]
fn what_comes_after_the_messages_of_an_instant_is_of_the_next() {
    let clock = clock(MONDAY);
    let mail = Arc::new(Seen::default());
    let runtime = start(over(&in_memory()), plain(Arc::clone(&mail)), &clock, settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann")]).unwrap();
    for event in ["e1", "e2", "e3"] {
        handle.submit(vec![publish(event, "bill", "ann")]).unwrap();
    }
    assert_eq!(settled(&handle).messages, 3);
    runtime.stop().unwrap();
    let mut instants: Vec<_> = mail.0.lock().unwrap().iter().map(|(at, _)| *at).collect();
    instants.dedup();
    assert_eq!(instants.len(), 3, "{instants:?}");
}

/// The rules that were in force before a configuration failed are so afterwards, whatever was written.
#[test]
fn a_configuration_that_fails_is_not_in_force_afterwards() {
    use tidings_store::InjectedFault;
    for fault in [InjectedFault::FailedKept, InjectedFault::FailedLost] {
        let (_, faults, open) = super::failing();
        let mail = Arc::new(Counter::default());
        let runtime = start(open, plain(mail), &clock(MONDAY), settings());
        let handle = runtime.handle();
        handle.submit(vec![person("ann")]).unwrap();
        let mut other = rules();
        other.types.remove("bill");
        faults.lock().unwrap().push_back(fault);
        handle.configure(other, std::collections::BTreeMap::new()).unwrap_err();
        let in_force = |handle: &Handle| loop {
            if let Ok(known) = handle.look(|node| node.engine().rules().cloned()) {
                return known;
            }
            std::thread::yield_now();
        };
        // The store is opened again first.
        while handle.submit(Vec::new()).is_err() {
            std::thread::yield_now();
        }
        assert_eq!(in_force(&handle), Some(rules()), "{fault:?}");
        handle.submit(vec![publish("e1", "bill", "ann")]).unwrap();
        assert_eq!(settled(&handle).delivered, 1);
        runtime.stop().unwrap();
    }
}

/// A configuration by which a type is never told reaches messages that were made and not handed over.
#[test]
fn a_configuration_takes_out_of_messages_what_is_never_told() {
    let (gate, keeper) = Gate::new();
    let runtime = start(over(&in_memory()), plain(Arc::clone(&gate)), &clock(MONDAY), settings());
    let handle = runtime.handle();
    handle.submit(vec![person("ann"), person("ben")]).unwrap();
    handle.submit(vec![publish("e1", "bill", "ann")]).unwrap();
    keeper.next();
    handle.submit(vec![publish("e2", "bill", "ben")]).unwrap();
    round(&handle);
    let mut never = rules();
    let kind = never.types.get_mut("bill").unwrap();
    kind.channels.get_mut(EMAIL).unwrap().policy = Policy::Never;
    let channels = std::collections::BTreeMap::from([(EMAIL.to_owned(), plain(gate))]);
    handle.configure(never, channels).unwrap();
    keeper.pass();
    let books = settled(&handle);
    assert_eq!((books.delivered, books.cancelled), (1, 1));
    runtime.stop().unwrap();
    assert!(keeper.handed.try_recv().is_err(), "it was handed over");
}

/// A machine's clock that a test sets: the time that has passed is told apart from what it shows.
#[derive(Default)]
struct SetClock {
    shown: VirtualClock,
    passed: AtomicI64,
}

impl SetClock {
    fn show(&self, handle: &Handle, at: Instant, passed_ms: i64) {
        self.shown.set(at);
        self.passed.store(passed_ms, Ordering::SeqCst);
        handle.wake().unwrap();
        handle.submit(Vec::new()).unwrap();
    }
}

impl Clock for SetClock {
    fn now(&self) -> Instant {
        self.shown.now()
    }

    fn pass(&self, instant: Instant) {
        self.shown.pass(instant);
    }

    fn monotonic(&self) -> Option<Monotonic> {
        Some(Monotonic(self.passed.load(Ordering::SeqCst)))
    }
}

#[test]
fn c13_a_clock_that_is_wrong_for_a_moment_forgets_nothing_and_one_that_stays_does() {
    for stays in [false, true] {
        let (store, mail) = (in_memory(), Arc::new(Counter::default()));
        let clock = Arc::new(SetClock::default());
        clock.shown.set(at(1, 10, 0));
        let channels = [(EMAIL.to_owned(), plain(mail))].into();
        let delivery = Delivery::new(channels, Retries::default());
        let runtime =
            Runtime::start(over(&store), keeping(2), delivery, Arc::clone(&clock) as _, settings());
        let runtime = runtime.unwrap();
        let handle = runtime.handle();
        handle.submit(vec![person("ann")]).unwrap();
        for day in 1..=3 {
            let passed_ms = (day - 1) * DAY_MS;
            clock.show(&handle, at(day, 10, 0), passed_ms);
            handle.submit(vec![publish(&format!("e{day}"), "bill", "ann")]).unwrap();
        }
        let (jumped, passed_ms) = (at(400, 10, 0), 2 * DAY_MS);
        clock.show(&handle, jumped, passed_ms + 1_000);
        clock.show(&handle, jumped.plus_ms(1_500), passed_ms + 2_500);
        let days = store.days().unwrap();
        let first = at(1, 0, 0).day();
        assert!(days.contains(&first), "{days:?}");
        if stays {
            clock.show(&handle, jumped.plus_ms(HOUR_MS + 1_500), passed_ms + HOUR_MS + 2_500);
            let days = store.days().unwrap();
            assert!(!days.contains(&first), "{days:?}");
        } else {
            clock.show(&handle, at(3, 10, 1), passed_ms + 60_000);
            // Days are forgotten by the right clock.
            clock.show(&handle, at(4, 0, 1), passed_ms + 14 * HOUR_MS);
            let days = store.days().unwrap();
            assert!(days.contains(&Day(first.0 + 1)), "{days:?}");
        }
        runtime.stop().unwrap();
    }
}
