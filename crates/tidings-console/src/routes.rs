//! The routes of the console, below its base path.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};

use crate::assets;
use crate::console::Console;
use crate::page::Page;
use crate::problem::CallProblem;
use crate::screens;
use crate::show;
use crate::viewer::Viewer;

/// The policy of all pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
     require-trusted-types-for 'script'";

/// The headers of every answer.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// The pages of a console, for requests that have a [`Viewer`] in their extensions.
pub fn router(console: Arc<Console>) -> Router {
    let base = console.base().to_owned();
    let screens = Router::new()
        .route("/", get(first_page))
        .route("/console.css", get(assets::style))
        .route("/console.js", get(assets::script))
        .merge(screens::figures::routes())
        .merge(screens::messages::routes())
        .merge(screens::events::routes())
        .merge(screens::people::routes())
        .merge(screens::person::routes())
        .merge(screens::why::routes())
        .merge(show::routes())
        .merge(screens::search::routes())
        .merge(screens::system::routes())
        .merge(screens::types::routes())
        .fallback(unknown);
    // A nested router would have its first page at the base without the slash.
    Router::new()
        .route(&format!("{base}/"), get(now))
        .nest(&base, screens)
        .layer(middleware::from_fn(with_headers))
        .with_state(console)
}

async fn first_page(State(console): State<Arc<Console>>) -> Redirect {
    Redirect::permanent(&format!("{}/", console.base()))
}

async fn now(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    written(screens::now::page(&console, &viewer).await, &console, &viewer)
}

async fn unknown(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    let problem = CallProblem::new(StatusCode::NOT_FOUND, "not_found", "There is no such page.");
    Page::of_problem(&problem).write(&console, &viewer)
}

/// Writes a page, or that of the refusal that came instead.
pub(crate) fn written(
    page: Result<Page, CallProblem>,
    console: &Console,
    viewer: &Viewer,
) -> Response {
    page.unwrap_or_else(|problem| Page::of_problem(&problem)).write(console, viewer)
}

pub(crate) async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await.into_response();
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
