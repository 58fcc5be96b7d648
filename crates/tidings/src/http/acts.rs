//! The call by which nodes with parts of a store report to the one with the intake, and take the acts that follow: its
//! two ends.
//!
//! It is between nodes of one version, so the document of the API has no trace of it. The answer begins with a line that
//! says whether the acts are here or in the store alone; for each number follow a line with the number and the length of
//! its acts in bytes, and the acts as they are stored.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use crossbeam_channel::bounded;
use tidings_core::engine::{ActNo, StoredActs};
use tidings_node::{Batch, Link, Report};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::cluster::Cluster;
use super::error::{Code, Problem};
use super::homes::Home;
use super::service::Service;

/// The path of the call.
const PATH: &str = "/cluster/acts";

/// The largest report that is read, in bytes.
const REPORT_BYTES_MAX: usize = 64 << 20;

/// The time for which a call waits for acts.
const WAIT: Duration = Duration::from_millis(500);

/// Time limit of a call.
const PATIENCE: Duration = Duration::from_secs(3);

/// The largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The first line of an answer with acts, or without any yet.
const HERE: &str = "acts";
/// The first line of an answer that sends the caller to the store.
const BEHIND: &str = "behind";

/// Room for a line of an answer.
const LINE_BYTES: usize = 48;

/// The call, beside those of the API.
pub(super) fn routes() -> Router<Arc<Service>> {
    let limit = DefaultBodyLimit::max(REPORT_BYTES_MAX);
    Router::new().route(PATH, post(acts).layer(limit))
}

async fn acts(State(service): State<Arc<Service>>, body: Bytes) -> Result<Response, Problem> {
    let report: Report = serde_json::from_slice(&body)
        .map_err(|fault| Problem::new(Code::InvalidJson, fault.to_string()))?;
    if service.among().is_some_and(|(homes, _)| !homes.intake) {
        return Err(Problem::new(
            Code::NoHolder,
            "this node does not accept events any more",
        ));
    }
    let ended = || Problem::new(Code::NoHolder, "the node asked anew, or has ended");
    let ((hear, heard), (give, given)) = (oneshot::channel(), oneshot::channel());
    service.handle.report(
        report,
        move || hear.send(()).unwrap_or_default(),
        move |batch| drop(give.send(batch)),
    )?;
    // Any answer says that the report was heard.
    heard.await.map_err(|_| ended())?;
    let batch = match timeout(WAIT, given).await {
        Ok(batch) => batch.map_err(|_| ended())?,
        Err(_) => Batch::default(),
    };
    Ok(write(&batch).into_response())
}

fn write(batch: &Batch) -> Vec<u8> {
    let first = if batch.is_behind { BEHIND } else { HERE };
    let sizes = batch.told.iter().map(|told| told.bytes().len());
    let lines = LINE_BYTES * (1 + batch.told.len());
    let mut text = Vec::with_capacity(lines + sizes.sum::<usize>());
    text.extend_from_slice(format!("{first}\n").as_bytes());
    for told in &batch.told {
        let acts = told.bytes();
        text.extend_from_slice(format!("{} {}\n", told.no, acts.len()).as_bytes());
        text.extend_from_slice(acts);
    }
    text
}

/// The way to whoever has the intake, as the nodes know it.
pub(crate) struct HttpLink {
    cluster: Arc<Cluster>,
    tokio: Handle,
}

impl HttpLink {
    /// Creates a link that follows the intake from node to node.
    pub(crate) fn new(cluster: Arc<Cluster>, tokio: Handle) -> Self {
        Self { cluster, tokio }
    }
}

impl Link for HttpLink {
    fn exchange(&mut self, report: &Report) -> Result<Batch, String> {
        let report = serde_json::to_vec(report).map_err(|fault| fault.to_string())?;
        let (give, given) = bounded(1);
        let cluster = Arc::clone(&self.cluster);
        let asking = self
            .tokio
            .spawn(async move { drop(give.send(ask(&cluster, report).await)) });
        // A runtime that ends drops what it was asked.
        let asked = given.recv_timeout(PATIENCE);
        asking.abort();
        asked.map_err(|_| format!("no answer within {} s", PATIENCE.as_secs()))?
    }
}

async fn ask(cluster: &Cluster, report: Vec<u8>) -> Result<Batch, String> {
    let holder = cluster.peer(Home::Intake);
    let holder = holder.ok_or("no node is known to have the intake")?;
    let call = (Method::POST, PathAndQuery::from_static(PATH));
    let answer = cluster.call(&holder, call, report).await;
    let answer = answer.map_err(|problem| problem.detail.into_owned())?;
    let status = answer.status();
    if status != StatusCode::OK {
        return Err(format!("the answer is {status}"));
    }
    let bytes = to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await;
    read(&bytes.map_err(|fault| fault.to_string())?)
}

/// Reads the answer to a report.
fn read(text: &[u8]) -> Result<Batch, String> {
    let (first, mut rest) = line(text).ok_or("the answer has another form")?;
    let is_behind = match first {
        BEHIND => true,
        HERE => false,
        _ => return Err("the answer has another form".to_owned()),
    };
    let mut told = Vec::new();
    while !rest.is_empty() {
        let head = line(rest).and_then(|(head, after)| Some((head.split_once(' ')?, after)));
        let ((no, bytes), after) = head.ok_or("acts without a number and a length")?;
        let no = no.parse().map_err(|_| "acts without a number")?;
        let bytes = bytes.parse().map_err(|_| "acts without a length")?;
        let (acts, after) = after.split_at_checked(bytes).ok_or("acts are cut off")?;
        told.push(StoredActs::new(ActNo(no), acts.to_vec()));
        rest = after;
    }
    Ok(Batch { told, is_behind })
}

/// The first line, and what follows its end.
fn line(text: &[u8]) -> Option<(&str, &[u8])> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&text[..end]).ok()?;
    Some((line, &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let told = [(1, "some"), (2, "")];
        let told = told.map(|(no, acts)| StoredActs::new(ActNo(no), acts.into()));
        let batch = Batch {
            told: told.to_vec(),
            is_behind: false,
        };
        let again = read(&write(&batch)).unwrap();
        assert!(!again.is_behind);
        let again: Vec<_> = again
            .told
            .iter()
            .map(|told| (told.no.0, told.bytes()))
            .collect();
        assert_eq!(again, [(1, &b"some"[..]), (2, b"")]);
        let behind = Batch {
            told: Vec::new(),
            is_behind: true,
        };
        assert!(read(&write(&behind)).unwrap().is_behind);
        for odd in [
            "",
            "other\n",
            "acts",
            "acts\n1",
            "acts\nx 3\nall",
            "acts\n1 4\nall",
        ] {
            assert!(read(odd.as_bytes()).is_err(), "{odd}");
        }
    }
}
