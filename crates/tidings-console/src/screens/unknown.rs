//! The page of an id that nothing has: what was looked for, and the nearest ids.

use axum::http::StatusCode;
use minijinja::context;
use minijinja::value::Serde;
use serde_json::{Value, json};

use crate::call::Call;
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
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
