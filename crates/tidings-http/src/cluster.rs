//! Several nodes over one store: each serves requests for its shards and proxies the rest.
//!
//! The node with a recipient's shard serves the calls about that recipient; the node with the intake, which has the lease,
//! serves all others. A node that serves nothing knows no division into shards, and forwards to the holder of the lease,
//! which may forward again. If no node is known to serve a call, or the node is lost while it has the call, the answer is
//! 503 with `Retry-After`.

pub(super) mod dry;
pub(super) mod in_name;
pub(super) mod own_shards;
mod passed_on;
mod peer;
pub(super) mod split;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{self, HeaderMap, HeaderName};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderValue, Method, StatusCode, Uri, Version};
use axum::response::{IntoResponse as _, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use subtle::{Choice, ConstantTimeEq as _};
use tidings_core::Rules;
use tidings_node::MaySend;
use tidings_store::lease::{Member, MemberStatus, Membership, NodeId};
use tokio::sync::watch;
use tower::ServiceExt as _;

use self::passed_on::ForwardedStream;
pub(super) use self::peer::Peer;
use super::error::{Code, MisdirectedCall, NOBODY, Problem, no_holder};
use crate::counters::exposition::{self, MetricsPage, seconds};
use crate::owners::{Owner, Owners};
use crate::users::cors::open_to;
use crate::users::is_mine;

/// The answer of `/healthz`: the process is alive, whether it holds the store or not.
pub(super) const ALIVE: &str = "ok\n";

/// The time without a heartbeat after which a node counts as silent.
pub(super) const SILENT_MS: i64 = 5_000;

/// The header of a call that other nodes have forwarded, with the number of them.
const FORWARDED: HeaderName = HeaderName::from_static("tidings-forwarded");

/// The most times that a call is forwarded: to the holder of the lease, and from there to the node of a share.
const FORWARDED_MAX: u16 = 2;

/// The header of a call whose home was found out by its handler: the number of the shard.
const HOME: HeaderName = HeaderName::from_static("tidings-home");

/// The header by which a node knows that another one has forwarded a call: the token of the node that gets it.
/// [`FORWARDED`] and [`HOME`] are accepted from nodes only.
const NODE: HeaderName = HeaderName::from_static("tidings-node");

/// The header with which a node asks another one about the shards that it has itself.
pub(super) const SHARDS: HeaderName = HeaderName::from_static("tidings-shards");

/// The value of [`SHARDS`].
pub(super) const OWN_SHARDS: HeaderValue = HeaderValue::from_static("own");

/// The beginning of the paths of calls that nodes make to each other.
pub(super) const OF_NODES: &str = "/cluster/";

/// Time limit of a connection to another node.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);

/// The time between two signs of life on a connection between nodes, and how many may be missing.
const KEEPALIVE: Duration = Duration::from_secs(2);
const KEEPALIVES: u32 = 3;

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

/// The node as its listener sees it: the API for what it has, the way to other nodes for everything else.
pub struct Cluster {
    me: NodeId,
    members: watch::Sender<Option<Arc<Membership>>>,
    serving: RwLock<Option<ServedApi>>,
    /// The origins of pages that may call as end users.
    origins: RwLock<Arc<[String]>>,
    client: Client<HttpConnector, Body>,
    stopping: watch::Sender<bool>,
}

/// The API over what this node has of the store.
#[derive(Clone)]
struct ServedApi {
    api: Router,
    licence: MaySend,
    /// The shards that it has; `None` = it has everything.
    owners: Option<Arc<Owners>>,
}

/// The nodes that have the shards that one node has not.
pub(super) struct OtherNodes {
    /// The nodes, each once.
    pub(super) peers: Vec<Peer>,
    /// The shards that no node has now.
    pub(super) unowned: Vec<u16>,
}

impl Cluster {
    /// A node that knows no other node yet.
    #[must_use]
    pub fn new(me: NodeId) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_PATIENCE));
        connector.set_nodelay(true);
        // Where nothing gets through any more a connection ends, and its calls are answered.
        connector.set_keepalive(Some(KEEPALIVE));
        connector.set_keepalive_interval(Some(KEEPALIVE));
        connector.set_keepalive_retries(Some(KEEPALIVES));
        #[cfg(target_os = "linux")]
        connector.set_tcp_user_timeout(Some(KEEPALIVE * (KEEPALIVES + 1)));
        Self {
            me,
            members: watch::Sender::new(None),
            serving: RwLock::new(None),
            origins: RwLock::default(),
            client: Client::builder(TokioExecutor::new()).build(connector),
            stopping: watch::Sender::new(false),
        }
    }

    /// Ends the streams of other nodes that are read here: this one stops.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Opens the calls of end users to the pages that a configuration names.
    pub fn open_to_pages(&self, rules: &Rules) {
        let origins = rules.users.as_ref().map_or(&[][..], |users| &users.origins);
        *self.origins.write().unwrap_or_else(PoisonError::into_inner) = origins.into();
    }

    fn origins(&self) -> Arc<[String]> {
        Arc::clone(&self.origins.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the members, as of the last heartbeat.
    pub fn observe(&self, membership: &Membership) {
        self.members.send_replace(Some(Arc::new(membership.clone())));
    }

    /// The members, as of the last heartbeat.
    #[must_use]
    pub fn membership(&self) -> Option<Arc<Membership>> {
        self.members.borrow().clone()
    }

    /// Serves the API of the whole store here from now on, as long as the licence is valid.
    pub fn serve(&self, api: Router, licence: MaySend) {
        self.set(Some(ServedApi { api, licence, owners: None }));
    }

    /// Serves the API of some shards here from now on, as long as the licence is valid; calls about others are
    /// forwarded.
    pub fn serve_shards(&self, api: Router, licence: MaySend, owners: Arc<Owners>) {
        self.set(Some(ServedApi { api, licence, owners: Some(owners) }));
    }

    /// Serves nothing here any more.
    pub fn stop_serving(&self) {
        self.set(None);
    }

    fn set(&self, serving: Option<ServedApi>) {
        *self.serving.write().unwrap_or_else(PoisonError::into_inner) = serving;
    }

    fn serving(&self) -> Option<ServedApi> {
        let serving = self.serving.read().unwrap_or_else(PoisonError::into_inner);
        serving.clone()
    }

    /// Returns true if this node serves the intake, and may.
    pub(super) fn holds(&self) -> bool {
        let has_intake = |serving: &ServedApi| serving.owners.as_ref().is_none_or(|of| of.intake);
        self.serving().filter(has_intake).is_some_and(|serving| (serving.licence)())
    }

    /// The number of shards that this node serves, and may.
    fn shards(&self) -> usize {
        let serving = self.serving().filter(|serving| (serving.licence)());
        let owners = serving.and_then(|serving| serving.owners);
        owners.map_or(0, |owners| owners.held.len())
    }

    /// The metrics that this node has whether it holds the store or not.
    pub(super) fn metrics(&self) -> String {
        let mut page = MetricsPage::default();
        page.gauge(
            "tidings_node_holds",
            "1 if this node holds the lease and may serve, else 0. Alert if the sum over all nodes is not 1.",
            u8::from(self.holds()),
        );
        page.gauge(
            "tidings_node_shards",
            "Number of shards of the store that this node has and may serve. Alert if the sum over all nodes is not that of `[store] parts`.",
            self.shards(),
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

    /// The node that has a home, if it is another one.
    pub(super) fn peer(&self, home: Owner) -> Option<Peer> {
        let peer = Peer::of(&*self.membership()?, home)?;
        (peer.id() != self.me).then_some(peer)
    }

    /// The nodes that have the shards that a node has not.
    pub(super) fn others(&self, owners: &Owners) -> OtherNodes {
        let mut others = OtherNodes { peers: Vec::new(), unowned: Vec::new() };
        let missing = (0..owners.shards).filter(|shard| !owners.held.contains(shard));
        for shard in missing {
            match self.peer(Owner::Shard(shard)) {
                None => others.unowned.push(shard),
                Some(peer) if others.peers.iter().any(|of| of.id() == peer.id()) => {}
                Some(peer) => others.peers.push(peer),
            }
        }
        others
    }

    /// Answers a call, here or at the node that serves it.
    async fn answer(&self, mut request: Request) -> Response {
        if request.uri().path() == "/healthz" {
            return ALIVE.into_response();
        }
        let token = request.headers_mut().remove(&NODE);
        let token = token.as_ref().and_then(|token| token.to_str().ok());
        // Any other token is that of a node that had this address before, or a stranger's: the headers count for nothing
        // then, and the call needs a key like any other.
        if token.is_some_and(|token| self.is_token_of_member(token)) {
            in_name::take_peer(&mut request);
        } else {
            request.headers_mut().remove(&FORWARDED);
            request.headers_mut().remove(&HOME);
        }
        let Some(serving) = self.serving() else {
            return self.answer_of_holder(request).await;
        };
        match serving.owners.clone().filter(|owners| !owners.is_whole()) {
            None => serving.answer(request).await,
            Some(owners) => self.answer_at_home(serving, &owners, request).await,
        }
    }

    /// Answers a call of a node that has some shards.
    async fn answer_at_home(
        &self,
        serving: ServedApi,
        owners: &Owners,
        request: Request,
    ) -> Response {
        let path = request.uri().path();
        let has_holder = || self.membership().is_some_and(|all| all.holder().is_some());
        if path == "/readyz" && !owners.intake && !has_holder() {
            return no_holder(NOBODY).into_response();
        }
        let is_nodes_own = matches!(path, "/readyz" | "/metrics") || path.starts_with(OF_NODES);
        if is_nodes_own || request.headers().contains_key(&SHARDS) {
            return serving.answer(request).await;
        }
        // A recipient or a message in the path says more than the node that forwarded the call.
        let home = owners.of_path(path).or_else(|| given_owner(request.headers()));
        // The recipient of an end user's call is in its token, which the handler checks.
        let home = home.or((!is_mine(path)).then_some(Owner::Intake));
        if let Some(home) = home.filter(|home| !owners.has(*home)) {
            return self.hand_on(request, home).await;
        }
        let method = request.method().clone();
        let (uri, headers) = (request.uri().clone(), request.headers().clone());
        let answer = serving.answer(request).await;
        let Some(MisdirectedCall { home, body }) =
            answer.extensions().get::<MisdirectedCall>().cloned()
        else {
            return answer;
        };
        // The handler has found the owner and done nothing, so the call can be sent there.
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        if let Owner::Shard(shard) = home {
            request.headers_mut().insert(HOME, shard.into());
        }
        self.hand_on(request, home).await
    }

    /// Answers a call of a node that serves nothing.
    async fn answer_of_holder(&self, request: Request) -> Response {
        let path = request.uri().path();
        let holder = self.peer(Owner::Intake);
        if holder.is_none() {
            return no_holder(NOBODY).into_response();
        }
        if path == "/readyz" {
            return "ready\n".into_response();
        }
        let is_of_nodes = path.starts_with(OF_NODES) || request.headers().contains_key(&SHARDS);
        if is_of_nodes && self.is_of_member(request.headers()) {
            return no_holder(NO_MORE).into_response();
        }
        if path != "/metrics" {
            return self.hand_on(request, Owner::Intake).await;
        }
        let mut rewritten = request;
        *rewritten.uri_mut() = Uri::from_static("/v1/nodes");
        let answer = self.hand_on(rewritten, Owner::Intake).await;
        match answer.status() {
            // The holder has let the caller in: it alone knows the keys.
            StatusCode::OK => exposition::answer(self.metrics()),
            _ => answer,
        }
    }

    /// Forwards a call to the node that has a home.
    async fn hand_on(&self, mut request: Request, home: Owner) -> Response {
        let Some(peer) = self.peer(home) else {
            return no_holder(NOBODY).into_response();
        };
        // Nodes that see different owners for a moment would forward a call in circles.
        let Some(times) = forwarded(request.headers()).filter(|times| *times <= FORWARDED_MAX)
        else {
            return no_holder(NO_MORE).into_response();
        };
        request.headers_mut().insert(FORWARDED, times.into());
        in_name::name_peer(&mut request);
        if let Ok(mut token) = HeaderValue::try_from(&peer.member.token.0) {
            token.set_sensitive(true);
            request.headers_mut().insert(NODE, token);
        }
        if self.is_of_member(request.headers())
            && let Some(bearer) = bearer(&peer)
        {
            request.headers_mut().insert(header::AUTHORIZATION, bearer);
        }
        match self.send(&peer, request).await {
            Ok(answer) => answer,
            Err(problem) => problem.into_response(),
        }
    }

    /// Returns true if a call has the token of a node, which is known at that node alone: commands that have found it in
    /// the database call the holder of the lease with it.
    fn is_of_member(&self, headers: &HeaderMap) -> bool {
        let given = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok()?.split_once(' '));
        given.is_some_and(|(_, token)| self.is_token_of_member(token.trim()))
    }

    fn is_token_of_member(&self, given: &str) -> bool {
        let Some(members) = self.membership() else {
            return false;
        };
        let tokens = members
            .members
            .iter()
            .map(|seen| &seen.member.token.0)
            .filter(|token| !token.is_empty());
        // All are compared, in constant time: the answer's time says nothing of how much was right.
        let is_it = |token: &String| token.as_bytes().ct_eq(given.as_bytes());
        let found = tokens.fold(Choice::from(0), |any, token| any | is_it(token));
        found.into()
    }

    /// Sends a request to another node, and waits as long as that has what it has a home by.
    ///
    /// # Errors
    /// [`Code::NoHolder`] where nothing was done, [`Code::HolderLost`] where that is not known.
    pub(super) async fn send(&self, peer: &Peer, request: Request) -> Result<Response, Problem> {
        let path = request
            .uri()
            .path_and_query()
            .cloned()
            .unwrap_or_else(|| PathAndQuery::from_static("/"));
        let Some(uri) = peer.uri(path) else {
            return Err(no_holder("the address of the node is invalid"));
        };
        let (mut head, body) = request.into_parts();
        head.uri = uri;
        head.version = Version::HTTP_11;
        for name in &OF_CONNECTION {
            head.headers.remove(name);
        }
        let mut members = self.members.subscribe();
        // A node that has lost its shards may never answer, and the client must not wait for that.
        let lost = members.wait_for(|members| {
            let members = members.as_deref();
            members.is_none_or(|members| peer.tenure.is_over(members))
        });
        let answer = tokio::select! {
            answer = self.client.request(Request::from_parts(head, body)) => answer,
            _ = lost => return Err(holder_lost()),
        };
        match answer {
            Ok(answer) => {
                let (mut head, body) = answer.into_parts();
                for name in &OF_CONNECTION {
                    head.headers.remove(name);
                }
                let mut body = Body::new(body);
                if passed_on::is_stream(&head.headers) {
                    body = Body::new(ForwardedStream::new(body, self.over(peer)));
                }
                Ok(Response::from_parts(head, body))
            }
            // Nothing was sent: the client may try again. Any later fault leaves the outcome open.
            Err(fault) if fault.is_connect() => {
                Err(no_holder("the node that holds the store can't be reached"))
            }
            Err(_) => Err(holder_lost()),
        }
    }

    /// Ends when this node stops, or another one no longer has what it has a home by.
    fn over(&self, peer: &Peer) -> impl Future<Output = ()> + Send + use<> {
        let (mut stopping, mut members) = (self.stopping.subscribe(), self.members.subscribe());
        let tenure = peer.tenure;
        async move {
            let is_over = |members: &Option<Arc<Membership>>| {
                members.as_deref().is_none_or(|members| tenure.is_over(members))
            };
            tokio::select! {
                _ = stopping.wait_for(|stopping| *stopping) => {}
                _ = members.wait_for(is_over) => {}
            }
        }
    }

    /// Makes a call to another node in this one's own name: its token lets it in.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub(super) async fn call(
        &self,
        peer: &Peer,
        (method, path): (Method, PathAndQuery),
        body: Vec<u8>,
    ) -> Result<Response, Problem> {
        let bearer = bearer(peer).ok_or_else(|| no_holder("the token of the node is invalid"))?;
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = method;
        *request.uri_mut() = path.into();
        let headers = request.headers_mut();
        headers.insert(header::AUTHORIZATION, bearer);
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        headers.insert(SHARDS, OWN_SHARDS);
        self.send(peer, request).await
    }
}

impl ServedApi {
    /// Answers a call. Without a licence another node may have changed what is read here.
    async fn answer(self, request: Request) -> Response {
        let is_metrics = request.uri().path() == "/metrics";
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        let may_answer = || is_metrics || (self.licence)();
        let silence = "this node has lost contact with the database";
        if !may_answer() {
            return no_holder(silence).into_response();
        }
        let response = match self.api.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        match (may_answer(), reads) {
            (true, _) => response,
            (false, true) => no_holder(silence).into_response(),
            (false, false) => holder_lost().into_response(),
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
    membership
        .members
        .iter()
        .filter(|seen| seen.silent_ms <= SILENT_MS)
        .map(|seen| &seen.member)
        .filter(move |member| member.config != digest)
}

/// The header by which a node lets in those who know its token.
fn bearer(peer: &Peer) -> Option<HeaderValue> {
    let bearer = format!("Bearer {}", peer.member.token.0);
    let mut bearer = HeaderValue::try_from(bearer).ok()?;
    bearer.set_sensitive(true);
    Some(bearer)
}

/// The home of a call, where another node has found it out.
fn given_owner(headers: &HeaderMap) -> Option<Owner> {
    let shard = headers.get(&HOME)?.to_str().ok()?.parse().ok()?;
    Some(Owner::Shard(shard))
}

/// The number of times that a call will have been forwarded after this one; `None` if that makes no sense.
fn forwarded(headers: &HeaderMap) -> Option<u16> {
    let Some(before) = headers.get(&FORWARDED) else {
        return Some(1);
    };
    let before: u16 = before.to_str().ok()?.parse().ok()?;
    before.checked_add(1)
}

const NO_MORE: &str = "this node does not hold the store any more";

pub(super) fn holder_lost() -> Problem {
    let detail = "the node that holds the store went away while it had the request";
    Problem::new(Code::HolderLost, detail)
}

/// The service of a node of a cluster.
pub fn router(cluster: Arc<Cluster>) -> Router {
    Router::new().fallback(async move |request: Request| {
        let origins = cluster.origins();
        open_to(&origins, request, async |request| cluster.answer(request).await).await
    })
}

#[cfg(test)]
mod tests;
