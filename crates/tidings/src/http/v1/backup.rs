//! A backup, streamed while the server goes on.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tidings_store::Snapshot;
use tokio::sync::mpsc;
use utoipa_axum::routes;

use crate::backup::export;
use crate::http::Service;
use crate::http::call::{Calls, Kind};
use crate::http::error::Problem;

/// Bytes that are handed to the connection at once.
const CHUNK_BYTES: usize = 256 << 10;

/// Chunks that wait for a connection that is slower than the disk.
const CHUNKS_WAITING: usize = 4;

/// The call that makes a backup.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("backup", Kind::Looks, routes!(backup), &[])
}

/// Back up everything
///
/// What the store holds at one moment, while it goes on; `tidings restore` makes a store of it. A
/// stream that breaks off is no backup, and is recognised as none. While it is read, the disk of
/// days that are forgotten meanwhile is not given back.
#[utoipa::path(
    get, path = "/v1/admin/backup", tag = "admin",
    responses((status = 200, description = "The backup", content((Vec<u8> = "application/octet-stream"))))
)]
async fn backup(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    let snapshot = service
        .look(|node| node.store().snapshot())
        .await?
        .map_err(|fault| {
            Problem::from(tidings_node::RuntimeError::Unavailable(fault.to_string()))
        })?;
    let (chunks, wanted) = mpsc::channel(CHUNKS_WAITING);
    tokio::task::spawn_blocking(move || write(&*snapshot, &chunks));
    let stream = stream::unfold(wanted, async |mut wanted| {
        let chunk = wanted.recv().await?;
        Some((chunk, wanted))
    });
    let bytes = HeaderValue::from_static("application/octet-stream");
    let head = [(header::CONTENT_TYPE, bytes)];
    Ok((head, Body::from_stream(stream)).into_response())
}

fn write(snapshot: &dyn Snapshot, chunks: &mpsc::Sender<io::Result<Bytes>>) {
    let out = io::BufWriter::with_capacity(CHUNK_BYTES, Chunks(chunks));
    if let Err(fault) = export(snapshot, out) {
        tracing::warn!(error = %fault, "a backup broke off");
        // The connection breaks, so that whoever reads sees that it is not whole.
        drop(chunks.blocking_send(Err(io::Error::other(fault.to_string()))));
    }
}

/// Hands on what is written; waits where the connection is slow.
struct Chunks<'c>(&'c mpsc::Sender<io::Result<Bytes>>);

impl io::Write for Chunks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let chunk = Bytes::copy_from_slice(bytes);
        match self.0.blocking_send(Ok(chunk)) {
            Ok(()) => Ok(bytes.len()),
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{Method, StatusCode};
    use serde_json::{Value, json};

    use crate::backup::{check, restore};
    use crate::http::rig::Rig;

    #[test]
    fn a_backup_of_a_server_that_runs_is_whole_and_comes_back() {
        let rig = Rig::new();
        let body = json!({"title": "Water Lilies"});
        rig.call(Method::PUT, "/v1/objects/works%2F1", &body);
        let answer = rig.call(Method::GET, "/v1/admin/backup", &Value::Null);
        assert_eq!(answer.status, StatusCode::OK);
        let contents = check(&answer.bytes[..]).unwrap();
        assert!(contents.rows > 0);
        let dir = tempfile::tempdir().unwrap();
        let back = restore(
            &answer.bytes[..],
            dir.path(),
            tidings_store::Options::default(),
            |_| Ok(()),
        );
        assert_eq!(back.unwrap(), contents);
    }
}
