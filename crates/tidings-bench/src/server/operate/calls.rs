//! The calls of an operator, one after the other.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::fill::{ANSWERED_EVENT, LARGE, LARGE_EVENT, ask, email, request};
use super::{EXPLAIN_MS, LIST_MS, SEARCH_MS, StoreParams};
use crate::server::{Connection, unexpected};
use crate::stopwatch::{Stopwatch, ms};
use crate::{BenchFault, world};

/// A call that is measured.
pub(super) struct OperatorCall {
    pub(super) metric: &'static str,
    /// The bar in milliseconds.
    pub(super) bar: f64,
    path: String,
    /// Null = it is read.
    body: Value,
}

fn list(metric: &'static str, path: impl Into<String>) -> OperatorCall {
    OperatorCall { metric, bar: LIST_MS, path: path.into(), body: Value::Null }
}

fn all(params: &StoreParams) -> Vec<OperatorCall> {
    let whose = world::recipient(params.recipients() / 2);
    let event = format!("/v1/events/{LARGE_EVENT}/recipients");
    let asks =
        |metric, bar, path: &str, body| OperatorCall { metric, bar, path: path.into(), body };
    vec![
        list("recipients", "/v1/recipients"),
        list("recipients_by_prefix", format!("/v1/recipients?id_prefix={whose}")),
        list("events", "/v1/events"),
        list("events_of_type", "/v1/events?type=rare"),
        list("events_of_object", "/v1/events?object=artwork/large"),
        list("events_of_actor", "/v1/events?actor=artist/7"),
        list("events_of_recipient", format!("/v1/events?recipient={whose}")),
        list("event_recipients", event.clone()),
        list("event_recipients_scheduled", format!("{event}?channel=email&outcome=pending")),
        list("event_recipients_failed", format!("{event}?channel=email&outcome=failed")),
        list("event_answered", format!("/v1/events/{ANSWERED_EVENT}")),
        list(
            "event_answered_failed",
            format!("/v1/events/{ANSWERED_EVENT}/recipients?outcome=failed"),
        ),
        list("messages", "/v1/messages"),
        list("messages_failed", "/v1/messages?state=failed"),
        list("messages_rare_failed", "/v1/messages?state=failed&type=rare"),
        list("messages_of_reason", "/v1/messages?reason=unreachable"),
        list("messages_none_sent", "/v1/messages?state=sent"),
        list("messages_of_recipient", format!("/v1/messages?recipient={whose}")),
        list("messages_of_event", "/v1/messages?event=rare-00000000"),
        list("suppressions", "/v1/suppressions"),
        list("followers", format!("/v1/topics/{}/followers", LARGE.replace('/', "%2F"))),
        list("jobs", "/v1/admin/jobs"),
        asks("search_address", SEARCH_MS, "/v1/search", json!({"q": email(7)})),
        asks("search_nothing", SEARCH_MS, "/v1/search", json!({"q": "nobody@example.net"})),
        asks("explain_audience", EXPLAIN_MS, "/v1/explain", json!({"event": LARGE_EVENT})),
        asks("explain_answered", EXPLAIN_MS, "/v1/explain", json!({"event": ANSWERED_EVENT})),
    ]
}

/// The times of each call.
pub(super) async fn measure(
    address: SocketAddr,
    params: &StoreParams,
) -> Result<Vec<(OperatorCall, Vec<f64>)>, BenchFault> {
    let mut host = Connection::open(address).await?;
    let mut measured = Vec::new();
    for call in all(params) {
        let method = if call.body.is_null() { "GET" } else { "POST" };
        let wanted = request(method, &call.path, &call.body);
        let mut times = Vec::new();
        for _ in 0..params.runs {
            let watch = Stopwatch::start();
            let answer = host.ask(&wanted).await?;
            times.push(ms(watch.elapsed()));
            if !answer.starts_with(b"HTTP/1.1 200") {
                return Err(unexpected(answer));
            }
        }
        measured.push((call, times));
    }
    Ok(measured)
}

/// The times of events to the large audience.
pub(super) async fn publish_large(
    address: SocketAddr,
    params: &StoreParams,
) -> Result<Vec<f64>, BenchFault> {
    let mut host = Connection::open(address).await?;
    let mut times = Vec::new();
    for run in 0..params.runs {
        let event = json!({
            "id": format!("large-{run}"), "type": "shown", "actor": "artist/7",
            "object": {"id": "artwork/large"}, "to": {"topics": [LARGE]},
        });
        let watch = Stopwatch::start();
        ask(&mut host, "POST", "/v1/events", &event).await?;
        times.push(ms(watch.elapsed()));
    }
    Ok(times)
}
