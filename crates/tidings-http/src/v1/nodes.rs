//! The nodes that share a store.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::Instant;
use tidings_store::lease::{MemberStatus, Membership, NodeId, Role};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::cluster::SILENT_MS;
use crate::error::Problem;
use crate::{Answer, Service};

/// Time without a heartbeat after which a node is not listed, unless it holds the store.
const GONE_MS: i64 = 60_000;

/// The call of the nodes.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("list_nodes", routes!(list_nodes))
}

/// A node as `GET /v1/nodes` shows it.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct NodeShown {
    /// Its name.
    node: String,
    /// The address at which other nodes reach it.
    address: String,
    /// Numbers of its shards; null = it has all of them.
    parts: Option<Vec<u16>>,
    /// True if it has the intake, which accepts events, and all shards that no other node has.
    intake: bool,
    /// Time since which it has its state.
    #[schema(format = "date-time")]
    since: String,
    /// Milliseconds by which its oldest message was overdue at its last heartbeat; 0 if it has no shards.
    lag_ms: i64,
    /// `holding`, `opening`, `standby`, `draining`, or `silent` after 5 seconds without a heartbeat.
    state: &'static str,
    /// Milliseconds since its last heartbeat, by the clock of the database.
    silent_ms: i64,
    /// Digest of the configuration that it applies when it holds the store: the same on all nodes with the same
    /// configuration and version.
    config: String,
    /// Number of its term; null = it has no shards.
    epoch: Option<i64>,
}

/// The members as they are shown, in the order of their names.
#[must_use]
pub fn shown(membership: &Membership) -> Vec<NodeShown> {
    let lease = membership.lease;
    let holds = |seen: &MemberStatus| lease.holder == Some(seen.member.id);
    let members = membership.members.iter().filter(|seen| seen.silent_ms < GONE_MS || holds(seen));
    let node = |seen: &MemberStatus| {
        let MemberStatus { member, silent_ms, since_ms } = seen;
        NodeShown {
            node: member.name.clone(),
            address: member.address.clone(),
            parts: parts(membership, seen.member.id),
            intake: holds(seen),
            since: Instant(*since_ms).to_string(),
            lag_ms: member.lag_ms,
            state: match (*silent_ms <= SILENT_MS, member.role) {
                (false, _) => "silent",
                (true, Role::Standby) if membership.share_of(member.id).is_some() => {
                    Role::Holding.name()
                }
                (true, role) => role.name(),
            },
            silent_ms: *silent_ms,
            config: member.config.clone(),
            epoch: holds(seen).then_some(lease.epoch.0),
        }
    };
    members.map(node).collect()
}

/// The shards that a node has; `None` = all of them.
fn parts(membership: &Membership, node: NodeId) -> Option<Vec<u16>> {
    let shares = || membership.shares.iter();
    if membership.lease.holder != Some(node) {
        let own = shares().filter(|share| share.node == node);
        return Some(own.flat_map(|share| share.shards.clone()).collect());
    }
    let of = shares().map(|share| share.of).max()?;
    let is_own = |part: &u16| {
        let mut others = shares().filter(|share| share.node != node);
        !others.any(|share| share.shards.contains(part))
    };
    Some((0..of).filter(is_own).collect())
}

/// List the nodes
///
/// Returns the nodes that share the store, as of their last heartbeat, sorted by name; an empty list from a server with
/// a data directory of its own.
#[utoipa::path(
    get, path = "/v1/nodes", tag = "operating",
    responses((status = 200, description = "The nodes", body = Vec<NodeShown>, example = json!([
        {"node": "a", "address": "http://10.0.0.1:8990", "parts": null, "intake": true, "since": "2024-03-07T08:03:00Z", "lag_ms": 0, "state": "holding", "silent_ms": 310, "config": "5f0c1d9a3b7e2468", "epoch": 7},
        {"node": "b", "address": "http://10.0.0.2:8990", "parts": [], "intake": false, "since": "2024-03-07T08:02:00Z", "lag_ms": 0, "state": "standby", "silent_ms": 120, "config": "5f0c1d9a3b7e2468", "epoch": null},
    ])))
)]
async fn list_nodes(State(service): State<Arc<Service>>) -> Result<Answer, Problem> {
    let cluster = service.shards.cluster.as_ref();
    let membership = cluster.and_then(|cluster| cluster.membership());
    let nodes = membership.map_or_else(Vec::new, |membership| shown(&membership));
    Answer::json(StatusCode::OK, &nodes)
}

#[cfg(test)]
mod tests {
    use tidings_store::lease::{Epoch, Lease, Member, Share, TermNo};

    use super::*;

    #[test]
    fn who_holds_the_store_is_told_from_those_who_stand_by_or_are_silent() {
        let seen = |id: i64, role: Role, silent_ms: i64| MemberStatus {
            member: Member { role, lag_ms: id, ..Member::new(NodeId(id), &format!("node-{id}")) },
            silent_ms,
            since_ms: 1_000,
        };
        let mut membership = Membership {
            lease: Lease { epoch: Epoch(7), holder: Some(NodeId(2)) },
            members: vec![
                seen(1, Role::Standby, 100),
                seen(2, Role::Holding, 70_000),
                seen(3, Role::Standby, 70_000),
                seen(4, Role::Draining, 6_000),
            ],
            shares: Vec::new(),
        };
        let nodes = shown(&membership);
        let told: Vec<_> = nodes
            .iter()
            .map(|node| (node.node.as_str(), node.state, node.epoch, node.lag_ms))
            .collect();
        let expected = [
            ("node-1", "standby", None, 1),
            ("node-2", "silent", Some(7), 2),
            ("node-4", "silent", None, 4),
        ];
        assert_eq!(told, expected);
        let parts = |nodes: &[NodeShown]| -> Vec<_> {
            nodes.iter().map(|node| (node.intake, node.parts.clone())).collect()
        };
        let none = || (false, Some(Vec::new()));
        assert_eq!(parts(&nodes), [none(), (true, None), none()]);
        assert_eq!(nodes[0].since, "1970-01-01T00:00:01Z");

        membership.shares.push(Share {
            term: TermNo(1),
            node: NodeId(1),
            shards: vec![3, 4, 5],
            of: 6,
            ends: false,
        });
        let nodes = shown(&membership);
        assert_eq!(nodes[0].state, "holding");
        let expected = [(false, Some(vec![3, 4, 5])), (true, Some(vec![0, 1, 2])), none()];
        assert_eq!(parts(&nodes), expected);
    }
}
