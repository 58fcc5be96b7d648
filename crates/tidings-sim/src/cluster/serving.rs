//! A node that serves: the loop of a server over its shards. It follows the log of the node with the intake, or writes it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};

use tidings_core::engine::{HeldShards, LogNo, Options, applied_by_shards, read_log};
use tidings_core::{Command, Day};
use tidings_node::channel::{Channels, RenderingChannel};
use tidings_node::election::{Input, Opening, Tenure};
use tidings_node::{
    Delivery, FollowerReport, Monotonic, Node, OpenStore, Replies, Retries, RuntimeError, Settings,
    SteppedLoop, StoreView, VirtualClock,
};
use tidings_store::lease::{Leases, MemoryLeases, NodeId};
use tidings_store::{Commit, Error, Snapshot, Store};

use super::clients::{Clients, DeliveredMails, event, rules};
use super::net::{CommitFate, DatabaseLink};
use super::{BodyProcess, BodySurroundings, Net, NodeBody, NodeProcess, REACHED, membership};

/// A node with the loop of a server, driven step by step.
pub struct SimServer {
    stepped: SteppedLoop,
    clock: Arc<VirtualClock>,
    mono: Arc<AtomicI64>,
    has_intake: bool,
    follower: SimFollower,
    /// The report that was not answered.
    unanswered: FollowerReport,
    /// The exchange of the next report.
    next: u64,
    /// Reports of other nodes that wait for acts.
    reports: BTreeMap<ReportExchange, ParkedReport>,
    /// The answers of the loop.
    done: Arc<Mutex<Vec<LoopAnswer>>>,
}

/// A report and its answer: by the node that reports, and a number of its own.
type ReportExchange = (NodeId, u64);

/// A message between nodes, and between them and clients.
#[derive(Clone, Debug)]
pub enum SimMessage {
    /// To itself: it is time for some work.
    Work,
    /// To itself: the commit in progress arrives.
    Written,
    /// To the node with the intake: an event of the clients.
    Publish(u64),
    /// To the clients: it is accepted.
    Accepted(u64),
    /// To the node with the intake.
    FollowerReport(ReportExchange, Arc<FollowerReport>),
    /// To itself: who has reported waits no longer for acts.
    Waited(ReportExchange),
    /// The answer to a report.
    Acts(ReportExchange),
}

/// A report of another node that waits for acts.
struct ParkedReport {
    is_received: bool,
    is_over: bool,
}

/// The state of a node that follows the log of the node with the intake.
enum SimFollower {
    /// Nothing before an instant.
    Pausing(Monotonic),
    /// Acts are being applied; there is no answer if the store fails meanwhile.
    Applying(Receiver<Result<FollowerReport, RuntimeError>>),
    /// It has reported, and waits until an instant.
    Asking(u64, FollowerReport, Monotonic),
}

/// An answer of the loop.
enum LoopAnswer {
    Published(u64, Replies),
    Received(ReportExchange),
    Acts(ReportExchange, LogNo),
}

/// The time for which the answer to a report waits for acts, and that for which the report waits for its answer.
const WAIT_MS: i64 = 500;
const PATIENCE_MS: i64 = 3_000;

/// The wait after a report without an answer.
const PAUSE_MS: i64 = 200;

/// The longest time between two pieces of work.
const WORK_MS: i64 = 60;

/// The most messages that are sent at once.
const SENT_AT_ONCE: usize = 4;

/// The options of the engine.
pub(super) fn options(shards: u16) -> Options {
    Options { buckets: 16, shards, index_after: Some(8), checkpoint_after: 4, ..Options::default() }
}

/// A store that is reached as well as its node reaches the database.
struct LinkedStore {
    store: Arc<dyn Store>,
    reach: Arc<DatabaseLink>,
    /// True if the database keeps every commit that it has acknowledged.
    keeps: bool,
}

fn unreached() -> Error {
    Error::Unavailable("the database can't be reached".to_owned())
}

impl LinkedStore {
    fn check(&self) -> Result<&dyn Store, Error> {
        if self.reach.is_cut() { Err(unreached()) } else { Ok(&*self.store) }
    }
}

impl Store for LinkedStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
        self.check()?.snapshot()
    }

    fn commit(&self, commit: Commit) -> Result<(), Error> {
        match self.reach.commit() {
            CommitFate::Done => self.store.commit(commit),
            CommitFate::Unheard => self.store.commit(commit).and(Err(unreached())),
            CommitFate::Lost if self.keeps => Err(unreached()),
            CommitFate::Lost => Ok(()),
        }
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        self.check()?.days()
    }

    fn forget(&self, day: Day) -> Result<(), Error> {
        self.check()?.forget(day)
    }
}

/// Opens the store of a tenure, as often as it has to be.
fn opener(net: &Net<SimMessage>, tenure: Tenure, reach: Arc<DatabaseLink>) -> OpenStore {
    let (leases, keeps) = (net.leases.clone(), net.world.keeps);
    Box::new(move || {
        if reach.is_cut() {
            return Err(unreached());
        }
        let store = match tenure {
            Tenure::Lease(epoch) => leases.open(epoch)?,
            Tenure::Share(term) => leases.open_share(term)?,
        };
        let reach = Arc::clone(&reach);
        Ok(Arc::new(LinkedStore { store, reach, keeps }) as Arc<dyn Store>)
    })
}

/// Checks that the newest acts are stored, as far as a shard still has to apply them.
fn is_stored(leases: &MemoryLeases, newest: LogNo) {
    let store = leases.open(membership(leases).lease.epoch).expect(REACHED);
    let view = StoreView::of(&*store).expect(REACHED);
    let applied = applied_by_shards(&view).expect(REACHED);
    if applied.iter().any(|applied| *applied < newest) {
        let stored = read_log(&view, LogNo(newest.0 - 1), 1).expect(REACHED);
        assert!(!stored.is_empty(), "{newest:?} are told before they are stored");
    }
}

/// All that is stored, whichever node has it.
fn stored(leases: &MemoryLeases) -> Node {
    let lease = membership(leases).lease;
    let store = leases.open(lease.epoch).expect(REACHED);
    Node::open_to_look(store, Options::default()).expect("what is stored makes sense")
}

impl SimServer {
    /// The loop, for reading.
    pub(super) fn stepped(&self) -> &SteppedLoop {
        &self.stepped
    }

    /// Returns true if it accepts events.
    pub(super) fn has_intake(&self) -> bool {
        self.has_intake
    }

    /// A callback for the loop, which keeps what it is answered.
    fn kept<T, F>(&self, done: F) -> impl FnOnce(T) + Send + use<T, F>
    where
        F: FnOnce(T) -> LoopAnswer + Send + 'static,
    {
        let all = Arc::clone(&self.done);
        move |answer| {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(done(answer));
        }
    }

    fn set_clocks(&self, me: &BodyProcess<'_>) {
        self.clock.set(me.now);
        self.mono.store(me.mono.0, Ordering::SeqCst);
    }

    /// Runs the loop's next action, chosen by the seed.
    fn work(&mut self, me: &BodyProcess<'_>, (net, clients): BodySurroundings<'_, Self>) {
        if net.roll(3) == 0 {
            for _ in 0..SENT_AT_ONCE {
                if !self.stepped.send() {
                    break;
                }
            }
        }
        self.stepped.turn();
        self.pass_on(me, net);
        if !self.has_intake {
            self.follow_log(me, net);
        }
        if me.is_licensed() {
            clients.look_into_an_inbox(self, net);
        }
        let late = net.roll(WORK_MS / 2);
        net.remind_at_once(me.address(), late, SimMessage::Written);
        let next = 1 + net.roll(WORK_MS);
        net.remind(me.address(), next, SimMessage::Work);
    }

    /// Passes on what the loop has answered.
    fn pass_on(&mut self, me: &BodyProcess<'_>, net: &mut Net<SimMessage>) {
        let done = std::mem::take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner));
        for done in done {
            match done {
                LoopAnswer::Published(number, Ok(replies)) => {
                    let refused = replies.iter().find_map(|reply| reply.as_ref().err());
                    assert_eq!(refused, None, "event {number}");
                    net.send_to_clients(&SimMessage::Accepted(number));
                }
                // The clients retry.
                LoopAnswer::Published(_, Err(_)) => {}
                LoopAnswer::Received(exchange) => {
                    if let Some(reports) = self.reports.get_mut(&exchange) {
                        reports.is_received = true;
                        if reports.is_over {
                            self.give(me, exchange, net);
                        }
                    }
                }
                LoopAnswer::Acts(exchange, newest) => {
                    is_stored(&net.leases, newest);
                    self.give(me, exchange, net);
                }
            }
        }
    }

    /// Answers a report.
    fn give(&mut self, me: &BodyProcess<'_>, exchange: ReportExchange, net: &mut Net<SimMessage>) {
        if self.reports.remove(&exchange).is_some() {
            net.send(me.node, exchange.0, &SimMessage::Acts(exchange));
        }
    }

    /// Reports to the node with the intake.
    fn report(&mut self, me: &BodyProcess<'_>, report: FollowerReport, net: &mut Net<SimMessage>) {
        let report = report.after(std::mem::take(&mut self.unanswered));
        self.next += 1;
        let exchange = (me.election.id(), self.next);
        if let Some(holder) = me.holder() {
            let message = SimMessage::FollowerReport(exchange, Arc::new(report.clone()));
            net.send(me.node, holder, &message);
        }
        let until = Monotonic(me.mono.0 + PATIENCE_MS);
        self.follower = SimFollower::Asking(self.next, report, until);
    }

    /// Does what is due of hearing acts.
    fn follow_log(&mut self, me: &BodyProcess<'_>, net: &mut Net<SimMessage>) {
        let soon = Monotonic(me.mono.0 + PAUSE_MS);
        match std::mem::replace(&mut self.follower, SimFollower::Pausing(soon)) {
            SimFollower::Pausing(until) if me.mono >= until => self.apply(false),
            SimFollower::Asking(_, report, until) if me.mono >= until => self.unanswered = report,
            SimFollower::Applying(answer) => match answer.try_recv() {
                Ok(Ok(report)) => self.report(me, report, net),
                Ok(Err(_)) | Err(TryRecvError::Disconnected) => {}
                Err(TryRecvError::Empty) => self.follower = SimFollower::Applying(answer),
            },
            waits => self.follower = waits,
        }
    }

    fn apply(&mut self, confirms: bool) {
        let (give, given) = channel();
        let handle = self.stepped.handle();
        let submitted = handle.apply_log_then(confirms, move |report| drop(give.send(report)));
        if submitted.is_ok() {
            self.follower = SimFollower::Applying(given);
        }
    }

    /// Takes over what another node reports.
    fn take_report(
        &mut self,
        me: &BodyProcess<'_>,
        exchange: ReportExchange,
        report: &FollowerReport,
        net: &mut Net<SimMessage>,
    ) {
        if !self.has_intake {
            return;
        }
        let answer = self.kept(move |()| LoopAnswer::Received(exchange));
        let then = self.kept(move |newest| LoopAnswer::Acts(exchange, newest));
        let handle = self.stepped.handle();
        let submitted = handle.report(report.clone(), move || answer(()), then);
        if submitted.is_ok() {
            let parked = ParkedReport { is_received: false, is_over: false };
            self.reports.insert(exchange, parked);
            net.remind(me.address(), WAIT_MS, SimMessage::Waited(exchange));
        }
    }
}

impl NodeBody for SimServer {
    type Message = SimMessage;
    type Outside = Clients;

    const ALWAYS_OPENS: bool = false;

    fn prepare(net: &mut Net<SimMessage>) -> Clients {
        Clients::with_store(net)
    }

    fn open(
        me: &BodyProcess<'_>,
        opening: &Opening,
        (net, clients): BodySurroundings<'_, Self>,
    ) -> Option<Self> {
        let tenure = opening.tenure;
        let has_intake = matches!(tenure, Tenure::Lease(_));
        let held = opening
            .shards
            .as_ref()
            .map(|shards| HeldShards { intake: has_intake, shards: shards.numbers.clone() });
        let (clock, mono) = (Arc::<VirtualClock>::default(), Arc::<AtomicI64>::default());
        clock.set(me.now);
        mono.store(me.mono.0, Ordering::SeqCst);
        let (licence, reads) = (me.election.licence().clone(), Arc::clone(&mono));
        let mails = clients.mails().of(net.leases.clone(), opening.clone());
        let outlet = RenderingChannel::new(
            Arc::new(DeliveredMails::clone(clients.mails())),
            Arc::new(mails),
        );
        let channels: Channels = [("email".to_owned(), outlet.on_threads(1))].into();
        let retries = Retries { wait_ms: 1_000, ..Retries::default() };
        let delivery = Delivery::new(channels, retries)
            .asking(Arc::new(move || licence.holds(Monotonic(reads.load(Ordering::SeqCst)))));
        let settings = Settings { options: options(net.world.shards), ..Settings::default() };
        let open = opener(net, tenure, net.reach(me.node));
        let opened =
            SteppedLoop::open(open, held, rules(), delivery, Arc::clone(&clock) as _, settings);
        net.remind(me.address(), 1, SimMessage::Work);
        Some(Self {
            stepped: opened.ok()?,
            clock,
            mono,
            has_intake,
            follower: SimFollower::Pausing(Monotonic(i64::MIN)),
            unanswered: FollowerReport::default(),
            next: 0,
            reports: BTreeMap::new(),
            done: Arc::default(),
        })
    }

    fn tick(&mut self, _: &BodyProcess<'_>, _: BodySurroundings<'_, Self>) {}

    fn receive(
        &mut self,
        me: &BodyProcess<'_>,
        message: SimMessage,
        (net, clients): BodySurroundings<'_, Self>,
    ) -> Option<Input> {
        self.set_clocks(me);
        match message {
            SimMessage::Work => self.work(me, (net, clients)),
            SimMessage::Written => {
                self.stepped.write();
            }
            // A node that may not answer reads takes nothing in either.
            SimMessage::Publish(number) if self.has_intake && me.is_licensed() => {
                let command = Command::Publish(Box::new(event(number)));
                let then = self.kept(move |replies| LoopAnswer::Published(number, replies));
                // A full queue is as good as a lost call.
                let _ = self.stepped.handle().submit_then(vec![command], then);
            }
            SimMessage::FollowerReport(exchange, report) => {
                self.take_report(me, exchange, &report, net);
            }
            SimMessage::Waited(exchange) => {
                if let Some(reports) = self.reports.get_mut(&exchange) {
                    reports.is_over = true;
                    if reports.is_received {
                        self.give(me, exchange, net);
                    }
                }
            }
            SimMessage::Acts((_, number)) => {
                if let SimFollower::Asking(exchange, report, _) = &self.follower
                    && *exchange == number
                {
                    let confirms = !report.learnt.is_empty();
                    self.follower = SimFollower::Pausing(me.mono);
                    self.apply(confirms);
                }
            }
            SimMessage::Publish(_) | SimMessage::Accepted(_) => {}
        }
        None
    }

    fn close(mut self) {
        for _ in 0..SENT_AT_ONCE {
            self.stepped.turn();
            self.stepped.write();
        }
        self.stepped.crash();
    }

    fn die(self) {
        self.stepped.crash();
    }

    fn ask(seats: &[Option<NodeProcess<Self>>], (net, clients): BodySurroundings<'_, Self>) {
        clients.ask(seats, net);
    }

    fn deliver(message: SimMessage, clients: &mut Clients) {
        if let SimMessage::Accepted(number) = message {
            clients.accepted(number);
        }
    }

    fn is_applied(leases: &MemoryLeases, clients: &Clients) {
        clients.are_in_inboxes(&stored(leases));
    }

    fn is_well(leases: &MemoryLeases, clients: &Clients) {
        let node = stored(leases);
        clients.are_in_inboxes(&node);
        clients.are_notified(&node);
    }
}
