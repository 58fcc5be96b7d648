//! A job that retries many messages, beside a host that publishes.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::OperateParams;
use super::fill::{ask, until_failed};
use crate::server::{Connection, post, unexpected};
use crate::stopwatch::{Stopwatch, ms};
use crate::{BenchFault, number, world};

/// The interval of publishes.
const PUBLISHING: Duration = Duration::from_millis(20);

/// The times of publishes in milliseconds, and of the job.
#[derive(Default)]
pub(super) struct BulkTimes {
    pub(super) alone: Vec<f64>,
    pub(super) under_job: Vec<f64>,
    /// The time of the call that makes the job.
    pub(super) made_ms: f64,
    /// Messages a second.
    pub(super) rate: f64,
}

/// A host that publishes one event after the other.
struct Host {
    connection: Connection,
    recipients: u32,
    next: u64,
}

impl Host {
    /// Publishes an event. Returns the time of the call in milliseconds.
    async fn publish(&mut self) -> Result<f64, BenchFault> {
        self.next += 1;
        let to = u32::try_from(self.next % u64::from(self.recipients)).unwrap_or_default();
        let request = post(&world::body(self.next, to));
        let watch = Stopwatch::start();
        let answer = self.connection.ask(&request).await?;
        let took = ms(watch.elapsed());
        if !answer.starts_with(b"HTTP/1.1 202") {
            return Err(unexpected(answer));
        }
        sleep(PUBLISHING).await;
        Ok(took)
    }

    async fn publish_for(&mut self, seconds: u64) -> Result<Vec<f64>, BenchFault> {
        let (watch, until) = (Stopwatch::start(), Duration::from_secs(seconds));
        let mut times = Vec::new();
        while watch.elapsed() < until {
            times.push(self.publish().await?);
        }
        Ok(times)
    }
}

/// Publishes alone, beside a job that retries all failed messages of a type, and alone again.
pub(super) async fn measure(
    address: SocketAddr,
    params: &OperateParams,
) -> Result<BulkTimes, BenchFault> {
    let connection = Connection::open(address).await?;
    let mut host = Host { connection, recipients: params.store.recipients(), next: 0 };
    let mut times =
        BulkTimes { alone: host.publish_for(params.seconds).await?, ..BulkTimes::default() };
    // Not before: a server closes a connection that has sent nothing after some seconds.
    let mut operator = Connection::open(address).await?;
    let body = json!({
        "filter": {"type": "mailed", "state": "failed"}, "expect": params.store.bulk, "now": true,
    });
    let watch = Stopwatch::start();
    let made = ask(&mut operator, "POST", "/v1/messages/retry", &body).await?;
    times.made_ms = ms(watch.elapsed());
    let path = format!("/v1/admin/jobs/{}", made["job"].as_str().unwrap_or_default());
    let watch = Stopwatch::start();
    loop {
        for _ in 0..10 {
            times.under_job.push(host.publish().await?);
        }
        let job = ask(&mut operator, "GET", &path, &Value::Null).await?;
        if job["state"] == "done" {
            let done = job["done"].as_u64().unwrap_or_default();
            times.rate = number(done) / watch.elapsed().as_secs_f64();
            break;
        }
    }
    until_failed(&mut operator).await?;
    times.alone.extend(host.publish_for(params.seconds).await?);
    Ok(times)
}
