//! The list of suppressed addresses as hosts see and change it.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use std::sync::Arc;

use tidings_core::model::SuppressedFor;
use tidings_mail::Design;
use tidings_node::channel::{Channel, Outcome, Receipt, Rendered, RenderingChannel, ShortRenderer};

use super::{done, get, post, problem, publish, with_people};
use crate::rig::{CONFIG, Rig};
use crate::{Access, Settings};

const FCM: &str = "fcm";

/// A channel whose devices are gone, but for one. Whoever has none left wants no more messages.
struct Devices(&'static str);

impl Channel for Devices {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        assert!(go());
        let is_gone = |to: &&String| *to != self.0;
        let dead: Vec<_> =
            message.to.iter().filter(is_gone).map(|to| (to.clone(), SuppressedFor::Gone)).collect();
        if dead.len() == message.to.len() {
            Outcome::Failed { why: "410".to_owned(), suppress: Some(SuppressedFor::Stop) }
        } else {
            Outcome::Sent(Receipt { dead, ..Receipt::default() })
        }
    }
}

const ADA: &str = "/v1/suppressions/email/Ada@example.org";

fn call(rig: &Rig, method: Method, path: &str, body: &Value) -> crate::rig::Answered {
    rig.call(method, path, body)
}

#[test]
fn an_address_is_suppressed_shown_and_freed() {
    let rig = with_people();
    let nobody = call(&rig, Method::GET, ADA, &Value::Null);
    assert_eq!(problem(&nobody, StatusCode::NOT_FOUND), "suppression_not_found");
    let body = json!({"reason": "complaint", "expires_at": "2030-01-01T00:00:00+01:00"});
    done(&call(&rig, Method::PUT, ADA, &body));
    let shown = get(&rig, "/v1/suppressions/email/ada%40EXAMPLE.org");
    assert_eq!(shown["address"], "ada@example.org");
    assert_eq!(shown["reason"], "complaint");
    assert_eq!(shown["expires_at"], "2029-12-31T23:00:00Z");
    // A later one replaces it; the body may be left out.
    done(&call(&rig, Method::PUT, ADA, &json!({})));
    let shown = get(&rig, ADA);
    assert_eq!(shown["reason"], "manual");
    assert_eq!(shown["expires_at"], Value::Null);
    // Nothing is sent, and everybody who asks learns why.
    publish(&rig, "e1", "weekly", &["ada"]);
    post(&rig, "/v1/recipients/ada/flush", &json!({}));
    let outcome = || get(&rig, "/v1/events/e1")["channels"]["email"].clone();
    while outcome()["pending"] != 0 {
        std::thread::yield_now();
    }
    assert_eq!(outcome()["reasons"], json!({"suppressed": 1}));
    let messages = get(&rig, "/v1/messages?state=suppressed");
    assert_eq!(messages["messages"][0]["reason"], "suppressed");
    for _ in 0..2 {
        done(&call(&rig, Method::DELETE, ADA, &Value::Null));
    }
    let nobody = call(&rig, Method::GET, ADA, &Value::Null);
    problem(&nobody, StatusCode::NOT_FOUND);
}

#[test]
fn suppressed_addresses_are_listed_page_by_page() {
    let more = "[channels.sms]\n[channels.webpush]\n";
    let rig = Rig::with(&format!("{CONFIG}{more}"), Access::Open, Settings::default());
    let device = "https%3A%2F%2Fpush.example.org%2Fx%2F1";
    let expired = json!({"expires_at": "2000-01-01T00:00:00Z"});
    for (path, body) in [
        ("sms/+12025550123", json!({})),
        ("email/b@example.org", json!({})),
        ("email/a@example.org", json!({})),
        ("email/old@example.org", expired),
    ] {
        let path = format!("/v1/suppressions/{path}");
        done(&call(&rig, Method::PUT, &path, &body));
    }
    let path = format!("/v1/suppressions/webpush/{device}");
    done(&call(&rig, Method::PUT, &path, &json!({"reason": "gone"})));
    let addresses = |page: &Value| {
        page["suppressions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["address"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = get(&rig, "/v1/suppressions");
    assert_eq!(all["next"], Value::Null);
    let all = addresses(&all);
    assert_eq!(
        all,
        ["a@example.org", "b@example.org", "+12025550123", "https://push.example.org/x/1"]
    );
    let (mut paged, mut query) = (Vec::new(), String::new());
    loop {
        let page = get(&rig, &format!("/v1/suppressions?limit=1{query}"));
        paged.extend(addresses(&page));
        match page["next"].as_str() {
            Some(next) => query = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(paged, all);
    let of = |query: &str| addresses(&get(&rig, &format!("/v1/suppressions?{query}")));
    assert_eq!(of("channel=sms"), ["+12025550123"]);
    assert_eq!(of("reason=gone"), ["https://push.example.org/x/1"]);
    assert_eq!(of("since=2024-01-01T12:00:00Z"), all);
    assert!(of("since=2024-01-01T12:00:00.001Z").is_empty());
    let bea = json!({"addresses": {"email": "B@example.org", "sms": "+12025550123"}});
    done(&call(&rig, Method::PUT, "/v1/recipients/bea", &bea));
    assert_eq!(of("recipient=bea"), ["b@example.org", "+12025550123"]);
    assert_eq!(of("recipient=bea&channel=sms"), ["+12025550123"]);
    assert!(of("recipient=nobody").is_empty());
}

#[test]
fn lists_refuse_what_they_do_not_know() {
    let rig = with_people();
    for name in ["a", "b"] {
        let path = format!("/v1/suppressions/email/{name}@example.org");
        done(&call(&rig, Method::PUT, &path, &json!({})));
    }
    let refused = |query: &str| {
        let path = format!("/v1/suppressions?{query}");
        let answer = call(&rig, Method::GET, &path, &Value::Null);
        let code = problem(&answer, StatusCode::BAD_REQUEST);
        (code, answer.json()["hint"].as_str().unwrap().to_owned())
    };
    for (query, hint) in [
        ("chanel=email", "did you mean `channel`?"),
        ("channel=emial", "did you mean `email`?"),
        ("channel=sms", "known: `email`"),
        ("channel=inbox", "known: `email`"),
        ("reason=bounced", "did you mean `bounce`?"),
        ("reason=", "give `reason` a value, or leave it out"),
        ("reason=stop&reason=stop", "keep one of the two"),
        ("limit=501", "Example: `limit=500`"),
        ("since=yesterday", "See the call's parameters in `/v1/openapi.json`."),
    ] {
        assert_eq!(refused(query), ("invalid_query".to_owned(), hint.to_owned()), "{query}");
    }
    let next = get(&rig, "/v1/suppressions?limit=1")["next"].as_str().unwrap().to_owned();
    // The number of rows is none of the filter.
    let rest = get(&rig, &format!("/v1/suppressions?limit=500&cursor={next}"));
    assert_eq!(rest["suppressions"].as_array().unwrap().len(), 1);
    for query in
        [format!("channel=email&cursor={next}"), format!("cursor={next}A"), "cursor=x".to_owned()]
    {
        assert_eq!(refused(&query).0, "bad_cursor", "{query}");
    }
}

#[test]
fn what_is_no_address_of_a_channel_is_refused() {
    let rig = with_people();
    for (path, status, code) in [
        ("inbox/ada", StatusCode::NOT_FOUND, "channel_not_found"),
        ("pigeon/ada", StatusCode::NOT_FOUND, "channel_not_found"),
        ("email/ada", StatusCode::BAD_REQUEST, "invalid_path"),
        ("sms/ada", StatusCode::BAD_REQUEST, "invalid_path"),
    ] {
        let path = format!("/v1/suppressions/{path}");
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let answer = call(&rig, method, &path, &json!({}));
            assert_eq!(problem(&answer, status), code, "{path}");
        }
    }
    for wrong in [
        json!({"reason": "whim"}),
        json!({"expires_at": "soon"}),
        json!({"until": "2030-01-01T00:00:00Z"}),
    ] {
        let answer = call(&rig, Method::PUT, ADA, &wrong);
        problem(&answer, StatusCode::UNPROCESSABLE_ENTITY);
    }
    for wrong in ["channel=inbox", "cursor=x", "limit=0"] {
        let answer = call(&rig, Method::GET, &format!("/v1/suppressions?{wrong}"), &Value::Null);
        problem(&answer, StatusCode::BAD_REQUEST);
    }
}

#[test]
fn an_address_is_suppressed_for_the_reason_that_its_provider_gives() {
    let config = "[categories.news]\n[types.note]\ncategory = \"news\"\n\
                  channels = { fcm = { policy = \"now\" } }\n";
    let rules = tidings_config::parse(config, "tidings.toml").unwrap();
    let kind = tidings_core::model::channel_kind(FCM).unwrap();
    let renderer = ShortRenderer::new(Design::short(FCM, &rules).unwrap(), kind, None);
    let outlet = RenderingChannel::new(Arc::new(renderer), Arc::new(Devices("phone")));
    let rig = Rig::with_channels(config, [(FCM.to_owned(), outlet)].into());
    for (id, devices) in [("ada", json!(["phone", "tablet"])), ("ben", json!("watch"))] {
        let profile = json!({"addresses": {FCM: devices}});
        done(&call(&rig, Method::PUT, &format!("/v1/recipients/{id}"), &profile));
    }
    publish(&rig, "e1", "note", &["ada", "ben"]);
    let listed = || {
        let list = get(&rig, "/v1/suppressions");
        let list = list["suppressions"].as_array().unwrap().clone();
        let pair = |of: &Value| (of["address"].clone(), of["reason"].clone());
        list.iter().map(pair).collect::<Vec<_>>()
    };
    let listed_for = |address: &str, reason: &str| (json!(address), json!(reason));
    while listed().len() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(listed(), [listed_for("tablet", "gone"), listed_for("watch", "stop")]);
    // Nobody is asked to take a message for them again.
    publish(&rig, "e2", "note", &["ada", "ben"]);
    let outcome = || get(&rig, "/v1/events/e2")["channels"][FCM].clone();
    while outcome()["pending"] != 0 {
        std::thread::yield_now();
    }
    assert_eq!(outcome()["outcomes"]["delivered"], 1);
    assert_eq!(outcome()["reasons"], json!({"suppressed": 1}));
}
