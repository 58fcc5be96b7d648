//! A node's part in the election, in real time: threads that send heartbeats, and that open and close the store.
//!
//! One thread has the [`Election`]. Another one calls the database, so that a call without an answer holds up no
//! decision; a third one opens and closes the store, which may take long while heartbeats go on.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use tidings_core::engine::HeldShards;
use tidings_store::Error;
use tidings_store::lease::{Leases, Member, Membership, NodeId};

use crate::clock::monotonic::Monotonic;
use crate::delivery::MaySend;
use crate::election::{Action, Election, Input, Opening, Tenure, Timing};

#[cfg(test)]
mod tests;

/// The time between two looks at the clock.
const TICK: Duration = Duration::from_millis(100);

/// A measurement of how many milliseconds the work of a term is behind.
pub type TermLag = Box<dyn Fn() -> i64 + Send>;

/// The callbacks for the beginning and the end of a term, in which a node holds the lease or a share.
pub trait LeaseCallbacks: Send {
    /// Opens the store of a term and serves it. Never is more than one open.
    ///
    /// # Errors
    /// The reason in words; the lease is released or the share given back, and this node backs off.
    fn open(&mut self, term: Term) -> Result<OpenReport, String>;

    /// Stops serving. Work in progress is finished if `drains`; if not, another node may have the store already.
    fn close(&mut self, drains: bool);
}

/// A store that was opened for a term.
pub struct OpenReport {
    /// A measurement of how far its work is behind.
    pub lag: TermLag,
    /// The number of shards of the store, on all nodes.
    pub shards: u16,
}

/// The time in which a node holds the lease or a share.
pub struct Term {
    /// The tenure. Its number fences commits.
    pub tenure: Tenure,
    /// The shards that it has, with the intake if it has the lease; `None` if it has everything.
    pub held: Option<HeldShards>,
    /// The number of shards of the store, as it was when shares were granted; `None` where there are none.
    pub of: Option<u16>,
    /// Returns true if this node may send messages and answer reads now.
    pub licence: MaySend,
    inputs: Sender<Input>,
}

impl Term {
    fn new(opening: Opening, licence: MaySend, inputs: Sender<Input>) -> Self {
        let Opening { tenure, shards } = opening;
        let of = shards.as_ref().map(|shards| shards.of);
        let held = shards.map(|shards| HeldShards {
            intake: matches!(tenure, Tenure::Lease(_)),
            shards: shards.numbers,
        });
        Self { tenure, held, of, licence, inputs }
    }

    /// A function that reports that the store of this term can't be used any more.
    pub fn ender(&self) -> impl Fn() + Send + use<> {
        let (inputs, tenure) = (self.inputs.clone(), self.tenure);
        move || drop(inputs.send(Input::Ended(tenure)))
    }
}

/// A node that takes part in the election until it leaves.
pub struct Candidate {
    inputs: Sender<Input>,
    /// Signals that it is no member any more.
    left: Receiver<Infallible>,
}

impl Candidate {
    /// Starts to take part. `observe` is called with the members with each answered heartbeat.
    ///
    /// # Errors
    /// A thread can't be started.
    pub fn start(
        leases: Arc<dyn Leases>,
        me: Member,
        mut callbacks: Box<dyn LeaseCallbacks>,
        observe: impl Fn(&Membership) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (inputs, received) = unbounded();
        let (calls, called) = unbounded();
        let (works, worked) = unbounded();
        let (is_member, left) = bounded::<Infallible>(0);
        let election = Election::new(me, Timing::default());
        let lag = Arc::<Mutex<Option<TermLag>>>::default();

        let answer = inputs.clone();
        let id = election.id();
        let calling = move || {
            while let Ok((began, action)) = called.recv() {
                if let Some(input) = call_leases(&*leases, id, began, action) {
                    // Who left hears nothing any more.
                    let _ = answer.send(input);
                }
            }
            drop(is_member);
        };
        thread("tidings-heartbeat", calling)?;

        let (answer, licence) = (inputs.clone(), election.licence().clone());
        let lag_of_store = Arc::clone(&lag);
        let working = move || {
            // Each term has a flag of its own: threads of a lost one must not act under the licence of a later one.
            let mut is_over = Arc::<AtomicBool>::default();
            let set_lag = |lag| *lag_of_store.lock().unwrap_or_else(PoisonError::into_inner) = lag;
            while let Ok(work) = worked.recv() {
                let input = match work {
                    CandidateWork::Open(opening) => {
                        is_over = Arc::default();
                        let (licence, over) = (licence.clone(), Arc::clone(&is_over));
                        let may_send = Arc::new(move || {
                            licence.holds(Monotonic::now()) && !over.load(Ordering::SeqCst)
                        });
                        let tenure = opening.tenure;
                        let opened = callbacks.open(Term::new(opening, may_send, answer.clone()));
                        if let Err(why) = &opened {
                            tracing::error!(%why, "the store can't be opened");
                        }
                        let shards = opened.as_ref().ok().map(|opened| opened.shards);
                        set_lag(opened.ok().map(|opened| opened.lag));
                        Input::Opened(tenure, shards)
                    }
                    CandidateWork::Close { tenure, drains } => {
                        set_lag(None);
                        // Without a drain the term is lost: another node may have the store, so its threads
                        // send nothing while it closes.
                        is_over.store(!drains, Ordering::SeqCst);
                        callbacks.close(drains);
                        is_over.store(true, Ordering::SeqCst);
                        Input::Closed(tenure)
                    }
                };
                // Who left hears nothing any more.
                let _ = answer.send(input);
            }
        };
        thread("tidings-hold", working)?;

        let mut driver = ElectionDriver { election, received, calls, works, lag };
        thread("tidings-election", move || driver.run(&observe))?;
        Ok(Self { inputs, left })
    }

    /// A function that gets the digest of a configuration that was read.
    pub fn configurer(&self) -> impl Fn(String) + Send + use<> {
        let inputs = self.inputs.clone();
        move |digest| drop(inputs.send(Input::Configured(digest)))
    }

    /// Leaves: closes the store after work in progress, and gives the lease back. Returns false where that takes longer
    /// than `patience`.
    #[must_use]
    pub fn leave(self, patience: Duration) -> bool {
        let _ = self.inputs.send(Input::Drain);
        self.left.recv_timeout(patience) == Err(RecvTimeoutError::Disconnected)
    }
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

enum CandidateWork {
    Open(Opening),
    Close { tenure: Tenure, drains: bool },
}

struct ElectionDriver {
    election: Election,
    received: Receiver<Input>,
    calls: Sender<(Monotonic, Action)>,
    works: Sender<CandidateWork>,
    lag: Arc<Mutex<Option<TermLag>>>,
}

impl ElectionDriver {
    fn run(&mut self, observe: &dyn Fn(&Membership)) {
        loop {
            let input = self.received.recv_timeout(TICK).unwrap_or(Input::Tick);
            let is_answer = matches!(&input, Input::HeartbeatAnswered { membership, .. } if membership.is_some());
            let lag = self.lag.lock().unwrap_or_else(PoisonError::into_inner);
            self.election.set_lag(lag.as_ref().map_or(0, |lag| lag()));
            drop(lag);
            let now = Monotonic::now();
            let actions = self.election.on(now, input);
            if let Some(membership) = self.election.membership().filter(|_| is_answer) {
                observe(membership);
            }
            for action in actions {
                let leaves = action == Action::Leave;
                let is_sent = match action {
                    Action::Open(opening) => self.works.send(CandidateWork::Open(opening)).is_ok(),
                    Action::Close { tenure, drains } => {
                        self.works.send(CandidateWork::Close { tenure, drains }).is_ok()
                    }
                    action => self.calls.send((now, action)).is_ok(),
                };
                if leaves || !is_sent {
                    return;
                }
            }
        }
    }
}

/// Makes the call to the database that an action orders, and returns what its answer is for the election.
pub fn call_leases(
    leases: &dyn Leases,
    id: NodeId,
    began: Monotonic,
    action: Action,
) -> Option<Input> {
    let log = |fault: &Error| tracing::warn!(error = %fault, "a call about the lease failed");
    match action {
        Action::Heartbeat(me) => {
            let membership = leases.heartbeat(&me).inspect_err(log).ok();
            Some(Input::HeartbeatAnswered { me, began, membership })
        }
        Action::Acquire(seen, heartbeat) => {
            let acquired = leases.acquire(seen, heartbeat, id).inspect_err(log);
            Some(Input::Acquired(acquired.ok()?))
        }
        Action::Release(epoch) => {
            leases.release(epoch).inspect_err(log).ok();
            None
        }
        Action::GiveBack(term) => {
            leases.give_back(term).inspect_err(log).ok()?;
            Some(Input::GivenBack(term))
        }
        Action::Grant { epoch, node, shards, of } => {
            leases.grant(epoch, node, &shards, of).inspect_err(log).ok();
            None
        }
        Action::Recall { epoch, term } => {
            leases.recall(epoch, term).inspect_err(log).ok();
            None
        }
        Action::Revoke { epoch, term, heartbeat } => {
            leases.revoke(epoch, term, heartbeat).inspect_err(log).ok();
            None
        }
        Action::Leave => {
            leases.leave(id).inspect_err(log).ok();
            None
        }
        Action::Open(_) | Action::Close { .. } => None,
    }
}
