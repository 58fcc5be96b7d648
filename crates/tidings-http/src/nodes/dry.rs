//! The call with which the node with the intake asks the others what acts would do in their shards.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use tidings_core::engine::{LogNo, StoredEntry};
use tokio::sync::oneshot;

use crate::call::CallName;
use crate::cluster::dry::PATH;
use crate::cluster::split::NODES_CALL;
use crate::error::{Code, NOBODY, Problem, no_holder};
use crate::request::extract::whole;
use crate::service::Service;

/// The most bytes of the acts of one command.
const ACTS_BYTES_MAX: usize = 16 << 20;

/// The call, beside those of the API.
pub(crate) fn routes() -> Router<Arc<Service>> {
    Router::new().route(&format!("{PATH}{{no}}"), post(dry))
}

async fn dry(State(service): State<Arc<Service>>, request: Request) -> Response {
    let done = done(&service, request).await;
    let mut response = done.unwrap_or_else(Problem::into_response);
    response.extensions_mut().insert(CallName(NODES_CALL));
    response
}

async fn done(service: &Service, request: Request) -> Result<Response, Problem> {
    if service.shards.cluster_view().is_none() {
        return Err(no_holder(NOBODY));
    }
    let (parts, body) = request.into_parts();
    let no = parts.uri.path().strip_prefix(PATH).and_then(|no| no.parse().ok());
    let no = no.ok_or_else(|| Problem::new(Code::InvalidPath, "the number of the acts"))?;
    let (body, _room) = whole(&parts, body, &service.bodies, ACTS_BYTES_MAX).await?;
    let acts = StoredEntry::new(LogNo(no), body.to_vec());
    let (answer, answered) = oneshot::channel();
    service.handle_for(true).dry_apply_then(acts, move |answers| {
        let _ = answer.send(answers.map_err(Problem::from));
    })?;
    let answers = service.answered(answered).await?;
    Ok((StatusCode::OK, Json(answers)).into_response())
}
