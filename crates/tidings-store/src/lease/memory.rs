//! The leases of simulation and tests, in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    Epoch, Fence, Lease, Leases, Member, MemberStatus, Membership, NodeId, NodeToken, Role, Share,
    TermNo,
};
use crate::{Commit, Error, MemoryStore, Snapshot, Store};
use tidings_core::Day;

/// Leases in memory. Clones share them.
#[derive(Clone)]
pub struct MemoryLeases {
    state: Arc<Mutex<LeaseTables>>,
    store: MemoryStore,
    /// True if commits of an old epoch, or of a share that is over, are refused, as they have to be.
    fences: bool,
}

/// The rows of a lease database, with its clock.
struct LeaseTables {
    now_ms: i64,
    lease: Lease,
    members: BTreeMap<NodeId, MemberRecord>,
    shares: BTreeMap<TermNo, GrantedShare>,
    last_term: TermNo,
}

/// A share, and how often it was opened.
struct GrantedShare {
    share: Share,
    opened: u64,
}

/// A member with the instants of its last heartbeat and of its last change of role.
struct MemberRecord {
    member: Member,
    heartbeat_ms: i64,
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
        let lease = Lease { epoch: Epoch(0), holder: None };
        Self {
            state: Arc::new(Mutex::new(LeaseTables {
                now_ms: 0,
                lease,
                members: BTreeMap::new(),
                shares: BTreeMap::new(),
                last_term: TermNo::default(),
            })),
            store: MemoryStore::new(),
            fences: true,
        }
    }

    /// The same with unchecked commits: a test shows with it that the fence is needed.
    #[must_use]
    pub fn without_fence(self) -> Self {
        Self { fences: false, ..self }
    }

    /// Sets its clock.
    pub fn set_now(&self, now_ms: i64) {
        self.lock().now_ms = now_ms;
    }

    fn lock(&self) -> MutexGuard<'_, LeaseTables> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, state: &LeaseTables, fence: Fence, opening: u64) -> Result<(), Error> {
        let holds = match fence {
            Fence::Lease(epoch) => state.lease.epoch == epoch,
            Fence::Share(term) => {
                let granted = state.shares.get(&term);
                granted.is_some_and(|granted| granted.opened == opening)
            }
        };
        if holds || !self.fences { Ok(()) } else { Err(Error::Fenced) }
    }

    fn held(&self, fence: Fence, opening: u64) -> Arc<dyn Store> {
        Arc::new(LeasedStore { leases: self.clone(), fence, opening })
    }
}

impl LeaseTables {
    fn membership(&self) -> Membership {
        let seen = |record: &MemberRecord| MemberStatus {
            member: record.member.clone(),
            silent_ms: self.now_ms - record.heartbeat_ms,
            since_ms: record.since_ms,
        };
        let mut members: Vec<MemberStatus> = self.members.values().map(seen).collect();
        members.sort_by(|a, b| (&a.member.name, a.member.id).cmp(&(&b.member.name, b.member.id)));
        Membership {
            lease: self.lease,
            members,
            shares: self.shares.values().map(|at| at.share.clone()).collect(),
        }
    }

    /// The newest heartbeat of a node; `None` if it is not listed.
    fn heartbeat(&self, node: NodeId) -> Option<i64> {
        self.members.get(&node).map(|at| at.member.heartbeat)
    }
}

impl Leases for MemoryLeases {
    fn heartbeat(&self, me: &Member) -> Result<Membership, Error> {
        let mut state = self.lock();
        let now = state.now_ms;
        let at = state.members.entry(me.id).or_insert_with(|| MemberRecord {
            member: Member { heartbeat: me.heartbeat - 1, ..me.clone() },
            heartbeat_ms: now,
            since_ms: now,
        });
        if at.member.heartbeat < me.heartbeat {
            if at.member.role != me.role {
                at.since_ms = now;
            }
            at.member = me.clone();
            at.heartbeat_ms = now;
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
        let last = seen.holder.and_then(|holder| state.heartbeat(holder));
        if state.lease != seen || last > heartbeat {
            return Ok(None);
        }
        let epoch = Epoch(seen.epoch.0 + 1);
        state.lease = Lease { epoch, holder: Some(me) };
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
        let fence = Fence::Lease(epoch);
        self.check(&self.lock(), fence, 0)?;
        Ok(self.held(fence, 0))
    }

    fn grant(
        &self,
        epoch: Epoch,
        node: NodeId,
        shards: &[u16],
        of: u16,
    ) -> Result<Option<TermNo>, Error> {
        let mut state = self.lock();
        let mut granted = state.shares.values().flat_map(|at| &at.share.shards);
        if state.lease.epoch != epoch || granted.any(|shard| shards.contains(shard)) {
            return Ok(None);
        }
        let term = TermNo(state.last_term.0 + 1);
        state.last_term = term;
        let share = Share { term, node, shards: shards.to_vec(), of, ends: false };
        state.shares.insert(term, GrantedShare { share, opened: 0 });
        Ok(Some(term))
    }

    fn recall(&self, epoch: Epoch, term: TermNo) -> Result<(), Error> {
        let mut state = self.lock();
        if state.lease.epoch == epoch
            && let Some(at) = state.shares.get_mut(&term)
        {
            at.share.ends = true;
        }
        Ok(())
    }

    fn revoke(&self, epoch: Epoch, term: TermNo, heartbeat: Option<i64>) -> Result<bool, Error> {
        let mut state = self.lock();
        let Some(at) = state.shares.get(&term) else {
            return Ok(true);
        };
        if state.lease.epoch != epoch || state.heartbeat(at.share.node) > heartbeat {
            return Ok(false);
        }
        state.shares.remove(&term);
        Ok(true)
    }

    fn give_back(&self, term: TermNo) -> Result<(), Error> {
        self.lock().shares.remove(&term);
        Ok(())
    }

    fn open_share(&self, term: TermNo) -> Result<Arc<dyn Store>, Error> {
        let fence = Fence::Share(term);
        let mut state = self.lock();
        let opening = state.shares.get_mut(&term).map_or(0, |at| {
            at.opened += 1;
            at.opened
        });
        self.check(&state, fence, opening)?;
        Ok(self.held(fence, opening))
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
            token: NodeToken::default(),
            unanswered: false,
            role: Role::Standby,
            lag_ms: 0,
            config: String::new(),
        }
    }
}

/// The store as the holder of the lease or the node of a share writes it.
struct LeasedStore {
    leases: MemoryLeases,
    fence: Fence,
    /// The number of this opening of a share: a later one ends it.
    opening: u64,
}

impl LeasedStore {
    /// Locks the state if this writer still has its lease or share.
    fn lock(&self) -> Result<MutexGuard<'_, LeaseTables>, Error> {
        let state = self.leases.lock();
        self.leases.check(&state, self.fence, self.opening)?;
        Ok(state)
    }
}

impl Store for LeasedStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
        let _state = self.lock()?;
        self.leases.store.snapshot()
    }

    fn commit(&self, commit: Commit) -> Result<(), Error> {
        let _state = self.lock()?;
        self.leases.store.commit(commit)
    }

    fn days(&self) -> Result<Vec<Day>, Error> {
        let _state = self.lock()?;
        self.leases.store.days()
    }

    fn forget(&self, day: Day) -> Result<(), Error> {
        let _state = self.lock()?;
        self.leases.store.forget(day)
    }
}
