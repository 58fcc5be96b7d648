//! The call by which nodes with parts of a store report to the one with the intake, and take the acts that follow.
//!
//! It is between nodes of one version, so the document of the API has no trace of it. The answer is text: a line that
//! says whether the acts are here or in the store alone, and then a line for each number with its acts as JSON.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use tidings_core::engine::{ActNo, Told};
use tidings_node::{Batch, Report};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::error::{Code, Problem};
use super::service::Service;

/// The path of the call.
pub(crate) const PATH: &str = "/cluster/acts";

/// The largest report that is read, in bytes.
const REPORT_BYTES_MAX: usize = 64 << 20;

/// The time for which a call waits for acts.
const WAIT: Duration = Duration::from_millis(500);

/// The first line of an answer with acts, or without any yet.
const HERE: &str = "acts";
/// The first line of an answer that sends the caller to the store.
const BEHIND: &str = "behind";

/// The call, beside those of the API.
pub(super) fn routes() -> Router<Arc<Service>> {
    let limit = DefaultBodyLimit::max(REPORT_BYTES_MAX);
    Router::new().route(PATH, post(acts).layer(limit))
}

async fn acts(State(service): State<Arc<Service>>, body: Bytes) -> Result<Response, Problem> {
    let report: Report = serde_json::from_slice(&body)
        .map_err(|fault| Problem::new(Code::InvalidJson, fault.to_string()))?;
    let (give, given) = oneshot::channel();
    service
        .handle
        .report(report, move |batch| drop(give.send(batch)))?;
    let batch = match timeout(WAIT, given).await {
        Ok(Ok(batch)) => batch,
        Ok(Err(_)) => {
            return Err(Problem::new(
                Code::NoHolder,
                "the node asked anew, or has ended",
            ));
        }
        Err(_) => Batch::default(),
    };
    Ok(write(&batch).into_response())
}

fn write(batch: &Batch) -> Vec<u8> {
    let first = if batch.is_behind { BEHIND } else { HERE };
    let mut text = first.as_bytes().to_vec();
    for told in &batch.told {
        text.extend_from_slice(format!("\n{} ", told.no).as_bytes());
        text.extend_from_slice(told.bytes());
    }
    text
}

/// Reads the answer to a report.
pub(crate) fn read(text: &[u8]) -> Result<Batch, String> {
    // JSON that is written without white space has no line breaks.
    let mut lines = text.split(|byte| *byte == b'\n');
    let is_behind = match lines.next() {
        Some(first) if first == BEHIND.as_bytes() => true,
        Some(first) if first == HERE.as_bytes() => false,
        _ => return Err("the answer has another form".to_owned()),
    };
    let told = lines.map(|line| {
        let space = line.iter().position(|byte| *byte == b' ');
        let (no, acts) = line.split_at(space.ok_or("acts without a number")?);
        let no = std::str::from_utf8(no).ok().and_then(|no| no.parse().ok());
        let no = ActNo(no.ok_or("acts without a number")?);
        let told = Told::read(no, acts[1..].to_vec()).map_err(|fault| fault.to_string())?;
        Ok(Arc::new(told))
    });
    Ok(Batch {
        told: told.collect::<Result<_, String>>()?,
        is_behind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let told = [1, 2].map(|no| Arc::new(Told::read(ActNo(no), b"[]".to_vec()).unwrap()));
        let batch = Batch {
            told: told.to_vec(),
            is_behind: false,
        };
        let again = read(&write(&batch)).unwrap();
        let numbers: Vec<u64> = again.told.iter().map(|told| told.no.0).collect();
        assert_eq!((numbers, again.is_behind), (vec![1, 2], false));
        let behind = Batch {
            told: Vec::new(),
            is_behind: true,
        };
        assert!(read(&write(&behind)).unwrap().is_behind);
        for odd in ["", "other", "acts\n1", "acts\nx []", "acts\n1 {"] {
            assert!(read(odd.as_bytes()).is_err(), "{odd}");
        }
    }
}
