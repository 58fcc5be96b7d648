//! Inputs and orders of the election.

use tidings_store::lease::{Epoch, Lease, Member, Membership, NodeId, TermNo};

use super::tenure::{Opening, Tenure};
use crate::clock::monotonic::Monotonic;

/// Something to which the election reacts: time, an answer of the database, or the end of a store or node.
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
    /// The store was opened, with its number of shards; `None` if it could not be opened.
    Opened(Tenure, Option<u16>),
    /// The node over the store has ended by itself.
    Ended(Tenure),
    /// The store is closed, as requested.
    Closed(Tenure),
    /// The database has recorded that a share is given back.
    GivenBack(TermNo),
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
    /// Open the store.
    Open(Opening),
    /// Close the store: stop deciding and sending. What is on its way may end if `drains`.
    Close {
        /// The tenure that it was opened for.
        tenure: Tenure,
        /// True if no other node has it yet.
        drains: bool,
    },
    /// Release the lease of an epoch.
    Release(Epoch),
    /// Give a share back.
    GiveBack(TermNo),
    /// Grant shards to a node.
    Grant {
        /// The epoch of this node.
        epoch: Epoch,
        /// The node that gets them.
        node: NodeId,
        /// The numbers of the shards.
        shards: Vec<u16>,
        /// The number of shards that the store has.
        of: u16,
    },
    /// Ask the node of a share to give it back.
    Recall {
        /// The epoch of this node.
        epoch: Epoch,
        /// The share.
        term: TermNo,
    },
    /// End a share whose node is silent.
    Revoke {
        /// The epoch of this node.
        epoch: Epoch,
        /// The share.
        term: TermNo,
        /// The last heartbeat of its node.
        heartbeat: Option<i64>,
    },
    /// Leave the list of members; nothing follows.
    Leave,
}
