//! Several nodes over one store: the one that holds it serves, the others forward calls to it.
//!
//! A call is forwarded once. Where nobody is known to hold the store, or the holder is lost while it has the call,
//! the answer is 503 with `Retry-After`.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{self, HeaderName};
use axum::http::uri::{Authority, PathAndQuery, Scheme};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tidings_node::MaySend;
use tidings_store::lease::{Epoch, Member, MemberStatus, Membership, NodeId};
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::error::{Code, Problem};
use super::exposition::{self, Page, seconds};

/// The answer of `/healthz`: the process is alive, whether it holds the store or not.
pub(super) const ALIVE: &str = "ok\n";

/// The time without a heartbeat after which a node counts as silent.
pub(super) const SILENT_MS: i64 = 5_000;

/// The header of a call that another node has forwarded.
const FORWARDED: HeaderName = HeaderName::from_static("tidings-forwarded");

/// Time limit of a connection to another node.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);

/// The headers that concern one connection.
const OF_CONNECTION: [HeaderName; 8] = [
    header::CONNECTION,
    header::EXPECT,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The node as its listener sees it: the API while it holds the store, the way to the holder while it does not.
pub struct Cluster {
    me: NodeId,
    members: watch::Sender<Option<Arc<Membership>>>,
    serving: RwLock<Option<Serving>>,
    client: Client<HttpConnector, Body>,
}

/// The API over the store that this node holds.
#[derive(Clone)]
struct Serving {
    api: Router,
    licence: MaySend,
}

impl Cluster {
    /// A node that knows nobody yet.
    #[must_use]
    pub fn new(me: NodeId) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_PATIENCE));
        connector.set_nodelay(true);
        Self {
            me,
            members: watch::Sender::new(None),
            serving: RwLock::new(None),
            client: Client::builder(TokioExecutor::new()).build(connector),
        }
    }

    /// Sets the members, as of the last heartbeat.
    pub fn hear(&self, membership: &Membership) {
        self.members
            .send_replace(Some(Arc::new(membership.clone())));
    }

    /// The members, as of the last heartbeat.
    #[must_use]
    pub fn membership(&self) -> Option<Arc<Membership>> {
        self.members.borrow().clone()
    }

    /// Serves the API here from now on, while the licence says so.
    pub fn serve(&self, api: Router, licence: MaySend) {
        self.set(Some(Serving { api, licence }));
    }

    /// Serves nothing here any more.
    pub fn stop_serving(&self) {
        self.set(None);
    }

    fn set(&self, serving: Option<Serving>) {
        *self.serving.write().unwrap_or_else(PoisonError::into_inner) = serving;
    }

    fn serving(&self) -> Option<Serving> {
        let serving = self.serving.read().unwrap_or_else(PoisonError::into_inner);
        serving.clone()
    }

    /// Tells whether this node serves, and may.
    pub(super) fn holds(&self) -> bool {
        self.serving().is_some_and(|serving| (serving.licence)())
    }

    /// The metrics that this node has whether it holds the store or not.
    pub(super) fn metrics(&self) -> String {
        let mut page = Page::default();
        page.gauge(
            "tidings_node_holds",
            "1 if this node holds the store and may serve, else 0. Alert if the sum over all nodes is not 1.",
            u8::from(self.holds()),
        );
        let Some(membership) = self.membership() else {
            return page.0;
        };
        page.gauge(
            "tidings_lease_epoch",
            "Number of times that a node has acquired the store.",
            membership.lease.epoch.0,
        );
        page.gauge(
            "tidings_nodes",
            "Number of nodes with a heartbeat, as this one sees them.",
            living(&membership),
        );
        if let Some(holder) = membership.holder() {
            page.gauge(
                "tidings_nodes_of_other_config",
                "Number of nodes that would put another configuration in force than the one that holds the store has.",
                of_other_config(&membership, &holder.member.config).count(),
            );
            page.gauge(
                "tidings_holder_silent_seconds",
                "Time since the last heartbeat of the node that holds the store, as this one sees it.",
                seconds(holder.silent_ms),
            );
        }
        page.0
    }

    /// The names of the nodes whose configuration has another digest.
    #[must_use]
    pub fn of_other_config(&self, digest: &str) -> Vec<String> {
        let Some(membership) = self.membership() else {
            return Vec::new();
        };
        let others = of_other_config(&membership, digest);
        others.map(|member| member.name.clone()).collect()
    }

    /// Another node that has the lease.
    fn holder(&self) -> Option<(Epoch, Member)> {
        let membership = self.membership()?;
        let holder = membership.holder()?;
        let is_other = holder.member.id != self.me;
        is_other.then(|| (membership.lease.epoch, holder.member.clone()))
    }

    /// Answers a call, here or at the holder.
    async fn answer(&self, request: Request) -> Response {
        let path = request.uri().path();
        if path == "/healthz" {
            return ALIVE.into_response();
        }
        if let Some(serving) = self.serving() {
            return serving.answer(request).await;
        }
        let Some((epoch, holder)) = self.holder() else {
            return no_holder("no node is known to hold the store");
        };
        if path == "/readyz" {
            return "ready\n".into_response();
        }
        if request.headers().contains_key(&FORWARDED) {
            return no_holder("this node does not hold the store any more");
        }
        let is_metrics = path == "/metrics";
        let answer = self.forward(request, epoch, &holder, is_metrics).await;
        if is_metrics && answer.status() == StatusCode::OK {
            // The holder has let the caller in: it alone knows the keys.
            return exposition::answer(self.metrics());
        }
        answer
    }

    async fn forward(
        &self,
        request: Request,
        epoch: Epoch,
        holder: &Member,
        is_metrics: bool,
    ) -> Response {
        let path = if is_metrics {
            Some(PathAndQuery::from_static("/v1/nodes"))
        } else {
            request.uri().path_and_query().cloned()
        };
        let Some(uri) = uri(&holder.address, path) else {
            return no_holder("the address of the node that holds the store is invalid");
        };
        let (mut head, body) = request.into_parts();
        head.uri = uri;
        for name in &OF_CONNECTION {
            head.headers.remove(name);
        }
        head.headers
            .insert(FORWARDED, HeaderValue::from_static("1"));
        let mut members = self.members.subscribe();
        let lost = members.wait_for(|members| {
            let lease = members.as_ref().map(|members| members.lease);
            lease.is_none_or(|lease| lease.epoch != epoch || lease.holder.is_none())
        });
        let answer = tokio::select! {
            answer = self.client.request(Request::from_parts(head, body)) => answer,
            _ = lost => return holder_lost(),
        };
        match answer {
            Ok(answer) => {
                let (mut head, body) = answer.into_parts();
                for name in &OF_CONNECTION {
                    head.headers.remove(name);
                }
                Response::from_parts(head, Body::new(body))
            }
            Err(fault) if fault.is_connect() => {
                no_holder("the node that holds the store can't be reached")
            }
            Err(_) => holder_lost(),
        }
    }
}

impl Serving {
    /// Answers a call. Without a licence another node may have changed what is read here.
    async fn answer(self, request: Request) -> Response {
        let is_metrics = request.uri().path() == "/metrics";
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        let may_answer = || is_metrics || (self.licence)();
        let silence = "this node has lost contact with the database";
        if !may_answer() {
            return no_holder(silence);
        }
        let response = match self.api.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        match (may_answer(), reads) {
            (true, _) => response,
            (false, true) => no_holder(silence),
            (false, false) => holder_lost(),
        }
    }
}

/// Number of members that are not silent.
fn living(membership: &Membership) -> usize {
    let living = |seen: &&MemberStatus| seen.silent_ms <= SILENT_MS;
    membership.members.iter().filter(living).count()
}

/// The members that are not silent and have a configuration of another digest.
fn of_other_config<'m>(
    membership: &'m Membership,
    digest: &'m str,
) -> impl Iterator<Item = &'m Member> {
    let living = membership.members.iter();
    let living = living.filter(|seen| seen.silent_ms <= SILENT_MS);
    let living = living.map(|seen| &seen.member);
    living.filter(move |member| member.config != digest)
}

fn uri(address: &str, path: Option<PathAndQuery>) -> Option<Uri> {
    let authority: Authority = address.strip_prefix("http://")?.parse().ok()?;
    let mut parts = axum::http::uri::Parts::default();
    parts.scheme = Some(Scheme::HTTP);
    parts.authority = Some(authority);
    parts.path_and_query = path;
    Uri::from_parts(parts).ok()
}

fn no_holder(detail: &'static str) -> Response {
    Problem::new(Code::NoHolder, detail).into_response()
}

fn holder_lost() -> Response {
    let detail = "the node that holds the store went away while it had the request";
    Problem::new(Code::HolderLost, detail).into_response()
}

/// The service of a node of a cluster.
pub fn router(cluster: Arc<Cluster>) -> Router {
    Router::new().fallback(async move |request: Request| cluster.answer(request).await)
}

#[cfg(test)]
mod tests;
