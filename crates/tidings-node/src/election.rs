//! The assignment of a store to nodes: a pure, stepped function of the time and of the answers of the database.
//!
//! A node sends a heartbeat about once a second. It acquires the lease if that is free, or if its holder sent none
//! through four answered heartbeats of the node's *own*: after an outage of the database nobody takes over. The holder
//! grants shards to the others, and takes them from a node that is silent in the same way (`division`). Who holds
//! something may send messages, and answer reads, while it has a *licence*: until three seconds after its last
//! answered heartbeat began, by a clock that goes on while the machine sleeps. So it has ended by itself before anybody
//! may take over. Commits need no licence: each is fenced by the epoch or term in which it is made.
//!
//! A process has one store open at most. Each opening of the lease's store has an epoch of its own, also where its
//! holder only changes which shards it has: the acquisition fences commits and grants that are still under way.
//!
//! Nothing here waits or reads a clock: the caller passes what happened, and carries out the actions.

use std::collections::BTreeSet;

use tidings_store::lease::{Epoch, Lease, Member, Membership, NodeId, Role, Share, TermNo};

use crate::clock::monotonic::Monotonic;
use division::{DivisionStep, NodesSight};
use phase::{LeaseClaim, StorePhase};
use refusals::Refusals;
use watch::{MemberWatch, Watches};

mod division;
mod licence;
mod message;
mod phase;
mod refusals;
mod tenure;
mod timing;
mod watch;

pub use licence::Licence;
pub use message::{Action, Input};
pub use tenure::{Opening, Shards, Tenure};
pub use timing::Timing;

/// A node's part in the decision who holds what.
pub struct Election {
    me: Member,
    timing: Timing,
    phase: StorePhase,
    claim: Option<LeaseClaim>,
    licence: Licence,
    next_heartbeat: Monotonic,
    /// The heartbeat that waits for its answer, with its beginning.
    pending_heartbeat: Option<(i64, Monotonic)>,
    /// The number of the newest heartbeat that was answered.
    answered: i64,
    /// The number of heartbeats since the last answer.
    unheard: u32,
    /// The lease as it is watched, with the observations of its holder.
    watch: Option<(Lease, MemberWatch)>,
    watches: Watches,
    newest: Option<Membership>,
    /// The earliest beginning of heartbeats whose answers show lost shares, or shards to divide.
    since: Monotonic,
    /// The number of shards of the store, once it is known.
    of: Option<u16>,
    /// The shards of the store that is open or being opened; `None` if that is all.
    held: Option<Shards>,
    /// The shards with which the lease's store is to be opened again.
    wanted: Option<BTreeSet<u16>>,
    /// The newest epoch and term of a store that was opened: earlier answers are ignored.
    spent: (Epoch, TermNo),
    refusals: Refusals,
    backs_off_until: Monotonic,
    drains: bool,
}

impl Election {
    /// The state of a process that has just started.
    #[must_use]
    pub fn new(me: Member, timing: Timing) -> Self {
        Self {
            me,
            timing,
            phase: StorePhase::Idle,
            claim: None,
            licence: Licence::default(),
            next_heartbeat: Monotonic(i64::MIN),
            pending_heartbeat: None,
            answered: 0,
            unheard: 0,
            watch: None,
            watches: Watches::default(),
            newest: None,
            since: Monotonic(i64::MIN),
            of: None,
            held: None,
            wanted: None,
            spent: Default::default(),
            refusals: Refusals::default(),
            backs_off_until: Monotonic(i64::MIN),
            drains: false,
        }
    }

    /// The licence of this process.
    #[must_use]
    pub fn licence(&self) -> &Licence {
        &self.licence
    }

    /// The id of this process among the nodes.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.me.id
    }

    /// Sets how far this node's work is behind, for its next heartbeats.
    pub fn set_lag(&mut self, lag_ms: i64) {
        self.me.lag_ms = lag_ms;
    }

    /// The lease or share whose store is open and served here.
    #[must_use]
    pub fn holds(&self) -> Option<Tenure> {
        match self.phase {
            StorePhase::Holding(tenure) => Some(tenure),
            _ => None,
        }
    }

    /// The members as of the last answered heartbeat.
    #[must_use]
    pub fn membership(&self) -> Option<&Membership> {
        self.newest.as_ref()
    }

    /// Processes what happened, and returns what is to be done.
    pub fn on(&mut self, now: Monotonic, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        match input {
            Input::Tick => {}
            Input::HeartbeatAnswered { me, began, membership } => {
                self.heartbeat_answered(now, &me, began, membership, &mut actions);
            }
            Input::Acquired(acquired) => self.acquired(acquired, &mut actions),
            Input::Opened(tenure, of) if self.phase == StorePhase::Opening(tenure) => {
                self.opened(now, tenure, of, &mut actions);
            }
            Input::Opened(tenure, Some(_)) => {
                // It was lost while it was being opened.
                actions.push(Action::Close { tenure, drains: false });
            }
            Input::Opened(tenure, None) | Input::Closed(tenure) => {
                self.closed(now, tenure, &mut actions);
            }
            // A store that is being closed ends by that: it is not lost.
            Input::Ended(tenure) if self.phase == StorePhase::Closing(tenure) => {}
            Input::Ended(tenure) => self.lose(tenure, &mut actions),
            Input::GivenBack(_) => self.next_heartbeat = Monotonic(i64::MIN),
            Input::Configured(digest) => self.me.config = digest,
            Input::Drain => self.drain(&mut actions),
        }
        if self.drains && self.phase == StorePhase::Idle && self.claim.is_none() {
            self.leave(&mut actions);
        }
        self.heartbeat(now, &mut actions);
        actions
    }

    fn heartbeat(&mut self, now: Monotonic, actions: &mut Vec<Action>) {
        let waits = self
            .pending_heartbeat
            .is_some_and(|(_, began)| now < began.plus(self.timing.timeout_ms));
        if now < self.next_heartbeat || waits || self.phase == StorePhase::Gone {
            return;
        }
        // The heartbeat timed out. An outage of the database looks like silence of all, so nobody's silence
        // counts across it.
        if self.pending_heartbeat.is_some() {
            self.interrupt();
        }
        self.next_heartbeat = now.plus(self.timing.heartbeat_ms);
        self.me.heartbeat += 1;
        self.me.unanswered = self.unheard >= self.timing.unanswered_after;
        self.me.role = match (self.phase, self.claim) {
            _ if self.drains => Role::Draining,
            (StorePhase::Opening(_), _) | (_, Some(LeaseClaim::Acquired(_))) => Role::Opening,
            (StorePhase::Holding(_) | StorePhase::Closing(_) | StorePhase::Losing(_), _) => {
                Role::Holding
            }
            (StorePhase::Idle | StorePhase::Gone, _) => Role::Standby,
        };
        self.unheard = self.unheard.saturating_add(1);
        self.pending_heartbeat = Some((self.me.heartbeat, now));
        actions.push(Action::Heartbeat(self.me.clone()));
    }

    /// Begins to count anew: answered heartbeats count only where none is missing between them.
    fn interrupt(&mut self) {
        self.watch = None;
        self.watches.interrupt();
    }

    fn heartbeat_answered(
        &mut self,
        now: Monotonic,
        me: &Member,
        began: Monotonic,
        membership: Option<Membership>,
        actions: &mut Vec<Action>,
    ) {
        if self.pending_heartbeat.is_some_and(|(heartbeat, _)| heartbeat == me.heartbeat) {
            self.pending_heartbeat = None;
        }
        let Some(membership) = membership else {
            self.interrupt();
            self.next_heartbeat = self.next_heartbeat.min(now.plus(self.timing.retry_ms));
            return;
        };
        self.unheard = 0;
        let is_newest = me.heartbeat > self.answered;
        if is_newest {
            self.answered = me.heartbeat;
            self.watches.observe(&membership, began, now, &self.timing);
            if let Some(share) = membership.shares.first() {
                self.of = Some(share.of);
            }
        }
        // An answer that was overtaken proves the licence up to its own beginning, but its shares may be
        // out of date.
        self.keep(me, began, &membership, actions);
        self.claim(now, began, &membership, actions);
        if is_newest {
            self.look_for_shares(now, &membership, actions);
            self.look_at_own(began, &membership, actions);
            self.newest = Some(membership);
        }
    }

    /// Extends the licence of what this node still holds, and closes what it has lost.
    fn keep(
        &mut self,
        me: &Member,
        began: Monotonic,
        view: &Membership,
        actions: &mut Vec<Action>,
    ) {
        let Some(tenure) = self.phase.tenure() else {
            return;
        };
        let (is_mine, is_lost) = match tenure {
            Tenure::Lease(epoch) => {
                let is_mine = view.lease == self.own(epoch);
                // An older epoch is an answer from before the acquisition, and tells nothing.
                (is_mine, !is_mine && view.lease.epoch >= epoch)
            }
            Tenure::Share(term) => {
                let is_mine = view.shares.iter().any(|share| share.term == term);
                // An answer that began before this share was taken does not show it.
                (is_mine, !is_mine && began >= self.since)
            }
        };
        // Others take over from a node that says so for long, so its licence must not go on either.
        let is_answered = !me.unanswered && !self.me.unanswered;
        if is_lost {
            self.lose(tenure, actions);
        } else if is_mine && is_answered && self.phase != StorePhase::Losing(tenure) {
            // Counts from the beginning of the heartbeat: others may count its silence from any moment
            // after that.
            self.licence.extend(began.plus(self.timing.licence_ms));
        }
    }

    /// The lease as it is while this node has it.
    fn own(&self, epoch: Epoch) -> Lease {
        Lease { epoch, holder: Some(self.me.id) }
    }

    /// Goes on with the acquisition of the lease, or begins it.
    fn claim(
        &mut self,
        now: Monotonic,
        began: Monotonic,
        view: &Membership,
        actions: &mut Vec<Action>,
    ) {
        match self.claim {
            Some(LeaseClaim::Acquiring(since)) if now >= since.plus(self.timing.timeout_ms) => {
                (self.claim, self.watch) = (None, None);
            }
            Some(LeaseClaim::Acquired(epoch))
                if view.lease != self.own(epoch) && view.lease.epoch >= epoch =>
            {
                (self.claim, self.watch, self.wanted) = (None, None, None);
            }
            None if !self.drains
                && now >= self.backs_off_until
                && !matches!(self.phase.tenure(), Some(Tenure::Lease(_))) =>
            {
                self.look(now, began, view, actions);
            }
            _ => {}
        }
    }

    /// Decides whether to acquire the lease.
    fn look(
        &mut self,
        now: Monotonic,
        began: Monotonic,
        view: &Membership,
        actions: &mut Vec<Action>,
    ) {
        let holder = view.lease.holder.and_then(|id| view.member(id));
        let first = || (view.lease, MemberWatch::new(holder, now));
        let (lease, watch) = self.watch.get_or_insert_with(first);
        if *lease == view.lease {
            watch.observe(holder, began, now, &self.timing);
        } else {
            (*lease, *watch) = first();
        }
        let is_silent = watch.is_silent(&self.timing);
        let is_mine = view.lease.holder == Some(self.me.id);
        if !is_mine {
            self.wanted = None;
        }
        if is_mine || is_silent || view.lease.holder.is_none() {
            self.watch = None;
            self.claim = Some(LeaseClaim::Acquiring(now));
            let heartbeat = holder.map(|holder| holder.heartbeat);
            actions.push(Action::Acquire(view.lease, heartbeat));
        }
    }

    fn acquired(&mut self, acquired: Option<Epoch>, actions: &mut Vec<Action>) {
        // An answer that comes too late shows in the next membership, and the lease is acquired anew. An older epoch means nothing.
        if !matches!(self.claim, Some(LeaseClaim::Acquiring(_)))
            || acquired <= Some(self.spent.0) && acquired.is_some()
        {
            return;
        }
        self.claim = match acquired {
            Some(epoch) if self.drains => {
                actions.push(Action::Release(epoch));
                None
            }
            Some(epoch) => {
                // A heartbeat at once: it tells which shares there are, and others of this holder.
                self.next_heartbeat = Monotonic(i64::MIN);
                if let StorePhase::Holding(tenure) = self.phase {
                    self.close(tenure, actions);
                }
                Some(LeaseClaim::Acquired(epoch))
            }
            None => None,
        };
    }

    /// Looks at the shares that were granted to this node: opens one if it may, and gives back what it can't use.
    fn look_for_shares(&mut self, now: Monotonic, view: &Membership, actions: &mut Vec<Action>) {
        let me = self.me.id;
        let newest = view.share_of(me).map(|share| share.term);
        for share in view.shares.iter().filter(|share| share.node == me) {
            let tenure = Tenure::Share(share.term);
            let is_usable = !self.drains
                && !share.ends
                && share.term > self.spent.1
                && Some(share.term) == newest;
            let waits = match (self.phase, self.claim) {
                (phase, _) if phase.tenure() == Some(tenure) => true,
                (StorePhase::Idle, None | Some(LeaseClaim::Acquiring(_))) => is_usable,
                (StorePhase::Closing(_) | StorePhase::Losing(_), _) => is_usable,
                _ => false,
            };
            if !waits {
                actions.push(Action::GiveBack(share.term));
            } else if self.phase == StorePhase::Idle
                && self.claim.is_none()
                && now >= self.backs_off_until
            {
                (self.spent.1, self.since) = (share.term, now);
                self.open(tenure, Some(Shards::of_share(share)), actions);
            }
        }
    }

    /// Does what is to be done with what this node holds.
    fn look_at_own(&mut self, began: Monotonic, view: &Membership, actions: &mut Vec<Action>) {
        match (self.phase, self.claim) {
            (StorePhase::Holding(Tenure::Share(term)), _) => {
                let ends = |share: &Share| share.term == term && share.ends;
                if view.shares.iter().any(ends) {
                    self.close(Tenure::Share(term), actions);
                }
            }
            (StorePhase::Holding(Tenure::Lease(epoch)), _)
                if began >= self.since && view.lease == self.own(epoch) =>
            {
                self.divide(epoch, view, actions);
            }
            (StorePhase::Idle, Some(LeaseClaim::Acquired(epoch)))
                if view.lease == self.own(epoch) && view.share_of(self.me.id).is_none() =>
            {
                self.open_lease(epoch, view, actions);
            }
            _ => {}
        }
    }

    /// Opens the store of the lease with the shards that are in no share.
    ///
    /// Any answer with the lease as it is now will do: what was granted before shows in it, what an earlier epoch
    /// granted and has not arrived is fenced, and this one has granted nothing yet.
    fn open_lease(&mut self, epoch: Epoch, view: &Membership, actions: &mut Vec<Action>) {
        let wanted = self.wanted.take().unwrap_or_default();
        let shards = self.of.map(|of| Shards::in_no_share(view, of, &wanted));
        if shards.as_ref().is_some_and(|shards| shards.numbers.is_empty()) {
            // Whoever has the lease has a shard. No holder grants its last one, so this is for safety only.
            let newest = view.shares.last().map(|share| share.term);
            actions.extend(newest.map(|term| Action::Recall { epoch, term }));
            return;
        }
        let shards = shards.filter(|shards| shards.numbers.len() < usize::from(shards.of));
        (self.claim, self.spent.0) = (None, epoch);
        self.open(Tenure::Lease(epoch), shards, actions);
    }

    fn open(&mut self, tenure: Tenure, shards: Option<Shards>, actions: &mut Vec<Action>) {
        self.phase = StorePhase::Opening(tenure);
        self.held.clone_from(&shards);
        actions.push(Action::Open(Opening { tenure, shards }));
    }

    fn opened(
        &mut self,
        now: Monotonic,
        tenure: Tenure,
        of: Option<u16>,
        actions: &mut Vec<Action>,
    ) {
        let Some(of) = of else {
            self.backs_off_until = now.plus(self.timing.backoff_ms);
            self.phase = StorePhase::Losing(tenure);
            self.closed(now, tenure, actions);
            return;
        };
        self.of = Some(of);
        let all = || Shards { numbers: (0..of).collect(), of };
        self.held.get_or_insert_with(all);
        (self.phase, self.next_heartbeat) = (StorePhase::Holding(tenure), now);
        if matches!(tenure, Tenure::Lease(_)) {
            (self.since, self.refusals) = (now, Refusals::default());
        }
        // A store is open for one tenure at a time: the lease that was acquired meanwhile gets its own
        // opening.
        if self.drains || matches!(self.claim, Some(LeaseClaim::Acquired(_))) {
            self.close(tenure, actions);
        }
    }

    /// Orders what is to be done so that each node has the shards that it should have.
    fn divide(&mut self, epoch: Epoch, view: &Membership, actions: &mut Vec<Action>) {
        if let Some(before) = &self.newest {
            let (watches, timing) = (&self.watches, &self.timing);
            self.refusals.observe(before, view, watches, timing);
        }
        let Some(held) = &self.held else {
            return;
        };
        let others = || {
            view.members.iter().map(|seen| &seen.member).filter(|member| member.id != self.me.id)
        };
        let may_have = |member: &&Member| {
            self.watches.is_living(member, view, &self.timing) && !self.refusals.contains(member.id)
        };
        let changes = division::divide(&NodesSight {
            me: self.me.id,
            held,
            view,
            living: others().filter(may_have).map(|member| member.id).collect(),
            silent: others()
                .map(|member| member.id)
                .filter(|id| self.watches.is_silent(*id, &self.timing))
                .collect(),
        });
        let of = held.of;
        for change in changes {
            actions.push(match change {
                DivisionStep::Revoke(term, heartbeat) => {
                    self.refusals.ask(term);
                    Action::Revoke { epoch, term, heartbeat }
                }
                DivisionStep::Recall(term) => {
                    self.refusals.ask(term);
                    Action::Recall { epoch, term }
                }
                DivisionStep::Grant(node, shards) => Action::Grant { epoch, node, shards, of },
                DivisionStep::Reopen(shards) => {
                    // Closes first, and opens again in another epoch: that fences what this one still has
                    // under way.
                    self.wanted = Some(shards);
                    self.close(Tenure::Lease(epoch), actions);
                    continue;
                }
            });
        }
    }

    /// Closes the store in order.
    fn close(&mut self, tenure: Tenure, actions: &mut Vec<Action>) {
        self.phase = StorePhase::Closing(tenure);
        actions.push(Action::Close { tenure, drains: true });
    }

    /// Stops holding something: another node does, or this one has failed.
    fn lose(&mut self, tenure: Tenure, actions: &mut Vec<Action>) {
        if self.phase.tenure() != Some(tenure) {
            return;
        }
        // Ends before the store is closed, which may take long: another node may act already.
        self.licence.end();
        if self.phase == StorePhase::Holding(tenure) {
            actions.push(Action::Close { tenure, drains: false });
        }
        self.phase = StorePhase::Losing(tenure);
    }

    fn closed(&mut self, now: Monotonic, tenure: Tenure, actions: &mut Vec<Action>) {
        if self.phase != StorePhase::Closing(tenure) && self.phase != StorePhase::Losing(tenure) {
            return;
        }
        let is_lost = self.phase == StorePhase::Losing(tenure);
        self.licence.end();
        (self.phase, self.watch, self.held) = (StorePhase::Idle, None, None);
        // A lease that was lost is not this node's to open again.
        let wanted = self.wanted.take().filter(|_| !is_lost);
        match tenure {
            Tenure::Share(term) => actions.push(Action::GiveBack(term)),
            Tenure::Lease(epoch) if wanted.is_some() => {
                self.wanted = wanted;
                self.claim = Some(LeaseClaim::Acquiring(now));
                let own = Some(self.me.heartbeat);
                actions.push(Action::Acquire(self.own(epoch), own));
            }
            Tenure::Lease(epoch) => actions.push(Action::Release(epoch)),
        }
    }

    fn drain(&mut self, actions: &mut Vec<Action>) {
        self.drains = true;
        self.wanted = None;
        if let Some(LeaseClaim::Acquired(epoch)) = self.claim {
            self.claim = None;
            actions.push(Action::Release(epoch));
        }
        // What else is under way ends first.
        if let StorePhase::Holding(tenure) = self.phase {
            self.close(tenure, actions);
        }
    }

    /// Gives back what was granted meanwhile, and is no member any more.
    fn leave(&mut self, actions: &mut Vec<Action>) {
        let own = self
            .newest
            .iter()
            .flat_map(|newest| &newest.shares)
            .filter(|share| share.node == self.me.id);
        actions.extend(own.map(|share| Action::GiveBack(share.term)));
        actions.push(Action::Leave);
        self.phase = StorePhase::Gone;
    }
}
