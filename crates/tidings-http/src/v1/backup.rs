//! Backups, streamed while the server runs.

use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::Stream;
use tidings_core::model::{ChangeSubject, SubjectKind};
use tidings_node::backup::export;
use tidings_store::Snapshot;
use utoipa_axum::routes;

use super::log::Export;
use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::{Service, streaming};

/// The call that streams a backup.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("backup", routes!(backup))
}

/// Back up everything
///
/// Streams the content of the store at one moment; the server continues meanwhile. `tidings restore` creates a store
/// from it and refuses an incomplete backup. The stream ends if its reader accepts no data for 30 seconds, or less than
/// 64 KiB a second over a minute. Two backups may run at once. Days that are deleted meanwhile keep their disk space
/// until the backup ends.
#[utoipa::path(
    get, path = "/v1/admin/backup", tag = "admin",
    responses((status = 200, description = "The backup", content((Vec<u8> = "application/octet-stream"))))
)]
async fn backup(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    let permit = service.room_for_backup().ok_or_else(|| {
        let detail = "two backups are being read; wait for one of them to end";
        Problem::new(Code::TooBusy, detail)
    })?;
    Export { subject: ChangeSubject::all(SubjectKind::Store) }.log(&service).await?;
    let (snapshot, life) = service
        .look(|node| node.store().snapshot().map(|taken| (taken, node.life())))
        .await?
        .map_err(|fault| {
            Problem::from(tidings_node::RuntimeError::Unavailable(fault.to_string()))
        })?;
    let patience = service.settings.backup_patience;
    let stream = streamed(snapshot, life, patience, permit);
    let bytes = HeaderValue::from_static("application/octet-stream");
    let head = [(header::CONTENT_TYPE, bytes)];
    Ok((head, Body::from_stream(stream)).into_response())
}

/// The content of a snapshot at the speed of its reader; ends with an error if it is incomplete.
fn streamed<T: Send + 'static>(
    snapshot: Box<dyn Snapshot>,
    life: Weak<()>,
    patience: Duration,
    kept: T,
) -> impl Stream<Item = io::Result<Bytes>> {
    streaming::streamed(life, patience, move |out| {
        let exported = export(&*snapshot, out);
        drop((snapshot, kept));
        exported.map(drop).map_err(|fault| io::Error::other(fault.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use axum::http::{Method, StatusCode};
    use futures_util::StreamExt as _;
    use serde_json::{Value, json};
    use tidings_core::Day;
    use tidings_node::backup::{check, restore};
    use tidings_store::{MemoryStore, Partition, Store, StoreId, StorePlace, Visit, Write};

    use super::*;
    use crate::rig::Rig;

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
            &StorePlace::Directory(dir.path().to_owned()),
            StoreId([7; 16]),
            |_| Ok(()),
        );
        assert_eq!(back.unwrap(), contents);
    }

    #[test]
    fn a_third_backup_at_once_is_refused() {
        let rig = Rig::new();
        let two = [rig.service.room_for_backup(), rig.service.room_for_backup()];
        assert!(two.iter().all(Option::is_some));
        let refused = rig.call(Method::GET, "/v1/admin/backup", &Value::Null);
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        drop(two);
        let answer = rig.call(Method::GET, "/v1/admin/backup", &Value::Null);
        assert_eq!(answer.status, StatusCode::OK);
    }

    /// A snapshot that tells when it is let go of.
    struct WatchedSnapshot(Box<dyn Snapshot>, Sender<()>);

    impl Drop for WatchedSnapshot {
        fn drop(&mut self) {
            self.1.send(()).unwrap();
        }
    }

    impl Snapshot for WatchedSnapshot {
        fn get(
            &self,
            partition: Partition,
            key: &[u8],
        ) -> Result<Option<Vec<u8>>, tidings_store::Error> {
            self.0.get(partition, key)
        }

        fn scan(
            &self,
            partition: Partition,
            from: &[u8],
            until: Option<&[u8]>,
            visit: &mut Visit<'_>,
        ) -> Result<(), tidings_store::Error> {
            self.0.scan(partition, from, until, visit)
        }

        fn days(&self) -> Result<Vec<Day>, tidings_store::Error> {
            self.0.days()
        }
    }

    /// Of more than is on its way at once.
    fn large() -> (WatchedSnapshot, Receiver<()>) {
        let store = MemoryStore::new();
        let row = |number: u32| {
            // What does not compress.
            let mut state = u64::from(number) + 1;
            let value = (0..100_000).map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.to_le_bytes()[3]
            });
            Write {
                partition: Partition::Base,
                key: number.to_be_bytes().to_vec(),
                value: Some(value.collect()),
            }
        };
        let writes: Vec<Write> = (0..100).map(row).collect();
        store.commit(writes.into()).unwrap();
        let (tell, told) = channel();
        (WatchedSnapshot(store.snapshot().unwrap(), tell), told)
    }

    fn ends_without_a_reader(life: Weak<()>, patience: Duration) {
        let tokio = tokio::runtime::Runtime::new().unwrap();
        let (snapshot, let_go) = large();
        let _inside = tokio.enter();
        let stream = streamed(Box::new(snapshot), life, patience, ());
        // Nobody reads, and the snapshot goes all the same.
        let_go.recv_timeout(Duration::from_secs(60)).unwrap();
        let chunks: Vec<_> = tokio.block_on(stream.collect());
        let (last, before) = chunks.split_last().unwrap();
        assert!(last.is_err() && before.iter().all(Result::is_ok));
    }

    #[test]
    fn a_reader_that_stalls_does_not_keep_the_store() {
        let life = Arc::new(());
        ends_without_a_reader(Arc::downgrade(&life), Duration::ZERO);
    }

    #[test]
    fn a_store_that_failed_does_not_wait_for_a_reader() {
        ends_without_a_reader(Weak::new(), Duration::from_secs(3_600));
    }

    #[test]
    fn a_reader_that_takes_all_gets_all() {
        let tokio = tokio::runtime::Runtime::new().unwrap();
        let life = Arc::new(());
        let (snapshot, _let_go) = large();
        let _inside = tokio.enter();
        let patience = Duration::from_secs(60);
        let stream = streamed(Box::new(snapshot), Arc::downgrade(&life), patience, ());
        let chunks: Vec<_> = tokio.block_on(stream.collect());
        let chunks: Vec<Bytes> = chunks.into_iter().map(Result::unwrap).collect();
        assert_eq!(check(&chunks.concat()[..]).unwrap().rows, 100);
    }
}
