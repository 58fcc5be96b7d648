//! Calls that nodes make to each other. They are in no document: the token of a member lets them in, and no API key.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use tidings_core::Command;

use crate::call::CallName;
use crate::cluster::split::{COMMANDS, Commands, NODES_CALL};
use crate::error::{Code, Problem};
use crate::error::{NOBODY, no_holder};
use crate::request::extract::whole;
use crate::service::Service;

/// The most bytes of commands at once: those of a body as large as one may be, with the names of all fields.
const COMMANDS_BYTES_MAX: usize = 128 << 20;

/// The routes of the calls.
pub(crate) fn routes() -> Router<Arc<Service>> {
    Router::new().route(COMMANDS, post(commands))
}

/// Runs commands of another node that this node serves, and answers each.
async fn commands(State(service): State<Arc<Service>>, request: Request) -> Response {
    let done = done(&service, request).await;
    let mut response = done.unwrap_or_else(Problem::into_response);
    response.extensions_mut().insert(CallName(NODES_CALL));
    response
}

async fn done(service: &Service, request: Request) -> Result<Response, Problem> {
    let Some((owners, _)) = service.shards.cluster_view() else {
        // Everything is here, or it is no node of a cluster: nobody has to ask.
        return Err(no_holder(NOBODY));
    };
    let (shards, body) = request.into_parts();
    let (body, _room) = whole(&shards, body, &service.bodies, COMMANDS_BYTES_MAX).await?;
    let Commands { commands, waits, origin } = serde_json::from_slice(&body)
        .map_err(|fault| Problem::new(Code::InvalidBody, fault.to_string()))?;
    drop(body);
    let is_here = |command: &Command| owners.has(owners.of_command(command));
    if !commands.iter().all(is_here) {
        return Err(no_holder(NOBODY));
    }
    let handle = service.handle_for(waits).with_origin(origin);
    let pending = service.ask_here(&handle, commands)?;
    let replies = service.answered(pending).await?;
    Ok((StatusCode::OK, Json(replies)).into_response())
}
