//! A simulation of several nodes and their database: messages are lost, late, doubled and out of order, ways are cut in
//! one direction or both, nodes sleep, die and start, and their clocks differ. One seed is one run.
//!
//! The election of each node is that of production. What a node does with its store is its [`NodeBody`]: [`CommittingNode`] only
//! commits, so that thousands of runs show who may write and send when; [`SimServer`] is the loop of a server with
//! clients that publish through any node.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tidings_core::Instant;
use tidings_node::election::{Action, Election, Input, Opening, Tenure, Timing};
use tidings_node::{Monotonic, call_leases};
use tidings_store::lease::{Leases as _, Member, Membership, MemoryLeases, NodeId, Share, TermNo};

mod clients;
mod net;
mod serving;
mod writer;

pub use net::Net;
pub use serving::SimServer;
pub use writer::CommittingNode;

use net::NetEvent;

/// The size of a world, its faults, and parts that are built wrong on purpose.
#[derive(Clone, Copy, Debug)]
pub struct ClusterWorld {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of shards of the store.
    pub shards: u16,
    /// True if faults occur.
    pub faults: bool,
    /// The time in which faults occur.
    pub faults_ms: i64,
    /// True if the database refuses commits of who has lost a lease or share.
    pub fences: bool,
    /// True if the database keeps every commit of a [`SimServer`] node that it has acknowledged.
    pub keeps: bool,
    /// The timing of elections.
    pub timing: fn() -> Timing,
}

/// A world with faults, in which everything is built as it has to be.
pub const SOUND: ClusterWorld = ClusterWorld {
    nodes: 3,
    shards: 5,
    faults: true,
    faults_ms: 60_000,
    fences: true,
    keeps: true,
    timing: Timing::default,
};

/// The time after the last fault in which what was acknowledged has to be applied everywhere, that in which the shards
/// are divided evenly, and that in which all stays so.
const APPLIED_MS: i64 = 10_000;
const CALM_MS: i64 = 15_000;
const STILL_MS: i64 = 10_000;
const TICK_MS: i64 = 100;

/// The time that a node is away that has left in order.
const RESTART_MS: i64 = 500;

/// The instant at which a run begins: a Tuesday.
const BEGIN: Instant = Instant(1_704_186_000_000);

/// The bounds of the difference between a node's clock and the time, in milliseconds.
const SKEW_MS: i64 = 1_000;

/// The work of a node with a store while it has it open.
pub trait NodeBody: Sized {
    /// A message between bodies, and between them and clients.
    type Message: Clone;
    /// The world outside of the nodes: clients, and what they know.
    type Outside;

    /// True if the store can be opened whenever it may be. A node that could not open it is spared for a minute, in which
    /// it has no shards.
    const ALWAYS_OPENS: bool;

    /// Prepares the database, before a node runs.
    fn prepare(net: &mut Net<Self::Message>) -> Self::Outside;

    /// Opens the store; `None` if it can't be opened.
    fn open(
        me: &BodyProcess<'_>,
        opening: &Opening,
        with: BodySurroundings<'_, Self>,
    ) -> Option<Self>;

    /// Does what is due ten times a second.
    fn tick(&mut self, me: &BodyProcess<'_>, with: BodySurroundings<'_, Self>);

    /// Receives what has arrived; returns the messages for its election.
    fn receive(
        &mut self,
        me: &BodyProcess<'_>,
        message: Self::Message,
        with: BodySurroundings<'_, Self>,
    ) -> Option<Input>;

    /// Ends in order.
    fn close(self);

    /// Ends as a killed process does, or one that has lost its store.
    fn die(self);

    /// Has the clients do what is due.
    fn ask(seats: &[Option<NodeProcess<Self>>], with: BodySurroundings<'_, Self>);

    /// Delivers an answer to the clients.
    fn deliver(message: Self::Message, outside: &mut Self::Outside);

    /// Checks what has to hold ten seconds after the last fault.
    fn is_applied(leases: &MemoryLeases, outside: &Self::Outside);

    /// Checks what has to hold in the end.
    fn is_well(leases: &MemoryLeases, outside: &Self::Outside);
}

/// The surroundings of a body: the ways to others, and what is outside.
pub type BodySurroundings<'w, B> =
    (&'w mut Net<<B as NodeBody>::Message>, &'w mut <B as NodeBody>::Outside);

/// The process in which a body is.
pub struct BodyProcess<'m> {
    /// Its place among the nodes.
    pub node: usize,
    /// Its election.
    pub election: &'m Election,
    /// Its monotonic clock.
    pub mono: Monotonic,
    /// Its clock of the day.
    pub now: Instant,
}

impl BodyProcess<'_> {
    /// The process, as messages name it.
    #[must_use]
    pub fn address(&self) -> (usize, NodeId) {
        (self.node, self.election.id())
    }

    /// Returns true if it may send and answer reads.
    #[must_use]
    pub fn is_licensed(&self) -> bool {
        self.election.licence().holds(self.mono)
    }

    /// The process that has the lease, as far as it knows.
    #[must_use]
    pub fn holder(&self) -> Option<NodeId> {
        let members = self.election.membership();
        members.and_then(|members| members.lease.holder)
    }
}

/// A process of a node.
pub struct NodeProcess<B> {
    election: Election,
    /// The tenure that it opens, or has opened.
    opening: Option<Opening>,
    body: Option<B>,
    /// The offset of its monotonic clock in milliseconds, and its drift in thousandths.
    ahead_ms: i64,
    drift: i64,
    /// Milliseconds that its clock of the day is fast.
    skew_ms: i64,
}

impl<B> NodeProcess<B> {
    fn tenure(&self) -> Option<Tenure> {
        self.opening.as_ref().map(|opening| opening.tenure)
    }

    /// The shards that it writes, where its store is open.
    fn shards(&self, of: u16) -> BTreeSet<u16> {
        match (&self.body, &self.opening) {
            (Some(_), Some(opening)) => {
                let shards = opening.shards.as_ref();
                shards.map_or_else(|| (0..of).collect(), |shards| shards.numbers.clone())
            }
            _ => BTreeSet::new(),
        }
    }

    fn mono(&self, now: i64) -> Monotonic {
        Monotonic(self.ahead_ms + now + now * self.drift / 1_000)
    }

    fn me(&self, node: usize, now: i64) -> BodyProcess<'_> {
        BodyProcess {
            node,
            election: &self.election,
            mono: self.mono(now),
            now: BEGIN.plus_ms(now + self.skew_ms),
        }
    }

    /// The body with its process.
    fn embodied(&mut self, node: usize, now: i64) -> Option<(&mut B, BodyProcess<'_>)> {
        let (mono, skew_ms) = (self.mono(now), self.skew_ms);
        let body = self.body.as_mut()?;
        let me =
            BodyProcess { node, election: &self.election, mono, now: BEGIN.plus_ms(now + skew_ms) };
        Some((body, me))
    }
}

/// A run.
pub struct ClusterRun<B: NodeBody> {
    net: Net<B::Message>,
    seats: Vec<Option<NodeProcess<B>>>,
    outside: B::Outside,
    started: i64,
    sends: u64,
    /// Number of acquisitions of the lease.
    pub acquired: u64,
    /// The term of the newest share, which is the number of grants.
    pub granted: TermNo,
}

impl<B: NodeBody> ClusterRun<B> {
    /// The run of a seed.
    #[must_use]
    pub fn new(seed: u64, world: ClusterWorld) -> Self {
        let mut net = Net::new(seed, world);
        let outside = B::prepare(&mut net);
        let mut sim = Self {
            net,
            seats: (0..world.nodes).map(|_| None).collect(),
            outside,
            started: 0,
            sends: 0,
            acquired: 0,
            granted: TermNo::default(),
        };
        for node in 0..world.nodes {
            sim.net.at(0, NetEvent::Start(node));
        }
        sim.net.at(0, NetEvent::Clients);
        if world.faults {
            sim.net.plan_faults();
        }
        sim
    }

    /// Plays it to its end.
    ///
    /// # Panics
    /// Something is not as it has to be.
    pub fn run(&mut self) {
        let faults_ms = self.net.world.faults_ms;
        self.run_until(faults_ms + APPLIED_MS);
        B::is_applied(&self.net.leases, &self.outside);
        self.run_until(faults_ms + CALM_MS);
        self.is_divided();
        let moved = (self.acquired, self.granted);
        self.run_until(faults_ms + CALM_MS + STILL_MS);
        self.is_divided();
        if B::ALWAYS_OPENS {
            assert_eq!(moved, (self.acquired, self.granted), "what is well stays");
        }
        assert!(self.sends > 20);
        B::is_well(&self.net.leases, &self.outside);
    }

    fn run_until(&mut self, end: i64) {
        while let Some(event) = self.net.pop(end) {
            self.play(event);
        }
    }

    fn play(&mut self, event: NetEvent<B::Message>) {
        match event {
            NetEvent::Tick(node, id) => self.tick(node, id, event),
            NetEvent::Received(node, id, ref input) => {
                let input = input.clone();
                if self.lives(node, id) && !self.is_put_off(node, event) {
                    self.receive(node, input);
                }
            }
            NetEvent::Called(node, id, action, began) => self.called(node, id, action, began),
            NetEvent::Arrived { node, id, at_once, .. }
                if self.lives(node, id) && (at_once || !self.is_put_off(node, event.clone())) =>
            {
                if let NetEvent::Arrived { message, .. } = event {
                    self.arrived(node, message);
                }
            }
            NetEvent::Arrived { .. } => {}
            NetEvent::Kill(node) => {
                if let Some(body) = self.seats[node].take().and_then(|seat| seat.body) {
                    body.die();
                }
                self.net.wake(node);
            }
            NetEvent::Start(node) => self.start(node),
            NetEvent::Drain(node) => {
                if self.seats[node].is_some() && !self.is_put_off(node, event) {
                    self.receive(node, Input::Drain);
                }
            }
            NetEvent::Sleep(node, lasts) => self.net.sleep(node, lasts),
            NetEvent::Cut(node, cut) => self.net.cut(node, cut),
            NetEvent::Clients => {
                B::ask(&self.seats, (&mut self.net, &mut self.outside));
                self.net.at(self.net.now + TICK_MS, NetEvent::Clients);
            }
            NetEvent::LogEntry(message) => B::deliver(message, &mut self.outside),
        }
    }

    fn lives(&self, node: usize, id: NodeId) -> bool {
        let seat = self.seats[node].as_ref();
        seat.is_some_and(|seat| seat.election.id() == id)
    }

    /// Puts off what happens to a node that sleeps.
    fn is_put_off(&mut self, node: usize, event: NetEvent<B::Message>) -> bool {
        let until = self.net.sleeps_until(node);
        if let Some(until) = until {
            self.net.at(until, event);
        }
        until.is_some()
    }

    fn start(&mut self, node: usize) {
        if self.seats[node].is_some() {
            return;
        }
        self.started += 1;
        let id = NodeId(self.started);
        let member = Member::new(id, &format!("node-{node}"));
        self.seats[node] = Some(NodeProcess {
            election: Election::new(member, (self.net.world.timing)()),
            opening: None,
            body: None,
            ahead_ms: self.net.roll(1_000_000),
            drift: self.net.roll(21) - 10,
            skew_ms: self.net.roll(2 * SKEW_MS + 1) - SKEW_MS,
        });
        self.net.move_in(node, id);
        self.net.at(self.net.now, NetEvent::Tick(node, id));
    }

    fn tick(&mut self, node: usize, id: NodeId, event: NetEvent<B::Message>) {
        if !self.lives(node, id) || self.is_put_off(node, event.clone()) {
            return;
        }
        self.sends(node);
        let now = self.net.now;
        let seat = self.seats[node].as_mut();
        if let Some((body, me)) = seat.and_then(|seat| seat.embodied(node, now)) {
            body.tick(&me, (&mut self.net, &mut self.outside));
        }
        self.receive(node, Input::Tick);
        self.net.at(now + TICK_MS, event);
    }

    /// Checks that no other node has the licence while this one has it.
    fn sends(&mut self, node: usize) {
        let (now, of) = (self.net.now, self.net.world.shards);
        let Some(seat) = self.seats[node].as_ref() else {
            return;
        };
        let shards = seat.shards(of);
        let tenure = seat.tenure().filter(|_| !shards.is_empty());
        let Some(tenure) = tenure.filter(|_| seat.me(node, now).is_licensed()) else {
            return;
        };
        self.sends += 1;
        assert!(
            is_in_force(tenure, &shards, &membership(&self.net.leases)),
            "a message goes from {node} without a lease or share"
        );
        for (other, seat) in self.seats.iter().enumerate() {
            let seat = seat.as_ref().filter(|_| other != node);
            let is_licensed = seat.is_some_and(|seat| seat.me(other, now).is_licensed());
            let is_apart = seat.is_none_or(|seat| seat.shards(of).is_disjoint(&shards));
            assert!(!is_licensed || is_apart, "{node} and {other} send");
        }
    }

    fn arrived(&mut self, node: usize, message: B::Message) {
        let now = self.net.now;
        let seat = self.seats[node].as_mut();
        let Some((body, me)) = seat.and_then(|seat| seat.embodied(node, now)) else {
            return;
        };
        let id = me.election.id();
        let received = body.receive(&me, message, (&mut self.net, &mut self.outside));
        if let Some(input) = received {
            self.net.at(now, NetEvent::Received(node, id, input));
        }
    }

    fn receive(&mut self, node: usize, input: Input) {
        let now = self.net.now;
        let Some(seat) = self.seats[node].as_mut() else {
            return;
        };
        let input = match (input, seat.opening.clone()) {
            // What is fenced by now can't be opened.
            (Input::Opened(tenure, of), Some(opening)) => {
                let with = (&mut self.net, &mut self.outside);
                seat.body = B::open(&seat.me(node, now), &opening, with);
                if seat.body.is_none() {
                    seat.opening = None;
                }
                Input::Opened(tenure, of.filter(|_| seat.body.is_some()))
            }
            (Input::Closed(tenure), _) => {
                seat.opening = None;
                if let Some(body) = seat.body.take() {
                    body.close();
                }
                Input::Closed(tenure)
            }
            (input, _) => input,
        };
        let mono = seat.mono(now);
        let id = seat.election.id();
        for action in seat.election.on(mono, input) {
            self.act(node, id, mono, &action);
        }
    }

    fn act(&mut self, node: usize, id: NodeId, mono: Monotonic, action: &Action) {
        let at = self.net.now + 1 + self.net.roll(300);
        let Some(seat) = self.seats[node].as_mut() else {
            return;
        };
        match action {
            Action::Open(opening) => {
                assert!(seat.opening.is_none(), "one store at a time");
                seat.opening = Some(opening.clone());
                let opened = Input::Opened(opening.tenure, Some(self.net.world.shards));
                return self.net.at(at, NetEvent::Received(node, id, opened));
            }
            Action::Close { tenure, drains } => {
                assert_eq!(seat.tenure(), Some(*tenure));
                if let Some(body) = seat.body.take_if(|_| !drains) {
                    body.die();
                }
                let (ended, closed) = (Input::Ended(*tenure), Input::Closed(*tenure));
                self.net.at(at, NetEvent::Received(node, id, ended));
                return self.net.at(at, NetEvent::Received(node, id, closed));
            }
            Action::Leave => {
                self.seats[node] = None;
                self.net.at(at + RESTART_MS, NetEvent::Start(node));
            }
            _ => {}
        }
        for delay in self.net.delays() {
            let call = NetEvent::Called(node, id, action.clone(), mono);
            self.net.at(self.net.now + delay, call);
        }
    }

    fn called(&mut self, node: usize, id: NodeId, action: Action, began: Monotonic) {
        if self.net.cuts(node).calls {
            return;
        }
        let answer = call_leases(&self.net.leases, id, began, action);
        self.acquired += u64::from(matches!(answer, Some(Input::Acquired(Some(_)))));
        // Each grant has the next number.
        let newest = membership(&self.net.leases).shares.last().map(|share| share.term);
        self.granted = self.granted.max(newest.unwrap_or_default());
        let Some(answer) = answer.filter(|_| !self.net.cuts(node).answers) else {
            return;
        };
        for delay in self.net.delays() {
            let received = NetEvent::Received(node, id, answer.clone());
            self.net.at(self.net.now + delay, received);
        }
    }

    /// Checks that each shard is with one node, that all know it, and that all have as many where they can be opened.
    fn is_divided(&self) {
        let (now, database) = (self.net.now, membership(&self.net.leases));
        let (lease, of) = (database.lease, usize::from(self.net.world.shards));
        let nodes = self.net.world.nodes;
        let mut held = Vec::new();
        for (node, seat) in self.seats.iter().enumerate() {
            let seat = seat.as_ref().expect("the last fault is over");
            let election = &seat.election;
            let view = election.membership().expect("it was answered");
            assert_eq!(view.lease, lease, "node {node} knows who holds the lease");
            assert_eq!(view.shares, database.shares, "node {node} knows the shares");
            let is_licensed = seat.me(node, now).is_licensed();
            assert_eq!(is_licensed, election.holds().is_some(), "node {node}");
            assert_eq!(seat.tenure(), election.holds(), "node {node}");
            let shards = seat.shards(self.net.world.shards);
            let target = match election.holds() {
                Some(Tenure::Lease(epoch)) => {
                    assert_eq!((epoch, Some(election.id())), (lease.epoch, lease.holder));
                    (of / nodes).max(1)
                }
                _ => (of - (of / nodes).max(1)) / (nodes - 1),
            };
            let fair = target.saturating_sub(1).max(target.min(1))..=target + 2;
            let is_fair = !B::ALWAYS_OPENS || fair.contains(&shards.len());
            assert!(is_fair, "node {node} has {shards:?}");
            held.extend(shards);
        }
        held.sort_unstable();
        assert_eq!(held, (0..self.net.world.shards).collect::<Vec<u16>>());
    }
}

/// The reason why calls to the database do not fail.
const REACHED: &str = "the database in memory can be reached";

/// The members, the lease and the shares of the database.
fn membership(leases: &MemoryLeases) -> Membership {
    leases.membership().expect(REACHED)
}

/// Returns true if the database has a tenure with these shards.
fn is_in_force(tenure: Tenure, shards: &BTreeSet<u16>, view: &Membership) -> bool {
    match tenure {
        Tenure::Lease(epoch) => {
            let in_share = |share: &Share| share.shards.iter().any(|shard| shards.contains(shard));
            view.lease.epoch == epoch && !view.shares.iter().any(in_share)
        }
        Tenure::Share(term) => view.shares.iter().any(|share| share.term == term),
    }
}

/// Plays N seeds; `TIDINGS_SEED=n` plays that one alone, `TIDINGS_RUNS=n` plays more.
///
/// # Errors
/// The first seed that fails, with the message of its assertion.
pub fn play<B: NodeBody>(count: u64, world: ClusterWorld) -> Result<(), String> {
    let given = |name: &str| std::env::var(name).ok()?.parse().ok();
    let seeds: Vec<u64> = match given("TIDINGS_SEED") {
        Some(seed) => vec![seed],
        None => (1..=given("TIDINGS_RUNS").unwrap_or(count)).collect(),
    };
    let fault = seeds.into_iter().find_map(|seed| Some((seed, play_seed::<B>(seed, world).err()?)));
    fault.map_or(Ok(()), |(seed, why)| Err(format!("TIDINGS_SEED={seed}: {why}")))
}

/// Plays one seed.
///
/// # Errors
/// The message of the assertion that failed.
pub fn play_seed<B: NodeBody>(seed: u64, world: ClusterWorld) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| ClusterRun::<B>::new(seed, world).run())).map_err(|why| {
        let text = why.downcast_ref::<String>().cloned();
        let text = text.or(why.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        text.unwrap_or_default()
    })
}
