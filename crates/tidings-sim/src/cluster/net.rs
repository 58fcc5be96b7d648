//! Time, and the ways between nodes, their clients and the database: what happens next, and what is lost, late or
//! doubled.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tidings_node::Monotonic;
use tidings_node::election::{Action, Input};
use tidings_store::lease::{MemoryLeases, NodeId};

use super::ClusterWorld;
use crate::mix::mix;

/// Something that happens; `M` = what bodies of nodes and clients tell each other.
#[derive(Clone, Debug)]
pub(super) enum NetEvent<M> {
    /// A node does what is due.
    Tick(usize, NodeId),
    /// A call arrives at the database.
    Called(usize, NodeId, Action, Monotonic),
    /// Something arrives at a node's election.
    Received(usize, NodeId, Input),
    /// Something arrives at a node's body, also while the node sleeps if `at_once`.
    Arrived {
        node: usize,
        id: NodeId,
        message: M,
        at_once: bool,
    },
    /// A node dies; another process takes its place some time later.
    Kill(usize),
    Start(usize),
    /// A node is asked to leave; then it starts again.
    Drain(usize),
    /// A node sleeps for so long.
    Sleep(usize, i64),
    /// The ways of a node are cut from now on, or whole again.
    Cut(usize, CutLinks),
    /// The clients do what is due.
    Clients,
    /// Something arrives at the clients.
    LogEntry(M),
}

/// The ways of a node on which everything is lost.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a way of its own")]
pub(super) struct CutLinks {
    /// To the database.
    pub calls: bool,
    /// From the database.
    pub answers: bool,
    /// To other nodes.
    pub to_nodes: bool,
    /// From other nodes.
    pub from_nodes: bool,
}

impl CutLinks {
    /// The cuts that occur.
    const ALL: [Self; 6] = [
        Self::of([true, true, false, false]),
        Self::of([true, false, false, false]),
        Self::of([false, true, false, false]),
        Self::of([false, false, true, true]),
        Self::of([false, false, true, false]),
        Self::of([false, false, false, true]),
    ];

    const fn of([calls, answers, to_nodes, from_nodes]: [bool; 4]) -> Self {
        Self { calls, answers, to_nodes, from_nodes }
    }
}

/// The way of a node's commits and reads to the database.
#[derive(Debug, Default)]
pub(super) struct DatabaseLink {
    is_cut: AtomicBool,
    is_calm: AtomicBool,
    /// A number that tells which commits fail.
    seed: u64,
    commits: AtomicU64,
}

/// The fate of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitFate {
    Done,
    /// The commit succeeds and its answer is lost.
    Unheard,
    Lost,
}

/// One commit in this many fails while there are faults.
const COMMITS_PER_FAULT: u64 = 50;

impl DatabaseLink {
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::SeqCst)
    }

    /// The fate of the next commit.
    pub(super) fn commit(&self) -> CommitFate {
        let number = self.commits.fetch_add(1, Ordering::SeqCst);
        if self.is_cut() {
            return CommitFate::Lost;
        }
        match mix(self.seed ^ number) % COMMITS_PER_FAULT {
            0 if !self.is_calm.load(Ordering::SeqCst) => {
                if mix(self.seed ^ !number).is_multiple_of(2) {
                    CommitFate::Unheard
                } else {
                    CommitFate::Lost
                }
            }
            _ => CommitFate::Done,
        }
    }
}

/// The events that are to come, in their order, with the randomness and the state of all ways.
pub struct Net<M> {
    pub(super) world: ClusterWorld,
    pub(super) leases: MemoryLeases,
    pub(super) now: i64,
    seed: u64,
    rolls: u64,
    next: u64,
    queue: BinaryHeap<Reverse<(i64, u64)>>,
    events: BTreeMap<u64, NetEvent<M>>,
    asleep_until: Vec<i64>,
    cuts: Vec<CutLinks>,
    reaches: Vec<Arc<DatabaseLink>>,
    /// The node of each process that runs, or ran.
    places: BTreeMap<NodeId, usize>,
}

impl<M: Clone> Net<M> {
    pub(super) fn new(seed: u64, world: ClusterWorld) -> Self {
        let leases = MemoryLeases::new();
        let leases = if world.fences { leases } else { leases.without_fence() };
        Self {
            world,
            leases,
            now: 0,
            seed,
            rolls: 0,
            next: 0,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            asleep_until: vec![0; world.nodes],
            cuts: vec![CutLinks::default(); world.nodes],
            reaches: (0..world.nodes as u64)
                .map(|node| {
                    Arc::new(DatabaseLink {
                        is_calm: AtomicBool::new(!world.faults),
                        seed: mix(seed ^ node.rotate_left(48)),
                        ..DatabaseLink::default()
                    })
                })
                .collect(),
            places: BTreeMap::new(),
        }
    }

    /// A number from 0 to below `sides`.
    pub(super) fn roll(&mut self, sides: i64) -> i64 {
        self.rolls += 1;
        (mix(self.seed.rotate_left(32) ^ self.rolls) % sides.unsigned_abs()).cast_signed()
    }

    /// An index below a length.
    pub(super) fn choose(&mut self, length: usize) -> usize {
        let rolled = self.roll(i64::try_from(length).unwrap_or(i64::MAX));
        usize::try_from(rolled).unwrap_or(0)
    }

    pub(super) fn at(&mut self, at: i64, event: NetEvent<M>) {
        self.queue.push(Reverse((at.max(self.now), self.next)));
        self.events.insert(self.next, event);
        self.next += 1;
    }

    /// The next event until an instant, which becomes the present.
    pub(super) fn pop(&mut self, end: i64) -> Option<NetEvent<M>> {
        let Reverse((at, number)) = self.queue.pop()?;
        if at > end {
            self.queue.push(Reverse((at, number)));
            return None;
        }
        self.now = at;
        self.leases.set_now(at);
        if self.is_calm() {
            self.reaches.iter().for_each(|reach| reach.is_calm.store(true, Ordering::SeqCst));
        }
        self.events.remove(&number)
    }

    pub(super) fn plan_faults(&mut self) {
        let end = self.world.faults_ms;
        for _ in 0..12 {
            let node = self.choose(self.world.nodes);
            let at = 2_000 + self.roll(end - 3_000);
            let until = end.min(at + 100 + self.roll(15_000));
            match self.roll(6) {
                0 => {
                    self.at(at, NetEvent::Kill(node));
                    self.at(until, NetEvent::Start(node));
                }
                1 | 2 => self.at(at, NetEvent::Sleep(node, until - at)),
                3 => self.at(at, NetEvent::Drain(node)),
                // The database is away.
                4 => {
                    for node in 0..self.world.nodes {
                        self.at(at, NetEvent::Cut(node, CutLinks::ALL[0]));
                        self.at(until, NetEvent::Cut(node, CutLinks::default()));
                    }
                }
                _ => {
                    let cut = CutLinks::ALL[self.choose(CutLinks::ALL.len())];
                    self.at(at, NetEvent::Cut(node, cut));
                    self.at(until, NetEvent::Cut(node, CutLinks::default()));
                }
            }
        }
        for node in 0..self.world.nodes {
            self.at(end, NetEvent::Cut(node, CutLinks::default()));
            self.at(end, NetEvent::Start(node));
        }
    }

    pub(super) fn is_calm(&self) -> bool {
        !self.world.faults || self.now >= self.world.faults_ms
    }

    /// The times that the copies of a message take; none if it is lost.
    pub(super) fn delays(&mut self) -> Vec<i64> {
        if self.is_calm() {
            return vec![1];
        }
        let copies = match self.roll(100) {
            0..3 => 0,
            3..6 => 2,
            _ => 1,
        };
        // What is late arrives before the last fault is over.
        let longest = self.world.faults_ms - self.now;
        let delay = |net: &mut Self| match net.roll(40) {
            0 => net.roll(6_000).min(longest),
            _ => 1 + net.roll(100),
        };
        (0..copies).map(|_| delay(self)).collect()
    }

    /// Delivers a message to a node after a delay.
    pub(super) fn remind(&mut self, (node, id): (usize, NodeId), after: i64, message: M) {
        let event = NetEvent::Arrived { node, id, message, at_once: false };
        self.at(self.now + after, event);
    }

    /// The same, also while its node sleeps: it is with the database already.
    pub(super) fn remind_at_once(&mut self, (node, id): (usize, NodeId), after: i64, message: M) {
        let event = NetEvent::Arrived { node, id, message, at_once: true };
        self.at(self.now + after, event);
    }

    /// Sends something from a node to a process.
    pub(super) fn send(&mut self, from: usize, to: NodeId, message: &M) {
        let Some(place) = self.places.get(&to).copied() else {
            return;
        };
        if from != place && (self.cuts[from].to_nodes || self.cuts[place].from_nodes) {
            return;
        }
        for delay in self.delays() {
            self.remind((place, to), delay, message.clone());
        }
    }

    /// Sends something from a node to the clients.
    pub(super) fn send_to_clients(&mut self, message: &M) {
        for delay in self.delays() {
            self.at(self.now + delay, NetEvent::LogEntry(message.clone()));
        }
    }

    pub(super) fn sleep(&mut self, node: usize, lasts: i64) {
        self.asleep_until[node] = self.now + lasts;
    }

    pub(super) fn wake(&mut self, node: usize) {
        self.asleep_until[node] = 0;
    }

    /// The instant until which a node sleeps, if it does.
    pub(super) fn sleeps_until(&self, node: usize) -> Option<i64> {
        Some(self.asleep_until[node]).filter(|until| *until > self.now)
    }

    pub(super) fn cut(&mut self, node: usize, cut: CutLinks) {
        self.cuts[node] = cut;
        let is_cut = cut.calls || cut.answers;
        self.reaches[node].is_cut.store(is_cut, Ordering::SeqCst);
    }

    /// The ways of a node that are cut.
    pub(super) fn cuts(&self, node: usize) -> CutLinks {
        self.cuts[node]
    }

    /// The way of a node's commits and reads.
    pub(super) fn reach(&self, node: usize) -> Arc<DatabaseLink> {
        Arc::clone(&self.reaches[node])
    }

    pub(super) fn move_in(&mut self, node: usize, id: NodeId) {
        self.places.insert(id, node);
    }
}
