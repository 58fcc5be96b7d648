//! Bounds on the bodies that callers without a key can make the server hold.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode};
use futures_util::stream;
use serde_json::json;
use tidings_core::model::{EMAIL_NO, MessageId};
use tidings_core::{Day, Id};
use tidings_mail::Unsubscribe;

use super::{code, fed};
use crate::rig::{CONFIG, Rig, tokens};
use crate::shares::Peer;
use crate::{Access, Settings};

/// A body of which nothing may be read.
fn untouched() -> Body {
    let piece = |_: &mut Context<'_>| -> Poll<Option<Result<Bytes, Infallible>>> {
        panic!("the body is read")
    };
    Body::from_stream(stream::poll_fn(piece))
}

/// A server that has configured providers, and room for few bodies.
fn small(access: Access) -> Rig {
    let config =
        format!("{CONFIG}\n[feedback]\nsendgrid = \"${{LOGIN}}\"\nses = \"arn:aws:sns:x\"\n");
    let settings = Settings { open_bodies_bytes_max: 60_000, ..Settings::default() };
    Rig::with(&config, access, settings)
}

/// A request whose body is held as long as the feed is.
fn slow(path: &str) -> (Request<Body>, super::Feed) {
    slow_of(path, 39_000)
}

fn slow_of(path: &str, bytes: usize) -> (Request<Body>, super::Feed) {
    let (mut request, feed) = fed(&vec![b' '; bytes]);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = path.parse().unwrap();
    (request, feed)
}

#[test]
fn a2_bodies_without_a_key_have_one_bound_together() {
    let rig = small(Access::Open);
    let token = Unsubscribe {
        tenant: None,
        recipient: Id::new("ana").unwrap(),
        channel: EMAIL_NO,
        message: MessageId::default(),
        day: Day(19_723),
        lane: None,
        types: BTreeSet::new(),
    };
    let page = format!("/u/{}", token.seal(&tokens()));
    let open = ["/feedback/sendgrid", "/feedback/ses", &page];
    for held in open {
        let (request, feed) = slow(held);
        let first = rig.tokio.spawn(rig.ask(request));
        feed.wait_until_read();
        for other in open {
            let told = [("content-length", "39000")];
            let refused = rig.send(Method::POST, other, &told, untouched());
            assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS, "{held} {other}");
            let (grows, _feed) = slow(other);
            let refused = rig.tokio.block_on(rig.ask(grows));
            assert_eq!(code(&refused), "too_busy", "{held} {other}");
        }
        // Whoever has a key has room of their own.
        let object = json!({ "title": "x".repeat(900) }).to_string() + &" ".repeat(38_000);
        let kind = [("content-type", "application/json")];
        let put = rig.send(Method::PUT, "/v1/objects/a", &kind, object);
        assert_eq!(put.status, StatusCode::NO_CONTENT);
        drop(feed);
        rig.tokio.block_on(first).unwrap();
    }
}

/// A call of a provider that announces its body, of which these many bytes come at first.
fn begun(peer: Option<&str>, bytes: usize) -> (Request<Body>, super::Feed) {
    let (mut request, feed) = slow_of("/feedback/ses", bytes);
    let headers = request.headers_mut();
    headers.insert("content-length", 39_000.into());
    if let Some(peer) = peer {
        let peer = Peer(peer.parse().unwrap());
        request.extensions_mut().insert(peer);
    }
    (request, feed)
}

#[test]
fn b5_a_body_that_is_announced_and_does_not_come_takes_no_room() {
    let rig = small(Access::Open);
    let held: Vec<_> = (0..16)
        .map(|_| {
            let (request, feed) = begun(None, 10_000);
            let held = rig.tokio.spawn(rig.ask(request));
            feed.wait_until_read();
            (held, feed)
        })
        .collect();
    let path = "/feedback/ses";
    let real = rig.send(Method::POST, path, &[], vec![b' '; 39_000]);
    assert_eq!(real.status, StatusCode::UNPROCESSABLE_ENTITY);
    for (held, feed) in held {
        drop(feed);
        rig.tokio.block_on(held).unwrap();
    }
}

#[test]
fn b5_an_address_has_a_share_of_the_bodies_that_need_no_key() {
    let config = format!("{CONFIG}\n[feedback]\nses = \"arn:aws:sns:x\"\n");
    let settings = Settings {
        open_bodies_bytes_max: 160_000,
        open_bodies_peer_bytes_max: 40_000,
        ..Settings::default()
    };
    let rig = Rig::with(&config, Access::Open, settings);
    let hold = |peer: &str| {
        let (request, feed) = begun(Some(peer), 39_000);
        let held = rig.tokio.spawn(rig.ask(request));
        feed.wait_until_read();
        (held, feed)
    };
    let ask = |peer: &str| {
        let (mut request, _feed) = begun(Some(peer), 0);
        *request.body_mut() = vec![b' '; 39_000].into();
        rig.tokio.block_on(rig.ask(request)).status
    };
    let stranger = hold("192.0.2.1");
    assert_eq!(ask("192.0.2.1"), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(ask("192.0.2.2"), StatusCode::UNPROCESSABLE_ENTITY);
    // Whoever is on this machine may be a proxy for all.
    let here = [hold("127.0.0.1"), hold("127.0.0.1")];
    assert_eq!(ask("127.0.0.1"), StatusCode::UNPROCESSABLE_ENTITY);
    let last = hold("192.0.2.3");
    assert_eq!(ask("127.0.0.1"), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(ask("192.0.2.2"), StatusCode::TOO_MANY_REQUESTS);
    for (held, feed) in here.into_iter().chain([stranger, last]) {
        drop(feed);
        rig.tokio.block_on(held).unwrap();
    }
    assert_eq!(ask("192.0.2.1"), StatusCode::UNPROCESSABLE_ENTITY);
}

#[test]
fn b5_a_body_without_a_key_is_waited_for_for_a_short_time() {
    let config = format!("{CONFIG}\n[feedback]\nses = \"arn:aws:sns:x\"\n");
    let settings = Settings { open_body_patience: Duration::ZERO, ..Settings::default() };
    let rig = Rig::with(&config, Access::Open, settings);
    let (request, _feed) = begun(None, 10);
    let late = rig.tokio.block_on(rig.ask(request));
    assert_eq!(code(&late), "request_timeout");
    let usual = Settings::default();
    assert!(usual.open_body_patience < usual.body_patience);
}

#[test]
fn a2_nothing_is_read_of_a_call_that_is_refused() {
    let rig = small(Access::Keys { token: None });
    for path in [
        "/v1/events",
        "/v1/events/x/cancel",
        "/cluster/commands",
        "/cluster/acts",
        "/feedback/mailgun",
        "/u/no-token",
        "/more/no-token",
        "/_mail",
        "/_mail/x",
        "/metrics",
        "/healthz",
        "/errors/not_found",
        "/no/such/path",
    ] {
        for told in [&[][..], &[("content-length", "39000")]] {
            let refused = rig.send(Method::POST, path, told, untouched());
            assert!(refused.status.is_client_error(), "{path}: {}", refused.status);
        }
    }
}
