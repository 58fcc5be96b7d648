use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::routing::{any, get, post};
use http_body_util::BodyExt as _;
use tidings_store::lease::{Epoch, Lease, MemberStatus, Role, Share, TermNo};
use tokio::sync::oneshot;

use super::*;

const ME: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);

fn membership(epoch: i64, holder: Option<NodeId>, other: &str) -> Membership {
    let seen = |id: NodeId, address: &str| MemberStatus {
        member: Member {
            address: format!("http://{address}"),
            config: format!("of node {}", id.0),
            role: Role::Holding,
            token: tidings_store::lease::NodeToken(format!("of node {}", id.0)),
            ..Member::new(id, "node")
        },
        silent_ms: 0,
        since_ms: 0,
    };
    Membership {
        lease: Lease { epoch: Epoch(epoch), holder },
        members: vec![seen(ME, "127.0.0.1:1"), seen(OTHER, other)],
        shares: Vec::new(),
    }
}

/// A node, and what others say of the one at this address.
fn standby(other: &str) -> (Arc<Cluster>, Router) {
    let cluster = Arc::new(Cluster::new(ME));
    cluster.observe(&membership(7, Some(OTHER), other));
    (Arc::clone(&cluster), router(cluster))
}

async fn listen(api: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bounds = crate::listen::Bounds::default();
    tokio::spawn(crate::listen::serve(listener, api, bounds, std::future::pending()));
    address
}

async fn call(api: &Router, method: Method, path: &str) -> (StatusCode, String, Option<u64>) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "here.example")
        .body(Body::from("a body"))
        .unwrap();
    read(api.clone().oneshot(request).await.unwrap()).await
}

async fn read(response: Response) -> (StatusCode, String, Option<u64>) {
    let (head, body) = response.into_parts();
    let again = head
        .headers
        .get(header::RETRY_AFTER)
        .map(|seconds| seconds.to_str().unwrap().parse().unwrap());
    let bytes = body.collect().await.unwrap().to_bytes();
    (head.status, String::from_utf8(bytes.to_vec()).unwrap(), again)
}

fn is(answer: &(StatusCode, String, Option<u64>), code: &str) -> bool {
    let (status, body, again) = answer;
    *status == StatusCode::SERVICE_UNAVAILABLE && body.contains(code) && *again == Some(1)
}

#[tokio::test]
async fn a_call_goes_to_the_node_that_holds_the_store_and_back() {
    let echo = |request: Request| async move {
        let (head, body) = request.into_parts();
        let header = |name: &str| head.headers[name].to_str().unwrap().to_owned();
        let body = body.collect().await.unwrap().to_bytes();
        let said = String::from_utf8(body.to_vec()).unwrap();
        let told = format!(
            "{} {} {} {said} {}",
            head.method,
            head.uri,
            header("host"),
            header("tidings-forwarded")
        );
        (StatusCode::ACCEPTED, told)
    };
    let holder = listen(Router::new().fallback(any(echo))).await;
    let (_, api) = standby(&holder.to_string());
    let answer = call(&api, Method::POST, "/v1/events?a=%2F").await;
    let told = "POST /v1/events?a=%2F here.example a body 1".to_owned();
    assert_eq!(answer, (StatusCode::ACCEPTED, told, None));
}

#[tokio::test]
async fn while_nobody_holds_the_store_calls_may_come_again() {
    let cluster = Arc::new(Cluster::new(ME));
    let api = router(Arc::clone(&cluster));
    for members in [
        None,
        Some(membership(7, None, "127.0.0.1:1")),
        // It does not serve yet, or no more.
        Some(membership(7, Some(ME), "127.0.0.1:1")),
    ] {
        members.iter().for_each(|members| cluster.observe(members));
        for path in ["/v1/types", "/readyz", "/metrics"] {
            let answer = call(&api, Method::GET, path).await;
            assert!(is(&answer, "no_holder"), "{path}: {answer:?}");
        }
        let alive = call(&api, Method::GET, "/healthz").await;
        assert_eq!(alive.0, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_holder_that_can_not_be_reached_did_nothing() {
    // Nobody listens there.
    let (_, api) = standby("127.0.0.1:1");
    let answer = call(&api, Method::POST, "/v1/events").await;
    assert!(is(&answer, "no_holder"), "{answer:?}");
    let ready = call(&api, Method::GET, "/readyz").await;
    assert_eq!(ready.0, StatusCode::OK);
}

#[tokio::test]
async fn a_call_is_forwarded_twice_at_most() {
    let (_, third) = standby("127.0.0.1:1");
    let (_, second) = standby(&listen(third).await.to_string());
    let (_, first) = standby(&listen(second).await.to_string());
    let answer = call(&first, Method::GET, "/v1/types").await;
    assert!(is(&answer, "does not hold the store"), "{answer:?}");
}

#[tokio::test]
async fn a_node_that_serves_nothing_leaves_strangers_with_headers_of_nodes_to_the_holder() {
    let holder = listen(Router::new().fallback(any(async || StatusCode::UNAUTHORIZED))).await;
    let (_, api) = standby(&holder.to_string());
    let ask = async |bearer: Option<&str>, header: &str| {
        let mut request = Request::builder().uri("/v1/types").header(header, "own");
        if let Some(bearer) = bearer {
            request = request.header("authorization", format!("Bearer {bearer}"));
        }
        read(api.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()).await
    };
    for header in ["tidings-node", "tidings-shards"] {
        assert_eq!(ask(None, header).await.0, StatusCode::UNAUTHORIZED, "{header}");
    }
    let of_node = ask(Some("of node 2"), "tidings-shards").await;
    assert!(is(&of_node, "no_holder"), "{of_node:?}");
}

/// The recipient with this number among those of a shard, of two.
fn in_shard(shard: u16, n: usize) -> String {
    let homes = homes(shard, true);
    let names = (0..).map(|n| format!("r {n}"));
    let is_there = |name: &String| {
        let id = tidings_core::Id::new(name).unwrap();
        homes.of_recipient(&id) == Owner::Shard(shard)
    };
    names.filter(is_there).nth(n).unwrap()
}

fn homes(shard: u16, intake: bool) -> Owners {
    Owners { buckets: 64, shards: 2, held: [shard].into(), intake }
}

/// This node has the lease and shard 0, the other one has shard 1.
fn shared(other: &str) -> Membership {
    let mut members = membership(7, Some(ME), other);
    members.shares.push(Share {
        term: TermNo(3),
        node: OTHER,
        shards: vec![1],
        of: 2,
        ends: false,
    });
    members
}

/// An API that tells who was called, and with what.
fn told(name: &'static str) -> Router {
    Router::new().fallback(async move |request: Request| {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = String::from_utf8_lossy(&body).into_owned();
        if name == "here" && head.uri.path().starts_with("/v1/explain") {
            let elsewhere = Problem::elsewhere(Owner::Shard(1));
            return elsewhere.with_body(&body.into()).into_response();
        }
        format!("{name}: {} {} {body}", head.method, head.uri).into_response()
    })
}

/// Two nodes, of which this one has the intake and shard 0.
async fn two() -> (Arc<Cluster>, Router) {
    let other = listen(told("there")).await;
    let cluster = Arc::new(Cluster::new(ME));
    cluster.observe(&shared(&other.to_string()));
    cluster.serve_shards(told("here"), Arc::new(|| true), Arc::new(homes(0, true)));
    (Arc::clone(&cluster), router(cluster))
}

#[tokio::test]
async fn a_call_goes_to_the_node_that_has_its_recipient() {
    let (_, api) = two().await;
    let ask = async |path: &str| call(&api, Method::POST, path).await.1;
    for shard in [0, 1] {
        let node = ["here", "there"][usize::from(shard)];
        let id = in_shard(shard, 0).replace(' ', "%20");
        for below in ["", "/inbox/seen", "/subscriptions/a%2Fb?x=1"] {
            let path = format!("/v1/recipients/{id}{below}");
            assert_eq!(ask(&path).await, format!("{node}: POST {path} a body"));
        }
    }
    for (path, node) in [
        ("/v1/events", "here"),
        ("/v1/recipients", "here"),
        ("/v1/recipients/", "here"),
        // Not UTF-8: the API says so.
        ("/v1/recipients/%ff", "here"),
        ("/v1/messages/2024-03-07.3.12.77", "here"),
        ("/v1/messages/2024-03-07.63.12.77/retry", "there"),
        ("/v1/messages/x", "here"),
        ("/metrics", "here"),
        ("/readyz", "here"),
        // Whom it is about is found out by its handler.
        ("/v1/explain", "there"),
    ] {
        assert_eq!(ask(path).await, format!("{node}: POST {path} a body"));
    }
}

#[tokio::test]
async fn a_shard_that_no_node_has_is_waited_for() {
    let (cluster, api) = two().await;
    let path = format!("/v1/recipients/{}", in_shard(1, 0).replace(' ', "%20"));
    // The share is over, and this node has not taken its shard over yet.
    cluster.observe(&membership(7, Some(ME), "127.0.0.1:1"));
    let answer = call(&api, Method::GET, &path).await;
    assert!(is(&answer, "no_holder"), "{answer:?}");
    let mut of_unknown = shared("127.0.0.1:1");
    of_unknown.shares[0].node = NodeId(99);
    cluster.observe(&of_unknown);
    let answer = call(&api, Method::GET, &path).await;
    assert!(is(&answer, "no_holder"), "{answer:?}");
}

#[tokio::test]
async fn a_node_with_a_share_hands_on_what_is_of_the_intake_and_is_ready_with_a_holder() {
    let holder = listen(told("holder")).await;
    let (cluster, api) = share(holder, told("share"));
    assert!(!cluster.holds());
    let own = format!("/v1/recipients/{}", in_shard(1, 0).replace(' ', "%20"));
    for (path, node) in [
        (own.as_str(), "share"),
        ("/v1/types", "holder"),
        ("/v1/events", "holder"),
        ("/cluster/commands", "share"),
        ("/readyz", "share"),
    ] {
        let answer = call(&api, Method::GET, path).await;
        assert_eq!(answer.1, format!("{node}: GET {path} a body"));
    }
    let mut members = Membership::clone(&cluster.membership().unwrap());
    members.lease.holder = None;
    cluster.observe(&members);
    let answer = call(&api, Method::GET, "/readyz").await;
    assert!(is(&answer, "no_holder"), "{answer:?}");
    assert_eq!(call(&api, Method::GET, &own).await.0, StatusCode::OK);
}

/// A node with shard 1; the one at the address has the lease and shard 0.
fn share(holder: SocketAddr, api: Router) -> (Arc<Cluster>, Router) {
    let cluster = Arc::new(Cluster::new(ME));
    let mut members = membership(7, Some(OTHER), &holder.to_string());
    members.shares.push(Share { node: ME, ..shared("").shares.remove(0) });
    cluster.observe(&members);
    cluster.serve_shards(api, Arc::new(|| true), Arc::new(homes(1, false)));
    (Arc::clone(&cluster), router(cluster))
}

#[tokio::test]
async fn a_share_that_is_over_is_waited_for_no_longer() {
    let (has_it, mut it_has) = tokio::sync::mpsc::channel(1);
    let silent = any(async move || {
        has_it.send(()).await.unwrap();
        std::future::pending::<()>().await;
    });
    let other = listen(Router::new().fallback_service(silent.with_state(()))).await;
    let cluster = Arc::new(Cluster::new(ME));
    cluster.observe(&shared(&other.to_string()));
    cluster.serve_shards(told("here"), Arc::new(|| true), Arc::new(homes(0, true)));
    let api = router(Arc::clone(&cluster));
    let path = format!("/v1/recipients/{}", in_shard(1, 0).replace(' ', "%20"));
    let asked = tokio::spawn(async move { call(&api, Method::PUT, &path).await });
    it_has.recv().await.unwrap();
    cluster.observe(&membership(7, Some(ME), "127.0.0.1:1"));
    let answer = asked.await.unwrap();
    assert!(is(&answer, "holder_lost"), "{answer:?}");
}

#[tokio::test]
async fn a_holder_that_is_replaced_is_waited_for_no_longer() {
    let (has_it, it_has) = oneshot::channel();
    let has_it = Arc::new(std::sync::Mutex::new(Some(has_it)));
    let silent = post(move || async move {
        let has_it = has_it.lock().unwrap().take();
        has_it.unwrap().send(()).unwrap();
        std::future::pending::<()>().await;
    });
    let holder = listen(Router::new().route("/v1/events", silent)).await;
    let (cluster, api) = standby(&holder.to_string());
    let asked = tokio::spawn(async move { call(&api, Method::POST, "/v1/events").await });
    it_has.await.unwrap();
    cluster.observe(&membership(8, Some(ME), "127.0.0.1:1"));
    let answer = asked.await.unwrap();
    assert!(is(&answer, "holder_lost"), "{answer:?}");
}

#[tokio::test]
async fn without_a_licence_nothing_is_read_and_no_change_confirmed() {
    let licence = Arc::new(AtomicBool::new(true));
    let (ends, asked) = (Arc::clone(&licence), Arc::clone(&licence));
    let ending = any(move || async move {
        ends.store(false, Ordering::SeqCst);
        "done"
    });
    let calls = Router::new()
        .route("/ends", ending)
        .route("/goes_on", get(|| async { "done" }))
        .route("/metrics", get(|| async { "tidings_up 1\n" }));
    let (cluster, api) = standby("127.0.0.1:1");
    cluster.serve(calls, Arc::new(move || asked.load(Ordering::SeqCst)));
    assert_eq!(call(&api, Method::GET, "/goes_on").await.0, StatusCode::OK);
    let answer = call(&api, Method::GET, "/ends").await;
    assert!(is(&answer, "no_holder"), "{answer:?}");
    let answer = call(&api, Method::GET, "/goes_on").await;
    assert!(is(&answer, "no_holder"), "{answer:?}");
    assert_eq!(call(&api, Method::GET, "/metrics").await.0, StatusCode::OK);
    licence.store(true, Ordering::SeqCst);
    let answer = call(&api, Method::POST, "/ends").await;
    assert!(is(&answer, "holder_lost"), "{answer:?}");
}

#[tokio::test]
async fn metrics_of_a_standby_are_its_own_for_those_whom_the_holder_lets_in() {
    let nodes = |request: Request| async move {
        if request.headers().contains_key(header::AUTHORIZATION) {
            StatusCode::OK
        } else {
            StatusCode::UNAUTHORIZED
        }
    };
    let holder = listen(Router::new().route("/v1/nodes", get(nodes))).await;
    let (_, api) = standby(&holder.to_string());
    let ask = |key: Option<&str>| {
        let mut request = Request::builder().uri("/metrics");
        if let Some(key) = key {
            request = request.header(header::AUTHORIZATION, key);
        }
        let (api, request) = (api.clone(), request.body(Body::empty()).unwrap());
        async move { read(api.oneshot(request).await.unwrap()).await }
    };
    assert_eq!(ask(None).await.0, StatusCode::UNAUTHORIZED);
    let (status, text, _) = ask(Some("Bearer k")).await;
    assert_eq!(status, StatusCode::OK);
    for line in [
        "tidings_node_holds 0\n",
        "tidings_lease_epoch 7\n",
        "tidings_nodes 2\n",
        "tidings_nodes_of_other_config 1\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}
