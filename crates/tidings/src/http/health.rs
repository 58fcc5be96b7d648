//! What watches a server asks it: does it live, does it serve, how is it.

use std::sync::Arc;

use axum::extract::State;
use tidings_core::table::Partition;
use utoipa_axum::routes;

use super::call::{Calls, Kind};
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

/// What `/healthz` answers: the process lives, whatever else.
pub(super) const ALIVE: &str = "ok\n";

/// Check whether the process is alive
///
/// Answers as long as the process runs, also while it starts. Needs no key.
#[utoipa::path(
    get, path = "/healthz", tag = "operating", security(()),
    responses((status = 200, description = "The process is alive", body = String, content_type = "text/plain", example = json!("ok\n")))
)]
async fn healthz() -> &'static str {
    ALIVE
}

/// Check whether the server serves
///
/// 503 while it starts, while the store can't be used or read, and once it stops. Needs no key.
#[utoipa::path(
    get, path = "/readyz", tag = "operating", security(()),
    responses((status = 200, description = "The server serves", body = String, content_type = "text/plain", example = json!("ready\n")))
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
