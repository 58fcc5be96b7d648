//! The tools of assistants at `/mcp`: who is admitted is told from the headers, and the body is read as theirs.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Extension, Router};
use tidings_console::{Caller, McpEndpoint};

use super::CallsInProcess;
use crate::access::within_share;
use crate::request::extract::whole;

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// The most bytes of a message.
const MESSAGE_BYTES_MAX: usize = 256 << 10;

/// The endpoint at this server.
struct MountedTools {
    api: Arc<CallsInProcess>,
    endpoint: McpEndpoint,
}

/// The route of the endpoint. All methods lead there: it says which one it takes.
pub(super) fn routes(api: Arc<CallsInProcess>, endpoint: McpEndpoint) -> Router {
    let tools = Arc::new(MountedTools { api, endpoint });
    Router::new()
        .route(PATH, any(answer))
        .layer(middleware::from_fn_with_state(Arc::clone(&tools), admitted))
        .with_state(tools)
}

/// Lets through the requests of those who are admitted, within their shares.
async fn admitted(
    State(tools): State<Arc<MountedTools>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let caller = match tools.endpoint.admit(&parts) {
        Ok(caller) => caller,
        Err(refusal) => return refusal,
    };
    let of = tools.api.caller_id(&caller);
    parts.extensions.insert(caller);
    within_share(&tools.api.service, of, Request::from_parts(parts, body), next).await
}

async fn answer(
    State(tools): State<Arc<MountedTools>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    match whole(&parts, body, &tools.api.service.bodies, MESSAGE_BYTES_MAX).await {
        Ok((body, _room)) => tools.endpoint.answer(caller, &parts.headers, &body).await,
        Err(refusal) => refusal.into_response(),
    }
}

#[cfg(test)]
mod tests;
