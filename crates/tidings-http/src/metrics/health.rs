//! Health checks and metrics.

use std::sync::Arc;

use axum::extract::State;
use tidings_core::journal::Partition;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::cluster::ALIVE;
use crate::error::{Code, Problem};
use crate::metrics;
use crate::service::Service;
use crate::v1::clock_behind_seconds;

/// `/healthz`, `/readyz` and `/metrics`.
pub(crate) fn calls(calls: Calls) -> Calls {
    calls
        .add("healthz", routes!(healthz))
        .add("readyz", routes!(readyz))
        .add("metrics", routes!(metrics::metrics))
}

/// Check whether the process is alive
///
/// Returns 200 as long as the process runs, also while it starts. Needs no key.
#[utoipa::path(
    get, path = "/healthz", tag = "operating", security(()),
    responses((status = 200, description = "The process is alive", body = String, content_type = "text/plain", example = json!("ok\n")))
)]
async fn healthz() -> &'static str {
    ALIVE
}

/// Check whether the server is ready
///
/// Returns 503 while the server starts, while the store can't be used or read, and while it stops. A feed that can't be
/// read is named in an answer of 200, since the server serves. Needs no key.
#[utoipa::path(
    get, path = "/readyz", tag = "operating", security(()),
    responses((status = 200, description = "The server is ready", body = String, content_type = "text/plain", example = json!("ready\n")))
)]
async fn readyz(State(service): State<Arc<Service>>) -> Result<String, Problem> {
    if service.is_stopping() {
        return Err(Problem::new(Code::Stopping, "the server is stopping"));
    }
    let clock = service.now();
    let behind = service.look(move |node| clock_behind_seconds(node.engine(), clock)).await.map_err(|problem| {
        if service.handle.vitals().is_store_missing() { Problem::new(
                Code::Unavailable,
                "the store that the server had open is not there, or another is in its place; put it back, and the \
                 server goes on by itself",
            ) } else { problem }
    })?;
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
    let mut ready = "ready".to_owned();
    if let Some(seconds) = behind {
        ready += &format!(
            "; the clock is {seconds} s behind the newest step: it was ahead and was put right; what waits goes by it, \
             and what is recorded meanwhile has the time of that step"
        );
    }
    for (name, status) in service.feeds.read_here() {
        if let Some(fault) = status.fault {
            ready += &format!("; the feed `{name}` can't be read: {}", fault.replace('\n', " "));
        }
    }
    Ok(ready + "\n")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use axum::http::{Method, StatusCode};
    use serde_json::{Value, json};
    use tidings_core::{Day, Instant};
    use tidings_node::VirtualClock;
    use tidings_store::{Commit, Error, MemoryStore, Snapshot, Store, Visit};

    use super::*;
    use crate::rig::{CONFIG, Rig};
    use crate::{Access, Settings};

    /// A store of whose days nothing can be read once that is asked for.
    #[derive(Default)]
    struct UnreadableStore {
        store: MemoryStore,
        fails: Arc<AtomicBool>,
    }

    struct HealthView(Box<dyn Snapshot>, Arc<AtomicBool>);

    impl Snapshot for HealthView {
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

    impl Store for UnreadableStore {
        fn snapshot(&self) -> Result<Box<dyn Snapshot>, Error> {
            let view = HealthView(self.store.snapshot()?, Arc::clone(&self.fails));
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
        let store = Arc::new(UnreadableStore::default());
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
        assert!(detail.contains("can't be read: the day 2024-01-01"), "{detail}");
        // What does not need that day goes on.
        assert_eq!(status("/v1/recipients/ada"), StatusCode::OK);
        fails.store(false, Ordering::SeqCst);
        assert_eq!(status("/v1/events/e1"), StatusCode::OK);
        assert_eq!(status("/readyz"), StatusCode::OK);
    }

    #[test]
    fn a7_a_clock_that_was_put_back_is_shown_wherever_operators_look() {
        let clock = Arc::new(VirtualClock::default());
        let set = |text: &str| clock.set(Instant::parse(text).unwrap());
        set("2024-01-01T12:00:00Z");
        let store = Arc::new(MemoryStore::default());
        let open = Arc::new(move || Ok(Arc::clone(&store) as Arc<dyn Store>));
        let of_rig = Arc::clone(&clock);
        let rig = Rig::over(open, of_rig, CONFIG, Access::Open, Settings::default());
        rig.call(Method::PUT, "/v1/recipients/ada", &json!({}));
        let get = |path| rig.call(Method::GET, path, &Value::Null);
        let shown = || {
            let status = get("/v1/admin/status").json();
            let metrics = String::from_utf8(get("/metrics").bytes).unwrap();
            let mut lines = metrics.lines();
            let line = lines.find(|line| line.starts_with("tidings_clock_behind_seconds "));
            let metric = line.unwrap().rsplit(' ').next().unwrap().to_owned();
            let ready = get("/readyz");
            assert_eq!(ready.status, StatusCode::OK);
            let ready = String::from_utf8(ready.bytes).unwrap();
            (
                status["now"].clone(),
                status["newest_step"].clone(),
                status["clock_behind_seconds"].clone(),
                (metric, ready.contains("3600 s behind")),
            )
        };
        let noon = json!("2024-01-01T12:00:00Z");
        let fine = ("0".to_owned(), false);
        assert_eq!(shown(), (noon.clone(), noon.clone(), Value::Null, fine.clone()));
        // An idle server's clock goes on; its newest step stays.
        set("2024-01-01T15:00:00Z");
        let later = json!("2024-01-01T15:00:00Z");
        assert_eq!(shown(), (later, noon.clone(), Value::Null, fine.clone()));
        set("2024-01-01T11:59:00Z");
        let a_minute = json!("2024-01-01T11:59:00Z");
        assert_eq!(shown(), (a_minute, noon.clone(), Value::Null, fine));
        set("2024-01-01T11:00:00Z");
        let back = json!("2024-01-01T11:00:00Z");
        let warned = ("3600".to_owned(), true);
        assert_eq!(shown(), (back, noon, json!(3_600), warned));
    }
}
