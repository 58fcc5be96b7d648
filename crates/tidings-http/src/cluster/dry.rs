//! The part of other nodes' shards in a dry run: the node with the intake sends them the acts, and adds up what they say.

use axum::body::to_bytes;
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode};
use futures_util::future::join_all;
use tidings_core::engine::{DryAnswers, DryRun, StoredEntry};

use super::{Cluster, Peer, holder_lost};
use crate::error::{Code, NOBODY, Problem, no_holder};
use crate::owners::Owners;

/// The path of the call, before the number of the acts.
pub(crate) const PATH: &str = "/cluster/dry/";

/// The most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Adds to a dry run what the shards of other nodes would do.
///
/// # Errors
/// A [`Problem`] where a shard is not there to say so.
pub(crate) async fn complete(
    run: &mut DryRun,
    owners: &Owners,
    cluster: &Cluster,
) -> Result<(), Problem> {
    let Some(acts) = run.acts() else {
        return Ok(());
    };
    let others = cluster.others(owners);
    if !others.unowned.is_empty() {
        return Err(no_holder(NOBODY));
    }
    let each = others.peers.iter().map(|peer| ask(cluster, peer, acts));
    let parts = join_all(each).await;
    for part in parts {
        run.add(&part?);
    }
    Ok(())
}

async fn ask(cluster: &Cluster, peer: &Peer, acts: &StoredEntry) -> Result<DryAnswers, Problem> {
    let path = PathAndQuery::try_from(format!("{PATH}{}", acts.no));
    let path = path.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    let answer = cluster.call(peer, (Method::POST, path), acts.bytes().to_vec()).await?;
    if answer.status() != StatusCode::OK {
        return Err(holder_lost());
    }
    let bytes = to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await.map_err(|_| holder_lost())?;
    serde_json::from_slice(&bytes)
        .map_err(|fault| Problem::new(Code::Internal, format!("the answer of a node: {fault}")))
}
