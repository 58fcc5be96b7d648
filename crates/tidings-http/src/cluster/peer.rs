//! Another node, as it is called: it has the lease or a share.

use axum::http::Uri;
use axum::http::uri::{Authority, PathAndQuery, Scheme};
use tidings_store::lease::{Epoch, Member, Membership, NodeId, TermNo};

use crate::owners::Owner;

/// The tenure by which a node has a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeerTenure {
    /// The lease, in this epoch.
    Lease(Epoch),
    /// A share, in this term.
    Share(TermNo),
}

impl PeerTenure {
    /// Returns true if the members know that it is over.
    pub(super) fn is_over(self, membership: &Membership) -> bool {
        match self {
            Self::Lease(epoch) => {
                let lease = membership.lease;
                lease.epoch != epoch || lease.holder.is_none()
            }
            Self::Share(term) => membership.shares.iter().all(|share| share.term != term),
        }
    }
}

/// A node with the lease or a share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    /// The node.
    pub(crate) member: Member,
    pub(super) tenure: PeerTenure,
}

impl Peer {
    /// The node that has the lease.
    pub(super) fn holder(membership: &Membership) -> Option<Self> {
        Some(Self {
            member: membership.holder()?.member.clone(),
            tenure: PeerTenure::Lease(membership.lease.epoch),
        })
    }

    /// The node that has a home: what is in no share is with the lease.
    pub(crate) fn of(membership: &Membership, home: Owner) -> Option<Self> {
        let Owner::Shard(shard) = home else {
            return Self::holder(membership);
        };
        let mut shares = membership.shares.iter();
        match shares.find(|share| share.shards.contains(&shard)) {
            None => Self::holder(membership),
            Some(share) => Some(Self {
                member: membership.member(share.node)?.clone(),
                tenure: PeerTenure::Share(share.term),
            }),
        }
    }

    /// The number of the node.
    pub(crate) fn id(&self) -> NodeId {
        self.member.id
    }

    /// The address of a call of the node; `None` if its own is invalid.
    pub(super) fn uri(&self, path: PathAndQuery) -> Option<Uri> {
        let address = self.member.address.strip_prefix("http://")?;
        let authority: Authority = address.parse().ok()?;
        let mut parts = axum::http::uri::Parts::default();
        parts.scheme = Some(Scheme::HTTP);
        parts.authority = Some(authority);
        parts.path_and_query = Some(path);
        Uri::from_parts(parts).ok()
    }
}

#[cfg(test)]
impl Peer {
    /// A node with some share.
    pub(crate) fn fake(member: Member) -> Self {
        let tenure = PeerTenure::Share(TermNo(1));
        Self { member, tenure }
    }
}
