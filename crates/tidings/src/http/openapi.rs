//! The OpenAPI document: what no single call says, and how the document is served.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::header;
use axum::routing::get;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};

use super::error::{Code, Problem, ProblemBody, section};
use super::service::Service;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "tidings",
        description = "Tells people things without spamming them.",
        license(name = "Apache-2.0 OR MIT", identifier = "Apache-2.0 OR MIT")
    ),
    components(schemas(ProblemBody<'static>)),
    security(("key" = []))
)]
struct Head;

/// The document without its calls.
pub(super) fn head() -> Document {
    let mut document = Head::openapi();
    let key = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let components = document.components.get_or_insert_default();
    components
        .security_schemes
        .insert("key".to_owned(), key.into());
    document
}

/// The document as it is served and committed.
///
/// # Panics
/// Never: the document is JSON.
#[must_use]
pub(super) fn text(document: &Document) -> String {
    let mut text = document
        .to_pretty_json()
        .expect("the document is made of texts, numbers and lists");
    text.push('\n');
    text
}

/// `/v1/openapi.json`, and the page of each error.
pub(super) fn served(document: &Document) -> Router<Arc<Service>> {
    let text = Bytes::from(text(document));
    let json = [(header::CONTENT_TYPE, "application/json")];
    Router::new()
        .route("/v1/openapi.json", get(async move || (json, text)))
        .route("/errors/{code}", get(error))
}

async fn error(Path(name): Path<String>) -> Result<String, Problem> {
    let code = Code::ALL.iter().find(|code| code.row().code == name);
    match code {
        Some(code) => Ok(section(*code)),
        None => Err(Problem::new(Code::NotFound, "there is no such error")),
    }
}
