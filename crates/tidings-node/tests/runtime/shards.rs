//! Two nodes that share the shards of a store: an event that one accepts is applied by both, and its answer has all
//! counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tidings_core::engine::{Options, Published, PublishedAs, Reply};
use tidings_core::model::Audience;
use tidings_core::{Day, Event, Object, engine};
use tidings_node::{
    AnswerRecorder, Delivery, Follower, FollowerReport, IdempotencyHit, LeaderLink, Once, Retries,
    Runtime, VirtualClock,
};
use tidings_store::{Commit, Snapshot};

use super::*;

/// The way to the other node, in the same process.
struct Beside(Handle);

impl LeaderLink for Beside {
    fn exchange(&mut self, report: &FollowerReport) -> Result<(), String> {
        let ((hear, heard), (give, given)) = (channel(), channel());
        let asked = self.0.report(
            report.clone(),
            move || hear.send(()).unwrap_or_default(),
            move |_| give.send(()).unwrap_or_default(),
        );
        asked.map_err(|fault| fault.to_string())?;
        heard.recv().map_err(|_| "the node has ended")?;
        match given.recv_timeout(Duration::from_millis(100)) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err("the node has ended".to_owned()),
        }
    }
}

fn in_shards() -> Settings {
    Settings {
        options: Options { shards: 4, ..Options::default() },
        reopen_ms: 1,
        ..Settings::default()
    }
}

/// A node with these shards, the first of them with the intake.
pub(super) fn some(store: &Arc<dyn Store>, clock: &Arc<VirtualClock>, shards: &[u16]) -> Runtime {
    some_opened(over(store), clock, shards)
}

fn some_opened(open: OpenStore, clock: &Arc<VirtualClock>, shards: &[u16]) -> Runtime {
    let held = engine::HeldShards {
        intake: shards.contains(&0),
        shards: shards.iter().copied().collect(),
    };
    let delivery = Delivery::new(BTreeMap::new(), Retries::default());
    let clock = Arc::clone(clock);
    Runtime::start_held(open, Some(held), rules(), delivery, clock, in_shards()).unwrap()
}

/// A store of four shards, with a clock.
pub(super) fn made() -> (Arc<dyn Store>, Arc<VirtualClock>) {
    let (store, clock) = (in_memory(), clock(MONDAY));
    let mail = plain(Arc::new(Counter::default()));
    let whole = start(over(&store), mail, &clock, in_shards());
    whole.stop().unwrap();
    (store, clock)
}

fn to_all(event: &str) -> Command {
    let to = Audience { everyone: true, ..Audience::default() };
    let event = Event::new(id(event), id("note"), Object::bare(id("o")), to);
    Command::Publish(Box::new(event))
}

/// Makes recipients, each at the node that has their shard; returns how many the second one has.
fn people(first: &Runtime, second: &Runtime) -> u64 {
    for number in 0..40 {
        let name = format!("person-{number}");
        let has = |node: &Runtime| {
            let handle = node.handle();
            handle.look(|node| node.engine().replica().has_home_of(&id(&name))).unwrap()
        };
        let home = if has(first) { first } else { second };
        assert!(has(home), "somebody has every part");
        home.handle().submit(vec![person(&name)]).unwrap()[0].as_ref().unwrap();
    }
    second.handle().look(|node| node.engine().recipients()).unwrap()
}

fn whole(replies: &[Result<Reply, tidings_core::engine::Refused>]) -> Published {
    match replies {
        [Ok(Reply::Published(published))] => published.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_event_is_answered_with_the_counts_of_all_nodes() {
    let (store, clock) = made();
    let (first, second) = (some(&store, &clock, &[0, 3]), some(&store, &clock, &[1, 2]));
    let there = people(&first, &second);
    assert!(there > 0 && there < 40);
    let _hearing = Follower::start(second.handle(), Box::new(Beside(first.handle()))).unwrap();
    // Until the second one was heard of nobody waits for it.
    let mut number = 0;
    let published = loop {
        number += 1;
        let event = to_all(&format!("e{number}"));
        let published = whole(&first.handle().submit(vec![event]).unwrap());
        if published.applied {
            break published;
        }
        assert_eq!(published.notifications, 40 - there);
    };
    assert_eq!(published.notifications, 40);
    // Who was told of it reads it at the other node at once.
    let seen = second.handle().look(|node| {
        let rows = node.engine().ledger().into_values();
        rows.map(|row| row.entries).sum::<u64>()
    });
    assert_eq!(seen.unwrap(), number * there);
    // Who does not want to wait does not.
    let hurried = first.handle().without_waiting();
    let at_once = whole(&hurried.submit(vec![to_all("at once")]).unwrap());
    assert_eq!((at_once.applied, at_once.notifications), (false, 40 - there));
    let next = whole(&first.handle().submit(vec![to_all("next")]).unwrap());
    assert_eq!((next.applied, next.notifications), (true, 40));
    // What was accepted without waiting was told as well, with the next ones.
    let again = whole(&first.handle().submit(vec![to_all("e1")]).unwrap());
    assert_eq!(again.status, PublishedAs::Duplicate);
    let cancel =
        Command::Cancel { what: tidings_core::model::Cancelled::Event(id("e1")), tenant: None };
    let cancelled = first.handle().submit(vec![cancel]).unwrap();
    let Ok(Reply::Cancelled(taken)) = &cancelled[0] else {
        panic!("{cancelled:?}");
    };
    assert_eq!((taken.cancelled, taken.events), (40, 1));
}

#[test]
fn what_a_node_missed_it_applies_when_it_is_there() {
    let (store, clock) = made();
    let (first, second) = (some(&store, &clock, &[0]), some(&store, &clock, &[1, 2, 3]));
    let there = people(&first, &second);
    second.stop().unwrap();
    let published = whole(&first.handle().submit(vec![to_all("e1")]).unwrap());
    assert!(!published.applied);
    assert_eq!(published.notifications, 40 - there);
    let entries = |node: &Runtime| {
        let seen = node.handle().look(|node| {
            let rows = node.engine().ledger().into_values();
            rows.map(|row| row.entries).sum::<u64>()
        });
        seen.unwrap()
    };
    let second = some(&store, &clock, &[1, 2, 3]);
    assert_eq!((entries(&first), entries(&second)), (40 - there, there));
    // A command of a shard that is elsewhere is refused as one that may be sent again.
    let mut names = (0..40).map(|number| format!("person-{number}"));
    let theirs = names.find(|name| {
        let handle = second.handle();
        handle.look(|node| node.engine().replica().has_home_of(&id(name))).unwrap()
    });
    let refused = first.handle().submit(vec![person(&theirs.unwrap())]);
    assert!(matches!(refused, Err(RuntimeError::Unavailable(_))), "{refused:?}");
    let shards: BTreeSet<u16> = [&first, &second]
        .into_iter()
        .flat_map(|node| {
            node.handle().look(|node| node.engine().replica().shard_numbers()).unwrap()
        })
        .collect();
    assert_eq!(shards, [0, 1, 2, 3].into());
}

/// A way to the other node on which everything is lost.
struct Cut;

impl LeaderLink for Cut {
    fn exchange(&mut self, _: &FollowerReport) -> Result<(), String> {
        Err("it is cut".to_owned())
    }
}

#[test]
fn a_node_that_hears_nobody_reads_in_the_store_what_was_accepted() {
    let (store, clock) = made();
    let (first, second) = (some(&store, &clock, &[0, 3]), some(&store, &clock, &[1, 2]));
    let there = people(&first, &second);
    let _hearing = Follower::start(second.handle(), Box::new(Cut)).unwrap();
    let published = whole(&first.handle().submit(vec![to_all("e1")]).unwrap());
    assert_eq!((published.applied, published.notifications), (false, 40 - there));
    let entries = || {
        let seen = second.handle().look(|node| {
            let rows = node.engine().ledger().into_values();
            rows.map(|row| row.entries).sum::<u64>()
        });
        seen.unwrap()
    };
    while entries() < there {}
    assert_eq!(entries(), there);
}

/// A store whose commits fail for a while.
struct Failing {
    store: Arc<dyn Store>,
    fails: Arc<AtomicBool>,
}

impl Failing {
    fn check(&self) -> Result<(), tidings_store::Error> {
        if self.fails.load(Ordering::SeqCst) {
            Err(tidings_store::Error::Unavailable("it fails".to_owned()))
        } else {
            Ok(())
        }
    }
}

impl Store for Failing {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, tidings_store::Error> {
        self.check()?;
        self.store.snapshot()
    }

    fn commit(&self, commit: Commit) -> Result<(), tidings_store::Error> {
        self.check()?;
        self.store.commit(commit)
    }

    fn days(&self) -> Result<Vec<Day>, tidings_store::Error> {
        self.store.days()
    }

    fn forget(&self, day: Day) -> Result<(), tidings_store::Error> {
        self.store.forget(day)
    }
}

#[test]
fn a_node_goes_on_hearing_acts_after_its_store_has_failed() {
    let (store, clock) = made();
    let fails = Arc::<AtomicBool>::default();
    let failing = Arc::new(Failing { store: Arc::clone(&store), fails: Arc::clone(&fails) });
    let first = some(&store, &clock, &[0, 3]);
    let second =
        some_opened(Box::new(move || Ok(Arc::clone(&failing) as Arc<dyn Store>)), &clock, &[1, 2]);
    people(&first, &second);
    let _hearing = Follower::start(second.handle(), Box::new(Beside(first.handle()))).unwrap();
    let hurried = first.handle().without_waiting();
    let publish = |event: &str| drop(whole(&hurried.submit(vec![to_all(event)]).unwrap()));
    let is_heard = || {
        let told = first.handle().look(|node| node.engine().replica().newest());
        let applied = second.handle().look(|node| node.engine().replica().applied());
        applied.is_ok_and(|applied| applied == told.unwrap())
    };
    let ask = || second.handle().apply_log(false);
    publish("e1");
    while !is_heard() {}
    fails.store(true, Ordering::SeqCst);
    publish("e2");
    while ask().is_ok() {}
    for _ in 0..3 {
        let asked = ask();
        assert!(matches!(asked, Err(RuntimeError::Unavailable(_))), "{asked:?}");
    }
    fails.store(false, Ordering::SeqCst);
    publish("e3");
    while !is_heard() {}
}

/// Keeps that it was done, and tells what became of that.
struct Keeping(std::sync::mpsc::Sender<IdempotencyHit>);

impl AnswerRecorder for Keeping {
    fn keep(
        &mut self,
        replies: Vec<Result<Reply, tidings_core::engine::Refused>>,
    ) -> Option<Vec<u8>> {
        let published = whole(&replies);
        assert_eq!((published.status, published.applied), (PublishedAs::Accepted, true));
        Some(b"done".to_vec())
    }

    fn send(self: Box<Self>, kept: Result<IdempotencyHit, RuntimeError>) {
        self.0.send(kept.unwrap()).unwrap();
    }
}

#[test]
fn a_copy_of_a_request_that_waits_for_other_shards_gets_its_answer() {
    let (store, clock) = made();
    let (first, second) = (some(&store, &clock, &[0, 3]), some(&store, &clock, &[1, 2]));
    people(&first, &second);
    let mut link = Beside(first.handle());
    let mut exchange = |report: &FollowerReport| {
        link.exchange(report).unwrap();
        second.handle().apply_log(false).unwrap()
    };
    // It is waited for once it was heard.
    let heard = exchange(&second.handle().apply_log(false).unwrap());
    let (tell, told) = channel();
    let once = Once { key: [1; 16], request: [2; 16] };
    for _ in 0..3 {
        let keeper = Box::new(Keeping(tell.clone()));
        let commands = vec![to_all("once")];
        first.handle().submit_once(once, commands, keeper).unwrap();
        // The loop has taken it.
        first.handle().without_waiting().submit(Vec::new()).unwrap();
    }
    assert!(told.try_recv().is_err());
    let applied = exchange(&heard);
    exchange(&applied);
    let mut kept: Vec<IdempotencyHit> = (0..3).map(|_| told.recv().unwrap()).collect();
    kept.sort_by_key(|kept| *kept != IdempotencyHit::Fresh);
    let before = IdempotencyHit::Replayed(b"done".to_vec());
    assert_eq!(kept, [IdempotencyHit::Fresh, before.clone(), before]);
}
