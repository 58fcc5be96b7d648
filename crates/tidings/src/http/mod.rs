//! The HTTP API (contract, section 4): requests in, commands to the node, answers out.
//!
//! Nothing here decides anything about notifications; nothing here blocks a thread. What a call takes
//! is read by the same code that reads timelines ([`crate::timeline::Bodies`]); what can go wrong
//! stands in one table ([`error`]).

mod access;
mod call;
pub mod error;
mod health;
mod ids;
mod lines;
mod openapi;
mod request;
#[cfg(test)]
pub(crate) mod rig;
mod service;
pub mod v1;

use std::sync::Arc;

use axum::Router;
use axum::http::Uri;
use axum::middleware;
use utoipa::openapi::OpenApi;

pub use error::{Code, Problem};
pub use request::Change;
pub use service::{Access, Answer, Service, Settings, only};

/// The whole API over a service.
pub fn router(service: Arc<Service>) -> Router {
    let (calls, document) = calls();
    calls
        .merge(openapi::served(&document))
        .merge(health::router())
        .fallback(no_such_call)
        .method_not_allowed_fallback(no_such_method)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&service),
            access::check,
        ))
        .with_state(service)
}

/// The OpenAPI document of the API.
#[must_use]
pub fn document() -> OpenApi {
    calls().1
}

fn calls() -> (Router<Arc<Service>>, OpenApi) {
    v1::calls(call::Calls::new(openapi::head())).finish()
}

async fn no_such_call(uri: Uri) -> Problem {
    Problem::new(
        Code::NotFound,
        format!("there is no call at `{}`", uri.path()),
    )
}

async fn no_such_method(uri: Uri) -> Problem {
    Problem::new(
        Code::MethodNotAllowed,
        format!("`{}` has other methods", uri.path()),
    )
}
