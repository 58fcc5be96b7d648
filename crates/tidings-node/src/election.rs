//! The decision which of several nodes holds the store: a pure, stepped function of the time and of what was heard.
//!
//! A node sends a heartbeat about once a second. It acquires the lease if that is free, or if its holder sent none
//! through four answered heartbeats of the node's *own*: after an outage of the database nobody takes over. A holder
//! may send messages, and answer reads, while it has a *licence*: until three seconds after its last answered
//! heartbeat began, by a clock that goes on while the machine sleeps. So it has ended by itself before anybody may
//! take over. Commits need no licence, since the epoch fences them.
//!
//! Nothing here waits or reads a clock: the caller hands in what happened, and does what it is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tidings_store::lease::{Epoch, Lease, Member, Membership, NodeId, Role};

#[cfg(test)]
mod tests;

/// Milliseconds of a clock that never steps back, and goes on while the machine sleeps. Its zero is arbitrary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monotonic(pub i64);

impl Monotonic {
    pub(crate) fn plus(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

/// The times of leases, which depend on each other.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// The time between two heartbeats.
    pub heartbeat_ms: i64,
    /// The wait after a heartbeat that has failed.
    pub retry_ms: i64,
    /// The time after which an answer is no longer waited for.
    pub timeout_ms: i64,
    /// The time for which an answered heartbeat is a licence, from when it began.
    pub licence_ms: i64,
    /// Number of a node's answered heartbeats without one of the holder before it takes over. Each begins a
    /// `heartbeat_ms` after the answer of the one before, so the licence has to be shorter than all of them.
    pub missed: u32,
    /// Number of heartbeats without an answer after which a node says so (see [`Member::unanswered`]).
    pub unanswered_after: u32,
    /// The time for which a node acquires nothing after it could not open the store.
    pub backoff_ms: i64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            heartbeat_ms: 1_000,
            retry_ms: 250,
            timeout_ms: 2_000,
            licence_ms: 3_000,
            missed: 4,
            unanswered_after: 6,
            backoff_ms: 5_000,
        }
    }
}

/// The right to send messages, and to answer reads. Clones are the same licence.
#[derive(Clone, Debug)]
pub struct Licence(Arc<AtomicI64>);

impl Default for Licence {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(i64::MIN)))
    }
}

impl Licence {
    /// Tells whether the process may send and answer reads at an instant.
    #[must_use]
    pub fn holds(&self, now: Monotonic) -> bool {
        now.0 < self.0.load(Ordering::SeqCst)
    }

    fn extend(&self, until: Monotonic) {
        self.0.fetch_max(until.0, Ordering::SeqCst);
    }

    fn end(&self) {
        self.0.store(i64::MIN, Ordering::SeqCst);
    }
}

/// Something to which the election reacts: time, an answer of the lease, or the end of a store or node.
#[derive(Clone, Debug)]
pub enum Input {
    /// Time has passed.
    Tick,
    /// A heartbeat was answered, or has failed.
    HeartbeatAnswered {
        /// The heartbeat.
        me: Member,
        /// The instant at which it was sent.
        began: Monotonic,
        /// The answer; `None` if there is none.
        membership: Option<Membership>,
    },
    /// An acquisition was answered: the epoch, if it succeeded.
    Acquired(Option<Epoch>),
    /// The store of an epoch was opened, or could not be.
    Opened(Epoch, bool),
    /// The node over the store of an epoch has ended by itself.
    Ended(Epoch),
    /// The store of an epoch is closed, as it was told.
    Closed(Epoch),
    /// The configuration of this node was read, with this digest.
    Configured(String),
    /// This process is to leave.
    Drain,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a heartbeat.
    Heartbeat(Member),
    /// Acquire the lease as it was seen, with the last heartbeat of its holder.
    Acquire(Lease, Option<i64>),
    /// Open the store of an epoch.
    Open(Epoch),
    /// Close the store of an epoch: stop deciding and sending. What is on its way may end if `drains`.
    Close {
        /// The epoch.
        epoch: Epoch,
        /// True if nobody else has it yet.
        drains: bool,
    },
    /// Release the lease of an epoch.
    Release(Epoch),
    /// Leave the list of members; nothing follows.
    Leave,
}

/// A node's part in the decision who holds the lease.
pub struct Election {
    me: Member,
    timing: Timing,
    phase: Phase,
    licence: Licence,
    next_heartbeat: Monotonic,
    /// The heartbeat that waits for its answer, with its beginning.
    asked: Option<(i64, Monotonic)>,
    /// The number of heartbeats since the last answer.
    unheard: u32,
    watch: Option<Watch>,
    newest: Option<Membership>,
    backs_off_until: Monotonic,
    drains: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Standby,
    /// Since when it waits for the answer.
    Acquiring(Monotonic),
    Opening(Epoch),
    Holding(Epoch),
    Closing(Epoch),
    Gone,
}

/// The observations of a holder that may be gone.
struct Watch {
    lease: Lease,
    heartbeat: Option<i64>,
    answered: Monotonic,
    /// Number of answered heartbeats since, without a further one of the holder.
    silent: u32,
    /// Number of answered heartbeats with a further one by which the holder said that it is unanswered.
    unanswered: u32,
}

impl Election {
    /// The state of a process that has just started.
    #[must_use]
    pub fn new(me: Member, timing: Timing) -> Self {
        Self {
            me,
            timing,
            phase: Phase::Standby,
            licence: Licence::default(),
            next_heartbeat: Monotonic(i64::MIN),
            asked: None,
            unheard: 0,
            watch: None,
            newest: None,
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

    /// The epoch whose store is open and served here.
    #[must_use]
    pub fn holds(&self) -> Option<Epoch> {
        match self.phase {
            Phase::Holding(epoch) => Some(epoch),
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
            Input::HeartbeatAnswered {
                me,
                began,
                membership,
            } => {
                self.heartbeat_answered(now, &me, began, membership, &mut actions);
            }
            Input::Acquired(acquired) => self.acquired(acquired, &mut actions),
            Input::Opened(epoch, is_open) if self.phase == Phase::Opening(epoch) => {
                self.opened(now, epoch, is_open, &mut actions);
            }
            Input::Opened(epoch, true) => {
                // It was lost while it was being opened.
                actions.push(Action::Close {
                    epoch,
                    drains: false,
                });
            }
            Input::Opened(epoch, false) => self.closed(epoch, &mut actions),
            Input::Ended(epoch) => self.lose(epoch, &mut actions),
            Input::Closed(epoch) => self.closed(epoch, &mut actions),
            Input::Configured(digest) => self.me.config = digest,
            Input::Drain => self.drain(&mut actions),
        }
        if self.drains && self.phase == Phase::Standby {
            self.phase = Phase::Gone;
            actions.push(Action::Leave);
        }
        self.heartbeat(now, &mut actions);
        actions
    }

    fn heartbeat(&mut self, now: Monotonic, actions: &mut Vec<Action>) {
        let waits = self
            .asked
            .is_some_and(|(_, began)| now < began.plus(self.timing.timeout_ms));
        if now < self.next_heartbeat || waits || self.phase == Phase::Gone {
            return;
        }
        if self.asked.is_some() {
            // Answered heartbeats count only where none is missing between them.
            self.watch = None;
        }
        self.next_heartbeat = now.plus(self.timing.heartbeat_ms);
        self.me.heartbeat += 1;
        self.me.unanswered = self.unheard >= self.timing.unanswered_after;
        self.me.role = match self.phase {
            _ if self.drains => Role::Draining,
            Phase::Opening(_) => Role::Opening,
            Phase::Holding(_) | Phase::Closing(_) => Role::Holding,
            Phase::Standby | Phase::Acquiring(_) | Phase::Gone => Role::Standby,
        };
        self.unheard = self.unheard.saturating_add(1);
        self.asked = Some((self.me.heartbeat, now));
        actions.push(Action::Heartbeat(self.me.clone()));
    }

    fn heartbeat_answered(
        &mut self,
        now: Monotonic,
        me: &Member,
        began: Monotonic,
        membership: Option<Membership>,
        actions: &mut Vec<Action>,
    ) {
        if self
            .asked
            .is_some_and(|(heartbeat, _)| heartbeat == me.heartbeat)
        {
            self.asked = None;
        }
        let Some(membership) = membership else {
            self.watch = None;
            self.next_heartbeat = self.next_heartbeat.min(now.plus(self.timing.retry_ms));
            return;
        };
        self.unheard = 0;
        match self.phase {
            Phase::Opening(epoch) | Phase::Holding(epoch) | Phase::Closing(epoch) => {
                let own = Lease {
                    epoch,
                    holder: Some(self.me.id),
                };
                let is_leaving = matches!(self.phase, Phase::Closing(_)) && !self.drains;
                if membership.lease != own && membership.lease.epoch >= epoch {
                    self.lose(epoch, actions);
                } else if membership.lease == own
                    && !me.unanswered
                    && !self.me.unanswered
                    && !is_leaving
                {
                    self.licence.extend(began.plus(self.timing.licence_ms));
                }
            }
            Phase::Acquiring(since) if now >= since.plus(self.timing.timeout_ms) => {
                self.phase = Phase::Standby;
                self.watch = None;
            }
            Phase::Standby if !self.drains && now >= self.backs_off_until => {
                self.look(now, began, &membership, actions);
            }
            Phase::Standby | Phase::Acquiring(_) | Phase::Gone => {}
        }
        self.newest = Some(membership);
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
        let heartbeat = holder.map(|holder| holder.heartbeat);
        let is_free = view.lease.holder.is_none_or(|id| id == self.me.id);
        let watch = self.watch.get_or_insert(Watch {
            lease: view.lease,
            heartbeat,
            answered: now,
            silent: 0,
            unanswered: 0,
        });
        let is_apart = began >= watch.answered.plus(self.timing.heartbeat_ms);
        let is_unanswered = holder.is_some_and(|holder| holder.unanswered);
        if watch.lease != view.lease || (watch.heartbeat != heartbeat && !is_unanswered) {
            *watch = Watch {
                lease: view.lease,
                heartbeat,
                answered: now,
                silent: 0,
                unanswered: 0,
            };
        } else if watch.heartbeat != heartbeat {
            (watch.heartbeat, watch.answered) = (heartbeat, now);
            (watch.silent, watch.unanswered) = (0, watch.unanswered + 1);
        } else if is_apart {
            watch.answered = now;
            watch.silent += 1;
        }
        if is_free || watch.silent >= self.timing.missed || watch.unanswered >= 2 {
            self.watch = None;
            self.phase = Phase::Acquiring(now);
            actions.push(Action::Acquire(view.lease, heartbeat));
        }
    }

    fn acquired(&mut self, acquired: Option<Epoch>, actions: &mut Vec<Action>) {
        // One that comes too late is found again in an answer, and acquired anew.
        if !matches!(self.phase, Phase::Acquiring(_)) {
            return;
        }
        self.phase = match acquired {
            Some(epoch) if self.drains => {
                actions.push(Action::Release(epoch));
                Phase::Standby
            }
            Some(epoch) => {
                // Its licence, and what others know of it, need not wait.
                self.next_heartbeat = Monotonic(i64::MIN);
                actions.push(Action::Open(epoch));
                Phase::Opening(epoch)
            }
            None => Phase::Standby,
        };
    }

    fn opened(&mut self, now: Monotonic, epoch: Epoch, is_open: bool, actions: &mut Vec<Action>) {
        if is_open && !self.drains {
            self.phase = Phase::Holding(epoch);
            self.next_heartbeat = now;
            return;
        }
        if is_open {
            self.phase = Phase::Closing(epoch);
            actions.push(Action::Close {
                epoch,
                drains: true,
            });
            return;
        }
        self.backs_off_until = now.plus(self.timing.backoff_ms);
        self.phase = Phase::Closing(epoch);
        self.closed(epoch, actions);
    }

    /// Stops being the holder: somebody else is, or the node has failed.
    fn lose(&mut self, epoch: Epoch, actions: &mut Vec<Action>) {
        let is_mine = matches!(self.phase,
            Phase::Opening(mine) | Phase::Holding(mine) | Phase::Closing(mine) if mine == epoch);
        if !is_mine {
            return;
        }
        self.licence.end();
        let is_open = self.phase == Phase::Holding(epoch);
        self.phase = Phase::Closing(epoch);
        if is_open {
            actions.push(Action::Close {
                epoch,
                drains: false,
            });
        }
    }

    fn closed(&mut self, epoch: Epoch, actions: &mut Vec<Action>) {
        if self.phase != Phase::Closing(epoch) {
            return;
        }
        self.licence.end();
        self.watch = None;
        actions.push(Action::Release(epoch));
        self.phase = Phase::Standby;
    }

    fn drain(&mut self, actions: &mut Vec<Action>) {
        self.drains = true;
        // What else is under way ends first.
        if let Phase::Holding(epoch) = self.phase {
            self.phase = Phase::Closing(epoch);
            actions.push(Action::Close {
                epoch,
                drains: true,
            });
        }
    }
}
