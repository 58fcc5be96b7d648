//! The sheet and the script of the pages, as the build of `ui` writes them.

use axum::http::{HeaderName, header};
use axum::response::IntoResponse;

const STYLE: &str = include_str!("../../../ui/dist/console.css");
const SCRIPT: &str = include_str!("../../../ui/dist/console.js");

pub(crate) async fn style() -> impl IntoResponse {
    (of_kind("text/css; charset=utf-8"), STYLE)
}

pub(crate) async fn script() -> impl IntoResponse {
    (of_kind("text/javascript; charset=utf-8"), SCRIPT)
}

/// Pages are never kept, but what they load is the same for everybody until the next build.
fn of_kind(kind: &'static str) -> [(HeaderName, &'static str); 2] {
    [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "private, max-age=300")]
}
