//! The page at `/`, and the list of the documentation at `/docs/`: for people who open the server in a browser.
//!
//! A developer's server (`--dev`) shows its pages and next steps. Any other shows its name and its documentation, and
//! nothing of its store or configuration, since the page needs no key.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use minijinja::{Value, context};
use serde_json::json;
use tidings_core::rules::ChoiceOrder;

use super::access::DOCS;
use super::error::{Code, Problem};
use super::pages;
use super::service::{Access, Service};
use crate::html::{console_path, fill};

/// The policy of the pages: their own style, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes of the pages.
pub(super) fn routes() -> Router<Arc<Service>> {
    let style = async || ([(header::CONTENT_TYPE, "text/css")], include_str!("start.css"));
    Router::new()
        .route("/", get(start))
        .route(DOCS, get(docs))
        .route("/docs/-/start.css", get(style))
}

async fn start(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    match &service.access {
        Access::Open | Access::Own(_) => page("start", of_developer(&service, &headers)),
        Access::Keys { .. } if wants_html(&headers) => page("plain", context! {}),
        Access::Keys { .. } => Ok(PLAIN.into_response()),
    }
}

/// The answer at `/` for programs.
const PLAIN: &str = "This is a server of tidings. Calls are below /v1 and need an API key.\n\
                     /llms.txt lists the documentation and the calls.\n";

/// The list of the documentation. Programs have it in `/llms.txt`.
async fn docs(headers: HeaderMap) -> Result<Response, Problem> {
    if !wants_html(&headers) {
        let detail = "`/docs/` is a page for browsers";
        return Err(Problem::new(Code::NotFound, detail).hint("`/llms.txt` lists the pages."));
    }
    let pages = pages::listed().map(|(name, title, about)| context! { name, title, about });
    page("docs", context! { pages => pages.collect::<Vec<_>>() })
}

/// Returns true if the caller is a browser that shows a page.
fn wants_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// The values of the page of a developer's server.
fn of_developer(service: &Service, headers: &HeaderMap) -> Value {
    let rules = service.rules();
    let names = rules.types.keys().map(String::as_str);
    let first = ChoiceOrder::put(&rules.presentation.order.types, names).into_iter().next();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let event = first.map(|name| {
        let event = json!({
            "type": name,
            "actor": { "id": "ben", "title": "Ben Okafor" },
            "object": { "id": "plan", "title": "Launch plan", "url": "https://example.org/plan" },
            "to": { "recipients": ["ana"] },
        });
        event.to_string()
    });
    context! {
        server => format!("http://{}", host.unwrap_or("127.0.0.1:8990")),
        version => env!("CARGO_PKG_VERSION"),
        event,
        has_users => rules.users.is_some(),
        console => console_path(&rules),
    }
}

fn page(name: &str, values: Value) -> Result<Response, Problem> {
    let html = fill(name, values);
    let html = html.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    let mut response = Html(html).into_response();
    let headers: [(HeaderName, &str); 5] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "accept"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}
