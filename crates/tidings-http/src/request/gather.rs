//! Answers that concern all shards of the store, where some are at other nodes: the holder of the lease asks these for
//! theirs, with the same call and a header, and adds them to its own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use futures_util::future::join_all;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::cluster::{Cluster, OtherNodes, Peer, SHARDS};
use crate::error::Problem;
use crate::service::Service;

/// The time that another node has for its answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most bytes of its answer.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The other nodes whose shards a call asks about; none where it asks about those of this node, or that has all.
pub(crate) struct OtherShards(Option<Asking>);

struct Asking {
    cluster: Arc<Cluster>,
    others: OtherNodes,
    method: Method,
    path: PathAndQuery,
}

/// The answers of other nodes.
#[derive(Debug, Default)]
pub(crate) struct Gathered<T> {
    /// The answers of nodes that know the subject of the call.
    pub(crate) found: Vec<T>,
    /// The nodes that did not answer, and the shards that no node has.
    pub(crate) missing: Vec<String>,
}

impl FromRequestParts<Arc<Service>> for OtherShards {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        let Some((owners, cluster)) = service.shards.cluster_view() else {
            return Ok(Self(None));
        };
        if parts.headers.contains_key(&SHARDS) {
            return Ok(Self(None));
        }
        let path = parts.uri.path_and_query().cloned();
        Ok(Self(Some(Asking {
            cluster: Arc::clone(cluster),
            others: cluster.others(owners),
            method: parts.method.clone(),
            path: path.unwrap_or_else(|| PathAndQuery::from_static("/")),
        })))
    }
}

impl OtherShards {
    /// Returns true if this node answers alone.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Asks all of them at once, and reads their answers.
    pub(crate) async fn gather<T: DeserializeOwned>(&self) -> Gathered<T> {
        self.gather_by(Vec::new()).await
    }

    /// The same for a call with a body, as it came.
    pub(crate) async fn gather_by<T: DeserializeOwned>(&self, body: Vec<u8>) -> Gathered<T> {
        self.gather_within(PATIENCE, body).await
    }

    /// The same, with another time for the answers.
    pub(crate) async fn gather_within<T: DeserializeOwned>(
        &self,
        patience: Duration,
        body: Vec<u8>,
    ) -> Gathered<T> {
        let Some(asking) = &self.0 else {
            return Gathered { found: Vec::new(), missing: Vec::new() };
        };
        let mut gathered = Gathered { found: Vec::new(), missing: asking.unowned() };
        let each = asking.others.peers.iter().map(|peer| asking.read(peer, &body, patience));
        for (peer, answer) in asking.others.peers.iter().zip(join_all(each).await) {
            match answer {
                Ok(answer) => gathered.found.extend(answer),
                Err(()) => gathered.missing.push(peer.member.name.clone()),
            }
        }
        gathered
    }

    /// No answers: all of them are missing.
    pub(crate) fn without_asking<T>(&self) -> Gathered<T> {
        let missing = self.0.as_ref().map_or_else(Vec::new, |asking| {
            let names = asking.others.peers.iter().map(|peer| peer.member.name.clone());
            asking.unowned().into_iter().chain(names).collect()
        });
        Gathered { found: Vec::new(), missing }
    }

    /// The answers as they come, to be read by the caller.
    pub(crate) async fn streams(&self) -> Gathered<Response> {
        match &self.0 {
            Some(asking) => asking.streams(&(asking.method.clone(), asking.path.clone())).await,
            None => Gathered { found: Vec::new(), missing: Vec::new() },
        }
    }

    /// The answers of the others to another call that reads something, as they come.
    pub(crate) async fn streams_of(&self, path: PathAndQuery) -> Gathered<Response> {
        match &self.0 {
            Some(asking) => asking.streams(&(Method::GET, path)).await,
            None => Gathered { found: Vec::new(), missing: Vec::new() },
        }
    }
}

impl Asking {
    async fn streams(&self, call: &(Method, PathAndQuery)) -> Gathered<Response> {
        let asking = self;
        let mut gathered = Gathered { found: Vec::new(), missing: asking.unowned() };
        let peers = asking.others.peers.iter();
        let each = peers
            .map(|peer| timeout(PATIENCE, asking.cluster.call(peer, call.clone(), Vec::new())));
        for (peer, answer) in asking.others.peers.iter().zip(join_all(each).await) {
            match answer {
                Ok(Ok(answer)) if answer.status() == StatusCode::OK => gathered.found.push(answer),
                _ => gathered.missing.push(peer.member.name.clone()),
            }
        }
        gathered
    }

    /// The shards that no node has, in words.
    fn unowned(&self) -> Vec<String> {
        self.others.unowned.iter().map(|shard| format!("shard {shard}")).collect()
    }

    async fn call(&self, peer: &Peer, body: &[u8]) -> Result<Response, Problem> {
        let call = (self.method.clone(), self.path.clone());
        self.cluster.call(peer, call, body.to_vec()).await
    }

    /// The answer of a node; `None` if it does not know the subject of the call.
    async fn read<T: DeserializeOwned>(
        &self,
        peer: &Peer,
        body: &[u8],
        patience: Duration,
    ) -> Result<Option<T>, ()> {
        let read = async {
            let answer = self.call(peer, body).await.map_err(drop)?;
            match answer.status() {
                StatusCode::OK => {}
                StatusCode::NOT_FOUND => return Ok(None),
                _ => return Err(()),
            }
            let bytes = to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await;
            let read = serde_json::from_slice(&bytes.map_err(drop)?);
            read.map(Some).map_err(|fault| {
                tracing::warn!(node = peer.member.name, error = %fault, "the answer of a node is odd");
            })
        };
        timeout(patience, read).await.unwrap_or(Err(()))
    }
}

impl<T> Gathered<T> {
    /// The nodes that are missing, as answers have them: absent if there are none.
    pub(crate) fn missing(&mut self) -> Option<Vec<String>> {
        let missing = std::mem::take(&mut self.missing);
        (!missing.is_empty()).then_some(missing)
    }
}

/// Adds the counts of one answer to those of another.
pub(crate) fn add<K: Ord>(sum: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    for (key, count) in more {
        *sum.entry(key).or_default() += count;
    }
}

/// The earlier of two instants of answers, each of which may be null.
pub(crate) fn earlier(a: Option<String>, b: Option<String>) -> Option<String> {
    match (a, b) {
        // They are all written in one form, in UTC.
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
