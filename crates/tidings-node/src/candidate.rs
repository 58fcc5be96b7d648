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
use tidings_store::Error;
use tidings_store::lease::{Epoch, Leases, Member, Membership, NodeId};

use crate::clock::monotonic;
use crate::delivery::MaySend;
use crate::election::{Action, Election, Input, Monotonic, Timing};

#[cfg(test)]
mod tests;

/// The time between two looks at the clock.
const TICK: Duration = Duration::from_millis(100);

/// A measurement of how many milliseconds the work of a holder is behind.
pub type Lag = Box<dyn Fn() -> i64 + Send>;

/// The work of a node while it holds the store.
pub trait Holder: Send {
    /// Opens the store of a term and serves it.
    ///
    /// # Errors
    /// The reason in words; the lease is released, and this node backs off.
    fn open(&mut self, term: Term) -> Result<Lag, String>;

    /// Stops serving. Work in progress is finished if `drains`; if not, another node may have the store already.
    fn close(&mut self, drains: bool);
}

/// The time in which a node holds the store.
pub struct Term {
    /// Its number, which fences commits.
    pub epoch: Epoch,
    /// Tells whether this node may send messages and answer reads now.
    pub licence: MaySend,
    inputs: Sender<Input>,
}

impl Term {
    /// A function that tells that the store of this term can't be used any more.
    pub fn ender(&self) -> impl Fn() + Send + use<> {
        let (inputs, epoch) = (self.inputs.clone(), self.epoch);
        move || drop(inputs.send(Input::Ended(epoch)))
    }
}

/// A node that takes part in the election until it leaves.
pub struct Candidate {
    inputs: Sender<Input>,
    /// Signals that it is no member any more.
    left: Receiver<Infallible>,
}

impl Candidate {
    /// Starts to take part. `tell` hears of the members with each answered heartbeat.
    ///
    /// # Errors
    /// A thread can't be started.
    pub fn start(
        leases: Arc<dyn Leases>,
        me: Member,
        mut holder: Box<dyn Holder>,
        tell: impl Fn(&Membership) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (inputs, heard) = unbounded();
        let (calls, called) = unbounded();
        let (works, worked) = unbounded();
        let (is_member, left) = bounded::<Infallible>(0);
        let election = Election::new(me, Timing::default());
        let lag = Arc::<Mutex<Option<Lag>>>::default();

        let answer = inputs.clone();
        let id = election.id();
        let calling = move || {
            while let Ok((began, action)) = called.recv() {
                if let Some(input) = call(&*leases, id, began, action) {
                    // Who left hears nothing any more.
                    drop(answer.send(input));
                }
            }
            drop(is_member);
        };
        thread("tidings-heartbeat", calling)?;

        let (answer, licence) = (inputs.clone(), election.licence().clone());
        let lag_of_holder = Arc::clone(&lag);
        let working = move || {
            // Threads of a term that was lost must not act under the licence of a later one.
            let mut is_over = Arc::<AtomicBool>::default();
            let set_lag = |lag| *lag_of_holder.lock().unwrap_or_else(PoisonError::into_inner) = lag;
            while let Ok(work) = worked.recv() {
                let input = match work {
                    Work::Open(epoch) => {
                        is_over = Arc::default();
                        let (licence, over) = (licence.clone(), Arc::clone(&is_over));
                        let term = Term {
                            epoch,
                            licence: Arc::new(move || {
                                licence.holds(monotonic()) && !over.load(Ordering::SeqCst)
                            }),
                            inputs: answer.clone(),
                        };
                        let opened = holder.open(term);
                        if let Err(why) = &opened {
                            tracing::error!(%why, "the store can't be opened");
                        }
                        let is_open = opened.is_ok();
                        set_lag(opened.ok());
                        Input::Opened(epoch, is_open)
                    }
                    Work::Close { epoch, drains } => {
                        set_lag(None);
                        is_over.store(!drains, Ordering::SeqCst);
                        holder.close(drains);
                        is_over.store(true, Ordering::SeqCst);
                        Input::Closed(epoch)
                    }
                };
                // Who left hears nothing any more.
                drop(answer.send(input));
            }
        };
        thread("tidings-hold", working)?;

        let mut driver = Driver {
            election,
            heard,
            calls,
            works,
            lag,
        };
        thread("tidings-election", move || driver.run(&tell))?;
        Ok(Self { inputs, left })
    }

    /// A function that tells the digest of a configuration that was read.
    pub fn configurer(&self) -> impl Fn(String) + Send + use<> {
        let inputs = self.inputs.clone();
        move |digest| drop(inputs.send(Input::Configured(digest)))
    }

    /// Leaves: closes the store after work in progress, and gives the lease back. Returns false where that takes longer
    /// than `patience`.
    #[must_use]
    pub fn leave(self, patience: Duration) -> bool {
        drop(self.inputs.send(Input::Drain));
        self.left.recv_timeout(patience) == Err(RecvTimeoutError::Disconnected)
    }
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

enum Work {
    Open(Epoch),
    Close { epoch: Epoch, drains: bool },
}

struct Driver {
    election: Election,
    heard: Receiver<Input>,
    calls: Sender<(Monotonic, Action)>,
    works: Sender<Work>,
    lag: Arc<Mutex<Option<Lag>>>,
}

impl Driver {
    fn run(&mut self, tell: &dyn Fn(&Membership)) {
        loop {
            let input = self.heard.recv_timeout(TICK).unwrap_or(Input::Tick);
            let is_answer = matches!(&input, Input::HeartbeatAnswered { membership, .. } if membership.is_some());
            let lag = self.lag.lock().unwrap_or_else(PoisonError::into_inner);
            self.election.set_lag(lag.as_ref().map_or(0, |lag| lag()));
            drop(lag);
            let now = monotonic();
            let actions = self.election.on(now, input);
            if let Some(membership) = self.election.membership().filter(|_| is_answer) {
                tell(membership);
            }
            for action in actions {
                let leaves = action == Action::Leave;
                let given = match action {
                    Action::Open(epoch) => self.works.send(Work::Open(epoch)).is_ok(),
                    Action::Close { epoch, drains } => {
                        self.works.send(Work::Close { epoch, drains }).is_ok()
                    }
                    action => self.calls.send((now, action)).is_ok(),
                };
                if leaves || !given {
                    return;
                }
            }
        }
    }
}

/// Makes a call to the database; what its answer is for the election.
fn call(leases: &dyn Leases, id: NodeId, began: Monotonic, action: Action) -> Option<Input> {
    let log = |fault: &Error| tracing::warn!(error = %fault, "a call about the lease failed");
    match action {
        Action::Heartbeat(me) => {
            let membership = leases.heartbeat(&me).inspect_err(log).ok();
            Some(Input::HeartbeatAnswered {
                me,
                began,
                membership,
            })
        }
        Action::Acquire(seen, heartbeat) => {
            let acquired = leases.acquire(seen, heartbeat, id).inspect_err(log);
            Some(Input::Acquired(acquired.ok()?))
        }
        Action::Release(epoch) => {
            leases.release(epoch).inspect_err(log).ok();
            None
        }
        Action::Leave => {
            leases.leave(id).inspect_err(log).ok();
            None
        }
        Action::Open(_) | Action::Close { .. } => None,
    }
}
