//! Leases: who of several nodes writes the store that they share.
//!
//! The database alone decides. Each node sends heartbeats, which tell the others that it lives, and are answered
//! with all members. A lease changes hands by [`Leases::acquire`], which names what was seen: of several that try,
//! one succeeds, and the [`Epoch`] that it gets fences every commit of the holder before. When a node *should*
//! acquire a lease is decided elsewhere (`tidings_node::election`); nothing here reads a clock.

use std::fmt;
use std::sync::Arc;

use crate::{Error, Store};

pub mod conformance;
mod memory;

pub use memory::MemoryLeases;

/// The number of a holder's term: every acquisition raises it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(pub i64);

/// The number of a node, drawn at random when its process starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub i64);

/// The role of a node towards the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It would take over.
    Standby,
    /// It has the lease and opens the store.
    Opening,
    /// It has the lease and serves.
    Holding,
    /// It is about to leave, and acquires nothing.
    Draining,
}

impl Role {
    /// The roles with their names.
    const NAMES: [(Self, &'static str); 4] = [
        (Self::Standby, "standby"),
        (Self::Opening, "opening"),
        (Self::Holding, "holding"),
        (Self::Draining, "draining"),
    ];

    /// The name of the role.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = Self::NAMES.iter().find(|(role, _)| *role == self);
        named.map_or("", |(_, name)| name)
    }

    /// The role of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let named = Self::NAMES.iter().find(|(_, named)| *named == name);
        named.map(|(role, _)| *role)
    }
}

/// A secret that lets in whoever can read the database.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Token(pub String);

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(…)")
    }
}

/// A node, as it describes itself with a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The node.
    pub id: NodeId,
    /// The name that operators gave it.
    pub name: String,
    /// The address at which others reach it.
    pub address: String,
    /// The token with which commands may call it.
    pub token: Token,
    /// The number of this heartbeat. An older one that arrives late changes nothing.
    pub heartbeat: i64,
    /// True if its heartbeats arrive, but no answer has reached it for long: it won't act as the holder again
    /// before it has heard that it still is, and has said so with a further heartbeat.
    pub unanswered: bool,
    /// Role of the node.
    pub role: Role,
    /// Milliseconds that its work is behind, if it holds the store.
    pub lag_ms: i64,
    /// The digest of the configuration that it puts in force when it holds the store.
    pub config: String,
}

/// A member as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberStatus {
    /// Its last heartbeat.
    pub member: Member,
    /// Milliseconds since then, by the clock of the database.
    pub silent_ms: i64,
    /// The instant since which it has had its role, in Unix milliseconds by the clock of the database.
    pub since_ms: i64,
}

/// The lease of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The epoch of the newest holder.
    pub epoch: Epoch,
    /// The holder; `None` if it was released.
    pub holder: Option<NodeId>,
}

/// The answer to a heartbeat: all that nodes can know of each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The lease.
    pub lease: Lease,
    /// The members, in the order of their names.
    pub members: Vec<MemberStatus>,
}

impl Membership {
    /// The member with an id.
    #[must_use]
    pub fn member(&self, id: NodeId) -> Option<&Member> {
        let seen = self.members.iter().find(|seen| seen.member.id == id);
        seen.map(|seen| &seen.member)
    }

    /// The member that has the lease.
    #[must_use]
    pub fn holder(&self) -> Option<&MemberStatus> {
        let holder = self.lease.holder?;
        self.members.iter().find(|seen| seen.member.id == holder)
    }
}

/// The store of what nodes share: the list of members, and the lease.
///
/// Calls may be lost, late, doubled and in another order on their way; each is done whole or not at all, and one
/// after the other.
pub trait Leases: Send + Sync {
    /// Tells that this node lives, and returns the members after that was written.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: it may or may not have arrived.
    fn heartbeat(&self, me: &Member) -> Result<Membership, Error>;

    /// Returns the members, without being one of them.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    fn membership(&self) -> Result<Membership, Error>;

    /// Acquires the lease with the next epoch, if it is still as it was seen: the same epoch and holder, and no
    /// further heartbeat of that holder than `heartbeat`. `None` if it is not; nothing was changed then.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: it may or may not have happened.
    fn acquire(
        &self,
        seen: Lease,
        heartbeat: Option<i64>,
        me: NodeId,
    ) -> Result<Option<Epoch>, Error>;

    /// Releases the lease of an epoch, so that others need not wait. An old epoch changes nothing.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: it may or may not have happened.
    fn release(&self, epoch: Epoch) -> Result<(), Error>;

    /// Removes a node from the list of members.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: it may or may not have happened.
    fn leave(&self, id: NodeId) -> Result<(), Error>;

    /// Opens the store as the holder of an epoch. Once somebody else acquires the lease it is [`Error::Fenced`].
    ///
    /// # Errors
    /// [`Error::Fenced`] if somebody else has it already, or the engine's.
    fn open(&self, epoch: Epoch) -> Result<Arc<dyn Store>, Error>;
}
