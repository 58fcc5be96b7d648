//! The loop of a node as a stepped function: it starts no thread and waits for nothing but the commit before.
//!
//! The decisions of a turn are one commit, which is written while the next turn is decided. Answers and messages follow
//! it: nothing is answered or sent that is not durable (decision 034).
//!
//! A driver hands in requests and the answers of channels, and calls [`EventLoop::turn`]. [`Runtime`] drives
//! it in real time: its threads write commits and send messages. [`Stepped`] drives it in the caller's
//! thread, which chooses when a commit is written and when a message is sent: so the simulation plays every
//! interleaving again by its seed.
//!
//! [`Runtime`]: crate::Runtime
//! [`Stepped`]: crate::Stepped

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tidings_core::channel::channel_no;
use tidings_core::engine::{ClosingId, HeldShards, Settled, TenantDirectory};
use tidings_core::names::LaneName;
use tidings_core::number::TenantNo;
use tidings_core::suppression::{AddressReport, ChannelAddress, Source};
use tidings_core::{BucketNo, Command, Id, Instant, Rules};

use crate::channel::Reply;
use crate::clock::Clock;
use crate::cluster::log_feed::LogFeed;
use crate::commit::CommitNo;
use crate::commit::durable::Reads;
use crate::commit::executor::Executor;
use crate::delivery::in_flight::GoingJob;
use crate::delivery::send_job::{JobId, SendJob, jobs};
use crate::delivery::senders::Senders;
use crate::delivery::sending::Sending;
use crate::delivery::{ByClosing, Delivery};
use crate::error::Error;
use crate::handle::shares::CallerId;
use crate::handle::{Handle, QueueReceiver, Request, Stopping};
use crate::hooks::{HookAnswer, Hooks};
use crate::keys::Keys;
use crate::node::Node;
use crate::packer::Packer;
use crate::resolver::resolving::{Resolving, log_refused};
use crate::settings::{OpenStore, Settings};
use crate::vitals::Vitals;

mod answer;
mod at_once;
mod clock_watch;
mod full;
mod hand_out;
mod late;
mod log;
mod missed;
mod reopen;
mod step;
mod stop;
mod unbuilt;

use answer::{NodeState, answer, refuse};
pub(crate) use at_once::AtOnce;
use clock_watch::ClockWatch;
use log::given_again;
use missed::{catch_up, put_back, put_off};
use unbuilt::{Built, Rooms, Unbuilt};

/// The most objects of the host's answer that are taken in by one step: a step is in memory until it is written.
const OBJECTS_AT_ONCE: usize = 256;

/// A node's loop; see the module.
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
pub(crate) struct EventLoop {
    open: OpenStore,
    /// The node; `None` while the store can't be opened.
    pub(crate) node: Option<Node>,
    pub(crate) delivery: Delivery,
    pub(crate) senders: Senders,
    pub(crate) resolving: Resolving,
    pub(crate) hooks: Hooks,
    clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    /// Answers that are not recorded yet, by closing. They survive a failure of the store: a sent message
    /// is not sent again because recording it failed.
    answered: ByClosing,
    /// Answers in commits that are not durable yet.
    recorded: VecDeque<(CommitNo, Vec<Settled>)>,
    unbuilt: Unbuilt,
    /// The tenant of which messages were built last, by priority: the next one has its turn.
    last_made: [Option<TenantNo>; 2],
    packer: Packer,
    /// The rules to put in force. The engine may still have others, as long as it is late and after a
    /// failure of the store.
    rules: Rules,
    /// True if the engine does not have them yet.
    rules_due: bool,
    /// Requests that arrived while missed instants are processed: they come after those.
    put_off: Vec<Request>,
    /// The shards of the store that the node has; `None` = all.
    held: Option<HeldShards>,
    /// The acts for nodes with other shards.
    feed: Arc<LogFeed>,
    /// The time that the requests of recipients took since the driver asked.
    pub(crate) spent: Vec<(CallerId, Duration)>,
    /// News for the node with the intake, where that is another one.
    learnt: Vec<Command>,
    /// The reports of answers on addresses.
    reported: Vec<Command>,
    /// Buckets whose chores' writes the store refused.
    set_aside: BTreeSet<BucketNo>,
    /// Closings of which an earlier process may have sent messages; `None` before the first opening.
    earlier_closings: Option<BTreeSet<ClosingId>>,
    /// The last reading of the clock.
    seen: Instant,
    watch: ClockWatch,
    /// The instant up to which days are forgotten, by that reading.
    forgets_until: Instant,
    vitals: Arc<Vitals>,
    keys: Arc<Keys>,
    reads: Arc<Reads>,
    /// True if a failed store stays closed for now: opening folds everything stored, which must not happen
    /// for each request.
    pub(crate) rests: bool,
    /// True if a write hangs and holds the store.
    hangs: bool,
    /// True if it stops without waiting for work in progress any longer.
    pub(crate) is_drained: bool,
    by: Executor,
    /// Set if messages are sent within the instant at which they are due.
    pub(crate) at_once: Option<AtOnce>,
}

impl EventLoop {
    /// Opens the store, and takes up its built messages.
    ///
    /// # Errors
    /// [`Error`] where the store can't be opened or read.
    pub(crate) fn open(
        mut open: OpenStore,
        held: Option<HeldShards>,
        rules: Rules,
        mut delivery: Delivery,
        clock: Arc<dyn Clock>,
        settings: Settings,
        by: Executor,
    ) -> Result<Self, Error> {
        let mut node = Node::open_held(open()?, settings.options, held.as_ref())?.written(by);
        let vitals = Arc::new(Vitals::default());
        node.measure(&vitals);
        delivery.measure(&vitals);
        let now = clock.now();
        let newest = node.engine().now();
        // On a full disk it starts all the same: what leads to days being forgotten may come due now.
        node.set_frees(matches!(node.store().ensure_room(), Err(tidings_store::Error::Full(_))));
        if node.engine().rules().is_some_and(|before| *before != rules) {
            tracing::info!("the configuration differs from the one that was in force");
        }
        let mut watch = ClockWatch::default();
        let forgets_until = watch.read(node.engine().newest_step(), now, clock.monotonic());
        // Precedes the missed instants, which go by the clock that was put right.
        put_back(&mut node, now)?;
        // What came due while nobody ran did so under the rules of then. The loop does the rest of it.
        let is_late = catch_up(&mut node, now, forgets_until)?;
        // The node with the intake puts rules in force, for all.
        let sets_rules = node.engine().replica().holds_intake();
        if sets_rules && rules.tenants.is_none() && TenantDirectory::of(node.engine()).is_any() {
            return Err(Error::TenantsThere);
        }
        if !is_late && sets_rules {
            node.set_rules(now, rules.clone())?;
        }
        node.set_frees(false);
        let mut opened = Self {
            open,
            held,
            settings,
            rules,
            rules_due: is_late && sets_rules,
            seen: newest,
            watch,
            forgets_until,
            vitals,
            ..Self::of(node, delivery, clock, by)
        };
        opened.resolving.measure(&opened.vitals);
        opened.hooks.measure(&opened.vitals);
        opened.resume()?;
        Ok(opened)
    }

    /// A loop of a node that was just opened.
    fn of(node: Node, delivery: Delivery, clock: Arc<dyn Clock>, by: Executor) -> Self {
        Self {
            open: Box::new(|| Err(tidings_store::Error::Unusable("opened once".to_owned()))),
            seen: node.engine().now(),
            watch: ClockWatch::default(),
            forgets_until: Instant::MAX,
            node: Some(node),
            senders: Senders::new(delivery.channels(), Arc::clone(&clock), by)
                .asking(delivery.may_send()),
            resolving: Resolving::new(delivery.resolver(), by),
            hooks: Hooks::new(),
            delivery,
            clock,
            settings: Settings::default(),
            answered: ByClosing::new(),
            recorded: VecDeque::new(),
            unbuilt: Unbuilt::default(),
            last_made: [None; 2],
            packer: Packer::new(by),
            rules: Rules::default(),
            rules_due: false,
            put_off: Vec::new(),
            held: None,
            feed: Arc::default(),
            spent: Vec::new(),
            learnt: Vec::new(),
            reported: Vec::new(),
            set_aside: BTreeSet::new(),
            earlier_closings: None,
            vitals: Arc::default(),
            keys: Arc::default(),
            reads: Arc::default(),
            rests: false,
            hangs: false,
            is_drained: false,
            by,
            at_once: None,
        }
    }

    /// Creates a handle for requests to the loop, and the loop's end of its queue.
    pub(crate) fn handle(&self) -> (Handle, QueueReceiver) {
        let most = self.settings.requests_max.max(1);
        let (vitals, keys) = (Arc::clone(&self.vitals), Arc::clone(&self.keys));
        Handle::new(most, vitals, keys, Arc::clone(&self.reads))
    }

    /// Opens a failed store again, unless it rests.
    pub(crate) fn mend(&mut self) {
        if self.node.is_none() && !self.rests {
            self.reopen();
        }
    }

    /// Takes a channel's answer to a message.
    pub(crate) fn answered(&mut self, job: SendJob, reply: &Reply) {
        self.delivery.in_flight.answered(&job.id);
        let now = self.clock.now();
        if let JobId::Hook(hook, place) = job.id {
            let answer = HookAnswer::of(&reply.outcome);
            return self.hooks.answered((hook, place), &job.head.id, &answer, now);
        }
        let channel = channel_no(&job.head.channel);
        let recipient = job.head.recipient.clone();
        self.delivery.hurry(&job.head.channel, &reply.back, now);
        self.count_kept_aside();
        let in_force = self.node.as_ref().and_then(|node| node.engine().rules());
        let rules = in_force.or(Some(&self.rules));
        let is_over = self.delivery.settle_into(&mut self.answered, job, reply, now, rules);
        if let Some(channel) = channel {
            self.take_reported(recipient.as_ref(), reply.address_reports(channel, now, is_over));
        }
    }

    /// Collects reports about addresses from a provider's answer. An arrival where nothing was refused changes nothing.
    fn take_reported(
        &mut self,
        recipient: Option<&Id>,
        reports: impl Iterator<Item = (ChannelAddress, AddressReport, Instant)>,
    ) {
        let engine = self.node.as_ref().map(Node::engine);
        for (address, report, at) in reports {
            let changes = match report {
                // The refusal may be among the reports that no step has taken yet.
                AddressReport::Arrived(Source::Provider(by)) => {
                    !self.reported.is_empty()
                        || engine.is_none_or(|engine| engine.is_refused_by(&address, by))
                }
                _ => true,
            };
            if changes {
                let recipient = recipient.cloned();
                self.reported.push(Command::ReportAddress { address, report, at, recipient });
            }
        }
    }

    /// Runs one turn, whose decisions are one commit, and throws the node away where the store failed.
    /// Returns true once the loop has ended.
    pub(crate) fn turn(&mut self, requests: Vec<Request>, stopping: &mut Stopping) -> bool {
        let decided = self.try_turn(requests, stopping);
        if let Err(fault) = self.end_turn(decided) {
            self.fail(&fault);
        }
        if self.hangs {
            return true;
        }
        match stopping.take_if(|_| self.can_end()) {
            Some(stop) => {
                self.end(&stop);
                true
            }
            None => false,
        }
    }

    /// Writes everything that was decided, also if a later step failed: the steps before it are complete.
    fn end_turn(&mut self, decided: Result<(), Error>) -> Result<(), Error> {
        self.feed_followers();
        let Some(node) = &mut self.node else {
            return decided;
        };
        let written = match decided {
            Ok(()) => node.hand_over(),
            Err(_) => node.flush(),
        };
        // A store that fails says more than a read that failed because of it.
        written.and(decided)?;
        self.follow_up();
        Ok(())
    }

    /// Does what follows the commits that are durable: their messages go on.
    fn follow_up(&mut self) {
        let Some(node) = &mut self.node else {
            return;
        };
        let durable = node.ahead().durable();
        // Hooks read these rows in the store, so they learn of them once they are durable.
        self.hooks.occurred(node.take_occurred(durable));
        while self.recorded.pop_front_if(|(commit, _)| *commit <= durable).is_some() {}
        while let Some(GoingJob { job, until }) = self.delivery.in_flight.take_following(durable) {
            match until {
                Some(at) => self.delivery.in_flight.wait_until(at, job),
                None => self.dispatch(job),
            }
        }
    }

    /// The time until there is something to do without being asked.
    pub(crate) fn patience(&mut self, stopping: bool) -> Duration {
        let Some(node) = &mut self.node else {
            return Duration::from_millis(self.settings.reopen_ms);
        };
        if node.ahead().has_ended() {
            return Duration::ZERO;
        }
        if node.store().ensure_room().is_err() {
            return Duration::from_millis(self.settings.reopen_ms);
        }
        if !self.answered.is_empty() || self.resolving.has_answer() {
            return Duration::ZERO;
        }
        let sends = self.settings.sends;
        let built = Built { senders: &self.senders, in_flight: &self.delivery.in_flight };
        let mut rooms = Rooms::new(built, node.engine());
        let can_be_made = |closing: ClosingId, lane: &LaneName, count: usize| {
            *rooms.of(closing, lane) > 0
                && self.resolving.admits(closing)
                && !self.unbuilt.has_all(closing, count)
        };
        let has_work = sends && node.engine().open_closings().has_unmade_of(can_be_made);
        let has_chores =
            node.engine().has_chores() || TenantDirectory::of(node.engine()).are_ending();
        // A turn waits for the commit before it: one for a chore alone would hold requests up.
        let has_chores = has_chores && !node.ahead().is_writing();
        if !stopping && (has_work || has_chores) {
            return Duration::ZERO;
        }
        // While it stops nothing is tried again any more.
        let retry = self.delivery.next_retry().filter(|_| sends && !stopping);
        let due = node.next_due().into_iter().chain(retry);
        let again = self.resolving.next().filter(|_| sends && !stopping);
        let due = due
            .chain(again)
            .chain(node.engine().next_forget())
            .chain(node.replication().next_late_answer())
            .chain(self.hooks.next(sends && !stopping))
            .min();
        let longest = 60_000;
        let wait = due.map_or(longest, |due| (due.0 - self.clock.now().0).clamp(0, longest));
        Duration::from_millis(wait.unsigned_abs())
    }

    /// Runs one turn: due lanes, requests, answers of channels, messages to build.
    fn try_turn(&mut self, requests: Vec<Request>, stopping: &mut Stopping) -> Result<(), Error> {
        // Requests that were put off came first, and are decided first.
        let requests = self.with_put_off(requests);
        // Precedes the look at the clock: later arrivals would need a second message at an instant that has
        // sent its own.
        self.let_instant_pass(&requests);
        let now = self.look_at_the_clock();
        // Nothing may be decided on the state that a failed commit has left.
        if let Err(fault) = self.take_ended() {
            refuse(requests, stopping);
            return Err(fault);
        }
        let Some(node) = &mut self.node else {
            refuse(requests, stopping);
            return Ok(());
        };
        let has_intake = node.engine().replica().holds_intake();
        // Precedes all decisions: on a full disk the state in memory stays true.
        match node.store().ensure_room() {
            Ok(()) => {}
            Err(full @ tidings_store::Error::Full(_)) => {
                return self.turn_without_room(now, requests, stopping, &full);
            }
            Err(fault) => {
                refuse(requests, stopping);
                return Err(fault.into());
            }
        }
        // What was due before now goes out before anything that arrives now.
        let is_late = match self.put_back(now).and_then(|()| self.begin(now)) {
            Ok(is_late) => is_late,
            Err(fault) => {
                refuse(requests, stopping);
                return Err(fault);
            }
        };
        let (reports, logged, mut requests) = Self::of_nodes(requests);
        if is_late {
            // Commands wait until no instant is missed, or they would precede what was due earlier.
            requests = put_off(requests, &mut self.put_off, self.settings.requests_max);
        }
        self.apply_log(now, logged)?;
        self.take_reports(now, reports)?;
        let requests = self.catch_up(now, requests, stopping)?;
        let mut learnt = Vec::new();
        if !is_late {
            learnt.append(&mut self.reported);
            learnt.extend(self.resolving.take(now, has_intake));
        }
        if !has_intake {
            // The node with the intake has the list of suppressed addresses.
            let engine = self.node.as_ref().map(Node::engine);
            learnt.extend(engine.map_or_else(Vec::new, |engine| given_again(engine, &requests)));
        }
        if !has_intake {
            self.learnt.append(&mut learnt);
        }
        if requests.iter().any(Request::concerns_hooks) {
            self.hooks.look_again();
        }
        let (channels, keys) = (self.delivery.channels(), Arc::clone(&self.keys));
        let mut spent = std::mem::take(&mut self.spent);
        let answered = self.run_decision(now, |node, sending, rules| {
            for commands in learnt.chunks(OBJECTS_AT_ONCE) {
                let accepted = node.step_with(sending, now, commands)?;
                log_refused(&accepted.replies);
            }
            node.replication().answer_gathered(now, false)?;
            let mut known =
                NodeState { channels: &channels, rules, keys: &keys, spent: &mut spent };
            answer(node, now, requests, stopping, &mut known, sending)?;
            let is_due = node.next_due().is_some_and(|due| due <= now);
            // A step ends a slice of deleted tenants, so it is made even if nothing else is due.
            if !is_late && (is_due || TenantDirectory::of(node.engine()).are_ending()) {
                node.step_with(sending, now, &[])?;
            }
            Ok(())
        });
        self.spent = spent;
        answered?;
        self.settle(now)?;
        if let Some(node) = &mut self.node {
            self.hooks.turn(node, now, stopping.is_none() && self.settings.sends)?;
        }
        if stopping.is_some() {
            // Calls of hooks don't hold up a stop: they are made after the next start.
            drop(self.delivery.in_flight.take_from_senders(SendJob::is_call));
        }
        for call in self.hooks.take_calls() {
            self.dispatch(call);
        }
        if stopping.is_none() && self.settings.sends {
            self.hand_out(now)?;
        }
        self.do_chores()
    }

    /// Does what comes before the arrivals of an instant: lanes fall due, days are forgotten, rules that
    /// waited for missed instants come into force. Tells whether instants are still missed.
    pub(crate) fn begin(&mut self, now: Instant) -> Result<bool, Error> {
        let Some(node) = &mut self.node else {
            return Ok(false);
        };
        let forgets_until = self.forgets_until;
        let is_late = catch_up(node, now, forgets_until)?;
        let takes_effect = self.rules_due && !is_late;
        if takes_effect || node.forgets_late() {
            self.run_decision(now, |node, sending, rules| {
                node.forget_late(sending, now, forgets_until)?;
                if takes_effect { node.set_rules_with(sending, now, rules.clone()) } else { Ok(()) }
            })?;
            self.rules_due &= !takes_effect;
        }
        Ok(is_late)
    }

    /// Runs a decision of the node, with access to the messages that can still be changed and to the rules to put in
    /// force.
    pub(crate) fn run_decision<T: Default>(
        &mut self,
        now: Instant,
        decide: impl FnOnce(&mut Node, &dyn Sending, &mut Rules) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Some(node) = &mut self.node else {
            return Ok(T::default());
        };
        let in_flight = &mut self.delivery.in_flight;
        let decided = decide(node, &RefCell::new(&mut *in_flight), &mut self.rules)
            // A failed step leaves the store as it was, which is the truth: held messages are made again
            // from it.
            .inspect_err(|_| in_flight.drop_held())?;
        let going = node.take_going();
        // Held messages go on with the content that the step left them, and follow its commit.
        in_flight.release(node, |id| going.iter().any(|of| of.message == id))?;
        for message in going.iter().filter(|of| of.had_ended) {
            for ready in node.made_again(&BTreeSet::from([message.message]))? {
                let tried = node.engine().open_closings().attempts_of(message.message);
                for job in jobs(ready) {
                    let job = job.after(tried).by_hand();
                    in_flight.follow(node.ahead().decided(), job, None);
                }
            }
        }
        self.follow_up();
        self.hold_paused(now);
        Ok(decided)
    }

    /// Does what follows the commit in progress, if it has ended.
    fn take_ended(&mut self) -> Result<(), Error> {
        if let Some(node) = &mut self.node
            && node.ahead().has_ended()
        {
            node.ahead().finish()?;
            self.follow_up();
        }
        Ok(())
    }

    /// Runs the engine's chores: a slice per turn, more if it falls behind.
    pub(crate) fn do_chores(&mut self) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        for _ in 0..if node.engine().is_behind() { 4 } else { 1 } {
            if !node.chore()? {
                break;
            }
        }
        if self.by != Executor::Caller {
            self.packer.add(node.take_rested());
            self.packer.go_on(node.store());
        }
        Ok(())
    }

    /// Records the answers of channels.
    fn settle(&mut self, now: Instant) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        let now = node.decided_at(now);
        let settled: Vec<Settled> = std::mem::take(&mut self.answered).into_values().collect();
        if settled.is_empty() {
            return Ok(());
        }
        let done = node.settle(now, &settled);
        let commit = match &done {
            Ok(()) => node.ahead().decided(),
            // Stays in the list until the node is dropped, which moves these answers back to be recorded
            // again.
            Err(_) => CommitNo::NEVER,
        };
        self.recorded.push_back((commit, settled));
        done
    }

    /// Holds the built messages of paused types and channels.
    fn hold_paused(&mut self, now: Instant) {
        let Some(node) = &self.node else {
            return;
        };
        self.delivery.in_flight.pause(node.engine().paused(), now);
    }
}
