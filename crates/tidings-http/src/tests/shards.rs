//! Two nodes, each with one shard of a store: what any call does at the one with the intake.
//!
//! Each has an engine over a whole store of its own, of which it is asked for its part alone.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_api::keys::{NewKey, Secret};
use tidings_console::PeerAddress;
use tidings_core::model::Role as ApiRole;
use tidings_core::{Id, Instant};
use tidings_node::KeyChange;
use tidings_store::lease::{
    Epoch, Lease, Member, MemberStatus, Membership, NodeId, NodeToken, Role, Share, TermNo,
};

use crate::cluster::{self, Cluster};
use crate::owners::{Owner, Owners};
use crate::rig::{Answered, CONFIG, Rig, user_token};
use crate::{Access, Service, Settings, listen};

const MORE: &str = "[users]\norigins = [\"https://app.example.org\"]\n[tenants]\non = true\n[console]\nproxy = { header = \"X-Forwarded-User\", trusted = [\"10.0.0.7/32\"] }\nroles = { \"mara@example.org\" = \"support\" }\n";

/// A node, and its engine.
struct Node {
    rig: Rig,
    cluster: Arc<Cluster>,
    secret: Secret,
    address: String,
    /// Ends its listener.
    close: Option<tokio::sync::oneshot::Sender<()>>,
}

struct Two([Node; 2]);

fn homes(shard: u16) -> Owners {
    Owners { buckets: 64, shards: 2, held: [shard].into(), intake: shard == 0 }
}

/// The recipient with this number among those of a shard.
fn in_shard(shard: u16, n: usize) -> String {
    let names = (0..).map(|n| format!("r{n}"));
    let is_there =
        |name: &String| homes(shard).of_recipient(&Id::new(name).unwrap()) == Owner::Shard(shard);
    names.filter(is_there).nth(n).unwrap()
}

impl Node {
    fn start(shard: u16) -> Self {
        let config = format!("{CONFIG}{MORE}");
        let rig = Rig::with(&config, Access::Open, Settings::default());
        // The stores of the two have nothing in common.
        rig.make_signing_key("k1");
        let secret = Secret::random().unwrap();
        let cluster = Arc::new(Cluster::new(NodeId(shard.into())));
        let token = Some(secret.hash());
        let service = Service::new(
            rig.service.handle.clone(),
            tidings_config::parse(&config, "tidings.toml").unwrap(),
            Access::Keys { token },
            Arc::clone(&rig.clock) as _,
            Settings::default(),
        );
        let homes = Arc::new(homes(shard));
        let service = service.in_cluster(Arc::clone(&cluster));
        let service = Arc::new(service.with_shards(Arc::clone(&homes)));
        cluster.open_to_pages(&service.rules());
        cluster.serve_shards(crate::router(service), Arc::new(|| true), homes);
        let (close, closed) = tokio::sync::oneshot::channel::<()>();
        let api = cluster::router(Arc::clone(&cluster));
        let address = rig.tokio.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let closed = async move { drop(closed.await) };
            tokio::spawn(listen::serve(listener, api, listen::Bounds::default(), closed));
            address
        });
        Self { rig, cluster, secret, address, close: Some(close) }
    }
}

impl Two {
    fn start() -> Self {
        let nodes = [Node::start(0), Node::start(1)];
        let members = nodes.each_ref().map(|node| {
            let id = homes_of(node);
            MemberStatus {
                member: Member {
                    address: format!("http://{}", node.address),
                    token: NodeToken(node.secret.text().to_owned()),
                    role: Role::Holding,
                    ..Member::new(id, ["a", "b"][usize::from(id == NodeId(1))])
                },
                silent_ms: 0,
                since_ms: 0,
            }
        });
        let membership = Membership {
            lease: Lease { epoch: Epoch(1), holder: Some(NodeId(0)) },
            members: members.into(),
            shares: vec![Share {
                term: TermNo(1),
                node: NodeId(1),
                shards: vec![1],
                of: 2,
                ends: false,
            }],
        };
        nodes.iter().for_each(|node| node.cluster.observe(&membership));
        Self(nodes)
    }

    /// Calls the node with the intake.
    fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answered {
        let bearer = format!("Bearer {}", self.0[0].secret.text());
        let headers = [&[("authorization", &*bearer)], headers].concat();
        self.send_to(0, method, path, &headers, body)
    }

    /// Calls a node.
    fn send_to(
        &self,
        node: usize,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answered {
        let mut request = axum::http::Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send_request(node, request.body(Body::from(body.to_owned())).unwrap())
    }

    fn send_request(&self, node: usize, request: axum::extract::Request) -> Answered {
        let node = &self.0[node];
        let api = cluster::router(Arc::clone(&node.cluster));
        node.rig.tokio.block_on(async {
            let response = tower::ServiceExt::oneshot(api, request).await.unwrap();
            let (shards, body) = response.into_parts();
            let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            Answered { status: shards.status, headers: shards.headers, bytes: bytes.to_vec() }
        })
    }

    fn get(&self, path: &str) -> Value {
        self.send(Method::GET, path, &[], "").json()
    }

    /// The names of these recipients in the engine of a node.
    fn names(&self, node: usize, ids: &[String]) -> Vec<Value> {
        let rig = &self.0[node].rig;
        let name = |id: &String| {
            let path = format!("/v1/recipients/{id}");
            rig.call(Method::GET, &path, &Value::Null).json()["name"].clone()
        };
        ids.iter().map(name).collect()
    }

    /// Ends the listener of the node with the share.
    fn lose_share(&mut self) {
        let close = self.0[1].close.take().unwrap();
        close.send(()).unwrap();
        let address = self.0[1].address.clone();
        let is_open = || std::net::TcpStream::connect(&address).is_ok();
        while is_open() {
            std::thread::yield_now();
        }
    }
}

fn homes_of(node: &Node) -> NodeId {
    let is_first = node.cluster.holds();
    NodeId(if is_first { 0 } else { 1 })
}

/// Two recipients of each shard, in turn.
fn four() -> Vec<String> {
    let of = |(shard, n)| in_shard(shard, n);
    [(0, 0), (1, 0), (0, 1), (1, 1)].map(of).into()
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn each_recipient_of_an_array_is_done_by_its_node_and_the_answers_are_in_order() {
    let two = Two::start();
    let ids = four();
    let mut body: Vec<Value> =
        ids.iter().map(|id| json!({"id": id, "name": format!("of {id}")})).collect();
    body.insert(1, json!({"id": "x", "nmae": 1}));
    let body = Value::from(body).to_string();
    let answer = two.send(Method::POST, "/v1/recipients", &[JSON], &body);
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let answers = answer.json();
    let status = |at: usize| answers[at]["status"].as_str().unwrap().to_owned();
    let statuses: Vec<String> = (0..5).map(status).collect();
    assert_eq!(statuses, ["done", "rejected", "done", "done", "done"]);
    let name = |at: usize| json!(format!("of {}", ids[at]));
    assert_eq!(two.names(0, &ids), [name(0), Value::Null, name(2), Value::Null]);
    assert_eq!(two.names(1, &ids), [Value::Null, name(1), Value::Null, name(3)]);

    let status = two.get("/v1/admin/status");
    assert_eq!((&status["recipients"], &status["missing"]), (&json!(4), &Value::Null));
    for id in &ids {
        let profile = two.get(&format!("/v1/recipients/{id}"));
        assert_eq!(profile["name"], format!("of {id}"));
    }
    // Lines of a stream, of which those of one node come in their order.
    let line = |id: &String, name: u32| json!({"id": id, "name": name.to_string()}).to_string();
    let lines: Vec<String> = (0..2_500).map(|n| line(&ids[n as usize % 4], n)).collect();
    let ndjson = [("content-type", "application/x-ndjson")];
    let path = "/v1/recipients?answers=problems";
    let answer = two.send(Method::POST, path, &ndjson, &lines.join("\n"));
    assert_eq!(answer.json(), json!({"lines": 2_500, "done": 2_500, "problems": 0}));
    assert_eq!(two.names(0, &ids)[0], "2496");
    assert_eq!(two.names(1, &ids)[3], "2499");
}

#[test]
fn a_request_with_a_key_is_done_at_other_nodes_once() {
    let two = Two::start();
    let ids = [in_shard(1, 0)];
    let body = json!([{"id": ids[0], "name": "first"}]).to_string();
    let headers = [JSON, ("idempotency-key", "k")];
    let send = || two.send(Method::POST, "/v1/recipients", &headers, &body);
    assert_eq!(send().json(), json!([{"status": "done"}]));
    let later = json!({"name": "later"}).to_string();
    let path = format!("/v1/recipients/{}", ids[0]);
    let changed = two.send(Method::PATCH, &path, &[JSON], &later);
    assert_eq!(changed.status, StatusCode::NO_CONTENT, "{changed:?}");
    let again = send();
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(two.names(1, &ids), ["later"]);
    let other = json!([{"id": ids[0]}]).to_string();
    let other = two.send(Method::POST, "/v1/recipients", &headers, &other);
    assert_eq!(other.json()["code"], "idempotency_key_reused");
}

#[test]
fn a_node_that_is_away_is_named_and_its_commands_are_answered_503() {
    let mut two = Two::start();
    two.lose_share();
    let status = two.get("/v1/admin/status");
    assert_eq!(status["missing"], json!(["b"]));
    // What waits at the shard that is away would read as "nothing waits".
    assert_eq!(status["entries"]["pending"], Value::Null);
    assert_eq!(two.get("/v1/admin/due")["missing"], json!(["b"]));
    assert_eq!(two.get("/v1/messages")["missing"], json!(["b"]));
    let export = two.send(Method::GET, "/v1/export", &[], "");
    assert_eq!(export.status, StatusCode::SERVICE_UNAVAILABLE);

    let ids = four();
    let body: Vec<Value> = ids.iter().map(|id| json!({"id": id, "name": "n"})).collect();
    let body = Value::from(body).to_string();
    let answers = two.send(Method::POST, "/v1/recipients", &[JSON], &body).json();
    let code = |at: usize| answers[at]["problem"]["code"].clone();
    let codes: Vec<Value> = (0..4).map(code).collect();
    let none = Value::Null;
    assert_eq!(codes, [none.clone(), json!("no_holder"), none, json!("no_holder")]);
    assert_eq!(two.names(0, &ids)[0], "n");
    // With a key all of it can be sent again.
    let headers = [JSON, ("idempotency-key", "k")];
    for _ in 0..2 {
        let answer = two.send(Method::POST, "/v1/recipients", &headers, &body);
        assert_eq!(answer.json()["code"], "no_holder");
    }
}

#[test]
fn what_all_shards_know_of_an_event_is_added_up() {
    let two = Two::start();
    let [here, there] = [in_shard(0, 0), in_shard(1, 0)];
    let event = |to: &str| json!({"id": "e", "type": "weekly", "object": {"id": "o"}, "to": {"recipients": [to]}});
    for (node, id) in two.0.iter().zip([&here, &there]) {
        let call = |method, path: &str, body: &Value| node.rig.call(method, path, body);
        call(Method::PUT, &format!("/v1/recipients/{id}"), &json!({"email": "a@example.org"}));
        call(Method::POST, "/v1/events", &event(id));
    }
    let outcome = two.get("/v1/events/e");
    assert_eq!(outcome["notifications"], 2, "{outcome}");
    assert_eq!(outcome["channels"]["email"]["entries"], 2);
    assert_eq!(two.get("/v1/admin/status")["entries"]["all"], 4);
    let due = two.get("/v1/admin/due");
    assert_eq!(due["lanes"][0]["recipients"], 2, "{due}");

    for id in [&here, &there] {
        let question = json!({"event": "e", "recipient": id}).to_string();
        let answer = two.send(Method::POST, "/v1/explain", &[JSON], &question);
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        let of = two.send(Method::GET, &format!("/v1/messages?recipient={id}"), &[], "");
        assert_eq!(of.json(), json!({"messages": [], "next": null}));
    }
    let unknown = two.send(Method::GET, "/v1/events/x", &[], "");
    assert_eq!(unknown.json()["code"], "event_not_found");

    let export = two.send(Method::GET, "/v1/export", &[], "");
    let lines = String::from_utf8(export.bytes).unwrap();
    let op = |line: &str| serde_json::from_str::<Value>(line).unwrap()["op"].clone();
    let ops: Vec<Value> = lines.lines().map(op).collect();
    assert_eq!(ops, ["recipient", "recipient", "publish"]);
}

#[test]
fn a_person_is_exported_and_logged_by_the_node_that_has_them() {
    let two = Two::start();
    let there = in_shard(1, 0);
    let rig = &two.0[1].rig;
    let path = format!("/v1/recipients/{there}");
    rig.call(Method::PUT, &path, &json!({"name": "There", "email": "a@example.org"}));
    let event =
        json!({"id": "e", "type": "weekly", "object": {"id": "o"}, "to": {"recipients": [&there]}});
    rig.call(Method::POST, "/v1/events", &event);
    let export = two.get(&format!("{path}/export"));
    assert_eq!(export["recipient"]["name"], "There", "{export}");
    assert_eq!(export["inbox"][0]["event"], "e", "{export}");
    let actions = export["log"].as_array().unwrap().iter().map(|line| line["action"].clone());
    assert_eq!(actions.collect::<Vec<_>>(), ["data.exported", "put_recipient"]);
    let log = |node: usize| {
        let rig = &two.0[node].rig;
        let log = rig.call(Method::GET, "/v1/admin/log?action=data.exported", &Value::Null);
        log.json()["log"].as_array().unwrap().len()
    };
    assert_eq!((log(0), log(1)), (0, 1));
    let gone = two.send(Method::GET, &format!("/v1/recipients/{}/export", in_shard(1, 1)), &[], "");
    assert_eq!(gone.json()["code"], "recipient_not_found");
}

/// The pages are those of the node with the intake; what they show and do of a person is at the person's.
#[test]
fn the_console_shows_and_changes_people_of_other_nodes_in_its_viewers_name() {
    let two = Two::start();
    let id = in_shard(1, 0);
    let body = json!({"name": "Zoë Quill", "email": "zoe@example.org"}).to_string();
    let made = two.send(Method::PUT, &format!("/v1/recipients/{id}"), &[JSON], &body);
    assert!(made.status.is_success(), "{made:?}");
    let key = NewKey::make("on call".to_owned(), ApiRole::Support, Instant(0)).unwrap();
    two.0[0].rig.change_keys(KeyChange::Make(key.stored.clone()));
    let form = ("content-type", "application/x-www-form-urlencoded");
    let page = |node, method, path: &str, cookie: &str, body: &str| {
        let from_here = ("sec-fetch-site", "same-origin");
        let headers = [("host", "localhost"), from_here, form, ("cookie", cookie)];
        two.send_to(node, method, path, &headers, body)
    };
    let signed =
        page(0, Method::POST, "/console/sign-in", "", &format!("key={}", key.secret.text()));
    let cookie = signed.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap();

    let person = format!("/console/people/{id}");
    for node in [0, 1] {
        let shown = page(node, Method::GET, &person, cookie, "");
        assert_eq!(shown.status, StatusCode::OK, "{shown:?}");
        assert!(shown.text().contains("Z•• Q••••"), "{}", shown.text());
    }
    let lift = format!("{person}/revoke");
    let done = page(0, Method::POST, &lift, cookie, "");
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text());
    // Each of the two has a store, and so a log, of its own.
    let log = format!("/v1/admin/log?action=revoke_tokens&subject=recipient:{id}");
    let log = two.0[1].rig.call(Method::GET, &log, &Value::Null).json();
    let by = json!({"kind": "key", "id": key.stored.id, "role": "support"});
    assert_eq!((&log["log"][0]["by"], &log["log"][0]["via"]), (&by, &json!("console")), "{log}");
}

/// A proxy calls any node; the node with the intake takes the address of its connection from that node alone.
#[test]
fn the_peer_of_a_forwarded_call_is_the_one_of_the_node_that_forwards_it() {
    let two = Two::start();
    let sign_in = |headers: &[(&str, &str)], peer: [u8; 4]| {
        let mut request = axum::http::Request::builder().uri("/console/sign-in");
        let user = ("x-forwarded-user", "mara@example.org");
        for (name, value) in [&[("host", "localhost"), user], headers].concat() {
            request = request.header(name, value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        request.extensions_mut().insert(PeerAddress(peer.into()));
        two.send_request(1, request).text().to_owned()
    };
    assert!(sign_in(&[], [10, 0, 0, 7]).contains("mara@example.org"));
    assert!(!sign_in(&[], [10, 0, 0, 8]).contains("mara@example.org"));
    let claimed = [("tidings-peer", "10.0.0.7")];
    assert!(!sign_in(&claimed, [10, 0, 0, 8]).contains("mara@example.org"));
}

#[test]
fn a_search_asks_all_shards_and_names_those_that_are_away() {
    let mut two = Two::start();
    let ids = four();
    let people: Vec<Value> =
        ids.iter().map(|id| json!({"id": id, "email": "all@example.org"})).collect();
    let people = Value::from(people).to_string();
    let answer = two.send(Method::POST, "/v1/recipients", &[JSON], &people);
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let search = |two: &Two, q: &str| {
        let body = json!({ "q": q }).to_string();
        let answer = two.send(Method::POST, "/v1/search", &[JSON], &body);
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        answer.json()
    };
    let hits = |answer: &Value| -> Vec<String> {
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
    };
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    let found = search(&two, "All@Example.org");
    assert_eq!((hits(&found), found.get("missing")), (sorted, None));
    // What another node finds is no near miss here.
    let found = search(&two, &ids[1]);
    assert_eq!((hits(&found), found.get("nearest")), (vec![ids[1].clone()], None));
    two.lose_share();
    let found = search(&two, "all@example.org");
    let mut here = vec![ids[0].clone(), ids[2].clone()];
    here.sort_unstable();
    assert_eq!((hits(&found), &found["missing"]), (here, &json!(["b"])));
}

#[test]
fn only_the_token_of_a_node_asks_it_for_its_shards_or_gives_it_commands() {
    let two = Two::start();
    let key = Secret::random().unwrap();
    let made = two.send(Method::POST, "/v1/admin/keys", &[JSON], "{}").json();
    let made = format!("Bearer {}", made["key"].as_str().unwrap());
    let wrong = format!("Bearer {}", key.text());
    let api = |request: axum::http::Request<Body>| {
        let api = cluster::router(Arc::clone(&two.0[0].cluster));
        let answer = tower::ServiceExt::oneshot(api, request);
        two.0[0].rig.tokio.block_on(answer).unwrap().status()
    };
    let ask = |bearer: &str, path: &str, own: bool| {
        let mut request = axum::http::Request::builder().uri(path);
        request = request.header("authorization", bearer);
        if own {
            request = request.header("tidings-shards", "own");
        }
        api(request.body(Body::empty()).unwrap())
    };
    assert_eq!(ask(&made, "/v1/admin/status", false), StatusCode::OK);
    for bearer in [&made, &wrong] {
        assert_eq!(ask(bearer, "/v1/admin/status", true), StatusCode::UNAUTHORIZED);
        assert_eq!(ask(bearer, "/cluster/commands", false), StatusCode::UNAUTHORIZED);
    }
    let token = format!("Bearer {}", two.0[0].secret.text());
    assert_eq!(ask(&token, "/v1/admin/status", true), StatusCode::OK);
}

#[test]
fn events_without_an_id_have_the_same_one_when_their_request_comes_again() {
    let event = json!({"type": "note", "object": {"id": "o"}, "to": {"recipients": ["ada"]}});
    let ids = |key: &str, body: &Value| {
        // Each knows nothing of what others were asked.
        let headers = [JSON, ("idempotency-key", key)];
        let two = Two::start();
        let answer = two.send(Method::POST, "/v1/events", &headers, &body.to_string());
        let answer = answer.json();
        let all = answer.as_array().cloned().unwrap_or(vec![answer]);
        all.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    let array = json!([event, event]);
    let first = ids("k", &array);
    assert_ne!(first[0], first[1]);
    assert_eq!(ids("k", &array), first);
    assert_ne!(ids("l", &array), first);
    assert_eq!(ids("k", &event), ids("k", &event));
    assert_ne!(ids("k", &event)[0], first[0]);
}

#[test]
fn a8_headers_of_nodes_are_taken_from_nodes_alone() {
    let two = Two::start();
    let there = in_shard(1, 0);
    let path = format!("/v1/recipients/{there}");
    let made = two.send(Method::PUT, &path, &[], "{}");
    assert!(made.status.is_success());
    for (name, value) in [
        ("tidings-home", "0"),
        ("tidings-home", "1"),
        ("tidings-home", "7"),
        ("tidings-forwarded", "2"),
        ("tidings-forwarded", "x"),
    ] {
        for shard in 0..2 {
            let path = format!("/v1/recipients/{}", in_shard(shard, 0));
            two.send(Method::PUT, &path, &[], "{}");
            let found = two.send(Method::GET, &path, &[(name, value)], "");
            assert_eq!(found.status, StatusCode::OK, "{name}: {value}, part {shard}");
        }
    }
    // A token that no node has is no reason to believe the caller, who is let in as any other.
    let forged = [("tidings-home", "0"), ("tidings-node", "x")];
    assert_eq!(two.send(Method::GET, &path, &forged, "").status, StatusCode::OK);
    let own = format!("/v1/recipients/{}", in_shard(0, 0));
    for path in [&path, &own, "/cluster/commands"] {
        for header in [("tidings-node", "x"), ("tidings-shards", "own")] {
            for headers in [&[header][..], &[header, ("authorization", "Bearer x")]] {
                let refused = two.send_to(0, Method::GET, path, headers, "");
                let answer = (refused.status, refused.json()["code"].clone());
                assert_eq!(answer, (StatusCode::UNAUTHORIZED, json!("unauthorized")), "{path}");
            }
        }
    }
    // And where a node is believed, the path still says whose the call is.
    let token = two.0[0].secret.text().to_owned();
    let odd = [("tidings-home", "0"), ("tidings-node", token.as_str())];
    assert_eq!(two.send(Method::GET, &path, &odd, "").status, StatusCode::OK);
}

/// Whom a call of an end user is about is in its token: any node takes it, and the recipient's answers.
#[test]
fn a_call_of_an_end_user_is_answered_by_the_node_of_the_recipient() {
    let two = Two::start();
    for (shard, node) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let recipient = in_shard(shard, node);
        two.send(Method::PUT, &format!("/v1/recipients/{recipient}"), &[JSON], "{}");
        let bearer = format!("Bearer {}", user_token("k1", &recipient, None));
        let ask = |method, path: &str, body: &str| {
            let page = ("origin", "https://app.example.org");
            let headers = [JSON, page, ("authorization", &*bearer)];
            two.send_to(node, method, path, &headers, body)
        };
        let what = format!("shard {shard} at node {node}");
        let choice = r#"[{"type": "note", "channel": "email", "mode": "never"}]"#;
        let changed = ask(Method::PATCH, "/v1/me/preferences", choice);
        assert_eq!(changed.status, StatusCode::NO_CONTENT, "{what}: {changed:?}");
        let origins = changed.headers.get_all("access-control-allow-origin").iter();
        assert_eq!(origins.count(), 1, "{what}");
        assert_eq!(changed.headers.get_all("vary").iter().count(), 1, "{what}");
        let path = format!("/v1/recipients/{recipient}/preferences");
        let rig = &two.0[usize::from(shard)].rig;
        let chosen = rig.call(Method::GET, &path, &Value::Null).json();
        assert_eq!(chosen[0]["mode"], "never", "{what}");
        let mine = ask(Method::GET, "/v1/me/preferences", "").json();
        assert_eq!(mine["preferences"], chosen, "{what}");

        // A revocation counts at once, wherever the call comes in.
        let revoke = format!("/v1/recipients/{recipient}/tokens/revoke");
        let revoked = two.send(Method::POST, &revoke, &[JSON], "{}");
        assert_eq!(revoked.status, StatusCode::OK, "{what}: {revoked:?}");
        for method in [Method::GET, Method::PATCH] {
            let refused = ask(method, "/v1/me/preferences", "");
            assert_eq!(refused.json()["code"], "token_revoked", "{what}");
        }
    }
    // A node that has nobody to forward to says so to pages, too.
    let mut two = two;
    two.lose_share();
    let bearer = format!("Bearer {}", user_token("k1", &in_shard(1, 5), None));
    let headers = [("origin", "https://app.example.org"), ("authorization", &*bearer)];
    let refused = two.send_to(0, Method::GET, "/v1/me/inbox", &headers, "");
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers["access-control-allow-origin"], "https://app.example.org");
}
