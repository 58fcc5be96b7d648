//! Health checks and metrics.

use std::sync::Arc;

use axum::extract::State;
use tidings_core::table::Partition;
use utoipa_axum::routes;

use super::call::{Calls, Kind};
use super::cluster::ALIVE;
use super::error::{Code, Problem};
use super::metrics;
use super::service::Service;

/// `/healthz`, `/readyz` and `/metrics`.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("healthz", Kind::Open, routes!(healthz), &[])
        .add(
            "readyz",
            Kind::Open,
            routes!(readyz),
            &[
                Code::TooBusy,
                Code::Starting,
                Code::Unavailable,
                Code::TimedOut,
                Code::Stopping,
            ],
        )
        .add("metrics", Kind::Knows, routes!(metrics::metrics), &[])
}

/// Check whether the process is alive
///
/// Answers 200 as long as the process runs, also while it starts. Needs no key.
#[utoipa::path(
    get, path = "/healthz", tag = "operating", security(()),
    responses((status = 200, description = "The process is alive", body = String, content_type = "text/plain", example = json!("ok\n")))
)]
async fn healthz() -> &'static str {
    ALIVE
}

/// Check whether the server is ready
///
/// Answers 503 while the server starts, while the store can't be used or read, and while it stops. Needs no
/// key.
#[utoipa::path(
    get, path = "/readyz", tag = "operating", security(()),
    responses((status = 200, description = "The server is ready", body = String, content_type = "text/plain", example = json!("ready\n")))
)]
async fn readyz(State(service): State<Arc<Service>>) -> Result<&'static str, Problem> {
    if service.is_stopping() {
        return Err(Problem::new(Code::Stopping, "the server is stopping"));
    }
    service.look(|_| ()).await?;
    let failing = service.handle.vitals().reads.failing();
    if !failing.is_empty() {
        let place = |partition| match partition {
            Partition::Base => "what outlives days".to_owned(),
            Partition::Day(day) => format!("the day {day}"),
        };
        let places: Vec<String> = failing.into_iter().map(place).collect();
        let detail = format!("the store can't be read: {}", places.join(", "));
        return Err(Problem::new(Code::Unavailable, detail));
    }
    Ok("ready\n")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use axum::http::{Method, StatusCode};
    use serde_json::{Value, json};
    use tidings_core::Instant;
    use tidings_core::time::Day;
    use tidings_node::VirtualClock;
    use tidings_store::{Commit, Error, MemoryStore, Snapshot, Store, Visit};

    use super::*;
    use crate::http::rig::{CONFIG, Rig};
    use crate::http::{Access, Settings};

    /// A store of whose days nothing can be read once that is asked for.
    #[derive(Default)]
    struct Unreadable {
        store: MemoryStore,
        fails: Arc<AtomicBool>,
    }

    struct View(Box<dyn Snapshot>, Arc<AtomicBool>);

    impl Snapshot for View {
        fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
            match partition {
                Partition::Day(_) if self.1.load(Ordering::SeqCst) => {
                    Err(Error::Corrupt("a block".to_owned()))
                }
                _ => self.0.get(partition, key),
            }
        }

        fn scan(
            &self,
            partition: Partition,
            from: &[u8],
            until: Option<&[u8]>,
            visit: &mut Visit<'_>,
        ) -> Result<(), Error> {
            self.0.scan(partition, from, until, visit)
        }

        fn days(&self) -> Result<Vec<Day>, Error> {
            self.0.days()
        }
    }

    impl Store for Unreadable {
        fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
            let view = View(self.store.snapshot()?, Arc::clone(&self.fails));
            Ok(Box::new(view))
        }

        fn commit(&self, commit: Commit) -> Result<(), Error> {
            self.store.commit(commit)
        }

        fn days(&self) -> Result<Vec<Day>, Error> {
            self.store.days()
        }

        fn forget(&self, day: Day) -> Result<(), Error> {
            self.store.forget(day)
        }
    }

    #[test]
    fn a_store_that_can_not_be_read_is_not_ready_until_it_can() {
        let store = Arc::new(Unreadable::default());
        let fails = Arc::clone(&store.fails);
        let clock = Arc::new(VirtualClock::default());
        clock.set(Instant::parse("2024-01-01T12:00:00Z").unwrap());
        let open = Arc::new(move || Ok(Arc::clone(&store) as Arc<dyn Store>));
        let rig = Rig::over(open, clock, CONFIG, Access::Open, Settings::default());
        rig.call(Method::PUT, "/v1/recipients/ada", &json!({}));
        let event = json!({"id": "e1", "type": "note", "object": {"id": "o"}, "to": {"recipients": ["ada"]}});
        rig.call(Method::POST, "/v1/events", &event);
        let status = |path| rig.call(Method::GET, path, &Value::Null).status;
        assert_eq!(status("/readyz"), StatusCode::OK);
        fails.store(true, Ordering::SeqCst);
        assert_eq!(status("/v1/events/e1"), StatusCode::SERVICE_UNAVAILABLE);
        let unready = rig.call(Method::GET, "/readyz", &Value::Null);
        assert_eq!(unready.status, StatusCode::SERVICE_UNAVAILABLE);
        let detail = unready.json()["detail"].to_string();
        assert!(
            detail.contains("can't be read: the day 2024-01-01"),
            "{detail}"
        );
        // What does not need that day goes on.
        assert_eq!(status("/v1/recipients/ada"), StatusCode::OK);
        fails.store(false, Ordering::SeqCst);
        assert_eq!(status("/v1/events/e1"), StatusCode::OK);
        assert_eq!(status("/readyz"), StatusCode::OK);
    }
}
