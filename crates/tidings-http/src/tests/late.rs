//! Two nodes that share the parts of one store, of which the second applies what the first has accepted only when it has
//! to: nothing that somebody was answered may be refused there as unknown.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tidings_api::keys::Secret;
use tidings_api::token::sign;
use tidings_core::engine::{HeldShards, Options};
use tidings_core::{Id, Instant, Rules};
use tidings_node::{Clock, Delivery, KeyChange, Retries, Runtime, VirtualClock};
use tidings_store::lease::{
    Epoch, Lease, Member, MemberStatus, Membership, NodeId, NodeToken, Role, Share, TermNo,
};
use tidings_store::{MemoryStore, Store};
use tokio::runtime::Runtime as Tokio;
use tower::ServiceExt as _;

use crate::cluster::{self, Cluster};
use crate::owners::{Owner, Owners};
use crate::rig::{Answered, CONFIG, signing_key, tokens};
use crate::{Access, Service, Settings, listen};

const ON: &str = "[tenants]\non = true\n[users]\ntopics = [\"a\"]\n";
const SHARDS: u16 = 2;

fn homes(shard: u16) -> Owners {
    let buckets = Options::default().buckets;
    Owners { buckets, shards: SHARDS, held: [shard].into(), intake: shard == 0 }
}

/// The recipient with this number among those of a shard.
fn in_shard(shard: u16, n: usize) -> String {
    let names = (0..).map(|n| format!("r{n}"));
    let is_there =
        |name: &String| homes(shard).of_recipient(&Id::new(name).unwrap()) == Owner::Shard(shard);
    names.filter(is_there).nth(n).unwrap()
}

/// A node with one shard.
struct Node {
    runtime: Runtime,
    cluster: Arc<Cluster>,
    secret: Secret,
    address: String,
}

struct Two {
    tokio: Tokio,
    nodes: [Node; 2],
}

fn rules() -> Rules {
    tidings_config::parse(&format!("{CONFIG}{ON}"), "tidings.toml").unwrap()
}

fn started(store: &Arc<dyn Store>, clock: &Arc<VirtualClock>, held: Option<HeldShards>) -> Runtime {
    let store = Arc::clone(store);
    Runtime::start_held(
        Box::new(move || Ok(Arc::clone(&store))),
        held,
        rules(),
        Delivery::new(BTreeMap::new(), Retries::default()),
        Arc::clone(clock) as _,
        tidings_node::Settings {
            options: Options { shards: SHARDS, ..Options::default() },
            ..tidings_node::Settings::default()
        },
    )
    .unwrap()
}

impl Node {
    fn start(tokio: &Tokio, store: &Arc<dyn Store>, clock: &Arc<VirtualClock>, shard: u16) -> Self {
        let held = HeldShards { intake: shard == 0, shards: [shard].into() };
        let runtime = started(store, clock, Some(held));
        let secret = Secret::random().unwrap();
        let cluster = Arc::new(Cluster::new(NodeId(shard.into())));
        let access = Access::Keys { token: Some(secret.hash()) };
        let clock: Arc<dyn Clock> = Arc::clone(clock) as _;
        let service = Service::new(runtime.handle(), rules(), access, clock, Settings::default());
        let homes = Arc::new(homes(shard));
        assert_eq!(runtime.handle().look(|node| Owners::of(node.engine())).unwrap(), *homes);
        let service = service.with_site(tokens()).in_cluster(Arc::clone(&cluster));
        let service = Arc::new(service.with_shards(Arc::clone(&homes)));
        cluster.serve_shards(crate::router(service), Arc::new(|| true), homes);
        let api = cluster::router(Arc::clone(&cluster));
        let address = tokio.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let never = std::future::pending();
            tokio::spawn(listen::serve(listener, api, listen::Bounds::default(), never));
            address
        });
        Self { runtime, cluster, secret, address }
    }
}

impl Two {
    fn start() -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let clock = Arc::new(VirtualClock::default());
        clock.set(Instant::parse("2024-01-01T12:00:00Z").unwrap());
        // The first one divides the store into shards.
        started(&store, &clock, None).stop().unwrap();
        let mut tokio = tokio::runtime::Builder::new_multi_thread();
        let tokio = tokio.worker_threads(2).enable_all().build().unwrap();
        let nodes = [0, 1].map(|shard| Node::start(&tokio, &store, &clock, shard));
        let member = |(id, node): (i64, &Node)| MemberStatus {
            member: Member {
                address: format!("http://{}", node.address),
                token: NodeToken(node.secret.text().to_owned()),
                role: Role::Holding,
                ..Member::new(NodeId(id), "node")
            },
            silent_ms: 0,
            since_ms: 0,
        };
        let share =
            Share { term: TermNo(1), node: NodeId(1), shards: vec![1], of: SHARDS, ends: false };
        let membership = Membership {
            lease: Lease { epoch: Epoch(1), holder: Some(NodeId(0)) },
            members: (0..).zip(&nodes).map(member).collect(),
            shares: vec![share],
        };
        nodes.iter().for_each(|node| node.cluster.observe(&membership));
        Self { tokio, nodes }
    }

    /// Calls a node with a key or a token.
    fn by(&self, bearer: &str, node: usize, method: Method, path: &str, body: &Value) -> Answered {
        let bearer = format!("Bearer {bearer}");
        let request = Request::builder().method(method).uri(path);
        let request = request.header("authorization", bearer);
        let request = request.header("content-type", "application/json");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = request.body(Body::from(body)).unwrap();
        let api = cluster::router(Arc::clone(&self.nodes[node].cluster));
        self.tokio.block_on(async {
            let (parts, body) = api.oneshot(request).await.unwrap().into_parts();
            let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            Answered { status: parts.status, headers: parts.headers, bytes: bytes.to_vec() }
        })
    }

    /// Calls the node with the intake as the host.
    fn host(&self, method: Method, path: &str, body: &Value) -> Answered {
        self.by(self.nodes[0].secret.text(), 0, method, path, body)
    }

    #[track_caller]
    fn done(&self, method: Method, path: &str, body: &Value) -> Value {
        let answer = self.host(method, path, body);
        assert!(answer.status.is_success(), "{path}: {answer:?}");
        answer.json()
    }

    fn get(&self, path: &str) -> Value {
        self.done(Method::GET, path, &Value::Null)
    }

    fn tenant(&self, tenant: &str) {
        self.done(Method::PUT, &format!("/v1/tenants/{tenant}"), &json!({ "name": tenant }));
    }

    /// Has the second node apply what was accepted.
    fn arrive(&self) {
        self.nodes[1].runtime.handle().apply_log(false).unwrap();
    }
}

#[track_caller]
fn refused(answer: &Answered, status: u16, code: &str) {
    let json = answer.json();
    assert_eq!((answer.status.as_u16(), &json["code"]), (status, &json!(code)), "{json}");
}

/// A token for a tenant.
fn token(recipient: &str, tenant: &str) -> String {
    let (recipient, now_s) = (Id::new(recipient).unwrap(), 1_704_110_400);
    let tenant = Id::new(tenant).unwrap();
    sign(&signing_key("k1"), &recipient, now_s, now_s + 60, None, Some(&tenant)).unwrap()
}

#[test]
fn a_tenant_is_known_to_every_node_once_it_was_answered() {
    let two = Two::start();
    let there = in_shard(1, 0);
    let path = format!("/v1/recipients/{there}");
    // Each of these is the first that the node with the recipient hears of a tenant.
    two.tenant("profile");
    two.done(Method::PUT, &path, &json!({ "tenants": ["profile"] }));
    two.tenant("many");
    let many = two.done(
        Method::POST,
        "/v1/recipients",
        &json!([{ "id": in_shard(1, 1), "tenants": ["many"] }]),
    );
    assert_eq!(many, json!([{ "status": "done" }]));
    two.tenant("member");
    two.done(Method::PUT, &format!("/v1/tenants/member/members/{there}"), &Value::Null);
    two.tenant("preference");
    let choice =
        json!([{ "type": "note", "channel": "email", "mode": "never", "tenant": "preference" }]);
    two.done(Method::PATCH, &format!("{path}/preferences"), &choice);
    two.tenant("view");
    two.get(&format!("{path}/inbox?tenant=view"));
    two.tenant("mark");
    two.done(
        Method::POST,
        &format!("{path}/inbox/seen"),
        &json!({ "all": true, "tenant": "mark" }),
    );
    two.tenant("list");
    assert_eq!(two.get("/v1/messages?tenant=list")["missing"], Value::Null);
    let made = KeyChange::MakeSigning(signing_key("k1"));
    two.nodes[1].runtime.handle().change_keys(Instant(0), made, None, drop).unwrap();
    two.nodes[1].runtime.handle().submit(Vec::new()).unwrap();
    two.tenant("token");
    let read = |tenant: &str| {
        let token = token(&there, tenant);
        two.by(&token, 1, Method::GET, "/v1/me/inbox", &Value::Null)
    };
    assert_eq!(read("token").status, StatusCode::OK);

    // What is not there is refused as ever.
    refused(&read("tokem"), 401, "token_tenant");
    let member = format!("/v1/tenants/membre/members/{there}");
    refused(&two.host(Method::PUT, &member, &Value::Null), 404, "tenant_not_found");
    let profile = two.host(Method::PUT, &path, &json!({ "tenants": ["profiel"] }));
    refused(&profile, 422, "unknown_tenant");
}

#[test]
fn who_joins_a_tenant_that_was_made_anew_is_a_member_of_that_one() {
    let two = Two::start();
    let there = in_shard(1, 0);
    two.done(Method::PUT, &format!("/v1/recipients/{there}"), &json!({}));
    let member = format!("/v1/tenants/acme/members/{there}");
    two.tenant("acme");
    two.done(Method::PUT, &member, &Value::Null);
    two.done(Method::DELETE, "/v1/tenants/acme", &Value::Null);
    two.tenant("acme");
    two.done(Method::PUT, &member, &Value::Null);
    two.arrive();
    let members = two.get("/v1/tenants/acme/members");
    assert_eq!(members["members"][0]["id"], there, "{members}");
}
