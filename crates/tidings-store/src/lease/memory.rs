//! The leases of simulation and tests, in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Epoch, Lease, Leases, Member, MemberStatus, Membership, NodeId, Role, Token};
use crate::{Commit, Error, MemoryStore, Snapshot, Store};
use tidings_core::time::Day;

/// Leases in memory. Clones share them.
#[derive(Clone)]
pub struct MemoryLeases {
    state: Arc<Mutex<State>>,
    store: MemoryStore,
    /// True if commits of an old epoch are refused, as they have to be.
    fences: bool,
}

struct State {
    now_ms: i64,
    lease: Lease,
    members: BTreeMap<NodeId, At>,
}

/// A member with the instants of its last heartbeat and of its last change of role.
struct At {
    member: Member,
    heard_ms: i64,
    since_ms: i64,
}

impl Default for MemoryLeases {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryLeases {
    /// Creates leases without members, at the instant 0.
    #[must_use]
    pub fn new() -> Self {
        let lease = Lease {
            epoch: Epoch(0),
            holder: None,
        };
        Self {
            state: Arc::new(Mutex::new(State {
                now_ms: 0,
                lease,
                members: BTreeMap::new(),
            })),
            store: MemoryStore::new(),
            fences: true,
        }
    }

    /// The same with commits that nobody checks: a test shows with it that the fence is needed.
    #[must_use]
    pub fn without_fence(self) -> Self {
        Self {
            fences: false,
            ..self
        }
    }

    /// Sets its clock.
    pub fn set_now(&self, now_ms: i64) {
        self.lock().now_ms = now_ms;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fence(&self, state: &State, epoch: Epoch) -> Result<(), Error> {
        match state.lease.epoch == epoch || !self.fences {
            true => Ok(()),
            false => Err(Error::Fenced),
        }
    }
}

impl State {
    fn membership(&self) -> Membership {
        let seen = |at: &At| MemberStatus {
            member: at.member.clone(),
            silent_ms: self.now_ms - at.heard_ms,
            since_ms: at.since_ms,
        };
        let mut members: Vec<MemberStatus> = self.members.values().map(seen).collect();
        members.sort_by(|a, b| (&a.member.name, a.member.id).cmp(&(&b.member.name, b.member.id)));
        Membership {
            lease: self.lease,
            members,
        }
    }
}

impl Leases for MemoryLeases {
    fn heartbeat(&self, me: &Member) -> Result<Membership, Error> {
        let mut state = self.lock();
        let now = state.now_ms;
        let at = state.members.entry(me.id).or_insert_with(|| At {
            member: Member {
                heartbeat: me.heartbeat - 1,
                ..me.clone()
            },
            heard_ms: now,
            since_ms: now,
        });
        if at.member.heartbeat < me.heartbeat {
            if at.member.role != me.role {
                at.since_ms = now;
            }
            at.member = me.clone();
            at.heard_ms = now;
        }
        Ok(state.membership())
    }

    fn membership(&self) -> Result<Membership, Error> {
        Ok(self.lock().membership())
    }

    fn acquire(
        &self,
        seen: Lease,
        heartbeat: Option<i64>,
        me: NodeId,
    ) -> Result<Option<Epoch>, Error> {
        let mut state = self.lock();
        let holder = seen.holder.and_then(|run| state.members.get(&run));
        let last = holder.map(|at| at.member.heartbeat);
        if state.lease != seen || last > heartbeat {
            return Ok(None);
        }
        let epoch = Epoch(seen.epoch.0 + 1);
        state.lease = Lease {
            epoch,
            holder: Some(me),
        };
        Ok(Some(epoch))
    }

    fn release(&self, epoch: Epoch) -> Result<(), Error> {
        let mut state = self.lock();
        if state.lease.epoch == epoch {
            state.lease.holder = None;
        }
        Ok(())
    }

    fn leave(&self, id: NodeId) -> Result<(), Error> {
        self.lock().members.remove(&id);
        Ok(())
    }

    fn open(&self, epoch: Epoch) -> Result<Arc<dyn Store>, Error> {
        self.fence(&self.lock(), epoch)?;
        Ok(Arc::new(Held {
            leases: self.clone(),
            epoch,
        }))
    }
}

impl Member {
    /// A member that has not beaten yet, for tests.
    #[must_use]
    pub fn new(id: NodeId, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            address: format!("http://{name}"),
            heartbeat: 0,
            token: Token::default(),
            unanswered: false,
            role: Role::Standby,
            lag_ms: 0,
            config: String::new(),
        }
    }
}

/// The store as a holder writes it.
struct Held {
    leases: MemoryLeases,
    epoch: Epoch,
}

impl Store for Held {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
        let state = self.leases.lock();
        self.leases.fence(&state, self.epoch)?;
        self.leases.store.snapshot()
    }

    fn commit(&self, commit: Commit) -> Result<(), Error> {
        let state = self.leases.lock();
        self.leases.fence(&state, self.epoch)?;
        self.leases.store.commit(commit)
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        let state = self.leases.lock();
        self.leases.fence(&state, self.epoch)?;
        self.leases.store.days()
    }

    fn forget(&self, day: Day) -> Result<(), Error> {
        let state = self.leases.lock();
        self.leases.fence(&state, self.epoch)?;
        self.leases.store.forget(day)
    }
}
