//! What watches a server asks it: does it live, does it serve.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;

use super::error::{Code, Problem};
use super::service::Service;

/// What `/healthz` answers: the process lives, whatever else.
pub(super) const ALIVE: &str = "ok\n";

/// `/healthz` and `/readyz`.
pub(super) fn router() -> Router<Arc<Service>> {
    Router::new()
        .route("/healthz", get(async || ALIVE))
        .route("/readyz", get(ready))
}

/// 200 once the node answers; it does not while its store can't be used.
async fn ready(State(service): State<Arc<Service>>) -> Result<&'static str, Problem> {
    if service.is_stopping() {
        return Err(Problem::new(Code::Stopping, "the server is stopping"));
    }
    service.look(|_| ()).await?;
    Ok("ready\n")
}
