//! Parsers of bytes from outside, each with the largest and the deepest of every shape, on the stack that a thread of a
//! server has: a recursion without a bound ends the process here.

use axum::http::Method;
use tidings_config::duration;

use crate::rig::Rig;

/// The stack of a thread of the server, which is the default of the runtime and of threads.
const STACK_BYTES: usize = 2 << 20;

/// Levels that no stack holds.
const LEVELS: usize = 1_000_000;

/// Each shape of nesting in JSON: what opens a level, and what closes it.
const SHAPES: [(&str, &str); 5] = [
    ("[", "]"),
    ("{\"a\":", "}"),
    ("[{\"a\":", "}]"),
    ("[0,", "]"),
    ("{\"a\":0,\"\\u0062\":", "}"),
];

/// Runs with the stack that a thread of the server has.
fn on_a_server_stack(test: impl FnOnce() + Send + 'static) {
    let threads = std::thread::Builder::new().stack_size(STACK_BYTES);
    threads.spawn(test).unwrap().join().unwrap();
}

/// The deepest values of each shape, closed and cut off.
fn deepest() -> impl Iterator<Item = String> {
    SHAPES.into_iter().flat_map(|(open, close)| {
        let cut = open.repeat(LEVELS);
        let whole = format!("{cut}1{}", close.repeat(LEVELS));
        [whole, cut]
    })
}

#[test]
fn a1_json_of_any_depth_is_answered_wherever_it_may_stand() {
    on_a_server_stack(|| {
        let rig = Rig::new();
        let event = |part: &str| {
            format!(r#"{{"type":"note","object":{{"id":"o"}},"to":{{}},"data":{{"a":{part}}}}}"#)
        };
        for value in deepest() {
            let wide = format!(r#"{{"addresses":{{"webpush":{value}}}}}"#);
            let calls = [
                (Method::POST, "/v1/events", "application/json", event(&value)),
                (Method::POST, "/v1/events", "application/json", format!("[{}]", event(&value))),
                (Method::POST, "/v1/events", "application/x-ndjson", event(&value)),
                (Method::POST, "/v1/events", "application/json", value.clone()),
                (Method::POST, "/v1/explain", "application/json", value.clone()),
                (Method::PATCH, "/v1/recipients/ada", "application/json", wide),
                (Method::PUT, "/v1/recipients/ada/preferences", "application/json", value.clone()),
                (Method::PUT, "/v1/objects/o", "application/json", value),
            ];
            for (method, path, kind, body) in calls {
                let answer = rig.send(method, path, &[("content-type", kind)], body);
                assert!(answer.status.as_u16() < 500, "{path}: {answer:?}");
            }
        }
        let deep = SHAPES[0].0.repeat(60_000);
        let text = serde_json::json!({"addresses": {"webpush": deep}}).to_string();
        let kind = [("content-type", "application/json")];
        let answer = rig.send(Method::PATCH, "/v1/recipients/ada", &kind, text);
        assert!(answer.status.is_client_error(), "{answer:?}");
    });
}

#[test]
fn a1_texts_of_any_length_are_answered_wherever_they_may_stand() {
    on_a_server_stack(|| {
        let rig = Rig::new();
        let long = "A".repeat(60_000);
        for path in [
            format!("/u/{long}"),
            format!("/more/{long}"),
            format!("/v1/recipients/ada/inbox?cursor={long}"),
            format!("/v1/messages?cursor={long}"),
            format!("/v1/messages?since={long}"),
            format!("/{}", "a/".repeat(30_000)),
            format!("/{}", "%2F".repeat(20_000)),
        ] {
            let answer = rig.send(Method::GET, &path, &[], "");
            assert!(answer.status.is_client_error(), "{}: {answer:?}", &path[..20]);
        }
        let form = "application/x-www-form-urlencoded";
        let parts = "multipart/form-data; boundary=b";
        for (kind, part) in [(form, "a=%"), (form, "&set=["), (parts, "--b\r\n\r\nname=\"")] {
            let body = part.repeat((60 << 10) / part.len());
            let answer = rig.send(Method::POST, "/u/x", &[("content-type", kind)], body);
            assert!(answer.status.is_client_error(), "{kind}: {answer:?}");
        }
        for part in ["P", "P1D", "1h", "9", "\u{e9}"] {
            assert!(duration::parse(&part.repeat(100_000)).is_err(), "{part}");
        }
    });
}
