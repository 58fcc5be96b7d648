//! The page of an id that nothing has: what was looked for, and the nearest ids.

use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde_json::{Value, json};

use crate::call::Call;
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::routes;
use crate::screens::search;
use crate::viewer::Viewer;

/// The page of an id that is unknown, where the problem says that it is; else that of the problem.
pub(crate) async fn page(
    console: &Console,
    viewer: &Viewer,
    section: BarSection,
    id: &str,
    problem: CallProblem,
) -> Page {
    if problem.status != StatusCode::NOT_FOUND {
        return Page::of_problem(&problem);
    }
    let found = console.call(viewer, Call::post(&["search"], json!({"q": id}))).await;
    let found = found.unwrap_or(Value::Null);
    let links = |name: &str| -> Vec<minijinja::Value> {
        found[name].as_array().into_iter().flatten().filter_map(search::link).collect()
    };
    let values = context! {
        headline => problem.text("title"), detail => problem.text("detail"),
        hint => problem.text("hint"), code => problem.code(),
        hits => links("hits"), nearest => links("nearest"), id, problem => Serde(&problem.body),
    };
    let page = Page::new(section, "Not found", "unknown.html").with(values);
    Page { status: problem.status, ..page }
}

/// An id that a page is about, and the code of the problem that says that nothing has it.
pub(crate) struct Sought<'a> {
    pub(crate) id: &'a str,
    pub(crate) code: &'a str,
}

/// Writes a page, or where nothing has an id that it is about, the page of that id.
pub(crate) async fn written(
    page: Result<Page, CallProblem>,
    console: &Console,
    viewer: &Viewer,
    section: BarSection,
    sought: &[Sought<'_>],
) -> Response {
    let of = |problem: &CallProblem| sought.iter().find(|sought| sought.code == problem.code());
    let page = match page {
        Err(problem) => match of(&problem) {
            Some(sought) => Ok(self::page(console, viewer, section, sought.id, problem).await),
            None => Err(problem),
        },
        page => page,
    };
    routes::written(page, console, viewer)
}
