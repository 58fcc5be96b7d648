//! The call with which a follower reports to the node with the intake and waits for log entries: its two ends.
//!
//! It is between nodes of one version, so the document of the API does not have it. The answer is empty: the entries are
//! in the store.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode};
use axum::routing::post;
use crossbeam_channel::bounded;
use tidings_node::{FollowerReport, LeaderLink};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::cluster::Cluster;
use crate::error::{Code, Problem};
use crate::owners::Owner;
use crate::service::Service;

/// The path of the call.
const PATH: &str = "/cluster/acts";

/// The largest report that is read, in bytes.
const REPORT_BYTES_MAX: usize = 64 << 20;

/// The time for which a call waits for entries.
const WAIT: Duration = Duration::from_millis(500);

/// Time limit of a call.
const PATIENCE: Duration = Duration::from_secs(3);

/// The call, beside those of the API.
pub(crate) fn routes() -> Router<Arc<Service>> {
    let limit = DefaultBodyLimit::max(REPORT_BYTES_MAX);
    Router::new().route(PATH, post(acts).layer(limit))
}

async fn acts(State(service): State<Arc<Service>>, body: Bytes) -> Result<StatusCode, Problem> {
    let report: FollowerReport = serde_json::from_slice(&body)
        .map_err(|fault| Problem::new(Code::InvalidJson, fault.to_string()))?;
    if service.shards.cluster_view().is_some_and(|(owners, _)| !owners.intake) {
        return Err(Problem::new(Code::NoHolder, "this node does not accept events any more"));
    }
    let ended = || Problem::new(Code::NoHolder, "the node sent another report, or has ended");
    let ((acknowledge, acknowledged), (give, given)) = (oneshot::channel(), oneshot::channel());
    service.handle.report(
        report,
        move || acknowledge.send(()).unwrap_or_default(),
        move |_| give.send(()).unwrap_or_default(),
    )?;
    // Waits for the commit: any answer acknowledges the report.
    acknowledged.await.map_err(|_| ended())?;
    if let Ok(given) = timeout(WAIT, given).await {
        given.map_err(|_| ended())?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// The way to the node with the intake, as the nodes know it.
pub struct HttpLeaderLink {
    cluster: Arc<Cluster>,
    tokio: Handle,
}

impl HttpLeaderLink {
    /// Creates a link that follows the intake from node to node.
    pub fn new(cluster: Arc<Cluster>, tokio: Handle) -> Self {
        Self { cluster, tokio }
    }
}

impl LeaderLink for HttpLeaderLink {
    fn exchange(&mut self, report: &FollowerReport) -> Result<(), String> {
        let report = serde_json::to_vec(report).map_err(|fault| fault.to_string())?;
        let (give, given) = bounded(1);
        let cluster = Arc::clone(&self.cluster);
        let asking = self.tokio.spawn(async move {
            let _ = give.send(ask(&cluster, report).await);
        });
        // A runtime that ends drops what it was asked.
        let answer = given.recv_timeout(PATIENCE);
        asking.abort();
        answer.map_err(|_| format!("no answer within {} s", PATIENCE.as_secs()))?
    }
}

async fn ask(cluster: &Cluster, report: Vec<u8>) -> Result<(), String> {
    let holder = cluster.peer(Owner::Intake).ok_or("no node is known to have the intake")?;
    let path = PathAndQuery::from_static(PATH);
    let answer = cluster.call(&holder, (Method::POST, path), report).await;
    let answer = answer.map_err(|problem| problem.detail.into_owned())?;
    let status = answer.status();
    if status == StatusCode::NO_CONTENT {
        return Ok(());
    }
    Err(format!("the answer is {status}"))
}
