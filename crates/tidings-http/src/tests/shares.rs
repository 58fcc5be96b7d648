//! Callers do not take from each other: shares of reads, bodies, answers, streams and long polls.

use std::future::Future;
use std::pin::Pin;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use futures_util::poll;
use serde_json::json;
use tidings_api::keys::NewKey;
use tidings_node::{KeyChange, Role};

use super::{code, fed};
use crate::rig::{Answered, CONFIG, Rig, user_token};
use crate::{Access, Settings};

const TENANTS: &str = "[users]\n[tenants]\non = true\n";

/// A server with two recipients, and API keys.
struct World {
    rig: Rig,
}

impl World {
    fn new(settings: Settings) -> Self {
        let config = format!("{CONFIG}{TENANTS}");
        let rig = Rig::with(&config, Access::Keys { token: None }, settings);
        rig.make_signing_key("k1");
        let world = Self { rig };
        let key = world.key();
        for id in ["ana", "ben"] {
            let done = world.call(&key, Method::PUT, &format!("/v1/recipients/{id}"), "{}");
            assert!(done.status.is_success(), "{done:?}");
        }
        world
    }

    /// The secret of another API key.
    fn key(&self) -> String {
        let key = NewKey::make(String::new(), Role::Admin, tidings_core::Instant(0)).unwrap();
        self.rig.change_keys(KeyChange::Make(key.stored));
        key.secret.text().to_owned()
    }

    fn request(
        &self,
        bearer: &str,
        method: Method,
        path: &str,
        body: impl Into<Body>,
    ) -> Request<Body> {
        Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {bearer}"))
            .header("content-type", "application/json")
            .body(body.into())
            .unwrap()
    }

    fn call(&self, bearer: &str, method: Method, path: &str, body: &str) -> Answered {
        let request = self.request(bearer, method, path, body.to_owned());
        self.rig.tokio.block_on(self.rig.ask(request))
    }

    fn get(&self, bearer: &str, path: &str) -> Answered {
        self.call(bearer, Method::GET, path, "")
    }

    fn publish(&self, key: &str, event: &str, title: &str) {
        let object = json!({ "id": event, "title": title });
        let to = json!({ "recipients": ["ana", "ben"] });
        let body = json!({ "id": event, "type": "note", "object": object, "to": to }).to_string();
        let done = self.call(key, Method::POST, "/v1/events", &body);
        assert!(done.status.is_success(), "{done:?}");
    }

    /// Begins a call, and lets it come to where it waits.
    fn begun(&self, bearer: &str, path: &str) -> Pin<Box<dyn Future<Output = Answered> + Send>> {
        let request = self.request(bearer, Method::GET, path, Body::empty());
        let mut call: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(self.rig.ask(request));
        self.rig.tokio.block_on(async {
            assert!(poll!(&mut call).is_pending(), "{path} is answered at once");
        });
        call
    }
}

fn token(recipient: &str) -> String {
    user_token("k1", recipient, None)
}

#[test]
fn c5_a_recipient_has_a_share_of_the_reads() {
    let world = World::new(Settings::default());
    let key = world.key();
    world.rig.service.reads.halt();
    let anas = token("ana");
    let waiting: Vec<_> = (0..40).map(|_| world.begun(&anas, "/v1/me/inbox")).collect();
    let refused = world.get(&anas, "/v1/me/inbox");
    assert_eq!((refused.status, code(&refused)), (StatusCode::TOO_MANY_REQUESTS, "busy".into()));
    assert_eq!(refused.headers["retry-after"], "1");
    // Another of her tokens is hers as well; others are not refused.
    assert_eq!(code(&world.get(&user_token("k1", "ana", Some("inbox")), "/v1/me/inbox")), "busy");
    let others = [world.begun(&token("ben"), "/v1/me/inbox"), world.begun(&key, "/v1/types")];
    drop((waiting, others));
    let _again = world.begun(&anas, "/v1/me/inbox");
}

#[test]
fn c4_a_recipient_who_reads_no_answers_gets_no_more_of_them() {
    let settings = Settings { answers_share_bytes_max: 10_000, ..Settings::default() };
    let world = World::new(settings);
    let key = world.key();
    (0..20).for_each(|no| world.publish(&key, &format!("e{no}"), &"x".repeat(900)));
    let anas = token("ana");
    let page = || world.request(&anas, Method::GET, "/v1/me/inbox?limit=100", Body::empty());
    // One answer is given however large it is.
    let unread = world.rig.begin(page());
    assert_eq!(unread.status(), StatusCode::OK);
    assert_eq!(code(&world.get(&anas, "/v1/me/inbox")), "busy");
    let mark = world.call(&anas, Method::POST, "/v1/me/inbox/read", "{\"event\":\"e1\"}");
    assert_eq!(code(&mark), "busy", "nothing is done");
    assert_eq!(world.get(&token("ben"), "/v1/me/inbox").status, StatusCode::OK);
    assert_eq!(world.get(&key, "/v1/recipients/ana/inbox").status, StatusCode::OK);
    drop(unread);
    let page = world.get(&anas, "/v1/me/inbox?limit=100").json();
    assert_eq!((&page["unread"], page["groups"].as_array().unwrap().len()), (&json!(20), 20));
}

#[test]
fn c3_a_stream_of_lines_takes_room_as_they_come() {
    let settings = Settings { bodies_bytes_max: 60_000, ..Settings::default() };
    let world = World::new(settings);
    let (one, other) = (world.key(), world.key());
    let held: Vec<_> = (0..64)
        .map(|_| {
            let (mut request, feed) = fed(b"\n");
            *request.method_mut() = Method::POST;
            *request.uri_mut() = "/v1/events".parse().unwrap();
            let headers = request.headers_mut();
            headers.insert("authorization", format!("Bearer {one}").parse().unwrap());
            headers.insert("content-type", "application/x-ndjson".parse().unwrap());
            let held = world.rig.tokio.spawn(world.rig.ask(request));
            feed.wait_until_read();
            (held, feed)
        })
        .collect();
    let batch = json!([{ "id": "a", "title": "x" }]).to_string() + &" ".repeat(39_000);
    let done = world.call(&other, Method::POST, "/v1/objects", &batch);
    assert_eq!(done.status, StatusCode::OK, "{done:?}");
    for (held, feed) in held {
        drop(feed);
        world.rig.tokio.block_on(held).unwrap();
    }
}

#[test]
fn c3_a_key_has_not_all_the_room_for_bodies_and_explain_takes_little() {
    let settings = Settings { bodies_bytes_max: 80_000, ..Settings::default() };
    let world = World::new(settings);
    let key = world.key();
    let large = " ".repeat(78_000) + "{}";
    assert_eq!(code(&world.call(&key, Method::PUT, "/v1/objects/a", &large)), "busy");
    let world = World::new(Settings::default());
    let key = world.key();
    let large = " ".repeat(600_000) + "{}";
    assert_eq!(code(&world.call(&key, Method::POST, "/v1/explain", &large)), "body_too_large");
}

#[test]
fn c8_a_recipient_has_eight_long_polls() {
    let world = World::new(Settings::default());
    let anas = token("ana");
    let path = "/v1/me/inbox?since=99&wait=60s";
    let ask = |bearer: &str| {
        let request = world.request(bearer, Method::GET, path, Body::empty());
        world.rig.tokio.spawn(world.rig.ask(request))
    };
    let open = |count: usize| {
        while world.rig.service.live.open_streams() < count {
            std::thread::yield_now();
        }
    };
    let polls: Vec<_> = (0..8).map(|_| ask(&anas)).collect();
    open(8);
    assert_eq!(code(&world.get(&anas, path)), "busy");
    let bens = ask(&token("ben"));
    open(9);
    for poll in polls.into_iter().chain([bens]) {
        poll.abort();
    }
}

#[test]
fn c8_a_recipient_has_32_streams_of_all_views() {
    let world = World::new(Settings::default());
    let key = world.key();
    let stream = |tenant: usize| {
        let path = format!("/v1/recipients/ana/live?tenant=t{tenant}");
        let response = world.rig.begin(world.request(&key, Method::GET, &path, Body::empty()));
        assert_eq!(response.status(), StatusCode::OK);
        response.into_body()
    };
    for tenant in 0..5 {
        let done = world.call(&key, Method::PUT, &format!("/v1/tenants/t{tenant}"), "{}");
        assert!(done.status.is_success(), "{done:?}");
    }
    let mut streams: Vec<_> = (0..32).map(|no| stream(no / 8)).collect();
    let last = stream(4);
    let texts = |body: Body| {
        use http_body_util::BodyExt as _;
        let mut body = body;
        world.rig.tokio.block_on(async move {
            let mut text = String::new();
            while !text.contains("event: end")
                && let Some(frame) = body.frame().await
            {
                text += &String::from_utf8_lossy(&frame.unwrap().into_data().unwrap());
            }
            text
        })
    };
    let first = texts(streams.remove(0));
    assert!(first.contains("\"code\":\"replaced\""), "{first}");
    drop((streams, last));
}

#[test]
fn c9_exports_keep_no_backup_out() {
    let world = World::new(Settings::default());
    let [one, other, third] = [(); 3].map(|()| world.key());
    let begin = |key: &str| {
        let request = world.request(key, Method::GET, "/v1/export", Body::empty());
        let response = world.rig.begin(request);
        assert_eq!(response.status(), StatusCode::OK);
        response
    };
    let slow = [begin(&one), begin(&other)];
    assert_eq!(code(&world.get(&one, "/v1/export")), "busy");
    assert_eq!(code(&world.get(&third, "/v1/export")), "too_busy");
    for _ in 0..3 {
        assert_eq!(world.get(&third, "/v1/admin/backup").status, StatusCode::OK);
    }
    drop(slow);
}
