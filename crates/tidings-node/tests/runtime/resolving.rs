//! Questions to the host about objects, before messages are made.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tidings_core::content::Totals;
use tidings_core::engine::Presenter;
use tidings_core::model::{DAY_MS, EMAIL, HOUR_MS, MINUTE_MS};
use tidings_core::rules::UnresolvedFate;
use tidings_core::{Command, Id, Instant, Object, Rules};
use tidings_node::{
    Delivery, ResolvedObjects, Resolver, ResolverBounds, Retries, Settings, SteppedLoop,
    VirtualClock,
};
use tidings_store::{MemoryStore, Store};

use crate::world::{Counter, MONDAY, clock, id, over, person, plain, publish, rules};

/// A host that notes what it is asked for.
#[derive(Default)]
struct Host {
    asked: Mutex<Vec<Vec<Id>>>,
    /// Its answers about objects; `None` = it does not answer.
    says: Mutex<Option<ResolvedObjects>>,
}

impl Host {
    fn says(&self, resolved: Option<ResolvedObjects>) {
        *self.says.lock().unwrap() = resolved;
    }

    /// Takes the questions since the last call.
    fn asked(&self) -> Vec<Vec<String>> {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap());
        let texts = |ids: Vec<Id>| ids.iter().map(|id| id.as_str().to_owned()).collect();
        asked.into_iter().map(texts).collect()
    }
}

impl Resolver for Host {
    fn bounds(&self) -> Option<ResolverBounds> {
        Some(ResolverBounds { batch: 2, wait_ms: HOUR_MS })
    }

    fn resolve(&self, objects: &[Id]) -> Result<ResolvedObjects, String> {
        self.asked.lock().unwrap().push(objects.to_vec());
        let says = self.says.lock().unwrap();
        says.clone().ok_or_else(|| "away".to_owned())
    }
}

/// A node that asks a host.
struct Rig {
    node: SteppedLoop,
    clock: Arc<VirtualClock>,
    host: Arc<Host>,
    sent: Arc<Counter>,
}

impl Rig {
    fn new(rules: Rules) -> Self {
        let (host, sent) = (Arc::<Host>::default(), Arc::<Counter>::default());
        host.says(Some(ResolvedObjects::default()));
        let channels = BTreeMap::from([(EMAIL.to_owned(), plain(Arc::clone(&sent)))]);
        let delivery =
            Delivery::new(channels, Retries::default()).resolving(Arc::clone(&host) as _);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let clock = clock(MONDAY);
        let now = Arc::clone(&clock);
        let node = SteppedLoop::open(over(&store), None, rules, delivery, now, Settings::default());
        Self { node: node.unwrap(), clock, host, sent }
    }

    /// Does everything that is to be done at an instant.
    fn at(&mut self, at: Instant, commands: Vec<Command>) {
        self.clock.set(at);
        let handle = self.node.handle().clone();
        if !commands.is_empty() {
            handle.submit_then(commands, |_| ()).unwrap();
        }
        loop {
            // Turns go on while the host is asked.
            self.node.turn();
            self.node.turn();
            let busy = [self.node.write(), self.node.send(), self.node.resolve()];
            if !busy.contains(&true) && !self.node.has_work() && !self.node.has_answers() {
                break;
            }
        }
    }

    /// The messages that were sent since the last call.
    fn sent(&self) -> usize {
        self.sent.0.swap(0, std::sync::atomic::Ordering::SeqCst)
    }

    fn books(&self) -> Totals {
        self.node.node().unwrap().books().unwrap()
    }

    fn unresolved(&self) -> u64 {
        self.node.handle().vitals().resolver.unresolved()
    }
}

fn waiting() -> Rules {
    let mut rules = rules();
    for kind in rules.types.values_mut() {
        kind.unresolved = UnresolvedFate::Wait;
    }
    rules
}

/// Events about one object, to several people.
fn about(object: &str, event_type: &str, people: &[&str]) -> Vec<Command> {
    let of = |who: &&str| match publish(&format!("{object}-{event_type}-{who}"), event_type, who) {
        Command::Publish(mut event) => {
            event.object.id = id(object);
            Command::Publish(event)
        }
        other => other,
    };
    people.iter().map(of).collect()
}

fn people(names: &[&str]) -> Vec<Command> {
    names.iter().map(|name| person(name)).collect()
}

#[test]
fn objects_of_many_messages_are_asked_for_at_once_and_once_a_run() {
    let mut rig = Rig::new(rules());
    rig.at(MONDAY, people(&["ann", "bob", "cal"]));
    for object in ["w1", "w2", "w3"] {
        rig.at(MONDAY, about(object, "note", &["ann", "bob", "cal"]));
    }
    assert_eq!(rig.host.asked(), Vec::<Vec<String>>::new());
    let nine = MONDAY.plus_ms(9 * HOUR_MS);
    rig.at(nine, Vec::new());
    assert_eq!(rig.host.asked().concat(), ["w1", "w2", "w3"]);
    assert_eq!(rig.sent(), 3);
    // Within a minute nothing is asked for again, and then it is.
    rig.at(nine.plus_ms(MINUTE_MS - 1), about("w1", "bill", &["ann"]));
    assert_eq!(rig.host.asked(), Vec::<Vec<String>>::new());
    rig.at(nine.plus_ms(MINUTE_MS), about("w1", "bill", &["bob"]));
    assert_eq!(rig.host.asked(), [["w1"]]);
    assert_eq!(rig.sent(), 2);
    assert_eq!(rig.unresolved(), 0);
}

#[test]
fn what_the_host_retracts_is_skipped_and_what_it_says_is_shown() {
    let mut rig = Rig::new(rules());
    rig.at(MONDAY, people(&["ann"]));
    rig.host.says(Some(ResolvedObjects {
        objects: vec![Object {
            id: id("w2"),
            title: Some("New title".into()),
            url: None,
            image: None,
            image_size: None,
            data: None,
            notifiable: None,
        }],
        // It was not asked about the last one.
        retracted: vec![id("w1"), id("w9")],
    }));
    rig.at(MONDAY, about("w1", "bill", &["ann"]));
    rig.at(MONDAY, about("w2", "bill", &["ann"]));
    rig.at(MONDAY, about("w9", "note", &["ann"]));
    assert_eq!(rig.sent(), 1);
    let books = rig.books();
    assert_eq!((books.skipped, books.delivered), (1, 1));
    let node = rig.node.node().unwrap();
    let view = node.view().unwrap();
    let object = Presenter::new(node.engine(), &view).object(&id("w2"));
    assert_eq!(object.unwrap().title, Some("New title".into()));
    rig.host.says(Some(ResolvedObjects::default()));
    rig.at(MONDAY.plus_ms(DAY_MS), Vec::new());
    assert_eq!(rig.books().skipped, 1);
}

#[test]
fn without_an_answer_a_message_is_sent_where_its_type_says_so() {
    let mut rig = Rig::new(rules());
    rig.at(MONDAY, people(&["ann"]));
    rig.host.says(None);
    rig.at(MONDAY, about("w1", "bill", &["ann"]));
    assert_eq!(rig.host.asked().len(), 1);
    assert_eq!((rig.sent(), rig.unresolved()), (1, 1));
    // The host rests: nobody waits for it.
    rig.at(MONDAY, about("w2", "bill", &["ann"]));
    assert_eq!(rig.host.asked(), Vec::<Vec<String>>::new());
    assert_eq!((rig.sent(), rig.unresolved()), (1, 2));
}

#[test]
fn without_an_answer_a_message_waits_where_its_type_says_so_for_a_bounded_time() {
    let mut rig = Rig::new(waiting());
    rig.at(MONDAY, people(&["ann"]));
    rig.host.says(None);
    rig.at(MONDAY, about("w1", "bill", &["ann"]));
    assert_eq!((rig.host.asked().len(), rig.sent()), (1, 0));
    // One second later it is asked again, then after two, four, ... seconds.
    rig.at(MONDAY.plus_ms(999), Vec::new());
    assert_eq!((rig.host.asked().len(), rig.sent()), (0, 0));
    rig.clock.set(MONDAY.plus_ms(1_000));
    rig.node.turn();
    assert!(!rig.node.has_work(), "it does not spin while the host thinks");
    rig.at(MONDAY.plus_ms(1_000), Vec::new());
    assert_eq!((rig.host.asked().len(), rig.sent()), (1, 0));
    rig.at(MONDAY.plus_ms(2_999), Vec::new());
    assert_eq!((rig.host.asked().len(), rig.sent()), (0, 0));
    // It answers again.
    rig.host.says(Some(ResolvedObjects::default()));
    rig.at(MONDAY.plus_ms(3_000), Vec::new());
    assert_eq!((rig.host.asked().len(), rig.sent()), (1, 1));
    assert_eq!(rig.unresolved(), 0);

    rig.host.says(None);
    let later = MONDAY.plus_ms(HOUR_MS);
    rig.at(later, about("w2", "bill", &["ann"]));
    rig.at(later.plus_ms(HOUR_MS - 1), Vec::new());
    assert_eq!(rig.sent(), 0);
    rig.at(later.plus_ms(HOUR_MS), Vec::new());
    rig.at(later.plus_ms(HOUR_MS + 2 * MINUTE_MS), Vec::new());
    assert_eq!((rig.sent(), rig.unresolved()), (1, 1));
    assert_eq!(rig.books().pending, 0);
}
