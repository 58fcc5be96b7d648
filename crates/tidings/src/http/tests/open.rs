//! What callers without a key can make the server hold in bodies.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode};
use futures_util::stream;
use serde_json::json;
use tidings_core::channel::EMAIL_NO;
use tidings_core::number::MessageId;
use tidings_core::{Day, Id};
use tidings_mail::Unsubscribe;

use super::{code, fed};
use crate::http::rig::{CONFIG, Rig, tokens};
use crate::http::{Access, Settings};

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
        format!("{CONFIG}\n[feedback]\npostmark = \"${{LOGIN}}\"\nses = \"arn:aws:sns:x\"\n");
    let settings = Settings {
        open_bodies_bytes_max: 60_000,
        ..Settings::default()
    };
    Rig::with(&config, access, settings)
}

/// A request whose body is held as long as the feed is.
fn slow(path: &str) -> (Request<Body>, super::Feed) {
    let (mut request, feed) = fed(&vec![b' '; 39_000]);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = path.parse().unwrap();
    (request, feed)
}

#[test]
fn a2_bodies_without_a_key_have_one_bound_together() {
    let rig = small(Access::Open);
    let token = Unsubscribe {
        recipient: Id::new("ana").unwrap(),
        channel: EMAIL_NO,
        message: MessageId::default(),
        day: Day(19_723),
        lane: None,
        types: BTreeSet::new(),
    };
    let page = format!("/u/{}", token.seal(&tokens()));
    let open = ["/feedback/postmark", "/feedback/ses", &page];
    for held in open {
        let (request, feed) = slow(held);
        let first = rig.tokio.spawn(rig.ask(request));
        feed.wait_until_read();
        for other in open {
            let told = [("content-length", "39000")];
            let refused = rig.send(Method::POST, other, &told, untouched());
            assert_eq!(
                refused.status,
                StatusCode::TOO_MANY_REQUESTS,
                "{held} {other}"
            );
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
            assert!(
                refused.status.is_client_error(),
                "{path}: {}",
                refused.status
            );
        }
    }
}
