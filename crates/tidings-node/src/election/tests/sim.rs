//! A simulation of several nodes and one database: messages are lost, late, doubled and out of order, nodes stop,
//! die and start, clocks differ. One seed is one run.
//!
//! `TIDINGS_SEED=n` plays one run again, `TIDINGS_RUNS=n` plays more of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use tidings_core::table::{Partition, Write};
use tidings_store::Store;
use tidings_store::lease::{Leases as _, Member, MemoryLeases, NodeId, Share};

use super::super::{Action, Election, Input, Monotonic, Opening, Tenure, Timing};

/// The time in which faults happen, the time after it in which all has to be well, and that in which all stays so.
const FAULTS_MS: i64 = 60_000;
const CALM_MS: i64 = 15_000;
const STILL_MS: i64 = 10_000;
const TICK_MS: i64 = 100;

/// Faults that may occur, and parts that are built wrong on purpose.
#[derive(Clone, Copy)]
pub(super) struct World {
    pub nodes: usize,
    /// Number of parts of the store.
    pub parts: u16,
    pub faults: bool,
    pub fences: bool,
    pub timing: fn() -> Timing,
}

pub(super) const SOUND: World = World {
    nodes: 3,
    parts: 5,
    faults: true,
    fences: true,
    timing: Timing::default,
};

/// The `SplitMix64` sequence.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides.unsigned_abs()).cast_signed()
    }
}

#[derive(Clone, Debug)]
enum Event {
    /// A node does what is due.
    Tick(usize, NodeId),
    /// A call arrives at the database.
    Asked(usize, NodeId, Call),
    /// Something arrives at a node.
    Heard(usize, NodeId, Input),
    /// A node dies; another process takes its place some time later.
    Kill(usize),
    Start(usize),
    /// A node is asked to leave.
    Drain(usize),
    /// A node stops for so long.
    Pause(usize, i64),
    /// Calls of a node, answers to them, or both are lost from now on, or again heard.
    Cut(usize, bool, bool),
}

#[derive(Clone, Debug)]
enum Call {
    /// The order of an action, and since when it was given.
    Ordered(Action, Monotonic),
    /// A commit to a part.
    Commit(Tenure, u16),
}

struct Process {
    election: Election,
    /// The tenure that it opens, or has opened.
    opening: Option<Opening>,
    store: Option<Arc<dyn Store>>,
    /// Milliseconds that its clock shows beyond the time, and thousandths by which it is fast.
    skew_ms: i64,
    drift: i64,
}

impl Process {
    /// The parts that it writes, where its store is open.
    fn parts(&self, of: u16) -> BTreeSet<u16> {
        match (&self.store, &self.opening) {
            (Some(_), Some(opening)) => {
                let parts = opening.parts.as_ref();
                parts.map_or_else(|| (0..of).collect(), |parts| parts.numbers.clone())
            }
            _ => BTreeSet::new(),
        }
    }

    fn tenure(&self) -> Option<Tenure> {
        self.opening.as_ref().map(|opening| opening.tenure)
    }
}

pub(super) struct Sim {
    world: World,
    dice: Dice,
    leases: MemoryLeases,
    now: i64,
    next: u64,
    queue: BinaryHeap<Reverse<(i64, u64)>>,
    events: BTreeMap<u64, Event>,
    processes: Vec<Option<Process>>,
    stopped_until: Vec<i64>,
    /// Calls and answers that are lost: true for those that are.
    cuts: Vec<(bool, bool)>,
    started: i64,
    /// For each part: in what tenures the database took commits, the last one at the end.
    committed: BTreeMap<u16, Vec<Tenure>>,
    commits: u64,
    sends: u64,
    pub acquired: u64,
    pub granted: u64,
}

impl Sim {
    pub(super) fn new(seed: u64, world: World) -> Self {
        let leases = MemoryLeases::new();
        let leases = match world.fences {
            true => leases,
            false => leases.without_fence(),
        };
        let mut sim = Self {
            world,
            dice: Dice(seed),
            leases,
            now: 0,
            next: 0,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            processes: (0..world.nodes).map(|_| None).collect(),
            stopped_until: vec![0; world.nodes],
            cuts: vec![(false, false); world.nodes],
            started: 0,
            committed: BTreeMap::new(),
            commits: 0,
            sends: 0,
            acquired: 0,
            granted: 0,
        };
        for node in 0..world.nodes {
            sim.at(sim.now, Event::Start(node));
        }
        if world.faults {
            sim.plan_faults();
        }
        sim
    }

    fn plan_faults(&mut self) {
        for _ in 0..12 {
            let node = self.dice.roll(i64::try_from(self.world.nodes).unwrap());
            let node = usize::try_from(node).unwrap();
            let at = 2_000 + self.dice.roll(FAULTS_MS - 25_000);
            let lasts = 100 + self.dice.roll(15_000);
            match self.dice.roll(5) {
                0 => {
                    self.at(at, Event::Kill(node));
                    self.at(at + lasts, Event::Start(node));
                }
                1 | 2 => self.at(at, Event::Pause(node, lasts)),
                3 => {
                    self.at(at, Event::Drain(node));
                    self.at(at + lasts, Event::Start(node));
                }
                _ => {
                    let (calls, answers) = [(true, true), (true, false), (false, true)]
                        [usize::try_from(self.dice.roll(3)).unwrap()];
                    self.at(at, Event::Cut(node, calls, answers));
                    self.at(at + lasts, Event::Cut(node, false, false));
                }
            }
        }
        for node in 0..self.world.nodes {
            self.at(FAULTS_MS, Event::Cut(node, false, false));
            self.at(FAULTS_MS, Event::Start(node));
        }
    }

    fn at(&mut self, at: i64, event: Event) {
        self.queue.push(Reverse((at.max(self.now), self.next)));
        self.events.insert(self.next, event);
        self.next += 1;
    }

    fn is_calm(&self) -> bool {
        !self.world.faults || self.now >= FAULTS_MS
    }

    /// The time that a message takes; none if it is lost.
    fn delays(&mut self) -> Vec<i64> {
        if self.is_calm() {
            return vec![1];
        }
        let copies = match self.dice.roll(100) {
            0..3 => 0,
            3..6 => 2,
            _ => 1,
        };
        let delay = |dice: &mut Dice| match dice.roll(40) {
            0 => dice.roll(6_000),
            _ => 1 + dice.roll(100),
        };
        (0..copies).map(|_| delay(&mut self.dice)).collect()
    }

    pub(super) fn run(&mut self) {
        self.run_until(FAULTS_MS + CALM_MS);
        self.is_well();
        let moved = (self.acquired, self.granted);
        self.run_until(FAULTS_MS + CALM_MS + STILL_MS);
        self.is_well();
        assert_eq!(moved, (self.acquired, self.granted), "what is well stays");
    }

    fn run_until(&mut self, end: i64) {
        while let Some(Reverse((at, number))) = self.queue.pop() {
            if at > end {
                self.queue.push(Reverse((at, number)));
                break;
            }
            self.now = at;
            self.leases.set_now(at);
            let event = self.events.remove(&number).unwrap();
            self.play(event);
        }
    }

    fn play(&mut self, event: Event) {
        match event {
            Event::Tick(node, id) => self.tick(node, id, event),
            Event::Heard(node, id, ref input) => {
                let input = input.clone();
                if self.lives(node, id) && !self.is_put_off(node, event) {
                    self.hear(node, input);
                }
            }
            Event::Asked(node, id, call) => self.ask(node, id, call),
            Event::Kill(node) => {
                self.processes[node] = None;
                self.stopped_until[node] = 0;
            }
            Event::Start(node) => self.start(node),
            Event::Drain(node) => {
                if self.processes[node].is_some() && !self.is_put_off(node, Event::Drain(node)) {
                    self.hear(node, Input::Drain);
                }
            }
            Event::Pause(node, lasts) => self.stopped_until[node] = self.now + lasts,
            Event::Cut(node, calls, answers) => self.cuts[node] = (calls, answers),
        }
    }

    fn lives(&self, node: usize, id: NodeId) -> bool {
        let process = self.processes[node].as_ref();
        process.is_some_and(|process| process.election.id() == id)
    }

    /// Puts off what happens to a node that is stopped.
    fn is_put_off(&mut self, node: usize, event: Event) -> bool {
        let until = self.stopped_until[node];
        if until > self.now {
            self.at(until, event);
        }
        until > self.now
    }

    fn start(&mut self, node: usize) {
        if self.processes[node].is_some() {
            return;
        }
        self.started += 1;
        let id = NodeId(self.started);
        let member = Member::new(id, &format!("node-{node}"));
        self.processes[node] = Some(Process {
            election: Election::new(member, (self.world.timing)()),
            opening: None,
            store: None,
            skew_ms: self.dice.roll(1_000_000),
            drift: self.dice.roll(21) - 10,
        });
        self.at(self.now, Event::Tick(node, id));
    }

    fn mono(&self, node: usize) -> Monotonic {
        let process = self.processes[node].as_ref().unwrap();
        Monotonic(process.skew_ms + self.now + self.now * process.drift / 1_000)
    }

    fn tick(&mut self, node: usize, id: NodeId, event: Event) {
        if !self.lives(node, id) || self.is_put_off(node, event.clone()) {
            return;
        }
        let mono = self.mono(node);
        let process = self.processes[node].as_ref().unwrap();
        let parts = process.parts(self.world.parts);
        if let Some(tenure) = process.tenure().filter(|_| !parts.is_empty()) {
            if process.election.licence().holds(mono) {
                self.send(node, tenure, &parts);
            }
            // Commits need no licence. They may be late, too.
            for part in parts {
                let late = self.dice.roll(300);
                let commit = Call::Commit(tenure, part);
                self.at(self.now + late, Event::Asked(node, id, commit));
            }
        }
        self.hear(node, Input::Tick);
        self.at(self.now + TICK_MS, event);
    }

    /// Sends for parts: nobody else may have been told that it can.
    fn send(&mut self, node: usize, tenure: Tenure, parts: &BTreeSet<u16>) {
        self.sends += 1;
        let view = self.leases.membership().unwrap();
        let holds = match tenure {
            Tenure::Lease(epoch) => {
                let in_share = |share: &Share| share.parts.iter().any(|part| parts.contains(part));
                view.lease.epoch == epoch && !view.shares.iter().any(in_share)
            }
            Tenure::Share(term) => view.shares.iter().any(|share| share.term == term),
        };
        assert!(holds, "a message goes from {node} without a lease or share");
        for (other, process) in self.processes.iter().enumerate() {
            let process = process.as_ref().filter(|_| other != node);
            let is_licensed =
                process.is_some_and(|process| process.election.licence().holds(self.mono(other)));
            let theirs = process.map(|process| process.parts(self.world.parts));
            let is_apart = theirs.is_none_or(|theirs| theirs.is_disjoint(parts));
            assert!(!is_licensed || is_apart, "{node} and {other} send");
        }
    }

    fn hear(&mut self, node: usize, input: Input) {
        let mono = self.mono(node);
        let process = self.processes[node].as_mut().unwrap();
        let id = process.election.id();
        let input = match input {
            Input::Opened(tenure, of) => {
                // What is fenced by now can't be opened.
                let opened = match tenure {
                    Tenure::Lease(epoch) => self.leases.open(epoch),
                    Tenure::Share(term) => self.leases.open_share(term),
                };
                process.store = opened.ok();
                if process.store.is_none() {
                    process.opening = None;
                }
                Input::Opened(tenure, of.filter(|_| process.store.is_some()))
            }
            Input::Closed(_) => {
                (process.store, process.opening) = (None, None);
                input
            }
            _ => input,
        };
        for effect in process.election.on(mono, input) {
            self.act(node, id, mono, &effect);
        }
    }

    fn act(&mut self, node: usize, id: NodeId, mono: Monotonic, effect: &Action) {
        let soon = 1 + self.dice.roll(300);
        let process = self.processes[node].as_mut().unwrap();
        match effect {
            Action::Open(opening) => {
                assert!(process.opening.is_none(), "one store at a time");
                process.opening = Some(opening.clone());
                let opened = Input::Opened(opening.tenure, Some(self.world.parts));
                return self.at(self.now + soon, Event::Heard(node, id, opened));
            }
            Action::Close { tenure, drains } => {
                assert_eq!(process.tenure(), Some(*tenure));
                if !drains {
                    process.store = None;
                }
                let (ended, closed) = (Input::Ended(*tenure), Input::Closed(*tenure));
                self.at(self.now + soon, Event::Heard(node, id, ended));
                return self.at(self.now + soon, Event::Heard(node, id, closed));
            }
            Action::Leave => self.processes[node] = None,
            _ => {}
        }
        for delay in self.delays() {
            let call = Call::Ordered(effect.clone(), mono);
            self.at(self.now + delay, Event::Asked(node, id, call));
        }
    }

    fn ask(&mut self, node: usize, id: NodeId, call: Call) {
        let answer = match call {
            Call::Commit(tenure, part) => return self.commit(node, id, tenure, part),
            _ if self.cuts[node].0 => return,
            Call::Ordered(action, began) => self.call(id, action, began),
        };
        let Some(answer) = answer.filter(|_| !self.cuts[node].1) else {
            return;
        };
        for delay in self.delays() {
            self.at(self.now + delay, Event::Heard(node, id, answer.clone()));
        }
    }

    fn call(&mut self, id: NodeId, action: Action, began: Monotonic) -> Option<Input> {
        match action {
            Action::Heartbeat(me) => {
                let membership = self.leases.heartbeat(&me).ok();
                return Some(Input::HeartbeatAnswered {
                    me,
                    began,
                    membership,
                });
            }
            Action::Acquire(lease, heartbeat) => {
                let acquired = self.leases.acquire(lease, heartbeat, id).unwrap();
                self.acquired += u64::from(acquired.is_some());
                return Some(Input::Acquired(acquired));
            }
            Action::GiveBack(term) => {
                self.leases.give_back(term).unwrap();
                return Some(Input::GivenBack(term));
            }
            Action::Grant {
                epoch,
                node,
                parts,
                of,
            } => {
                let granted = self.leases.grant(epoch, node, &parts, of).unwrap();
                self.granted += u64::from(granted.is_some());
            }
            Action::Revoke {
                epoch,
                term,
                heartbeat,
            } => drop(self.leases.revoke(epoch, term, heartbeat)),
            Action::Recall { epoch, term } => self.leases.recall(epoch, term).unwrap(),
            Action::Release(epoch) => self.leases.release(epoch).unwrap(),
            Action::Leave => self.leases.leave(id).unwrap(),
            Action::Open(_) | Action::Close { .. } => unreachable!("{action:?}"),
        }
        None
    }

    /// A commit arrives: whoever comes after must not be followed by whoever was before.
    fn commit(&mut self, node: usize, id: NodeId, tenure: Tenure, part: u16) {
        let process = self.processes[node].as_ref();
        let process = process.filter(|process| process.tenure() == Some(tenure));
        let Some(store) = process.and_then(|process| process.store.clone()) else {
            return;
        };
        let write = Write {
            partition: Partition::Base,
            key: part.to_be_bytes().to_vec(),
            value: Some(id.0.to_be_bytes().to_vec()),
        };
        match store.commit(vec![write].into()) {
            Ok(()) => {
                let before = self.committed.entry(part).or_default();
                if before.last() != Some(&tenure) {
                    assert!(
                        !before.contains(&tenure),
                        "{tenure:?} wrote after {before:?}"
                    );
                    before.push(tenure);
                }
                self.commits += 1;
            }
            Err(_) => self.at(self.now, Event::Heard(node, id, Input::Ended(tenure))),
        }
    }

    /// Some time after the last fault each part is with one node, all know it, and all have as many.
    fn is_well(&self) {
        let database = self.leases.membership().unwrap();
        let (lease, of) = (database.lease, usize::from(self.world.parts));
        let mut held = Vec::new();
        for (node, process) in self.processes.iter().enumerate() {
            let process = process.as_ref().unwrap();
            let election = &process.election;
            let view = election.membership().unwrap();
            assert_eq!(view.lease, lease, "node {node} knows who holds the lease");
            assert_eq!(view.shares, database.shares, "node {node} knows the shares");
            let is_licensed = election.licence().holds(self.mono(node));
            assert_eq!(is_licensed, election.holds().is_some(), "node {node}");
            assert_eq!(process.tenure(), election.holds(), "node {node}");
            let parts = process.parts(self.world.parts);
            let target = match election.holds() {
                Some(Tenure::Lease(epoch)) => {
                    assert_eq!((epoch, Some(election.id())), (lease.epoch, lease.holder));
                    (of / self.world.nodes).max(1)
                }
                _ => (of - (of / self.world.nodes).max(1)) / (self.world.nodes - 1),
            };
            let fair = target.saturating_sub(1).max(target.min(1))..=target + 2;
            assert!(fair.contains(&parts.len()), "node {node} has {parts:?}");
            held.extend(parts);
        }
        held.sort_unstable();
        assert_eq!(held, (0..self.world.parts).collect::<Vec<u16>>());
        assert!(self.sends > 20 && self.commits > 20);
    }
}

fn seeds(count: u64) -> Vec<u64> {
    let given = |name: &str| std::env::var(name).ok()?.parse().ok();
    match given("TIDINGS_SEED") {
        Some(seed) => vec![seed],
        None => (1..=given("TIDINGS_RUNS").unwrap_or(count)).collect(),
    }
}

/// Plays runs; the first seed with what was wrong.
pub(super) fn play(count: u64, world: World) -> Result<(), String> {
    for seed in seeds(count) {
        let played = std::panic::catch_unwind(|| Sim::new(seed, world).run());
        if let Err(why) = played {
            let text = why.downcast_ref::<String>().cloned();
            let text = text.or(why.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            return Err(format!("TIDINGS_SEED={seed}: {}", text.unwrap_or_default()));
        }
    }
    Ok(())
}
