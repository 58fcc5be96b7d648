//! The loop of a node as a stepped function: it starts no thread and waits for nothing but the commit before.
//!
//! The decisions of a turn are one commit, which is written while the next turn is decided. Answers and messages follow
//! it: nothing is answered or sent that is not durable (decision 034).
//!
//! A driver hands in requests and the answers of channels, and calls [`EventLoop::turn`]. [`Runtime`] drives
//! it in real time: its threads write commits and send messages. [`SteppedLoop`] drives it in the caller's
//! thread, which chooses when a commit is written and when a message is sent: so the simulation plays every
//! interleaving again by its seed.
//!
//! [`Runtime`]: crate::Runtime
//! [`SteppedLoop`]: crate::SteppedLoop

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tidings_core::engine::{ClosingResults, Commands, HeldShards, OpenJobs, TenantDirectory};
use tidings_core::model::{
    AddressReport, ChannelAddress, ClosingId, Origin, SuppressionSource, channel_no,
};
use tidings_core::rules::LaneName;
use tidings_core::{Command, Id, Instant, Rules};

use crate::channel::ProviderReplies;
use crate::clock::Clock;
use crate::cluster::log_feed::Learnt;
use crate::commit::CommitNo;
use crate::commit::day_compactor::DayCompactor;
use crate::commit::executor::Executor;
use crate::delivery::Delivery;
use crate::delivery::in_flight::GoingJob;
use crate::delivery::send_job::{JobId, SendJob, jobs};
use crate::delivery::sending::SenderInterface;
use crate::error::Error;
use crate::event_loop::settings::{OpenStore, Settings};
use crate::handle::request::{Request, StopFlag};
use crate::handle::shared_state::SharedState;
use crate::handle::shares::CallerId;
use crate::handle::{Handle, QueueReceiver};
use crate::hooks::{HookAnswer, Hooks};
use crate::node::Node;
use crate::resolver::resolving::ResolverState;

mod answer;
mod at_once;
mod clock;
mod clock_watch;
mod cluster_state;
mod full;
mod hand_out;
mod job_pace;
mod late;
mod missed;
mod origins;
mod outbound;
mod recovery;
mod reopen;
mod replication_log;
pub(super) mod settings;
mod step;
mod stop;
mod unbuilt;

use answer::{NodeState, answer, refuse};
use clock::LoopClock;
use cluster_state::ClusterState;
use job_pace::JobPace;
use missed::{catch_up, put_back, put_off};
use origins::{of_configuration, of_provider};
use outbound::Outbound;
use recovery::Recovery;
use replication_log::unsuppressions;
use unbuilt::MessageRooms;

/// The most objects of the host's answer that are taken in by one step: a step is in memory until it is written.
const OBJECTS_AT_ONCE: usize = 256;

/// A node's loop; see the module.
pub(crate) struct EventLoop {
    /// The node; `None` while the store can't be opened.
    pub(crate) node: Option<Node>,
    pub(crate) settings: Settings,
    by: Executor,
    clock: LoopClock,
    /// The rules to put in force. The engine may still have others, as long as it is late and after a
    /// failure of the store.
    rules: Rules,
    /// True if the engine does not have them yet.
    rules_due: bool,
    /// Requests that arrived while missed instants are processed: they come after those.
    put_off: Vec<Request>,
    /// The time that the requests of recipients took since the driver asked.
    pub(crate) spent: Vec<(CallerId, Duration)>,
    pub(crate) outbound: Outbound,
    pace: JobPace,
    pub(crate) resolving: ResolverState,
    pub(crate) hooks: Hooks,
    compactor: DayCompactor,
    cluster: ClusterState,
    pub(crate) recovery: Recovery,
    shared: SharedState,
    /// True if it stops without waiting for work in progress any longer.
    pub(crate) is_drained: bool,
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
        let shared = SharedState::default();
        node.measure(&shared.vitals);
        delivery.measure(&shared.vitals);
        // On a full disk it starts all the same: what leads to days being forgotten may come due now.
        node.set_frees(matches!(node.store().ensure_room(), Err(tidings_store::Error::Full(_))));
        if node.engine().rules().is_some_and(|before| *before != rules) {
            tracing::info!("the configuration differs from the one that was in force");
        }
        let mut clock = LoopClock::new(clock, node.engine().now());
        let now = clock.read(Some(node.engine().newest_step()));
        // Precedes the missed instants, which go by the clock that was put right.
        put_back(&mut node, now)?;
        // What came due while nobody ran did so under the rules of then. The loop does the rest of it.
        let is_late = catch_up(&mut node, now, clock.forgets_until)?;
        // The node with the intake puts rules in force, for all.
        let sets_rules = node.engine().replica().holds_intake();
        if sets_rules && rules.tenants.is_none() && TenantDirectory::of(node.engine()).is_any() {
            return Err(Error::TenantsThere);
        }
        if !is_late && sets_rules {
            node.set_rules_with(&(), now, of_configuration(rules.clone()))?;
        }
        node.set_frees(false);
        let mut opened = Self {
            settings,
            rules,
            rules_due: is_late && sets_rules,
            cluster: ClusterState { held, ..ClusterState::default() },
            recovery: Recovery { open: Some(open), ..Recovery::default() },
            shared,
            ..Self::new(node, delivery, clock, by)
        };
        opened.resolving.measure(&opened.shared.vitals);
        opened.hooks.measure(&opened.shared.vitals);
        opened.resume()?;
        Ok(opened)
    }

    /// A loop of a node that was just opened, which has all shards. A failed store stays closed.
    fn new(node: Node, delivery: Delivery, clock: LoopClock, by: Executor) -> Self {
        Self {
            node: Some(node),
            settings: Settings::default(),
            by,
            rules: Rules::default(),
            rules_due: false,
            put_off: Vec::new(),
            spent: Vec::new(),
            pace: JobPace::default(),
            resolving: ResolverState::new(delivery.resolver(), by),
            hooks: Hooks::new(),
            compactor: DayCompactor::new(by),
            outbound: Outbound::new(delivery, &clock, by),
            clock,
            cluster: ClusterState::default(),
            recovery: Recovery::default(),
            shared: SharedState::default(),
            is_drained: false,
        }
    }

    /// Creates a handle for requests to the loop, and the loop's end of its queue.
    pub(crate) fn handle(&self) -> (Handle, QueueReceiver) {
        let most = self.settings.requests_max.max(1);
        Handle::new(most, self.shared.clone())
    }

    /// Opens a failed store again, unless it rests.
    pub(crate) fn mend(&mut self) {
        if self.node.is_none() && !self.recovery.rests {
            self.reopen();
        }
    }

    /// Takes a channel's answer to a message.
    pub(crate) fn answered(&mut self, job: SendJob, reply: &ProviderReplies) {
        self.outbound.delivery.in_flight.answered(&job.id);
        let now = self.clock.now();
        if let JobId::Hook(hook, place) = job.id {
            let answer = HookAnswer::of(&reply.outcome);
            return self.hooks.answered((hook, place), &job.head.id, &answer, now);
        }
        let channel = channel_no(&job.head.channel);
        let name = job.head.channel.clone();
        let recipient = job.head.recipient.clone();
        self.outbound.delivery.hurry(&job.head.channel, &reply.back, now);
        self.count_kept_aside();
        let in_force = self.node.as_ref().and_then(|node| node.engine().rules());
        let rules = in_force.or(Some(&self.rules));
        let is_over =
            self.outbound.delivery.settle_into(&mut self.outbound.answered, job, reply, now, rules);
        if let Some(channel) = channel {
            let by = [&*reply.provider, &*name].into_iter().find(|name| !name.is_empty());
            let origin = of_provider(by.unwrap_or_default());
            let reports = reply.address_reports(channel, now, is_over);
            self.take_reported(&origin, recipient.as_ref(), reports);
        }
    }

    /// Collects reports about addresses from a provider's answer. An arrival where nothing was refused changes nothing.
    fn take_reported(
        &mut self,
        origin: &Arc<Origin>,
        recipient: Option<&Id>,
        reports: impl Iterator<Item = (ChannelAddress, AddressReport, Instant)>,
    ) {
        let engine = self.node.as_ref().map(Node::engine);
        for (address, report, at) in reports {
            let changes = match report {
                // The refusal may be among the reports that no step has taken yet.
                AddressReport::Arrived(SuppressionSource::Provider(by)) => {
                    !self.outbound.address_reports.is_empty()
                        || engine.is_none_or(|of| of.suppressions().is_refused_by(&address, by))
                }
                _ => true,
            };
            if changes {
                let recipient = recipient.cloned();
                let command = Command::ReportAddress { address, report, at, recipient };
                let origin = Some(Arc::clone(origin));
                self.outbound.address_reports.push(Learnt { command, origin });
            }
        }
    }

    /// Runs one turn, whose decisions are one commit, and throws the node away where the store failed.
    /// Returns true once the loop has ended.
    pub(crate) fn turn(&mut self, requests: Vec<Request>, stopping: &mut StopFlag) -> bool {
        let decided = self.try_turn(requests, stopping);
        if let Err(fault) = self.end_turn(decided) {
            self.fail(&fault);
        }
        if self.recovery.hangs {
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
        while self.outbound.recorded.pop_front_if(|(commit, _)| *commit <= durable).is_some() {}
        while let Some(GoingJob { job, until }) =
            self.outbound.delivery.in_flight.take_following(durable)
        {
            match until {
                Some(at) => self.outbound.delivery.in_flight.wait_until(at, job),
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
        if !self.outbound.answered.is_empty() || self.resolving.has_answer() {
            return Duration::ZERO;
        }
        let sends = self.settings.sends;
        let mut rooms = MessageRooms::new(self.outbound.built(), node.engine());
        let can_be_made = |closing: ClosingId, lane: &LaneName, count: usize| {
            *rooms.of(closing, lane) > 0
                && self.resolving.admits(closing)
                && !self.outbound.unbuilt.has_all(closing, count)
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
        let retry = self.outbound.delivery.next_retry().filter(|_| sends && !stopping);
        let due = node.next_due().into_iter().chain(retry);
        let again = self.resolving.next().filter(|_| sends && !stopping);
        let due = due
            .chain(again)
            .chain(node.engine().next_forget())
            .chain(self.pace.next(OpenJobs::of(node.engine())).filter(|_| !stopping))
            .chain(node.replication().next_late_answer())
            .chain(self.hooks.next(sends && !stopping))
            .min();
        let longest = 60_000;
        let wait = due.map_or(longest, |due| (due.0 - self.clock.now().0).clamp(0, longest));
        Duration::from_millis(wait.unsigned_abs())
    }

    /// Runs one turn: due lanes, requests, answers of channels, messages to build.
    fn try_turn(&mut self, requests: Vec<Request>, stopping: &mut StopFlag) -> Result<(), Error> {
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
            learnt.append(&mut self.outbound.address_reports);
            learnt.extend(self.resolving.take(now, has_intake).into_iter().map(Learnt::from));
        }
        if !has_intake {
            // The node with the intake has the list of suppressed addresses.
            let engine = self.node.as_ref().map(Node::engine);
            learnt.extend(engine.map_or_else(Vec::new, |engine| unsuppressions(engine, &requests)));
        }
        if !has_intake {
            self.cluster.learnt.append(&mut learnt);
        }
        if requests.iter().any(Request::concerns_hooks) {
            self.hooks.look_again();
        }
        let (channels, keys) = (self.outbound.delivery.channels(), Arc::clone(&self.shared.keys));
        let mut spent = std::mem::take(&mut self.spent);
        let has_room = self.pace.has_room(&self.outbound.delivery.in_flight, now);
        let answered = self.run_decision(now, |node, sending, rules| {
            for learnt in learnt.chunks(OBJECTS_AT_ONCE) {
                Learnt::take_in(learnt, node, sending, now)?;
            }
            node.replication().answer_gathered(now, false)?;
            let mut state =
                NodeState { channels: &channels, rules, keys: &keys, spent: &mut spent };
            answer(node, now, requests, stopping, &mut state, sending)?;
            if !is_late {
                // Follows the requests of the turn, which are answered before.
                JobPace::act(node, sending, now, has_room)?;
            }
            let is_due = node.next_due().is_some_and(|due| due <= now);
            // A step ends a slice of deleted tenants, so it is made even if nothing else is due.
            if !is_late && (is_due || TenantDirectory::of(node.engine()).are_ending()) {
                node.step_with(sending, now, Commands::default())?;
            }
            Ok(())
        });
        self.spent = spent;
        answered?;
        self.settle(now)?;
        if let Some(node) = &mut self.node {
            if !is_late && stopping.is_none() {
                self.pace.note_ends(node, now)?;
            }
            self.hooks.turn(node, now, stopping.is_none() && self.settings.sends)?;
        }
        if stopping.is_some() {
            // Calls of hooks don't hold up a stop: they are made after the next start.
            drop(self.outbound.delivery.in_flight.take_from_senders(SendJob::is_call));
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
        let forgets_until = self.clock.forgets_until;
        let is_late = catch_up(node, now, forgets_until)?;
        let takes_effect = self.rules_due && !is_late;
        if takes_effect || node.forgets_late() {
            self.run_decision(now, |node, sending, rules| {
                node.forget_late(sending, now, forgets_until)?;
                if !takes_effect {
                    return Ok(());
                }
                node.set_rules_with(sending, now, of_configuration(rules.clone()))
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
        decide: impl FnOnce(&mut Node, &dyn SenderInterface, &mut Rules) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Some(node) = &mut self.node else {
            return Ok(T::default());
        };
        let in_flight = &mut self.outbound.delivery.in_flight;
        let decided = decide(node, &RefCell::new(&mut *in_flight), &mut self.rules)
            // A failed step leaves the store as it was, which is the truth: held messages are made again
            // from it.
            .inspect_err(|_| in_flight.drop_held())?;
        let going = node.take_going();
        self.pace.note(&going);
        // Held messages go on with the content that the step left them, and follow its commit.
        in_flight.release(node, |id| going.iter().any(|of| of.message == id))?;
        for message in going.iter().filter(|of| of.had_ended) {
            for ready in node.made_again(&BTreeSet::from([message.message]))? {
                let tried = node.engine().open_closings().attempts_of(message.message);
                for job in jobs(ready) {
                    let job = job.after(tried).by_hand().in_bulk(message.by_job);
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
            self.compactor.add(node.take_days_to_compact());
            self.compactor.go_on(node.store());
        }
        Ok(())
    }

    /// Records the answers of channels.
    fn settle(&mut self, now: Instant) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        let now = node.decided_at(now);
        let settled: Vec<ClosingResults> =
            std::mem::take(&mut self.outbound.answered).into_values().collect();
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
        self.outbound.recorded.push_back((commit, settled));
        done
    }

    /// Holds the built messages of paused types and channels.
    fn hold_paused(&mut self, now: Instant) {
        let Some(node) = &self.node else {
            return;
        };
        self.outbound.delivery.in_flight.pause(node.engine().paused(), now);
    }
}
