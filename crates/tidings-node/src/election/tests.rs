//! Simulation of several nodes and one database: messages are lost, late, doubled and out of order, nodes stop,
//! die and start, clocks differ. One seed is one run.
//!
//! `TIDINGS_SEED=n` plays one run again, `TIDINGS_RUNS=n` plays more of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use tidings_core::table::{Partition, Write};
use tidings_store::Store;
use tidings_store::lease::{Epoch, Lease, Leases as _, Member, Membership, MemoryLeases, NodeId};

use super::{Action, Election, Input, Monotonic, Timing};

/// The time in which faults happen, and the time after it in which all has to be well.
const FAULTS_MS: i64 = 60_000;
const CALM_MS: i64 = 10_000;
const TICK_MS: i64 = 100;

/// Faults that may occur, and parts that are built wrong on purpose.
#[derive(Clone, Copy)]
struct World {
    nodes: usize,
    faults: bool,
    fences: bool,
    timing: fn() -> Timing,
}

const SOUND: World = World {
    nodes: 3,
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
    Heartbeat(Member, Monotonic),
    Acquire(Lease, Option<i64>),
    Release(Epoch),
    Leave,
    /// A commit of a holder.
    Commit(Epoch),
}

struct Process {
    election: Election,
    store: Option<(Epoch, Arc<dyn Store>)>,
    /// Milliseconds that its clock shows beyond the time, and thousandths by which it is fast.
    skew_ms: i64,
    drift: i64,
}

struct Sim {
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
    /// The epoch of the last commit that the database took.
    committed: Epoch,
    commits: u64,
    sends: u64,
    acquired: u64,
}

impl Sim {
    fn new(seed: u64, world: World) -> Self {
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
            committed: Epoch(0),
            commits: 0,
            sends: 0,
            acquired: 0,
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
            let node = usize::try_from(self.dice.roll(3)).unwrap() % self.world.nodes;
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

    fn run(&mut self) {
        while let Some(Reverse((at, number))) = self.queue.pop() {
            if at > FAULTS_MS + CALM_MS {
                break;
            }
            self.now = at;
            self.leases.set_now(at);
            let event = self.events.remove(&number).unwrap();
            self.play(event);
        }
        self.is_well();
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
        let store = process.store.as_ref().map(|(epoch, _)| *epoch);
        if let Some(epoch) = store {
            if process.election.licence().holds(mono) {
                // It sends now: nobody else may have been told that it can.
                self.sends += 1;
                let lease = self.leases.membership().unwrap().lease;
                assert_eq!(
                    lease.epoch, epoch,
                    "a message goes from {node} without a lease"
                );
            }
            // Commits need no licence. They may be late, too.
            let late = self.dice.roll(300);
            self.at(self.now + late, Event::Asked(node, id, Call::Commit(epoch)));
        }
        self.hear(node, Input::Tick);
        self.at(self.now + TICK_MS, event);
    }

    fn hear(&mut self, node: usize, input: Input) {
        let mono = self.mono(node);
        let process = self.processes[node].as_mut().unwrap();
        let id = process.election.id();
        if let Input::Opened(epoch, true) = input {
            // What is fenced by now can't be opened.
            process.store = self.leases.open(epoch).ok().map(|store| (epoch, store));
        }
        let input = match (&input, &process.store) {
            (Input::Opened(epoch, true), None) => Input::Opened(*epoch, false),
            _ => input,
        };
        for effect in process.election.on(mono, input) {
            self.act(node, id, mono, effect);
        }
    }

    fn act(&mut self, node: usize, id: NodeId, mono: Monotonic, effect: Action) {
        let soon = 1 + self.dice.roll(300);
        let call = match effect {
            Action::Heartbeat(member) => Call::Heartbeat(member, mono),
            Action::Acquire(lease, heartbeat) => Call::Acquire(lease, heartbeat),
            Action::Release(epoch) => Call::Release(epoch),
            Action::Leave => {
                self.processes[node] = None;
                Call::Leave
            }
            Action::Open(epoch) => {
                let opened = Input::Opened(epoch, true);
                return self.at(self.now + soon, Event::Heard(node, id, opened));
            }
            Action::Close { epoch, .. } => {
                self.processes[node].as_mut().unwrap().store = None;
                let closed = Input::Closed(epoch);
                return self.at(self.now + soon, Event::Heard(node, id, closed));
            }
        };
        for delay in self.delays() {
            self.at(self.now + delay, Event::Asked(node, id, call.clone()));
        }
    }

    fn ask(&mut self, node: usize, id: NodeId, call: Call) {
        if self.cuts[node].0 && !matches!(call, Call::Commit(_)) {
            return;
        }
        let answer = match call {
            Call::Heartbeat(me, began) => {
                let membership: Option<Membership> = self.leases.heartbeat(&me).ok();
                Some(Input::HeartbeatAnswered {
                    me,
                    began,
                    membership,
                })
            }
            Call::Acquire(lease, heartbeat) => {
                let acquired = self.leases.acquire(lease, heartbeat, id).unwrap();
                self.acquired += u64::from(acquired.is_some());
                Some(Input::Acquired(acquired))
            }
            Call::Release(epoch) => {
                self.leases.release(epoch).unwrap();
                None
            }
            Call::Leave => {
                self.leases.leave(id).unwrap();
                None
            }
            Call::Commit(epoch) => {
                self.commit(node, id, epoch);
                None
            }
        };
        let Some(answer) = answer.filter(|_| !self.cuts[node].1) else {
            return;
        };
        for delay in self.delays() {
            self.at(self.now + delay, Event::Heard(node, id, answer.clone()));
        }
    }

    /// A commit arrives: whoever comes after must not be followed by whoever was before.
    fn commit(&mut self, node: usize, id: NodeId, epoch: Epoch) {
        let process = self.processes[node].as_ref();
        let store = process.and_then(|process| process.store.clone());
        let Some((_, store)) = store.filter(|(held, _)| *held == epoch) else {
            return;
        };
        let write = Write {
            partition: Partition::Base,
            key: vec![1],
            value: Some(epoch.0.to_be_bytes().to_vec()),
        };
        match store.commit(vec![write].into()) {
            Ok(()) => {
                assert!(
                    epoch >= self.committed,
                    "{epoch:?} wrote after {:?}",
                    self.committed
                );
                self.committed = epoch;
                self.commits += 1;
            }
            Err(_) => self.at(self.now, Event::Heard(node, id, Input::Ended(epoch))),
        }
    }

    /// Ten seconds after the last fault one node holds the lease, and all know it.
    fn is_well(&self) {
        let lease = self.leases.membership().unwrap().lease;
        let mut holders = 0;
        for (node, process) in self.processes.iter().enumerate() {
            let election = &process.as_ref().unwrap().election;
            let view = election.membership().unwrap();
            assert_eq!(view.lease, lease, "node {node} knows who holds the lease");
            let is_licensed = election.licence().holds(self.mono(node));
            assert_eq!(is_licensed, election.holds().is_some(), "node {node}");
            if let Some(epoch) = election.holds() {
                assert_eq!((epoch, Some(election.id())), (lease.epoch, lease.holder));
                holders += 1;
            }
        }
        assert_eq!(holders, 1, "one holder");
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
fn play(count: u64, world: World) -> Result<(), String> {
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

#[test]
fn one_node_at_a_time_writes_and_sends_whatever_happens() {
    assert_eq!(play(400, SOUND), Ok(()));
}

#[test]
fn without_faults_the_first_holder_stays() {
    let world = World {
        faults: false,
        ..SOUND
    };
    for seed in 1..=20 {
        let mut sim = Sim::new(seed, world);
        sim.run();
        assert_eq!((sim.acquired, sim.committed), (1, Epoch(1)), "seed {seed}");
    }
}

#[test]
fn without_the_fence_an_old_holder_writes_over_a_new_one() {
    let world = World {
        fences: false,
        ..SOUND
    };
    let why = play(400, world).unwrap_err();
    assert!(why.contains("wrote after"), "{why}");
}

#[test]
fn without_an_end_of_the_licence_two_nodes_send() {
    let world = World {
        timing: || Timing {
            licence_ms: 60_000,
            ..Timing::default()
        },
        ..SOUND
    };
    let why = play(400, world).unwrap_err();
    assert!(why.contains("without a lease"), "{why}");
}

#[test]
fn a_licence_that_outlives_the_watch_is_no_licence() {
    let world = World {
        timing: || Timing {
            missed: 1,
            ..Timing::default()
        },
        ..SOUND
    };
    let why = play(400, world).unwrap_err();
    assert!(why.contains("without a lease"), "{why}");
}
