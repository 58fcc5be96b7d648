//! The demo's page: numbers, every mail, every inbox.
//!
//! Rendered on the server, readable without a script, and without a single request to elsewhere.
//! [`router`] is the edge; `site` turns questions into pages and knows nothing of HTTP connections;
//! [`view`] is their content.

pub(crate) mod picture;
mod site;
pub(crate) mod text;
pub mod view;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use site::{DemoSite, SiteAnswer};
use view::MailQuery;

use crate::shown::Shown;

/// Our own pages may load our style sheet and frame our mails, and nothing else.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; \
    frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'";
/// A mail is untrusted text: it runs nothing and fetches nothing, wherever it is opened.
const MAIL_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'self'; \
    sandbox allow-popups allow-popups-to-escape-sandbox";

/// The page over what was played, to be served on the loopback.
///
/// Paths: `/`, `/mails`, `/mails/{id}` with `/html` and `/raw` below it, `/people`, `/people/{id}`,
/// `/pictures/{work}.svg`, `/more/{token}` and `/u/{token}` to which mails lead, and `/style.css`.
pub fn router(shown: Arc<Shown>) -> Router {
    Router::new()
        .route("/", get(front))
        .route("/mails", get(mails))
        .route("/mails/{id}", get(mail))
        .route("/mails/{id}/html", get(mail_html))
        .route("/mails/{id}/raw", get(mail_raw))
        .route("/people", get(people))
        .route("/people/{id}", get(person))
        .route("/pictures/{file}", get(picture_of))
        .route("/more/{token}", get(rest))
        .route("/u/{token}", get(choices))
        .route("/style.css", get(style))
        .fallback(absent)
        .with_state(Arc::new(DemoSite::new(shown)))
}

/// The questions that a link or a form may carry.
#[derive(Clone, Debug, Default, Deserialize)]
struct PageQuery {
    #[serde(default)]
    recipient: String,
    #[serde(default)]
    lane: String,
    #[serde(default)]
    q: String,
    #[serde(default)]
    page: String,
    #[serde(default)]
    from: String,
}

impl PageQuery {
    /// The page from 1; what is not a number is the first.
    fn page(&self) -> usize {
        self.page.parse().unwrap_or(1).max(1)
    }

    fn mails(&self) -> MailQuery {
        let given = |text: &str| {
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        MailQuery { recipient: given(&self.recipient), lane: given(&self.lane) }
    }
}

type SharedSite = State<Arc<DemoSite>>;

async fn front(State(site): SharedSite) -> Response {
    answer(site, |site| site.front()).await
}

async fn mails(State(site): SharedSite, Query(query): Query<PageQuery>) -> Response {
    answer(site, move |site| site.mails(&query.mails(), query.page())).await
}

async fn mail(State(site): SharedSite, Path(id): Path<String>) -> Response {
    answer(site, move |site| site.mail(&id)).await
}

async fn mail_html(State(site): SharedSite, Path(id): Path<String>) -> Response {
    answer(site, move |site| site.mail_html(&id)).await
}

async fn mail_raw(State(site): SharedSite, Path(id): Path<String>) -> Response {
    answer(site, move |site| site.mail_raw(&id)).await
}

async fn people(State(site): SharedSite, Query(query): Query<PageQuery>) -> Response {
    answer(site, move |site| site.people(query.q.trim(), query.page())).await
}

async fn person(
    State(site): SharedSite,
    Path(id): Path<String>,
    Query(query): Query<PageQuery>,
) -> Response {
    answer(site, move |site| site.person(&id, query.page())).await
}

async fn picture_of(State(site): SharedSite, Path(file): Path<String>) -> Response {
    answer(site, move |site| site.picture(&file)).await
}

async fn rest(
    State(site): SharedSite,
    Path(token): Path<String>,
    Query(query): Query<PageQuery>,
) -> Response {
    let from = query.from.parse().unwrap_or(0);
    answer(site, move |site| site.rest(&token, from)).await
}

async fn choices(State(site): SharedSite) -> Response {
    answer(site, |site| site.choices()).await
}

async fn style() -> Response {
    respond(SiteAnswer::Style(include_str!("style.css")))
}

async fn absent(State(site): SharedSite) -> Response {
    answer(site, |site| site.absent()).await
}

/// Answers may be read from disk, so it runs on a thread that may block.
async fn answer(
    site: Arc<DemoSite>,
    ask: impl FnOnce(&DemoSite) -> SiteAnswer + Send + 'static,
) -> Response {
    match tokio::task::spawn_blocking(move || ask(&site)).await {
        Ok(answer) => respond(answer),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn respond(answer: SiteAnswer) -> Response {
    const HTML: &str = "text/html; charset=utf-8";
    let (status, kind, policy, body) = match answer {
        SiteAnswer::Page(html) => (StatusCode::OK, HTML, PAGE_POLICY, html.into_bytes()),
        SiteAnswer::Absent(html) => (StatusCode::NOT_FOUND, HTML, PAGE_POLICY, html.into_bytes()),
        SiteAnswer::Broken(why) => {
            let text = format!("The page could not be made: {why}\n");
            let kind = "text/plain; charset=utf-8";
            (StatusCode::INTERNAL_SERVER_ERROR, kind, PAGE_POLICY, text.into_bytes())
        }
        SiteAnswer::MailHtml(html) => (StatusCode::OK, HTML, MAIL_POLICY, html.into_bytes()),
        // As text, so that a browser shows it and never acts on it.
        SiteAnswer::MailRaw(raw) => (StatusCode::OK, "text/plain; charset=utf-8", MAIL_POLICY, raw),
        SiteAnswer::Picture(svg) => {
            (StatusCode::OK, "image/svg+xml", MAIL_POLICY, svg.into_bytes())
        }
        SiteAnswer::Style(css) => {
            (StatusCode::OK, "text/css; charset=utf-8", PAGE_POLICY, css.as_bytes().to_vec())
        }
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, body).into_response()
}
