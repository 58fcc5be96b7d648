//! What watches a server asks it: does it live, does it serve.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;

use super::error::Problem;
use super::service::Service;

/// `/healthz` and `/readyz`.
pub(super) fn router() -> Router<Arc<Service>> {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
}

/// 200 once the node answers; it does not while its store can't be used.
async fn ready(State(service): State<Arc<Service>>) -> Result<&'static str, Problem> {
    service.look(|_| ()).await?;
    Ok("ready\n")
}
