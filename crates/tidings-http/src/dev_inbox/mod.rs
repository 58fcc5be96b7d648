//! The inbox of anybody on a developer's server (`--dev`): the bell, the page and the preferences beside each other, and
//! a button that publishes one more event.
//!
//! The page gets its tokens as `tidings token` does, from the call that signs with the key `development`: who may open
//! the page may make that call.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use minijinja::context;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use tidings_config::wording::quoted;
use tidings_core::Id;
use tidings_core::rules::ChoiceOrder;

use super::error::{Code, Problem};
use super::service::{Access, Service};
use crate::html::fill_with_bar;

/// The recipient where the address names none, as in the documentation.
const USUAL: &str = "ana";

/// The policy of the page: it loads what the server has, and pictures of events.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      img-src http: https: data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The routes of the page.
pub(super) fn routes() -> Router<Arc<Service>> {
    Router::new()
        .route("/_inbox", get(page))
        .route("/_inbox/-/inbox.css", get(async || of_kind("text/css", include_str!("inbox.css"))))
        .route(
            "/_inbox/-/inbox.js",
            get(async || of_kind("text/javascript", include_str!("inbox.js"))),
        )
}

/// The query of the page.
#[derive(Deserialize)]
struct DevInboxQuery {
    #[serde(default)]
    recipient: String,
}

async fn page(
    State(service): State<Arc<Service>>,
    Query(query): Query<DevInboxQuery>,
) -> Result<Response, Problem> {
    let (Access::Open | Access::Own(_)) = service.access else {
        let detail = "`/_inbox` is a page of `serve --dev` alone";
        return Err(Problem::new(Code::NotFound, detail));
    };
    let recipient = if query.recipient.is_empty() { USUAL } else { query.recipient.trim() };
    let recipient = Id::new(recipient).map_err(|fault| {
        let detail = format!("`recipient` {} is no id: {fault}", quoted(recipient));
        Problem::new(Code::InvalidQuery, detail)
    })?;
    let (rules, design) = (service.rules(), service.design());
    let titles = design.titles(&["en"]);
    let names = rules.types.keys().map(String::as_str);
    let types = ChoiceOrder::put(&rules.presentation.order.types, names).into_iter().map(|name| {
        let title = Id::new(name).map_or_else(|_| name.to_owned(), |id| titles.event_type(&id));
        (name.to_owned(), title)
    });
    let values = context! {
        recipient => recipient.as_str(),
        recipient_path => utf8_percent_encode(recipient.as_str(), NON_ALPHANUMERIC).to_string(),
        is_on => rules.users.is_some(),
        types => types.collect::<Vec<_>>(),
    };
    let html = fill_with_bar("dev_inbox", "inbox", &rules, values);
    let html = html.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    let mut response = Html(html).into_response();
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

fn of_kind(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store")], text).into_response()
}
