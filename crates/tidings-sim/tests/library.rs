//! Acceptance by the library's own functions: what a timeline can't say. Each test is named after
//! its row of the acceptance table.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use tidings_core::engine::{
    ClosingResults, Engine, InboxQuery, Options, Plan, PlannedMessage, PublishedAs, Refused, Reply,
    Sent, Step, batch_id,
};
use tidings_core::model::{Ending, Timed};
use tidings_core::{Command, Id, Instant};
use tidings_node::channel::{Channel, Outcome as Answer, Receipt, Rendered, RenderingChannel};
use tidings_node::{
    Delivery, Handle, Node, OpenStore, Retries, Runtime, Settings, StoreView, VirtualClock,
};
use tidings_sim::cases::Case;
use tidings_sim::cases::script;
use tidings_sim::rig::BareRenderer;
use tidings_sim::subject::Step as Line;
use tidings_store::{Expected, FjallStore, MemoryStore, Store, StoreId};

/// The store of a test, made where there is none.
const NEW_STORE: Expected = Expected::OrNew(StoreId([0; 16]));

/// A few types, and somebody to be told.
const RULES: &str = "
    digest daily day 09:00
    type news inbox email:cooldown,4m
    type talk email:first_event,10m
    type bill email:now
    type note email:digest,daily
";

fn id(text: &str) -> Id {
    Id::new(text).expect("a valid id")
}

/// An instant of Monday 2024-01-01, in the words of a case.
fn at(time: &str) -> Instant {
    lines(&format!("{time} retract x"))[0].at
}

fn parsed(text: &str) -> Case {
    script::parse(text).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Commands in the words of a case.
fn lines(text: &str) -> Vec<Timed> {
    let commands = parsed(text).steps.into_iter().filter_map(|(step, _)| match step {
        Line::Play(timed) => Some(timed),
        Line::Reconfigure(..) => None,
    });
    commands.collect()
}

/// A node that is moved by hand.
struct Scene {
    node: Node,
}

impl Scene {
    /// Over a store that is new.
    fn new(text: &str) -> Self {
        let mut scene = Self::reopened(Arc::new(MemoryStore::default()));
        let set = scene.node.set_rules(at("00:00"), parsed(RULES).rules);
        set.expect("the store takes them");
        scene.play(text);
        scene
    }

    fn reopened(store: Arc<dyn Store>) -> Self {
        let node = Node::open(store, Options::default()).expect("the store can be read");
        Self { node }
    }

    /// Opens what is stored anew; what was only in memory is lost.
    fn crash(self) -> Self {
        Self::reopened(Arc::clone(self.node.store()))
    }

    /// Plays commands, and lets fall due what is due before each.
    fn play(&mut self, text: &str) -> Vec<Result<Reply, Refused>> {
        let mut replies = Vec::new();
        for Timed { at, command } in lines(text) {
            self.until(at);
            let accepted = self.node.step(at, &[command]);
            replies.extend(accepted.expect("the store takes it").replies);
        }
        replies
    }

    /// Lets fall due what is due up to an instant.
    fn until(&mut self, at: Instant) {
        while let Some(due) = self.node.next_due().filter(|due| *due <= at) {
            let due = due.max(self.node.engine().now());
            self.node.fall_due(due).expect("the store takes it");
            self.node.step(due, &[]).expect("the store takes it");
        }
    }

    fn make(&mut self, at: Instant) -> Vec<Plan> {
        self.node.make(at).expect("the store takes it")
    }

    /// The events that messages tell, by (due, arrival of the first entry).
    fn told(&self, plans: &[Plan]) -> Vec<(String, Vec<String>)> {
        let planned =
            plans.iter().flat_map(|plan| plan.messages.iter().map(move |planned| (plan, planned)));
        let messages =
            planned.filter_map(|(plan, planned)| self.node.engine().message(plan, planned));
        let told = messages.map(|message| {
            let events = message.items.iter().map(|item| item.event.to_string());
            (message.recipient.to_string(), events.collect())
        });
        told.collect()
    }

    fn settle(&mut self, at: Instant, plans: &[Plan]) {
        let settled: Vec<ClosingResults> = plans.iter().map(delivered).collect();
        self.node.settle(at, &settled).expect("the store takes it");
    }

    fn pending(&self) -> u64 {
        let books = self.node.books().expect("the books agree");
        assert!(books.balance(), "{books:?}");
        books.pending
    }

    fn waiting(&self, who: &str) -> Vec<String> {
        let view = self.node.view().expect("a view");
        let lanes = self.node.engine().reader(&view).open_lanes(&id(who));
        let lanes = lanes.expect("it can be read");
        lanes
            .into_iter()
            .flat_map(|lane| lane.entries)
            .map(|entry| entry.event.to_string())
            .collect()
    }

    fn scheduled(&self, who: &str) -> Vec<(String, Instant)> {
        let view = self.node.view().expect("a view");
        let entries = self.node.engine().reader(&view).scheduled(&id(who)).expect("it can be read");
        entries.into_iter().map(|entry| (entry.event.to_string(), entry.t)).collect()
    }

    fn inbox(&self, who: &str) -> Vec<String> {
        let view = self.node.view().expect("a view");
        let page = self
            .node
            .engine()
            .reader(&view)
            .inbox(&id(who), &InboxQuery::newest(100))
            .expect("it can be read");
        page.groups
            .into_iter()
            .flat_map(|group| group.items)
            .map(|item| item.event.to_string())
            .collect()
    }
}

/// All messages of a plan that tell something, as delivered.
fn delivered(plan: &Plan) -> ClosingResults {
    let telling = plan.messages.iter().filter(|planned| !planned.is_empty());
    let sent = |planned: &PlannedMessage| Sent {
        number: planned.number,
        seqs: plan.seqs(planned),
        ending: Ending::Delivered,
        resent: 0,
    };
    ClosingResults {
        closing: plan.closing,
        sent: telling.map(sent).collect(),
        ..ClosingResults::default()
    }
}

fn told(who: &str, events: &[&str]) -> (String, Vec<String>) {
    let events = events.iter().map(|event| (*event).to_owned());
    (who.to_owned(), events.collect())
}

#[test]
fn a1_todays_partition_holds_one_notification_each() {
    let mut scene = Scene::new(
        "00:00 person ann
         00:00 person bob
         10:00 publish e1 news o1 to=ann,bob",
    );
    let today = at("10:00").day();
    assert_eq!(scene.node.store().days().expect("the days"), [today]);
    for who in ["ann", "bob"] {
        assert_eq!(scene.inbox(who), ["e1"]);
        assert_eq!(scene.waiting(who), ["e1"]);
    }
    // It is in no other place: with the day it is gone.
    scene.play("01-02T00:00 forget 2024-01-02");
    assert!(!scene.node.store().days().expect("the days").contains(&today));
    for who in ["ann", "bob"] {
        assert_eq!(scene.inbox(who), [""; 0]);
        assert_eq!(scene.waiting(who), [""; 0]);
    }
    assert_eq!(scene.pending(), 0);
}

#[test]
fn a7_a_flush_with_nothing_pending_is_no_error() {
    let mut scene = Scene::new("00:00 person ann");
    for flush in ["01:00 flush ann", "01:00 flush ann channel=email lane=cooldown"] {
        let replies = scene.play(flush);
        assert!(
            matches!(replies.as_slice(), [Ok(Reply::Flushed { marker, .. })] if !marker.is_empty())
        );
        assert!(scene.make(at("01:00")).is_empty());
    }
}

#[test]
fn a6_after_a_flush_nothing_is_pending_and_the_inbox_shows_the_history() {
    let mut scene = Scene::new(
        "00:00 person ann
         10:00 publish e1 news o1 to=ann
         10:01 flush ann",
    );
    let plans = scene.make(at("10:01"));
    assert_eq!(scene.told(&plans), [told("ann", &["e1"])]);
    scene.settle(at("10:01"), &plans);
    assert_eq!((scene.pending(), scene.waiting("ann").len()), (0, 0));
    assert_eq!(scene.inbox("ann"), ["e1"]);
    scene.play("10:02 flush ann");
    assert!(scene.make(at("10:02")).is_empty());
    assert_eq!(scene.inbox("ann"), ["e1"]);
}

#[test]
fn a18_an_event_between_the_closing_and_the_batch_is_in_the_next_one() {
    let mut scene = Scene::new(
        "00:00 person ann
         10:00 publish e1 news o1 to=ann",
    );
    scene.node.fall_due(at("10:04")).expect("the store takes it");
    scene.play("10:04 publish e2 news o2 to=ann");
    let plans = scene.make(at("10:04"));
    assert_eq!(scene.told(&plans), [told("ann", &["e1"])]);
    assert_eq!(scene.waiting("ann"), ["e2"]);
    scene.settle(at("10:04"), &plans);
    scene.until(at("10:08"));
    let plans = scene.make(at("10:08"));
    assert_eq!(scene.told(&plans), [told("ann", &["e2"])]);
}

#[test]
fn m5_an_event_during_the_send_is_in_the_next_batch() {
    let mut scene = Scene::new(
        "00:00 person ann
         10:00 publish e1 news o1 to=ann",
    );
    scene.until(at("10:04"));
    let on_its_way = scene.make(at("10:04"));
    scene.play("10:05 publish e2 news o2 to=ann");
    scene.settle(at("10:06"), &on_its_way);
    assert_eq!(scene.told(&on_its_way), [told("ann", &["e1"])]);
    assert_eq!(scene.waiting("ann"), ["e2"]);
    scene.until(at("10:09"));
    let next = scene.make(at("10:09"));
    assert_eq!(scene.told(&next), [told("ann", &["e2"])]);
}

#[test]
fn m6_the_scheduler_runs_twice_before_a_worker_does() {
    let mut scene = Scene::new(
        "00:00 person ann
         10:00 publish e1 news o1 to=ann",
    );
    scene.until(at("10:04"));
    scene.until(at("10:04"));
    let plans = scene.make(at("10:04"));
    assert_eq!(scene.told(&plans), [told("ann", &["e1"])]);
    assert!(scene.make(at("10:04")).is_empty());
    let mut scene = scene.crash();
    assert!(scene.make(at("10:05")).is_empty());
}

/// Two workers that plan one lane from one view: what the second brings is not written.
#[test]
fn m6_two_workers_on_one_lane_make_one_message() {
    let mut scene = Scene::new(
        "00:00 person ann
         10:00 publish e1 talk o1 to=ann",
    );
    scene.until(at("10:10"));
    let store = Arc::clone(scene.node.store());
    let days = store.days().expect("the days");
    let view = || StoreView::of(&*store).expect("a view");
    let commit = |step: Step| {
        let writes = step.writes;
        store.commit(writes.into()).expect("the store takes it");
    };
    let mut engine = Engine::open(&view(), &days, Options::default()).expect("readable");
    let now = at("10:10");
    let [closing] = engine.open_closings().unmade()[..] else { panic!("one lane is due") };
    let plan = |engine: &Engine| {
        let plan = engine.planner(&view()).plan(closing, 10);
        plan.expect("readable").expect("there is something to make")
    };
    let (one, other) = (plan(&engine), plan(&engine));
    commit(engine.made(&view(), now, &[one]).expect("readable"));
    let second = engine.made(&view(), now, &[other]).expect("readable");
    assert!(second.writes.is_empty(), "{:?}", second.writes);
    let walk = engine.reader(&view()).walk().expect("readable");
    assert_eq!((walk.books.messages, walk.disagreements), (1, Vec::new()));
}

#[test]
fn p2_planning_again_after_a_crash_gives_the_same_batch() {
    let mut scene = Scene::new(
        "00:00 person ann
         10:00 publish e1 news o1 to=ann
         10:01 publish e2 news o2 to=ann",
    );
    scene.until(at("10:05"));
    let batches = |scene: &Scene| {
        let (engine, view) = (scene.node.engine(), scene.node.view().expect("a view"));
        let mut batches = Vec::new();
        for closing in engine.open_closings().unmade() {
            let plan =
                engine.planner(&view).plan(closing, 10).expect("readable").expect("it is due");
            for planned in &plan.messages {
                let message = engine.message(&plan, planned).expect("it tells something");
                batches.push((batch_id(&message), message));
            }
        }
        batches
    };
    let before = batches(&scene);
    let mut scene = scene.crash();
    assert_eq!(batches(&scene), before);
    let made = scene.make(at("10:06"));
    assert_eq!(scene.told(&made), [told("ann", &["e1", "e2"])]);
    let message = scene.node.engine().message(&made[0], &made[0].messages[0]);
    let id = batch_id(&message.expect("it tells something"));
    assert_eq!([&id], [&before[0].0]);
    assert!(scene.make(at("10:06")).is_empty());
}

#[test]
fn t10_the_same_message_settled_many_times_counts_once() {
    let mut scene = Scene::new(
        "00:00 person ann
         10:00 publish e1 bill o1 to=ann",
    );
    let plans = scene.make(at("10:00"));
    // LogEntry three times in one breath, then twice more.
    let thrice = [delivered(&plans[0]), delivered(&plans[0]), {
        let mut told = delivered(&plans[0]);
        told.sent.push(told.sent[0].clone());
        told
    }];
    let settled = scene.node.settle(at("10:00"), &thrice);
    settled.expect("the store takes it");
    for _ in 0..2 {
        scene.settle(at("10:00"), &plans);
    }
    let books = scene.node.books().expect("the books agree");
    assert_eq!((books.messages, books.delivered, books.pending), (1, 1, 0));
    assert!(books.balance());
    assert!(scene.make(at("10:00")).is_empty());
}

#[test]
fn t11_seven_due_and_none_the_second_time() {
    let mut scene = Scene::new("00:00 recipient nobody");
    for number in 1..=7 {
        scene.play(&format!(
            "01:00 person p{number}
             01:0{number} publish e{number} talk o{number} to=p{number}"
        ));
    }
    scene.until(at("02:00"));
    let plans = scene.make(at("02:00"));
    let seven = (1..=7).map(|n| told(&format!("p{n}"), &[&format!("e{n}")]));
    assert_eq!(scene.told(&plans), seven.collect::<Vec<_>>());
    scene.settle(at("02:00"), &plans);
    scene.until(at("03:00"));
    assert!(scene.make(at("03:00")).is_empty());
    assert_eq!(scene.pending(), 0);
}

#[test]
fn t12_what_is_due_in_two_days_is_visible_as_scheduled() {
    let mut scene = Scene::new(
        "00:00 person ann
         00:00 person bob
         10:00 publish e1 news o1 to=ann deliver_at=01-03T10:00",
    );
    let t = at("01-03T10:00");
    for _ in 0..2 {
        assert!(scene.make(at("10:00")).is_empty());
        assert_eq!(scene.waiting("ann"), [""; 0]);
        assert_eq!(scene.scheduled("ann"), [("e1".to_owned(), t)]);
        assert_eq!(scene.scheduled("bob"), []);
        assert_eq!(scene.pending(), 2);
        scene = scene.crash();
    }
    scene.until(t);
    assert_eq!(scene.scheduled("ann"), []);
    assert_eq!(scene.waiting("ann"), ["e1"]);
}

#[test]
fn t13_three_due_and_the_future_one_untouched() {
    let mut scene =
        Scene::new("00:00 person ann\n00:10 publish e4 bill o4 to=ann deliver_at=12:00");
    let mut sent = Vec::new();
    for number in 1..=3 {
        let hour = format!("0{number}:00");
        scene.play(&format!("{hour} publish e{number} bill o{number} to=ann"));
        let plans = scene.make(at(&hour));
        sent.extend(scene.told(&plans));
        scene.settle(at(&hour), &plans);
    }
    let three = ["e1", "e2", "e3"].map(|event| told("ann", &[event]));
    assert_eq!(sent, three);
    assert_eq!(scene.scheduled("ann"), [("e4".to_owned(), at("12:00"))]);
    assert_eq!(scene.pending(), 1);
}

/// A channel that says what it was handed: (batch id, recipient, lane, due, entries).
struct Recorder(Mutex<Sender<Handed>>);

type Handed = (String, String, String, Instant, usize);

impl Channel for Recorder {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Answer {
        assert!(go());
        let head = &message.head;
        let recipient = head.recipient.as_ref().map(ToString::to_string).unwrap_or_default();
        let handed = (head.id.clone(), recipient, head.lane.clone(), head.at, head.entries);
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Once the test has seen enough nobody listens.
        let _ = sender.send(handed);
        Answer::Sent(Receipt::default())
    }
}

/// A runtime with one thread that sends, so that the order is the order in which messages left.
fn run(open: OpenStore, clock: &Arc<VirtualClock>) -> (Runtime, Receiver<Handed>) {
    let (sender, handed) = channel();
    let outlet =
        RenderingChannel::new(Arc::new(BareRenderer), Arc::new(Recorder(Mutex::new(sender))))
            .on_threads(1);
    let channels = BTreeMap::from([("email".to_owned(), outlet)]);
    let delivery = Delivery::new(channels, Retries::default());
    let settings = Settings::default();
    let clock = Arc::clone(clock);
    let rules = parsed(RULES).rules;
    let runtime = Runtime::start(open, rules, delivery, clock, settings).expect("it starts");
    (runtime, handed)
}

/// Submits commands, each at its instant.
fn submit(handle: &Handle, clock: &VirtualClock, text: &str) {
    for Timed { at, command } in lines(text) {
        clock.set(at);
        publish(handle, command);
    }
}

fn publish(handle: &Handle, command: Command) {
    let replies = handle.submit(vec![command]).expect("it is answered");
    for reply in replies {
        if let Reply::Published(published) = reply.expect("it is done") {
            assert_eq!(published.status, PublishedAs::Accepted);
        }
    }
}

fn seen(handed: &Receiver<Handed>, count: usize) -> Vec<(String, String, Instant, usize)> {
    let messages = handed.iter().take(count);
    messages.map(|(_, who, lane, at, entries)| (who, lane, at, entries)).collect()
}

fn message(who: &str, lane: &str, due: &str, entries: usize) -> (String, String, Instant, usize) {
    (who.to_owned(), lane.to_owned(), at(due), entries)
}

fn on_disk(dir: &Path) -> OpenStore {
    let dir = dir.to_owned();
    Box::new(move || {
        let store = FjallStore::open(&dir, NEW_STORE, tidings_store::Options::default())?;
        Ok(Arc::new(store) as Arc<dyn Store>)
    })
}

#[test]
fn t22_after_an_hour_without_a_process_what_came_due_is_sent_once_in_order() {
    let dir = tempfile::tempdir().expect("a directory");
    let clock = Arc::new(VirtualClock::default());
    clock.set(at("00:00"));
    let (runtime, _handed) = run(on_disk(dir.path()), &clock);
    submit(
        &runtime.handle(),
        &clock,
        "00:00 person ann
         00:00 person bob
         00:00 publish e1 talk o1 to=bob
         00:01 publish e2 news o2 to=ann
         00:02 publish e3 news o3 to=bob deliver_at=00:20",
    );
    runtime.stop().expect("it stops");
    let expected = [
        message("ann", "cooldown", "00:05", 1),
        message("bob", "first_event", "00:10", 1),
        message("bob", "cooldown", "00:24", 1),
    ];
    clock.set(at("01:02"));
    let (runtime, handed) = run(on_disk(dir.path()), &clock);
    assert_eq!(seen(&handed, 3), expected);
    runtime.stop().expect("it stops");
    assert!(handed.recv().is_err(), "something was sent besides");
    // Started once more: it is all settled.
    clock.set(at("02:00"));
    let (runtime, handed) = run(on_disk(dir.path()), &clock);
    let books = runtime.handle().look(|node| node.books().expect("the books agree"));
    let books = books.expect("it is answered");
    assert!(books.balance());
    assert_eq!((books.messages, books.pending), (5, 0), "two in inboxes");
    runtime.stop().expect("it stops");
    assert!(handed.recv().is_err(), "something was sent besides");
}

#[test]
fn p14_the_clock_steps_back_and_jumps_a_day() {
    let clock = Arc::new(VirtualClock::default());
    clock.set(at("09:00"));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let (runtime, handed) = run(Box::new(move || Ok(Arc::clone(&store))), &clock);
    let handle = runtime.handle();
    submit(
        &handle,
        &clock,
        "09:00 person ann
         10:00 publish e1 news o1 to=ann",
    );
    assert_eq!(handle.vitals().steps_back(), 0);
    // Put right by an hour: what came before waits as if it came now.
    submit(&handle, &clock, "09:00 publish e2 news o2 to=ann");
    submit(&handle, &clock, "09:01 publish e3 bill o3 to=ann");
    assert_eq!(handle.vitals().steps_back(), 1, "a warning a step back");
    assert_eq!(seen(&handed, 1), [message("ann", "now", "09:01", 1)]);
    // Ahead by a day: every instant that was left out is played.
    clock.set(at("01-02T10:00"));
    handle.wake().expect("it hears");
    assert_eq!(seen(&handed, 1), [message("ann", "cooldown", "09:04", 2)]);
    submit(&handle, &clock, "01-02T10:00 publish e4 bill o4 to=ann");
    assert_eq!(seen(&handed, 1), [message("ann", "now", "01-02T10:00", 1)]);
    assert_eq!(handle.vitals().steps_back(), 1);
    runtime.stop().expect("it stops");
    assert!(handed.recv().is_err(), "something was sent besides");
}
