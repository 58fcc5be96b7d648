//! The HTTP API (contract, section 4): requests in, commands to the node, answers out.
//!
//! Nothing here decides anything about notifications; nothing here blocks a thread. What a call takes
//! is read into the same types as lines of timelines (`tidings_api::body`); what can go wrong stands in one
//! table ([`error`]).

mod access;
mod answer;
mod call;
mod change;
mod chosen;
pub mod cluster;
mod compat;
mod console;
mod counters;
mod dev_inbox;
pub mod error;
pub mod feedback;
pub mod feeds;
mod html;
pub mod listen;
mod live;
mod mailbox;
mod me;
mod metrics;
pub mod nodes;
mod openapi;
#[cfg(feature = "postgres")]
pub mod outbox_rows;
mod owners;
mod pages;
mod reports;
mod request;
mod service;
mod settings;
mod shares;
mod site;
mod site_state;
mod start;
mod streaming;
#[cfg(test)]
mod tests;
mod trials;
mod ui;
mod users;
pub mod v1;

use std::sync::{Arc, LazyLock, OnceLock};

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware;
use axum::response::{IntoResponse as _, Response};
use tower::ServiceExt as _;
use utoipa::openapi::OpenApi;

use tidings_config::wording::{all_of, quoted};

pub use answer::{Answer, only};
pub use change::Change;
pub use cluster::Cluster;
pub use error::{Code, Problem};
pub use live::streams_max;
pub use owners::Owners;
pub use service::{Access, Service};
pub use settings::Settings;
#[cfg(test)]
pub(crate) use tests::{post, rig};
pub use trials::Trials;

/// Reads a form of this type as pages do, for fuzzing.
#[doc(hidden)]
pub fn read_form(kind: &[u8], body: &[u8]) {
    site::read_form(kind, body);
}

/// The whole API over a service.
pub fn router(service: Arc<Service>) -> Router {
    let (calls, _) = calls();
    let console = console::routes(&service, calls.clone());
    calls
        .merge(site::routes())
        .merge(mailbox::routes())
        .merge(dev_inbox::routes())
        .merge(ui::routes())
        .merge(pages::routes())
        .merge(start::routes())
        .merge(compat::routes())
        .merge(feedback::routes())
        .merge(nodes::follow::routes())
        .merge(nodes::own::routes())
        .merge(nodes::dry::routes())
        .fallback(no_such_call)
        .method_not_allowed_fallback(no_such_method)
        .layer(middleware::from_fn_with_state(Arc::clone(&service), access::check))
        .layer(middleware::from_fn_with_state(Arc::clone(&service), access::open_to_pages))
        .with_state(service)
        .merge(console)
}

/// The service from the start: `/healthz`, and the API once the node is ready. Pages of these origins may call.
pub fn gate(api: Arc<OnceLock<Router>>, origins: Vec<String>) -> Router {
    let starting = || Problem::new(Code::Starting, "the server is opening the store");
    Router::new().fallback(async move |request: Request| match api.get() {
        Some(api) => match api.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
        None if request.uri().path() == "/healthz" => cluster::ALIVE.into_response(),
        None => users::cors::open_to(&origins, request, async |_| starting().into_response()).await,
    })
}

/// The OpenAPI document of the API.
#[must_use]
pub fn document() -> OpenApi {
    calls().1
}

/// The names of all calls, those for clients of other products included.
fn call_names() -> Vec<&'static str> {
    let mut names = all().names();
    names.extend(compat::names::COMPAT);
    names
}

fn calls() -> (Router<Arc<Service>>, OpenApi) {
    all().finish()
}

fn all() -> call::Calls {
    let calls = call::Calls::new(openapi::head());
    openapi::calls(metrics::health::calls(me::calls(v1::calls(calls))))
}

async fn no_such_call(State(service): State<Arc<Service>>, uri: Uri) -> Problem {
    if let Some(problem) = compat::names::not_taken_path(service.rules().compat, uri.path()) {
        return problem;
    }
    let detail = format!("no call has the path {}", quoted(uri.path()));
    let near = call::nearest_path(uri.path(), DOCUMENT.paths.paths.keys().map(String::as_str));
    let hint =
        near.map(|near| format!("did you mean `{near}`? `/v1/openapi.json` lists all calls."));
    Problem::new(Code::NotFound, detail).hint(hint.unwrap_or_default())
}

static DOCUMENT: LazyLock<OpenApi> = LazyLock::new(document);

async fn no_such_method(method: Method, uri: Uri, matched: MatchedPath) -> Response {
    let item = call::shown(matched.as_str());
    let item = DOCUMENT.paths.paths.get(&item);
    let (path, method) = (uri.path(), quoted(method.as_str()));
    let mut detail = format!("`{path}` has no method {method}");
    // Pages and reports of providers are no calls of the document.
    let known = item.map(call::methods);
    if let Some(known) = &known {
        detail += &format!("; it has {}", all_of(known));
    }
    let mut response = Problem::new(Code::MethodNotAllowed, detail).into_response();
    // The router counts what a path has for clients of other products.
    let allow = known.map(|known| known.join(",").replace("GET", "GET,HEAD"));
    if let Some(allow) = allow.and_then(|allow| HeaderValue::try_from(allow).ok()) {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
}
