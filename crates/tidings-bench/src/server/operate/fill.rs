//! The store of an operator: recipients, entries that wait, and messages that failed.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::StoreParams;
use crate::server::{Connection, unexpected};
use crate::{BenchFault, world};

/// Number of recipients or subscriptions in a request.
const TOGETHER: u32 = 1_000;

/// Number of events in a request.
const EVENTS_TOGETHER: usize = 10;

/// Number of recipients of an event, each with two entries.
const REACHED: u32 = 100;

/// The topic that the large audience follows.
pub(crate) const LARGE: &str = "topic/large";

/// The large event, whose entries wait.
pub(crate) const LARGE_EVENT: &str = "large";

/// A large event of which each recipient has a message with an outcome.
pub(crate) const ANSWERED_EVENT: &str = "answered";

/// Number of messages of the rare type.
pub(crate) const RARE: u32 = 12;

/// Makes all of it, and waits until every message has failed.
pub(crate) async fn fill(address: SocketAddr, params: &StoreParams) -> Result<(), BenchFault> {
    let mut host = Connection::open(address).await?;
    let recipients = params.recipients();
    for from in (0..recipients).step_by(TOGETHER as usize) {
        let range = from..recipients.min(from + TOGETHER);
        let people =
            range.map(|number| json!({"id": world::recipient(number), "email": email(number)}));
        ask(&mut host, "POST", "/v1/recipients", &people.collect()).await?;
    }
    for from in (0..params.audience).step_by(TOGETHER as usize) {
        let range = from..params.audience.min(from + TOGETHER);
        let follows =
            range.map(|number| json!({"recipient": world::recipient(number), "topic": LARGE}));
        ask(&mut host, "POST", "/v1/subscriptions", &follows.collect()).await?;
    }
    publish_all(&mut host, "shown", params.entries.div_ceil(2), recipients).await?;
    publish_all(&mut host, "mailed", params.bulk, recipients).await?;
    publish_all(&mut host, "rare", RARE, recipients).await?;
    for (id, event_type) in [(LARGE_EVENT, "shown"), (ANSWERED_EVENT, "announced")] {
        let large = json!({
            "id": id, "type": event_type, "actor": "artist/7",
            "object": {"id": "artwork/large"}, "to": {"topics": [LARGE]},
        });
        ask(&mut host, "POST", "/v1/events", &large).await?;
    }
    until_failed(&mut host).await
}

/// The address of a recipient.
pub(crate) fn email(number: u32) -> String {
    format!("recipient-{number:07}@example.org")
}

/// Publishes events of a type for so many notifications.
async fn publish_all(
    host: &mut Connection,
    event_type: &str,
    notifications: u32,
    recipients: u32,
) -> Result<(), BenchFault> {
    let events: Vec<u32> = (0..notifications).step_by(REACHED as usize).collect();
    for together in events.chunks(EVENTS_TOGETHER) {
        let event = |first: &u32| {
            let reached = *first..notifications.min(first + REACHED);
            let to: Vec<_> = reached.map(|at| world::recipient(at % recipients)).collect();
            json!({
                "id": format!("{event_type}-{first:08}"), "type": event_type,
                "actor": format!("artist/{}", first / REACHED % 500),
                "object": {"id": format!("artwork/{}", first / REACHED % 5_000)},
                "to": {"recipients": to},
            })
        };
        ask(host, "POST", "/v1/events", &together.iter().map(event).collect()).await?;
    }
    Ok(())
}

/// Waits until no message is on its way.
pub(crate) async fn until_failed(host: &mut Connection) -> Result<(), BenchFault> {
    let path = "/v1/messages?state=planned&state=sending&state=retrying&limit=1";
    loop {
        let page = ask(host, "GET", path, &Value::Null).await?;
        if page["messages"].as_array().is_some_and(Vec::is_empty) && page["next"].is_null() {
            return Ok(());
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// A request with a body, if there is one.
pub(crate) fn request(method: &str, path: &str, body: &Value) -> Vec<u8> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Sends a request that has to succeed. Returns the answer.
pub(crate) async fn ask(
    host: &mut Connection,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<Value, BenchFault> {
    let answer = host.ask(&request(method, path, body)).await?;
    if !answer.starts_with(b"HTTP/1.1 2") {
        return Err(unexpected(answer));
    }
    let text = String::from_utf8_lossy(answer);
    let said = text.split_once("\r\n\r\n").map_or("", |(_, said)| said);
    Ok(serde_json::from_str(said).unwrap_or_default())
}
