//! Leases: which of several nodes write the store that they share.
//!
//! The database alone decides. Each node sends heartbeats, which tell the others that it lives, and are answered
//! with all members. A lease changes hands by [`Leases::acquire`], which names what was seen: of several that try,
//! one succeeds, and the [`Epoch`] that it gets fences every commit of the holder before. When a node *should*
//! acquire a lease is decided elsewhere (`tidings_node::election`); nothing here reads a clock.
//!
//! The holder of the lease grants *shares*: shards of the store which another node writes beside it, in a term whose
//! number is given once and never again. A share never changes: to change it, it ends and another is granted. It
//! stays when the lease changes hands. The holder and the node of each share commit on their own, each fenced by its
//! own row; all rows are in the same partitions, and which keys a node writes is not the store's business.

use std::fmt;
use std::sync::Arc;

use crate::{Error, Store};

pub mod conformance;
mod memory;

pub use memory::MemoryLeases;

/// The number of a holder's term: every acquisition raises it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(pub i64);

/// The number of a term in which a node writes a share: it is given once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TermNo(pub i64);

/// The tenure of a writer, which fences its commits and ends its reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// The epoch of the holder of the lease.
    Lease(Epoch),
    /// The term of a share.
    Share(TermNo),
}

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

/// A secret that lets in all readers of the database.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct NodeToken(pub String);

impl fmt::Debug for NodeToken {
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
    pub token: NodeToken,
    /// The number of this heartbeat. An older one that arrives late changes nothing.
    pub heartbeat: i64,
    /// True if its heartbeats arrive, but no answer has reached it for long: it won't act as the holder again until a
    /// heartbeat of its own is confirmed.
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

/// Shards of the store which one node writes beside the holder of the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of its term.
    pub term: TermNo,
    /// The node that writes them.
    pub node: NodeId,
    /// The shards, as they were granted.
    pub shards: Vec<u16>,
    /// The number of shards that the store has.
    pub of: u16,
    /// True if its node is asked to give it back.
    pub ends: bool,
}

/// The answer to a heartbeat: all that nodes can know of each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The lease.
    pub lease: Lease,
    /// The members, in the order of their names.
    pub members: Vec<MemberStatus>,
    /// The shares, in the order of their terms.
    pub shares: Vec<Share>,
}

impl Membership {
    /// The member with an id.
    #[must_use]
    pub fn member(&self, id: NodeId) -> Option<&Member> {
        let seen = self.members.iter().find(|seen| seen.member.id == id);
        seen.map(|seen| &seen.member)
    }

    /// The share of a node: the newest, if it has several.
    #[must_use]
    pub fn share_of(&self, node: NodeId) -> Option<&Share> {
        self.shares.iter().rev().find(|share| share.node == node)
    }

    /// The member that has the lease.
    #[must_use]
    pub fn holder(&self) -> Option<&MemberStatus> {
        let holder = self.lease.holder?;
        self.members.iter().find(|seen| seen.member.id == holder)
    }
}

/// The store of what nodes share: the list of members, the lease, and the shares.
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
    /// further heartbeat of that holder than `heartbeat`. `None` if it is not; nothing was changed then. Shares stay.
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

    /// Opens the store as the holder of an epoch. Once another node acquires the lease it is [`Error::Fenced`]. The
    /// rows of the nodes with shares are read as by [`Leases::open_share`].
    ///
    /// # Errors
    /// [`Error::Fenced`] if another node has it already, or the engine's.
    fn open(&self, epoch: Epoch) -> Result<Arc<dyn Store>, Error>;

    /// Grants shards to a node, as the holder of an epoch. `None` if the epoch is over, or if one of the shards is in a
    /// share already; nothing was changed then. The holder grants with the same leases with which it opened its
    /// store, which learns from it that others write beside it.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: it may or may not have happened.
    fn grant(
        &self,
        epoch: Epoch,
        node: NodeId,
        shards: &[u16],
        of: u16,
    ) -> Result<Option<TermNo>, Error>;

    /// Asks the node of a share to give it back: it shows as [`Share::ends`]. An old epoch changes nothing.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: it may or may not have happened.
    fn recall(&self, epoch: Epoch, term: TermNo) -> Result<(), Error>;

    /// Ends a share whose node has sent no further heartbeat than `heartbeat`: its commits are fenced from then on. An
    /// old epoch changes nothing. True if the share is over now, also by another cause.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: it may or may not have happened.
    fn revoke(&self, epoch: Epoch, term: TermNo, heartbeat: Option<i64>) -> Result<bool, Error>;

    /// Ends a share after its node's last commit. One that is over is not an error.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: it may or may not have happened.
    fn give_back(&self, term: TermNo) -> Result<(), Error>;

    /// Opens the store as the node of a share. Once the share is over it is [`Error::Fenced`], and so is a store that
    /// was opened for the same share before.
    ///
    /// Its snapshots keep what this store has replaced since. Rows that other writers replace, and days that they
    /// begin or forget, are read as they are when they are read.
    ///
    /// # Errors
    /// [`Error::Fenced`] if the share is over, or the engine's.
    fn open_share(&self, term: TermNo) -> Result<Arc<dyn Store>, Error>;
}
